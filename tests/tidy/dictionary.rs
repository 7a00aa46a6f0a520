//! One word per concept in every name: identifiers in Rust and Lua, keys in scenarios.
//!
//! Comments and strings are exempt: Redis and Redisson have words of their own.

use crate::rust::Name;
use crate::{File, assert_none, house, lua, rust};

/// Words that we avoid, and what we say instead.
const INSTEAD: [(&str, &str); 22] = [
    ("mutex", "lock"),
    ("owner", "holder"),
    ("timeout", "wait_limit (of a client) or the name of the limit"),
    ("evict", "expire"),
    ("evicted", "expired"),
    ("heartbeat", "watchdog, renewal"),
    ("refresh", "renew"),
    ("keepalive", "watchdog, renewal"),
    ("notify", "wake"),
    ("notification", "unlock message"),
    ("signal", "wake"),
    ("slave", "replica"),
    ("leader", "master"),
    ("primary", "master"),
    ("secondary", "replica"),
    ("backup", "replica"),
    ("generation", "epoch"),
    ("transition", "step"),
    ("plan", "schedule"),
    ("testcase", "scenario"),
    ("repro", "counterexample"),
    ("mismatch", "difference, divergence or departure"),
];

/// A complete name defined by others, and the path below which we may use it.
struct Borrowed {
    name: &'static str,
    below: &'static str,
    from: &'static str,
}

const BORROWED: [Borrowed; 31] = [
    Borrowed { name: "Mutex", below: "sim/", from: "std: engines share their tables between threads" },
    Borrowed { name: "MutexGuard", below: "sim/", from: "std: engines share their tables between threads" },
    Borrowed { name: "Mutex", below: "tests/", from: "std and loom" },
    Borrowed { name: "notify_one", below: "", from: "std: Condvar" },
    Borrowed { name: "notify_all", below: "", from: "std: Condvar" },
    Borrowed { name: "wait_timeout", below: "", from: "std: Condvar" },
    Borrowed { name: "recv_timeout", below: "", from: "std: mpsc::Receiver" },
    Borrowed { name: "RecvTimeoutError", below: "", from: "std: mpsc" },
    Borrowed { name: "set_read_timeout", below: "", from: "std and redis: a socket" },
    Borrowed { name: "set_write_timeout", below: "", from: "std and redis: a socket" },
    Borrowed { name: "connect_timeout", below: "", from: "std: TcpStream" },
    Borrowed { name: "timeout", below: "sim/src/cli/", from: "our own command line: check --timeout" },
    Borrowed { name: "timeout", below: "sim/src/explore/server.rs", from: "tokio: a future with a deadline" },
    Borrowed {
        name: "terminating_signal",
        below: "sim/src/replay/servers/process.rs",
        from: "rustix: the end of a process",
    },
    Borrowed { name: "header_read_timeout", below: "sim/src/explore/server.rs", from: "hyper" },
    Borrowed { name: "refresh_memory_specifics", below: "sim/src/check/memory.rs", from: "sysinfo" },
    Borrowed { name: "refresh_processes_specifics", below: "sim/src/check/memory.rs", from: "sysinfo" },
    Borrowed { name: "MemoryRefreshKind", below: "sim/src/check/memory.rs", from: "sysinfo" },
    Borrowed { name: "ProcessRefreshKind", below: "sim/src/check/memory.rs", from: "sysinfo" },
    Borrowed { name: "shutdown_timeout", below: "", from: "Redis: shutdown-timeout" },
    Borrowed { name: "hand_over_timeout", below: "", from: "Redis: FAILOVER … TIMEOUT" },
    Borrowed { name: "shutdown_timeout_seconds", below: "", from: "Redis: shutdown-timeout" },
    Borrowed { name: "wait_timeout_while", below: "", from: "std: Condvar" },
    Borrowed { name: "set_parent_process_death_signal", below: "", from: "rustix: prctl" },
    Borrowed { name: "primary_title", below: "sim/src/", from: "annotate-snippets: the title of a report" },
    Borrowed { name: "Primary", below: "sim/src/", from: "annotate-snippets: the place an error points at" },
    Borrowed { name: "pthread_mutex_trylock", below: "sim/clock/", from: "libc" },
    Borrowed { name: "pthread_mutex_unlock", below: "sim/clock/", from: "libc" },
    Borrowed { name: "signal", below: "sim/clock/", from: "libc" },
    Borrowed { name: "Signal", below: "", from: "rustix: what the operating system sends a process" },
    Borrowed { name: "primary", below: "sim/src/", from: "annotate-snippets: the place an error points at" },
];

/// Splits `set_read_timeout`, `MutexGuard` and `wait-limit` into lower-case words.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word_ended = true;
    let mut letters = name.chars().peekable();
    let mut previous_is_lower = false;
    while let Some(letter) = letters.next() {
        if !letter.is_alphanumeric() {
            word_ended = true;
            continue;
        }
        // A word begins after a lower-case letter (`rTimeout`), and at the last of several capitals (`TTLTimeout`).
        let next_is_lower = letters.peek().is_some_and(|next| next.is_lowercase());
        if word_ended || letter.is_uppercase() && (previous_is_lower || next_is_lower) {
            words.push(String::new());
        }
        word_ended = false;
        previous_is_lower = !letter.is_uppercase();
        words.last_mut().expect("a word has begun").extend(letter.to_lowercase());
    }
    words
}

fn complaints(file: &File) -> Vec<String> {
    let names = match file.extension() {
        "rs" => rust::names(file),
        "lua" => lua::names(file),
        "toml" if file.path.starts_with("sim/scenarios/") => keys(file),
        _ => return Vec::new(),
    };
    names.iter().filter_map(|name| complaint(&file.path, name)).collect()
}

fn complaint(path: &str, Name { name, line }: &Name) -> Option<String> {
    let is_borrowed = BORROWED.iter().any(|borrowed| borrowed.name == name && path.starts_with(borrowed.below));
    if is_borrowed {
        return None;
    }
    let words = words(name);
    let one_or_many = |word: &str, banned: &str| word == banned || word.strip_suffix('s') == Some(banned);
    let (banned, instead) = INSTEAD.iter().find(|(banned, _)| words.iter().any(|word| one_or_many(word, banned)))?;
    Some(format!("{path}:{line}: {name}: do not say {banned}, say {instead}"))
}

/// The keys and table names of a scenario. This reads line by line and does not check whether the scenario is valid.
fn keys(file: &File) -> Vec<Name> {
    let key = |line: &str| {
        let line = line.trim();
        let name = line.strip_prefix('[').or_else(|| line.split_once('=').map(|(key, _)| key))?;
        Some(name.trim_matches(['[', ']', ' ']).to_owned()).filter(|name| !name.starts_with('#'))
    };
    let lines = file.text.lines().enumerate();
    lines.filter_map(|(index, line)| Some(Name { name: key(line)?, line: index + 1 })).collect()
}

#[test]
fn every_name_is_in_the_dictionary() {
    assert_none(&house().iter().flat_map(complaints).collect::<Vec<_>>());
}

#[test]
fn a_word_that_we_do_not_say_is_noticed() {
    let bad = [
        ("model/src/step.rs", "fn lock_owner() {}"),
        ("model/src/step.rs", "struct LockOwners;"),
        ("model/src/step.rs", "enum E { LeaderChanged }"),
        ("model/src/step.rs", "macro_rules! m { () => { notify() } }"),
        ("model/src/step.rs", "fn r#plan() {}"),
        ("model/src/world.rs", "struct World { lock: Mutex }"),
        ("sim/src/render/text.rs", "fn f(timeout: u8) {}"),
        ("impl/scripts/plain/release.lua", "local owner = ARGV[1]"),
        ("sim/scenarios/plain/quiet.toml", "[time]\nwait_timeout_ms = 3"),
        ("sim/scenarios/plain/quiet.toml", "[slaves]"),
    ];
    for (path, text) in bad {
        assert_eq!(complaints(&File::invented(path, text)).len(), 1, "{path}: {text}");
    }
}

#[test]
fn borrowed_names_and_the_words_of_others_are_fine() {
    let good = [
        ("sim/src/check/native.rs", "use std::sync::Mutex;"),
        ("sim/src/replay/node.rs", "fn f() { socket.set_read_timeout(None); } // the slave's owner"),
        ("sim/src/replay/node.rs", "const ROLE: &str = \"slave\"; /// mutex\nfn ownership() {}"),
        ("impl/scripts/plain/release.lua", "redis.call('slaveof', 'owner') -- mutex"),
        ("sim/scenarios/plain/quiet.toml", "story = \"The owner times out.\" # timeout = 3\n# slave = 1"),
    ];
    for (path, text) in good {
        assert_none(&complaints(&File::invented(path, text)));
    }
}

#[test]
fn names_fall_into_words() {
    assert_eq!(words("set_read_timeout"), ["set", "read", "timeout"]);
    assert_eq!(words("MutexGuard"), ["mutex", "guard"]);
    assert_eq!(words("TTLTimeout"), ["ttl", "timeout"]);
    assert_eq!(words("ONE_OWNER"), ["one", "owner"]);
    assert_eq!(words("wait-limit"), ["wait", "limit"]);
}

/// An exception without a stated reason is a hole in the rule.
#[test]
fn every_borrowed_name_says_from_whom_and_would_be_noticed_otherwise() {
    for Borrowed { name, from, .. } in BORROWED {
        assert!(!from.is_empty(), "{name}");
        assert!(
            complaint("elsewhere", &Name { name: format!("my_{name}"), line: 1 }).is_some(),
            "{name} needs no exception"
        );
    }
}

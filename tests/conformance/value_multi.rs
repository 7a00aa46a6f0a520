//! The lock over several values on real servers. Same rule: `model/src/locks/value_multi.rs`.

use lockstep_model::LockKind;
use lockstep_redis::locks::value_multi::{
    self, ValueHolder, ValueMultiAcquireReply, ValueMultiHeldReply, ValueMultiLock, ValueMultiOnceReply,
    ValueMultiReleaseReply, ValueMultiRenewReply,
};
use lockstep_redis::{Call, HolderId, Names, ReleaseReceipt, Scripts};
use lockstep_sim::replay::ServerConnection;
use lockstep_sim::scenario::Scenario;
use lockstep_tests::servers::{START_MS, TestServer, on_every_server};

use crate::counted_hold::{EXECUTED_AGAIN, LEAVES_NO_RECEIPT};
use crate::histories::random_histories_of;
use crate::kinds::{KindProofs, WrongScript};
use crate::{holder, lease};

/// What the proofs for every kind need.
pub const PROOFS: KindProofs = KindProofs {
    kind: LockKind::ValueMulti,
    calls: one_call_of_each,
    reading: &[IS_HELD, IS_HELD_LATER],
    wrong_scripts: &WRONG,
    scenario: asks_of_a_lease,
    has_every_fault: false,
};

const WAITING: &str = "value_multi/acquire";
const ONCE: &str = "value_multi/acquire_once";
const RENEW: &str = "value_multi/renew";
const RELEASE: &str = "value_multi/release";
const IS_HELD: &str = "value_multi/is_held";
const IS_HELD_LATER: &str = "value_multi/is_held_by_later_values";
const TWO: &str = "value-multi-two-clients-one-node";
const SINGLE_TRY: &str = "value-multi-single-try";
const DISJOINT: &str = "value-multi-disjoint-sets";
const AHEAD: &str = "value-multi-clock-ahead-takes-a-part";
const AHEAD_ONCE: &str = "value-multi-clock-ahead-takes-a-value";
const AS_IT_ENDS: &str = "value-multi-taken-as-it-ends";
const AT_WORK: &str = "value-multi-lease-ends-at-work";
const PERSISTED: &str = "value-multi-persisted-lock";
const FOREIGN: &str = "value-multi-foreign-release";
const ASKS: &str = "value-multi-asks-if-it-holds";
const ASKS_OF_TWO: &str = "value-multi-asks-of-two-values";
const ASKS_OF_EVERY: &str = "value-multi-asks-of-every-value";

const ASKS_OF_A_LEASE: &str = "asks of a lease about every value";
const ASKS_OF_A_LEASE_LATER: &str = "asks of a lease";

/// B loses one of its values to a client whose clock is ahead, is told so when it renews, and keeps the fields of the other one: it asks
/// at that deadline, and after it.
fn asks_of_a_lease(name: &str) -> Option<Scenario> {
    let held_query = match name {
        ASKS_OF_A_LEASE => "every-value",
        ASKS_OF_A_LEASE_LATER => "later-values",
        _ => return None,
    };
    let text = format!(
        "story = 's'\nlock = 'value-multi'\n[time]\nlease = 2\nrenew_every = 1\nwait_limit = 0\nhold_at_most = 4\n[clients]\nacquires = 3\n\
         after_refusal = 'ask-if-held'\n[[client]]\nvalues = [1]\nclock_ahead = 3\n[[client]]\n[protocol]\n\
         missed_renewal = 'tell-holder'\nheld_query = '{held_query}'"
    );
    Some(Scenario::parse("asks-of-a-lease", &text).unwrap_or_else(|error| panic!("{error}")))
}

const fn wrong(
    script: &'static str,
    rule: &'static str,
    (right, instead): (&'static str, &'static str),
    scenario: &'static str,
    caught_by: &'static str,
) -> WrongScript {
    WrongScript { script, rule, right, instead, scenario, caught_by }
}

const WRONG: [WrongScript; 48] = [
    wrong(
        WAITING,
        "taken although another holder has it",
        ("if last_deadline > now_ms then", "if false then"),
        TWO,
        "reply",
    ),
    wrong(WAITING, "no re-entry", ("if other and other ~= holder then", "if other then"), TWO, "reply"),
    wrong(
        WAITING,
        "the first value decides",
        ("for i = 4, #ARGV do\n  local other", "for i = 4, 4 do\n  local other"),
        DISJOINT,
        "reply",
    ),
    wrong(
        WAITING,
        "the first deadline is answered",
        (
            "math.max(last_deadline, tonumber(deadline))",
            "last_deadline > now_ms and last_deadline or tonumber(deadline)",
        ),
        DISJOINT,
        "reply",
    ),
    wrong(
        WAITING,
        "a holder is in the way at its deadline",
        ("if last_deadline > now_ms then", "if last_deadline > now_ms or redis.call('pttl', lock) == 0 then"),
        AT_WORK,
        "reply",
    ),
    wrong(
        WAITING,
        "the clock of the server decides",
        (
            "tonumber(ARGV[2]), ARGV[3]",
            "math.floor(redis.call('time')[1] * 1000 + redis.call('time')[2] / 1000), ARGV[3]",
        ),
        AHEAD,
        "keys on n1",
    ),
    wrong(
        WAITING,
        "only the first value is taken",
        ("for i = 4, #ARGV do\n  local own =", "for i = 4, 4 do\n  local own ="),
        TWO,
        "keys on n1",
    ),
    wrong(
        WAITING,
        "a hold is not counted",
        ("redis.call('hincrby', lock, own .. ':lock_count', 1)", ""),
        TWO,
        "keys on n1",
    ),
    wrong(
        WAITING,
        "a hold is not counted upon another one",
        ("redis.call('hincrby', lock, own .. ':lock_count', 1)", "redis.call('hset', lock, own .. ':lock_count', 1)"),
        TWO,
        "keys on n1",
    ),
    wrong(
        WAITING,
        "a re-entry does not extend the deadline",
        ("or tonumber(deadline) < now_ms + lease_ms", ""),
        TWO,
        "keys on n1",
    ),
    wrong(
        WAITING,
        "the lease is not set",
        ("if not is_there or (left_ms", "if is_there and (left_ms"),
        TWO,
        "keys on n1",
    ),
    wrong(
        WAITING,
        "the TTL is not extended",
        ("(left_ms > 0 and left_ms < lease_ms)", "false"),
        DISJOINT,
        "keys on n1",
    ),
    wrong(WAITING, "a TTL of 0 is extended", ("left_ms > 0 and", "left_ms >= 0 and"), AS_IT_ENDS, "keys on n1"),
    wrong(
        WAITING,
        "a lock without a TTL is given one",
        ("left_ms > 0 and", "left_ms ~= 0 and"),
        PERSISTED,
        "keys on n1",
    ),
    wrong(ONCE, "taken although another holder has it", ("      return 0\n", "      break\n"), SINGLE_TRY, "reply"),
    wrong(ONCE, "no re-entry", ("if other and other ~= holder then", "if other then"), SINGLE_TRY, "reply"),
    wrong(
        ONCE,
        "the first value decides",
        ("for i = 4, #ARGV do\n  local other", "for i = 4, 4 do\n  local other"),
        SINGLE_TRY,
        "reply",
    ),
    wrong(ONCE, "a holder is in the way at its deadline", ("> now_ms then", ">= now_ms then"), SINGLE_TRY, "reply"),
    wrong(
        ONCE,
        "the clock of the server decides",
        ("tonumber(ARGV[1])", "math.floor(redis.call('time')[1] * 1000 + redis.call('time')[2] / 1000)"),
        AHEAD_ONCE,
        "keys on n1",
    ),
    wrong(
        ONCE,
        "only the first value is taken",
        ("for i = 4, #ARGV do\n  local own =", "for i = 4, 4 do\n  local own ="),
        SINGLE_TRY,
        "keys on n1",
    ),
    wrong(
        ONCE,
        "what an earlier hold has left is forgotten",
        ("redis.call('hincrby', lock, own .. ':lock_count', 1)", "redis.call('hset', lock, own .. ':lock_count', 1)"),
        SINGLE_TRY,
        "keys on n1",
    ),
    wrong(
        ONCE,
        "a re-entry does not extend the deadline",
        ("or tonumber(deadline) < now_ms + lease_ms", ""),
        SINGLE_TRY,
        "keys on n1",
    ),
    wrong(
        ONCE,
        "the TTL is cut to the lease",
        ("(left_ms > 0 and left_ms < lease_ms)", "left_ms > 0"),
        SINGLE_TRY,
        "keys on n1",
    ),
    wrong(ONCE, "a TTL of 0 is extended", ("left_ms > 0 and", "left_ms >= 0 and"), SINGLE_TRY, "keys on n1"),
    wrong(RENEW, "renewed for any caller", ("~= holder then", "== nil then"), AHEAD, "reply"),
    wrong(
        RENEW,
        "all values or none",
        (
            "if redis.call('hget', lock, ARGV[i]) ~= holder then",
            "if redis.call('hget', lock, ARGV[#ARGV]) ~= holder then",
        ),
        AHEAD,
        "keys on n1",
    ),
    wrong(
        RENEW,
        "the deadline is not renewed",
        ("redis.call('hset', lock, field, now_ms + lease_ms)", ""),
        TWO,
        "keys on n1",
    ),
    wrong(RENEW, "the TTL is not renewed", ("redis.call('pexpire', lock, lease_ms)", ""), TWO, "keys on n1"),
    wrong(
        RENEW,
        "a lock without a TTL stays without one",
        (
            "if redis.call('pttl', lock) < lease_ms then",
            "local left_ms = redis.call('pttl', lock)\nif left_ms > 0 and left_ms < lease_ms then",
        ),
        PERSISTED,
        "keys on n1",
    ),
    EXECUTED_AGAIN.of(RELEASE, TWO),
    wrong(
        RELEASE,
        LEAVES_NO_RECEIPT,
        ("redis.call('set', receipt, is_over and 1 or 0, 'px', receipt_lease_ms)", ""),
        TWO,
        "reply",
    ),
    wrong(
        RELEASE,
        "only what it has is given back",
        ("  if not deadline or", "  if redis.call('hget', lock, ARGV[i]) ~= holder or not deadline or"),
        AHEAD,
        "reply",
    ),
    wrong(
        RELEASE,
        "no release at the deadline",
        ("tonumber(deadline) < now_ms then", "tonumber(deadline) <= now_ms then"),
        AT_WORK,
        "reply",
    ),
    wrong(
        RELEASE,
        "nothing is given back unless all is",
        (
            "local is_failed, is_over = false, true",
            "for i = 6, #ARGV do\n  local deadline = redis.call('hget', lock, ARGV[i] .. ':' .. holder .. ':expire_time')\n  \
             if not deadline or tonumber(deadline) < now_ms then return nil end\nend\nlocal is_failed, is_over = false, true",
        ),
        AHEAD,
        "keys on n1",
    ),
    wrong(
        RELEASE,
        "deleted before the count reaches 0",
        (":lock_count', -1) <= 0", ":lock_count', -1) <= 9"),
        TWO,
        "reply",
    ),
    wrong(
        RELEASE,
        "a partial release does not extend the deadline",
        ("    if tonumber(deadline) < now_ms + lease_ms then", "    if false then"),
        TWO,
        "keys on n1",
    ),
    wrong(
        RELEASE,
        "a partial release tells nobody",
        (
            "redis.call('publish', channel, message)\nredis",
            "if is_over then redis.call('publish', channel, message) end\nredis",
        ),
        TWO,
        "messages to B",
    ),
    wrong(
        RELEASE,
        "the release of a lock that is not there tells nobody",
        ("  redis.call('publish', channel, message)\n  return nil", "  return nil"),
        FOREIGN,
        "messages to A",
    ),
    wrong(
        RELEASE,
        "a partial release does not extend the TTL",
        ("if redis.call('pttl', lock) < lease_ms then", "if false then"),
        TWO,
        "keys on n1",
    ),
    wrong(
        IS_HELD,
        "the first value is not looked at",
        ("for i = 3, #ARGV do", "for i = 4, #ARGV do"),
        ASKS_OF_EVERY,
        "reply",
    ),
    wrong(
        IS_HELD,
        "the fields of any holder count",
        ("ARGV[i] .. ':' .. holder .. ':expire_time'", "ARGV[i]"),
        ASKS_OF_EVERY,
        "reply",
    ),
    wrong(IS_HELD, "a deadline that is over counts", ("or tonumber(deadline) < now_ms", ""), ASKS_OF_A_LEASE, "reply"),
    wrong(
        IS_HELD_LATER,
        "the fields of any holder count",
        ("ARGV[i] .. ':' .. holder .. ':expire_time'", "ARGV[i]"),
        ASKS_OF_TWO,
        "reply",
    ),
    wrong(
        IS_HELD_LATER,
        "a deadline that is over counts",
        ("or tonumber(deadline) < now_ms", ""),
        ASKS_OF_A_LEASE_LATER,
        "reply",
    ),
    wrong(
        IS_HELD_LATER,
        "not held at the deadline",
        ("tonumber(deadline) < now_ms", "tonumber(deadline) <= now_ms"),
        ASKS_OF_A_LEASE_LATER,
        "reply",
    ),
    wrong(IS_HELD_LATER, "every value is looked at", ("for i = 4, #ARGV do", "for i = 3, #ARGV do"), ASKS, "reply"),
    wrong(
        IS_HELD_LATER,
        "who names one value holds it although nobody has any",
        ("if redis.call('exists', lock) == 0 then", "if false then"),
        ASKS,
        "reply",
    ),
    wrong(IS_HELD_LATER, "no value is looked at", ("for i = 4, #ARGV do", "for i = 9, #ARGV do"), ASKS_OF_TWO, "reply"),
];

/// The values, by the names of their fields.
fn values(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn one_call_of_each(scripts: &Scripts) -> Vec<Call> {
    let (a, ten_seconds, names) = (holder("A"), lease(10_000), Names::of("values"));
    let both = values(&["x", "y"]);
    let caller = ValueHolder { holder: &a, values: &both, now_ms: START_MS.unsigned_abs() };
    vec![
        value_multi::acquire(scripts, &names, caller, ten_seconds),
        value_multi::acquire_once(scripts, &names, caller, ten_seconds),
        // Of a whole lease it writes nothing.
        value_multi::renew(scripts, &names, caller, lease(20_000)),
        value_multi::is_held(scripts, &names, caller),
        value_multi::is_held_by_later_values(scripts, &names, caller),
        value_multi::release(scripts, &names, caller, ten_seconds, &ReleaseReceipt::new("r1", ten_seconds)),
    ]
}

fn lock_on(server: &TestServer, names: &[&str]) -> ValueMultiLock<ServerConnection> {
    ValueMultiLock::new(server.connect(), Names::of("lock"), values(names), Scripts::built_in())
}

#[test]
fn random_histories_of_the_lock_over_values_agree_on_every_server() {
    random_histories_of(LockKind::ValueMulti);
}

/// All values or none; those of disjoint sets are nothing to each other.
#[test]
fn whoever_names_a_value_that_is_held_gets_none_and_is_told_the_last_deadline() {
    on_every_server(|server| {
        let (a, b, c) = (holder("A"), holder("B"), holder("C"));
        let (mut first, mut other, mut both) =
            (lock_on(server, &["x"]), lock_on(server, &["y"]), lock_on(server, &["x", "y"]));
        assert_eq!(first.acquire((&a, 0), lease(10_000)).unwrap(), ValueMultiAcquireReply::Acquired);
        assert_eq!(other.acquire_once((&b, 0), lease(30_000)).unwrap(), ValueMultiOnceReply::Acquired);
        let busy = ValueMultiAcquireReply::Busy { deadline_in_ms: 29_000 };
        assert_eq!(both.acquire((&c, 1_000), lease(10_000)).unwrap(), busy);
        assert_eq!(both.acquire_once((&c, 1_000), lease(10_000)).unwrap(), ValueMultiOnceReply::Refused);
        // The TTL is that of the longest lease, and nothing of C is stored.
        assert_eq!(server.ask::<i64>("PTTL lock"), 30_000);
        assert_eq!(server.ask::<i64>("HLEN lock"), 6);
        assert_eq!(both.acquire((&c, 30_000), lease(10_000)).unwrap(), ValueMultiAcquireReply::Acquired);
    });
}

/// By the clock of the caller, whatever that of the server says (docs/facts/family.md#multi-lock-over-values).
#[test]
fn a_caller_whose_clock_is_ahead_takes_what_another_one_holds_and_loses_it_to_that_ones_release() {
    on_every_server(|server| {
        let (a, b) = (holder("A"), holder("B"));
        let mut first = lock_on(server, &["x"]);
        assert_eq!(first.acquire((&a, 0), lease(30_000)).unwrap(), ValueMultiAcquireReply::Acquired);
        assert_eq!(first.acquire((&b, 31_000), lease(30_000)).unwrap(), ValueMultiAcquireReply::Acquired);
        assert_eq!(server.ask::<String>("HGET lock x"), "B:1");
        assert_eq!(first.renew((&a, 10_000), lease(30_000)).unwrap(), ValueMultiRenewReply::NotHeld);
        let receipt = ReleaseReceipt::new("r1", lease(20_000));
        assert_eq!(first.release((&a, 10_000), lease(30_000), &receipt).unwrap(), ValueMultiReleaseReply::Released);
        assert_eq!(server.ask::<Option<String>>("HGET lock x"), None);
    });
}

/// A deadline holds until the millisecond after it, by the clock of whoever asks, whatever the field says that names the holder.
#[test]
fn whoever_asks_whether_it_holds_is_told_of_its_own_deadlines() {
    on_every_server(|server| {
        let (a, b) = (holder("A"), holder("B"));
        let (mut first, mut both) = (lock_on(server, &["x"]), lock_on(server, &["x", "y"]));
        assert_eq!(first.is_held((&a, 0)).unwrap(), ValueMultiHeldReply::NotHeld, "there is no hash");
        first.acquire((&a, 0), lease(10_000)).unwrap();
        assert_eq!(first.is_held((&a, 10_000)).unwrap(), ValueMultiHeldReply::Held);
        assert_eq!(first.is_held((&a, 10_001)).unwrap(), ValueMultiHeldReply::NotHeld);
        assert_eq!(both.is_held((&a, 0)).unwrap(), ValueMultiHeldReply::NotHeld, "it does not have y");
        assert_eq!(first.is_held((&b, 0)).unwrap(), ValueMultiHeldReply::NotHeld);
        // By the clock of B the deadline of A is over, and its fields stay.
        first.acquire((&b, 11_000), lease(10_000)).unwrap();
        assert_eq!(first.is_held((&a, 0)).unwrap(), ValueMultiHeldReply::Held);
        let later_at = |now_ms: u64, holder: &HolderId, names: &[&str]| {
            let values = values(names);
            let caller = ValueHolder { holder, values: &values, now_ms };
            let call = value_multi::is_held_by_later_values(&Scripts::built_in(), &Names::of("lock"), caller);
            call.ask::<ValueMultiHeldReply>(&mut server.connect()).unwrap()
        };
        let later = |holder: &HolderId, names: &[&str]| later_at(0, holder, names);
        let stranger = holder("C");
        assert_eq!(later_at(10_000, &a, &["y", "x"]), ValueMultiHeldReply::Held, "at its deadline");
        assert_eq!(later_at(10_001, &a, &["y", "x"]), ValueMultiHeldReply::NotHeld);
        assert_eq!(later(&stranger, &["x"]), ValueMultiHeldReply::Held, "it looks at no value");
        assert_eq!(later(&stranger, &["x", "y"]), ValueMultiHeldReply::NotHeld);
        assert_eq!(later(&a, &["y", "x"]), ValueMultiHeldReply::Held, "the first one is not looked at");
    });
}

/// The fields of a holder outlive its deadline, as long as somebody else keeps the hash.
#[test]
fn a_hold_is_counted_upon_what_an_earlier_one_has_left_behind() {
    on_every_server(|server| {
        let (a, b) = (holder("A"), holder("B"));
        let (mut first, mut other) = (lock_on(server, &["x"]), lock_on(server, &["y"]));
        other.acquire((&b, 0), lease(60_000)).unwrap();
        first.acquire((&a, 0), lease(1_000)).unwrap();
        let receipt = ReleaseReceipt::new("r1", lease(20_000));
        assert_eq!(first.release((&a, 1_001), lease(1_000), &receipt).unwrap(), ValueMultiReleaseReply::NotHeld);
        assert_eq!(first.acquire((&a, 2_000), lease(1_000)).unwrap(), ValueMultiAcquireReply::Acquired);
        let receipt = ReleaseReceipt::new("r2", lease(20_000));
        assert_eq!(first.release((&a, 2_000), lease(1_000), &receipt).unwrap(), ValueMultiReleaseReply::StillHeld);
        assert_eq!(server.ask::<i64>("HGET lock x:A:1:lock_count"), 1);
    });
}

/// In its last millisecond the hash has 0 left, and stays so: the grant is lost with it.
#[test]
fn a_grant_in_the_last_millisecond_of_the_hash_is_lost() {
    on_every_server(|server| {
        let mut first = lock_on(server, &["x"]);
        first.acquire((&holder("A"), 0), lease(1_000)).unwrap();
        server.wait_ms(1_000);
        assert_eq!(server.ask::<i64>("PTTL lock"), 0);
        let reply = first.acquire((&holder("B"), 1_000), lease(60_000)).unwrap();
        assert_eq!(reply, ValueMultiAcquireReply::Acquired);
        server.wait_ms(1);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
    });
}

/// A release that is answered nil has given back what it could; a receipt makes one harmless that is sent again.
#[test]
fn a_release_frees_what_it_can_whatever_it_answers() {
    on_every_server(|server| {
        let a = holder("A");
        let (mut first, mut both) = (lock_on(server, &["x"]), lock_on(server, &["x", "y"]));
        first.acquire((&a, 0), lease(10_000)).unwrap();
        let receipt = ReleaseReceipt::new("r1", lease(20_000));
        assert_eq!(both.release((&a, 0), lease(10_000), &receipt).unwrap(), ValueMultiReleaseReply::NotHeld);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 0);
        first.acquire((&a, 0), lease(10_000)).unwrap();
        server.ask::<()>("SET redisson_unlock_latch:{lock}:r2 1 PX 1000");
        let receipt = ReleaseReceipt::new("r2", lease(20_000));
        assert_eq!(first.release((&a, 0), lease(10_000), &receipt).unwrap(), ValueMultiReleaseReply::Released);
        assert_eq!(server.ask::<i64>("EXISTS lock"), 1);
    });
}

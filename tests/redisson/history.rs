//! One history, told to real Redisson, and everything that can be seen of it from outside.

use std::collections::BTreeMap;

use lockstep_sim::replay::redisson::{ClientGate, HeldCommand, Jvm};
use lockstep_sim::replay::{ServerNode, ServerProgram};
use lockstep_tests::servers::START_MS;
use redis::Value;

/// What both clients use.
const LOCK: &str = "lock";
const WATCHDOG_MS: i64 = 30_000;

/// A server with two clients of Redisson, and what they sent and were told so far.
pub struct RedissonStage<'jvm> {
    jvm: &'jvm mut Jvm,
    node: ServerNode,
    gates: BTreeMap<char, ClientGate>,
    /// Random ids of releases, in the order in which they were met.
    release_ids: Vec<String>,
    seen: Vec<String>,
}

impl<'jvm> RedissonStage<'jvm> {
    pub fn begin(jvm: &'jvm mut Jvm, server: &ServerProgram) -> Self {
        let node = ServerNode::start(server, START_MS).unwrap();
        let mut gates = BTreeMap::new();
        for client in ['A', 'B'] {
            let mut gate = ClientGate::open(node.socket().to_owned()).unwrap();
            let connect = format!("client {client} redis://127.0.0.1:{} 3000 4 200 {WATCHDOG_MS} 1", gate.port());
            jvm.command(&connect, &mut [&mut gate]).unwrap_or_else(|error| panic!("{error}"));
            gates.insert(client, gate);
        }
        let mut stage = Self { jvm, node, gates, release_ids: Vec::new(), seen: Vec::new() };
        stage.wait_until_quiet();
        stage.gates.values_mut().for_each(|gate| gate.set_open(false));
        stage
    }

    fn wait_until_quiet(&mut self) {
        let mut gates: Vec<_> = self.gates.values_mut().collect();
        self.jvm.wait_until_quiet(&mut gates).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Begins a call of a client's first thread.
    pub fn call(&mut self, client: char, verb: &str) -> u64 {
        self.call_by(client, verb, LOCK)
    }

    /// The same of a lock of another kind: what the driver calls it stands before its name.
    pub fn call_of_kind(&mut self, client: char, verb: &str, kind: &str) -> u64 {
        self.call_by(client, verb, &format!("{kind}{LOCK}"))
    }

    /// The same by a lock object of this name (tools/redisson/README.md).
    pub fn call_by(&mut self, client: char, verb: &str, object: &str) -> u64 {
        let mut gates: Vec<_> = self.gates.values_mut().collect();
        let call = format!("call {client} 1 {verb} {object}");
        let number = self.jvm.command(&call, &mut gates).unwrap_or_else(|error| panic!("{error}"));
        self.seen.push(format!("{client} calls {verb}"));
        self.wait_until_quiet();
        number
    }

    /// How a call has ended, if it has.
    pub fn end_of(&mut self, number: u64) -> Option<String> {
        let end = self.jvm.end_of(number);
        self.seen.push(format!("call: {end:?}"));
        end
    }

    /// The requests that wait at a client's gate.
    pub fn held(&self, client: char) -> Vec<HeldCommand> {
        self.gates[&client].held()
    }

    /// Lets every request and every message pass, one by one, until no client does anything more.
    pub fn settle(&mut self) {
        loop {
            let clients: Vec<char> = self.gates.keys().copied().collect();
            let mut has_passed = false;
            for client in clients {
                let gate = self.gates.get_mut(&client).unwrap();
                let held = gate.held().into_iter().next();
                let line = if let Some(command) = held {
                    let reply = gate.pass_request(command.connection).unwrap_or_else(|error| panic!("{error}"));
                    let words = self.masked(&command);
                    format!("{client} on {} sends {words} and is told {}", command.connection, shown(&reply))
                } else if gate.messages() > 0 {
                    let message = gate.pass_message().unwrap_or_else(|error| panic!("{error}"));
                    format!("{client} receives {}", shown(&message))
                } else {
                    continue;
                };
                self.seen.push(line);
                has_passed = true;
                self.wait_until_quiet();
            }
            if !has_passed {
                return;
            }
        }
    }

    /// Time passes for the server and then for the clients.
    pub fn pass_ms(&mut self, ms: i64) {
        self.node.advance_clock(ms).unwrap();
        let mut gates: Vec<_> = self.gates.values_mut().collect();
        self.jvm.pass_ms(ms, &mut gates).unwrap_or_else(|error| panic!("{error}"));
        self.seen.push(format!("{ms} ms pass"));
    }

    /// Time passes for the clients as for a process that stood still: at once, and not from timer to timer.
    pub fn jump_ms(&mut self, ms: i64) {
        let mut gates: Vec<_> = self.gates.values_mut().collect();
        let to_ns = self.jvm.now_ns() + ms * 1_000_000;
        self.jvm.jump_to(to_ns, &mut gates).unwrap_or_else(|error| panic!("{error}"));
        self.seen.push(format!("the clients stand still for {ms} ms"));
    }

    /// The wall clock of the clients jumps.
    pub fn jump_wall_clock(&mut self, ms: i64) {
        self.jvm.jump_wall_clock(ms);
        self.seen.push(format!("the wall clock of the clients jumps by {ms} ms"));
    }

    /// Closes the clients, and returns all that was seen.
    pub fn end(mut self) -> Vec<String> {
        self.gates.values_mut().for_each(|gate| gate.set_open(true));
        for client in ['A', 'B'] {
            let mut gates: Vec<_> = self.gates.values_mut().collect();
            self.jvm.close(&client.to_string(), &mut gates).unwrap_or_else(|error| panic!("{error}"));
        }
        self.seen
    }

    /// The words of a request. Each random id is replaced by its number: one id per release still has to be itself.
    fn masked(&mut self, command: &HeldCommand) -> String {
        let words: Vec<_> = command.words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let mut masked = Vec::new();
        for word in words {
            let id = word.rsplit_once(':').filter(|_| word.starts_with("redisson_unlock_latch:"));
            let Some((key, id)) = id.map(|(key, id)| (key.to_owned(), id.to_owned())) else {
                masked.push(word);
                continue;
            };
            let known = self.release_ids.iter().position(|known| *known == id).unwrap_or_else(|| {
                self.release_ids.push(id);
                self.release_ids.len() - 1
            });
            masked.push(format!("{key}:id-{known}"));
        }
        masked.join(" ")
    }
}

fn shown(value: &Value) -> String {
    format!("{value:?}")
}

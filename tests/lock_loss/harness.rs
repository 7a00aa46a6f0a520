//! What the tests of servers share: nodes, a master with its replica and the gate between them, and this program as the
//! victim of a test.

use std::process::Command;

use lockstep_sim::replay::{Gate, ServerConnection, ServerNode, ServerProgram};
use lockstep_tests::servers::START_MS;
use redis::{Commands, Value, cmd};

/// A node of its own, at the time at which all tests begin.
pub fn start(server: &ServerProgram) -> ServerNode {
    ServerNode::start(server, START_MS).unwrap_or_else(|error| panic!("{error}"))
}

/// A master, a replica without data, and the gate between them.
pub struct ReplicatedPair {
    pub master: ServerNode,
    pub replica: ServerNode,
    pub gate: Gate,
}

pub fn pair(server: &ServerProgram) -> ReplicatedPair {
    let (master, replica) = (start(server), start(server));
    let gate = Gate::open(master.socket()).unwrap();
    replica.follow(&gate).unwrap_or_else(|error| panic!("{server}: {error}"));
    ReplicatedPair { master, replica, gate }
}

impl ReplicatedPair {
    /// One step that writes.
    pub fn write(&self, command: &redis::Cmd) {
        let _: Value = command.query(&mut self.master.connect().unwrap()).unwrap();
        self.gate.mark(self.master.offset().unwrap());
    }
}

pub fn set(key: &str, value: &str) -> redis::Cmd {
    let mut command = cmd("SET");
    command.arg(key).arg(value);
    command
}

pub fn get(node: &ServerNode, key: &str) -> Option<String> {
    node.connect().unwrap().get(key).unwrap()
}

pub fn ttl_ms(redis: &mut ServerConnection, key: &str) -> i64 {
    redis.pttl(key).unwrap()
}

pub fn words(commands: &[Vec<Vec<u8>>]) -> Vec<String> {
    commands.iter().map(|command| String::from_utf8_lossy(&command[0]).to_uppercase()).collect()
}

const THE_VICTIM: &str = "LOCKSTEP_TEST_VICTIM";

/// This test program, which runs one test; `THE_VICTIM` makes that test play the other part.
pub fn this_program(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(THE_VICTIM, "yes");
    command
}

pub fn is_the_victim() -> bool {
    std::env::var_os(THE_VICTIM).is_some()
}

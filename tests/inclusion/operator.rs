//! What an operator does to the servers of a free run, or three sentinels in his place.

use std::thread;
use std::time::Duration;

use lockstep_model::Action;
use lockstep_model::config::Ttls;
use lockstep_tests::free_nodes::wait_until;
use proptest::test_runner::TestRng;
use redis::{Value, cmd};

use crate::clock::{MachineClock, OLD_CLOCK_US};
use crate::record::{Deed, Event};
use crate::run::{FreeCluster, names};
use crate::world::{FreeRun, Harm, MAX_LAG_S, MOST_LATE, below};

/// Somebody who does harm, and writes down when.
pub struct Operator {
    free_run: FreeRun,
    clock: MachineClock,
    random: TestRng,
    events: Vec<Event>,
}

impl Operator {
    /// For one run.
    pub const fn new(free_run: FreeRun, clock: MachineClock, random: TestRng) -> Self {
        Self { free_run, clock, random, events: Vec::new() }
    }

    /// Does what the run is about, and returns what was done and when.
    pub fn work(mut self, cluster: &FreeCluster) -> Vec<Event> {
        match self.free_run.harm {
            Harm::None | Harm::LateWrites => {}
            Harm::VanishKey => self.change_keys(cluster, "DEL", Action::VanishKey { node: 0 }),
            Harm::PersistKey => self.change_keys(cluster, "PERSIST", Action::PersistKey { node: 0 }),
            Harm::Failover => {
                self.rest(600);
                self.fail_over(cluster);
            }
            Harm::Pause => self.pause_nodes(cluster),
            Harm::PauseAndReplace => {
                self.rest(400);
                self.pause(cluster, 0);
                self.rest(50);
                self.promote(cluster);
                self.rest(100);
                self.resume(cluster, 0, 0);
                cluster.set_old_master();
            }
            Harm::RefuseWrites => {
                self.rest(300);
                let master = &cluster.nodes[0];
                self.note(Action::RefuseWrites { node: 0 }, || master.refuse_writes());
                self.rest(300);
                self.note(Action::AcceptWrites { node: 0 }, || master.accept_writes());
            }
            Harm::HandOver => self.hand_over(cluster, &[]),
            Harm::ForcedHandOver => {
                cluster.links().be_late(MOST_LATE);
                // In the model the old master has its copy at once.
                cluster.note_copy(0, 1);
                self.hand_over(cluster, &["FORCE", "TIMEOUT", "1"]);
            }
            Harm::HandOverAndRestart => {
                self.hand_over(cluster, &[]);
                self.rest(100);
                self.restart(cluster);
                cluster.set_old_master();
            }
            Harm::SecondMaster => self.add_second_master(cluster),
            Harm::ReplicaReturns => self.return_replica(cluster),
            Harm::ShutdownAndRestart => self.end_and_restart(cluster),
            Harm::Shutdown => {
                self.rest(500);
                self.note(Action::ShutdownNode { node: 0 }, || cluster.nodes[0].tell_to_end());
                cluster.nodes[0].wait_for_end();
                self.promote(cluster);
            }
            Harm::RestartWithAof => {
                self.rest(300);
                self.restart(cluster);
            }
            Harm::RestartWithSnapshot => {
                self.rest(300);
                let master = &cluster.nodes[0];
                self.note(Action::Snapshot { node: 0 }, || assert_eq!(master.ask(&cmd("SAVE")), Value::Okay));
                self.restart(cluster);
            }
            Harm::SilentReplica => {
                self.rest(1000);
                self.pause(cluster, 1);
                thread::sleep(Duration::from_secs(MAX_LAG_S + 2));
                self.rest(1000);
                // It reports once a second, and its master counts once a second.
                self.resume(cluster, 1, 2_500_000);
            }
            Harm::Sentinels => self.watch_sentinels(cluster),
            Harm::CutLink => {
                self.rest(400);
                self.cut(cluster, 0);
                self.replace_cut_off_master(cluster);
                self.rest(200);
                self.heal(cluster, 0);
                self.rest(100);
                self.demote(cluster);
            }
            Harm::CutNeededLink => self.cut_needed_link(cluster),
            Harm::SlowLink => {
                cluster.links().be_late(MOST_LATE);
                self.rest(700);
                self.fail_over(cluster);
            }
            Harm::ClockJumpAndFailover => {
                self.rest(400);
                self.jump_clock(cluster);
                self.rest(300);
                self.fail_over(cluster);
            }
            Harm::ClockJump => {
                for _ in 0..2 {
                    self.rest(400);
                    self.jump_clock(cluster);
                }
            }
        }
        self.events
    }

    /// Nodes stand still and go on, twice.
    fn pause_nodes(&mut self, cluster: &FreeCluster) {
        for _ in 0..2 {
            self.rest(300);
            // Before 7.0 a late replica's key may end early (docs/approximations.md#servers).
            let replicas = if self.free_run.ttls == Ttls::Relative { 0 } else { self.free_run.replicas };
            let node = below(&mut self.random, u32::from(replicas) + 1);
            self.pause(cluster, node);
            // The model has room for few effects that wait for a replica.
            self.rest(if node == 0 { 400 } else { 100 });
            self.resume(cluster, node, 0);
        }
    }

    /// A replica is dead during a promotion, and returns to the old master.
    fn return_replica(&mut self, cluster: &FreeCluster) {
        self.rest(300);
        self.kill(cluster, 2, Action::KillNode { node: 2 });
        self.rest(300);
        self.note(Action::HandOver { node: 1 }, || cluster.nodes[1].promote());
        cluster.set_master(1);
        cluster.set_old_master();
        self.rest(500);
        self.note(Action::RestartNode { node: 2 }, || cluster.restart_as_replica_of(2, 0));
        self.rest(1500);
        cluster.begin_to_follow(2);
    }

    /// A replica is promoted beside the master, and the other one is told later.
    fn add_second_master(&mut self, cluster: &FreeCluster) {
        self.rest(1000);
        self.note(Action::HandOver { node: 1 }, || cluster.nodes[1].promote());
        cluster.set_master(1);
        cluster.set_old_master();
        self.rest(2000);
        cluster.begin_to_follow(2);
    }

    fn rest(&mut self, most_ms: u32) {
        thread::sleep(Duration::from_millis(below(&mut self.random, most_ms) as u64));
    }

    /// Does something that happens at some instant before it returns.
    fn note(&mut self, action: Action, act: impl FnOnce()) {
        let from_us = self.clock.now_us() - OLD_CLOCK_US;
        act();
        self.events.push(Event { from_us, to_us: self.clock.now_us(), what: Deed::Did(action) });
    }

    fn change_keys(&mut self, cluster: &FreeCluster, command: &str, action: Action) {
        for _ in 0..8 {
            self.rest(200);
            let from_us = self.clock.now_us() - OLD_CLOCK_US;
            if cluster.nodes[0].ask(cmd(command).arg(names().lock())) == Value::Int(1) {
                self.events.push(Event { from_us, to_us: self.clock.now_us(), what: Deed::Did(action) });
            }
        }
    }

    fn kill(&mut self, cluster: &FreeCluster, node: usize, action: Action) {
        let from_us = self.clock.now_us();
        cluster.nodes[node].kill();
        self.rest(100);
        // Nobody can tell when between these two instants it happened: its last effects may still arrive.
        self.events.push(Event { from_us, to_us: self.clock.now_us(), what: Deed::Did(action) });
    }

    fn pause(&mut self, cluster: &FreeCluster, node: usize) {
        let _idle = cluster.wait_until_idle();
        self.note(Action::PauseNode { node: number(node) }, || cluster.nodes[node].pause());
    }

    /// `heard_within_us`: until when others may not have noticed that it goes on.
    fn resume(&mut self, cluster: &FreeCluster, node: usize, heard_within_us: i64) {
        self.note(Action::ResumeNode { node: number(node) }, || cluster.nodes[node].resume());
        if let Some(resumed) = self.events.last_mut() {
            resumed.to_us += heard_within_us;
        }
    }

    /// A node is cut off from the others.
    fn cut(&mut self, cluster: &FreeCluster, node: usize) {
        let from_us = self.clock.now_us();
        cluster.links().cut();
        // What has passed by then arrives.
        thread::sleep(Duration::from_millis(20));
        // A node that has answered twice has read everything that arrived before. A slow machine needs longer for that.
        for node in &cluster.nodes {
            (0..2).for_each(|_| _ = node.linked_replicas());
        }
        self.rest(80);
        let what = Deed::Did(Action::CutLink { node: number(node) });
        self.events.push(Event { from_us, to_us: self.clock.now_us(), what });
    }

    fn heal(&mut self, cluster: &FreeCluster, node: usize) {
        self.note(Action::Heal { node: number(node) }, || {
            cluster.links().heal();
            // A master that was replaced notices that its replicas have left it.
            if cluster.master() != 0 {
                wait_until("the old master knows that it is alone", || cluster.nodes[0].linked_replicas() == 0);
            }
        });
    }

    /// A replica is promoted while the master is cut off, and the other one is told.
    fn replace_cut_off_master(&mut self, cluster: &FreeCluster) {
        self.promote(cluster);
        cluster.set_old_master();
        if self.free_run.replicas > 1 {
            self.rest(100);
            cluster.begin_to_follow(2);
        }
    }

    fn demote(&mut self, cluster: &FreeCluster) {
        cluster.leave_old_master();
        self.note(Action::Demote { node: 0 }, || cluster.demote_old_master());
    }

    /// The replica is cut off, or the master, which may be replaced.
    fn cut_needed_link(&mut self, cluster: &FreeCluster) {
        self.rest(1000);
        let cut_off = below(&mut self.random, 2);
        self.cut(cluster, cut_off);
        let is_replaced = cut_off == 0 && below(&mut self.random, 2) == 0;
        if is_replaced {
            self.rest(1000);
            self.replace_cut_off_master(cluster);
        }
        thread::sleep(Duration::from_secs(MAX_LAG_S + 2));
        self.rest(500);
        self.heal(cluster, cut_off);
        if is_replaced {
            self.rest(1000);
            self.demote(cluster);
        }
    }

    fn jump_clock(&mut self, cluster: &FreeCluster) {
        let FreeRun { replicas, jump, .. } = self.free_run;
        // A replica whose clock jumps back would show again what it only hides; the model leaves that out.
        let last = if jump > 0 { u32::from(replicas) } else { 0 };
        let node = below(&mut self.random, last + 1);
        let ms = i64::from(jump) * i64::from(self.free_run.tick_ms());
        // A key that has expired stays in memory until somebody reads it, and after a jump back it would be there again, which
        // the model leaves out (docs/approximations.md#servers).
        cluster.nodes[node].ask(cmd("EXISTS").arg(names().lock()));
        self.note(Action::ClockJump { node: number(node) }, || cluster.nodes[node].jump_clock(ms));
        if let Some(jumped) = self.events.last_mut() {
            jumped.to_us += OLD_CLOCK_US;
        }
    }

    /// The master dies and a replica takes its place. Another one is told later; when it has its copy nobody can tell.
    fn fail_over(&mut self, cluster: &FreeCluster) {
        self.kill(cluster, 0, Action::CrashNode { node: 0 });
        self.promote(cluster);
        self.rest(200);
        if self.free_run.replicas > 1 {
            cluster.begin_to_follow(2);
        }
    }

    fn promote(&mut self, cluster: &FreeCluster) {
        self.note(Action::Promote { node: 1 }, || cluster.nodes[1].promote());
        cluster.set_master(1);
    }

    /// `how`: what the command says besides to whom.
    fn hand_over(&mut self, cluster: &FreeCluster, how: &[&str]) {
        self.rest(500);
        let [old, new] = [&cluster.nodes[0], &cluster.nodes[1]];
        let mut from_us = self.clock.now_us() - OLD_CLOCK_US;
        let begins_us = from_us;
        let told = old.ask(cmd("FAILOVER").arg("TO").arg("127.0.0.1").arg(new.port()).arg(how));
        assert_eq!(told, Value::Okay, "FAILOVER");
        loop {
            let asked_us = self.clock.now_us() - OLD_CLOCK_US;
            if new.is_master() == Some(true) {
                break;
            }
            from_us = asked_us;
            thread::sleep(Duration::from_millis(1));
        }
        let to_us = self.clock.now_us();
        let begins = Deed::Did(Action::HandOver { node: 1 });
        self.events.push(Event { from_us: begins_us, to_us, what: begins });
        let ends = Deed::Did(Action::FinishHandOver { node: 1 });
        self.events.push(Event { from_us, to_us, what: ends });
        cluster.set_master(1);
    }

    fn restart(&mut self, cluster: &FreeCluster) {
        self.rest(100);
        let from_us = self.clock.now_us();
        cluster.nodes[0].kill();
        let what = Deed::Did(Action::KillNode { node: 0 });
        self.events.push(Event { from_us, to_us: self.clock.now_us(), what });
        self.rest(100);
        self.note(Action::RestartNode { node: 0 }, || cluster.nodes[0].restart());
    }

    /// The only node is told to end, and is started again.
    fn end_and_restart(&mut self, cluster: &FreeCluster) {
        self.rest(300);
        let only = &cluster.nodes[0];
        self.note(Action::ShutdownNode { node: 0 }, || {
            only.tell_to_end();
            only.wait_for_end();
        });
        self.rest(100);
        self.note(Action::RestartNode { node: 0 }, || only.restart());
    }

    /// The master dies or stands still, and the sentinels do the rest.
    fn watch_sentinels(&mut self, cluster: &FreeCluster) {
        self.rest(300);
        if below(&mut self.random, 2) == 0 {
            self.kill(cluster, 0, Action::CrashNode { node: 0 });
        } else {
            self.pause(cluster, 0);
        }
        let mut last_us = [self.clock.now_us(); 2];
        while !self.clock.is_over() {
            for (node, last_us) in (1..3).zip(&mut last_us) {
                let asked_us = self.clock.now_us();
                match cluster.nodes[node].is_master() {
                    Some(true) => {
                        let what = Deed::Did(Action::Promote { node: number(node) });
                        self.events.push(Event { from_us: *last_us, to_us: self.clock.now_us(), what });
                        cluster.set_master(node);
                        return;
                    }
                    Some(false) => *last_us = asked_us - OLD_CLOCK_US,
                    None => {}
                }
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn number(node: usize) -> u8 {
    u8::try_from(node).expect("there are few nodes")
}

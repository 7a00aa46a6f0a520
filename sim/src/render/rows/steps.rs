//! Every step of a trace as rows.

use lockstep_model::action::Party;
use lockstep_model::trace::{Trace, node_name};
use lockstep_model::{Action, Happening, Reply};

use super::super::paint::Tone;
use super::super::units::time;
use super::lane::Lane;
use super::narrator::Narrator;
use super::row::Row;

/// The rows of a trace, from the first step to the last.
pub fn rows(trace: &Trace) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut quiet_since = None;
    for step in &trace.steps {
        let narrator = Narrator { config: &trace.config, before: trace.state_after(step.number - 1), step };
        let starts_loop = trace.loop_start == Some(step.number - 1);
        if step.action == Action::Tick {
            let goes_on = rows.pop_if(|last| quiet_since == Some(last.last) && !starts_loop);
            rows.push(narrator.passing(goes_on.as_ref()));
            // After an event a new row begins: the reader must see when the event was.
            quiet_since = step.happenings.is_empty().then_some(step.number);
        } else {
            rows.extend(narrator.rows());
            if let Some(last) = rows.last_mut() {
                last.what.push_str(&narrator.stops());
            }
        }
    }
    rows
}

/// What the last step of a trace does, in sentences, without the time since the start.
pub fn last_sentences(trace: &Trace) -> Vec<String> {
    let Some(step) = trace.steps.last() else { return Vec::new() };
    let narrator = Narrator { config: &trace.config, before: trace.state_after(step.number - 1), step };
    if step.action == Action::Tick {
        return vec![format!("{} pass{}{}", time(&trace.config, 1), narrator.runs_out(), narrator.stops())];
    }
    let mut sentences: Vec<_> = narrator.rows().into_iter().map(|row| row.what).collect();
    if let Some(last) = sentences.last_mut() {
        last.push_str(&narrator.stops());
    }
    sentences
}

impl Narrator<'_> {
    /// The thread that acts, from 0; 0 where none does.
    const fn acting_thread(&self) -> u8 {
        match self.step.action.party() {
            Party::Thread(holder) => holder.thread(),
            Party::Client(_) | Party::Node(_) | Party::World => 0,
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each action")]
    /// The rows of one step.
    fn rows(&self) -> Vec<Row> {
        let name = &self.step.lane;
        let calls = self.own().call_names(self.acting_thread());
        match self.step.action {
            Action::Acquire { client, .. } if self.config.asks_master_locks() => {
                let call = if self.own().time.wait_limit.is_some() { calls.try_acquire } else { calls.acquire };
                self.begin_asking_locks(client, call)
            }
            Action::Release { client, .. } if self.config.asks_master_locks() => {
                self.begin_release_of_locks(client, calls.release)
            }
            Action::ExtendAt { client, node } if self.config.asks_master_locks() => {
                self.renew_lock_at(client, node, calls.renew)
            }
            Action::SetTtlAt { client, node } => self.set_ttl_at(client, node),
            Action::SecondAsk { client, .. } if self.config.asks_master_locks() => {
                self.ask_again_at_master(client, "ask again", &format!("{name}, subscribed now, asks"))
            }
            Action::WakeByMessage { client, .. } if self.config.asks_master_locks() => {
                self.ask_again_at_master(client, "woken", &format!("{name} is woken by the message, and asks"))
            }
            Action::WakeByTimer { client, .. } if self.config.asks_master_locks() => {
                self.ask_again_at_master(client, "timer", &format!("{name}'s timer fires, and it asks"))
            }
            Action::Subscribe { client, .. } if self.config.asks_master_locks() => self.subscribe_at_master(client),
            Action::GiveUp { client, .. } if self.config.asks_master_locks() => self.give_up_at_master(client),
            Action::Acquire { client, .. } if self.config.asks_masters() => {
                self.begin_round(client, calls.acquire, &format!("{name} asks for the lock"))
            }
            Action::WakeByTimer { client, .. } if self.config.asks_masters() => {
                self.begin_round(client, "timer", &format!("{name}'s timer fires, and it begins another round"))
            }
            Action::Release { client, .. } if self.config.asks_masters() => self.begin_release(client, calls.release),
            Action::Renew { client } if self.config.asks_masters() => self.begin_extension(client, calls.renew),
            Action::Acquire { client, thread } => {
                let call = if self.own().time.wait_limit.is_some() { calls.try_acquire } else { calls.acquire };
                let holds = self.thread_before(client, thread).holds;
                let what = if holds > 0 { format!("{name} asks to enter again") } else { format!("{name} asks") };
                self.ask(client, thread, call, what)
            }
            Action::NextPart { client, thread } => self.next_part(client, thread),
            Action::GiveBack { client, thread } => self.give_back(client, thread),
            Action::SecondAsk { client, thread } => {
                self.ask(client, thread, "ask again", format!("{name}, subscribed now, asks again"))
            }
            Action::WakeByMessage { client, thread } => {
                self.ask(client, thread, "woken", format!("{name} is woken by the message, and asks"))
            }
            Action::WakeByTimer { client, thread } => {
                self.ask(client, thread, "timer", format!("{name}'s timer fires, and it asks"))
            }
            Action::Subscribe { client, thread } => {
                let node = self.subscribed(client);
                let what = format!("{name} subscribes to the unlock channel on {}", node_name(node));
                vec![self.one_way(Lane::Thread { client, thread }, Lane::Node(node), "subscribe", what)]
            }
            Action::Resubscribe { client } => {
                let node = self.subscribed(client);
                let what = format!("{name} lost its subscription with the node, and subscribes on {}", node_name(node));
                vec![self.one_way(Lane::Thread { client, thread: 0 }, Lane::Node(node), "subscribe", what)]
            }
            Action::GiveUp { client, thread } => self.give_up(client, thread),
            Action::Confirm { client, thread } if self.config.is_split() => self.end_wait(client, thread),
            Action::Confirm { client, thread } => self.confirm(client, thread),
            Action::Undo { client, thread } => {
                self.release(client, thread, "undo", format!("{name} releases its grant, which too few replicas have"))
            }
            Action::SetTtl { client, thread } => self.set_ttl(client, thread),
            Action::ReadToken { client, thread } => self.read_token(client, thread),
            Action::AskIfHeld { client, thread } => self.ask_if_held(client, thread),
            Action::Work { client, thread } | Action::Arrive { client, thread } => {
                vec![self.work(Lane::Thread { client, thread })]
            }
            Action::Release { client, thread } => {
                let holds = self.thread_before(client, thread).holds;
                let what = if holds > 1 {
                    format!("{name} releases one of {holds} holds")
                } else {
                    format!("{name} releases")
                };
                self.release(client, thread, calls.release, what)
            }
            Action::ForeignRelease { client, thread } => {
                self.release(client, thread, calls.release, format!("{name} releases although it does not hold"))
            }
            Action::ForceRelease { client } => {
                let what = if self.config.shares() {
                    format!("{name} frees the lock, if somebody has it for writing")
                } else {
                    format!("{name} deletes the lock, no matter who holds it")
                };
                self.release(client, 0, calls.force_release, what)
            }
            Action::AskMaster { client, node } => self.ask_master(client, node),
            Action::ExtendAt { client, node } => self.extend_at(client, node),
            Action::SlowReply { client, node } => self.ask_slowly(client, node),
            Action::HearMaster { client, node } => self.hear_master(client, node),
            Action::LoseAsk { client, node } => self.lose_ask(client, node),
            Action::LateAsk { client, node } => self.ask_late(client, node),
            Action::ArriveLate { client, node } => self.arrive_late(client, node),
            Action::ReleaseAt { client, node } => self.release_at(client, node),
            Action::DiscoverMaster { client, node } => {
                let master = node_name(node);
                let what = format!("{name} learns that {master} is the master of its group");
                self.alone(Lane::Thread { client, thread: 0 }, format!("finds {master}"), Tone::Plain, what)
            }
            Action::Discover { client } => {
                let master = &self.client_after(client).master;
                let what = format!("{name} learns that {master} is the master");
                self.alone(Lane::Thread { client, thread: 0 }, format!("finds {master}"), Tone::Plain, what)
            }
            Action::GoBack { client, .. } => {
                let master = &self.client_after(client).master;
                let what = format!("{name} goes back to {master}, which still says that it is a master");
                self.alone(Lane::Thread { client, thread: 0 }, format!("back to {master}"), Tone::Odd, what)
            }
            Action::Resume { client } => {
                self.alone(Lane::Thread { client, thread: 0 }, "resumes", Tone::Plain, format!("{name} runs again"))
            }
            Action::Deliver { client } => {
                let unheard = if self.has(Happening::MessageUnheard) { ", where no thread sleeps" } else { "" };
                let what = format!("the unlock message reaches {name}{unheard}");
                self.alone(Lane::Thread { client, thread: 0 }, "message", Tone::Good, what)
            }
            Action::LoseMessage { client } => {
                let what = format!("an unlock message for {name} is lost");
                self.alone(Lane::Thread { client, thread: 0 }, "x message", Tone::Odd, what)
            }
            Action::Renew { client } | Action::RenewAcknowledged { client } => self.renew(client),
            Action::Execute { client, slot } => self.execute(client, slot),
            Action::Register { client, thread } => {
                let what = format!("the grant reaches {name}'s process: its watchdog will renew it");
                self.alone(Lane::Thread { client, thread }, "registered", Tone::Plain, what)
            }
            Action::Unregister { client, thread } => {
                let what = format!("the answer reaches {name}'s process: the watchdog renews one hold less");
                self.alone(Lane::Thread { client, thread }, "unregistered", Tone::Plain, what)
            }
            Action::Answer { client, slot } => self.answer(client, slot),
            Action::Resend { client, slot } => self.resend(client, slot),
            Action::Abandon { client, slot } => self.abandon(client, slot),
            Action::LoseRequest { client, slot } => self.lose_request(client, slot),
            Action::LoseReply { client, slot } => self.lose_reply(client, slot),
            Action::Interrupt { client, thread } => self.interrupt(client, thread),
            Action::Replicate { node } => vec![self.replicate(node)],
            Action::Promote { node } => self.promote(node),
            Action::Resync { node } => self.resync(node),
            Action::LeaveMaster { node } => self.leave_master(node),
            Action::Demote { node } => self.demote(node),
            Action::Fsync { node } => self.fsync(node),
            Action::Snapshot { node } => self.snapshot(node),
            Action::FinishShutdown { node } => self.finish_shutdown(node),
            Action::FinishHandOver { node } => self.finish_hand_over(node),
            Action::GiveUpHandOver { node } => self.give_up_hand_over(node),
            Action::Heal { node } => self.heal(node),
            Action::Recount { node } => self.recount(node),
            Action::NoticeDeath { node } => self.notice_death(node),
            Action::AcceptWrites { node } => self.accept_writes(node),
            Action::Expire { node } | Action::ExpirePart { node, .. } => self.expire(node),
            Action::ExpireReceipts { node } => self.expire_receipts(node),
            Action::CrashClient { client } => {
                let mut row = Row::of(self.step, format!("{name} crashes for good{}", self.left_behind(client)));
                for thread in 0..self.config.clients.threads {
                    row = row.showing(Lane::Thread { client, thread }, "x crash", Tone::Odd);
                }
                vec![row]
            }
            Action::CrashThread { client, thread } => {
                let what = format!("the thread {name} dies without a release while its process lives on");
                self.alone(Lane::Thread { client, thread }, "x thread", Tone::Odd, what)
            }
            Action::PauseClient { client } => {
                let what = format!("{name} does not run; its timers become overdue");
                self.alone(Lane::Thread { client, thread: 0 }, "paused", Tone::Odd, what)
            }
            Action::StartClient { client, .. } => {
                let master = &self.client_after(client).master;
                let what = format!("{name} starts, and takes {master} for the master");
                self.alone(Lane::Thread { client, thread: 0 }, format!("starts: {master}"), Tone::Odd, what)
            }
            Action::CrashNode { node } => self.crash_node(node),
            Action::HandOver { node } => self.hand_over(node),
            Action::RestartNode { node } => self.restart_node(node),
            Action::KillNode { node } => self.kill_node(node),
            Action::ShutdownNode { node } => self.shutdown_node(node),
            Action::CutLink { node } => self.cut_link(node),
            Action::RefuseWrites { node } => self.refuse_writes(node),
            Action::BreakLink { node } => self.break_link(node),
            Action::MoveSlot { node } => self.move_slot(node),
            Action::MoveKeys { node } => self.move_keys(node),
            Action::FinishMove { node } => self.finish_move(node),
            Action::PauseNode { node } => self.pause_node(node),
            Action::ResumeNode { node } => self.resume_node(node),
            Action::CountReplicas { node } => self.count_replicas(node),
            Action::VanishKey { node } => self.vanish_key(node),
            Action::PersistKey { node } => self.persist_key(node),
            Action::OverwriteKey { node, name } => self.overwrite_key(node, name),
            Action::VanishReceipts { node } => self.vanish_receipts(node),
            Action::VanishToken { node } => self.vanish_token(node),
            Action::ClockJump { node } => self.clock_jump(node),
            Action::ClientClockJump { client } => self.client_clock_jump(client),
            Action::Tick => vec![self.passing(None)],
        }
    }

    fn work(&self, caller: Lane) -> Row {
        let name = &self.step.lane;
        if self.step.answer == Reply::Done {
            let what = format!("{name} writes to the resource; the write is under way");
            return Row::of(self.step, what).showing(caller, "writes ..", Tone::Plain);
        }
        let with = self.token_of_write(caller);
        let is_stale = self.has(Happening::StaleEffect);
        let call = if matches!(self.step.action, Action::Arrive { .. }) { "arrives" } else { "work()" };
        let (shows, tone, what) = match self.step.answer {
            Reply::Rejected => (
                "REJECTS",
                Tone::Odd,
                format!("the resource rejects {name}'s effect{with}: it has seen {}", self.newer_token()),
            ),
            _ if is_stale => (
                "ACCEPTS",
                Tone::Bad,
                format!("the resource accepts {name}'s effect{with} after one of a later holder"),
            ),
            _ => ("accepts", Tone::Good, format!("the resource accepts {name}'s effect{with}")),
        };
        self.one_way(caller, Lane::Resource, call, what).showing(Lane::Resource, shows, tone)
    }

    /// The token that a write brings, where it comes from Redis.
    fn token_of_write(&self, caller: Lane) -> String {
        let Lane::Thread { client, thread } = caller else { return String::new() };
        if !self.config.has_stored_tokens() {
            return String::new();
        }
        let sender = self.thread_before(client, thread);
        let is_late = matches!(self.step.action, Action::Arrive { .. });
        match if is_late { sender.stored_token_under_way } else { sender.stored_token } {
            0 => " with token -1".to_owned(),
            token => format!(" with token {token}"),
        }
    }

    /// What a resource has seen that rejects a write.
    fn newer_token(&self) -> String {
        match self.before.resource_token {
            _ if !self.config.has_stored_tokens() => "a newer fencing token".to_owned(),
            0 => "token -1".to_owned(),
            seen => format!("token {seen}"),
        }
    }

    /// Time passes; `earlier` is the row of the ticks just before, if they had no event.
    fn passing(&self, earlier: Option<&Row>) -> Row {
        let first = earlier.map_or(self.step.number, |row| row.first);
        let from = earlier.map_or(self.step.at_tick, |row| row.at_tick);
        let (to, ends) = (self.step.at_tick + 1, self.runs_out() + &self.stops());
        let what = format!("{} → {}{ends}", time(self.config, from), time(self.config, to));
        let mut row = Row { first, at_tick: from, ..Row::of(self.step, what) };
        for (client, thread, _) in self.stopping() {
            row = row.showing(Lane::Thread { client, thread }, "stops", Tone::Odd);
        }
        for node in 0..self.config.all_nodes() {
            let was_stored = self.before.nodes[usize::from(node)].stored.is_held();
            if let Some(lock) = self.stored_on(node) {
                row = row.showing(Lane::Node(node), lock, Tone::Plain);
            } else if was_stored {
                row = row.showing(Lane::Node(node), "expired", Tone::Odd);
            }
        }
        row
    }
}

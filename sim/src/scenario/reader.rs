//! Turns the text of a scenario into its world and claims.
//!
//! Each key is checked alone first, then keys that contradict each other, then the claims: a claim is checked only in a
//! world without errors.

use core::ops::Range;
use std::collections::BTreeMap;

use lockstep_model::config::{
    AcceptedTokens, Bound, Bounds, Channels, Cluster, Discovery, Faults, Fencing, Fsync, LockKind, MAX_FAULTS,
    MAX_GROUPS, MAX_JUMP, MAX_REPLICAS, MAX_TICKS, MessageDelay, Network, NetworkMode, NodeSet, Profile, PromoteRule,
    ReplicasLeave, Resource, Time, Ttls, WriteDelay,
};
use lockstep_model::notes::Capacity;
use lockstep_model::{Config, Property, Verdict};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::code::Code;
use super::contradiction::kinds_with;
use super::definition::{Others, Scenario, TimesWithUnits};
use super::error::Problem;
use super::parts::{Parts, Sections};
use super::section::{Entry, Problems, Section};
use super::spelling::{kind_of, meant, one_of, short};
use super::ticks::{FSYNC_WITHIN_MS, MAX_TICK_MS, TICK_MS, Tick, usual_slack};
use super::{calls, clients, impossible, syntax, ticks};

/// The maximum length of a story, in characters.
pub const MAX_STORY: usize = 500;
/// The words that a scenario may claim for a property.
const CLAIMS: [Verdict; 4] = [Verdict::Holds, Verdict::Violated, Verdict::Vacuous, Verdict::HoldsWithinBounds];

/// Reads the text of a scenario with the given name.
pub(super) fn read(name: &str, text: &str) -> Result<Scenario, Vec<Problem>> {
    let notes = Problems::default();
    let (root, is_sound) = syntax::parse(text, &notes);
    if !is_sound {
        return Err(notes.into_problems());
    }
    let scenario = scenario(name, text.len(), root.get_ref(), &notes);
    match scenario {
        Some(scenario) if notes.is_empty() => Ok(scenario),
        _ => Err(notes.into_problems()),
    }
}

/// `None` only if a problem was recorded.
fn scenario(name: &str, end: usize, root: &DeTable<'_>, notes: &Problems) -> Option<Scenario> {
    let top = Section::top(root, notes);
    let sections = Sections::open(&top, end);
    let story = top.require(
        "story",
        top.text("story", MAX_STORY),
        "`story = \"…\"`, which says in a sentence or two what the world is",
    );
    let parts = sections.parts(&top, root);
    // A claim cannot be checked against a world that is not the intended one.
    let config = if notes.is_empty() { parts.config() } else { None };
    impossible::note(&parts, &top, &sections);
    clients::note(&parts, &sections);
    calls::note(&parts, &top, &sections);
    let (expect, others) = claims(&sections, config.as_ref());
    let story = story.given()?.0.split_whitespace().collect::<Vec<_>>().join(" ");
    let config = config?;
    let units = sections.units(root, &config);
    Some(Scenario { name: name.into(), story, config, expect, others, units })
}

impl Sections<'_> {
    fn parts(&self, top: &Section<'_>, root: &DeTable<'_>) -> Parts {
        let protocol = clients::protocol(&self.protocol, Profile::Redisson47.protocol());
        // The length of a tick is known from here on.
        let time = self.time(root);
        let of_profile = calls::of_profile(protocol.map(|protocol| protocol.profile));
        let has_resource = self.resource.span().is_some();
        let calls = calls::read((&self.time, &self.protocol), of_profile, None, has_resource);
        let lock = lock(top);
        let clients = self.clients(lock);
        Parts {
            lock,
            time,
            clients,
            settings: self.settings(time, clients, protocol, calls),
            cluster: self.cluster(time.map_or(TICK_MS, |time| time.tick_ms)),
            network: self.network(),
            protocol,
            calls,
            faults: self.faults(),
            resource: self.resource(),
            strong_fairness: self.fairness.flag("strong").or(false),
            bounds: self.bounds(),
        }
    }

    fn units(&self, root: &DeTable<'_>, config: &Config) -> TimesWithUnits {
        let times_ms = ticks::with_units(root);
        let decide_the_tick = !times_ms.is_empty() && self.time.span_of("tick_ms").is_none();
        let keys = [
            (&self.time, "answer_within", config.is_split()),
            (&self.cluster, "min_replicas_max_lag", config.cluster.min_replicas > 0),
        ];
        let left_out = keys.into_iter().filter(|(section, key, matters)| *matters && section.span_of(key).is_none());
        let of_one_tick = left_out.map(|(_, key, _)| key).collect();
        TimesWithUnits { times_ms, decide_the_tick, of_one_tick }
    }

    fn time(&self, root: &DeTable<'_>) -> Option<Time> {
        let time = &self.time;
        let tick_ms = time.number("tick_ms", 1..=MAX_TICK_MS);
        let (common, problem) = if matches!(tick_ms, Entry::Absent) { ticks::common(root) } else { (None, None) };
        if let Some(problem) = problem {
            time.note::<()>(problem);
        }
        let tick_ms = tick_ms.or(common.map_or(TICK_MS, |tick| tick.ms));
        if let Some(ms) = tick_ms {
            time.set_tick(common.unwrap_or(Tick { ms, is_common: false, is_refused: false }));
        }
        let lease = time.require(
            "lease",
            time.ticks("lease", 1..=MAX_TICKS),
            "`lease = 3`, the number of ticks, or `lease = \"30s\"`, after which an unrenewed grant expires",
        );
        let reentry_lease = time.ticks("reentry_lease", 1..=MAX_TICKS);
        let named_lease = time.ticks("named_lease", 1..=MAX_TICKS);
        let renew_every = time.ticks("renew_every", 1..=MAX_TICKS);
        let wait_limit = time.ticks("wait_limit", 0..=MAX_TICKS);
        // A bound of 0 cannot be kept by any holder: it would have to release before it holds.
        let hold_at_most = time.ticks("hold_at_most", 1..=MAX_TICKS);
        let poll_every = time.ticks("poll_every", 1..=MAX_TICKS);
        let ask_again_after = time.ticks("ask_again_after", 1..=MAX_TICKS);
        let queue_wait = time.ticks("queue_wait", 1..=MAX_TICKS);
        let round_wait = time.ticks("round_wait", 1..=MAX_TICKS);
        let drift = time.ticks("drift", 0..=MAX_TICKS);
        let jump = time.ticks("jump", -MAX_JUMP..=MAX_JUMP);
        Some(Time {
            tick_ms: tick_ms?,
            lease: lease.given()?.0,
            reentry_lease: reentry_lease.optional().or(None)?,
            named_lease: named_lease.optional().or(None)?,
            renew_every: renew_every.optional().or(None)?,
            wait_limit: wait_limit.optional().or(None)?,
            hold_at_most: hold_at_most.optional().or(None)?,
            poll_every: poll_every.or(1)?,
            ask_again_after: ask_again_after.or(1)?,
            queue_wait: queue_wait.optional().or(None)?,
            round_wait: round_wait.optional().or(None)?,
            drift: drift.or(0)?,
            jump: jump.or(0)?,
        })
    }

    fn cluster(&self, tick_ms: u32) -> Option<Cluster> {
        let cluster = &self.cluster;
        let groups = cluster.number("groups", 1..=MAX_GROUPS);
        let replicas = cluster.number("replicas", 0..=MAX_REPLICAS);
        let wait_for = cluster.number("wait_for", 0..=MAX_REPLICAS);
        let min_replicas = cluster.number("min_replicas", 0..=MAX_REPLICAS);
        // 0 would switch the rule off (Redis: "setting one or the other to 0 disables the feature").
        let max_lag = cluster.ticks("min_replicas_max_lag", 1..=MAX_TICKS);
        let slack = cluster.ticks("min_replicas_slack", 0..=MAX_TICKS);
        let lag = cluster.ticks_or_any("lag", MAX_TICKS);
        let failover_within = cluster.ticks_or_any("failover_within", MAX_TICKS);
        let ttls = cluster.word("ttls", "form of a replicated TTL", &TTLS);
        let promote = cluster.word("promote", "promotion rule", &PROMOTE_RULES);
        let replicas_leave = cluster.word("replicas_leave", "way to leave a master", &WAYS_TO_LEAVE);
        let channels = cluster.word("channels", "kind of channels", &CHANNELS);
        let cut_together = cluster.nodes("cut_together", MAX_REPLICAS + 1);
        let fsync = cluster.word("fsync", "fsync rule", &FSYNCS);
        let fsync_within = cluster.ticks("fsync_within", 0..=MAX_TICKS);
        let aof_rewrite_within = cluster.ticks("aof_rewrite_within", 0..=MAX_TICKS);
        let no_appendfsync_on_rewrite = cluster.flag("no_appendfsync_on_rewrite");
        let shutdown_timeout = cluster.ticks("shutdown_timeout", 0..=MAX_TICKS);
        let hand_over_timeout = cluster.ticks_or_any("hand_over_timeout", MAX_TICKS);
        let restart_after = cluster.ticks("restart_after", 0..=MAX_TICKS);
        let lock_delay = cluster.ticks("lock_delay", 0..=MAX_TICKS);
        let start_delay = cluster.ticks("start_delay", 0..=MAX_TICKS);
        let discovery = cluster.word("discovery", "rule of discovery", &DISCOVERIES);
        let min_replicas = min_replicas.or(0)?;
        let fsync = fsync.or(Fsync::None)?;
        let usual_slack = if min_replicas > 0 { usual_slack(tick_ms) } else { 0 };
        let latest_fsync = if fsync == Fsync::EverySecond { FSYNC_WITHIN_MS.div_ceil(tick_ms) } else { 0 };
        Some(Cluster {
            groups: groups.or(1)?,
            replicas: replicas.or(0)?,
            lag: lag.or(None)?.map_or(Bound::Any, Bound::Ticks),
            ttls: ttls.or(Ttls::Absolute)?,
            promote: promote.or(PromoteRule::Any)?,
            replicas_leave: replicas_leave.or(ReplicasLeave::Together)?,
            channels: channels.or(Channels::Global)?,
            cut_together: cut_together.or(NodeSet::default())?,
            failover_within: failover_within.or(None)?.map_or(Bound::Any, Bound::Ticks),
            fsync,
            fsync_within: fsync_within.or(u8::try_from(latest_fsync).unwrap_or(MAX_TICKS))?,
            aof_rewrite_within: aof_rewrite_within.or(0)?,
            no_appendfsync_on_rewrite: no_appendfsync_on_rewrite.or(false)?,
            shutdown_timeout: shutdown_timeout.or(0)?,
            hand_over_timeout: hand_over_timeout.or(None)?.map_or(Bound::Any, Bound::Ticks),
            restart_after: restart_after.or(0)?,
            wait_for: wait_for.or(0)?,
            lock_delay: lock_delay.or(0)?,
            start_delay: start_delay.or(0)?,
            discovery: discovery.or(Discovery::NewMaster)?,
            min_replicas,
            min_replicas_max_lag: max_lag.or(u8::from(min_replicas > 0))?,
            min_replicas_slack: slack.or(usual_slack)?,
        })
    }

    fn network(&self) -> Option<Network> {
        let network = &self.network;
        let modes = [("atomic", NetworkMode::Atomic), ("split", NetworkMode::Split)];
        let mode = network.word("mode", "network mode", &modes);
        let delay = network.ticks_or_any("delay", MAX_TICKS);
        Some(Network {
            mode: mode.or(NetworkMode::Atomic)?,
            delay: match delay.or(Some(0))? {
                None => MessageDelay::Any,
                Some(0) => MessageDelay::None,
                Some(ticks) => MessageDelay::Ticks(ticks),
            },
        })
    }

    fn faults(&self) -> Option<Faults> {
        let faults = &self.faults;
        let budget = |fault| faults.number(fault, 0..=MAX_FAULTS);
        let (crash_client, crash_thread) = (budget("crash_client"), budget("crash_thread"));
        let (pause_client, crash_node) = (budget("pause_client"), budget("crash_node"));
        let start_client = budget("start_client");
        let (lose_message, foreign_release) = (budget("lose_message"), budget("foreign_release"));
        let (force_release, restart_node) = (budget("force_release"), budget("restart_node"));
        let (kill_node, shutdown_node) = (budget("kill_node"), budget("shutdown_node"));
        let (cut_link, vanish_key) = (budget("cut_link"), budget("vanish_key"));
        let pause_node = budget("pause_node");
        let (clock_jump, client_clock_jump) = (budget("clock_jump"), budget("client_clock_jump"));
        let (hand_over, refuse_writes) = (budget("hand_over"), budget("refuse_writes"));
        let (break_link, persist_key, vanish_receipts) =
            (budget("break_link"), budget("persist_key"), budget("vanish_receipts"));
        let (vanish_token, overwrite_key) = (budget("vanish_token"), budget("overwrite_key"));
        let (lose_request, lose_reply, interrupt) = (budget("lose_request"), budget("lose_reply"), budget("interrupt"));
        let move_slot = faults.number("move_slot", 0..=1);
        let (lose_ask, slow_reply, late_ask) = (budget("lose_ask"), budget("slow_reply"), budget("late_ask"));
        Some(Faults {
            crash_client: crash_client.or(0)?,
            crash_thread: crash_thread.or(0)?,
            pause_client: pause_client.or(0)?,
            start_client: start_client.or(0)?,
            crash_node: crash_node.or(0)?,
            lose_message: lose_message.or(0)?,
            foreign_release: foreign_release.or(0)?,
            force_release: force_release.or(0)?,
            restart_node: restart_node.or(0)?,
            kill_node: kill_node.or(0)?,
            shutdown_node: shutdown_node.or(0)?,
            cut_link: cut_link.or(0)?,
            pause_node: pause_node.or(0)?,
            vanish_key: vanish_key.or(0)?,
            lose_request: lose_request.or(0)?,
            lose_reply: lose_reply.or(0)?,
            interrupt: interrupt.or(0)?,
            clock_jump: clock_jump.or(0)?,
            client_clock_jump: client_clock_jump.or(0)?,
            hand_over: hand_over.or(0)?,
            refuse_writes: refuse_writes.or(0)?,
            break_link: break_link.or(0)?,
            persist_key: persist_key.or(0)?,
            vanish_receipts: vanish_receipts.or(0)?,
            vanish_token: vanish_token.or(0)?,
            overwrite_key: overwrite_key.or(0)?,
            lose_ask: lose_ask.or(0)?,
            slow_reply: slow_reply.or(0)?,
            late_ask: late_ask.or(0)?,
            move_slot: move_slot.or(0)?,
        })
    }

    fn bounds(&self) -> Option<Bounds> {
        let bound =
            |capacity: Capacity| self.bounds.number(capacity.key(), capacity.least()..=capacity.most()).optional();
        let (effects_under_way, messages) = (bound(Capacity::Effects), bound(Capacity::Messages));
        let (receipts, late_requests) = (bound(Capacity::Receipts), bound(Capacity::LateRequests));
        let (registrations, renewal_timers) = (bound(Capacity::Registrations), bound(Capacity::RenewalTimers));
        let (tokens, holds) = (bound(Capacity::Tokens), bound(Capacity::Holds));
        Some(Bounds {
            effects_under_way: effects_under_way.or(None)?,
            messages: messages.or(None)?,
            receipts: receipts.or(None)?,
            late_requests: late_requests.or(None)?,
            registrations: registrations.or(None)?,
            renewal_timers: renewal_timers.or(None)?,
            tokens: tokens.or(None)?,
            holds: holds.or(None)?,
        })
    }

    fn resource(&self) -> Entry<Resource> {
        let Some(fencing) = self.resource.word("fencing", "fencing", &FENCINGS).or(Fencing::None) else {
            return Entry::Refused;
        };
        let Some(delay) = self.resource.word("delay", "delay of writes", &WRITE_DELAYS).or(WriteDelay::None) else {
            return Entry::Refused;
        };
        let accepts = self.resource.word("accepts", "accepted tokens", &ACCEPTED_TOKENS);
        let Some(accepts) = accepts.or(AcceptedTokens::EqualOrNewer) else { return Entry::Refused };
        let value = Resource { fencing, delay, accepts };
        self.resource.span().map_or(Entry::Absent, |span| Entry::Given { value, span })
    }
}

const FENCINGS: [(&str, Fencing); 3] =
    [("none", Fencing::None), ("ideal", Fencing::Ideal), ("stored", Fencing::Stored)];
const ACCEPTED_TOKENS: [(&str, AcceptedTokens); 2] =
    [("equal-or-newer", AcceptedTokens::EqualOrNewer), ("newer", AcceptedTokens::Newer)];
const WRITE_DELAYS: [(&str, WriteDelay); 2] = [("none", WriteDelay::None), ("any", WriteDelay::Any)];
const TTLS: [(&str, Ttls); 2] = [("absolute", Ttls::Absolute), ("relative", Ttls::Relative)];
const WAYS_TO_LEAVE: [(&str, ReplicasLeave); 2] =
    [("together", ReplicasLeave::Together), ("one-by-one", ReplicasLeave::OneByOne)];
const CHANNELS: [(&str, Channels); 2] = [("global", Channels::Global), ("sharded", Channels::Sharded)];
const FSYNCS: [(&str, Fsync); 4] =
    [("none", Fsync::None), ("snapshot", Fsync::Snapshot), ("everysec", Fsync::EverySecond), ("always", Fsync::Always)];
const DISCOVERIES: [(&str, Discovery); 2] =
    [("new-master", Discovery::NewMaster), ("any-master", Discovery::AnyMaster)];
const PROMOTE_RULES: [(&str, PromoteRule); 5] = [
    ("any", PromoteRule::Any),
    ("most-data", PromoteRule::MostData),
    ("priority", PromoteRule::Priority),
    ("coordinated", PromoteRule::Coordinated),
    ("forced", PromoteRule::Forced),
];

fn lock(top: &Section<'_>) -> Option<LockKind> {
    let kinds: Vec<_> = LockKind::ALL.iter().map(|kind| (kind.name(), *kind)).collect();
    let lock = top.word("lock", "lock kind", &kinds);
    let example = format!("the lock kind, for example `{}`", kinds_with(|facts| facts.reentry.is_there()));
    top.require("lock", lock, &example).given().map(|(lock, _)| lock)
}

/// The key that claims something of every property without a claim.
const OTHERS: &str = "others";

/// Without a world, only the words themselves are checked.
fn claims(sections: &Sections<'_>, config: Option<&Config>) -> (BTreeMap<Property, Verdict>, Others) {
    let expect = &sections.expect;
    let sets_bounds = sections.bounds.entries().next().is_some();
    let mut claims = BTreeMap::new();
    let mut all_hold = false;
    for (key, value) in expect.entries() {
        if key.get_ref() == OTHERS {
            if value.get_ref().as_str() == Some(Verdict::Holds.name()) {
                all_hold = true;
            } else {
                let title = format!("`{OTHERS}` must be \"holds\"");
                let problem =
                    Problem::at(Code::NotAClaim, value.span(), title).label("of them all nothing else can be claimed");
                let help = "leave the line out, and the properties that are not named are only reported";
                expect.note::<()>(problem.help(help));
            }
            continue;
        }
        let property = property(expect, key.get_ref(), key.span());
        let verdict = verdict(expect, key.get_ref(), value);
        let (Some(property), Some(verdict)) = (property, verdict) else { continue };
        if verdict == Verdict::HoldsWithinBounds && !sets_bounds {
            let title = format!("\"{verdict}\" can be claimed only in a file that sets a bound in [bounds]");
            let problem = Problem::at(Code::NotAClaim, value.span(), title).label("this file sets no bound");
            let help =
                "claim \"holds\", or set the bounds that you accept, for example effects_under_way = 4 in [bounds]";
            expect.note::<()>(problem.help(help));
        }
        if let Some(Err(reason)) = config.map(|config| property.applies(config)) {
            let title = format!("`{property}` does not apply to this scenario, so it cannot have a verdict");
            expect
                .note::<()>(Problem::at(Code::DoesNotApply, key.span(), title).label(reason).help("remove this line"));
        }
        claims.insert(property, verdict);
    }
    let others = if all_hold || claims.is_empty() { Others::Hold } else { Others::Reported };
    (claims, others)
}

fn property(expect: &Section<'_>, id: &str, span: Range<usize>) -> Option<Property> {
    if let Some(property) = Property::from_id(id) {
        return Some(property);
    }
    let known: Vec<_> = Property::ALL.iter().map(|property| property.id()).collect();
    let mut problem = Problem::at(Code::UnknownProperty, span, format!("there is no property `{}`", short(id)));
    let near = meant(id, &[&known[..], &["others"]].concat());
    let label = near.map_or_else(|| "this property is unknown".to_owned(), |near| format!("did you mean `{near}`?"));
    problem = problem.label(label);
    expect.note::<()>(problem.help(format!("the properties are {}", known.join(", "))));
    None
}

fn verdict(expect: &Section<'_>, id: &str, value: &Spanned<DeValue<'_>>) -> Option<Verdict> {
    let expected = format!("the verdict for `{}` must be {}", short(id), one_of(&CLAIMS.map(Verdict::name)));
    let (code, label) = match value.get_ref().as_str() {
        Some(word) => match CLAIMS.into_iter().find(|claim| claim.name() == word) {
            Some(claim) => return Some(claim),
            None if word == Verdict::Inconclusive.name() => {
                (Code::NotAClaim, "\"inconclusive\" is a result of a run and cannot be declared".to_owned())
            }
            None => {
                let near = meant(word, &CLAIMS.map(Verdict::name));
                let near = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
                (Code::NotAClaim, format!("\"{}\" is not a verdict{near}", short(word)))
            }
        },
        None => (Code::WrongType, format!("this is {}", kind_of(value.get_ref()))),
    };
    expect.note::<()>(Problem::at(code, value.span(), expected).label(label));
    None
}

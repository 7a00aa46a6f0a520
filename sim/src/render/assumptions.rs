//! What a verdict assumes of servers and network because the scenario does not say otherwise.

use lockstep_model::Config;
use lockstep_model::config::{Discovery, Fsync, Profile, RenewalTimer, ReplicasLeave, StopsAt};

use crate::scenario::usual_slack;

/// What the world leaves out although a real one may do it, and what it can do although yours may not: one sentence for each
/// key that says otherwise, only where the other keys make it matter.
pub fn assumptions(config: &Config) -> Vec<String> {
    let (cluster, faults) = (&config.cluster, &config.faults);
    let stays_on = cluster.promote.replaces_running_masters(faults) || config.can_restart();
    let may_wait_for_its_disk = cluster.fsync == Fsync::EverySecond && !config.writes_before_replies();
    let has_aof = matches!(cluster.fsync, Fsync::EverySecond | Fsync::Always);
    let multiplies = |client: u8| {
        let own = config.of_client(client);
        let timers = [own.protocol.renewal_timer, own.protocol.profile.protocol().renewal_timer];
        let is_redisson = own.protocol.profile.redisson_version().is_some();
        is_redisson && own.time.renew_every.is_some() && timers == [RenewalTimer::Shared; 2]
    };
    let renews_sides_otherwise = |client: u8| {
        let own = config.of_client(client);
        let version = own.protocol.profile.redisson_version();
        own.time.renew_every.is_some() && version.is_some() && version != Profile::Redisson47.redisson_version()
    };
    let takes_late_grants = |client: u8| {
        let own = config.of_client(client);
        own.protocol.profile.returns_late_grants() && own.clients.stops_at == StopsAt::Validity && config.is_split()
    };
    let assumed = [
        (
            !config.is_split() && config.asks_masters(),
            "an ask of a master and its reply are one step, but for the faults `lose_ask`, `slow_reply` and `late_ask`",
        ),
        (
            !config.is_split() && !config.asks_masters(),
            "a request and its reply are one step: none comes late, is lost or is sent again (`mode` in [network])",
        ),
        (
            (0..config.clients.count).any(multiplies),
            "renewal timers do not multiply; in Redisson since 3.44 they do, so that it renews more often (`renewal_timer`)",
        ),
        (
            config.some_client(Config::refuses_releases_while_moving),
            "a caller whose request is refused while a slot is moved gives up at once (Redisson asks again for 5 to 6 s)",
        ),
        (faults.move_slot > 0, "the new master of a slot does not fail before the move is over"),
        (
            cluster.replicas > 1 && stays_on && cluster.replicas_leave == ReplicasLeave::Together,
            "all replicas that run leave an old master at the same time (`replicas_leave`)",
        ),
        (
            config.can_demote() && cluster.discovery == Discovery::NewMaster,
            "no client goes back to an old master that says it is one (`discovery`)",
        ),
        (
            has_aof && cluster.replicas > 0 && faults.restart_node > 0 && cluster.aof_rewrite_within == 0,
            "the rewrite of an AOF takes no time (`aof_rewrite_within`)",
        ),
        (
            may_wait_for_its_disk && faults.kill_node > 0 && faults.restart_node > 0,
            "an fsync may be slow, so that a killed process loses as much as its machine (`fsync_within`; 0: none is slow)",
        ),
        (
            faults.pause_node > 0 && !config.is_split(),
            "a node that stands still is as one that is down, and executes nothing late (`mode` in [network])",
        ),
        (
            cluster.min_replicas > 0 && cluster.min_replicas_slack < usual_slack(config.time.tick_ms),
            "a master stops counting a silent replica earlier than Redis may, which takes up to 2 s more (`min_replicas_slack`)",
        ),
        (cluster.min_replicas > 0, "the servers are Redis 7.0 or newer, or Valkey (`min_replicas`)"),
        (
            cluster.start_delay > 0 && cluster.lock_delay > 0,
            "a client that starts connects before it waits, so that a failover meanwhile begins its lock delay (`start_delay`; \
             for one that sleeps before it connects it is 0)",
        ),
        (
            config.shares() && (0..config.clients.count).any(renews_sides_otherwise),
            "the two sides of the lock are renewed as by Redisson 4.7, but for `read_release` and `read_renewal` (departure \
             sides-before-4-7)",
        ),
        (
            (0..config.clients.count).any(takes_late_grants),
            "an application gives back a grant that is answered too late (node-redlock 5 returns it, its signal aborted: an application must \
             look at that before it does anything)",
        ),
        (
            config.issues_tokens() && !config.has_stored_tokens(),
            "nobody checks the fencing tokens that the lock issues (`fencing = \"stored\"` in [resource])",
        ),
        (
            config.resource.is_some_and(|resource| !resource.is_far()),
            "a write reaches the resource at once (`delay` in [resource])",
        ),
    ];
    assumed.into_iter().filter(|(is_so, _)| *is_so).map(|(_, text)| text.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    const SPLIT: &str = "[network]\nmode = \"split\"";

    fn assumed(cluster: &str, rest: &str) -> Vec<String> {
        let text = format!(
            "story = \"s\"\nlock = \"reentrant\"\n[time]\nlease = 3\nwait_limit = 0\nhold_at_most = 2\n[clients]\ncount = 2\nacquires = 2\n\
             [cluster]\n{cluster}\n{rest}"
        );
        assumptions(&Scenario::parse("mine", &text).unwrap_or_else(|error| panic!("{error}")).config)
    }

    #[test]
    fn what_a_key_could_add_to_the_world_is_told_until_the_key_adds_it() {
        let names = |told: &[String], key: &str| told.iter().any(|text| text.contains(key));
        let cases = [
            ("replicas = 2", "replicas_leave = \"one-by-one\"", "[faults]\nhand_over = 1", "`replicas_leave`"),
            ("replicas = 1", "discovery = \"any-master\"", "[faults]\ncut_link = 1", "`discovery`"),
            (
                "replicas = 1\nfsync = \"always\"",
                "aof_rewrite_within = 1",
                "[faults]\ncrash_node = 1\nrestart_node = 1",
                "`aof_rewrite_within`",
            ),
            (
                "replicas = 1\nmin_replicas = 1\nmin_replicas_slack = 0",
                "lag = 0",
                "[faults]\ncut_link = 1",
                "`min_replicas`",
            ),
        ];
        for (cluster, key, rest, name) in cases {
            assert!(names(&assumed(cluster, rest), name), "{name}");
            let with = assumed(&format!("{cluster}\n{key}"), rest);
            assert_eq!(names(&with, name), name == "`min_replicas`", "{name}");
        }
        let slack = |ticks: u8| {
            let cluster = format!("replicas = 1\nmin_replicas = 1\nmin_replicas_slack = {ticks}");
            names(&assumed(&cluster, "[faults]\ncut_link = 1"), "`min_replicas_slack`")
        };
        assert!(slack(0) && !slack(1), "a tick is 10 s");
        let has = |rest: &str, words: &str| assumed("", rest).iter().any(|text| text.contains(words));
        assert!(has("", "one step") && !has(SPLIT, "one step"));
        let pause = |mode: &str| has(&format!("[faults]\npause_node = 1\n{mode}"), "stands still");
        assert!(pause("") && !pause(SPLIT));
        let resource =
            |delay: &str| names(&assumed("", &format!("[resource]\nfencing = \"none\"\n{delay}")), "`delay`");
        assert!(resource("") && !resource("delay = \"any\""));
        let delays = |delays: &str| {
            names(
                &assumed(&format!("replicas = 1\n{delays}"), "[faults]\nstart_client = 1\ncut_link = 1"),
                "`start_delay`",
            )
        };
        assert!(delays("start_delay = 1\nlock_delay = 1") && !delays("start_delay = 1") && !delays("lock_delay = 1"));
        assert_eq!(assumed("", "").len(), 1, "requests are one step");
    }

    #[test]
    fn timers_that_do_not_multiply_are_told_of_where_those_of_redisson_do() {
        let tells = |protocol: &str| {
            let text = format!(
                "story = \"s\"\nlock = \"reentrant\"\n[time]\nlease = 3\nrenew_every = 1\nwait_limit = 0\n[clients]\ncount = 2\n\
                 [protocol]\n{protocol}"
            );
            let scenario = Scenario::parse("mine", &text).unwrap_or_else(|error| panic!("{error}"));
            assumptions(&scenario.config).iter().any(|text| text.contains("`renewal_timer`"))
        };
        for (protocol, is_told) in [
            ("profile = \"redisson-4.7\"", true),
            ("profile = \"redisson-3.43\"", false),
            ("profile = \"redisson-4.7\"\nrenewal_timer = \"multiplying\"", false),
            ("profile = \"lockstep\"", false),
        ] {
            assert_eq!(tells(protocol), is_told, "{protocol}");
        }
    }
}

//! Every property can fail: for each one, a rule is broken on purpose and the property detects it.

use std::collections::BTreeSet;

use lockstep_model::mutants::Mutant;
use lockstep_model::{Property, Verdict};
use lockstep_sim::scenario::Scenario;

use crate::{scenario, verdict_on};

/// The wrong rule, the scenario that shows it, the property that detects it, and the verdict on that property.
const NOTICED: [(Mutant, &str, Property, Verdict); 94] = [
    (Mutant::AcquireIgnoresHolder, "two-clients-one-node", Property::OneBeliever, Verdict::Violated),
    (Mutant::ReentryWithoutCount, "reentry-and-partial-release", Property::CountsAgree, Verdict::Violated),
    (Mutant::ReleaseWithoutHolderCheck, "foreign-release", Property::OnlyHolderReleases, Verdict::Violated),
    (Mutant::ReleaseDropsAllHolds, "reentry-and-partial-release", Property::CountsAgree, Verdict::Violated),
    (Mutant::RenewalRecreatesLock, "pause-longer-than-lease", Property::OnlyHolderReleases, Verdict::Violated),
    (Mutant::ReleaseWithoutMessage, "two-clients-one-node", Property::NoSleepingWaiter, Verdict::Violated),
    (Mutant::NoSecondAsk, "two-clients-one-node", Property::NoSleepingWaiter, Verdict::Violated),
    (Mutant::WaitLimitIgnored, "wait-limit-ends", Property::WaitLimitKept, Verdict::Violated),
    (Mutant::WaitLimitIgnored, "wait-limit-ends", Property::WaiterServed, Verdict::Violated),
    // After one lost message the waiter would sleep for ever: the wake timer exists to prevent this.
    (Mutant::NoWakeTimer, "lost-unlock-message-costs-time", Property::WaiterServed, Verdict::Violated),
    (Mutant::WatchdogTooSlow, "two-clients-one-node", Property::RenewedWhileHeld, Verdict::Violated),
    (Mutant::BatchRenewsFirstOnly, "two-locks-in-one-renewal", Property::RenewedWhileHeld, Verdict::Violated),
    (Mutant::TimersMultiply, "one-renewal-timer", Property::RenewalRateBounded, Verdict::Violated),
    (Mutant::WaitIgnored, "wait-for-the-replica", Property::GrantAcknowledged, Verdict::Violated),
    (Mutant::MessagesNeverArrive, "two-clients-one-node", Property::ActionsReached, Verdict::Vacuous),
    (Mutant::ReplicaDropsEffect, "failover-keeps-the-grant", Property::GrantSurvives, Verdict::Violated),
    (Mutant::PromoteBesideMaster, "old-master-returns-to-nobody", Property::OneServerHolder, Verdict::Violated),
    (Mutant::HandOverTooEarly, "hand-over-waits-for-the-replica", Property::OneBeliever, Verdict::Violated),
    (Mutant::LeaseNeverEnds, "crashed-holder-is-outlived", Property::FreedAfterCrash, Verdict::Violated),
    (Mutant::LeaseNeverEnds, "thread-dies-and-the-lease-ends", Property::NoOrphan, Verdict::Violated),
    (Mutant::LeaseNeverEnds, "crashed-holder-is-outlived", Property::Obtainable, Verdict::Violated),
    // The key has no TTL any more: only its deadline, by the clock of whoever asks, frees it.
    (Mutant::DeadlinesNeverEnd, "semaphore-persisted-holder-crashes", Property::WaiterServed, Verdict::Violated),
    // The master's copy stays for ever and the replica's ends: the failover loses it.
    (Mutant::PersistStaysLocal, "persisted-lock-outlives-a-failover", Property::GrantSurvives, Verdict::Violated),
    (Mutant::RestartTooEarly, "delayed-restart-outlives-the-lease", Property::GrantSurvives, Verdict::Violated),
    (Mutant::FsyncForgotten, "fsync-keeps-the-grant", Property::GrantSurvives, Verdict::Violated),
    (Mutant::KilledWithItsMachine, "killed-process-keeps-the-grant", Property::GrantSurvives, Verdict::Violated),
    (Mutant::ShutdownDoesNotWait, "shutdown-waits-for-its-replica", Property::GrantSurvives, Verdict::Violated),
    (Mutant::ShutdownSavesNothing, "shutdown-keeps-the-grant", Property::GrantSurvives, Verdict::Violated),
    (Mutant::DeadlinesAlwaysTravel, "clock-behind-and-relative-ttls", Property::GrantSurvives, Verdict::Violated),
    // Either repair alone is not enough: if one of the two is missing, there are two believers.
    (Mutant::MinReplicasIgnored, "old-master-is-outwaited", Property::OneBeliever, Verdict::Violated),
    // With two replicas to be heard of, one that stayed is not enough for the old master.
    (Mutant::HeirStillCounts, "every-replica-is-needed-to-write", Property::OneBeliever, Verdict::Violated),
    (Mutant::LockDelayIgnored, "old-master-is-outwaited", Property::OneBeliever, Verdict::Violated),
    (Mutant::StartDelayIgnored, "late-client-waits-at-its-start", Property::OneBeliever, Verdict::Violated),
    (Mutant::PausedMasterCountsAtOnce, "old-master-stands-still", Property::ActionsReached, Verdict::Vacuous),
    (
        Mutant::PausedReplicaAcknowledges,
        "old-master-stands-still-and-waits-for-all",
        Property::OneBeliever,
        Verdict::Violated,
    ),
    (Mutant::WaitIgnored, "wait-for-the-replica", Property::OneBeliever, Verdict::Violated),
    (Mutant::HoldNotRegistered, "late-renewal-is-ignored", Property::RenewedWhileHeld, Verdict::Violated),
    (
        Mutant::InterruptedReleaseForgotten,
        "interrupted-release-ends-with-its-lease",
        Property::NoOrphan,
        Verdict::Violated,
    ),
    (Mutant::RefusalRemembered, "refused-acquire-is-sent-again", Property::RefusalTrue, Verdict::Violated),
    (Mutant::InterruptSwallowed, "interrupted-wait-ends", Property::InterruptReported, Verdict::Violated),
    (Mutant::ValidityIgnored, "plain-validity-ends-the-work", Property::OneBeliever, Verdict::Violated),
    (Mutant::AnswerBelievedPerTry, "resent-acquire-believed-once", Property::CountsAgree, Verdict::Violated),
    (Mutant::ReceiptIgnored, "lost-reply-of-a-release", Property::OneBeliever, Verdict::Violated),
    (Mutant::ReceiptNotReplicated, "resent-release-after-failover", Property::OneBeliever, Verdict::Violated),
    (Mutant::TokenReused, "lease-ends-fenced", Property::TokensIncrease, Verdict::Violated),
    (Mutant::QueueIsIgnored, "fair-three-clients-queue", Property::FirstComeFirstServed, Verdict::Violated),
    (Mutant::DeadHeadStays, "fair-dead-waiter-holds-up-the-queue", Property::NoDeadHead, Verdict::Violated),
    (Mutant::NoWakeTimer, "fair-dead-waiter-holds-up-the-queue", Property::DeadHeadPassed, Verdict::Violated),
    (Mutant::AcquireIgnoresHolder, "fair-two-clients-one-node", Property::OneBeliever, Verdict::Violated),
    (Mutant::ReleaseWithoutMessage, "fair-two-clients-one-node", Property::NoSleepingWaiter, Verdict::Violated),
    (Mutant::ReadersExclude, "read-write-readers-share", Property::ReadersShare, Verdict::Violated),
    (Mutant::AcquireIgnoresHolder, "read-write-readers-share", Property::OneBeliever, Verdict::Violated),
    (Mutant::ReleaseWithoutMessage, "read-write-readers-share", Property::NoSleepingWaiter, Verdict::Violated),
    (Mutant::NoWakeTimer, "read-write-crashed-reader-is-outlived", Property::WriterServed, Verdict::Violated),
    (Mutant::AcquireIgnoresHolder, "spin-two-clients-one-node", Property::OneBeliever, Verdict::Violated),
    (Mutant::ReleaseWithoutHolderCheck, "spin-foreign-release", Property::OnlyHolderReleases, Verdict::Violated),
    (Mutant::ReleaseDropsAllHolds, "spin-reentry-and-partial-release", Property::CountsAgree, Verdict::Violated),
    (Mutant::RenewalRecreatesLock, "spin-pause-longer-than-lease", Property::OnlyHolderReleases, Verdict::Violated),
    (Mutant::WaitLimitIgnored, "spin-asks-once-more-after-its-limit", Property::WaitLimitKept, Verdict::Violated),
    (Mutant::NoWakeTimer, "spin-newcomers-stop-asking", Property::WaiterServed, Verdict::Violated),
    (Mutant::PartsKept, "multi-opposite-orders-with-a-limit", Property::AllOrNone, Verdict::Violated),
    (Mutant::AcquireIgnoresHolder, "multi-two-clients-one-node", Property::OneBeliever, Verdict::Violated),
    (Mutant::ReleaseWithoutMessage, "multi-two-clients-one-node", Property::NoSleepingWaiter, Verdict::Violated),
    (Mutant::WaitLimitIgnored, "multi-opposite-orders-with-a-limit", Property::WaitLimitKept, Verdict::Violated),
    (Mutant::TokenReused, "fenced-two-clients", Property::TokensIncrease, Verdict::Violated),
    (Mutant::AcquireIgnoresHolder, "fenced-three-clients", Property::OneBeliever, Verdict::Violated),
    (Mutant::FenceIgnored, "fenced-stored-token-stops-late-writer", Property::EffectsInOrder, Verdict::Violated),
    (Mutant::FirstValueDecides, "value-multi-disjoint-sets", Property::OneBeliever, Verdict::Violated),
    (Mutant::AcquireIgnoresHolder, "value-multi-two-clients-one-node", Property::OneBeliever, Verdict::Violated),
    (Mutant::ReentryWithoutCount, "value-multi-two-clients-one-node", Property::CountsAgree, Verdict::Violated),
    (Mutant::ReleaseDropsAllHolds, "value-multi-two-clients-one-node", Property::CountsAgree, Verdict::Violated),
    (Mutant::ReleaseWithoutHolderCheck, "value-multi-foreign-release", Property::OnlyHolderReleases, Verdict::Violated),
    (Mutant::ReleaseWithoutMessage, "value-multi-two-clients-one-node", Property::NoSleepingWaiter, Verdict::Violated),
    (Mutant::NoWakeTimer, "value-multi-lost-unlock-message", Property::WaiterServed, Verdict::Violated),
    (Mutant::HalfIsMost, "red-three-masters-two-clients", Property::OneBeliever, Verdict::Violated),
    (Mutant::HalfIsMost, "red-three-masters-two-clients", Property::ValidAtGrant, Verdict::Violated),
    (Mutant::ElapsedTimeIgnored, "red-reply-past-validity", Property::ValidAtGrant, Verdict::Violated),
    (
        Mutant::ReleaseWithoutHolderCheck,
        "red-three-masters-two-clients",
        Property::OnlyHolderReleases,
        Verdict::Violated,
    ),
    (Mutant::LeaseNeverEnds, "red-holder-crashes", Property::FreedAfterCrash, Verdict::Violated),
    (Mutant::HalfIsMost, "redisson-red-three-masters-two-clients", Property::OneBeliever, Verdict::Violated),
    (Mutant::HalfIsMost, "redisson-red-three-masters-two-clients", Property::ValidAtGrant, Verdict::Violated),
    (Mutant::HalfIsMost, "redisson-red-every-master", Property::ValidAtGrant, Verdict::Violated),
    (Mutant::WatchdogTooSlow, "redisson-red-renewed-on-each-master", Property::OneBeliever, Verdict::Violated),
    (Mutant::PartsKept, "redisson-red-three-masters-two-clients", Property::AllOrNone, Verdict::Violated),
    (Mutant::ReleaseWithoutHolderCheck, "redisson-red-with-a-lease", Property::OnlyHolderReleases, Verdict::Violated),
    (Mutant::LeaseNeverEnds, "redisson-red-holder-crashes", Property::FreedAfterCrash, Verdict::Violated),
    (Mutant::ReleaseWithoutMessage, "redisson-red-lock-in-rounds", Property::NoSleepingWaiter, Verdict::Violated),
    (Mutant::HalfIsMost, "redisson-red-waits-with-a-limit", Property::OneBeliever, Verdict::Violated),
    // Each waits for the other one's master for as long as its round takes, and nobody asks the third one.
    (Mutant::WholeWaitAtOneMaster, "redisson-red-lock-in-rounds", Property::WaiterServed, Verdict::Violated),
    (Mutant::NoLookBetweenMasters, "redisson-red-every-master-late-reply", Property::OneBeliever, Verdict::Violated),
    (Mutant::PartsKept, "redisson-red-waits-with-a-limit", Property::AllOrNone, Verdict::Violated),
    (Mutant::FenceIgnored, "lease-ends-fenced", Property::EffectsInOrder, Verdict::Violated),
    (Mutant::FenceIgnored, "write-after-the-next-holder-is-fenced", Property::EffectsInOrder, Verdict::Violated),
    (Mutant::FenceIgnored, "red-write-after-the-next-holder-s-is-fenced", Property::EffectsInOrder, Verdict::Violated),
];

#[test]
fn each_wrong_rule_is_noticed_by_the_property_that_guards_it() {
    for (mutant, name, property, expected) in NOTICED {
        let right = scenario(name);
        assert_eq!(verdict_on(&right, property), Verdict::Holds, "{property} in {name}");
        let wrong = Scenario { config: right.config.with_mutant(mutant), ..right };
        assert_eq!(verdict_on(&wrong, property), expected, "{mutant:?} in {name}");
    }
}

/// A rule that lets a client win every tie, or a node write that refuses to, hides what is broken: with the right rule the
/// property is violated, with the wrong one it holds.
const HIDDEN_BY: [(Mutant, &str, Property); 17] = [
    (Mutant::ClientWinsTies, "held-for-exactly-the-lease", Property::OneBeliever),
    (Mutant::ClientWinsTies, "plain-held-for-exactly-the-lease", Property::OneBeliever),
    (Mutant::ClientWinsTies, "renewed-exactly-at-the-lease", Property::RenewedWhileHeld),
    (Mutant::ClientWinsTies, "failover-of-one-renewal-period", Property::RenewedWhileHeld),
    (Mutant::ClientWinsTies, "receipt-is-due-with-the-last-attempt", Property::OneBeliever),
    (Mutant::RefusingMasterWrites, "refused-renewal-ends-the-lease", Property::OneBeliever),
    (Mutant::HandOverLetsWritesPass, "hand-over-holds-up-renewals", Property::OneBeliever),
    (Mutant::ForceWaits, "forced-hand-over-loses-the-grant", Property::OneBeliever),
    (Mutant::RefusingMasterWrites, "refused-renewal-ends-the-lease", Property::RenewedWhileHeld),
    (Mutant::DeadMachineIsNoticed, "dead-machine-is-still-counted", Property::OneBeliever),
    (Mutant::NoReplicaStays, "replicas-leave-one-by-one", Property::OneBeliever),
    (Mutant::NoReplicaStays, "partition-keeps-a-replica", Property::OneBeliever),
    (Mutant::SlackIgnored, "old-master-counts-too-late", Property::OneBeliever),
    (Mutant::MovingSlotReleases, "moved-slot-refuses-the-release", Property::CountsAgree),
    (Mutant::MovingSlotRenews, "read-write-moved-slot-ends-a-read", Property::OneBeliever),
    (Mutant::MoveReachesReplica, "failover-while-the-slot-moves", Property::OneBeliever),
    (Mutant::MovedSubscriptionLives, "moved-slot-silences-its-waiters", Property::NoSleepingWaiter),
];

#[test]
fn each_rule_that_explores_too_little_hides_what_the_right_one_finds() {
    for (mutant, name, property) in HIDDEN_BY {
        let right = scenario(name);
        assert_eq!(verdict_on(&right, property), Verdict::Violated, "{property} in {name}");
        let wrong = Scenario { config: right.config.with_mutant(mutant), ..right };
        assert_eq!(verdict_on(&wrong, property), Verdict::Holds, "{mutant:?} in {name}");
    }
}

/// What no single world shows, because the rule is right in it: `laws` compares two.
const NOTICED_BY_LAWS: [Mutant; 5] = [
    Mutant::LimitComesFirst,
    Mutant::OnlyRefusalBelieved,
    Mutant::CrowdBelievesRefusals,
    Mutant::NoFailoverBesideCrashes,
    Mutant::LateReplicaLosesNothing,
];

/// What a history by hand shows: `hand_overs`, `followers` and `slot_moves`. In whole worlds other deaths lead to the same, and a refused acquire
/// breaks no property.
const NOTICED_BY_HAND: [Mutant; 3] =
    [Mutant::FailoverRewritesFile, Mutant::DeadReplicaIsTold, Mutant::MovingSlotGrants];

#[test]
fn every_rule_that_can_be_broken_is_broken_here() {
    let hiding = HIDDEN_BY.iter().map(|(mutant, ..)| *mutant);
    let broken = NOTICED.iter().map(|(mutant, ..)| *mutant).chain(hiding).chain(NOTICED_BY_LAWS).chain(NOTICED_BY_HAND);
    assert_eq!(broken.collect::<BTreeSet<Mutant>>(), Mutant::ALL.into());
}

#[test]
fn every_property_fails_for_some_wrong_rule() {
    let failing: BTreeSet<Property> = NOTICED.iter().map(|(_, _, property, _)| *property).collect();
    assert_eq!(failing, Property::ALL.into());
}

/// The rules of locks that count no holds; the table above covers the same rules for the reentrant lock.
#[test]
fn the_rules_of_locks_without_reentry_are_noticed_too() {
    let cases = [
        (Mutant::AcquireIgnoresHolder, "plain-two-clients-one-node", Property::OneBeliever),
        (Mutant::ReleaseWithoutHolderCheck, "plain-foreign-release", Property::OnlyHolderReleases),
        (Mutant::WatchdogTooSlow, "plain-two-clients-one-node", Property::RenewedWhileHeld),
        (Mutant::TimersMultiply, "plain-two-clients-one-node", Property::RenewalRateBounded),
        (Mutant::NoWakeTimer, "plain-newcomers-stop-asking", Property::WaiterServed),
        (Mutant::LeaseNeverEnds, "plain-crashed-holder-is-outlived", Property::WaiterServed),
        (Mutant::LeaseNeverEnds, "plain-crashed-holder-is-outlived", Property::FreedAfterCrash),
        (Mutant::LeaseNeverEnds, "plain-crashed-holder-is-outlived", Property::NoOrphan),
        (Mutant::AcquireIgnoresHolder, "semaphore-two-clients-one-node", Property::OneBeliever),
        (Mutant::ReleaseWithoutHolderCheck, "semaphore-foreign-release", Property::OnlyHolderReleases),
        (Mutant::RenewalRecreatesLock, "semaphore-pause-longer-than-lease", Property::OnlyHolderReleases),
    ];
    for (mutant, name, property) in cases {
        let right = scenario(name);
        assert_eq!(verdict_on(&right, property), Verdict::Holds, "{property} in {name}");
        let wrong = Scenario { config: right.config.with_mutant(mutant), ..right };
        assert_eq!(verdict_on(&wrong, property), Verdict::Violated, "{mutant:?} in {name}");
    }
}

//! `reports/performance.md`: its times belong to one machine and cannot be reproduced, but its state counts can. The
//! page is stale when its state counts differ from the current ones.

use std::sync::atomic::{AtomicBool, AtomicU64};

use lockstep_model::Property;
use lockstep_sim::check::native::Options;
use lockstep_sim::check::{Engine, How, Limits, search};
use lockstep_sim::scenario::BuiltIn;

use lockstep_tests::page::{self, thousands};

#[test]
fn the_page_on_performance_speaks_of_the_states_of_today() {
    let page = page::committed("reports/performance.md");
    let scenario = BuiltIn::named("two-threads-one-is-woken").expect("it is built in").scenario();
    // The third size is checked by `make bench` only: it takes ten times as long as the other two together.
    for acquires in [2, 3] {
        let mut config = scenario.config;
        config.clients.acquires = Some(acquires);
        let properties: Vec<_> =
            Property::SAFETY.into_iter().filter(|property| property.applies(&config).is_ok()).collect();
        let (stop, progress) = (AtomicBool::new(false), AtomicU64::new(0));
        let limits = Limits::none(&stop, &progress);
        let native = Options { normal_forms: false, ..Options::default() };
        let how = How { native, ..How::by(Engine::Native) };
        let found = search(&config, &properties, how, &limits);
        let heading = format!(
            "\n## {} distinct states, {} generated ({acquires} acquires",
            thousands(found.states),
            thousands(found.generated)
        );
        assert!(page.contains(&heading), "reports/performance.md is stale: `make bench` updates it\n{heading}");
    }
}

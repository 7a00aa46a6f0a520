//! `lockstep explore`: a scenario in the browser, state by state, with its verdicts and a picture of the path.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lockstep_model::Property;
use serde_json::{Value, json};

use super::common::{Ended, Format, Output};
use super::screen::Screen;
use super::within::Within;
use super::{input, interrupt, show};
use crate::check::PropertyOutcome;
use crate::exit::Exit;
use crate::explore::{self, Site};
use crate::render::words;
use crate::scenario::Scenario;

#[derive(clap::Args)]
#[command(after_help = "Unless a limit is given, the search for verdicts ends after 2 000 000 states or 5m.")]
pub(super) struct ExploreArgs {
    /// A built-in scenario or a scenario file
    #[arg(value_name = "NAME|FILE")]
    what: String,
    /// The port on 127.0.0.1; 0 chooses a free one
    #[arg(long, value_name = "N", default_value_t = 3000)]
    port: u16,
    #[command(flatten)]
    within: Within,
    #[command(flatten)]
    output: Output,
}

/// How far the search for the verdicts goes unless the reader says so: the scenario may be too large to exhaust. It is the
/// only search; requests only walk along paths.
const MOST_STATES: u64 = 2_000_000;
/// The same for its time.
const LONGEST: Duration = Duration::from_secs(300);

/// How often Ctrl-C is checked.
const STOP_CHECK: Duration = Duration::from_millis(20);

pub(super) fn run(args: &ExploreArgs, screen: &Screen) -> Ended<Exit> {
    let chosen = input::scenarios(std::slice::from_ref(&args.what), screen)?;
    let one = show::only(chosen, &args.what, screen)?;
    let unusable = |error: &std::io::Error| unusable_port(args.port, error, screen);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(|error| unusable(&error))?;
    let address = listener.local_addr().map_err(|error| unusable(&error))?;
    let site = Arc::new(Site::new(one.scenario.clone()));
    let page = Arc::clone(&site);
    let server = thread::spawn(move || explore::serve(listener, &page));

    let url = format!("http://{address}");
    if args.output.format == Format::Human {
        screen.print(&format!("{}   {url}\n", one.scenario.name))?;
        screen.tell("Ctrl-C ends it");
    }
    let is_limited = args.within.max_states.is_some() || args.within.timeout.is_some();
    let bounded = Within { max_states: Some(MOST_STATES), timeout: Some(LONGEST), ..args.within };
    let within = if is_limited { args.within } else { bounded };
    let outcome = show::checked(&one, within, None, screen)?;
    if interrupt::is_asked() {
        return Err(Exit::Interrupted);
    }
    site.set_outcome(outcome.clone());
    let links: Vec<_> = outcome.properties.iter().filter_map(|found| Link::of(&one.scenario, found, &url)).collect();
    match args.output.format {
        Format::Human => screen.print(&links.iter().map(Link::line).collect::<String>())?,
        Format::Json => screen.print_json(&json!({
            "schema": 1,
            "scenario": one.scenario.name,
            "url": url,
            "complete": outcome.complete,
            "counterexamples": links.iter().map(Link::json).collect::<Vec<_>>(),
        }))?,
    }
    if outcome.is_out_of_room() {
        let text = "the model has too little room for some steps of this world; `lockstep check";
        screen.tell(&format!("{text} {}` says what it lacks", one.argument));
    } else if !outcome.complete {
        let why = show::undecided(&outcome).map_or_else(String::new, |why| format!(" ({why})"));
        screen.tell(&format!(
            "only {} states were searched for counterexamples{why}; `lockstep check {}` searches all",
            words::thousands(outcome.states),
            one.argument
        ));
    }
    while !server.is_finished() && !interrupt::is_asked() {
        thread::sleep(STOP_CHECK);
    }
    if interrupt::is_asked() {
        return Err(Exit::Interrupted);
    }
    let why = match server.join() {
        Ok(Err(error)) => error.to_string(),
        Err(_) => "see the message above".to_owned(),
    };
    Err(screen.fail(Exit::Internal, &format!("the server of the page has stopped: {why}")))
}

fn unusable_port(port: u16, error: &std::io::Error, screen: &Screen) -> Exit {
    let why = match error.kind() {
        ErrorKind::AddrInUse => "another program uses it".to_owned(),
        ErrorKind::PermissionDenied => "ports below 1024 need root".to_owned(),
        _ => error.to_string(),
    };
    let text = format!(
        "cannot serve on port {port} of 127.0.0.1: {why}\n  help: choose another with --port N; --port 0 takes any free one"
    );
    screen.fail(Exit::Environment, &text)
}

/// Where a counterexample is on the page.
struct Link {
    property: Property,
    claim: String,
    steps: usize,
    url: String,
}

impl Link {
    fn of(scenario: &Scenario, found: &PropertyOutcome, url: &str) -> Option<Self> {
        let trace = found.trace.as_ref()?;
        let address = explore::address_of(&scenario.config, &trace.actions())?;
        Some(Self {
            property: found.property,
            claim: words::as_declared(found.verdict, found.declared, found.is_required),
            steps: trace.steps.len(),
            url: format!("{url}{address}"),
        })
    }

    fn line(&self) -> String {
        format!("{}: {}, after {}   {}\n", self.property, self.claim, words::count(self.steps, "step"), self.url)
    }

    fn json(&self) -> Value {
        json!({ "property": self.property, "steps": self.steps, "url": self.url })
    }
}

//! `lockstep explore`: a scenario in the browser, state by state, with a picture of the path.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lockstep_model::Property;
use serde_json::{Value, json};

use super::screen::Screen;
use super::within::Within;
use super::{Ended, Format, Output, input, interrupt, show};
use crate::check::PropertyOutcome;
use crate::exit::Exit;
use crate::explore;
use crate::render::words;
use crate::scenario::Scenario;

#[derive(clap::Args)]
pub(super) struct Args {
    /// A built-in scenario or a scenario file
    #[arg(value_name = "NAME|FILE")]
    what: String,
    /// The port on 127.0.0.1; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 3000)]
    port: u16,
    #[command(flatten)]
    output: Output,
}

/// The links to counterexamples cost at most so many states: what is explored may be too large to exhaust.
const MOST_STATES: u64 = 2_000_000;

/// How often Ctrl-C is looked at.
const GLANCE: Duration = Duration::from_millis(20);

/// How long the server may take to answer for the first time.
const STARTS_WITHIN: Duration = Duration::from_secs(10);

pub(super) fn run(args: &Args, screen: &Screen) -> Ended<Exit> {
    let chosen = input::scenarios(std::slice::from_ref(&args.what), screen)?;
    let one = show::only(chosen, &args.what, screen)?;
    let address = free(args.port, screen)?;
    // stateright prefers pages that lie in `./ui` to its own, whosever they are.
    let _ = std::env::set_current_dir("/");
    let scenario = one.scenario.clone();
    let server = thread::spawn(move || explore::serve(&scenario, address));
    await_answer(address, &server, screen)?;

    let url = format!("http://{address}");
    if args.output.format == Format::Human {
        screen.print(&format!("{}   {url}\n", one.scenario.name))?;
        if !screen.is_quiet {
            Screen::report("Ctrl-C ends it");
        }
    }
    let outcome = show::checked(&one, Within { max_states: Some(MOST_STATES), ..Within::default() }, screen)?;
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
    if !outcome.complete && !screen.is_quiet {
        let looked_at = format!(
            "only {} states were looked at for counterexamples; `lockstep check {}` looks at all",
            outcome.states, one.argument
        );
        Screen::report(&looked_at);
    }
    while !server.is_finished() {
        if interrupt::is_asked() {
            return Err(Exit::Interrupted);
        }
        thread::sleep(GLANCE);
    }
    Err(screen.fail(Exit::Internal, "the Explorer has stopped by itself; its message is above"))
}

/// The address, if nobody has it. stateright would panic.
fn free(port: u16, screen: &Screen) -> Ended<SocketAddr> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|probe| probe.local_addr());
    bound.map_err(|error| {
        let why = match error.kind() {
            ErrorKind::AddrInUse => "somebody else uses it".to_owned(),
            ErrorKind::PermissionDenied => "ports below 1024 are for root".to_owned(),
            _ => error.to_string(),
        };
        let text = format!(
            "cannot serve on port {port} of 127.0.0.1: {why}\n  help: choose another with --port N; --port 0 takes any that is free"
        );
        screen.fail(Exit::Environment, &text)
    })
}

/// Waits until the server answers.
fn await_answer(address: SocketAddr, server: &JoinHandle<()>, screen: &Screen) -> Ended<()> {
    let started = Instant::now();
    while TcpStream::connect_timeout(&address, GLANCE).is_err() {
        if interrupt::is_asked() {
            return Err(Exit::Interrupted);
        }
        if server.is_finished() || started.elapsed() > STARTS_WITHIN {
            let text = format!(
                "the Explorer does not start on {address}: somebody may have taken the port just now\n  help: try again, or choose another with --port N"
            );
            return Err(screen.fail(Exit::Environment, &text));
        }
        thread::sleep(GLANCE);
    }
    Ok(())
}

/// Where a counterexample is.
struct Link {
    property: Property,
    claim: String,
    steps: usize,
    url: String,
}

impl Link {
    fn of(scenario: &Scenario, found: &PropertyOutcome, url: &str) -> Option<Self> {
        let trace = found.trace.as_ref()?;
        let place = explore::place(&scenario.config, &trace.actions())?;
        Some(Self {
            property: found.property,
            claim: words::as_declared(found.verdict, found.declared),
            steps: trace.steps.len(),
            url: format!("{url}{place}"),
        })
    }

    fn line(&self) -> String {
        format!("{}: {}, after {}   {}\n", self.property, self.claim, words::count(self.steps, "step"), self.url)
    }

    fn json(&self) -> Value {
        json!({ "property": self.property, "steps": self.steps, "url": self.url })
    }
}

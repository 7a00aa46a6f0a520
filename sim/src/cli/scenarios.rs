//! `lockstep scenarios`: the built-in scenarios with their stories and claims, or the file of one as a starting point.

use std::fmt::Write as _;

use lockstep_model::Verdict;
use serde_json::json;

use super::common::{Ended, Format, Output};
use super::screen::Screen;
use crate::exit::Exit;
use crate::render::words::{hanging, next};
use crate::scenario;
use crate::scenario::{BuiltIn, Scenario};

#[derive(clap::Args)]
pub(super) struct ScenariosArgs {
    /// Print the file of this built-in scenario, as a starting point for your own
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(args: &ScenariosArgs, screen: &Screen) -> Ended<Exit> {
    if let Some(name) = &args.name {
        return file(name, args.output.format, screen);
    }
    let all = scenario::builtin();
    match args.output.format {
        Format::Human => screen.print(&page(&all, Screen::width()))?,
        Format::Json => {
            let each = all.iter().map(|scenario| {
                json!({
                    "name": scenario.name,
                    "lock": scenario.config.lock,
                    "story": scenario.story,
                    "expect": scenario.expect,
                    "others": scenario.others.name(),
                })
            });
            screen.print_json(&json!({ "schema": 1, "scenarios": each.collect::<Vec<_>>() }))?;
        }
    }
    Ok(Exit::AsDeclared)
}

fn file(name: &str, format: Format, screen: &Screen) -> Ended<Exit> {
    let Some(BuiltIn { text, .. }) = BuiltIn::named(name) else {
        return Err(match scenario::located(&[name.to_owned()]) {
            Ok(_) => screen.fail(Exit::Usage, &format!("`{name}` is a file or folder, not a built-in scenario")),
            Err(error) => {
                Screen::report(&error.report_in(screen.colours_messages(), Screen::width()));
                Exit::Usage
            }
        });
    };
    match format {
        Format::Human => screen.print(text)?,
        Format::Json => screen.print_json(&json!({ "schema": 1, "name": name, "text": text }))?,
    }
    Ok(Exit::AsDeclared)
}

/// A paragraph for each: a table would break the long names on a narrow terminal.
fn page(all: &[Scenario], width: usize) -> String {
    let mut page = String::new();
    for scenario in all {
        let violated = scenario.expect.iter().filter(|(_, verdict)| **verdict == Verdict::Violated);
        let violated: Vec<_> = violated.map(|(property, _)| property.id()).collect();
        let claims = if violated.is_empty() {
            "no violation is declared".to_owned()
        } else {
            format!("declared violated: {}", violated.join(", "))
        };
        let _ = writeln!(page, "{}   {} lock", scenario.name, scenario.config.lock.name());
        for text in [&scenario.story, &claims] {
            let _ = writeln!(page, "    {}", hanging(text, 4, width));
        }
    }
    let commands =
        ["lockstep explain NAME", "lockstep check NAME", "lockstep show NAME", "lockstep scenarios NAME > MINE.toml"];
    page + "\n" + &next(&commands)
}

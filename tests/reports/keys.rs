//! `reports/keys.md`: what a scenario's file may say.

use std::fmt::Write as _;

use lockstep_sim::scenario::{KEYS, TABLES};

use crate::page::{self, table};

#[test]
fn the_page_on_keys_tells_every_key() {
    let mut text = "# What a scenario may say\n\n\
                    Made by `make reports`; a test fails when it is stale. `lockstep explain KEY` says the same of one key. What does \
                    not go together is refused with the reason. All times are in ticks.\n"
        .to_owned();
    for (name, means) in TABLES {
        let rows: Vec<_> = KEYS
            .iter()
            .filter(|key| key.table == name)
            .map(|key| {
                let left_out = if key.unless_said.is_empty() { "it must be said" } else { key.unless_said };
                [format!("`{}`", key.name), key.means.to_owned(), key.takes.to_owned(), left_out.to_owned()].into()
            })
            .collect();
        let title = if name.is_empty() { "Before the first table".to_owned() } else { format!("`[{name}]`") };
        let _ = write!(text, "\n## {title}\n\n{means}\n");
        if !rows.is_empty() {
            text += "\n";
            text += &table(&["key", "means", "takes", "left out"], &rows);
        }
    }
    page::keep("reports/keys.md", &text);
}

//! `reports/keys.md`: every key of a scenario file.

use std::fmt::Write as _;

use lockstep_sim::scenario::{CLIENT, KEYS, TABLES, header};

use lockstep_tests::page::{self, table};

#[test]
fn the_page_on_keys_tells_every_key() {
    let mut text = "# The keys of a scenario file\n\n\
                    Made by `make reports`; a test fails when it is stale. `lockstep explain KEY` shows one key. Combinations \
                    that make no sense, or are not modelled, are refused with the reason. Times are in ticks, or have a \
                    unit (`\"30s\"`).\n"
        .to_owned();
    for (name, means) in TABLES {
        let rows: Vec<_> = KEYS
            .iter()
            .filter(|key| key.table == name)
            .map(|key| {
                let left_out = if key.unless_said.is_empty() { "it is required" } else { key.unless_said };
                [format!("`{}`", key.name), key.means.to_owned(), key.takes.to_owned(), left_out.to_owned()].into()
            })
            .collect();
        let title = if name.is_empty() { "Before the first table".to_owned() } else { format!("`{}`", header(name)) };
        let _ = write!(text, "\n## {title}\n\n{means}\n");
        if name == CLIENT {
            let also = KEYS.iter().filter(|key| key.is_of_client).map(|key| format!("`{}`", key.name));
            let _ = write!(text, "\nKeys of other tables that it may have: {}.\n", also.collect::<Vec<_>>().join(", "));
        }
        if !rows.is_empty() {
            text += "\n";
            text += &table(&["key", "means", "takes", "default"], &rows);
        }
    }
    page::keep("reports/keys.md", &text);
}

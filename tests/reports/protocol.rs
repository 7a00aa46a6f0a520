//! `docs/protocol.md`: each action of the model with its counterpart in our scripts and commands, and in Redisson.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use lockstep_model::ActionKind;
use lockstep_sim::replay::translate::KINDS;
use lockstep_sim::replay::translate::protocol::{ProtocolRow, internal_actions, rows_of, shared_rows};

use lockstep_tests::page::{self, table};

#[test]
fn the_page_on_the_protocol_has_every_action() {
    let mut text = "# The protocol in three languages\n\n\
                    Made by `make reports` from the tables of the replay; a test fails when it is out of date. A script is \
                    written with its keys, a bar, and its arguments: here the lock is named `lock`, the lease is 30 s, and \
                    thread 1 of client `A` asks. After the arrow stands what the script can answer.\n"
        .to_owned();
    let mut told: BTreeSet<&str> = internal_actions().into_iter().collect();
    for translation in KINDS {
        let rows = rows_of(*translation);
        told.extend(rows.iter().flat_map(|row| row.actions.iter().copied()));
        let _ = write!(text, "\n## The lock `{}`\n\n{}", translation.kind().name(), table_of(&rows));
    }
    let rows = shared_rows();
    told.extend(rows.iter().flat_map(|row| row.actions.iter().copied()));
    let _ = write!(text, "\n## Every lock\n\n{}", table_of(&rows));
    let _ = write!(
        text,
        "\n## Inside a client\n\nFor these actions nothing is sent: {}.\n",
        page::listed(&internal_actions().iter().map(|name| format!("`{name}`")).collect::<Vec<_>>())
    );
    assert_eq!(told, ActionKind::ALL.into_iter().map(ActionKind::name).collect());
    page::keep("docs/protocol.md", &text);
}

fn table_of(rows: &[ProtocolRow]) -> String {
    let cells = |row: &ProtocolRow| {
        let actions: Vec<_> = row.actions.iter().map(|name| format!("`{name}`")).collect();
        vec![actions.join(", "), row.asked.clone(), row.redisson.to_owned()]
    };
    let rows: Vec<_> = rows.iter().map(cells).collect();
    table(&["model", "scripts and commands", "Redisson"], &rows)
}

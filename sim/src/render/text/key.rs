//! The key below a picture: the signs and names that occur in it, and nothing else.

use super::super::prose::unbroken;
use super::super::signs;
use super::{Grid, RowMark};

impl Grid {
    /// The signs and names that stand in this picture.
    pub(super) fn key(&self) -> String {
        let cells = || self.rows.iter().flat_map(|row| &row.cells);
        let at_rest = |sign: &str| cells().any(|cell| cell.is_at_rest && cell.text.contains(sign));
        let has_fault = cells().any(|cell| !cell.is_at_rest && cell.text.starts_with("x "));
        let has_lost = self.rows.iter().any(|row| row.arrow.as_ref().is_some_and(|arrow| !arrow.arrives));
        let repeats = self.rows.iter().any(|row| row.mark == RowMark::Repeats);
        let signs = [
            ("#", signs::BELIEVES, at_rest("#")),
            ("?", signs::WAITS, at_rest("?")),
            ("=", signs::PAUSED, at_rest("=")),
            (".", signs::QUIET, at_rest(".")),
            ("x", signs::FAULT, has_fault || has_lost),
            ("|", signs::REPEATS, repeats),
        ];
        let used = signs.into_iter().filter(|(_, _, is_used)| *is_used);
        let mut used: Vec<_> = used.map(|(sign, says, _)| format!("{sign} {says}")).collect();
        used.extend(self.nodes.clone());
        used.extend(cells().filter(|cell| !cell.is_at_rest).find_map(|cell| holder(&cell.text)));
        used.iter().map(|one| unbroken(one)).collect::<Vec<_>>().join("   ")
    }
}

/// What a stored holder means: `A:1` in `A:1 ttl 30 s`, `MASTER A:1 ttl 30 s`.
fn holder(cell: &str) -> Option<String> {
    let (holder, client, thread) = cell.split(' ').find_map(|word| {
        let (client, thread) = word.split_once(':')?;
        let is_thread = !thread.is_empty() && thread.chars().all(|digit| digit.is_ascii_digit());
        (client.len() == 1 && is_thread).then_some((word, client, thread))
    })?;
    Some(format!("{holder} client {client}, thread {thread}"))
}

#[cfg(test)]
mod tests {
    use super::holder;

    #[test]
    fn a_stored_holder_is_told_by_client_and_thread() {
        let says = Some("B:2 client B, thread 2".to_owned());
        assert_eq!(holder("B:2 ttl 30 s"), says);
        assert_eq!(holder("MASTER B:2 x2 ttl 30 s"), says);
        assert_eq!(holder("synced: empty"), None);
    }
}

//! The tables of a scenario file.

/// Every table, in the order of the design page. The first one is the file itself.
pub const TABLES: [(&str, &str); 12] = [
    (TOP, "the scenario"),
    (
        "time",
        "leases, limits and periods; all but tick_ms, and the times of other tables, are numbers of ticks (3) or have a unit: ms, \
         s, m or h (\"500ms\", \"30s\", \"2m\", \"1h\"), or its name (\"30sec\", \"2 minutes\"); fractions (\"0.5m\") and sums \
         (\"1m 30s\") are read as well",
    ),
    ("clients", "the clients, which are the processes that use the lock"),
    (
        CLIENT,
        "one client, where clients differ: a table [[client]] for each, the first of them is client A; if there are fewer \
         than count, the other clients have no settings of their own. A key that it leaves out is as [time], [clients] and \
         [protocol] say, but a profile brings all its switches. \"none\" takes back a reentry_lease, renew_every, \
         wait_limit or hold_at_most of [time]",
    ),
    ("cluster", "the Redis nodes that store the lock"),
    ("network", "the network between clients and nodes"),
    ("protocol", "the client library: a profile, and switches that override it"),
    ("faults", "the faults that may happen, and how often each may happen at most"),
    (
        "resource",
        "what the lock guards; without this table nobody works on a resource, and nobody checks fencing tokens",
    ),
    ("fairness", "the fairness assumptions: what must happen sooner or later"),
    (
        "bounds",
        "how much room the model has for what has no bound of its own; a step that needs more is not explored, and a verdict \
         that rests on every state is then inconclusive: it names the step and the key, and a file that sets a bound may \
         claim \"holds-within-bounds\"; a lower bound makes a world smaller, a higher one makes the search slower",
    ),
    (
        "expect",
        "the declared verdicts: for each property \"holds\", \"violated\" or \"vacuous\", and in a file with [bounds] also \
         \"holds-within-bounds\"; a property that is not named is \
         reported and fails no run, unless others = \"holds\" says that all of them hold or are vacuous, or there is no claim",
    ),
];

/// The name of the part before the first table.
pub(in crate::scenario) const TOP: &str = "";
/// The name of the tables of single clients.
pub const CLIENT: &str = "client";

/// How a table begins in the file: `[time]`, or `[[client]]`, which may be there several times.
pub fn header(table: &str) -> String {
    if table == CLIENT { format!("[[{table}]]") } else { format!("[{table}]") }
}

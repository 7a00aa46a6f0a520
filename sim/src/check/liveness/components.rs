//! Tarjan's strongly connected components of a part of the graph, without recursion, because a state space is deep.

use super::graph::Graph;

/// The component of each state.
pub struct Components {
    /// 0: not visited. While a state is open: when it was first visited. Closed: [`CLOSED`].
    met: Vec<u32>,
    /// While a state is open: the earliest open state it is known to reach. Closed: the number of its component.
    low: Vec<u32>,
}

/// The state's component is complete.
const CLOSED: u32 = u32::MAX;

impl Components {
    /// Finds the components of the selected states. Each is reported, with its number, when it is complete.
    pub fn of(graph: &Graph, is_in: impl Fn(u32) -> bool, mut complete: impl FnMut(&Self, u32, &[u32])) -> Self {
        let states = graph.states();
        let mut found = Self { met: vec![0; states], low: vec![0; states] };
        let mut open: Vec<u32> = Vec::new();
        // A state, and how many of its edges have been followed.
        let mut trail: Vec<(u32, usize)> = Vec::new();
        let (mut clock, mut number) = (0, 0);
        for root in (0u32..).take(states) {
            if found.met[root as usize] != 0 || !is_in(root) {
                continue;
            }
            trail.push((root, 0));
            while let Some((state, followed)) = trail.pop() {
                let at = state as usize;
                if followed == 0 {
                    clock += 1;
                    found.met[at] = clock;
                    found.low[at] = clock;
                    open.push(state);
                } else {
                    // Return from the edge that was followed last.
                    let to = graph.nth_move(state, followed - 1).to as usize;
                    if found.met[to] != CLOSED {
                        found.low[at] = found.low[at].min(found.low[to]);
                    }
                }
                let mut nth = followed;
                let descends = loop {
                    if nth == graph.degree(state) {
                        break None;
                    }
                    let to = graph.nth_move(state, nth).to;
                    nth += 1;
                    match found.met[to as usize] {
                        0 if is_in(to) => break Some(to),
                        0 | CLOSED => {}
                        met => found.low[at] = found.low[at].min(met),
                    }
                };
                if let Some(to) = descends {
                    trail.push((state, nth));
                    trail.push((to, 0));
                } else if found.low[at] == found.met[at] {
                    number += 1;
                    let first = open.iter().rposition(|&other| other == state).unwrap_or(0);
                    for &member in &open[first..] {
                        found.met[member as usize] = CLOSED;
                        found.low[member as usize] = number;
                    }
                    complete(&found, number, &open[first..]);
                    open.truncate(first);
                }
            }
        }
        found
    }

    /// The component of a state; 0: it is in no component.
    pub fn component(&self, state: u32) -> u32 {
        if self.met[state as usize] == CLOSED { self.low[state as usize] } else { 0 }
    }
}

//! The keys of all tables.

use super::key::ScenarioKey;
use super::{faults, switches, worlds};

/// Every key, in the order of the design page. The keys of the claims are the properties' ids.
pub const KEYS: &[ScenarioKey] = &joined::<COUNT>([worlds::KEYS, switches::KEYS, faults::KEYS]);

const COUNT: usize = worlds::KEYS.len() + switches::KEYS.len() + faults::KEYS.len();

const fn joined<const ALL: usize>(parts: [&[ScenarioKey]; 3]) -> [ScenarioKey; ALL] {
    let mut all = [parts[0][0]; ALL];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut of_part = 0;
        while of_part < parts[part].len() {
            all[at] = parts[part][of_part];
            of_part += 1;
            at += 1;
        }
        part += 1;
    }
    all
}

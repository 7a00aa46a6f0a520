//! Files of a node with their content, as they are kept for a power cut.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Files and their content.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

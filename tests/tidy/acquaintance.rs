//! Which crate may depend on which: the model and the Redis implementation know nothing of each other, and only `sim`
//! uses both. If they shared a type, their agreement would be a tautology.

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::{assert_none, root};

/// One line of a `Cargo.toml`: `from` depends on `to`.
struct Dependency {
    from: String,
    to: String,
    kind: DependencyKind,
}

const MODEL: &str = "lockstep-model";
const IMPL: &str = "lockstep-redis";
const SIM: &str = "lockstep-sim";
const TESTS: &str = "lockstep-tests";

fn complaints(dependencies: &[Dependency]) -> Vec<String> {
    let is_ours = |name: &str| name.starts_with("lockstep-");
    let may_know = |Dependency { from, to, kind }: &Dependency| match from.as_str() {
        // `schemars` is only for the JSON Schema of a trace, behind a feature.
        MODEL if *kind == DependencyKind::Normal => ["serde", "schemars"].contains(&to.as_str()),
        IMPL if *kind == DependencyKind::Normal => ["crc", "redis", "thiserror"].contains(&to.as_str()),
        // This applies to the dependencies of their own tests as well.
        MODEL | IMPL => !is_ours(to),
        SIM => !is_ours(to) || [MODEL, IMPL].contains(&to.as_str()),
        TESTS => true,
        _ => false,
    };
    dependencies
        .iter()
        .filter(|dependency| !may_know(dependency))
        .map(|Dependency { from, to, kind }| format!("{from} may not know {to} ({kind} dependency)"))
        .collect()
}

#[test]
fn everybody_knows_only_whom_he_may() {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo knows its own workspace");
    let mut members: Vec<_> = metadata.packages.iter().map(|package| package.name.to_string()).collect();
    members.sort();
    assert_eq!(members, [MODEL, IMPL, SIM, TESTS]);
    let dependencies: Vec<_> = metadata
        .packages
        .into_iter()
        .flat_map(|package| {
            let from = package.name.to_string();
            package.dependencies.into_iter().map(move |to| Dependency {
                from: from.clone(),
                to: to.name,
                kind: to.kind,
            })
        })
        .collect();
    assert_none(&complaints(&dependencies));
}

#[test]
fn a_forbidden_acquaintance_is_noticed() {
    use DependencyKind::{Development, Normal};
    let bad = [
        (MODEL, "rand", Normal),
        (MODEL, IMPL, Development),
        (IMPL, MODEL, Normal),
        (IMPL, SIM, Development),
        (IMPL, "serde", Normal),
        (SIM, TESTS, Development),
        ("lockstep-extra", "serde", Normal),
    ];
    let good = [(MODEL, "serde", Normal), (IMPL, "redis", Normal), (SIM, MODEL, Normal), (TESTS, SIM, Normal)];
    let all = bad.iter().chain(&good).map(|&(from, to, kind)| Dependency { from: from.into(), to: to.into(), kind });
    assert_eq!(complaints(&all.collect::<Vec<_>>()).len(), bad.len());
}

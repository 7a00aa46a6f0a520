//! No import cycles between the modules of a crate, so that each module can be read after the modules it imports.
//!
//! Every file is a module. A file that only declares and re-exports its children (`mod.rs`, `lib.rs`) may import them;
//! they do not import from it.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Item, ItemMod, ItemUse, UseTree};

use crate::{File, assert_none, house};

/// A module, as its path of names from the crate root.
type Module = Vec<String>;

/// The source folders.
const CRATES: [&str; 3] = ["model/src/", "impl/src/", "sim/src/"];

/// The module that a file defines, and the source folder of its crate.
fn module(path: &str) -> Option<(&'static str, Module)> {
    let folder = CRATES.into_iter().find(|folder| path.starts_with(folder))?;
    let mut names: Module = path[folder.len()..].strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if names.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
        names.pop();
    }
    Some((folder, names))
}

/// Collects every path that a file imports or names.
#[derive(Default)]
struct Paths(Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        flatten(&item.tree, &mut Vec::new(), &mut self.0);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    /// `pub(super)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let is_test = module.attrs.iter().any(|attribute| {
            attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|flag| flag == "test")
        });
        // An inline module has its own `super`; in this repository inline modules contain tests.
        if !is_test && module.content.is_none() {
            visit::visit_item_mod(self, module);
        }
    }
}

fn flatten(tree: &UseTree, before: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, paths);
            before.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, paths)),
        UseTree::Name(name) => paths.push(before.iter().cloned().chain([name.ident.to_string()]).collect()),
        UseTree::Rename(name) => paths.push(before.iter().cloned().chain([name.ident.to_string()]).collect()),
        UseTree::Glob(_) => paths.push(before.clone()),
    }
}

/// The module that a path refers to, if it belongs to this crate.
fn target(from: &Module, path: &[String], modules: &BTreeMap<Module, &File>) -> Option<Module> {
    let mut at: Module;
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => {
            at = Vec::new();
            rest = &rest[1..];
        }
        "super" | "self" => {
            at = from.clone();
            while let Some((first, after)) =
                rest.split_first().filter(|(first, _)| ["super", "self"].contains(&first.as_str()))
            {
                if first == "super" {
                    at.pop();
                }
                rest = after;
            }
        }
        child => {
            at = from.clone();
            let is_child = modules.contains_key(&[at.as_slice(), &[child.to_owned()]].concat());
            if !is_child {
                return None;
            }
        }
    }
    for name in rest {
        let deeper = [at.as_slice(), std::slice::from_ref(name)].concat();
        if !modules.contains_key(&deeper) {
            break;
        }
        at = deeper;
    }
    modules.contains_key(&at).then_some(at)
}

/// Import cycles among the modules of one crate, one message for each module in a cycle.
fn cycles(files: &[&File]) -> Vec<String> {
    let modules: BTreeMap<Module, &File> =
        files.iter().filter_map(|file| Some((module(&file.path)?.1, *file))).collect();
    let imports: BTreeMap<&Module, BTreeSet<Module>> = modules
        .iter()
        .map(|(from, file)| {
            let parsed = syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path));
            let mut paths = Paths::default();
            for item in parsed.items.iter().filter(|item| !is_test(item)) {
                paths.visit_item(item);
            }
            let targets = paths.0.iter().filter_map(|path| target(from, path, &modules));
            (from, targets.filter(|to| to != from).collect())
        })
        .collect();
    let mut left: BTreeSet<&Module> = modules.keys().collect();
    // Remove modules whose imports have all been removed, repeatedly: what remains are cycles and modules that lead to
    // one.
    loop {
        let done: Vec<_> =
            left.iter().copied().filter(|module| imports[*module].iter().all(|to| !left.contains(to))).collect();
        if done.is_empty() {
            break;
        }
        left.retain(|module| !done.contains(module));
    }
    // The same in the other direction: what remains are the cycles and the modules between them.
    loop {
        let unused: Vec<_> =
            left.iter().copied().filter(|module| !left.iter().any(|other| imports[*other].contains(*module))).collect();
        if unused.is_empty() {
            break;
        }
        left.retain(|module| !unused.contains(module));
    }
    let name = |module: &Module| if module.is_empty() { "(root)".to_owned() } else { module.join("::") };
    left.iter()
        .map(|module| {
            let inside: Vec<_> = imports[*module].iter().filter(|to| left.contains(to)).map(name).collect();
            format!("{} is in an import cycle: it imports {}", name(module), inside.join(", "))
        })
        .collect()
}

fn is_test(item: &Item) -> bool {
    let Item::Mod(module) = item else { return false };
    module.ident == "tests"
}

#[test]
fn no_module_imports_itself_through_others() {
    let house = house();
    for folder in CRATES {
        let files: Vec<_> = house
            .iter()
            .filter(|file| file.path.starts_with(folder) && file.extension() == "rs" && !file.path.contains("/tests"))
            .collect();
        assert!(files.len() > 3, "{folder} has sources");
        assert_none(&cycles(&files));
    }
}

#[test]
fn a_cycle_is_noticed() {
    let file = |path: &str, text: &str| File::invented(path, text);
    let sound = [
        file("model/src/lib.rs", "pub mod a; pub mod b; pub use b::B;"),
        file("model/src/a.rs", "pub struct A;"),
        file("model/src/b/mod.rs", "mod c; pub use c::B;"),
        file("model/src/b/c.rs", "use crate::a::A; pub struct B(A);"),
    ];
    let of = |files: &[File]| cycles(&files.iter().collect::<Vec<_>>());
    assert_eq!(of(&sound), Vec::<String>::new());
    for (path, text) in [
        ("model/src/a.rs", "use crate::b::B; pub struct A;"),
        ("model/src/a.rs", "use crate::B; pub struct A;"),
        ("model/src/a.rs", "pub struct A; fn f() { crate::b::c::g() }"),
        ("model/src/b/c.rs", "use super::B as Parent; pub struct B;"),
        ("model/src/b/c.rs", "use crate::{a::A, b::{self}}; pub struct B(A);"),
    ] {
        let mut files = Vec::from(sound.each_ref().map(|file| File::invented(&file.path, &file.text)));
        files.retain(|file| file.path != path);
        files.push(file(path, text));
        assert!(!of(&files).is_empty(), "{text}");
    }
}

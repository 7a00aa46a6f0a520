//! One name for one type: no two types of the workspace share a name, wherever they stand. A reader who meets a name in a
//! message of the compiler, in a page or in a review knows which type it is.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Ident, Item, Macro};

use crate::rust::Name;
use crate::{File, assert_none, house};

/// Collects the types that a file defines. Types of other crates, generic parameters and the associated types of a trait
/// are no definitions of ours.
#[derive(Default)]
struct Definitions(Vec<Name>);

impl<'ast> Visit<'ast> for Definitions {
    fn visit_item(&mut self, item: &'ast Item) {
        self.0.extend(defined(item).map(Name::from));
        visit::visit_item(self, item);
    }

    /// The tables of the model are macros that define types.
    fn visit_macro(&mut self, item: &'ast Macro) {
        each_defined(item.tokens.clone(), &mut self.0);
    }
}

/// The types that the tokens of a macro define by a name of their own, which is not `$name`.
fn each_defined(tokens: TokenStream, found: &mut Vec<Name>) {
    let mut is_keyword = false;
    for token in tokens {
        match &token {
            TokenTree::Ident(ident) if is_keyword => found.push(Name::from(ident)),
            TokenTree::Group(group) => each_defined(group.stream(), found),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        is_keyword = matches!(&token, TokenTree::Ident(ident) if ["enum", "struct", "trait", "union"].iter().any(|word| ident == word));
    }
}

fn defined(item: &Item) -> Option<&Ident> {
    match item {
        Item::Enum(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::TraitAlias(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        // The rest defines no type; macros are visited by themselves.
        _ => None,
    }
}

fn complaints(files: &[File]) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.extension() == "rs") {
        let parsed = syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path));
        let mut definitions = Definitions::default();
        definitions.visit_file(&parsed);
        for Name { name, line } in definitions.0 {
            places.entry(name).or_default().push(format!("{}:{line}", file.path));
        }
    }
    let shared = places.into_iter().filter(|(_, places)| places.len() > 1);
    shared.map(|(name, places)| format!("{} types are named {name}: {}", places.len(), places.join(", "))).collect()
}

#[test]
fn no_two_types_have_one_name() {
    assert_none(&complaints(&house()));
}

#[test]
fn two_types_of_one_name_are_noticed() {
    let found = |other: &str| {
        complaints(&[
            File::invented("impl/src/a.rs", other),
            File::invented("model/src/a.rs", "//! A.\n\npub struct Lease(u64);"),
        ])
    };
    for other in [
        "enum Lease {}",
        "trait Lease {}",
        "type Lease = u64;",
        "union Lease { one: u8, other: i8 }",
        "mod tests { struct Lease; }",
        "fn f() { struct Lease; }",
        "macro_rules! table { ($($row:ident),*) => { pub enum Lease { $($row),* } } }",
        "table! { pub struct Lease { ms: u64 } }",
    ] {
        assert_eq!(found(other), ["2 types are named Lease: impl/src/a.rs:1, model/src/a.rs:3"], "{other}");
    }
    for other in [
        "use model::Lease;",
        "fn f<Lease>(lease: Lease) {}",
        "enum Word { Lease }",
        "trait Timed { type Lease; }",
        "impl Timed for u8 { type Lease = u64; }",
        "macro_rules! table { ($Lease:ident) => { pub enum $Lease {} } }",
        "mod lease {} const LEASE: u8 = 1; // struct Lease;",
    ] {
        assert_none(&found(other));
    }
}

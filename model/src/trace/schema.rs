//! The JSON Schema of a trace, generated from the types.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};

use super::bounds::{BOUNDS, CLIENT_BOUNDS};
use super::format::Trace;
use crate::config::faults::Faults;
use crate::limits::{MAX_CLIENTS, MAX_FAULTS, MAX_GROUPS, MAX_REPLICAS, MAX_SET_VALUES, MAX_THREADS};

/// The JSON Schema (draft 2020-12) of the traces that this version writes and reads.
///
/// # Panics
/// A bound is about a number that no type has: then the list of bounds is out of date.
pub fn json_schema() -> Schema {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Trace>();
    schema.insert("title".to_owned(), "Lockstep trace".into());
    RecursiveTransform(drop_rustdoc_links).transform(&mut schema);
    for (definition, bounds) in [("/$defs/Config", &BOUNDS[..]), ("/$defs/ClientSettings", &CLIENT_BOUNDS)] {
        for bound in bounds {
            let place = place_of(&schema, definition, bound.pointer);
            set_bounds(&mut schema, &place, bound.least, bound.most);
        }
    }
    let place = place_of(&schema, "/$defs/Config", "/client");
    let tables = schema.pointer_mut(&place).and_then(|tables| tables.as_object_mut()).expect("it was found before");
    tables.insert("maxItems".to_owned(), MAX_CLIENTS.into());
    for (fault, _) in Faults::default().budgets() {
        let place = place_of(&schema, "/$defs/Faults", &format!("/{}", fault.name()));
        set_bounds(&mut schema, &place, 0, MAX_FAULTS.into());
    }
    set_bounds(&mut schema, "/$defs/ValueSet/items", 1, MAX_SET_VALUES.into());
    let actions = schema.pointer("/$defs/Action/oneOf").and_then(|all| all.as_array()).map_or(0, Vec::len);
    for action in 0..actions {
        for (party, most) in
            [("client", MAX_CLIENTS - 1), ("thread", MAX_THREADS - 1), ("node", MAX_GROUPS.max(MAX_REPLICAS + 1) - 1)]
        {
            let place = format!("/$defs/Action/oneOf/{action}/properties/{party}");
            if schema.pointer(&place).is_some() {
                set_bounds(&mut schema, &place, 0, most.into());
            }
        }
    }
    schema
}

/// Descriptions are doc comments: outside rustdoc a link is only its text.
fn drop_rustdoc_links(schema: &mut Schema) {
    let Some(text) = schema.get("description").and_then(|text| text.as_str()) else { return };
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        plain += before;
        let Some((name, after)) = link.split_once("`]") else {
            plain += "[`";
            rest = link;
            continue;
        };
        plain += name;
        rest = after.strip_prefix('(').and_then(|target| target.split_once(')')).map_or(after, |(_, after)| after);
    }
    plain += rest;
    schema.insert("description".to_owned(), plain.into());
}

/// Where the schema of a value stands, both as JSON pointers: of the value from a definition on, of the schema from the
/// root.
fn place_of(schema: &Schema, definition: &str, pointer: &str) -> String {
    let mut place = definition.to_owned();
    for key in pointer.split('/').skip(1) {
        place = referred(schema, place);
        let property = format!("/properties/{key}");
        let variants = (0..).map(|variant| format!("{place}/oneOf/{variant}"));
        let variants = variants.take_while(|variant| schema.pointer(variant).is_some());
        let mut candidates = std::iter::once(place.clone()).chain(variants).map(|candidate| candidate + &property);
        place = candidates
            .find(|candidate| schema.pointer(candidate).is_some())
            .unwrap_or_else(|| panic!("{definition} has no {pointer}"));
    }
    referred(schema, place)
}

/// This place, or that of the definition that stands there by its name only.
fn referred(schema: &Schema, place: String) -> String {
    let here = schema.pointer(&place).expect("it was found before");
    let target = here.get("$ref").and_then(|target| target.as_str());
    target.map_or(place, |target| target.trim_start_matches('#').to_owned())
}

fn set_bounds(schema: &mut Schema, place: &str, least: i64, most: i64) {
    let number = schema.pointer_mut(place).and_then(|number| number.as_object_mut()).expect("it was found before");
    // One word of bounds is enough: the format would only repeat the type's.
    number.remove("format");
    number.insert("minimum".to_owned(), least.into());
    number.insert("maximum".to_owned(), most.into());
}

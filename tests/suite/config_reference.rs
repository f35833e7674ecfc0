//! The table of keys in `docs/formats.md` has every key that the types of the configuration have, and no other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn text(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// A field as it is written in the file, and the name of its type within `Option`, `Vec` and `BTreeMap`.
struct Field {
    key: String,
    of: String,
    is_map: bool,
}

fn field(field: &syn::Field) -> Field {
    let mut key = field.ident.as_ref().unwrap().to_string();
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let words = attribute.meta.require_list().unwrap().tokens.to_string();
        if let Some(renamed) = words.strip_prefix("rename = \"") {
            key = renamed.trim_end_matches('"').to_owned();
        }
    }
    let (mut ty, mut is_map) = (&field.ty, false);
    loop {
        let syn::Type::Path(path) = ty else { panic!("{key}") };
        let last = path.path.segments.last().unwrap();
        is_map |= last.ident == "BTreeMap";
        match &last.arguments {
            syn::PathArguments::AngleBracketed(inner) => match inner.args.last() {
                Some(syn::GenericArgument::Type(next)) => ty = next,
                _ => panic!("{key}"),
            },
            _ => return Field { key, of: last.ident.to_string(), is_map },
        }
    }
}

/// The structs of the configuration.
fn structs() -> BTreeMap<String, Vec<Field>> {
    let mut all = BTreeMap::new();
    for file in ["mod", "grade", "llm"] {
        for item in syn::parse_file(&text(&format!("src/config/{file}.rs"))).unwrap().items {
            if let syn::Item::Struct(item) = item {
                all.insert(item.ident.to_string(), item.fields.iter().map(field).collect());
            }
        }
    }
    all
}

/// The keys as the reference writes them: tables of the file and their keys, `<name>` where the user chooses.
fn keys() -> BTreeSet<String> {
    let structs = structs();
    let mut keys = BTreeSet::new();
    for table in &structs["Config"] {
        let below = structs.get(&table.of).filter(|_| table.of != "Maker");
        let Some(below) = below else {
            keys.insert(table.key.clone());
            continue;
        };
        let table_name = if table.is_map { format!("{}.<name>", table.key) } else { table.key.clone() };
        for field in below {
            let key = format!("{table_name}.{}", field.key);
            let named = if field.key == "roles" { "<role>" } else { "<name>" };
            keys.insert(if field.is_map { format!("{key}.{named}") } else { key });
        }
    }
    keys
}

/// The keys in the first column of the table; `.b` behind `a.c` is `a.b`.
fn documented() -> BTreeSet<String> {
    let page = text("docs/formats.md");
    let (_, from) = page.split_once("## `implfuzz.toml`").unwrap();
    let (table, _) = from.split_once("\n## ").unwrap();
    let mut keys = BTreeSet::new();
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let mut folder = String::new();
        for key in line.split('|').nth(1).unwrap().split('`').skip(1).step_by(2) {
            let whole = if key.starts_with('.') { format!("{folder}{key}") } else { key.to_owned() };
            folder = whole.rsplit_once('.').map_or(String::new(), |(folder, _)| folder.to_owned());
            assert!(keys.insert(whole), "{key} stands there twice");
        }
    }
    keys
}

#[test]
fn the_reference_has_every_key_of_the_configuration_and_no_other() {
    let (keys, documented) = (keys(), documented());
    assert!(keys.len() > 50, "{keys:?}");
    assert_eq!(keys.difference(&documented).collect::<Vec<_>>(), Vec::<&String>::new(), "no word of these");
    assert_eq!(documented.difference(&keys).collect::<Vec<_>>(), Vec::<&String>::new(), "nobody reads these");
}

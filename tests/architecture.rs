//! Checks what `DESIGN.md` says about the shape of the crate: layers, homes of libraries, sizes of files.
//!
//! Sources are read with syn, so comments and strings do not count; code under `#[cfg(test)]` may use any module.

#![expect(clippy::unwrap_used, reason = "a test of sources fails by panicking, in its helpers too")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

const MAX_LINES: usize = 400;

/// Which paths may stand only in which files: the beginning of the path, the beginnings of the files' names.
const HOMES: &[(&[&str], &[&str])] = &[
    (&["bindgen"], &["c/bind"]),
    (&["clang_sys"], &["c/"]),
    (&["rusqlite"], &["store/"]),
    (&["ureq"], &["llm/"]),
    (&["indicatif"], &["report/"]),
    (&["comfy_table"], &["report/"]),
    (&["annotate_snippets"], &["report/"]),
    (&["anstream"], &["report/"]),
    (&["rmcp"], &["mcp/"]),
    (&["schemars"], &["mcp/"]),
    (&["tokio"], &["mcp/"]),
    (&["std", "process", "Command"], &["platform/process/"]),
];

/// A source file below `src/`.
struct Source {
    /// Relative to `src/`, with `/`.
    name: String,
    text: String,
    /// Every path that is used outside of tests.
    paths: Vec<Vec<String>>,
}

impl Source {
    /// The top module that the file belongs to; `lib` and `main` are above all modules.
    fn module(&self) -> &str {
        let first = self.name.split('/').next().unwrap();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// What stands behind `crate::` in a path, also where it is written with `super::`.
    fn in_crate<'p>(&self, path: &'p [String]) -> Option<&'p str> {
        let depth = self.name.split('/').filter(|part| *part != "mod.rs").count();
        let supers = path.iter().take_while(|part| *part == "super").count();
        let first = path.first()?;
        if first == "crate" || first == "cargo_implfuzz" {
            path.get(1).map(String::as_str)
        } else if supers == depth {
            path.get(supers).map(String::as_str)
        } else {
            None
        }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<Source> {
    let src = root().join("src");
    let mut files = Vec::new();
    collect(&src, &mut files);
    assert!(files.len() > 10, "the sources were not found");
    files.sort();
    let mut sources = Vec::new();
    for path in files {
        let name = path.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let paths = paths_of(&text).unwrap_or_else(|error| panic!("src/{name}: {error}"));
        sources.push(Source { name, text, paths });
    }
    // A whole file of tests is declared behind `#[cfg(test)]` by its parent.
    let tests: BTreeSet<String> = sources.iter().flat_map(test_modules).collect();
    sources.retain(|source| !tests.contains(&source.name));
    sources
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn is_test(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| {
        attr.path().is_ident("cfg") && attr.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

/// The files of modules that are declared `#[cfg(test)] mod name;` in this one.
fn test_modules(source: &Source) -> Vec<String> {
    let (dir, file) = source.name.rsplit_once('/').map_or(("", source.name.as_str()), |parts| parts);
    let stem = file.strip_suffix(".rs").unwrap();
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    if !matches!(stem, "mod" | "lib" | "main") {
        parts.push(stem);
    }
    let items = syn::parse_file(&source.text).unwrap().items;
    let mut names = Vec::new();
    for item in items {
        if let syn::Item::Mod(module) = item
            && module.content.is_none()
            && is_test(&module.attrs)
        {
            let ident = module.ident.to_string();
            let path = parts.iter().copied().chain([ident.as_str()]).collect::<Vec<_>>().join("/");
            names.extend([format!("{path}.rs"), format!("{path}/mod.rs")]);
        }
    }
    names
}

/// Every path in a file, `use` trees spread out, code under `#[cfg(test)]` left out.
fn paths_of(text: &str) -> syn::Result<Vec<Vec<String>>> {
    let mut found = Paths::default();
    found.visit_file(&syn::parse_file(text)?);
    Ok(found.0)
}

#[derive(Default)]
struct Paths(Vec<Vec<String>>);

impl Paths {
    fn spread(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |name: String| before.iter().cloned().chain([name]).collect::<Vec<_>>();
        match tree {
            syn::UseTree::Path(path) => self.spread(&path.tree, &with(path.ident.to_string())),
            syn::UseTree::Name(name) if name.ident == "self" => self.0.push(before.to_vec()),
            syn::UseTree::Name(name) => self.0.push(with(name.ident.to_string())),
            syn::UseTree::Rename(rename) if rename.ident == "self" => self.0.push(before.to_vec()),
            syn::UseTree::Rename(rename) => self.0.push(with(rename.ident.to_string())),
            syn::UseTree::Glob(_) => self.0.push(with("*".into())),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.spread(tree, before)),
        }
    }

    /// Paths inside of a macro's arguments, which syn leaves as tokens: words joined by `::`.
    fn spread_tokens(&mut self, tokens: proc_macro2::TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.0.push(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                proc_macro2::TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                proc_macro2::TokenTree::Group(group) => {
                    self.spread_tokens(group.stream());
                    colons = 3;
                }
                _ => colons = 3,
            }
        }
        self.0.push(path);
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attrs: &[syn::Attribute] = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Const(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            _ => &[],
        };
        if !is_test(attrs) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.spread(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        // `quote!` holds code that is generated, not code of this crate.
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if !name.starts_with("quote") && !name.starts_with("parse_quote") {
            self.spread_tokens(call.tokens.clone());
        }
        visit::visit_macro(self, call);
    }
}

/// The public modules of `lib.rs` in order, each with the layer whose comment stands above it.
fn modules() -> Vec<(String, u32)> {
    let text = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let mut layer = None;
    let mut modules = Vec::new();
    for line in text.lines() {
        if let Some(number) = line.strip_prefix("// layer ") {
            let number = number
                .split(':')
                .next()
                .expect("a split has a first part")
                .trim()
                .parse()
                .expect("a layer is a number");
            assert!(layer.is_none_or(|last| last < number), "layers of lib.rs rise");
            layer = Some(number);
        } else if let Some(name) = line.strip_prefix("pub mod ") {
            let name = name.strip_suffix(';').expect("modules have files of their own").to_owned();
            modules.push((name, layer.expect("the first module is in a layer")));
        }
    }
    modules
}

/// Which top modules each top module uses, with one file that does.
fn uses(sources: &[Source]) -> BTreeMap<(String, String), String> {
    let mut uses = BTreeMap::new();
    for source in sources.iter().filter(|source| !matches!(source.module(), "lib" | "main")) {
        for path in &source.paths {
            if let Some(target) = source.in_crate(path).filter(|target| *target != source.module()) {
                uses.insert((source.module().to_owned(), target.to_owned()), source.name.clone());
            }
        }
    }
    uses
}

fn report(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn modules_use_only_what_stands_before_them() {
    let modules = modules();
    let place = |name: &str| modules.iter().position(|(module, _)| module == name);
    let mut problems = Vec::new();
    for ((user, used), file) in uses(&sources()) {
        match (place(&user), place(&used)) {
            (None, _) => problems.push(format!("src/{file}: module `{user}` is not public in lib.rs")),
            (_, None) => {
                problems.push(format!("src/{file}: `crate::{used}` is not a public module of lib.rs"))
            }
            (Some(user_at), Some(used_at)) if used_at > user_at => problems.push(format!(
                "src/{file}: `{user}` (layer {}) uses `{used}` (layer {}), which comes after it",
                modules[user_at].1, modules[used_at].1
            )),
            _ => {}
        }
    }
    report(problems);
}

#[test]
fn no_module_uses_itself_around_a_corner() {
    let uses = uses(&sources());
    let mut reach: BTreeSet<(String, String)> = uses.keys().cloned().collect();
    loop {
        let more: Vec<(String, String)> = reach
            .iter()
            .flat_map(|(a, b)| {
                reach.iter().filter(move |(c, _)| c == b).map(move |(_, d)| (a.clone(), d.clone()))
            })
            .filter(|pair| !reach.contains(pair))
            .collect();
        if more.is_empty() {
            break;
        }
        reach.extend(more);
    }
    report(reach.iter().filter(|(a, b)| a == b).map(|(a, _)| format!("`{a}` is on a cycle")).collect());
}

/// The module of a file, as its path in the crate.
fn module_path(name: &str) -> Vec<String> {
    let stem = name.strip_suffix(".rs").unwrap();
    stem.split('/').filter(|part| *part != "mod").map(str::to_owned).collect()
}

/// The module that a path in `from` leads to, where it stays in the crate.
fn target(modules: &BTreeSet<Vec<String>>, from: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut base = from.to_vec();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &rest[1..];
        }
        "self" | "super" => {
            while let Some(first) = rest.first().filter(|first| matches!(first.as_str(), "self" | "super")) {
                if first == "super" {
                    base.pop()?;
                }
                rest = &rest[1..];
            }
        }
        first => {
            let child: Vec<String> = from.iter().cloned().chain([first.to_owned()]).collect();
            modules.get(&child)?;
        }
    }
    base.extend(rest.iter().cloned());
    (1..=base.len()).rev().map(|len| base[..len].to_vec()).find(|prefix| modules.contains(prefix))
}

/// The circles among the direct children of `parent`: each a sorted list of names.
fn circles(edges: &[(Vec<String>, Vec<String>)], parent: &[String]) -> Vec<String> {
    let child = |module: &[String]| {
        (module.len() > parent.len() && module.starts_with(parent)).then(|| module[parent.len()].clone())
    };
    let mut reach: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in edges {
        if let (Some(from), Some(to)) = (child(from), child(to))
            && from != to
        {
            reach.entry(from).or_default().insert(to);
        }
    }
    loop {
        let before: usize = reach.values().map(BTreeSet::len).sum();
        for (from, to) in reach.clone() {
            let further: BTreeSet<String> =
                to.iter().filter_map(|next| reach.get(next)).flatten().cloned().collect();
            reach.entry(from).or_default().extend(further);
        }
        if reach.values().map(BTreeSet::len).sum::<usize>() == before {
            break;
        }
    }
    let on_one = |a: &String, b: &String| reach.get(a).is_some_and(|to| to.contains(b));
    let found: BTreeSet<String> = reach
        .keys()
        .filter(|name| on_one(name, name))
        .map(|name| {
            let members = reach.keys().filter(|other| on_one(name, other) && on_one(other, name));
            members.cloned().collect::<Vec<_>>().join(" ")
        })
        .collect();
    found.into_iter().map(|members| format!("{}: {members}", parent.join("::"))).collect()
}

#[test]
fn no_part_of_a_room_uses_itself_around_a_corner() {
    let sources = sources();
    let modules: BTreeSet<Vec<String>> = sources.iter().map(|source| module_path(&source.name)).collect();
    let mut edges = Vec::new();
    for source in &sources {
        let from = module_path(&source.name);
        for path in source.paths.iter().filter(|path| !path.is_empty()) {
            if let Some(to) = target(&modules, &from, path) {
                edges.push((from.clone(), to));
            }
        }
    }
    let parents: BTreeSet<&[String]> =
        modules.iter().filter(|module| module.len() > 1).map(|module| &module[..module.len() - 1]).collect();
    let found = parents.into_iter().flat_map(|parent| circles(&edges, parent));
    report(found.map(|circle| format!("a circle in {circle}")).collect());
}

#[test]
fn files_stay_short() {
    // Modules that are tests as a whole stand in files of their own.
    let is_test = |name: &str| name.contains("/tests/") || name.ends_with("tests.rs");
    let too_long = sources().into_iter().filter(|source| !is_test(&source.name)).filter_map(|source| {
        let lines = source.text.lines().take_while(|line| line.trim() != "#[cfg(test)]").count();
        let name = source.name;
        (lines > MAX_LINES).then(|| format!("src/{name} has {lines} lines before its tests, of {MAX_LINES}"))
    });
    report(too_long.collect());
}

#[test]
fn no_file_is_a_drawer() {
    let drawers = ["utils.rs", "util.rs", "helpers.rs", "common.rs", "misc.rs"];
    let bad = sources().into_iter().filter(|source| {
        let name = source.name.rsplit('/').next().unwrap();
        drawers.contains(&name) || source.name.split('/').any(|part| part == "utils" || part == "util")
    });
    report(bad.map(|source| format!("src/{}: name it after its idea", source.name)).collect());
}

#[test]
fn every_library_has_one_home() {
    let mut problems = Vec::new();
    for source in sources() {
        for (prefix, homes) in HOMES {
            let at_home = homes.iter().any(|home| source.name.starts_with(home));
            if at_home {
                continue;
            }
            if let Some(path) = source.paths.iter().find(|path| starts_with(path, prefix)) {
                let (name, path) = (&source.name, path.join("::"));
                problems.push(format!("src/{name}: `{path}` belongs into src/{}", homes.join(", src/")));
            }
        }
    }
    report(problems);
}

fn starts_with(path: &[String], prefix: &[&str]) -> bool {
    path.len() >= prefix.len() && path.iter().zip(prefix).all(|(a, b)| a == b)
        // `use std::process::*` and `use std::process;` open the door as wide.
        || prefix.len() > 1
            && path.len() >= prefix.len() - 1
            && path.iter().zip(&prefix[..prefix.len() - 1]).all(|(a, b)| a == b)
            && path.get(prefix.len() - 1).is_none_or(|last| last == "*")
}

#[test]
fn design_names_exactly_the_modules_that_exist() {
    let text = std::fs::read_to_string(root().join("DESIGN.md")).expect("DESIGN.md stands at the root");
    let section = text.split("\n## ").find_map(|section| section.strip_prefix("Modules\n"));
    let section = section.expect("DESIGN.md has a section `## Modules`");
    let named: BTreeSet<String> = section
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.split_once("`:"))
        .map(|(name, _)| name.to_owned())
        .collect();
    let real: BTreeSet<String> = modules().into_iter().map(|(name, _)| name).collect();
    let unknown = named.difference(&real).map(|name| format!("DESIGN.md names `{name}`, which is not there"));
    let unnamed = real.difference(&named).map(|name| format!("DESIGN.md does not name `{name}`"));
    report(unknown.chain(unnamed).collect());
}

#[test]
fn the_reader_sees_every_way_to_name_a_path() {
    let text = "
        use crate::a::{self, b::C as D, e};
        use {crate::f::*, std::process};
        fn g(x: crate::h::T) -> Vec<crate::i::T> { crate::j::k(); println!(\"{}\", crate::l::m(1)); }
        #[cfg(test)] mod tests { use crate::n; }
        fn h() { quote! { crate::o::p } }
        // crate::q
        const R: &str = \"crate::r\";";
    let paths = paths_of(text).unwrap();
    let at = |name: &str| Source { name: name.into(), text: String::new(), paths: vec![] };
    let supers = |path: &str| path.split("::").map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(at("a/b.rs").in_crate(&supers("super::super::c")), Some("c"));
    assert_eq!(at("a/b.rs").in_crate(&supers("super::c")), None);
    assert_eq!(at("a/mod.rs").in_crate(&supers("super::c")), Some("c"));
    let modules: BTreeSet<&str> = paths
        .iter()
        .filter(|path| path.first().is_some_and(|first| first == "crate"))
        .map(|path| path[1].as_str())
        .collect();
    assert_eq!(modules, BTreeSet::from(["a", "f", "h", "i", "j", "l"]));
    assert!(paths.iter().any(|path| starts_with(path, &["std", "process", "Command"])));
    assert!(!starts_with(&["std".into(), "process".into(), "exit".into()], &["std", "process", "Command"]));
}

#[test]
fn the_reach_that_the_readme_tells_is_the_one_that_was_measured() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let measured: serde_json::Value = serde_json::from_str(&read("docs/data/harnesses.json")).unwrap();
    let number = |library: &serde_json::Value, key: &str| library[key].as_u64().unwrap();
    let measured = measured.as_array().unwrap().iter();
    // Some libraries have no driver.
    let either = |library: &serde_json::Value, functions: u64| {
        let share = library["in_place"]["either"].as_f64()? / functions as f64;
        Some((share * 100.0).round() as u64)
    };
    let row = |library: &serde_json::Value| {
        let functions = number(library, "functions");
        (functions, number(library, "working"), either(library, functions))
    };
    let measured: BTreeSet<(u64, u64, Option<u64>)> = measured.map(row).collect();
    let text = read("README.md");
    let rows = text.split_once("| with a harness or driver |").unwrap().1.lines().skip(2);
    let digits = |cell: &str| cell.replace([',', '%', ' '], "").parse::<u64>().ok();
    let told: BTreeSet<(u64, u64, Option<u64>)> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.split('|').collect::<Vec<_>>())
        .map(|cells| (digits(cells[2]).unwrap(), digits(cells[3]).unwrap(), digits(cells[4])))
        .collect();
    assert_eq!(told, measured, "README.md and docs/data/harnesses.json (cargo bench --bench harnesses)");
}

//! The pages in `docs/` are one book: `docs/SUMMARY.md` has them all, and every link leads to a page and a heading that
//! exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

/// The pages by their path from `docs/`, with their text.
fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    for folder in ["", "errors/"] {
        for entry in std::fs::read_dir(docs().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.file_name().unwrap().to_str().unwrap();
                pages.insert(format!("{folder}{name}"), std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    pages
}

/// The text without fenced blocks, in which nothing is a link.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let is_prose = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    };
    text.lines().filter(is_prose).map(|line| format!("{line}\n")).collect()
}

/// The targets of links, which code is not.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let outside: String = prose.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let targets = outside.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.map(|target| target.replace('\n', "")).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text);
    let headings = headings
        .lines()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    let anchor = |heading: &str| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// The page and the heading that a link of `page` leads to; `None` for other places.
fn inside(page: &str, target: &str) -> Option<(String, Option<String>)> {
    if target.contains("://") || target.is_empty() {
        return None;
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = match path.strip_prefix("../") {
        _ if path.is_empty() => page.to_owned(),
        Some(above) if !folder.is_empty() => above.to_owned(),
        _ if folder.is_empty() => path.to_owned(),
        _ => format!("{folder}/{path}"),
    };
    Some((path, anchor.map(str::to_owned)))
}

#[test]
fn every_page_is_in_the_book_once() {
    let pages = pages();
    let listed = links(&pages["SUMMARY.md"]);
    let listed: Vec<&String> = listed.iter().filter(|target| !target.is_empty()).collect();
    let once: BTreeSet<&String> = listed.iter().copied().collect();
    assert_eq!(once.len(), listed.len(), "{listed:?}");
    let all: BTreeSet<&String> = pages.keys().filter(|page| *page != "SUMMARY.md").collect();
    assert_eq!(once, all);
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let pages = pages();
    let (mut seen, mut broken) = (0, String::new());
    for (page, text) in &pages {
        for target in links(text) {
            let Some((path, anchor)) = inside(page, &target) else { continue };
            seen += 1;
            let leads = match pages.get(&path) {
                Some(there) => anchor.is_none_or(|anchor| anchors(there).contains(&anchor)),
                None => docs().join(&path).exists() && !path.starts_with(".."),
            };
            if !leads {
                broken += &format!("{page}: {target}\n");
            }
        }
    }
    assert!(broken.is_empty(), "{broken}");
    assert!(seen > 100, "only {seen} links were found");
}

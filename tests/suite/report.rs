//! `report`: one page that needs no network and no trust in the texts that it shows, and a summary in Markdown.

use crate::support::git::{git, program, ran};
use crate::support::{QUICK, Repo, plant};

const C: &str = "\
/* </code><script>alert(1)</script> */
unsigned twice(unsigned x) { return 2 * x; }
unsigned level(unsigned x) {
    /* </code><script>alert(2)</script> & \"more\" */
    if (x == 77777777) return 5;
    return twice(x) + 1;
}
unsigned later(unsigned x) { return level(x); }
";

/// One right port, a wrong one, and a stub.
fn repo() -> Repo {
    let repo = Repo::of(&[
        ("kit.h", "unsigned twice(unsigned x);\nunsigned level(unsigned x);\nunsigned later(unsigned x);\n"),
        ("kit.c", C),
    ]);
    let mut module = repo.read("rust/src/kit.rs");
    plant(&mut module, "twice", "pub fn twice(x: u32) -> u32 { x.wrapping_mul(2) }").unwrap();
    let wrong = "pub fn level(x: u32) -> u32 { x.wrapping_mul(2) + u32::from(x < 9) }";
    plant(&mut module, "level", wrong).unwrap();
    repo.write("rust/src/kit.rs", &module);
    repo.run(&[&["verify", "twice", "level"], &QUICK[..]].concat()).code(10);
    repo
}

#[test]
fn a_page_shows_both_texts_and_the_finding_and_runs_nothing_from_outside() {
    let repo = repo();
    repo.run(&["report", "--coverage"]).ok().shows(".implfuzz/report.html");
    let page = repo.read(".implfuzz/report.html");
    for name in ["twice", "level", "later"] {
        assert_eq!(page.matches(&format!("id=\"f-{name}\"")).count(), 1, "{name}");
        assert!(page.contains(&format!("<a href=\"#f-{name}\" class=")), "{name} is on the map");
    }
    for shown in [
        "<strong>2</strong> of 3 functions ported",
        "✗</b> refuted</span> <code>level</code>",
        "·</b> stub</span> <code>later</code>",
        "pub fn level(x: u32) -&gt; u32",
        "&lt;script&gt;alert(2)&lt;",
        "no input makes `x == 77777777` true",
        "<tr class=\"differs\"><th scope=\"row\">return value</th>",
        "cargo implfuzz findings replay 1",
    ] {
        assert!(page.contains(shown), "no {shown:?} in:\n{page}");
    }
    assert_eq!(page.matches("<script>").count(), 1, "{page}");
    // Nothing is loaded: the only address is the name of SVG.
    let addresses: Vec<&str> = page.match_indices("http").map(|(at, _)| &page[at..at + 26]).collect();
    assert!(
        addresses
            .iter()
            .all(|one| one.starts_with("http://www.w3.org/2000/svg") || one.starts_with("http-equiv=")),
        "{addresses:?}"
    );

    let told = repo.run(&["report", "--out", "port.html", "--format", "json"]).ok().json("report");
    assert_eq!((&told["ported"], &told["functions"]), (&2.into(), &3.into()));
    let without = repo.read("port.html");
    assert!(
        without.contains("id=\"f-level\"") && !without.contains("not reached"),
        "coverage was not asked for"
    );
    assert!(!without.contains("Progress"), "there is no git repository");
}

#[test]
fn progress_is_what_the_commits_have() {
    let repo = repo();
    git(&repo, &["init", "-q"]).ok();
    let lock = repo.read("implfuzz.lock");
    for text in [lock.replace("grade = \"weak\"", "grade = \"refuted\""), lock] {
        repo.write("implfuzz.lock", &text);
        git(&repo, &["add", "implfuzz.lock"]).ok();
        git(&repo, &["commit", "-qm", "Judge"]).ok();
    }
    repo.run(&["report"]).ok();
    let page = repo.read(".implfuzz/report.html");
    assert!(page.contains("the last commit has 1 weak, 1 refuted"), "{page}");
    assert!(page.contains("<td>2 refuted</td>") && page.contains("<td>1 weak, 1 refuted</td>"), "{page}");
}

#[test]
fn a_summary_has_all_ports_and_names_the_stubs() {
    let repo = repo();
    let told = repo.run(&["report", "--format", "md"]);
    told.ok()
        .shows("**2 of 3 functions ported**")
        .shows("| `level` | ✗ refuted |")
        .shows("| `twice` | ~ weak | 8000 |")
        .shows("\n1 stub: `later`\n");
    repo.run(&["status", "--format", "md"]).fails(2, &["only `report` prints Markdown"]);
}

#[test]
#[ignore = "needs chromium on PATH: cargo test --test suite report:: -- --ignored"]
fn a_browser_opens_the_function_that_a_link_names() {
    let repo = repo();
    repo.run(&["report"]).ok();
    let page = format!("file://{}/.implfuzz/report.html#f-level", repo.root().display());
    let options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"];
    let seen = ran(&mut program("chromium", repo.root(), &[&options[..], &[&page]].concat()));
    let opened = |name: &str| {
        let start = seen.stdout.find(&format!("id=\"f-{name}\"")).unwrap_or_else(|| panic!("{seen}"));
        seen.stdout[start..].split('>').next().unwrap().contains("open")
    };
    assert!(opened("level") && !opened("twice"), "{seen}");
    // The script ran: without it, the filter stays hidden.
    assert!(seen.stdout.contains("<p class=\"filter\">"), "{seen}");
}

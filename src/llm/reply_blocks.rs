//! Parses a reply into its labelled blocks. Unambiguous deviations are accepted; other problems are described
//! precisely enough for the model to correct them.

use super::markdown_fences::{Fence, fences};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// No function that was ported by one reply needs so many bytes; what reads Rust takes long over more.
const LONGEST: usize = 1 << 20;

/// What a block is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// ` ```rust implementation `
    Implementation,
    /// ` ```toml contract `
    Contract,
    /// ` ```rust fuzz_target `
    FuzzTarget,
    /// ` ```c driver `
    Driver,
    /// ` ```toml verdict `
    Verdict,
    /// ` ```text notes `
    Notes,
}

impl Label {
    #[cfg(test)]
    const ALL: [Self; 6] =
        [Self::Implementation, Self::Contract, Self::FuzzTarget, Self::Driver, Self::Verdict, Self::Notes];

    /// The info string that a prompt asks for.
    pub fn info(self) -> &'static str {
        match self {
            Self::Implementation => "rust implementation",
            Self::Contract => "toml contract",
            Self::FuzzTarget => "rust fuzz_target",
            Self::Driver => "c driver",
            Self::Verdict => "toml verdict",
            Self::Notes => "text notes",
        }
    }

    fn language(self) -> Language {
        match self {
            Self::Implementation | Self::FuzzTarget => Language::Rust,
            Self::Contract | Self::Verdict => Language::Toml,
            Self::Driver => Language::C,
            Self::Notes => Language::Other,
        }
    }

    /// The label that a text names by one of its words.
    fn named_in(text: &str) -> Option<Self> {
        let text = text.to_lowercase().replace(['-', '_', ' '], "_");
        let has = |word: &str| {
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            words.any(|w| w == word)
        };
        // "fuzz" first: "implementation of the fuzz target" is about the target.
        if has("fuzz") || has("fuzztarget") {
            Some(Self::FuzzTarget)
        } else if has("implementation") || has("impl") {
            Some(Self::Implementation)
        } else if has("contract") {
            Some(Self::Contract)
        } else if has("driver") {
            Some(Self::Driver)
        } else if has("verdict") {
            Some(Self::Verdict)
        } else if has("notes") || has("note") {
            Some(Self::Notes)
        } else {
            None
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "```{}", self.info())
    }
}

/// The blocks of a reply, at most one of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocks {
    pub implementation: Option<String>,
    pub contract: Option<String>,
    pub fuzz_target: Option<String>,
    pub driver: Option<String>,
    pub verdict: Option<String>,
    pub notes: Option<String>,
}

/// Why a reply cannot be used. Its text is meant for the next prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplyProblem {
    #[error(
        "The reply has {0} bytes, far more than a function needs; nothing of it was read. Answer with the function and \
         its helpers alone."
    )]
    TooLong(usize),
    #[error("The reply was empty. Answer with the labelled fenced blocks that were asked for.")]
    Empty,
    #[error("The reply has no block {0}. Put it into a fenced block with exactly this first line.")]
    Missing(Label),
    #[error("The block {0} is empty.")]
    EmptyBlock(Label),
    #[error("The reply has more than one block {0}, with different texts. Answer with exactly one, in full.")]
    Duplicate(Label),
    #[error(
        "The reply has several blocks without a label, and it is unclear which one is {0}. Label each block with \
         exactly the first line that was asked for."
    )]
    Ambiguous(Label),
    #[error("The block {0} does not end: its closing fence is missing and its text is incomplete.")]
    Unclosed(Label),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Rust,
    Toml,
    C,
    Unnamed,
    Other,
}

impl Blocks {
    /// Reads a reply in which the blocks `wanted` must be there; others are taken when they are.
    pub fn parse(text: &str, wanted: &[Label]) -> Result<Self, ReplyProblem> {
        if text.len() > LONGEST {
            return Err(ReplyProblem::TooLong(text.len()));
        }
        let text = after_thoughts(text);
        if text.trim().is_empty() {
            return Err(ReplyProblem::Empty);
        }
        let fences = fences(text, &|info| Label::named_in(info).is_some());
        let mut found = BTreeMap::new();
        let (labelled, mut rest): (Vec<&Fence>, Vec<&Fence>) =
            fences.iter().partition(|fence| Label::named_in(&fence.info).is_some());
        for fence in labelled {
            if let Some(label) = Label::named_in(&fence.info) {
                add(&mut found, label, fence)?;
            }
        }
        // A real label outweighs prose that happens to mention one.
        let real: Vec<Label> = found.keys().copied().collect();
        let by_heading = |fence: &Fence| heading_label(fence).filter(|label| !real.contains(label));
        for fence in &rest {
            if let Some(label) = by_heading(fence) {
                add(&mut found, label, fence)?;
            }
        }
        rest.retain(|fence| by_heading(fence).is_none());
        for label in wanted {
            if !found.contains_key(label) {
                let text = match unlabelled(*label, &rest)? {
                    Some(fence) => content(*label, fence)?,
                    None if fences.is_empty() && *label == Label::Implementation && is_bare_rust(text) => {
                        text.replace("\r\n", "\n")
                    }
                    None => return Err(ReplyProblem::Missing(*label)),
                };
                found.insert(*label, text);
            }
        }
        let mut take = |label| found.remove(&label);
        Ok(Self {
            implementation: take(Label::Implementation),
            contract: take(Label::Contract),
            fuzz_target: take(Label::FuzzTarget),
            driver: take(Label::Driver),
            verdict: take(Label::Verdict),
            notes: take(Label::Notes),
        })
    }
}

/// The answer without the thoughts that some local models put in front of it.
pub fn after_thoughts(text: &str) -> &str {
    let start = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r']);
    match start.strip_prefix("<think>").and_then(|rest| rest.split_once("</think>")) {
        Some((_, answer)) => answer,
        None => text,
    }
}

/// The label that the prose right before a block names, if the block's language fits.
fn heading_label(fence: &Fence) -> Option<Label> {
    let label = Label::named_in(&fence.heading).filter(|_| fence.heading.len() <= 60)?;
    (label != Label::Notes && label.language() == language(fence)).then_some(label)
}

fn language(fence: &Fence) -> Language {
    let word = fence.info.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_lowercase();
    match word.as_str() {
        "rust" | "rs" => Language::Rust,
        "toml" => Language::Toml,
        "c" => Language::C,
        "" => Language::Unnamed,
        _ => Language::Other,
    }
}

fn add(found: &mut BTreeMap<Label, String>, label: Label, fence: &Fence) -> Result<(), ReplyProblem> {
    let text = content(label, fence)?;
    match found.insert(label, text.clone()) {
        Some(other) if other != text && label != Label::Notes => Err(ReplyProblem::Duplicate(label)),
        Some(other) if other != text => {
            found.insert(label, other + &text);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn content(label: Label, fence: &Fence) -> Result<String, ReplyProblem> {
    if !fence.closed && !is_whole(label, &fence.text) {
        return Err(ReplyProblem::Unclosed(label));
    }
    if fence.text.trim().is_empty() && label != Label::Notes {
        return Err(ReplyProblem::EmptyBlock(label));
    }
    Ok(fence.text.clone())
}

/// Whether a text whose closing fence is missing is complete all the same.
fn is_whole(label: Label, text: &str) -> bool {
    match label.language() {
        Language::Rust => is_balanced_rust(text) && text.trim_end().ends_with(['}', ';']),
        Language::Toml => toml::from_str::<toml::Table>(text).is_ok(),
        Language::C => text.trim_end().ends_with(['}', ';']) && has_equal_braces(text),
        Language::Unnamed | Language::Other => true,
    }
}

/// The only block without a label that can be `label`.
fn unlabelled<'a>(label: Label, rest: &[&'a Fence]) -> Result<Option<&'a Fence>, ReplyProblem> {
    let fits = |fence: &Fence| match (label, language(fence)) {
        (Label::Implementation, Language::Rust) => !fence.text.contains("fuzz_target!"),
        (Label::Implementation, Language::Unnamed) => {
            fence.text.contains("fn ") && !fence.text.contains("fuzz_target!")
        }
        (Label::FuzzTarget, Language::Rust | Language::Unnamed) => {
            fence.text.contains("fuzz_target!") || fence.text.contains("fn target(")
        }
        (Label::Contract, Language::Toml) => true,
        (Label::Driver, Language::C | Language::Unnamed) => fence.text.contains("LLVMFuzzerTestOneInput"),
        _ => false,
    };
    let mut candidates = rest.iter().copied().filter(|fence| fits(fence));
    match (candidates.next(), candidates.next()) {
        (Some(first), Some(second)) if first.text != second.text => Err(ReplyProblem::Ambiguous(label)),
        (first, _) => Ok(first),
    }
}

/// A reply that is nothing but code, without any fence.
fn is_bare_rust(text: &str) -> bool {
    let starts = ["fn ", "pub ", "unsafe ", "use ", "const ", "static ", "#[", "//", "extern "];
    let start = text.trim_start();
    starts.iter().any(|word| start.starts_with(word)) && text.contains("fn ") && is_balanced_rust(text)
}

fn has_equal_braces(text: &str) -> bool {
    text.matches('{').count() == text.matches('}').count()
}

/// Whether the text is made of Rust's tokens with all brackets closed.
fn is_balanced_rust(text: &str) -> bool {
    proc_macro2::TokenStream::from_str(text).is_ok_and(|tokens| !tokens.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CODE: &str = "pub fn f(x: u32) -> u32 {\n    x + 1\n}\n";

    fn implementation(text: &str) -> Result<String, ReplyProblem> {
        Blocks::parse(text, &[Label::Implementation]).map(|blocks| blocks.implementation.unwrap())
    }

    #[test]
    fn a_reply_as_asked_for() {
        let text = format!(
            "Sure.\n\n```rust implementation\n{CODE}```\n\n```toml contract\na = 1\n```\n\
             ```rust fuzz_target\nfuzz_target!(|d: &[u8]| {{}});\n```\n```c driver\nint d;\n```\n```toml verdict\nb = 2\n```\n\
             ```text notes\nn\n```\nBye."
        );
        let blocks = Blocks::parse(&text, &Label::ALL).unwrap();
        assert_eq!(blocks.implementation.as_deref(), Some(CODE));
        assert_eq!(blocks.contract.as_deref(), Some("a = 1\n"));
        assert_eq!(blocks.fuzz_target.as_deref(), Some("fuzz_target!(|d: &[u8]| {});\n"));
        assert_eq!(blocks.driver.as_deref(), Some("int d;\n"));
        assert_eq!(blocks.verdict.as_deref(), Some("b = 2\n"));
        assert_eq!(blocks.notes.as_deref(), Some("n\n"));
    }

    #[test]
    fn wrong_labels_that_leave_no_doubt() {
        for info in [
            "rust", "", "rs implementation", "Rust Implementation", "rust,implementation",
            "rust:implementation", "rust // implementation", "implementation", "rust impl", "rust solution",
        ] {
            assert_eq!(implementation(&format!("```{info}\n{CODE}```")).as_deref(), Ok(CODE), "{info}");
        }
    }

    #[test]
    fn unusual_fences() {
        for text in [
            format!("~~~rust implementation\n{CODE}~~~"),
            format!("````markdown\n```rust implementation\n{CODE}```\n````"),
            format!("```markdown\n```rust implementation\n{CODE}```\n```"),
            format!("```rust implementation\n{CODE}"),
            format!(
                "<think>\n```rust implementation\nfn g() {{}}\n```\n</think>\n```rust implementation\n{CODE}```"
            ),
            format!("```rust implementation\n{CODE}```\n```rust implementation\n{CODE}```"),
            format!("\u{feff}```rust implementation\n{CODE}```").replace('\n', "\r\n"),
            format!("```c\nint f(int x);\n```\n\n```rust\n{CODE}```"),
            CODE.to_owned(),
        ] {
            assert_eq!(implementation(&text).as_deref(), Ok(CODE), "{text}");
        }
    }

    #[test]
    fn fences_in_doc_comments_stay() {
        let code = format!("/// ```\n/// f(1);\n/// ```\n{CODE}");
        assert_eq!(
            implementation(&format!("```rust implementation\n{code}```")).as_deref(),
            Ok(code.as_str())
        );
    }

    #[test]
    fn headings_label_what_has_no_label() {
        let text = format!("## Implementation\n\n```rust\n{CODE}```\n\n## Example\n\n```rust\nf(1);\n```");
        assert_eq!(implementation(&text).as_deref(), Ok(CODE));
        let text = format!(
            "```rust implementation\n{CODE}```\nHow to call the implementation:\n```rust\nf(1);\n```"
        );
        assert_eq!(implementation(&text).as_deref(), Ok(CODE));
    }

    #[test]
    fn doubt_is_told() {
        let two = format!("```rust implementation\n{CODE}```\n```rust implementation\nfn g() {{}}\n```");
        assert_eq!(implementation(&two), Err(ReplyProblem::Duplicate(Label::Implementation)));
        let unlabelled = format!("```rust\n{CODE}```\n```rust\nfn g() {{}}\n```");
        assert_eq!(implementation(&unlabelled), Err(ReplyProblem::Ambiguous(Label::Implementation)));
        let cut = "```rust implementation\npub fn f() {\n    let x = ";
        assert_eq!(implementation(cut), Err(ReplyProblem::Unclosed(Label::Implementation)));
        assert_eq!(implementation(" \n"), Err(ReplyProblem::Empty));
        let long = format!("```rust implementation\n{CODE}```\n{}", " ".repeat(LONGEST));
        assert_eq!(implementation(&long), Err(ReplyProblem::TooLong(long.len())));
        assert_eq!(
            implementation("```rust implementation\n```"),
            Err(ReplyProblem::EmptyBlock(Label::Implementation))
        );
        for prose in ["I am sorry, I cannot do that.", "```c\nint f;\n```", "Use the pub fn f."] {
            assert_eq!(implementation(prose), Err(ReplyProblem::Missing(Label::Implementation)), "{prose}");
        }
    }

    #[test]
    fn a_fuzz_target_is_never_taken_for_the_implementation() {
        let text = "```rust\nfuzz_target!(|d: &[u8]| { fn f() {} });\n```";
        assert_eq!(implementation(text), Err(ReplyProblem::Missing(Label::Implementation)));
        let blocks = Blocks::parse(text, &[Label::FuzzTarget]).unwrap();
        assert!(blocks.fuzz_target.is_some());
    }

    #[test]
    fn a_driver_is_c_text_with_the_entry() {
        let code = "int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return 0; }\n";
        for text in [
            format!("```c driver\n{code}```"),
            format!("```c\nint f;\n```\n```c\n{code}```"),
            format!("```\n{code}```"),
        ] {
            assert_eq!(
                Blocks::parse(&text, &[Label::Driver]).unwrap().driver.as_deref(),
                Some(code),
                "{text}"
            );
        }
        let cut = "```c driver\nint LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {";
        assert_eq!(Blocks::parse(cut, &[Label::Driver]), Err(ReplyProblem::Unclosed(Label::Driver)));
    }

    #[test]
    fn problems_read_as_feedback() {
        let text = ReplyProblem::Missing(Label::Contract).to_string();
        assert!(text.contains("```toml contract"), "{text}");
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "(```|~~~|rust |implementation|contract|toml|fuzz_target|fn f\\(\\) \\{|\\}|\n|\r\n|é){0,40}") {
            drop(Blocks::parse(&text, &Label::ALL));
        }

        #[test]
        fn any_code_survives(lines in prop::collection::vec("[ -_a-}]{0,30}", 1..8), before in "[a-z ]{0,20}") {
            let code: String = lines.iter().map(|l| format!("{l}\n")).collect();
            prop_assume!(!code.trim().is_empty());
            let text = format!("{before}\n```rust implementation\n{code}```\nDone.");
            prop_assert_eq!(implementation(&text), Ok(code));
        }
    }
}

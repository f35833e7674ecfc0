//! What real calls of a function looked like, in numbers: `contract::roles_from_calls` compares it with what the C text
//! suggests. `drivers` counts it; this module does not know where calls come from.

use crate::digest::of_parts;
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::{Function, Library, LibraryIndex, SymbolName};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The calls of a library's functions, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls(pub BTreeMap<SymbolName, Observed>);

impl Calls {
    /// The calls of a function, unless its C text has changed since, or that of a function or macro that it uses.
    pub(super) fn of(
        &self,
        library: &Library,
        index: &LibraryIndex,
        function: &Function,
    ) -> Option<&Observed> {
        self.0.get(&function.name).filter(|observed| observed.text == text_of(library, index, function))
    }

    /// Reads the text of a file; `path` is for error messages.
    ///
    /// # Errors
    /// `Config` where it is not such a file.
    pub fn parse(text: &str, path: &str) -> Result<Self> {
        let file: File = serde_json::from_str(text).map_err(|error| wrong(path, &error.to_string()))?;
        if file.version != VERSION {
            return Err(wrong(
                path,
                &format!("version {}, and this cargo-implfuzz reads version {VERSION}", file.version),
            ));
        }
        Ok(Self(file.functions))
    }

    /// The text of the file: a line for each function, so that changes are easy to read.
    pub fn render(&self) -> String {
        let lines = self.0.iter().map(|(name, observed)| {
            let observed = serde_json::to_string(observed).expect("numbers and names are JSON");
            format!("    {}: {observed}", serde_json::Value::from(name.as_str()))
        });
        format!(
            "{{\n  \"version\": {VERSION},\n  \"functions\": {{\n{}\n  }}\n}}\n",
            lines.collect::<Vec<_>>().join(",\n")
        )
    }
}

const VERSION: u32 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    functions: BTreeMap<SymbolName, Observed>,
}

fn wrong(path: &str, what: &str) -> Error {
    Error::new(ErrorKind::Config, format!("{path}: {what}"))
        .help(format!("rm {path}; cargo implfuzz contract --learn writes it again"))
}

/// The calls of one function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observed {
    /// Hash of the C text, with all that it uses: calls of another text say nothing.
    pub text: String,
    pub calls: u64,
    pub params: BTreeMap<String, ObservedParam>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ObservedResult>,
}

/// One parameter in these calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservedParam {
    /// Calls in which a pointer was null.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub null: u64,
    /// The least and the largest value of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<[i64; 2]>,
    /// Calls in which it is known what C touched behind a pointer, for which the numbers below are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub known: u64,
    /// The fewest and the most elements behind a pointer up to the last one that C read or wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touched: Option<[u64; 2]>,
    /// Whether C touched several numbers of elements, without calls in which it touched none.
    #[serde(default, skip_serializing_if = "is_false")]
    pub varies: bool,
    /// The most elements up to which C goes at least, also in calls of which no more is known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub at_least: u64,
    /// Calls in which C wrote there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub written: u64,
    /// Calls in which C read no further than to the NUL behind a text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub texts: u64,
    /// Calls in which C went further.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beyond_texts: u64,
    /// Calls that freed the block.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub freed: u64,
    /// The numbers that may be the length of this memory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lengths: BTreeMap<String, Fit>,
}

/// How a number and the elements that C touches behind a pointer fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Calls in which C touched at most so many.
    pub fits: u64,
    /// Of these, calls in which it touched exactly so many, and at least one.
    pub fills: u64,
    /// Calls in which it touched more.
    pub exceeds: u64,
}

/// What the results were.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservedResult {
    #[serde(default, skip_serializing_if = "is_zero")]
    pub null: u64,
    /// Blocks that the call allocated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub new: u64,
    /// Places in the memory of a parameter.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub within: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub constant: u64,
    /// Blocks that were there before, and that no argument led to.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub old: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The hash of a function's text and of those that it uses, by which its calls are known to be of it.
pub fn text_of(library: &Library, index: &LibraryIndex, function: &Function) -> String {
    let reached: Vec<&Function> = index.reached(function).collect();
    let used = |name: &String| reached.iter().any(|function| function.macros.contains(name));
    let macros = library.macros.iter().filter(|own| used(&own.name)).map(|own| own.text.as_str());
    of_parts(reached.iter().map(|function| function.text.as_str()).chain(macros))[..16].to_owned()
}

//! `--only` and `--skip`: select functions by pattern.

use crate::error::{Error, ErrorKind, Result};
use crate::project::listing::matches;
use crate::project::{FunctionPlan, Project};

/// Patterns that select functions.
#[derive(Debug, clap::Args)]
pub struct Narrow {
    /// With --all: select only functions that match a pattern, such as crc*,inflate.c; a pattern is a symbol, a C name, a
    /// file or file:name, and `*` matches any text
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',', conflicts_with = "symbols")]
    only: Vec<String>,
    /// With --all: leave out functions that match a pattern
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',', conflicts_with = "symbols")]
    skip: Vec<String>,
}

impl Narrow {
    /// Keeps the selected functions. A pattern without a match is an error, and so is an empty selection.
    pub fn keep(&self, project: &Project, wanted: &mut Vec<&FunctionPlan>) -> Result<()> {
        for pattern in self.only.iter().chain(&self.skip) {
            if !project.planned.iter().any(|planned| is_meant(pattern, planned)) {
                let text = format!("no function that can be ported matches `{pattern}`");
                return Err(Error::new(ErrorKind::Usage, text).help(project.nearest(pattern)));
            }
        }
        let any =
            |list: &[String], planned: &FunctionPlan| list.iter().any(|pattern| is_meant(pattern, planned));
        wanted.retain(|planned| {
            (self.only.is_empty() || any(&self.only, planned)) && !any(&self.skip, planned)
        });
        let is_narrowed = !self.only.is_empty() || !self.skip.is_empty();
        if wanted.is_empty() && is_narrowed {
            return Err(Error::new(ErrorKind::Usage, "--only and --skip exclude all functions")
                .help("`cargo implfuzz port --all --dry-run` shows the functions"));
        }
        Ok(())
    }

    /// The options for the store, after the command.
    pub fn words(&self) -> String {
        let option = |name: &str, list: &[String]| match list.is_empty() {
            true => String::new(),
            false => format!(" --{name} {}", list.join(",")),
        };
        option("only", &self.only) + &option("skip", &self.skip)
    }
}

/// The functions with these names, and those that match these patterns; each once.
///
/// # Errors
/// `Usage` where a name or pattern means none.
pub fn named<'p>(project: &'p Project, names: &[String]) -> Result<Vec<&'p FunctionPlan>> {
    let mut all: Vec<&FunctionPlan> = Vec::new();
    for name in names {
        let found = match project.find(name) {
            Ok(planned) => vec![planned],
            Err(error) => {
                let found = project.planned.iter().filter(|planned| is_meant(name, planned));
                let found: Vec<_> = found.collect();
                if found.is_empty() {
                    return Err(error);
                }
                found
            }
        };
        for planned in found {
            if all.iter().all(|other| other.function.key != planned.function.key) {
                all.push(planned);
            }
        }
    }
    Ok(all)
}

fn is_meant(pattern: &str, planned: &FunctionPlan) -> bool {
    let function = &planned.function;
    matches(pattern, &function.place.file, Some((function.name.as_str(), &function.c_name)))
}

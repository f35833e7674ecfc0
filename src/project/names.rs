//! Finds functions by names that people type.

use super::{FunctionPlan, Project};
use crate::error::{Error, ErrorKind, Result};

impl Project {
    /// The planned function with this name; the error suggests the nearest names.
    pub fn find(&self, name: &str) -> Result<&FunctionPlan> {
        if let Some(function) = self.library.find(name) {
            if let Some(planned) = self.plan_of(&function.key) {
                return Ok(planned);
            }
            let why = function.unsupported.as_deref().unwrap_or("bindgen binds no such function");
            return Err(Error::new(ErrorKind::Usage, format!("`{name}` cannot be ported: {why}"))
                .help("`cargo implfuzz list` shows what can be"));
        }
        Err(Error::new(ErrorKind::Usage, format!("the library has no function `{name}`"))
            .help(self.nearest(name)))
    }

    /// The help for a name that no function has.
    pub fn nearest(&self, name: &str) -> String {
        let names = self.library.functions.iter().map(|f| f.name.as_str()).filter(|known| *known != name);
        let mut rated: Vec<(f64, &str)> = names
            .map(|known| {
                // A name that contains the word, such as `kit_crc32` for `crc`, counts as near as a misspelling.
                let part = if name.len() > 1 && known.contains(name) { 0.9 } else { 0.0 };
                (strsim::jaro_winkler(name, known).max(part), known)
            })
            .collect();
        rated.sort_by(|a, b| b.0.total_cmp(&a.0));
        let near: Vec<String> =
            rated.iter().filter(|r| r.0 > 0.7).take(3).map(|r| format!("`{}`", r.1)).collect();
        match near.is_empty() {
            true => "`cargo implfuzz list` shows all names".to_owned(),
            false => format!("did you mean {}?", near.join(", ")),
        }
    }
}

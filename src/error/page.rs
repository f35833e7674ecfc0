//! The pages of the documentation that messages name. An installed tool comes without `docs/`, so each is an address.

use std::fmt;

/// A page of `docs/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(strum::EnumIter))]
pub enum Page {
    Ci,
    ContinuousFuzzing,
    Drivers,
    Formats,
    FuzzTargets,
    Limits,
    Mcp,
    Sandbox,
}

impl Page {
    /// The file in `docs/`.
    fn file(self) -> &'static str {
        match self {
            Self::Ci => "ci.md",
            Self::ContinuousFuzzing => "continuous-fuzzing.md",
            Self::Drivers => "drivers.md",
            Self::Formats => "formats.md",
            Self::FuzzTargets => "fuzz-targets.md",
            Self::Limits => "limits.md",
            Self::Mcp => "mcp.md",
            Self::Sandbox => "sandbox.md",
        }
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/blob/main/docs/{}", env!("CARGO_PKG_REPOSITORY"), self.file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::IntoEnumIterator;

    #[test]
    fn every_page_is_in_the_docs_and_its_address_names_it() {
        for page in Page::iter() {
            let path = format!("{}/docs/{}", env!("CARGO_MANIFEST_DIR"), page.file());
            assert!(std::path::Path::new(&path).is_file(), "{path}");
            assert!(page.to_string().ends_with(&format!("/docs/{}", page.file())));
        }
    }
}

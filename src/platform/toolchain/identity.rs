//! A cheap identity of the tools that read C.

use super::build_tool::BuildTool;
use super::libclang;
use super::search::Search;
use std::os::unix::fs::MetadataExt;
use strum::IntoEnumIterator;

/// Path, size and modification time of the compilers and libraries that read C. Starts no program. If the identity
/// changes, a tool has changed.
pub fn identity(search: &Search) -> String {
    let mut found = search.clangs();
    let build_tools = BuildTool::iter().flat_map(BuildTool::programs);
    found.extend(build_tools.chain(&["gcc"]).filter_map(|name| search.program(&[name])));
    found.extend(libclang::candidates(search));
    let lines = found.iter().filter_map(|path| {
        let meta = std::fs::metadata(path).ok()?;
        Some(format!("{} {} {}.{}\n", path.display(), meta.len(), meta.mtime(), meta.mtime_nsec()))
    });
    lines.collect()
}

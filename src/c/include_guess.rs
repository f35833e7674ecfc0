//! Folders for `-I`, guessed from the `#include` lines of a project.

use super::sources;
use crate::symbol::RelPath;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;

/// Headers of the C library and POSIX. A project file with the same name must not hide them from `<…>`.
const STANDARD: &[&str] = &[
    "assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h", "float.h", "inttypes.h", "iso646.h", "limits.h",
    "locale.h", "math.h", "setjmp.h", "signal.h", "stdalign.h", "stdarg.h", "stdatomic.h", "stdbool.h",
    "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "stdnoreturn.h", "string.h", "strings.h", "tgmath.h",
    "threads.h", "time.h", "uchar.h", "wchar.h", "wctype.h", "unistd.h", "fcntl.h", "pthread.h", "endian.h",
    "memory.h", "malloc.h", "getopt.h", "dirent.h", "poll.h", "netdb.h", "dlfcn.h", "regex.h", "search.h",
    "sched.h", "semaphore.h", "utime.h",
];

/// For each `#include "x/y.h"` that is not in the includer's folder, the folder from which it resolves to a
/// header of the project, the folder nearest to the includer first. In order of first use.
pub(super) fn include_dirs(root: &Utf8Path, files: &[RelPath], headers: &[RelPath]) -> Vec<Utf8PathBuf> {
    let mut folders: Vec<Utf8PathBuf> = Vec::new();
    for file in files.iter().chain(headers) {
        let Ok(text) = fs::read(root.join(&file.0)) else { continue };
        let here = file.0.parent().unwrap_or(Utf8Path::new(""));
        for include in sources::includes(&String::from_utf8_lossy(&text)) {
            let is_standard = STANDARD.contains(&include.path.as_str()) || include.path.starts_with("sys/");
            let resolved = root.join(here).join(&include.path).is_file() && !include.is_system
                || folders.iter().any(|f| root.join(f).join(&include.path).is_file());
            if resolved || include.is_system && is_standard {
                continue;
            }
            if let Some(folder) = nearest(here, Utf8Path::new(&include.path), headers, files) {
                folders.push(folder);
            }
        }
    }
    folders
}

fn nearest(
    here: &Utf8Path,
    wanted: &Utf8Path,
    headers: &[RelPath],
    sources: &[RelPath],
) -> Option<Utf8PathBuf> {
    let common =
        |folder: &Utf8Path| folder.components().zip(here.components()).take_while(|(a, b)| a == b).count();
    headers
        .iter()
        .chain(sources)
        .filter(|h| h.0.ends_with(wanted))
        .filter_map(|h| h.0.ancestors().nth(wanted.components().count()))
        .min_by_key(|folder| {
            (std::cmp::Reverse(common(folder)), folder.components().count(), folder.to_path_buf())
        })
        .map(Utf8Path::to_path_buf)
}

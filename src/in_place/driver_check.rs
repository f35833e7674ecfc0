//! Whether a driver that a model wrote may run: it calls the library and what only computes, and nothing that reaches
//! files by name, processes or the network. What runs it limits the rest.

use super::build::{Parts, flags};
use super::driver::Driver;
use super::outside::undefined;
use super::weak_definitions;
use crate::c::text::Surface;
use crate::error::Result;
use crate::in_place::build_site::BuildSite;
use crate::libc_facts::{Effect, effect, opens};
use crate::platform::process::time_limits;
use crate::symbol::STREAMS;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use fs_err as fs;
use std::collections::BTreeSet;

/// Words for code that no table of symbols shows, or that runs before the driver does.
const WORDS: [&str; 11] = [
    "asm", "__asm", "__asm__", "__attribute__", "__attribute", "__declspec", "_Pragma", "__builtin_apply",
    "__builtin_longjmp", "__builtin_eh_return", "__has_include",
];
/// Directives that a driver needs.
const DIRECTIVES: [&str; 11] =
    ["include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning"];

/// What the text of a driver of the repository at `root` may not say; nothing if it may be compiled.
pub fn refused(root: &Utf8Path, driver: &Utf8Path, text: &str) -> Option<String> {
    let surface = Surface::of(text.as_bytes());
    if let Some(word) = WORDS.iter().find(|word| surface.words.contains(**word)) {
        return Some(format!("a driver may not use `{word}`"));
    }
    if surface.hides_words {
        return Some("a driver may not use `##`, digraphs or trigraphs".to_owned());
    }
    if let Some(other) = surface.directives.iter().find(|one| !DIRECTIVES.contains(&one.as_str())) {
        return Some(format!("a driver may not use `#{other}`"));
    }
    let wrong = surface.includes.iter().find(|include| !is_below(root, driver, include))?;
    Some(format!(
        "a driver may not include {wrong}: only headers of the repository and of the system, by name"
    ))
}

/// Whether an include stays in the repository or in the compiler's folders. Files whose names begin with a dot are no headers.
fn is_below(root: &Utf8Path, driver: &Utf8Path, include: &str) -> bool {
    let inner = include.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let system = include.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let Some(path) = inner.or(system).map(Utf8Path::new) else { return false };
    let is_hidden = path.file_name().is_none_or(|name| name.starts_with('.'));
    // Where it is not beside the driver, the compiler looks in the root.
    let beside = driver.parent().unwrap_or(Utf8Path::new(""));
    let is_beside =
        || inner.is_some() && goes_down(path, beside) && root.join(plain(&beside.join(path))).is_file();
    !is_hidden && (goes_down(path, Utf8Path::new("")) || is_beside())
}

/// Whether a path from this folder stays below the root.
fn goes_down(path: &Utf8Path, folder: &Utf8Path) -> bool {
    let mut depth = folder.components().count();
    path.components().all(|part| match part {
        Utf8Component::Normal(_) => {
            depth += 1;
            true
        }
        Utf8Component::CurDir => true,
        Utf8Component::ParentDir if depth > 0 => {
            depth -= 1;
            true
        }
        Utf8Component::ParentDir | Utf8Component::RootDir | Utf8Component::Prefix(_) => false,
    })
}

/// A path without `.` and `x/..`, by its spelling: the folder of a new driver may not be there yet.
fn plain(path: &Utf8Path) -> Utf8PathBuf {
    path.components().fold(Utf8PathBuf::new(), |mut plain, part| {
        match part {
            Utf8Component::ParentDir => drop(plain.pop()),
            Utf8Component::CurDir => {}
            other => plain.push(other),
        }
        plain
    })
}

/// Compiles a driver alone, and says what it calls that it may not; nothing if it may run.
///
/// # Errors
/// `C` if it does not compile, and Ctrl-C.
pub fn forbidden(driver: &Driver, parts: Parts, place: BuildSite) -> Result<Option<String>> {
    fs::create_dir_all(place.dir)?;
    let object = place.dir.join(format!("written-{}.o", driver.name));
    let job = place.compiler(driver.language).dir(parts.root).timeout(time_limits::COMPILE_C);
    let job = job.args(["-O0", "-g0", "-w", "-Werror=implicit-function-declaration"]);
    let job =
        job.args(flags(parts.library, parts.settings)).args(weak_definitions::flags(parts.library, place)?);
    let job = job.args(["-c", "-o"]).arg(&object);
    place.done(job.arg(driver.file.as_std_path()), &driver.file)?;
    let needed = undefined(&object)?;
    let own: BTreeSet<&str> =
        parts.library.functions.iter().map(|function| function.c_name.as_str()).collect();
    let variables: BTreeSet<&str> =
        parts.library.globals.iter().map(|global| global.c_name.as_str()).collect();
    let is_of_library = |name: &String| own.contains(name.as_str()) || variables.contains(name.as_str());
    let wrong = needed.iter().find(|name| !is_of_library(name) && !is_allowed(name));
    Ok(wrong.map(|name| {
        format!("a driver may not use `{name}`: it calls the library, and functions of C that only compute")
    }))
}

fn is_allowed(name: &str) -> bool {
    // What compilers add, and the streams that every program has.
    let is_given = name.starts_with("_GLOBAL_OFFSET_TABLE_") || STREAMS.contains(&name);
    let by_effect = match effect(name) {
        Some(Effect::Computes | Effect::State | Effect::Random | Effect::Clock) => true,
        Some(Effect::Stdio) => !opens(name),
        Some(
            Effect::Environment
            | Effect::Descriptors
            | Effect::Files
            | Effect::Network
            | Effect::Threads
            | Effect::Processes
            | Effect::Signals
            | Effect::Loader,
        )
        | None => false,
    };
    is_given || by_effect
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().join("library");
        for file in ["include/a.h", "../secret", ".env"] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        refused(&root, Utf8Path::new("fuzz/d.c"), text)
    }

    #[test]
    fn a_plain_driver_is_compiled() {
        let text = "#include <stdint.h>\n#include \"../include/a.h\"\n#include \"include/a.h\"\n#define N 3\nint f(void) { return N; }\n";
        assert_eq!(why(text), None);
    }

    #[test]
    fn texts_that_reach_elsewhere_are_refused() {
        for (text, told) in [
            ("#include \"/etc/passwd\"\n", "/etc/passwd"),
            ("#include \"../../secret\"\n", "../../secret"),
            // Beside the root, which is on the include path.
            ("#include \"../secret\"\n", "../secret"),
            ("#include \"../.env\"\n", "../.env"),
            ("#include <../a>\n", "<../a>"),
            ("#define X \"/etc/passwd\"\n#include X\n", "X"),
            ("void f(void) { __asm__(\"syscall\"); }", "__asm__"),
            ("#define A(x) x##m__\n", "##"),
            ("__attribute__((constructor)) void f(void) {}", "__attribute__"),
            ("#pragma weak f = g\n", "#pragma"),
            ("#embed \"/etc/passwd\"\n", "#embed"),
            ("%:include \"/etc/passwd\"\n", "digraphs"),
        ] {
            let said = why(text).unwrap_or_default();
            assert!(said.contains(told), "{text}: {said}");
        }
    }

    #[test]
    fn functions_that_reach_the_system_are_not_allowed() {
        for name in ["malloc", "memcpy", "strlen", "snprintf", "fputs", "tmpfile", "time"] {
            assert!(is_allowed(name), "{name}");
        }
        for name in [
            "fopen", "freopen64", "fdopen", "open", "system", "fork", "socket", "getenv", "dlsym", "syscall",
            "kill", "what_is_it",
        ] {
            assert!(!is_allowed(name), "{name}");
        }
    }
}

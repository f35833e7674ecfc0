//! Compiles a unit with the C compiler, to learn which lines of its alias unit it accepts, and to get the
//! object file.
//!
//! libclang may see another program than the compiler does, because it claims to be an old gcc, and headers
//! test for that.

use super::flags::old_c_flags;
use super::unit_text::{Added, ORIGIN, unit_text};
use crate::error::Result;
use crate::platform::process::{Exit, Interrupt, Job, time_limits};
use crate::symbol::Unit;
use camino::Utf8Path;
use fs_err as fs;
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum number of compilations, each without the lines rejected before. Compilers look for the target of
/// an alias only if everything else is correct.
const ROUNDS: usize = 4;

/// Flags that are added after the unit's own. Each symbol has its own section, so that a pointer's relocation
/// identifies its target.
pub(super) const PLAIN: &[&str] =
    &["-O0", "-g0", "-w", "-fno-common", "-fno-pic", "-fno-pie", "-fdata-sections", "-fno-lto"];

/// The compiler and its working folders.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compiler<'a> {
    pub root: &'a Utf8Path,
    pub cc: &'a Path,
    /// A folder that exists.
    pub scratch: &'a Path,
    /// Flags that are added after the unit's own.
    pub flags: &'static [&'static str],
    pub interrupt: &'a Interrupt,
}

/// The compiled unit.
pub(super) struct Translation {
    /// The rejected lines, by number from 0, with the compiler's message.
    pub refused: BTreeMap<usize, String>,
    pub object: Vec<u8>,
    /// Every file that the compiler read, under the compiler's name for it, without its own scratch files.
    pub files: Vec<String>,
}

/// Runs `work` with the compiler `cc`, whose files are in `scratch` meanwhile.
///
/// # Errors
/// `Io` when `scratch` cannot be written, and those of `work`.
pub(super) fn with_compiler<R>(
    root: &Utf8Path,
    (cc, scratch): (&Path, &Path),
    interrupt: &Interrupt,
    work: impl FnOnce(&Compiler) -> Result<R>,
) -> Result<R> {
    fs::create_dir_all(scratch)?;
    let scratch = fs::canonicalize(scratch)?;
    let answer = work(&Compiler { root, cc, scratch: &scratch, flags: PLAIN, interrupt });
    // The compiler's output was already read.
    drop(std::fs::remove_dir_all(&scratch));
    answer
}

impl Compiler<'_> {
    /// Compiles the unit with `lines` behind it. The inner error is the reason why the unit itself does not
    /// compile.
    ///
    /// # Errors
    /// `Environment` when the compiler cannot be started, `Io` when `scratch` cannot be written, and Ctrl-C.
    pub fn translate(
        &self,
        unit: &Unit,
        lines: &[impl AsRef<str>],
    ) -> Result<std::result::Result<Translation, String>> {
        let added: Vec<Added> = lines.iter().map(|line| Added::behind(line.as_ref())).collect();
        self.translate_with(unit, None, &added)
    }

    /// Compiles the unit with additions, which stand in `file`, the text of its file, or behind it.
    ///
    /// # Errors
    /// As [`Compiler::translate`].
    pub fn translate_with(
        &self,
        unit: &Unit,
        file: Option<&str>,
        added: &[Added],
    ) -> Result<std::result::Result<Translation, String>> {
        let mut refused = BTreeMap::new();
        for _ in 0..ROUNDS {
            let kept = added.iter().enumerate().filter(|(number, _)| !refused.contains_key(number));
            let kept: Vec<(usize, &Added)> = kept.collect();
            match self.compile(unit, file, &kept)? {
                Ok(object) => {
                    let rule = self.source(unit).with_extension("d");
                    let rule = String::from_utf8_lossy(&fs::read(rule)?).into_owned();
                    let own = self.scratch.to_string_lossy();
                    let files = dependencies(&rule).into_iter().filter(|file| !file.starts_with(&*own));
                    return Ok(Ok(Translation { refused, object, files: files.collect() }));
                }
                Err(said) => {
                    let more = refused_additions(&said);
                    let before = refused.len();
                    refused.extend(more);
                    if refused.len() == before {
                        return Ok(Err(format!("the C compiler refuses it: {}", first_error(&said))));
                    }
                }
            }
        }
        Ok(Err("the C compiler rejects its alias unit repeatedly".into()))
    }

    /// The text of the unit behind the preprocessor, with these flags, too; `None` where the compiler refuses it.
    ///
    /// # Errors
    /// `Environment` when the compiler cannot be started, and Ctrl-C.
    pub fn preprocessed(&self, unit: &Unit, more: &[&str]) -> Result<Option<Vec<u8>>> {
        let job = Job::new(self.cc).dir(self.root.as_std_path()).timeout(time_limits::COMPILE_C);
        let job =
            job.env("LC_ALL", "C").args(&unit.flags).args(old_c_flags()).args(more).args(["-w", "-E", "-P"]);
        let output = job.arg(unit.file.0.as_std_path()).run(self.interrupt)?;
        Ok(output.exit.success().then_some(output.stdout))
    }

    /// Its name is none that an `#include` names: a copy of a unit looks beside itself first.
    fn source(&self, unit: &Unit) -> std::path::PathBuf {
        self.scratch.join(format!("implfuzz-unit-{}.c", unit.module))
    }

    /// The object file, or the compiler's messages.
    fn compile(
        &self,
        unit: &Unit,
        file: Option<&str>,
        added: &[(usize, &Added)],
    ) -> Result<std::result::Result<Vec<u8>, String>> {
        let path = self.root.join(&unit.file.0);
        let source = self.source(unit);
        let object = source.with_extension("o");
        fs::write(&source, unit_text(&path, file, added))?;
        let job = Job::new(self.cc).dir(self.root.as_std_path()).timeout(time_limits::COMPILE_C);
        let job = job
            .env("LC_ALL", "C")
            // clang stops at 20 errors. gcc has no such limit, and does not know the flag.
            .env("CCC_OVERRIDE_OPTIONS", "# +-ferror-limit=0")
            .args(&unit.flags)
            .args(file.and(path.parent()).map(|dir| format!("-iquote{dir}")))
            .args(self.flags)
            .args(old_c_flags())
            .args(["-MD", "-MT", "x", "-MF"]);
        let job = job.arg(source.with_extension("d")).args(["-c", "-o"]);
        let output = job.arg(&object).arg(&source).run(self.interrupt);
        let output = output.map_err(|error| error.context(format!("compiling {}", unit.file)))?;
        Ok(match output.exit {
            exit if exit.success() => Ok(fs::read(&object)?),
            Exit::TimedOut => Err("error: the compiler takes too long".to_owned()),
            _ => Err(output.stderr_text()),
        })
    }
}

/// The messages about additions, by their numbers.
fn refused_additions(said: &str) -> Vec<(usize, String)> {
    let error = |line: &str| {
        let (place, what) = line.strip_prefix(ORIGIN)?.split_once("error: ")?;
        Some((place.split(':').next()?.parse().ok()?, what.trim().to_owned()))
    };
    let mut found: Vec<_> = said.lines().filter_map(error).collect();
    // The first message about an addition is the cause; later ones follow from it.
    found.reverse();
    found
}

/// The prerequisites in a rule written by `-MD`: `\` before a space or a line break, `$$` for a dollar sign.
fn dependencies(rule: &str) -> Vec<String> {
    let rule = rule.replace("\\\n", " ");
    let Some((_, list)) = rule.split_once(':') else { return Vec::new() };
    let mut files = Vec::new();
    let mut file = String::new();
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if matches!(chars.peek(), Some(' ' | '#')) => file.extend(chars.next()),
            '$' if chars.peek() == Some(&'$') => file.extend(chars.next()),
            c if c.is_whitespace() => files.push(std::mem::take(&mut file)),
            c => file.push(c),
        }
    }
    files.push(file);
    files.retain(|f| !f.is_empty());
    files
}

fn first_error(said: &str) -> String {
    let line = said.lines().find(|l| l.contains("error:")).or(said.lines().next());
    line.unwrap_or("it says nothing").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::toolchain::{Search, Toolchain};
    use crate::symbol::RelPath;

    /// gcc, and the compiler that the tool would choose on this machine: the newest clang if there is one.
    fn compilers() -> [String; 2] {
        let toolchain = Toolchain::find(&Search::from_env(), &Interrupt::none()).unwrap();
        ["gcc".into(), toolchain.cc.path.to_str().unwrap().into()]
    }

    fn translate(cc: &str, text: &str, lines: &[&str]) -> std::result::Result<Translation, String> {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        fs::write(root.join("a.c"), text).unwrap();
        let unit = Unit { file: RelPath("a.c".into()), module: "a_unit".into(), flags: vec![] };
        let interrupt = Interrupt::none();
        let compiler =
            Compiler { root, cc: Path::new(cc), scratch: dir.path(), flags: PLAIN, interrupt: &interrupt };
        compiler.translate(&unit, lines).unwrap()
    }

    #[test]
    fn lines_that_the_compiler_refuses_are_taken_out_one_by_one() {
        let c = "static int f(void) { return 1; }\n#define g(x) (x)\nstruct s { char a; int b; };\n";
        let lines = [
            "#ifndef f\nextern __typeof__(f) f__st __attribute__((alias(\"f\")));\n#endif",
            "extern __typeof__(g) g__st __attribute__((alias(\"g\")));",
            "_Static_assert(sizeof(struct s) == 8, \"layout of struct s\");",
            "_Static_assert(sizeof(struct s) == 9, \"layout of struct s\");",
            "extern __typeof__(f) h__st __attribute__((alias(\"h\")));",
        ];
        for cc in &compilers() {
            let translation = translate(cc, c, &lines).unwrap();
            let refused: Vec<usize> = translation.refused.keys().copied().collect();
            assert_eq!(refused, [1, 3, 4], "{cc}: {:?}", translation.refused);
            assert!(translation.refused[&3].starts_with("static assertion failed"), "{cc}");
            assert!(!translation.object.is_empty());
        }
    }

    #[test]
    fn rules_of_make_are_split_where_make_splits_them() {
        let rule = "x: /p/a\\ b.c \\\n /p/c$$d.h /p/e\\#f.h\n";
        assert_eq!(dependencies(rule), ["/p/a b.c", "/p/c$d.h", "/p/e#f.h"]);
        assert_eq!(dependencies("x:"), [""; 0]);
    }

    #[test]
    fn a_missing_compiler_is_an_error_of_ours() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let unit = Unit { file: RelPath("a.c".into()), module: "a".into(), flags: vec![] };
        let interrupt = Interrupt::none();
        let cc = Path::new("no-such-cc");
        let compiler = Compiler { root, cc, scratch: dir.path(), flags: PLAIN, interrupt: &interrupt };
        let error = compiler.translate(&unit, &[""; 0]).err().unwrap();
        assert_eq!(error.kind(), crate::error::ErrorKind::Environment);
    }

    #[test]
    fn an_error_in_the_unit_itself_is_no_line_of_ours() {
        for cc in &compilers() {
            let why = translate(cc, "int x = nothing_here;\n", &["int fine;"]).err().unwrap();
            assert!(why.contains("nothing_here"), "{cc}: {why}");
        }
    }
}

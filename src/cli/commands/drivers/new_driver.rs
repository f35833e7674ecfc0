//! `cargo implfuzz drivers --new`: new drivers, from contracts or for a person to fill in.

use crate::cli::session::Session;
use crate::drivers::{self, FOLDER, NewDriver};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::evidence::fingerprint::{LibraryFlags, driver_texts};
use crate::project::Project;
use crate::report::printable;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use fs_err as fs;
use serde_json::json;
use std::io::Write as _;

/// A driver that does nothing yet.
const EMPTY: &str = include_str!("../../../../templates/driver.c");
/// A driver that runs a program.
const OF_PROGRAM: &str = include_str!("../../../../templates/driver_of_program.c");

/// What a new driver runs.
#[derive(Debug, Clone, Copy)]
pub enum Of<'a> {
    Program(&'a Utf8Path),
    /// The functions that these headers declare; the public ones where there are none.
    Contracts(&'a [String]),
}

/// Writes a driver of this name.
pub fn write(session: &Session, project: &Project, name: &str, of: Of) -> Result<ExitCode> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(is_plain) {
        let text =
            format!("`{name}` cannot be the name of a driver: only letters, digits, `_` and `-` are allowed");
        return Err(Error::new(ErrorKind::Usage, text).help("cargo implfuzz drivers --new NAME"));
    }
    let root = project.root()?;
    let file = Utf8PathBuf::from(FOLDER).join(name).with_extension("c");
    let path = root.join(&file);
    if path.exists() {
        let text = format!("{file} exists already, and was not changed");
        return Err(Error::new(ErrorKind::Usage, text).help("choose another name"));
    }
    let new = match of {
        Of::Program(program) => New {
            text: of_program(project, program)?,
            functions: None,
            left_out: Vec::new(),
            refused: Vec::new(),
            next: "look at the arguments in it".to_owned(),
        },
        Of::Contracts(headers) => of_contracts(session, project, headers)?,
    };
    fs::create_dir_all(root.join(FOLDER))?;
    let mut opened = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
    opened.write_all(new.text.as_bytes())?;
    let mut shown = format!("{file} written; {}, then `cargo implfuzz drivers`\n", new.next);
    let functions = &project.library.functions;
    let is_variadic = |name: &&String| functions.iter().any(|one| one.c_name == **name && one.is_variadic);
    let (variadic, others): (Vec<&String>, Vec<&String>) = new.left_out.iter().partition(is_variadic);
    for (names, why) in [
        (others, "no contract says how"),
        (variadic, "variadic"),
        (new.refused.iter().collect(), "with these headers the call does not compile"),
    ] {
        if !names.is_empty() {
            let names: Vec<_> = names.iter().map(|name| printable(name)).collect();
            shown += &format!("it does not call {}: {why}\n", names.join(", "));
        }
    }
    let json = json!({
        "file": file, "functions": new.functions, "left_out": new.left_out, "refused": new.refused,
    });
    session.screen.result("driver-new", &json, || shown);
    Ok(ExitCode::Ok)
}

/// A new driver.
struct New {
    text: String,
    /// The number of functions that it calls; unknown for a program.
    functions: Option<usize>,
    left_out: Vec<String>,
    refused: Vec<String>,
    /// What to do with it, in words.
    next: String,
}

fn of_contracts(session: &Session, project: &Project, headers: &[String]) -> Result<New> {
    let root = project.root()?;
    if let Some(missing) = headers.iter().find(|header| !is_below(root, Utf8Path::new(header))) {
        let text = format!("there is no header {missing} below the root of the repository");
        return Err(Error::new(ErrorKind::Usage, text)
            .help("cargo implfuzz drivers --new NAME --header FILE, with a file of the repository"));
    }
    Ok(match drivers::from_contracts(project, headers, &session.interrupt)? {
        Some(NewDriver { text, called, headers, left_out, refused, .. }) => {
            let declared = headers.join(", ");
            let next = format!("functions of {declared} that it calls: {called}. Edit it if need be");
            New { text, functions: Some(called), left_out, refused, next }
        }
        None => New {
            text: EMPTY.to_owned(),
            functions: Some(0),
            left_out: Vec::new(),
            refused: Vec::new(),
            next: "no contract describes a public function, or no call of one compiles: fill it in"
                .to_owned(),
        },
    })
}

/// Whether this is a file of the repository that C can include.
fn is_below(root: &Utf8Path, path: &Utf8Path) -> bool {
    path.components().all(|part| matches!(part, Utf8Component::Normal(_)))
        && !path.as_str().contains(['"', '\\', '\n'])
        && !path.as_str().contains("*/")
        && root.join(path).is_file()
}

fn of_program(project: &Project, program: &Utf8Path) -> Result<String> {
    let root = project.root()?;
    let refuse = |why: &str| {
        Error::new(ErrorKind::Usage, format!("{program} cannot be run by a driver: {why}"))
            .help("cargo implfuzz drivers --new NAME --program FILE, with a file of the repository")
    };
    let (Some(name), true) = (program.file_stem(), is_below(root, program)) else {
        return Err(refuse("there is no such file below the root of the repository"));
    };
    if program.extension() != Some("c") {
        return Err(refuse("it is no C file, which ends in `.c`"));
    }
    let text = fs::read(root.join(program))?;
    if !defines_main(&String::from_utf8_lossy(&text)) {
        return Err(refuse("it has no `main`"));
    }
    if let Some(unit) = included_unit(project, root, program) {
        let why = format!("it includes {unit}, a C file of the library, which is linked as well");
        return Err(refuse(&why).help("a test that calls static functions in this way cannot be a driver"));
    }
    let text = OF_PROGRAM.replace("@PROGRAM@", program.as_str()).replace("@NAME@", name);
    Ok(text.replace("@PATH@", &format!("../{program}")))
}

/// A C file of the library that a program includes, also through another file.
fn included_unit(project: &Project, root: &Utf8Path, program: &Utf8Path) -> Option<String> {
    let folders = LibraryFlags::of_library(&project.library).folders;
    let texts = driver_texts(root.as_std_path(), &project.config, &folders, &[program.to_string()]);
    let included: Vec<_> = texts.keys().filter_map(|path| path.canonicalize().ok()).collect();
    let mut files = project.library.units.iter().map(|unit| &unit.file);
    let found =
        files.find(|file| root.join(&file.0).canonicalize().is_ok_and(|path| included.contains(&path)));
    found.map(ToString::to_string)
}

fn defines_main(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices("main").any(|(at, name)| {
        !text[..at].ends_with(is_word) && text[at + name.len()..].trim_start().starts_with('(')
    })
}

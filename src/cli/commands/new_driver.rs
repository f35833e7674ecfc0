//! `cargo implfuzz drivers --new`: skeletons of drivers.

use super::Session;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use serde_json::json;
use std::io::Write as _;

/// A driver that does nothing yet.
const EMPTY: &str = include_str!("../../../templates/driver.c");
/// A driver that runs a program.
const OF_PROGRAM: &str = include_str!("../../../templates/driver_of_program.c");
/// Where they are written.
const FOLDER: &str = "fuzz";

/// Writes a driver of this name, which runs a program if there is one.
pub fn write(session: &Session, root: &Utf8Path, name: &str, program: Option<&Utf8Path>) -> Result<ExitCode> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(is_plain) {
        let text = format!("`{name}` cannot be the name of a driver: letters, digits, `_` and `-` can");
        return Err(Error::new(ErrorKind::Usage, text).help("cargo implfuzz drivers --new NAME"));
    }
    let skeleton = match program {
        Some(program) => of_program(root, program)?,
        None => EMPTY.to_owned(),
    };
    let file = Utf8PathBuf::from(FOLDER).join(name).with_extension("c");
    let path = root.join(&file);
    fs::create_dir_all(root.join(FOLDER))?;
    if path.exists() {
        let text = format!("{file} is there, and stays as it is");
        return Err(Error::new(ErrorKind::Usage, text).help("choose another name"));
    }
    let mut new = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
    new.write_all(skeleton.as_bytes())?;
    let next = match program {
        Some(_) => "look at the arguments in it",
        None => "fill it in",
    };
    let text = format!("{file} written; {next}, then `cargo implfuzz drivers`\n");
    session.screen.result("driver-new", &json!({ "file": file }), || text);
    Ok(ExitCode::Ok)
}

fn of_program(root: &Utf8Path, program: &Utf8Path) -> Result<String> {
    let refuse = |why: &str| {
        Error::new(ErrorKind::Usage, format!("{program} cannot be run by a driver: {why}"))
            .help("cargo implfuzz drivers --new NAME --program FILE, with a file of the repository")
    };
    let is_inside = program.components().all(|part| matches!(part, camino::Utf8Component::Normal(_)));
    let (Some(name), true) = (program.file_stem(), is_inside) else {
        return Err(refuse("it is no path below the root of the repository"));
    };
    let path = root.join(program);
    if !path.is_file() {
        return Err(refuse("there is no such file"));
    }
    if program.extension() != Some("c") {
        return Err(refuse("it is no C file, which ends in `.c`"));
    }
    if !String::from_utf8_lossy(&fs::read(path)?).contains("main") {
        return Err(refuse("it has no `main`"));
    }
    if program.as_str().contains(['"', '\\', '\n']) || program.as_str().contains("*/") {
        return Err(refuse("C cannot include a file of this name"));
    }
    let text = OF_PROGRAM.replace("@PROGRAM@", program.as_str()).replace("@NAME@", name);
    Ok(text.replace("@PATH@", &format!("../{program}")))
}

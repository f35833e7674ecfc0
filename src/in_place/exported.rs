//! A driver's program for other machines: libFuzzer with the sanitised library, and the program that judges inside of it.
//! It needs no other file.

use super::build::Parts;
use super::corpus::Sanitised;
use super::driver::{Driver, Language};
use super::padding::{is_padded, padding_known_to};
use super::run::Number;
use crate::error::Result;
use crate::in_place::build_site::BuildSite;
use crate::platform::process::time_limits;
use crate::platform::workspace::write_atomic;
use crate::symbol::Library;
use camino::Utf8Path;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const FILES: [(&str, &str); 4] = [
    ("exported.h", include_str!("../../templates/in_place/exported.h")),
    ("exported.c", include_str!("../../templates/in_place/exported.c")),
    ("killed.h", include_str!("../../templates/in_place/killed.h")),
    ("exported.S", include_str!("../../templates/in_place/exported.S")),
];

/// What an exported program has besides its driver.
#[derive(Debug, Clone, Copy)]
pub struct Judging<'a> {
    /// The functions that have a port.
    pub ported: &'a BTreeSet<Number>,
    /// The program of the driver that judges.
    pub judge: &'a Path,
    /// Where inputs of the driver are committed, relative to the root.
    pub committed: &'a str,
}

impl Sanitised {
    /// Links the program of a driver for other machines.
    ///
    /// # Errors
    /// `C` if the driver does not compile or link, and Ctrl-C.
    pub fn exported(
        &self,
        driver: &Driver,
        judging: Judging,
        parts: Parts,
        place: BuildSite,
    ) -> Result<PathBuf> {
        for (name, text) in FILES {
            write_atomic(&place.dir.join(name), text.as_bytes())?;
        }
        let table = table(parts.library, driver, judging);
        write_atomic(&place.dir.join("exported_table.c"), table.as_bytes())?;
        let compile = |source: &str, more: &[String]| {
            let object = place.dir.join(format!("{source}-{}.o", driver.name));
            let job = place.compiler(Language::C).dir(place.dir).timeout(time_limits::COMPILE_OWN_C);
            let job = job.args(["-O1", "-w"]).args(more).args(["-c", "-o"]).arg(&object).arg(source);
            place.done(job, Utf8Path::new(source))?;
            Ok::<_, crate::error::Error>(object)
        };
        let judge = format!("-DJUDGE=\"{}\"", judging.judge.display());
        let around = [
            compile("exported.c", &[])?,
            compile("exported_table.c", &[])?,
            compile("exported.S", &[judge])?,
        ];
        self.linked(driver, &around, parts, place)
    }
}

/// What `exported.h` declares, in C.
fn table(library: &Library, driver: &Driver, judging: Judging) -> String {
    let (mut functions, mut stops) = (String::new(), String::new());
    for number in judging.ported {
        let function = &library.functions[*number];
        let padding = padding_known_to(library, function);
        let name = &function.name;
        writeln!(functions, "    {{{number}, \"{name}\", {padding}, port_differs_from_C_{name}}},")
            .expect("a String takes all text");
        writeln!(stops, "void port_differs_from_C_{name}(void) {{ abort(); }}")
            .expect("a String takes all text");
    }
    let padded = u8::from(library.globals.iter().any(|global| is_padded(library, &global.ty)));
    let count = judging.ported.len();
    format!(
        "#include \"exported.h\"\n#include <stdlib.h>\n\n{stops}\nconst struct exported implfuzz_exported[] = {{\n{functions}}};\n\
         const size_t implfuzz_exported_count = {count};\nconst int implfuzz_variables_are_padded = {padded};\n\
         const char implfuzz_driver_file[] = {:?}, implfuzz_committed[] = {:?};\n",
        driver.file.as_str(),
        judging.committed
    )
}

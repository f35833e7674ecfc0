//! The modules of the port crate as they are in the tree, or as they would be with a port that is being graded.

use super::Project;
use super::ported::{PortModule, Ported};
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::Function;
use fs_err as fs;
use std::rc::Rc;

impl Project {
    /// A module as it is in the tree now; it is parsed again only when its text has changed.
    pub fn module(&self, name: &str) -> Result<Rc<PortModule>> {
        if let Some((_, module)) = self.spliced.borrow().as_ref().filter(|(spliced, _)| spliced == name) {
            return Ok(Rc::clone(module));
        }
        let text = fs::read_to_string(self.module_path(name)).map_err(|error| {
            Error::new(ErrorKind::Io, error.to_string())
                .help("run `cargo implfuzz init` to write the missing files")
        })?;
        let mut known = self.modules.borrow_mut();
        if let Some(module) = known.get(name).filter(|module| module.text() == text) {
            return Ok(Rc::clone(module));
        }
        let module = Rc::new(PortModule::read(text));
        known.insert(name.to_owned(), Rc::clone(&module));
        Ok(module)
    }

    /// Does the work as if the module in the tree had this text.
    pub fn as_if<T>(&self, module: &str, text: &str, work: impl FnOnce() -> T) -> T {
        let spliced = (module.to_owned(), Rc::new(PortModule::read(text.to_owned())));
        self.spliced.replace(Some(spliced));
        let done = work();
        self.spliced.replace(None);
        done
    }

    /// Whether a function has a body in Rust in its module in the tree.
    pub fn ported(&self, function: &Function) -> Ported {
        self.module(&function.module).map_or(Ported::Missing, |module| module.state(function))
    }
}

//! A candidate that c2rust makes from the C text, before any model is asked.

use super::FunctionPort;
use crate::config::Maker;
use crate::error::{Error, ErrorKind, Result};
use crate::port::c2rust::{self, Text, Translation, Transpiler};
use crate::port::function::session::Session;
use crate::port::supervisor::Outcome;
use crate::symbol::Unit;
use std::rc::Rc;
use std::sync::Arc;

impl<'p> FunctionPort<'p> {
    /// The unit to translate; `None` where no source of the library has the function.
    pub fn unit(&mut self, session: &mut Session<'p>) -> Result<Option<(Arc<Transpiler>, Unit)>> {
        (self.translated, self.role) = (true, Maker::C2rust.word());
        self.say(session, "c2rust translates");
        let internal = || Error::new(ErrorKind::Internal, "c2rust should translate, but is not installed");
        let transpiler = session.transpiler.clone().ok_or_else(internal)?;
        let library = &session.project.library;
        let file = library.unit_of.get(&self.planned.function.key);
        let unit = library.units.iter().find(|unit| Some(&unit.file) == file).cloned();
        Ok(unit.map(|unit| (transpiler, unit)))
    }

    /// Takes the function out of its unit's text.
    pub fn translated(&mut self, session: &mut Session<'p>, text: Translation) -> Result<Outcome> {
        let read = || text.and_then(|text| Text::read(&text).map(Rc::new));
        let text = match session.project.library.unit_of.get(&self.planned.function.key) {
            Some(unit) => session.translated.entry(unit.clone()).or_insert_with(read).clone(),
            None => read(),
        };
        match text.and_then(|text| c2rust::fitted(session.project, self.planned, &text)) {
            Ok(candidate) => {
                session.models.keep_text(&self.planned.function.name, "00-c2rust.rs", &candidate)?;
                Ok(Outcome::CandidateReceived(candidate))
            }
            Err(why) => {
                self.say(session, format!("c2rust has no candidate: {why}"));
                Ok(Outcome::NotTranslated(why))
            }
        }
    }
}

//! A candidate that c2rust makes of the C text, before any model is asked.

use super::{Attempting, Done, Progress};
use crate::config::Maker;
use crate::error::{Error, ErrorKind, Result};
use crate::port::pool::Need;
use crate::port::session::Session;
use crate::port::supervisor::Outcome;
use crate::transpile::{self, Text, Translation};
use std::rc::Rc;

impl<'p> Attempting<'p> {
    pub(super) fn translate(&mut self, run: &mut Session<'p>) -> Result<Progress<'p>> {
        (self.translated, self.role) = (true, Maker::C2rust.word());
        self.say(run, "c2rust translates");
        let internal = || Error::new(ErrorKind::Internal, "c2rust was to translate, and is not there");
        let transpiler = run.transpiler.clone().ok_or_else(internal)?;
        let library = &run.project.library;
        let file = library.unit_of.get(&self.planned.function.key);
        let Some(unit) = library.units.iter().find(|unit| Some(&unit.file) == file).cloned() else {
            return Ok(self.untranslated(run, "no source of the library has it".into()));
        };
        let stop = run.stop.clone();
        let job = move |_: &dyn Fn(_), _| Done::Translated(transpiler.unit(&unit, &stop));
        Ok(Progress::Job(Need::Core, Box::new(job)))
    }

    /// The text of the whole unit, of which the function is taken.
    pub(super) fn translated(&mut self, run: &mut Session<'p>, text: Translation) -> Result<Progress<'p>> {
        let read = || text.and_then(|text| Text::read(&text).map(Rc::new));
        let text = match run.project.library.unit_of.get(&self.planned.function.key) {
            Some(unit) => run.translated.entry(unit.clone()).or_insert_with(read).clone(),
            None => read(),
        };
        let fitted = text.and_then(|text| transpile::fitted(run.project, self.planned, &text));
        Ok(match fitted {
            Ok(candidate) => {
                run.desk.keep_text(&self.planned.function.name, &candidate)?;
                Progress::Outcome(Outcome::CandidateReceived(candidate))
            }
            Err(why) => self.untranslated(run, why),
        })
    }

    fn untranslated(&mut self, run: &mut Session<'p>, why: String) -> Progress<'p> {
        self.say(run, format!("c2rust has no candidate: {why}"));
        Progress::Outcome(Outcome::NotTranslated(why))
    }
}

//! Questions other than those for ports: about contracts, fuzz targets, and inputs on which C breaks. Each is a step of the
//! trace. `proposals` and `feasibility` decide what to ask and what becomes of the answers.

use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::llm::Reply;
use crate::llm::model_session::{self, Caller, ModelSession, Traced, rank_of};
use crate::platform::process::Interrupt;
use crate::platform::workspace::Trial;
use crate::port::prompt::sources::context;
use crate::port::prompt::{Question, Templates};
use crate::port::step_trace::{Taking, ended_by};
use crate::project::{FunctionPlan, Project};
use crate::store::{NewStep, Store};
use crate::symbol::SymbolName;

/// The repository, as it is open now.
pub type Opened = (Project, Store);

/// Reads the library again, as every added or removed contract requires: with this tentative file, or without.
pub type Reopen<'a> = &'a dyn Fn(Option<&Trial>, &mut dyn Reporter) -> Result<Opened>;

/// The repository after an attempt, and its result: `Err` says why the attempt failed.
pub type Tried<T> = (Opened, std::result::Result<T, String>);

/// The means to ask a model and to evaluate its answer.
pub struct Inquiry<'a> {
    pub models: &'a mut ModelSession,
    pub templates: &'a Templates,
    pub reopen: Reopen<'a>,
    pub interrupt: &'a Interrupt,
    pub reporter: &'a mut dyn Reporter,
    /// How many questions may wait for a model at once.
    pub jobs: usize,
}

impl Inquiry<'_> {
    /// Asks once; the inner `Err` says why no model is asked again.
    pub fn ask(
        &mut self,
        project: &Project,
        store: &mut Store,
        planned: &FunctionPlan,
        question: Question,
        attempt: u32,
        problem: Option<&str>,
    ) -> Result<std::result::Result<Reply, String>> {
        let answers = self.ask_all((project, store), vec![(planned, question)], attempt, problem)?;
        Ok(answers.into_iter().next().expect("one question has one answer"))
    }

    /// As [`Self::ask`], for several functions, of which up to `jobs` wait for a model at a time.
    pub fn ask_all(
        &mut self,
        (project, store): (&Project, &mut Store),
        questions: Vec<(&FunctionPlan, Question)>,
        attempt: u32,
        problem: Option<&str>,
    ) -> Result<Vec<std::result::Result<Reply, String>>> {
        let mut prompts = Vec::new();
        for (planned, question) in &questions {
            let context = context(project, planned)?;
            let max_tokens = self.models.max_tokens(question.role(), rank_of(attempt));
            prompts.push(self.templates.prompt(&context, question, problem, "", attempt, max_tokens)?);
        }
        let (mut asked, mut taken) = (Vec::new(), Vec::new());
        for ((planned, question), prompt) in questions.iter().zip(prompts) {
            let function = &planned.function;
            self.say(&function.name, attempt, format!("asking the {}", question.role()));
            let taking = Taking::begin(
                store,
                &NewStep {
                    run: self.models.id,
                    symbol: &function.key,
                    phase: question.phase().word(),
                    step: &format!("ask-{}", question.role()),
                    why: &question.why(problem),
                },
            )?;
            let traced = Traced { phase: Some(question.phase()), step: Some(taking.id) };
            asked.push(model_session::Question { function, traced, prompt });
            taken.push(taking);
        }
        let caller = Caller { store: &mut *store, reporter: &mut *self.reporter, interrupt: self.interrupt };
        let answers = self.models.ask_all(caller, asked, self.jobs);
        for (at, taking) in taken.into_iter().enumerate() {
            let (word, detail) = match &answers {
                Ok(answers) => match &answers[at] {
                    Ok(_) => ("answered", String::new()),
                    Err(why) => ("no-answer", why.clone()),
                },
                Err(error) => ended_by(error),
            };
            taking.end(store, (word, &detail))?;
        }
        answers
    }

    pub fn say(&mut self, name: &SymbolName, attempt: u32, step: String) {
        self.reporter.event(Event::SymbolStep { symbol: name.clone(), attempt, step });
    }
}

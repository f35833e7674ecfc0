//! Questions outside of the port of one function: their callers wait for the answers.

use super::{ModelSession, Traced, rank_of};
use crate::error::{ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::llm::{ModelError, Prompt, Reply, ask_all};
use crate::platform::process::Interrupt;
use crate::store::Store;
use crate::symbol::Function;
use std::collections::{BTreeMap, VecDeque};

/// Who asks outside of the port of one function: where exchanges are kept, and who hears of them.
pub struct Caller<'a> {
    pub store: &'a mut Store,
    pub reporter: &'a mut dyn Reporter,
    pub interrupt: &'a Interrupt,
}

/// A question outside of the port of one function.
pub struct Question<'a> {
    pub function: &'a Function,
    pub traced: Traced,
    pub prompt: Prompt,
}

/// What a question led to: the answer, or why there is none, and the answer that was cut off before it.
type Answered = (std::result::Result<Reply, String>, Option<Reply>);

impl ModelSession {
    /// Asks and waits, for questions outside of the port of one function: the first one the role's cheapest model, each further
    /// one the next. The inner `Err` says why there is no answer. What is cut off is asked for once more with more room; where that gets
    /// no answer, there is none: half a text is of no use.
    ///
    /// # Errors
    /// Those of the model and the store, and Ctrl-C.
    pub fn ask(&mut self, caller: Caller, question: Question) -> Result<std::result::Result<Reply, String>> {
        self.answer(caller, question).map(|(answer, _)| answer)
    }

    /// As [`ModelSession::ask`], where a part is better than nothing: what was cut off is the answer where nothing longer is to be had.
    ///
    /// # Errors
    /// Those of the model and the store, and Ctrl-C.
    pub fn ask_for_parts(
        &mut self,
        caller: Caller,
        question: Question,
    ) -> Result<std::result::Result<Reply, String>> {
        let function = question.function;
        let (answer, cut_off) = self.answer(caller, question)?;
        if answer.is_err() && cut_off.is_some() {
            self.unanswered.remove(&function.key);
        }
        Ok(answer.or_else(|why| cut_off.ok_or(why)))
    }

    /// As [`ModelSession::ask`], for several questions. Up to `jobs` of them wait for an answer at once.
    ///
    /// # Errors
    /// Those of the model and the store, and Ctrl-C.
    pub fn ask_all(
        &mut self,
        caller: Caller,
        questions: Vec<Question>,
        jobs: usize,
    ) -> Result<Vec<std::result::Result<Reply, String>>> {
        let answers = self.answers(caller, questions, jobs)?;
        Ok(answers.into_iter().map(|(answer, _)| answer).collect())
    }

    fn answer(&mut self, caller: Caller, question: Question) -> Result<Answered> {
        let answers = self.answers(caller, vec![question], 1)?;
        Ok(answers.into_iter().next().expect("each question has an answer, or a reason why not"))
    }

    /// The answers in the order of the questions.
    fn answers(&mut self, caller: Caller, questions: Vec<Question>, jobs: usize) -> Result<Vec<Answered>> {
        let Caller { store, reporter, interrupt } = caller;
        for question in &questions {
            self.unanswered.remove(&question.function.key);
        }
        let mut done: BTreeMap<usize, Answered> = BTreeMap::new();
        let mut open: VecDeque<_> =
            questions.into_iter().map(|question| (question, None)).enumerate().collect();
        while !open.is_empty() {
            let (mut asked, mut permitted) = (Vec::new(), Vec::new());
            while asked.len() < jobs.max(1)
                && let Some((at, (question, cut_off))) = open.pop_front()
            {
                let chosen = self.model(&question.prompt, rank_of(question.prompt.attempt))?;
                match self.budget.permit(question.prompt.clone(), &chosen.settings.prices) {
                    Ok(permit) => {
                        permitted.push((chosen, permit));
                        asked.push((at, question, cut_off));
                    }
                    Err(error) if error.kind() != ErrorKind::Budget => return Err(error),
                    // There may be room once the others have ended.
                    Err(_) if !asked.is_empty() => {
                        open.push_front((at, (question, cut_off)));
                        break;
                    }
                    Err(error) => {
                        done.insert(at, (Err(self.silent(question.function, true, &error)), cut_off));
                    }
                }
            }
            let exchanges = ask_all(permitted, interrupt, |text| reporter.event(Event::Note { text }));
            let mut failed = None;
            for ((at, question, cut_off), exchange) in asked.into_iter().zip(exchanges) {
                let rank = rank_of(question.prompt.attempt);
                // An error here must not lose the other answers, which are paid for.
                if let Err(error) =
                    self.heard(store, reporter, question.function, &exchange, rank, question.traced)
                {
                    failed.get_or_insert(error);
                    continue;
                }
                if let Some(prompt) = exchange.longer() {
                    open.push_front((at, (Question { prompt, ..question }, exchange.reply.ok())));
                    continue;
                }
                let answer = match exchange.reply {
                    // Recordings of ports need not have one of this.
                    Err(ModelError::NoRecording { .. }) => Err("no answer was recorded".into()),
                    Err(ModelError::Interrupted) => {
                        failed.get_or_insert(ModelError::Interrupted.into());
                        continue;
                    }
                    // The run has other work, which a model that fails here does not undo.
                    Err(error) => Err(self.silent(question.function, false, &error)),
                    Ok(reply) => Ok(reply),
                };
                done.insert(at, (answer, cut_off));
            }
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Ok(done.into_values().collect())
    }
}

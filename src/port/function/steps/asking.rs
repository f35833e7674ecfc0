//! Questions to a model, and its replies.

use super::{FunctionPort, Room};
use crate::error::{ErrorKind, Result};
use crate::llm::{self, Blocks, Exchange, Label, ModelError, Prompt, Reply, StopReason};
use crate::port::function::session::Session;
use crate::port::prompt::Question;
use crate::port::supervisor::{Outcome, Step};

impl<'p> FunctionPort<'p> {
    /// The question that the supervisor wants asked.
    pub fn prompt(&mut self, session: &mut Session<'p>, step: &Step) -> Result<Prompt> {
        let memory = self.recall(session)?;
        let candidate = self.state.candidate().unwrap_or_default();
        let (problem, repeated) = match step {
            Step::AskEnhancer { repeated, reply_problem, .. } => (reply_problem, Some(*repeated)),
            Step::AskPrototyper { reply_problem } => (reply_problem, None),
            _ => (&None, None),
        };
        let question = match (&self.feedback, repeated) {
            (Some(feedback), Some(repeated)) => Question::Enhance { candidate, feedback, repeated },
            _ => Question::Prototype,
        };
        let (role, problem, enhance) = (question.role(), problem.as_deref(), repeated.is_some());
        let number = self.questions[usize::from(enhance)] + 1;
        let max_tokens = session.models.max_tokens(role, self.state.rank());
        let prompt =
            session.templates.prompt(&self.context, &question, problem, &memory, number, max_tokens)?;
        self.questions[usize::from(enhance)] = number;
        self.role = role;
        self.say(session, format!("asking the {role}"));
        Ok(prompt)
    }

    /// Checks whether the budget allows a question, and if so reserves its cost.
    pub fn permit(&mut self, session: &mut Session<'p>, prompt: Prompt) -> Result<Room> {
        let chosen = session.models.model(&prompt, self.state.rank())?;
        let prices = &chosen.settings.prices;
        match session.models.budget.permit(prompt.clone(), prices) {
            Ok(permit) => Ok(Room::Now(chosen, permit)),
            Err(error) if error.kind() != ErrorKind::Budget => Err(error),
            Err(_) if session.models.budget.may_admit_later(&prompt, prices) => Ok(Room::Later),
            Err(error) => {
                session.exhausted =
                    session.transpiler.is_none() && !session.models.admits_others(&prompt, "prototyper");
                let help = error.help_text().unwrap_or_default();
                self.trouble = format!("{error}; {help}");
                self.say(session, error.to_string());
                Ok(Room::Never)
            }
        }
    }

    /// Charges and stores an exchange, and reads its reply. A reply truncated for the first time is not used.
    pub fn answered(&mut self, session: &mut Session<'p>, exchange: Exchange) -> Result<Outcome> {
        let Session { models, store, reporter, .. } = session;
        let (rank, traced) = self.traced();
        models.heard(store, *reporter, &self.planned.function, &exchange, rank, traced)?;
        if exchange.reply.is_ok() {
            session.unanswered = 0;
        }
        if exchange.longer().is_some() {
            return Ok(Outcome::ModelTruncated);
        }
        let reply = match exchange.reply {
            Err(error @ ModelError::TimedOut { .. }) => {
                return Ok(self.unanswered(session, &error, Outcome::ModelTimedOut));
            }
            Err(error) if error.is_about_the_request() => {
                return Ok(self.unanswered(session, &error, Outcome::ModelFailed));
            }
            reply => reply?,
        };
        self.model.clone_from(&reply.model);
        if let Some(trouble) = trouble(&reply, exchange.prompt.max_tokens) {
            self.say(session, trouble.clone());
            self.trouble = trouble;
        }
        let outcome = read(&reply);
        if let Outcome::ReplyUnusable(problem) = &outcome {
            self.say(session, format!("the reply cannot be used: {problem}"));
        }
        self.claim(&outcome, &reply);
        Ok(outcome)
    }

    fn unanswered(&mut self, session: &mut Session<'p>, error: &ModelError, outcome: Outcome) -> Outcome {
        self.trouble = match error.advice() {
            Some(advice) => format!("{error}; {advice}"),
            None => error.to_string(),
        };
        self.say(session, error.to_string());
        outcome
    }
}

/// The problem of a reply that is no answer.
fn trouble(reply: &Reply, max_tokens: u64) -> Option<String> {
    Some(match reply.stop {
        StopReason::Refusal if reply.text.trim().is_empty() => {
            "the model refused without giving a reason".into()
        }
        StopReason::Refusal => format!("the model refused: {}", llm::excerpt(&reply.text)),
        StopReason::MaxTokens => {
            format!(
                "the reply was cut off twice, the second time after {max_tokens} tokens; raise llm.max_tokens"
            )
        }
        StopReason::ContextWindow => {
            "the reply was cut off because the model's context was full; use a model with a larger one".into()
        }
        StopReason::Pause => "the provider paused before the reply was complete; try again".into(),
        _ => return None,
    })
}

fn read(reply: &Reply) -> Outcome {
    if reply.stop == StopReason::Refusal {
        return Outcome::ModelRefused;
    }
    if reply.stop.is_truncated() {
        return Outcome::ModelTruncated;
    }
    match Blocks::parse(&reply.text, &[Label::Implementation]) {
        Ok(Blocks { implementation: Some(text), .. }) => Outcome::CandidateReceived(text),
        Ok(_) => Outcome::ReplyUnusable("The reply has no implementation.".into()),
        Err(problem) => Outcome::ReplyUnusable(problem.to_string()),
    }
}

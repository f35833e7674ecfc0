//! Questions to a model, and what its replies are.

use super::{Attempting, Done, Progress};
use crate::error::{ErrorKind, Result};
use crate::llm::{self, Asker, Blocks, Exchange, Label, Prompt, Reply, StopReason};
use crate::port::pool::{Need, Told};
use crate::port::prompt::Question;
use crate::port::session::Session;
use crate::port::supervisor::Outcome;

impl<'p> Attempting<'p> {
    pub(super) fn ask(
        &mut self,
        run: &mut Session<'p>,
        enhance: bool,
        repeated: bool,
        problem: Option<&str>,
    ) -> Result<Progress<'p>> {
        let memory = self.recall(run)?;
        let candidate = self.state.candidate().unwrap_or_default().to_owned();
        let question = match (&self.feedback, enhance) {
            (Some(feedback), true) => Question::Enhance { candidate: &candidate, feedback, repeated },
            _ => Question::Prototype,
        };
        let role = question.role();
        let number = self.questions[usize::from(enhance)] + 1;
        let max_tokens = run.desk.max_tokens(role, self.state.rank());
        let prompt =
            run.desk.templates.prompt(&self.context, &question, problem, &memory, number, max_tokens)?;
        let progress = self.send(run, prompt)?;
        if !matches!(progress, Progress::Room) {
            self.questions[usize::from(enhance)] = number;
            self.role = role;
            self.say(run, format!("asking the {role}"));
        }
        Ok(progress)
    }

    /// Sends a prompt that the budget has room for.
    fn send(&mut self, run: &mut Session<'p>, prompt: Prompt) -> Result<Progress<'p>> {
        let rank = self.state.rank();
        let chosen = run.desk.model(&prompt, rank)?;
        let permit = match run.desk.budget.permit(prompt.clone(), &chosen.settings.prices) {
            Ok(permit) => permit,
            Err(error) if error.kind() == ErrorKind::Budget => {
                if run.desk.budget.may_admit_later(&prompt, &chosen.settings.prices) {
                    return Ok(Progress::Room);
                }
                run.exhausted = run.transpiler.is_none() && !run.desk.admits_others(&prompt);
                let help = error.help_text().unwrap_or_default();
                self.trouble = format!("{error}; {help}");
                self.say(run, error.to_string());
                return Ok(Progress::Outcome(Outcome::BudgetExhausted));
            }
            Err(error) => return Err(error),
        };
        let stop = run.stop.clone();
        let job = move |tell: &dyn Fn(Told), _| {
            let asker = Asker { interrupt: &stop, tell: &|text| tell(Told::Step(text)) };
            Done::Asked(Box::new(llm::ask(&chosen, permit, &asker)))
        };
        Ok(Progress::Job(Need::Patience, Box::new(job)))
    }

    /// The answer; what was cut off is asked for once more.
    pub(super) fn asked(&mut self, run: &mut Session<'p>, exchange: Exchange) -> Result<Progress<'p>> {
        run.heard(&self.planned.function, &exchange, &self.asking())?;
        match exchange.longer() {
            Some(longer) => self.send(run, longer),
            None => {
                let reply = exchange.reply?;
                self.model.clone_from(&reply.model);
                if let Some(trouble) = trouble(&reply, exchange.prompt.max_tokens) {
                    self.say(run, trouble.clone());
                    self.trouble = trouble;
                }
                let outcome = read(&reply);
                if let Outcome::ReplyUnusable(problem) = &outcome {
                    self.say(run, format!("the reply cannot be used: {problem}"));
                }
                self.claim(&outcome, &reply);
                Ok(Progress::Outcome(outcome))
            }
        }
    }
}

/// What there is to say of a reply that is no answer.
fn trouble(reply: &Reply, max_tokens: u64) -> Option<String> {
    Some(match reply.stop {
        StopReason::Refusal if reply.text.trim().is_empty() => "the model refused without a word".into(),
        StopReason::Refusal => format!("the model refused: {}", llm::excerpt(&reply.text)),
        StopReason::MaxTokens => {
            format!(
                "the reply was cut off twice, the second time after {max_tokens} tokens; raise llm.max_tokens"
            )
        }
        StopReason::ContextWindow => {
            "the reply was cut off where the model's context was full; take a model with a larger one".into()
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

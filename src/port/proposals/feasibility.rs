//! Inputs on which C itself crashes or hangs: a model explains why, and whether a caller can cause it. If none can,
//! the proposed precondition is tested against C, and the function is judged again under it. Faults that triage
//! resolves itself do not come here.

use crate::contract::file;
use crate::contract::proposal::{folded, is_inequality};
use crate::contract::types::Contract;
use crate::error::Result;
use crate::evidence::grade;
use crate::fuzz::campaign::Campaign;
use crate::fuzz::held_back::HeldBack;
use crate::judge::Judge;
use crate::llm::Blocks;
use crate::llm::model_session::{ModelSession, rank_of};
use crate::platform::workspace::Trial;
use crate::port::prompt::Question;
use crate::port::prompt::sources::Facts;
use crate::port::proposals::inquiry::{Inquiry, Opened, Tried};
use crate::port::proposals::is_complete;
use crate::project::{FunctionPlan, Project};
use crate::store::{FindingRow, Side, Store};
use crate::symbol::SymbolName;
use crate::verdict::{CFault, CFaultKind, Reachability};
use serde::Deserialize;

/// Number of lines of an answer that are stored.
const LINES: usize = 8;

/// The handling of inputs on which C crashes or hangs.
struct Feasibility<'i, 'a>(&'i mut Inquiry<'a>);

/// The meaning of a reply.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// The verdict, the notes, and the preconditions of a function that must never be called so.
    Said(Reachability, String, Vec<String>),
    Unusable(String),
}

/// The block of a reply with the verdict. Older replies have `require` alone, which says that callers cannot cause it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decided {
    feasible: Option<bool>,
    reachable: Option<bool>,
    security: Option<bool>,
    #[serde(default)]
    evidence: Vec<String>,
    #[serde(default)]
    require: Vec<String>,
}

/// The findings to ask about: unexplained crashes and hangs of C, those of this run first.
fn open_findings(store: &Store, planned: &FunctionPlan, models: &ModelSession) -> Result<Vec<FindingRow>> {
    let mut rows = store.findings(Some(&planned.function.key))?;
    let is_open = |row: &FindingRow| {
        let fault = matches!(row.fault, Some(CFaultKind::Breaks | CFaultKind::Hangs));
        row.side == Side::C && fault && row.explanation.is_none()
    };
    rows.retain(is_open);
    rows.sort_by_key(|row| row.run != Some(models.id));
    Ok(rows)
}

/// Asks about each of `names` in turn, and returns those whose contract is narrower now.
///
/// # Errors
/// Those of models, of the store and of running the fuzz process, and Ctrl-C; a spent budget ends the asking, no more.
pub fn ask(inquiry: &mut Inquiry, opened: Opened, names: &[SymbolName]) -> Result<(Opened, Vec<SymbolName>)> {
    let mut narrowed = Vec::new();
    let opened = inquiry.each(opened, names, "C fault", |inquiry, opened, name| {
        Feasibility(inquiry).one(opened, name, &mut narrowed)
    })?;
    Ok((opened, narrowed))
}

impl Feasibility<'_, '_> {
    /// Handles one function; the inner `Err` says why there is no result.
    fn one(
        &mut self,
        mut opened: Opened,
        name: &SymbolName,
        narrowed: &mut Vec<SymbolName>,
    ) -> Result<Tried<String>> {
        let planned = opened.0.find(name.as_str())?.clone();
        let Some(row) = self.open_finding(&opened, &planned)? else {
            return Ok((opened, Ok("there is nothing to ask about".to_owned())));
        };
        let explanation = match self.explanation(&mut opened, &planned, &row)? {
            Ok(text) => text,
            Err(why) => return Ok((opened, Err(why))),
        };
        let (mut problem, mut last): (Option<String>, Option<String>) = (None, None);
        let mut is_answered = false;
        for attempt in 1..=self.0.models.questions("feasibility", &opened.0.config.limits) {
            let facts = Facts::of(&opened.0, &planned);
            let (sites, candidate) = (&facts.sites[..], last.as_deref());
            let question = Question::Feasibility { row: &row, explanation: &explanation, sites, candidate };
            let problem_now = problem.as_deref();
            let asked = self.0.ask(&opened.0, &mut opened.1, &planned, question, attempt, problem_now);
            let reply = match asked? {
                Ok(reply) => reply,
                Err(why) => return Ok((opened, Err(why))),
            };
            last = Some(reply.text.clone());
            is_answered = is_complete(&reply);
            let answer = match is_answered {
                true => read(&reply.text),
                false => Answer::Unusable("The reply was not complete.".into()),
            };
            let (said, notes, require) = match answer {
                Answer::Said(said, notes, require) => (said, notes, require),
                Answer::Unusable(why) => {
                    problem = Some(why);
                    continue;
                }
            };
            let so = match (said.feasible, require.is_empty()) {
                (true, _) => "callers can cause it:".to_owned(),
                (false, true) => {
                    "callers must not call it like this, but no precondition can express that".to_owned()
                }
                (false, false) => format!("callers must not call it like this: {}", require.join("; ")),
            };
            let text = format!("{explanation}\n{so}\n{notes}");
            if require.is_empty() {
                opened.1.explain(row.id, (text.trim(), Some(&said)))?;
                return Ok((opened, Ok(so.trim_end_matches(':').to_owned())));
            }
            let is_a_persons = planned.judgeable.contract().is_some_and(|c| c.proposed_by.is_none());
            if planned.edited && is_a_persons {
                // A contract that a person wrote is never overwritten.
                opened.1.explain(row.id, (text.trim(), Some(&said)))?;
                return Ok((
                    opened,
                    Err(format!("a person wrote the contract; a model would add: {}", require.join("; "))),
                ));
            }
            let (after, tried) = self.try_out(opened, &planned, &row, require, attempt)?;
            opened = after;
            match tried {
                Ok(()) => {
                    opened.1.explain(row.id, (text.trim(), Some(&said)))?;
                    let text = format!(
                        "C confirms the precondition; read it, then: cargo implfuzz contract --approve {name}"
                    );
                    narrowed.push(name.clone());
                    return Ok((opened, Ok(text)));
                }
                Err(why) => {
                    self.0.say(name, 1, format!("C does not confirm the precondition: {why}"));
                    problem = Some(why);
                }
            }
        }
        // Stored only now: a run that ends earlier, or gets no whole answer, leaves the question open.
        if is_answered {
            opened.1.explain(row.id, (&explanation, None))?;
        }
        Ok((opened, Err(format!("asking about it gave no result: {}", problem.unwrap_or_default()))))
    }

    /// The finding to ask about. A finding of an earlier run, which ended before it asked, is replayed first: C or
    /// the contract may have changed, so only a current fault counts, as it is now.
    fn open_finding(
        &mut self,
        (project, store): &Opened,
        planned: &FunctionPlan,
    ) -> Result<Option<FindingRow>> {
        for row in open_findings(store, planned, self.0.models)? {
            if row.run == Some(self.0.models.id) {
                return Ok(Some(row));
            }
            let campaign = self.campaign(project, planned, "wider")?;
            let still = campaign.c_alone(&row.finding.input, self.0.interrupt)?;
            let still = still.filter(|found| matches!(found.kind, CFaultKind::Breaks | CFaultKind::Hangs));
            if let Some(CFault { kind, finding, report }) = still {
                return Ok(Some(FindingRow { finding, fault: Some(kind), report, ..row }));
            }
        }
        Ok(None)
    }

    /// Why C crashes, in the words of the first model that answers; the inner `Err` says why none does.
    fn explanation(
        &mut self,
        opened: &mut Opened,
        planned: &FunctionPlan,
        row: &FindingRow,
    ) -> Result<std::result::Result<String, String>> {
        let models = u32::try_from(self.0.models.ranks("crash-analyzer")).unwrap_or(u32::MAX).max(1);
        let mut attempt = 1;
        loop {
            let question = Question::Crash { row };
            match self.0.ask(&opened.0, &mut opened.1, planned, question, attempt, None)? {
                Ok(reply) if attempt < models && !is_complete(&reply) => attempt += 1,
                answer => return Ok(answer.map(|reply| notes(&reply.text))),
            }
        }
    }

    /// Puts the narrower contract into the tree, where it stays only if C passes the test under it.
    fn try_out(
        &mut self,
        (project, store): Opened,
        planned: &FunctionPlan,
        row: &FindingRow,
        require: Vec<String>,
        attempt: u32,
    ) -> Result<Tried<()>> {
        let Some(old) = planned.judgeable.contract() else {
            return Ok(((project, store), Err("there is no contract to narrow".into())));
        };
        let contract = match self.narrower(old, require, attempt) {
            Ok(contract) => contract,
            Err(why) => return Ok(((project, store), Err(why))),
        };
        let path = project.contract_path(contract.symbol.as_str());
        let wider = Judge::new(&project, self.0.interrupt).held_back(planned)?;
        let accepted = self.campaign(&project, planned, "wider")?.accepted(self.0.interrupt)?;
        if accepted.is_empty() {
            return Ok(((project, store), Err("C accepted no input that could contradict it".into())));
        }
        let with = |contract: &Contract| Trial { path: path.clone(), text: file::proposed(contract) };
        let name = &contract.symbol;
        let trial = with(&contract);
        self.0.try_out((project, store), name, "try-precondition", &trial, |inquiry, mut opened| {
            let mut this = Feasibility(inquiry);
            if let Err(why) = this.bears_out(&opened.0, name, row, &accepted, wider)? {
                return Ok(Err(why));
            }
            let folded = folded(&contract);
            if folded != contract {
                drop(opened);
                opened = (this.0.reopen)(Some(&with(&folded)), this.0.reporter)?;
            }
            Ok(this.is_sound(&mut opened, name)?.map(|()| opened))
        })
    }

    fn narrower(
        &self,
        old: &Contract,
        require: Vec<String>,
        attempt: u32,
    ) -> std::result::Result<Contract, String> {
        let model = self.0.models.name("feasibility", rank_of(attempt));
        let require = old.require.iter().cloned().chain(require).collect();
        let contract = Contract { require, proposed_by: Some(model), ..old.clone() };
        file::parse(&file::render(&contract), "the contract").map_err(|error| error.to_string())
    }

    fn campaign(&self, project: &Project, planned: &FunctionPlan, name: &str) -> Result<Campaign> {
        let judge = Judge::new(project, self.0.interrupt);
        Ok(judge.campaign(&judge.build_beside(name, &[planned], &[])?, planned))
    }

    /// Whether the contract now excludes the input, and no input that C accepts.
    fn bears_out(
        &mut self,
        project: &Project,
        name: &SymbolName,
        row: &FindingRow,
        accepted: &[Vec<u8>],
        wider: HeldBack,
    ) -> Result<std::result::Result<(), String>> {
        let planned = project.find(name.as_str())?;
        let campaign = self.campaign(project, planned, "narrower")?;
        if !campaign.is_ruled_out(&row.finding.input, self.0.interrupt)? {
            return Ok(Err("the input on which C breaks is still allowed".into()));
        }
        let hidden = Hidden([wider, Judge::new(project, self.0.interrupt).held_back(planned)?]);
        let Some(input) = campaign.first_ruled_out(&hidden.last(accepted), self.0.interrupt)? else {
            return Ok(Ok(()));
        };
        let why = "C works on an input that is excluded";
        if hidden.holds(&input) {
            return Ok(Err(format!("{why}; no prompt may show which one")));
        }
        let (args, _) = campaign.show(&input, self.0.interrupt)?;
        let args: Vec<String> = args.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        Ok(Err(format!("{why}: {}", args.join(", "))))
    }

    /// Whether C still agrees with itself under the contract, and enough mutants are killed. The share of accepted
    /// inputs does not matter here.
    fn is_sound(
        &mut self,
        opened: &mut Opened,
        name: &SymbolName,
    ) -> Result<std::result::Result<(), String>> {
        let adequacy = match self.0.measured(opened, name)? {
            Ok(adequacy) => adequacy,
            Err(why) => return Ok(Err(why)),
        };
        if let Some(what) = &adequacy.difference {
            return Ok(Err(format!("C differs from itself: {what}")));
        }
        Ok(grade::kills(&adequacy.kills(), &opened.0.config.grade).map_or(Ok(()), Err))
    }
}

/// Inputs that no prompt may show: the hidden gate of a port may use the old or the new contract.
struct Hidden([HeldBack; 2]);

impl Hidden {
    fn holds(&self, input: &[u8]) -> bool {
        self.0.iter().any(|held_back| held_back.holds(input))
    }

    /// The inputs, with held-back ones last, because an input that a prompt may show is more useful.
    fn last(&self, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let (hidden, shown): (Vec<_>, Vec<_>) = inputs.iter().cloned().partition(|input| self.holds(input));
        [shown, hidden].concat()
    }
}

/// The notes of a reply, in a few lines.
fn notes(text: &str) -> String {
    let blocks = Blocks::parse(text, &[]).unwrap_or_default();
    let text = blocks.notes.unwrap_or_else(|| text.to_owned());
    text.trim().lines().take(LINES).collect::<Vec<_>>().join("\n")
}

fn read(reply: &str) -> Answer {
    let text = match Blocks::parse(reply, &[]) {
        Ok(Blocks { verdict: Some(text), .. } | Blocks { contract: Some(text), .. }) => text,
        Ok(_) => return Answer::Unusable("The reply has no block ```toml verdict.".into()),
        Err(problem) => return Answer::Unusable(problem.to_string()),
    };
    let said = match toml::from_str::<Decided>(&text) {
        Ok(said) => said,
        Err(error) => return Answer::Unusable(format!("The verdict: {error}")),
    };
    let feasible = match (said.feasible, said.require.as_slice()) {
        (Some(true), [_, ..]) => {
            return Answer::Unusable("`require` is for what must never be called so.".into());
        }
        (Some(feasible), []) => feasible,
        (_, [rule]) if is_inequality(rule) => false,
        (_, [_, ..]) => {
            return Answer::Unusable(
                "`require` must be one comparison with <, <=, > or >=, without `&&`, `||` and `!`.".into(),
            );
        }
        (None, []) => return Answer::Unusable("The verdict has no `feasible`.".into()),
    };
    let is_place = |text: &String| text.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok());
    if said.require.is_empty() && !said.evidence.iter().any(is_place) {
        return Answer::Unusable("`evidence` names no place of the text, as in [\"file.c:12\"].".into());
    }
    let Decided { reachable, security, evidence, require, .. } = said;
    Answer::Said(Reachability { feasible, reachable, security, evidence }, notes(reply), require)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_verdict_with_evidence_decides() {
        let verdict =
            |toml: &str| read(&format!("```toml verdict\n{toml}\n```\n\n```text notes\nAny.\n```\n"));
        let said = |feasible, reachable, security, evidence: &[&str]| Reachability {
            feasible,
            reachable,
            security,
            evidence: evidence.iter().map(|place| (*place).to_owned()).collect(),
        };
        let full = verdict("feasible = true\nreachable = true\nsecurity = false\nevidence = [\"pick.h:4\"]");
        let expected = said(true, Some(true), Some(false), &["pick.h:4"]);
        assert_eq!(full, Answer::Said(expected, "Any.".into(), vec![]));
        let never = verdict("feasible = false\nevidence = [\"pick.c:7\"]");
        assert_eq!(never, Answer::Said(said(false, None, None, &["pick.c:7"]), "Any.".into(), vec![]));
        // As replies were before there was a verdict.
        let old = read("```toml contract\nrequire = [\"at < 64\"]\n```\n\n```text notes\nAny.\n```\n");
        assert_eq!(old, Answer::Said(said(false, None, None, &[]), "Any.".into(), vec!["at < 64".into()]));
        for unusable in [
            "```text notes\nAny caller.\n```\n",
            "```toml verdict\nfeasible = true\n```\n",
            "```toml verdict\nfeasible = true\nevidence = [\"all of it\"]\n```\n",
            "```toml verdict\nfeasible = true\nevidence = [\"a.c:1\"]\nrequire = [\"at < 64\"]\n```\n",
            "```toml verdict\nevidence = [\"a.c:1\"]\n```\n",
        ] {
            assert!(matches!(read(unusable), Answer::Unusable(_)), "{unusable}");
        }
    }

    #[test]
    fn what_either_contract_holds_back_comes_last_and_nothing_is_lost() {
        let held_back = |key: &str| HeldBack { key: key.into() };
        let hidden = Hidden([held_back("wider"), held_back("narrower")]);
        let inputs: Vec<Vec<u8>> = (0..40).map(|n| vec![n]).collect();
        let sorted = hidden.last(&inputs);
        let is_hidden = |input: &Vec<u8>| hidden.0[0].holds(input) || hidden.0[1].holds(input);
        let shown = sorted.iter().take_while(|input| !is_hidden(input)).count();
        assert!((1..40).contains(&shown) && sorted[shown..].iter().all(is_hidden), "{sorted:?}");
        assert!(sorted.iter().all(|input| hidden.holds(input) == is_hidden(input)));
        let mut again = sorted;
        again.sort();
        assert_eq!(again, inputs);
    }
}

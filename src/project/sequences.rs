//! The other functions in a harness on handles: each must itself be a possible step.

use super::{FunctionPlan, Project};
use crate::contract::file;
use crate::contract::types::Judgeable;
use crate::error::{Error, Result};
use crate::harness::emit::target::helper_name;
use crate::symbol::SymbolName;
use std::collections::BTreeMap;

impl Project {
    /// The other functions that a harness calls: steps of a call sequence, those that make its structs, and those that its
    /// fuzz target names.
    pub fn partners<'s>(&'s self, planned: &'s FunctionPlan) -> impl Iterator<Item = &'s FunctionPlan> {
        let contract = planned.judgeable.contract();
        let steps = contract.and_then(|c| c.sequence.as_ref()).into_iter().flat_map(|s| s.names());
        let makers = contract.into_iter().flat_map(|c| &c.params).flat_map(|param| &param.made_by);
        let all = &self.planned;
        let own = steps.chain(makers).filter_map(move |name| all.iter().find(|p| p.function.name == *name));
        let is_named = move |other: &&FunctionPlan| {
            let name = helper_name(&other.function).to_string();
            planned.target.as_ref().is_some_and(|text| text.contains(&name))
        };
        own.chain(self.helpers(planned).filter(is_named))
    }

    /// Checks that each function in a contract's call sequence is a step with the same handle. Inferred lists are
    /// reduced to such functions, since a person may have skipped one or changed its contract; edited lists must be
    /// right.
    pub(super) fn settle_sequences(&mut self) -> Result<()> {
        loop {
            let of = |p: &FunctionPlan| Some(p.judgeable.contract()?.sequence.as_ref()?.of.clone());
            let all: BTreeMap<SymbolName, String> =
                self.planned.iter().filter_map(|p| Some((p.function.name.clone(), of(p)?))).collect();
            let mut changed = false;
            for at in 0..self.planned.len() {
                let planned = &self.planned[at];
                let Some(own) = planned.judgeable.contract().and_then(|c| c.sequence.as_ref()) else {
                    continue;
                };
                let is_step = |name: &SymbolName| all.get(name) == Some(&own.of);
                let Some(stranger) = own.names().find(|name| !is_step(name)) else { continue };
                if planned.edited {
                    return Err(self.stranger(planned, stranger, &own.of));
                }
                let mut kept = own.clone();
                for list in [&mut kept.makers, &mut kept.operations, &mut kept.enders] {
                    list.retain(is_step);
                }
                changed = true;
                let judgeable = &mut self.planned[at].judgeable;
                match judgeable {
                    Judgeable::Yes(contract) if !kept.makers.is_empty() => contract.sequence = Some(kept),
                    _ => {
                        let why = format!("nothing that makes a `{}` has a contract for it", kept.of);
                        *judgeable = Judgeable::NotYet(why);
                    }
                }
            }
            if !changed {
                return Ok(());
            }
        }
    }

    fn stranger(&self, planned: &FunctionPlan, name: &SymbolName, of: &str) -> Error {
        let path = self.shown(&self.contract_path(planned.function.name.as_str()));
        file::wrong(&path, &format!("[sequence]: `{name}` is not a function on a `{of}` with a contract"))
    }
}

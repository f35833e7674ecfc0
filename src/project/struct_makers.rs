//! Structs that C makes, for functions that take one: random bytes rarely form a consistent buffer-and-length
//! struct.

use super::{FunctionPlan, Project};
use crate::contract::struct_makers::{maker, pointed, taken};
use crate::contract::types::Judgeable;
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::{LibraryIndex, SymbolName};

/// A function that makes structs, and the key of the struct.
type Maker<'p> = (&'p FunctionPlan, String);

impl Project {
    /// Adds the makers of such structs to inferred contracts, and checks those that a person listed.
    pub(super) fn settle_makers(&mut self) -> Result<()> {
        let index = LibraryIndex::of(&self.library);
        let makers: Vec<Maker> = self.planned.iter().filter_map(made).collect();
        let all: Vec<Vec<Vec<SymbolName>>> = self
            .planned
            .iter()
            .map(|planned| self.makers_of(planned, &index, &makers))
            .collect::<Result<_>>()?;
        for (planned, makers) in self.planned.iter_mut().zip(all).filter(|(planned, _)| !planned.edited) {
            if let Judgeable::Yes(contract) = &mut planned.judgeable {
                contract.params.iter_mut().zip(makers).for_each(|(param, makers)| param.made_by = makers);
            }
        }
        Ok(())
    }

    /// The makers of the structs that each parameter of a function needs.
    fn makers_of(
        &self,
        planned: &FunctionPlan,
        index: &LibraryIndex,
        makers: &[Maker],
    ) -> Result<Vec<Vec<SymbolName>>> {
        let Some(contract) = planned.judgeable.contract() else { return Ok(Vec::new()) };
        for (param, declared) in contract.params.iter().zip(&planned.function.params) {
            let record = pointed(&declared.ty);
            let makes = |name: &SymbolName| {
                makers
                    .iter()
                    .any(|(maker, made)| maker.function.name == *name && Some(made) == record.as_ref())
            };
            if let Some(name) = param.made_by.iter().find(|name| !makes(name)) {
                let others = makers.iter().filter(|(_, made)| Some(made) == record.as_ref());
                let others: Vec<String> =
                    others.map(|(maker, _)| format!("`{}`", maker.function.name)).collect();
                return Err(self.no_maker(planned, name, &others));
            }
        }
        // A maker that calls the function under test would not be independent of it.
        let is_apart = |maker: &FunctionPlan| {
            index.reached(&maker.function).all(|other| other.key != planned.function.key)
        };
        let params = contract.params.iter().zip(&planned.function.params);
        Ok(params
            .map(|(param, declared)| {
                let record = taken(&self.library, param, &declared.ty);
                let known =
                    makers.iter().filter(|(maker, made)| Some(made) == record.as_ref() && is_apart(maker));
                known.map(|(maker, _)| maker.function.name.clone()).collect()
            })
            .collect())
    }

    /// The error for a listed function that is no maker; `others` are functions that are.
    fn no_maker(&self, planned: &FunctionPlan, name: &SymbolName, others: &[String]) -> Error {
        let path = self.shown(&self.contract_path(planned.function.name.as_str()));
        let text = format!(
            "{path}: made_by: according to its contract, `{name}` fills no struct of this kind behind a pointer"
        );
        let is_known = self.library.find(name.as_str()).is_some();
        let help = match (is_known, others) {
            (false, _) => self.nearest(name.as_str()),
            (true, []) => format!("no function of the library does: remove `made_by` from {path}"),
            (true, others) => format!("functions that do: {}", others.join(", ")),
        };
        Error::new(ErrorKind::Config, text).help(help)
    }
}

/// The struct that a function makes, if its harness can make one for others.
fn made(planned: &FunctionPlan) -> Option<Maker<'_>> {
    let at = maker(&planned.function, planned.judgeable.contract()?)?;
    Some((planned, pointed(&planned.function.params[at].ty)?))
}

//! Functions that a fuzz target judges: a target in the tree replaces the roles.

use super::{FunctionPlan, Project};
use crate::audit::FfiNames;
use crate::config::Workflow;
use crate::contract::pointer_facts::FactTable;
use crate::contract::target::{contract, helpers};
use crate::contract::types::{Contract, Harness, Judgeable};
use crate::error::{Error, ErrorKind, Result};
use crate::project::fuzz_target;
use crate::symbol::{Function, SymbolName};
use std::path::PathBuf;
use std::sync::Arc;

/// The contract of a function that has or wants a fuzz target.
pub(super) struct Aimed {
    pub judgeable: Judgeable,
    pub target: Option<String>,
    pub wanted: bool,
    /// Other functions that the target may call.
    pub helpers: Vec<SymbolName>,
}

impl Aimed {
    /// A target that cannot judge, with the reason.
    fn useless(text: String, why: String) -> Self {
        let judgeable = Judgeable::NotYet(why);
        Self { judgeable, target: Some(text), wanted: false, helpers: Vec::new() }
    }
}

impl Project {
    /// The file of a symbol's fuzz target.
    pub fn target_path(&self, symbol: &str) -> PathBuf {
        fuzz_target::path(&self.rust_dir(), symbol)
    }

    /// Why no fuzz target of a person's could judge it, if none could.
    pub fn without_target(&self, planned: &FunctionPlan) -> Option<String> {
        let facts = FactTable::build(&self.library);
        contract(&self.library, &facts, (&planned.function, &planned.judgeable), Harness::Target).err()
    }

    pub(super) fn under_target(
        &self,
        facts: &FactTable,
        function: &Function,
        known: Judgeable,
    ) -> Result<Aimed> {
        let name = function.name.as_str();
        let own = self.config.symbols.get(name);
        let path = self.target_path(name);
        let text = std::fs::read_to_string(&path).ok().filter(|_| !own.is_some_and(|own| own.skip));
        let is_aimed = |contract: &Contract| !contract.harness.is_inferred();
        let Some(text) = text else {
            let by_contract = known.contract().is_some_and(is_aimed);
            let wanted = by_contract || own.is_some_and(|own| own.harness == Harness::Model && !own.skip);
            let is_own = known.contract().is_some_and(|contract| contract.harness == Harness::Target)
                || own.is_some_and(|own| own.harness == Harness::Target && !own.skip);
            if is_own {
                let helpers = helpers(&self.library, facts, function);
                let why = format!("it needs a fuzz target from you: cargo implfuzz contract --new {name}");
                let judgeable = Judgeable::NotYet(why);
                return Ok(Aimed { judgeable, target: None, wanted: false, helpers });
            }
            let judgeable = match by_contract {
                true => Judgeable::NotYet("its contract asks for a fuzz target, but there is none".into()),
                false => known,
            };
            let is_to_be = wanted || self.config.port.workflow == Workflow::ThreeStep;
            let helpers = if is_to_be { helpers(&self.library, facts, function) } else { Vec::new() };
            return Ok(Aimed { judgeable, target: None, wanted, helpers });
        };
        let shown = self.shown(&path);
        let by_model =
            fuzz_target::proposed_by(&text).is_some() || own.is_some_and(|own| own.harness == Harness::Model);
        let harness = if by_model { Harness::Model } else { Harness::Target };
        let contract = match contract(&self.library, facts, (function, &known), harness) {
            Ok(contract) => contract,
            Err(why) => {
                return Ok(Aimed::useless(text, format!("{shown} cannot judge it: {why}")));
            }
        };
        if let Some((line, reason)) = fuzz_target::problems(&text, &self.ffi_names()?).first() {
            let why = format!("the audit rejects {shown}:{line}: {reason}");
            return Ok(Aimed::useless(text, why));
        }
        let proposed_by = contract.proposed_by.clone().or(fuzz_target::proposed_by(&text).map(str::to_owned));
        let judgeable = self.with_statics(Judgeable::Yes(Contract { proposed_by, ..contract }));
        let helpers = helpers(&self.library, facts, function);
        Ok(Aimed { judgeable, target: Some(text), wanted: false, helpers })
    }

    /// Functions that the fuzz target of this one may call.
    pub fn helpers(&self, planned: &FunctionPlan) -> impl Iterator<Item = &FunctionPlan> {
        self.planned.iter().filter(|other| planned.helpers.contains(&other.function.name))
    }

    /// The names of `ffi.rs`.
    pub fn ffi_names(&self) -> Result<Arc<FfiNames>> {
        if let Some(names) = self.ffi_names.get() {
            return Ok(Arc::clone(names));
        }
        let names = FfiNames::read(&self.ffi).map_err(|error| {
            Error::new(ErrorKind::Build, format!("ffi.rs is not Rust: {error}"))
                .help("run `cargo implfuzz init`")
        })?;
        Ok(Arc::clone(self.ffi_names.get_or_init(|| Arc::new(names))))
    }
}

//! Gathers from the tree what prompts about a function need.

use super::context::{CalleeState, PortContext, Sources};
use crate::contract::types::Judgeable;
use crate::error::Result;
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::rust::emit::stub;

/// The context for prompts about a function, without a contract where it has none yet.
///
/// # Errors
/// Those of reading what is generated.
pub fn context(project: &Project, planned: &FunctionPlan) -> Result<PortContext> {
    let callee = |function: &crate::symbol::Function| {
        let other = project.plan_of(&function.key)?;
        let ported = project.ported(function) == Ported::Yes;
        Some(CalleeState { rust: stub(&other.bound()), ported })
    };
    let sources = Sources {
        library: &project.library,
        function: &planned.function,
        judgeable: &planned.judgeable,
        stub: &stub(&planned.bound()),
        ffi: &project.ffi,
        globals: &fs_err::read_to_string(project.rust_dir().join("src/globals.rs"))?,
        callee: &callee,
    };
    match planned.judgeable {
        Judgeable::Yes(_) => PortContext::build(&sources),
        Judgeable::NotYet(_) => PortContext::without_contract(&sources),
    }
}

//! Gathers from the tree what prompts about a function need.

use super::context::{CalleeState, PortContext, Sources};
use crate::error::Result;
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::rust::emit::stub;

/// The context for prompts about a function.
pub fn context(project: &Project, planned: &FunctionPlan) -> Result<PortContext> {
    with_sources(project, planned, PortContext::build)
}

/// The context of a function that has no contract yet.
pub fn context_without_contract(project: &Project, planned: &FunctionPlan) -> Result<PortContext> {
    with_sources(project, planned, PortContext::without_contract)
}

fn with_sources(
    project: &Project,
    planned: &FunctionPlan,
    build: fn(&Sources) -> Result<PortContext>,
) -> Result<PortContext> {
    let callee = |function: &crate::symbol::Function| {
        let other = project.planned.iter().find(|p| p.function.key == function.key)?;
        let ported = project.ported(function) == Ported::Yes;
        Some(CalleeState { rust: stub(&other.bound()), ported })
    };
    let globals = fs_err::read_to_string(project.rust_dir().join("src/globals.rs"))?;
    build(&Sources {
        library: &project.library,
        function: &planned.function,
        judgeable: &planned.judgeable,
        stub: &stub(&planned.bound()),
        ffi: &project.ffi,
        globals: &globals,
        callee: &callee,
    })
}

//! Gathers from the tree what prompts about a function need.

use crate::c::call_sites::{CallSite, call_sites};
use crate::contract::types::Judgeable;
use crate::error::Result;
use crate::harness::emit::target::helper_name;
use crate::port::prompt::c_variables::c_variable;
use crate::port::prompt::context::{CalleeState, PortContext, Sources};
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::rust::pretty::pretty;
use crate::rust::signature::CSignature;
use crate::rust::stub_text::{stub, variadic_head};
use proc_macro2::Ident;
use quote::{format_ident, quote};

/// The context for prompts about a function, without a contract where it has none yet.
///
/// # Errors
/// Those of reading what is generated.
pub fn context(project: &Project, planned: &FunctionPlan) -> Result<PortContext> {
    let callee = |function: &crate::symbol::Function| {
        let other = project.callable().find(|other| other.function.key == function.key)?;
        let stays = other.function.unsupported.is_some();
        let rust = match function.is_variadic {
            true => variadic_head(&other.bound()),
            false => stub(&other.bound()),
        };
        Some(CalleeState { rust, ported: !stays && project.ported(function) == Ported::Yes })
    };
    let sources = Sources {
        library: &project.library,
        function: &planned.function,
        judgeable: &planned.judgeable,
        stub: &stub(&planned.bound()),
        ffi: &project.ffi,
        globals: &fs_err::read_to_string(project.rust_dir().join("src/globals.rs"))?,
        c_variable: &|global| c_variable(project, global),
        callee: &callee,
    };
    match planned.judgeable {
        Judgeable::Yes(_) => PortContext::build(&sources),
        Judgeable::NotYet(_) => PortContext::without_contract(&sources),
    }
}

/// What questions about a function show besides its context.
pub struct Facts {
    pub sites: Vec<CallSite>,
    /// The calls that a fuzz target may make.
    pub calls: Vec<String>,
}

impl Facts {
    pub fn of(project: &Project, planned: &FunctionPlan) -> Self {
        let sites = call_sites(&project.library, &planned.function);
        Self { sites, calls: calls_of(project, planned) }
    }
}

/// The function's call in a target, for its prompt, and then the other functions that the target may call.
fn calls_of(project: &Project, planned: &FunctionPlan) -> Vec<String> {
    let one = |name: Ident, c: &CSignature| {
        let params = c.params.iter().map(|(name, ty)| quote!(#name: #ty));
        let ret = c.ret.iter();
        let text = pretty(quote!(fn #name(#(#params),*) #(-> #ret)* {}));
        text.replacen("fn ", "side.", 1).replacen(" {}", "", 1).trim().to_owned()
    };
    let own = one(format_ident!("call"), &planned.c);
    let others = project.helpers(planned).map(|other| one(helper_name(&other.function), &other.c));
    std::iter::once(own).chain(others).collect()
}

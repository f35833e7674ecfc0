//! One Rust module for each C file: new functions get a stub, stubs follow their C signature, all other text stays.

use crate::error::{Error, ErrorKind, Result};
use crate::project::ported::{PortModule, Ported};
use crate::project::{FunctionPlan, Project};
use crate::rust::item;
use crate::rust::signature::{bare, ident, inner};
use crate::rust::splice::{Spliced, replace_fn};
use crate::rust::stub_text::{head, module_head, stub};
use crate::symbol::Function;
use fs_err as fs;
use std::collections::{BTreeMap, BTreeSet};

/// A module in its new state.
#[derive(Debug)]
pub struct Module {
    pub name: String,
    pub text: String,
    /// Changes to report to the user.
    pub notes: Vec<String>,
    /// Ported functions whose C signature has changed.
    pub outdated: Vec<String>,
    /// The module in its old state.
    found: PortModule,
}

impl Module {
    /// Replaces the module's text.
    pub fn set_text(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.found = PortModule::read(text.to_owned());
    }
}

/// All modules of the port.
pub fn plan(project: &Project) -> Result<Vec<Module>> {
    let mut functions: BTreeMap<&str, Vec<&FunctionPlan>> = BTreeMap::new();
    for planned in &project.planned {
        functions.entry(&planned.function.module).or_default().push(planned);
    }
    functions.into_iter().map(|(name, functions)| module(project, name, functions)).collect()
}

/// Whether a function has a body in one of these modules.
pub fn is_ported(modules: &[Module], function: &Function) -> bool {
    // New stubs do not change which functions are ported.
    modules.iter().any(|m| m.name == function.module && m.found.state(function) == Ported::Yes)
}

/// Public functions of a module that the C library no longer has. Empty while a C file cannot be read.
fn gone(project: &Project, name: &str, found: &PortModule) -> Vec<String> {
    if project.library.left_out.iter().any(|left| left.broken) {
        return Vec::new();
    }
    let here = project.planned.iter().filter(|p| p.function.module == name);
    let known: BTreeSet<String> = here.map(|p| ident(&p.function).to_string()).collect();
    found.public().filter(|name| !known.contains(*name)).map(str::to_owned).collect()
}

/// The message for a port whose signature in the contract has changed.
pub(super) fn another_signature(planned: &FunctionPlan) -> String {
    let (name, head) = (&planned.function.name, head(&planned.bound()));
    format!("`{name}` is ported, but its signature must now be {head}")
}

fn module(project: &Project, name: &str, mut functions: Vec<&FunctionPlan>) -> Result<Module> {
    functions.sort_by_key(|p| p.function.place.start);
    let path = project.module_path(name);
    let exists = path.exists();
    let c_file = functions.first().map(|p| p.function.place.file.to_string()).unwrap_or_default();
    let mut text = if exists { fs::read_to_string(&path)? } else { module_head(&c_file) };
    item::parse(&text).map_err(|error| {
        let at = error.span().start();
        let shown = project.shown(&path);
        Error::new(ErrorKind::Build, format!("{shown}:{}:{}: {error}", at.line, at.column + 1))
            .help(format!("correct the syntax of {shown}"))
    })?;
    let found = PortModule::read(text.clone());
    let (mut notes, mut outdated) = (Vec::new(), Vec::new());
    for planned in functions {
        let function = &planned.function;
        match found.state(function) {
            Ported::Missing => {
                text.push('\n');
                text.push_str(&stub(&planned.bound()));
                if exists {
                    notes.push(format!("{name}.rs: new stub `{}`", function.name));
                }
            }
            Ported::Stub if !same_signature(&found, planned) => {
                let wanted = stub(&planned.bound());
                text = match replace_fn(&text, &ident(function).to_string(), &wanted, "")? {
                    Spliced::Done(text) => text,
                    // A stub has no helpers that could conflict.
                    Spliced::Conflict(_) => text,
                };
                notes.push(format!("{name}.rs: the stub `{}` follows its changed signature", function.name));
            }
            Ported::Stub => {}
            Ported::Yes if !same_signature(&found, planned) => {
                notes.push(format!("{name}.rs: {}", another_signature(planned)));
                outdated.push(function.name.to_string());
            }
            Ported::Yes => {}
        }
    }
    for gone in gone(project, name, &found) {
        if !is_generated(&found, &gone) {
            notes.push(format!("{name}.rs: `{gone}` is no longer in the C library"));
        } else if let Some(place) = item::find_fn(&text, &gone) {
            // A stub may name types that no longer exist.
            text.replace_range(place.bytes, "");
            notes.push(format!("{name}.rs: the stub `{gone}` is gone with its C function"));
        }
    }
    Ok(Module { name: name.to_owned(), text, notes, outdated, found })
}

/// Whether a function has exactly the body that this tool writes. `is_stub` also accepts a person's functions.
fn is_generated(module: &PortModule, name: &str) -> bool {
    let stub = quote::quote!({ unimplemented!(#name) }).to_string();
    module.function(name).is_some_and(|own| quote::ToTokens::to_token_stream(&own.block).to_string() == stub)
}

/// Compares types and safety, but not parameter names.
fn same_signature(module: &PortModule, planned: &FunctionPlan) -> bool {
    let bound = planned.bound();
    let wanted = inner(bound.function, bound.contract, bound.c);
    module.signature(bound.function).is_some_and(|found| shape(found) == shape(&wanted))
}

fn shape(signature: &syn::Signature) -> String {
    let types = signature.inputs.iter().map(|input| match input {
        syn::FnArg::Typed(typed) => {
            let ty = bare(&typed.ty);
            quote::quote!(#ty).to_string()
        }
        other => quote::quote!(#other).to_string(),
    });
    let types: Vec<String> = types.collect();
    let output = match &signature.output {
        syn::ReturnType::Default => None,
        syn::ReturnType::Type(_, ty) => Some(bare(ty)),
    };
    let (safety, output) = (&signature.safety, output.iter());
    format!("{} {types:?} {}", quote::quote!(#safety), quote::quote!(#(#output)*))
}

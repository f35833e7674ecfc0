//! One call in a test, and the comparisons after it.

use super::arguments::{Call, Memory};
use super::expected::{Label, address, same_errno, same_text};
use super::json::{is_made, shown};
use crate::contract::types::Returns;
use crate::rust::signature::ident;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

impl Call<'_> {
    /// The call with the surrounding statements.
    pub(super) fn call(&self, arguments: &[TokenStream]) -> Vec<TokenStream> {
        let (function, returned) = (ident(self.bound.function), self.returned());
        let call = match self.contract.returns {
            Returns::Nothing => quote!(capi::#function(#(#arguments),*);),
            _ => quote!(let #returned = capi::#function(#(#arguments),*);),
        };
        if !self.contract.errno {
            return vec![call];
        }
        let errno = self.errno();
        vec![quote!(clear_errno();), call, quote!(let #errno = last_errno();)]
    }

    fn returned(&self) -> Ident {
        self.keep.clone().unwrap_or_else(|| format_ident!("returned{}", self.suffix))
    }

    fn errno(&self) -> Ident {
        format_ident!("errno{}", self.suffix)
    }

    /// Comparisons of all of C's effects with the port's.
    pub(super) fn comparisons(&self, memories: &[Memory]) -> Result<Vec<TokenStream>, String> {
        let missing = |what: &str| format!("the result has nothing about {what}");
        let mut all = self.same_return(memories)?;
        for memory in memories.iter().filter(|memory| memory.is_written && memory.length != Some(0)) {
            let name = &memory.param.name;
            let value = self.left.get(name).ok_or_else(|| missing(&format!("`{name}`")))?;
            let (place, label) = (&memory.place, Label::named(name, &self.title));
            all.extend(match memory.length {
                Some(length) => self.types.same_elements(place, (memory.of, length), value, &label)?,
                None => self.types.same(place, memory.of, value, &label)?,
            });
        }
        if self.contract.errno {
            let value = self.left.get("errno").ok_or_else(|| missing("errno"))?;
            all.push(same_errno(&self.errno(), value, &self.title)?);
        }
        if let Some(globals) = self.left.get("$globals") {
            all.extend(self.types.same_globals(globals, &self.title)?);
        }
        Ok(all)
    }

    fn same_return(&self, memories: &[Memory]) -> Result<Vec<TokenStream>, String> {
        let (function, returned, label) =
            (self.bound.function, self.returned(), Label::returned(&self.title));
        if self.contract.returns == Returns::Nothing {
            return Ok(Vec::new());
        }
        let value = self.left.get("return").ok_or("the result has no return value")?;
        let text = label.text();
        match self.contract.returns {
            Returns::Nothing => Ok(Vec::new()),
            Returns::Memory => Err("it returns a block of memory".to_owned()),
            Returns::Value => self.types.same(&quote!(#returned), &function.ret, value, &label),
            Returns::StaticString => Ok(vec![same_text(&returned, value, &label)?]),
            Returns::Handle => match is_made(value) {
                Some(made) => {
                    let is_null = !made;
                    Ok(vec![quote!(assert_eq!(#returned.is_null(), #is_null, #text);)])
                }
                None => Err(format!("{} is no handle", shown(value))),
            },
            Returns::Address => self.same_address(&returned, value, memories),
            Returns::Table(length) => {
                let ty = self.bound.c.ret.as_ref().ok_or("it returns nothing")?;
                self.types.same_table(&returned, (&function.ret, ty, length), value, &label)
            }
        }
    }

    /// The comparison of a returned pointer's target. In a call sequence it may point to memory that the test
    /// cannot address; then nothing is compared.
    fn same_address(
        &self,
        returned: &Ident,
        value: &Value,
        memories: &[Memory],
    ) -> Result<Vec<TokenStream>, String> {
        let (label, in_life) = (Label::returned(&self.title).text(), self.contract.sequence.is_some());
        let (name, bytes) = match address(value) {
            Ok(None) => return Ok(vec![quote!(assert!(#returned.is_null(), #label);)]),
            Ok(Some(place)) => place,
            Err(_) if in_life => return Ok(Vec::new()),
            Err(why) => return Err(why),
        };
        let memory = memories.iter().find(|memory| memory.param.name == name).map(|memory| &memory.pointer);
        let place = self.places.iter().find(|(place, _)| place == name).map(|(_, start)| start);
        let Some(start) = memory.or(place) else {
            let why = format!("it returns a pointer into `{name}`, which is not an argument");
            return if in_life { Ok(Vec::new()) } else { Err(why) };
        };
        let (label, bytes) = (format!("{label}, in bytes from `{name}`"), Literal::usize_unsuffixed(bytes));
        Ok(vec![quote!(assert_eq!((#returned as usize).wrapping_sub(#start as usize), #bytes, #label);)])
    }
}

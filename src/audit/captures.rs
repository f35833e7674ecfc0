//! Names inside of format strings: `"{name}"`.

use super::macros::{self, Arguments};
use super::path_meaning;
use super::scope::Space;
use super::walk::Walker;

impl Walker<'_, '_, '_> {
    /// Judges the names that a format string has from around it.
    pub(super) fn captures(&mut self, arguments: &Arguments) {
        for expr in &arguments.expressions {
            let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = expr else { continue };
            for name in macros::captures(&text.value()) {
                if arguments.names.contains(&name) {
                    continue;
                }
                let meaning = self.scopes.resolve(std::slice::from_ref(&name), false, Space::Value);
                if let Err((rule, reason)) =
                    path_meaning::meaning(self.scopes.requested(), &meaning, &name, Space::Value)
                {
                    self.refuse(rule, text.span(), reason);
                }
            }
        }
    }
}

//! Serialises Rust items as text for the store.

use crate::symbol::SymbolName;
use quote::ToTokens;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// Writes each item as text.
pub(super) fn serialize<T: ToTokens, S: Serializer>(
    items: &BTreeMap<SymbolName, T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let texts: BTreeMap<&SymbolName, String> =
        items.iter().map(|(name, item)| (name, item.to_token_stream().to_string())).collect();
    texts.serialize(serializer)
}

/// Reads the output of [`serialize`].
pub(super) fn deserialize<'de, T: syn::parse::Parse, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<SymbolName, T>, D::Error> {
    let texts: BTreeMap<SymbolName, String> = BTreeMap::deserialize(deserializer)?;
    let read =
        |(name, text): (SymbolName, String)| Ok((name, syn::parse_str(&text).map_err(D::Error::custom)?));
    texts.into_iter().map(read).collect()
}

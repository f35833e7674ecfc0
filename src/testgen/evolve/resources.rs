//! The mutable resources of an evolution.

use crate::event::Reporter;
use crate::llm::model_session::ModelSession;
use crate::store::Store;

/// Store, models and reporter of one evolution, passed to every round and every run.
pub struct Resources<'a> {
    pub store: &'a mut Store,
    /// The models asked for changes. A run whose configuration names another model needs a session of its own.
    pub models: &'a mut ModelSession,
    pub reporter: &'a mut dyn Reporter,
}

//! Stores what was found.

use crate::digest::sha256;
use crate::error::Result;
use crate::event::Event;
use crate::judge::Judging;
use crate::platform::workspace::write_atomic;
use crate::project::FunctionPlan;
use crate::store::{CFaultNote, FindingId, NewFinding, RunId, Side, Store};
use crate::verdict::{CFault, Finding};
use std::collections::BTreeSet;
use std::path::Path;

impl Judging<'_, '_> {
    /// Stores a C fault and reports it as a warning: it is not the port's fault, so no model is asked for a fix. A
    /// fault that the measurement of a harness found belongs to no run.
    pub fn keep_c_fault(
        &mut self,
        planned: &FunctionPlan,
        found: &CFault,
        run: Option<RunId>,
    ) -> Result<FindingId> {
        let id = self.store.add_finding(&NewFinding {
            symbol: &planned.function.key,
            side: Side::C,
            finding: &found.finding,
            run,
            candidate_sha256: None,
            c_fault: Some(CFaultNote { fault: found.kind, report: &found.report }),
        })?;
        let (class, what) = (found.finding.class, &found.finding.what);
        let what = format!("{class}: {what}: {}", found.kind.told());
        self.reporter.event(Event::CFault { symbol: planned.function.name.clone(), id: id.0, what });
        Ok(id)
    }

    /// Stores a finding about the port text with this hash, and its input as a seed in `dir`.
    pub fn record_finding(
        &mut self,
        planned: &FunctionPlan,
        finding: &Finding,
        text: &str,
        dir: &Path,
    ) -> Result<FindingId> {
        let id = self.store.add_finding(&NewFinding {
            symbol: &planned.function.key,
            side: Side::Port,
            finding,
            run: self.run,
            candidate_sha256: Some(text.to_owned()),
            c_fault: None,
        })?;
        if !finding.input.is_empty() {
            let hash = &sha256(&finding.input)[..16];
            // A driver's inputs are for many functions; the name shows whose evidence this one belongs to.
            let name = finding.place.as_ref().map(|_| format!("{}-{hash}", planned.function.name));
            write_atomic(&dir.join(name.as_deref().unwrap_or(hash)), &finding.input)?;
        }
        Ok(id)
    }
}

/// The known C faults of a function's original, by description.
pub fn known_breaks(store: &Store, planned: &FunctionPlan) -> Result<BTreeSet<String>> {
    let rows = store.findings(Some(&planned.function.key))?;
    Ok(rows.into_iter().filter(|row| row.side == Side::C).map(|row| row.finding.what).collect())
}

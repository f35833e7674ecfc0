//! The compiler's flags for code in which functions have entries that can be patched.

use crate::c::entries::ROOM;
use crate::in_place::build_site::BuildSite;
use crate::platform::process::Job;
use crate::platform::toolchain::CompilerKind;

/// Functions keep their calls: what is inlined has no entry. String literals keep their symbols, which say how long they
/// are: a text may go on behind its first NUL.
/// The compiler marks conversions of a float to an integer that cannot hold it, and `__builtin_clz(0)` and its like;
/// `judge.c` has the functions that it calls.
const PATCHABLE: [&str; 12] = [
    "-O1",
    "-g0",
    "-w",
    "-fno-pie",
    "-fno-lto",
    "-fno-inline",
    "-fno-optimize-sibling-calls",
    "-fno-stack-protector",
    "-U_FORTIFY_SOURCE",
    "-Wa,-L",
    "-fsanitize=float-cast-overflow,builtin",
    "-fsanitize-recover=float-cast-overflow,builtin",
];
/// gcc also passes arguments in its own ways where it sees all callers.
const PATCHABLE_GCC: [&str; 4] = ["-fno-ipa-sra", "-fno-ipa-cp", "-fno-ipa-ra", "-fno-partial-inlining"];

impl BuildSite<'_> {
    /// With these flags.
    pub(super) fn patchable(&self, job: Job) -> Job {
        let job = job.args(PATCHABLE).args(ROOM);
        if self.toolchain.cc.kind == CompilerKind::Gcc { job.args(PATCHABLE_GCC) } else { job }
    }
}

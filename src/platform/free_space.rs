//! The space on the disks of this machine.

use std::path::Path;

/// The space that this user can still use on the disk of a folder, bytes; none where the file system does not know it.
pub fn free(dir: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(dir).ok()?;
    // Some file systems do not know how large they are.
    (disk.f_blocks > 0).then(|| disk.f_bavail.saturating_mul(disk.f_frsize))
}

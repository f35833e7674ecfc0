//! Removes the code of the C function where the port runs alone as it ships. The parent lists the places
//! (IMPLFUZZ_C_CODE): the anchor's address, then `,ADDRESS:SIZE` for each. A port that runs there ends the process.
//! Written by cargo-implfuzz.

/// An instruction that raises SIGTRAP.
#[cfg(target_arch = "x86_64")]
const TRAP: &[u8] = &[0xcc];
#[cfg(target_arch = "aarch64")]
const TRAP: &[u8] = &[0x00, 0x00, 0x20, 0xd4];

unsafe extern "C" {
    static implfuzz_in_port: u8;
}

/// Without a list, all code stays. One that cannot be used ends the process: the code would seem to be gone.
pub fn remove() {
    let Ok(list) = std::env::var("IMPLFUZZ_C_CODE") else { return };
    if !list.is_empty() && fill(&list).is_none() {
        eprintln!("the code of the C function cannot be removed: {list}");
        // SAFETY: nothing has run.
        unsafe { libc::_exit(3) };
    }
}

fn fill(list: &str) -> Option<()> {
    let (anchor, places) = list.split_once(',')?;
    // SAFETY: asks for a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    let loaded = (&raw const implfuzz_in_port as usize).wrapping_sub(anchor.parse().ok()?);
    for place in places.split(',') {
        let (at, size) = place.split_once(':')?;
        let start = loaded.wrapping_add(at.parse().ok()?);
        let size: usize = size.parse().ok()?;
        let pages = start & !(page - 1)..(start + size).next_multiple_of(page);
        let protect = |how| {
            // SAFETY: pages of this program's code, none of which runs now.
            unsafe { libc::mprotect(pages.start as *mut libc::c_void, pages.len(), how) == 0 }
        };
        if !protect(libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC) {
            return None;
        }
        for offset in 0..size {
            // SAFETY: inside of the function, which nobody runs; its pages can be written.
            unsafe { ((start + offset) as *mut u8).write_volatile(TRAP[offset % TRAP.len()]) };
        }
        if !protect(libc::PROT_READ | libc::PROT_EXEC) {
            return None;
        }
    }
    Some(())
}

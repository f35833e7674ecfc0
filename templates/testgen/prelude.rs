//! The helpers of exported tests. A test file gets the content of each module whose name occurs in its tests, or in a
//! module that it gets. `VARIABLES` stands for the library's variables that its tests may change.

/// Detects a port that ends the process, perhaps with success, and thereby the tests; also gives tests a stack that
/// fits large inputs.
mod to_the_end {
    unsafe extern "C" {
        fn atexit(call: extern "C" fn()) -> core::ffi::c_int;
        fn _exit(code: core::ffi::c_int) -> !;
    }

    /// Tests that have begun and have not come to their end.
    static BEGUN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

    extern "C" fn at_exit() {
        if BEGUN.load(std::sync::atomic::Ordering::SeqCst) > 0 {
            eprintln!("the process was ended within a test");
            // SAFETY: it only ends the process.
            unsafe { _exit(101) }
        }
    }

    struct Running;

    impl Drop for Running {
        fn drop(&mut self) {
            BEGUN.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
        }
    }

    /// Runs a test where there is room for its data, and notes when it is over.
    fn to_the_end(test: fn()) {
        static WATCH: std::sync::Once = std::sync::Once::new();
        // SAFETY: what is called takes nothing and touches nothing but the counter.
        WATCH.call_once(|| assert_eq!(unsafe { atexit(at_exit) }, 0, "nothing would observe how the process ends"));
        BEGUN.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let running = Running;
        let thread = std::thread::Builder::new().stack_size(1 << 28).spawn(test).expect("a thread can be started");
        let ended = thread.join();
        drop(running);
        if let Err(panic) = ended {
            std::panic::resume_unwind(panic);
        }
    }
}

mod clear_errno {
    #[cfg(target_vendor = "apple")]
    use libc::__error as errno_place;
    #[cfg(not(target_vendor = "apple"))]
    use libc::__errno_location as errno_place;

    fn clear_errno() {
        // The C library has one for each thread.
        unsafe { *errno_place() = 0 }
    }

    fn last_errno() -> i32 {
        std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
    }
}

mod text_at {
    /// The text at an address; bytes that are no ASCII are escaped.
    unsafe fn text_at(at: *const core::ffi::c_char) -> Option<String> {
        (!at.is_null()).then(|| unsafe { core::ffi::CStr::from_ptr(at) }.to_bytes().escape_ascii().to_string())
    }
}

mod joined {
    /// Bytes that do not fit into one line.
    fn joined<const N: usize>(pieces: &[&[u8]]) -> [u8; N] {
        pieces.concat().try_into().expect("the pieces are as long as the array")
    }
}

mod Aligned {
    /// Memory that any C type may stand in, as allocated memory is.
    #[repr(C, align(16))]
    struct Aligned<T>(T);
}

mod Exact {
    /// A number that is the same where its bits are; all that are not numbers are one.
    #[derive(Debug, Clone, Copy)]
    struct Exact<T>(T);

    impl PartialEq for Exact<f32> {
        fn eq(&self, other: &Self) -> bool {
            self.0.to_bits() == other.0.to_bits() || self.0.is_nan() && other.0.is_nan()
        }
    }

    impl PartialEq for Exact<f64> {
        fn eq(&self, other: &Self) -> bool {
            self.0.to_bits() == other.0.to_bits() || self.0.is_nan() && other.0.is_nan()
        }
    }
}

mod exact {
    fn exact<T, const N: usize>(all: [T; N]) -> [Exact<T>; N] {
        all.map(Exact)
    }
}

/// Serialises tests, which run on threads but share the library's variables.
mod alone {
    /// What a variable holds before a test.
    struct Kept {
        at: *mut u8,
        bytes: Vec<u8>,
    }

    impl Kept {
        /// Nobody else may use the variable meanwhile.
        unsafe fn of<T>(variable: *mut T) -> Self {
            let at = variable.cast::<u8>();
            Self { at, bytes: unsafe { core::slice::from_raw_parts(at, size_of::<T>()) }.to_vec() }
        }
    }

    impl Drop for Kept {
        fn drop(&mut self) {
            unsafe { core::ptr::copy_nonoverlapping(self.bytes.as_ptr(), self.at, self.bytes.len()) }
        }
    }

    /// The variables of the library, which are set back before another test has them.
    struct Alone {
        _kept: Vec<Kept>,
        _guard: std::sync::MutexGuard<'static, ()>,
    }

    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

    /// One test at a time; whether another one has failed does not matter.
    fn alone() -> Alone {
        let _guard = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _kept = unsafe { Vec::from([VARIABLES]) };
        Alone { _kept, _guard }
    }
}

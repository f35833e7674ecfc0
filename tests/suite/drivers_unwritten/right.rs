// Right ports of the functions in `names.c`, each behind an empty line.

pub unsafe fn name_set(to: *mut ffi::name, text: *const ::core::ffi::c_char) {
    unsafe {
        let length = libc::strnlen(text, 23);
        core::ptr::copy_nonoverlapping(text, (&raw mut (*to).text).cast(), length);
        (*to).text[length] = 0;
        (*to).length = length;
    }
}

pub unsafe fn name_copy(to: *mut ffi::name, text: *const ::core::ffi::c_char) {
    unsafe {
        // Otherwise the compiler leaves the block out.
        let own = core::hint::black_box(libc::malloc(32).cast::<ffi::name>());
        if own.is_null() {
            return;
        }
        let length = libc::strnlen(text, 23);
        core::ptr::copy_nonoverlapping(text, (&raw mut (*to).text).cast(), length);
        (*to).text[length] = 0;
        (*to).length = length;
        libc::free(own.cast());
    }
}

pub unsafe fn load(file: ::core::ffi::c_int, size: usize) -> *mut ffi::all {
    unsafe {
        let all = libc::malloc(16).cast::<ffi::all>();
        if all.is_null() {
            return all;
        }
        (*all).data = libc::malloc(size).cast();
        if (*all).data.is_null() {
            libc::free(all.cast());
            return core::ptr::null_mut();
        }
        let got = usize::try_from(libc::read(file, (*all).data.cast(), size)).unwrap_or(0);
        (*all).used = got;
        all
    }
}

pub unsafe fn first(block: *const ::core::ffi::c_uchar) -> ::core::ffi::c_uint {
    unsafe { u32::from(*block) * 3 }
}

pub unsafe fn page_set(to: *mut ffi::page, text: *const ::core::ffi::c_char) {
    unsafe {
        let length = libc::strnlen(text, 599);
        core::ptr::copy_nonoverlapping(text, (&raw mut (*to).text).cast(), length);
        (*to).text[length] = 0;
    }
}

pub unsafe fn sum(text: *const ::core::ffi::c_char) -> ::core::ffi::c_uint {
    unsafe {
        let own = core::hint::black_box(libc::calloc(1, 40).cast::<u8>());
        if own.is_null() {
            return 0;
        }
        core::ptr::copy_nonoverlapping(text.cast(), own, libc::strnlen(text, 40));
        let all = (0..40).map(|at| u32::from(*own.add(at))).sum();
        libc::free(own.cast());
        all
    }
}

pub unsafe fn stir(to: *mut ffi::page) {
    let _ = to;
}

pub unsafe fn mark(to: *mut ffi::name) {
    let here = core::hint::black_box(0u8);
    unsafe { (*to).length = core::hint::black_box(&raw const here) as usize * 31 };
}

// Right ports of the functions in `answers.c`, each behind an empty line.

pub unsafe fn take(file: ::core::ffi::c_int, to: *mut ::core::ffi::c_uchar, size: usize) -> ::core::ffi::c_long {
    let mut got = 0;
    while got < size {
        let now = unsafe { libc::read(file, to.add(got).cast(), size - got) };
        if now < 0 {
            return if got > 0 { got as i64 } else { -1 };
        }
        if now == 0 {
            break;
        }
        got += now as usize;
    }
    got as i64
}

pub unsafe fn give(file: ::core::ffi::c_int, bytes: *const ::core::ffi::c_uchar, size: usize) -> ::core::ffi::c_long {
    let mut given = 0;
    while given < size {
        let now = unsafe { libc::write(file, bytes.add(given).cast(), size - given) };
        if now < 0 {
            return -1;
        }
        given += now as usize;
    }
    given as i64
}

pub unsafe fn save(to: *mut ffi::FILE, items: *const u16, count: ::core::ffi::c_int) -> ::core::ffi::c_int {
    for saved in 0..count {
        if unsafe { libc::fwrite(items.add(saved as usize).cast(), 2, 1, to.cast()) } != 1 {
            return saved;
        }
    }
    count.max(0)
}

pub unsafe fn line(from: *mut ffi::FILE, salt: ::core::ffi::c_int) -> ::core::ffi::c_int {
    let mut text = [0u8; 24];
    unsafe {
        if libc::fgets(text.as_mut_ptr().cast(), 24, from.cast()).is_null() {
            return if libc::ferror(from.cast()) != 0 { -2 } else { -1 };
        }
    }
    let bytes = text.iter().take_while(|byte| **byte != 0);
    bytes.fold(salt, |sum, byte| sum.wrapping_mul(7).wrapping_add(i32::from(*byte as i8))) & 0xffff
}

pub unsafe fn level(usual: ::core::ffi::c_int) -> ::core::ffi::c_int {
    unsafe {
        let text = libc::getenv(c"ANSWERS_LEVEL".as_ptr());
        if text.is_null() {
            return usual;
        }
        if core::ffi::CStr::from_ptr(text) == c"quiet" { -7 } else { libc::atoi(text) }
    }
}

pub fn is_late(beyond: ::core::ffi::c_long) -> ::core::ffi::c_int {
    i32::from(unsafe { libc::time(core::ptr::null_mut()) } > beyond)
}

pub unsafe fn number(file: ::core::ffi::c_int, usual: ::core::ffi::c_int) -> ::core::ffi::c_int {
    let mut byte = 0u8;
    loop {
        return match unsafe { libc::read(file, (&raw mut byte).cast(), 1) } {
            ..0 => match unsafe { *libc::__errno_location() } {
                libc::EINTR => continue,
                error => -error,
            },
            0 => usual,
            _ => i32::from(byte),
        };
    }
}

pub unsafe fn store(to: *mut ffi::FILE, items: *const u16, count: ::core::ffi::c_int) -> ::core::ffi::c_int {
    unsafe {
        let stored = libc::fwrite(items.cast(), 2, count as usize, to.cast());
        stored as i32 + if libc::ferror(to.cast()) != 0 { 1000 } else { 0 }
    }
}

pub unsafe fn fill(from: *mut ffi::FILE, to: *mut ::core::ffi::c_uchar, size: usize) -> usize {
    unsafe {
        let got = libc::fread(to.cast(), 1, size, from.cast());
        if libc::ferror(from.cast()) != 0 { 0 } else { got }
    }
}

pub fn age(since: ::core::ffi::c_long) -> ::core::ffi::c_int {
    let now = unsafe { libc::time(core::ptr::null_mut()) };
    if now < since { -1 } else { ((now - since) >> 20) as i32 }
}

pub unsafe fn need(file: ::core::ffi::c_int, usual: ::core::ffi::c_int) -> ::core::ffi::c_int {
    let mut byte = 0u8;
    unsafe {
        if libc::read(file, (&raw mut byte).cast(), 1) < 0 {
            libc::exit(3);
        }
    }
    if byte != 0 { i32::from(byte) } else { usual }
}

pub unsafe fn either(usual: ::core::ffi::c_int) -> ::core::ffi::c_int {
    unsafe {
        let mut file = libc::fopen(c"/dev/null".as_ptr(), c"r".as_ptr());
        if file.is_null() {
            file = libc::fopen(c"/dev/zero".as_ptr(), c"r".as_ptr());
        }
        if file.is_null() {
            return usual.wrapping_neg();
        }
        libc::fclose(file);
    }
    usual
}

pub fn sum(items: &[u16]) -> u32 {
    if items.len() < 2 {
        return items.first().copied().map_or(0, u32::from);
    }
    let (first, second) = items.split_at(items.len() / 2);
    sum(first).wrapping_mul(3).wrapping_add(sum(second))
}

// Right ports of the functions in `records.c`, each behind an empty line.

pub unsafe fn record_write(file: *mut ffi::FILE, text: *const ::core::ffi::c_char) -> ::core::ffi::c_int {
    let stream = file.cast::<libc::FILE>();
    unsafe {
        let length = libc::strlen(text);
        if libc::ferror(stream) != 0 || libc::fwrite(text.cast(), 1, length, stream) != length {
            return -1;
        }
        libc::fputs(c"--".as_ptr(), stream);
        libc::fputc(10, stream);
        length as i32 + 3
    }
}

pub unsafe fn record_read(
    file: *mut ffi::FILE,
    text: *mut ::core::ffi::c_char,
    size: ::core::ffi::c_int,
) -> ::core::ffi::c_int {
    let stream = file.cast::<libc::FILE>();
    unsafe {
        if libc::fgets(text, size, stream).is_null() {
            return if libc::feof(stream) != 0 { -1 } else { -2 };
        }
        let next = libc::fgetc(stream);
        if next != libc::EOF {
            libc::ungetc(next, stream);
        }
        libc::strlen(text) as i32
    }
}

pub unsafe fn record_sum(
    file: *mut ffi::FILE,
    items: *mut ::core::ffi::c_ushort,
    count: usize,
) -> usize {
    unsafe {
        let got = libc::fread(items.cast(), 2, count, file.cast());
        core::slice::from_raw_parts(items, got).iter().map(|item| usize::from(*item)).sum()
    }
}

pub unsafe fn record_size(file: *mut ffi::FILE) -> ::core::ffi::c_long {
    let stream = file.cast::<libc::FILE>();
    unsafe {
        let before = libc::ftell(stream);
        libc::fseek(stream, 0, libc::SEEK_END);
        let size = libc::ftell(stream);
        libc::fseek(stream, before, libc::SEEK_SET);
        size
    }
}

pub unsafe fn record_note(file: *mut ffi::FILE, sum: usize) {
    let stream = file.cast::<libc::FILE>();
    unsafe {
        if sum % 3 != 0 {
            libc::fprintf(stream, c"sum %zu\n".as_ptr(), sum);
        } else {
            libc::fprintf(stream, c"%s\n".as_ptr(), c"a multiple of 3".as_ptr());
        }
    }
}

pub unsafe fn record_exists(name: *const ::core::ffi::c_char) -> ::core::ffi::c_int {
    unsafe { i32::from(libc::access(name, libc::F_OK) == 0) }
}

// Right ports of functions of the library in `drivers/`, each behind an empty line.

pub fn mix(
    hash: ::core::ffi::c_uint,
    byte: ::core::ffi::c_uchar,
) -> ::core::ffi::c_uint {
    let mut hash = hash ^ u32::from(byte);
    hash = hash.wrapping_mul(16777619);
    hash ^ (hash >> 15)
}

pub fn hash_of(name: &[::core::ffi::c_char]) -> ::core::ffi::c_uint {
    name.iter().fold(2166136261, |hash, byte| callee::mix(hash, *byte as u8))
}

pub unsafe fn link_item(slots: *mut *mut ffi::item, size: usize, item: *mut ffi::item) {
    unsafe {
        let slot = slots.add((*item).hash as usize % size);
        (*item).next = *slot;
        *slot = item;
    }
}

pub unsafe fn grow(store: *mut ffi::store) -> ::core::ffi::c_int {
    unsafe {
        let size = (*store).size * 2;
        let slots = libc::calloc(size, core::mem::size_of::<*mut ffi::item>()).cast::<*mut ffi::item>();
        if slots.is_null() {
            return -1;
        }
        let mut chain = Vec::new();
        for at in 0..(*store).size {
            let mut item = *(*store).slots.add(at);
            while !item.is_null() {
                chain.push(item);
                item = (*item).next;
            }
        }
        for item in chain {
            callee::link_item(slots, size, item);
        }
        libc::free((*store).slots.cast());
        (*store).slots = slots;
        (*store).size = size;
        0
    }
}

pub unsafe fn store_load(store: *const ffi::store) -> f64 {
    unsafe { (*store).count as f64 / (*store).size as f64 }
}

pub unsafe fn store_kind(store: *const ffi::store) -> *const ::core::ffi::c_char {
    let (count, size) = unsafe { ((*store).count, (*store).size) };
    let word = if count == 0 { c"empty" } else if count < size { c"open" } else { c"full" };
    word.as_ptr()
}

pub unsafe fn store_remove(
    store: *mut ffi::store,
    name: *const ::core::ffi::c_char,
    length: usize,
) -> ::core::ffi::c_int {
    let hash = callee::hash_of(unsafe { core::slice::from_raw_parts(name, length) });
    unsafe {
        let mut slot = (*store).slots.add(hash as usize % (*store).size);
        while !(*slot).is_null() {
            let item = *slot;
            if (*item).hash == hash
                && (*item).length == length
                && libc::memcmp((*item).name.as_ptr().cast(), name.cast(), length) == 0
            {
                *slot = (*item).next;
                (*store).count -= 1;
                (*store).checksum = (*store).checksum.wrapping_sub(hash);
                libc::free(item.cast());
                return 1;
            }
            slot = &raw mut (*item).next;
        }
        0
    }
}

use std::ffi::c_int;

unsafe extern "C" {
    fn counted(a: c_int, b: c_int, n: c_int) -> c_int;
    fn pick(a: c_int) -> c_int;
    fn never(a: c_int) -> c_int;
}

pub fn pick_in_rust(a: i32) -> i32 {
    if a > 3 {
        return 1;
    }
    if a < 0 { 2 } else { 3 }
}

pub fn many(a: u32, v: &[u8]) -> Option<u32> {
    let mut n = a.checked_sub(1)?;
    if n > 3 && v.len() > 4 {
        n += 2;
    }
    for x in v.iter().filter(|x| **x > 97 || **x == 3) {
        n += u32::from(*x);
    }
    while n > 100 {
        n -= 7;
    }
    let Some(first) = v.first() else { return None };
    match first {
        0 => Some(1),
        1 | 2 if n > 3 => Some(2),
        _ => Some(n),
    }
}

pub fn unused(a: u32) -> u32 {
    if a == 1 { 2 } else { 3 }
}

fn main() {
    if std::env::args().count() > 5 {
        println!("{}", unused(3));
        // SAFETY: any number is valid.
        println!("{}", unsafe { never(1) });
    }
    // SAFETY: any numbers are valid.
    let c = unsafe { counted(1, 2, 3) + counted(3, 50, 4) + counted(1, 1, -1) + pick(4) + pick(5) + pick(0) };
    let rust = pick_in_rust(4) + pick_in_rust(5) + pick_in_rust(0);
    println!("{c} {rust} {:?} {:?}", many(5, b"abc"), many(0, b""));
}

//! Three ports and their C originals, as a person would lay them out for cargo-fuzz.

unsafe extern "C" {
    pub fn kit_crc32(crc: u32, buf: *const u8, len: usize) -> u32;
    pub fn kit_fnv1a64(buf: *const u8, len: usize) -> u64;
    pub fn kit_rolling16(samples: *const i8, len: usize) -> u16;
}

const TABLE: [u32; 256] = {
    let mut table = [0u32; 256];
    let mut i = 0;
    while i < 256 {
        let (mut c, mut bit) = (i as u32, 0);
        while bit < 8 {
            c = if c & 1 == 1 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 };
            bit += 1;
        }
        table[i] = c;
        i += 1;
    }
    table
};

pub fn crc32(crc: u32, buf: &[u8]) -> u32 {
    !buf.iter().fold(!crc, |crc, b| TABLE[((crc ^ u32::from(*b)) & 0xff) as usize] ^ (crc >> 8))
}

pub fn fnv1a64(buf: &[u8]) -> u64 {
    buf.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

pub fn rolling16(samples: &[i8]) -> u16 {
    let (mut sum, mut weighted) = (0u16, 0u16);
    for s in samples {
        sum = sum.wrapping_add(i16::from(*s) as u16);
        weighted = weighted.wrapping_add(sum);
    }
    (((i32::from(sum) + i32::from(weighted)) / 2) ^ (i32::from(weighted) << 8)) as u16
}

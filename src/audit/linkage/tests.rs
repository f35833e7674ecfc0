use super::*;
use crate::platform::process::{Interrupt, Job};

/// A port as the tool lays it out, with one function in each way that a port can go.
const CRATE: &str = r#"
#![allow(warnings)]
pub mod ffi {
    unsafe extern "C" {
        #[link_name = "c_twice"]
        pub fn twice(x: u32) -> u32;
        #[link_name = "c_table"]
        pub static table: [u32; 4];
    }
}
pub mod callee {
    #[inline(never)]
    pub fn twice(x: u32) -> u32 { unsafe { crate::ffi::twice(x) } }
    #[inline(never)]
    pub fn closed(x: u32) -> u32 { unsafe { crate::ffi::twice(x ^ 1) } }
}
pub mod globals {
    unsafe extern "C" { pub fn free(at: *mut u8); }
    pub static mut mode: u32 = 7;
    pub static mut hooks: [unsafe extern "C" fn(*mut u8); 1] = [free];
}
pub mod capi {
    macro_rules! shims { ($($name:ident)*) => { $(
        pub unsafe extern "C" fn $name(x: u32) -> u32 { crate::m::$name(x) }
    )* } }
    shims! { honest by_shim direct generic table variable object late own_block environment prints own_symbol twice back frees frees_by_variable frees_by_table by_mode noted }
}
pub mod m {
    use crate::{callee, ffi};
    use std::collections::BTreeMap;

    #[inline]
    pub fn honest(x: u32) -> u32 {
        let mut map = BTreeMap::new();
        for i in 0..x { map.insert(i, format!("{i} {:?}", Some(i))); }
        map.values().map(|text| text.len() as u32).sum::<u32>() + f64::from(x).sin().abs() as u32 / [1, 2][x as usize]
    }
    pub fn by_shim(x: u32) -> u32 { callee::twice(x) + honest(x) }
    pub fn direct(x: u32) -> u32 { unsafe { ffi::twice(x) } }

    fn through<F: Fn(u32) -> u32>(f: F, x: u32) -> u32 { f(x) }
    pub fn generic(x: u32) -> u32 { through(|x| unsafe { ffi::twice(x) }, x) }

    static WAYS: [&'static [unsafe extern "C" fn(u32) -> u32]; 1] = [&[ffi::twice]];
    pub fn table(x: u32) -> u32 { unsafe { WAYS[0][x as usize](x) } }
    pub fn variable(x: u32) -> u32 { unsafe { ffi::table[x as usize] } }

    trait Way { fn go(&self, x: u32) -> u32; }
    struct ToC;
    impl Way for ToC { fn go(&self, x: u32) -> u32 { direct(x) } }
    static OBJECT: &(dyn Way + Sync) = &ToC;
    pub fn object(x: u32) -> u32 { std::hint::black_box(OBJECT).go(x) }

    struct Late(u32);
    impl Drop for Late { fn drop(&mut self) { std::hint::black_box(direct(self.0)); } }
    pub fn late(x: u32) -> u32 { let _late = Late(x); x }

    mod hidden { unsafe extern "C" { #[link_name = "dlsym"] pub fn find(of: usize, name: *const u8) -> usize; } }
    pub fn own_block(x: u32) -> u32 { unsafe { hidden::find(0, b"c_twice\0".as_ptr()) as u32 } }
    pub fn environment(x: u32) -> u32 { x + std::env::var("HOME").is_ok() as u32 }
    pub fn prints(x: u32) -> u32 { println!("{x}"); x }
    pub fn own_symbol(x: u32) -> u32 { x }
    pub fn twice(x: u32) -> u32 { callee::twice(x) }
    pub fn back(x: u32) -> u32 { callee::closed(x) }
    pub fn by_mode(x: u32) -> u32 { x ^ unsafe { crate::globals::mode } }
    pub fn noted(x: u32) -> u32 { x }
    pub fn frees(x: u32) -> u32 { unsafe { crate::globals::free(x as usize as *mut u8) }; x }
    pub fn frees_by_variable(x: u32) -> u32 { unsafe { crate::globals::hooks[0](x as usize as *mut u8) }; x }
    static FREE: [unsafe extern "C" fn(*mut u8); 1] = [crate::globals::free];
    pub fn frees_by_table(x: u32) -> u32 { unsafe { std::hint::black_box(&FREE)[0](x as usize as *mut u8) }; x }
}
"#;

fn compiled(text: &str) -> Compiled {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("kit.rs"), text).unwrap();
    let flags =
        ["--edition=2024", "--crate-type=rlib", "--crate-name=kit", "-Copt-level=3", "-Cincremental=kept"];
    let job = Job::new("rustc").args(flags).args(["-o", "kit.rlib", "kit.rs"]).dir(dir.path());
    let output = job.run(&Interrupt::none()).unwrap();
    assert!(output.exit.success(), "{}", output.stderr_text());
    Compiled::read(&std::fs::read(dir.path().join("kit.rlib")).unwrap(), "kit").unwrap()
}

fn linkage(compiled: &Compiled, ident: &str) -> Linkage {
    let file = syn::parse_file(CRATE).unwrap();
    let ffi = file.items.iter().find_map(|item| match item {
        syn::Item::Mod(m) if m.ident == "ffi" => {
            m.content.as_ref().map(|(_, items)| quote::quote!(#(#items)*))
        }
        _ => None,
    });
    let c = CSymbols::read(&ffi.unwrap().to_string()).unwrap();
    let others = BTreeSet::from(["mode".to_owned()]);
    let (replaceable, closed) = (BTreeSet::from(["free".to_owned()]), BTreeSet::from(["closed".to_owned()]));
    compiled.linkage(
        &Wanted {
            module: "m",
            ident,
            externs: BTreeSet::new(),
            replaceable: &replaceable,
            closed,
            variadic: BTreeSet::new(),
            others,
        },
        &c,
    )
}

#[test]
fn what_a_port_leads_to_shows_however_it_gets_there() {
    let compiled = compiled(CRATE);
    assert_eq!(linkage(&compiled, "honest"), Linkage::default());
    let by_shim = linkage(&compiled, "by_shim");
    assert_eq!((by_shim.reaches_c, by_shim.forbidden), (vec![SymbolName::new("twice")], Vec::new()));
    assert_eq!(linkage(&compiled, "frees_by_variable"), Linkage::default());
    for (ident, wanted) in [
        ("back", "the C function `closed`, which leads back"),
        ("by_mode", "`mode`, a variable that the C function does not use"),
        ("frees", "`free`, not through the variable"),
        ("frees_by_table", "`free`, not through the variable"),
        ("direct", "`twice`, not through its shim"),
        ("generic", "`twice`, not through its shim"),
        ("table", "`twice`, not through its shim"),
        ("object", "`twice`, not through its shim"),
        ("late", "`twice`, not through its shim"),
        ("variable", "`table`, not through its shim"),
        ("own_block", "the symbol `dlsym`"),
        ("environment", "std::env"),
        ("prints", "std::io"),
        ("twice", "its own C original"),
        ("missing", "the compiled crate has no m::missing"),
    ] {
        let linkage = linkage(&compiled, ident);
        assert!(linkage.forbidden.iter().any(|text| text.contains(wanted)), "{ident}: {linkage:?}");
    }
}

#[test]
fn what_takes_the_place_of_another_symbol_or_runs_at_the_start_is_everybodys() {
    let text = CRATE.replace("pub fn own_symbol", "#[unsafe(no_mangle)] pub fn own_symbol");
    let linkage_of_another = linkage(&compiled(&text), "honest");
    assert_eq!(linkage_of_another.forbidden, ["the crate defines the symbol `own_symbol`"]);
    let start = "#[used] #[unsafe(link_section = \".init_array\")] static START: extern \"C\" fn() = begin;\n\
                 extern \"C\" fn begin() { std::hint::black_box(direct(1)); }\npub fn own_symbol";
    let text = CRATE.replace("pub fn own_symbol", start);
    let linkage_of_another = linkage(&compiled(&text), "honest");
    assert!(
        linkage_of_another.forbidden.iter().any(|text| text.contains("`twice`")),
        "{linkage_of_another:?}"
    );
}

/// The type of such a section says that it is no code; the loader reads its flags.
#[test]
fn code_in_a_section_of_its_own_is_seen() {
    for section in [".note.mine", ".debug_mine", "__sancov_mine", ".mine", "mine"] {
        let called = format!(
            "#[inline(never)] #[unsafe(link_section = \"{section}\")] fn away(x: u32) -> u32 {{ direct(x) }}\n    \
             pub fn noted(x: u32) -> u32 {{ away(x) }}"
        );
        let text = CRATE.replace("pub fn noted(x: u32) -> u32 { x }", &called);
        let told = linkage(&compiled(&text), "noted").forbidden;
        let wanted = format!("the section `{section}`");
        assert!(
            told.contains(&wanted) && told.iter().any(|text| text.contains("`twice`")),
            "{section}: {told:?}"
        );
    }
}

#[test]
fn what_is_no_archive_is_an_error() {
    assert!(Compiled::read(b"!<arch>\n", "kit").is_err());
    assert!(Compiled::read(b"nonsense", "kit").is_err());
}

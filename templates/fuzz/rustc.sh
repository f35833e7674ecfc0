#!/bin/sh
# Compiles with rustc. The port, and only that, is compiled within limits, because a model may have written it. Where
# IMPLFUZZ_PORT_IS is `guided` it is instrumented for libFuzzer, where it is `shipped` it gets none of the flags that
# its users would not give. Written by cargo-implfuzz.
rustc=$1
shift
case "$CARGO_CRATE_NAME" in
build_script_*) exec "$rustc" "$@" ;;
esac
if [ -n "$IMPLFUZZ_PORT" ] && [ "$CARGO_MANIFEST_DIR" = "$IMPLFUZZ_PORT" ]; then
    # Seconds of processor time; memory in KiB; size of a file in blocks of 512 bytes. Time has a
    # soft limit alone, because only that one raises SIGXCPU.
    # One that cannot be set is lower already.
    for limit in "-St @SECONDS@" "-v $IMPLFUZZ_MEMORY" "-f @BLOCKS@"; do
        ulimit $limit 2>/dev/null || :
    done
    # The text of a port can read the environment. It finds only variables that every build has, and no keys.
    is=$IMPLFUZZ_PORT_IS
    for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
        case "$name" in
        PATH | HOME | TMPDIR | LC_ALL | LD_LIBRARY_PATH | LIBRARY_PATH | GCC_EXEC_PREFIX | COMPILER_PATH) ;;
        RUSTUP_HOME | RUSTUP_TOOLCHAIN | CARGO_HOME | CARGO_MAKEFLAGS | OUT_DIR) ;;
        CARGO_CRATE_NAME | CARGO_PRIMARY_PACKAGE | CARGO_MANIFEST_DIR | CARGO_MANIFEST_PATH | CARGO_PKG_*) ;;
        *) unset "$name" ;;
        esac
    done
    case "$is" in
    guided) set -- "$@" @FLAGS@ ;;
    shipped)
        for flag; do
            shift
            case "$last $flag" in
            *" --cfg=fuzzing" | *" --cfg=implfuzz_"* | *" -Cinstrument-coverage" | *" --cfg") ;;
            "--cfg feature=\"c-original\"") ;;
            "--cfg "*) set -- "$@" --cfg "$flag" ;;
            *) set -- "$@" "$flag" ;;
            esac
            last=$flag
        done
        # Paths as in a build by its users.
        set -- "$@" "--remap-path-prefix=$CARGO_MANIFEST_DIR/="
        export CARGO_MANIFEST_DIR=/port CARGO_MANIFEST_PATH=/port/Cargo.toml OUT_DIR=/port/out
        ;;
    esac
fi
exec "$rustc" "$@"

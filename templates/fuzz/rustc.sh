#!/bin/sh
# Compiles with rustc, and instruments the port, and only that, for libFuzzer. Written by cargo-implfuzz.
rustc=$1
shift
case "$CARGO_CRATE_NAME" in
build_script_*) exec "$rustc" "$@" ;;
esac
if [ -n "$IMPLFUZZ_PORT" ] && [ "$CARGO_MANIFEST_DIR" = "$IMPLFUZZ_PORT" ]; then
    exec "$rustc" "$@" @FLAGS@
fi
exec "$rustc" "$@"

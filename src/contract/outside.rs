//! Which functions reach out of the library, to sockets, threads, files or the terminal, themselves or through what they
//! call. What follows from it is decided in `contract::tier`.

use crate::symbol::{Function, Library, SymbolKey};
use std::collections::HashMap;

/// Where a function reaches to; the worse one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Realm {
    /// Files, standard streams, the environment: can be set up, but somebody must say how.
    Files,
    /// Sockets, threads, processes, signals.
    System,
}

/// What takes a function out of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach<'a> {
    pub realm: Realm,
    /// The name of the function that is called there.
    pub calls: &'a str,
    /// The library function that calls it.
    pub from: &'a Function,
}

/// What each function reaches, found callees first: the work grows with the number of calls.
pub(super) fn outside(library: &Library) -> HashMap<&SymbolKey, Reach<'_>> {
    let mut reached: HashMap<&SymbolKey, Reach> = HashMap::new();
    loop {
        let mut changed = false;
        for function in &library.functions {
            let own = function
                .externs
                .iter()
                .filter_map(|name| Some(Reach { realm: realm(name)?, calls: name, from: function }));
            let callees = function.calls.iter().chain(&function.address_taken);
            let through = callees.filter_map(|key| reached.get(key).copied());
            // The first of the worst; a function's own call before those of its callees.
            let worst =
                own.chain(through).reduce(|best, next| if next.realm > best.realm { next } else { best });
            let before = reached.get(&function.key).map(|reach| reach.realm);
            if let Some(worst) = worst.filter(|worst| Some(worst.realm) > before) {
                reached.insert(&function.key, worst);
                changed = true;
            }
        }
        // Only cycles need a second pass.
        if !changed {
            return reached;
        }
    }
}

fn realm(name: &str) -> Option<Realm> {
    match name {
        "socket" | "socketpair" | "connect" | "bind" | "listen" | "accept" | "accept4" | "send"
        | "sendto" | "sendmsg" | "recv" | "recvfrom" | "recvmsg" | "select" | "poll" | "epoll_create"
        | "epoll_wait" | "getaddrinfo" | "gethostbyname" | "pthread_create" | "pthread_join"
        | "thrd_create" | "thrd_join" | "fork" | "vfork" | "execv" | "execve" | "execvp" | "execl"
        | "execlp" | "posix_spawn" | "system" | "popen" | "waitpid" | "kill" | "signal" | "sigaction"
        | "raise" | "dlopen" | "dlsym" => Some(Realm::System),
        "printf" | "vprintf" | "fprintf" | "vfprintf" | "puts" | "putchar" | "putc" | "fputs" | "fputc"
        | "perror" | "scanf" | "vscanf" | "fscanf" | "vfscanf" | "gets" | "fgets" | "getc" | "fgetc"
        | "getchar" | "getline" | "getdelim" | "ungetc" | "fopen" | "fdopen" | "freopen" | "fclose"
        | "fread" | "fwrite" | "fflush" | "fseek" | "fseeko" | "ftell" | "ftello" | "rewind" | "feof"
        | "ferror" | "fileno" | "setvbuf" | "tmpfile" | "open" | "openat" | "creat" | "close" | "read"
        | "write" | "pread" | "pwrite" | "lseek" | "ftruncate" | "stat" | "fstat" | "lstat" | "access"
        | "unlink" | "remove" | "rename" | "mkdir" | "rmdir" | "opendir" | "readdir" | "closedir"
        | "mmap" | "munmap" | "getenv" | "setenv" | "putenv" | "isatty" | "ioctl" | "fcntl"
        | "__fprintf_chk" | "__printf_chk" => Some(Realm::Files),
        _ => None,
    }
}

/// Chance and clocks for which a harness answers from the input, to both sides alike.
pub(super) fn is_shimmed(name: &str) -> bool {
    matches!(name, "rand" | "srand" | "random" | "srandom" | "time" | "clock")
}

/// Functions on file descriptors: they repeat where the file is the harness's own.
pub(super) fn is_on_descriptors(name: &str) -> bool {
    matches!(name, "open" | "open64" | "read" | "write" | "close" | "lseek" | "lseek64" | "fcntl")
}

/// Functions whose result is another at every call: input, output, time, chance. A harness of today cannot stand them.
pub(super) fn is_unrepeatable(name: &str) -> bool {
    matches!(
        name,
        "gettimeofday"
            | "clock_gettime"
            | "getpid"
            | "getrandom"
            | "getenv"
            | "printf"
            | "fprintf"
            | "puts"
            | "putchar"
            | "fputs"
            | "fputc"
            | "fwrite"
            | "fread"
            | "fopen"
            | "fclose"
            | "fgets"
            | "getc"
            | "fgetc"
            | "read"
            | "write"
            | "open"
            | "close"
            | "lseek"
            | "scanf"
            | "sscanf"
            | "fscanf"
            | "system"
            | "fork"
            | "socket"
            | "vfprintf"
            | "perror"
            | "fflush"
            | "fseek"
            | "ftell"
            | "ungetc"
            | "localtime"
            | "setjmp"
            | "longjmp"
            | "signal"
    )
}

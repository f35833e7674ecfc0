/*
 * Functions of the system that do more than compute: each `implfuzz_of_NAME` says so to `implfuzz_outside`, with all
 * registers as they were, and goes on in the function itself. `NAMES` is a generated file: one line `outside NAME`
 * each.
 */
#include "registers.inc"

/* Bytes of a `struct registers`. */
#define REGISTERS 208

    .text
#if defined(__x86_64__)

implfuzz_tell:
    push %rbp
    mov %rsp, %rbp
    sub $REGISTERS, %rsp
    and $-16, %rsp
    keep_arguments %rsp
    mov %r11, %rdi
    call implfuzz_outside
    give_arguments %rsp
    leave
    ret

.macro tell_and_go name
    lea 0b(%rip), %r11
    call implfuzz_tell
    jmp \name@PLT
.endm

#elif defined(__aarch64__)

implfuzz_tell:
    stp x29, x30, [sp, #-16]!
    mov x29, sp
    sub sp, sp, #REGISTERS
    keep_arguments sp
    mov x0, x17
    bl implfuzz_outside
    give_arguments sp
    mov sp, x29
    ldp x29, x30, [sp], #16
    ret

.macro tell_and_go name
    adrp x17, 0b
    add x17, x17, :lo12:0b
    str x30, [sp, #-16]!
    bl implfuzz_tell
    ldr x30, [sp], #16
    b \name
.endm

#endif

.macro outside name
    .section .rodata
0:  .asciz "\name"
    .text
    .globl implfuzz_of_\name
    .type implfuzz_of_\name, %function
implfuzz_of_\name:
    tell_and_go \name
    .size implfuzz_of_\name, . - implfuzz_of_\name
.endm

#include NAMES

    .section .note.GNU-stack, "", %progbits

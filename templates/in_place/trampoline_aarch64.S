/* The ways into the judge and out of it, for aarch64. */

#include "registers.inc"

#define RESULT 208
#define TARGET 288
#define FRAME 304

    .text

/* Every patched entry jumps here, with its number in w17. The caller's registers go into `struct registers`. */
    .globl implfuzz_trampoline
    .hidden implfuzz_trampoline
    .type implfuzz_trampoline, %function
implfuzz_trampoline:
    stp x29, x30, [sp, #-16]!
    mov x29, sp
    sub sp, sp, #FRAME
    keep_arguments sp
    str w17, [sp, #TARGET]
    mov x0, sp
    bl implfuzz_judge_stack
    mov x9, x0
    ldr w0, [sp, #TARGET]
    mov x1, sp
    mov x2, x29
    add x3, sp, #RESULT
    cbz x9, 2f
    mov sp, x9
2:  bl implfuzz_judge
    sub sp, x29, #FRAME
    cbz w0, 1f
    ldp x0, x1, [sp, #RESULT]
    ldp q0, q1, [sp, #RESULT+16]
    ldp q2, q3, [sp, #RESULT+48]
    mov sp, x29
    ldp x29, x30, [sp], #16
    ret
    /* Not judged: the function runs as if nothing had been in between. */
1:  ldr w0, [sp, #TARGET]
    bl implfuzz_original
    mov x17, x0
    give_arguments sp
    mov sp, x29
    ldp x29, x30, [sp], #16
    br x17
    .size implfuzz_trampoline, . - implfuzz_trampoline

/* void implfuzz_call(target, registers, arguments, bytes, result, stack) */
    .globl implfuzz_call
    .hidden implfuzz_call
    .type implfuzz_call, %function
implfuzz_call:
    stp x29, x30, [sp, #-32]!
    mov x29, sp
    str x19, [sp, #16]
    mov x17, x0
    mov x9, x1
    mov x19, x4
    cbz x5, 1f
    mov sp, x5
1:  add x3, x3, #15
    and x3, x3, #-16
    sub sp, sp, x3
    mov x10, sp
    cbz x3, 3f
2:  ldp x11, x12, [x2], #16
    stp x11, x12, [x10], #16
    subs x3, x3, #16
    b.ne 2b
3:  give_arguments x9
    blr x17
    stp x0, x1, [x19, #0]
    stp q0, q1, [x19, #16]
    stp q2, q3, [x19, #48]
    mov sp, x29
    ldr x19, [sp, #16]
    ldp x29, x30, [sp], #32
    ret
    .size implfuzz_call, . - implfuzz_call

    .section .note.GNU-stack, "", %progbits

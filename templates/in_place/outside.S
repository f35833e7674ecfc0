/*
 * Functions of the system that do more than compute: each `implfuzz_of_NAME` says so to `implfuzz_outside`, with all registers
 * as they were, and goes on in the function itself. `outside_names.inc` is generated: one line `outside NAME` each.
 */
#if defined(__x86_64__)

    .text
implfuzz_tell:
    push %rbp
    mov %rsp, %rbp
    sub $192, %rsp
    and $-16, %rsp
    mov %rdi, 0(%rsp)
    mov %rsi, 8(%rsp)
    mov %rdx, 16(%rsp)
    mov %rcx, 24(%rsp)
    mov %r8, 32(%rsp)
    mov %r9, 40(%rsp)
    mov %rax, 48(%rsp)
    mov %r10, 56(%rsp)
    movups %xmm0, 64(%rsp)
    movups %xmm1, 80(%rsp)
    movups %xmm2, 96(%rsp)
    movups %xmm3, 112(%rsp)
    movups %xmm4, 128(%rsp)
    movups %xmm5, 144(%rsp)
    movups %xmm6, 160(%rsp)
    movups %xmm7, 176(%rsp)
    mov %r11, %rdi
    call implfuzz_outside
    mov 0(%rsp), %rdi
    mov 8(%rsp), %rsi
    mov 16(%rsp), %rdx
    mov 24(%rsp), %rcx
    mov 32(%rsp), %r8
    mov 40(%rsp), %r9
    mov 48(%rsp), %rax
    mov 56(%rsp), %r10
    movups 64(%rsp), %xmm0
    movups 80(%rsp), %xmm1
    movups 96(%rsp), %xmm2
    movups 112(%rsp), %xmm3
    movups 128(%rsp), %xmm4
    movups 144(%rsp), %xmm5
    movups 160(%rsp), %xmm6
    movups 176(%rsp), %xmm7
    leave
    ret

.macro outside name
    .section .rodata
0:  .asciz "\name"
    .text
    .globl implfuzz_of_\name
    .type implfuzz_of_\name, @function
implfuzz_of_\name:
    lea 0b(%rip), %r11
    call implfuzz_tell
    jmp \name@PLT
    .size implfuzz_of_\name, . - implfuzz_of_\name
.endm

#elif defined(__aarch64__)

    .text
implfuzz_tell:
    stp x29, x30, [sp, #-16]!
    mov x29, sp
    sub sp, sp, #224
    stp x0, x1, [sp, #0]
    stp x2, x3, [sp, #16]
    stp x4, x5, [sp, #32]
    stp x6, x7, [sp, #48]
    str x8, [sp, #64]
    stp q0, q1, [sp, #80]
    stp q2, q3, [sp, #112]
    stp q4, q5, [sp, #144]
    stp q6, q7, [sp, #176]
    mov x0, x17
    bl implfuzz_outside
    ldp x0, x1, [sp, #0]
    ldp x2, x3, [sp, #16]
    ldp x4, x5, [sp, #32]
    ldp x6, x7, [sp, #48]
    ldr x8, [sp, #64]
    ldp q0, q1, [sp, #80]
    ldp q2, q3, [sp, #112]
    ldp q4, q5, [sp, #144]
    ldp q6, q7, [sp, #176]
    mov sp, x29
    ldp x29, x30, [sp], #16
    ret

.macro outside name
    .section .rodata
0:  .asciz "\name"
    .text
    .globl implfuzz_of_\name
    .type implfuzz_of_\name, %function
implfuzz_of_\name:
    adrp x17, 0b
    add x17, x17, :lo12:0b
    str x30, [sp, #-16]!
    bl implfuzz_tell
    ldr x30, [sp], #16
    b \name
    .size implfuzz_of_\name, . - implfuzz_of_\name
.endm

#endif

#include "outside_names.inc"

#if defined(__aarch64__)
    .section .note.GNU-stack, "", %progbits
#else
    .section .note.GNU-stack, "", @progbits
#endif

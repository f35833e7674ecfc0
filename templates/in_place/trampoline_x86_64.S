/* The ways into the judge and out of it, for x86-64. */

#include "registers.inc"

#define RESULT 208
#define TARGET 288
#define FRAME 304

    .text

/* Every patched entry jumps here, with its number in r11d. The caller's registers go into `struct registers`. */
    .globl implfuzz_trampoline
    .hidden implfuzz_trampoline
    .type implfuzz_trampoline, @function
implfuzz_trampoline:
    push %rbp
    mov %rsp, %rbp
    sub $FRAME, %rsp
    and $-16, %rsp
    keep_arguments %rsp
    mov %r11d, TARGET(%rsp)
    mov %rsp, %rdi
    call implfuzz_judge_stack
    mov TARGET(%rsp), %edi
    mov %rsp, %rsi
    mov %rbp, %rdx
    lea RESULT(%rsp), %rcx
    test %rax, %rax
    jz 2f
    mov %rax, %rsp
2:  call implfuzz_judge
    lea -FRAME(%rbp), %rsp
    and $-16, %rsp
    test %eax, %eax
    jz 1f
    mov RESULT+0(%rsp), %rax
    mov RESULT+8(%rsp), %rdx
    movups RESULT+16(%rsp), %xmm0
    movups RESULT+32(%rsp), %xmm1
    leave
    ret
    /* Not judged: the function runs as if nothing had been in between. */
1:  mov TARGET(%rsp), %edi
    call implfuzz_original
    mov %rax, %r11
    give_arguments %rsp
    leave
    jmp *%r11
    .size implfuzz_trampoline, . - implfuzz_trampoline

/* void implfuzz_call(target, registers, arguments, bytes, result, stack) */
    .globl implfuzz_call
    .hidden implfuzz_call
    .type implfuzz_call, @function
implfuzz_call:
    push %rbp
    mov %rsp, %rbp
    push %rbx
    push %r12
    mov %rdi, %r11
    mov %rsi, %rbx
    mov %r8, %r12
    test %r9, %r9
    jz 1f
    mov %r9, %rsp
1:  sub %rcx, %rsp
    and $-16, %rsp
    mov %rdx, %rsi
    mov %rsp, %rdi
    cld
    rep movsb
    give_arguments %rbx
    call *%r11
    mov %rax, 0(%r12)
    mov %rdx, 8(%r12)
    movups %xmm0, 16(%r12)
    movups %xmm1, 32(%r12)
    lea -16(%rbp), %rsp
    pop %r12
    pop %rbx
    pop %rbp
    ret
    .size implfuzz_call, . - implfuzz_call

    .section .note.GNU-stack, "", @progbits

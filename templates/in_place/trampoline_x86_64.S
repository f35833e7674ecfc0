/* The ways into the judge and out of it, for x86-64. */

#define INTEGERS 0
#define VECTORS 80
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
    mov %rdi, 0(%rsp)
    mov %rsi, 8(%rsp)
    mov %rdx, 16(%rsp)
    mov %rcx, 24(%rsp)
    mov %r8, 32(%rsp)
    mov %r9, 40(%rsp)
    mov %rax, 48(%rsp)
    mov %r10, 56(%rsp)
    movups %xmm0, VECTORS+0(%rsp)
    movups %xmm1, VECTORS+16(%rsp)
    movups %xmm2, VECTORS+32(%rsp)
    movups %xmm3, VECTORS+48(%rsp)
    movups %xmm4, VECTORS+64(%rsp)
    movups %xmm5, VECTORS+80(%rsp)
    movups %xmm6, VECTORS+96(%rsp)
    movups %xmm7, VECTORS+112(%rsp)
    mov %r11d, TARGET(%rsp)
    mov %r11d, %edi
    mov %rsp, %rsi
    mov %rbp, %rdx
    lea RESULT(%rsp), %rcx
    call implfuzz_judge
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
    movups VECTORS+0(%rsp), %xmm0
    movups VECTORS+16(%rsp), %xmm1
    movups VECTORS+32(%rsp), %xmm2
    movups VECTORS+48(%rsp), %xmm3
    movups VECTORS+64(%rsp), %xmm4
    movups VECTORS+80(%rsp), %xmm5
    movups VECTORS+96(%rsp), %xmm6
    movups VECTORS+112(%rsp), %xmm7
    mov 0(%rsp), %rdi
    mov 8(%rsp), %rsi
    mov 16(%rsp), %rdx
    mov 24(%rsp), %rcx
    mov 32(%rsp), %r8
    mov 40(%rsp), %r9
    mov 48(%rsp), %rax
    mov 56(%rsp), %r10
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
    movups VECTORS+0(%rbx), %xmm0
    movups VECTORS+16(%rbx), %xmm1
    movups VECTORS+32(%rbx), %xmm2
    movups VECTORS+48(%rbx), %xmm3
    movups VECTORS+64(%rbx), %xmm4
    movups VECTORS+80(%rbx), %xmm5
    movups VECTORS+96(%rbx), %xmm6
    movups VECTORS+112(%rbx), %xmm7
    mov 0(%rbx), %rdi
    mov 8(%rbx), %rsi
    mov 16(%rbx), %rdx
    mov 24(%rbx), %rcx
    mov 32(%rbx), %r8
    mov 40(%rbx), %r9
    mov 48(%rbx), %rax
    mov 56(%rbx), %r10
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

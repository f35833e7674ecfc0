/* The program that judges, as data of the program with libFuzzer. */
    .section .rodata
    .global implfuzz_judge_start
    .global implfuzz_judge_end
implfuzz_judge_start:
    .incbin JUDGE
implfuzz_judge_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits

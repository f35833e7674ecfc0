/*
 * Judges functions inside of a running program: where it calls one, C runs, memory is put back, a candidate runs on the
 * same memory, both results are compared, and the program goes on with C's result.
 *
 *   places.c      where all of this lies
 *   memory.c      the arena, from which the library and the program allocate
 *   track.c       which pages a call writes, and what was in them
 *   compare_pages.c   puts memory back, and compares it
 *   rust_heap.c   what ports allocate for themselves
 *   constants.c   the named constants of the program
 *   entries.c     patches the entries of functions; trampoline_*.S leads from there to the judge
 *   called_back.c which functions of the driver are called, and with what
 *   candidate.c   calls a candidate on a stack of its own, and takes back control whatever it does
 *   call_time_limit.c   how long a candidate may run
 *   judge.c       one judged call
 *   compare_call.c   compares what a candidate leaves with what C left: the result, the stack, `errno`; memory is above
 *   no_value.c    which bytes differ each time C runs
 *   nans.c        which words that differ are NaNs
 *   calls.c       which calls are judged
 *   branches.c    counts the branches that C takes in calls that are judged
 *   watch.c       tells what calls look like
 *   outside.S     calls that leave the process
 *   process.c     calls that would take the process from the judge
 *   tape.c        calls of the system that happen once, for C, and are answered for candidates
 *   printed.c     those that print
 *   answers.c     what the system could have answered instead
 *   report.c      what the parent process is told
 *   main.c        runs the driver on inputs
 *
 * No part has variables of its own: .data and .bss are put back, too. All of it lies in `STATE`, at an address that each
 * build chooses by chance.
 */
#ifndef IMPLFUZZ_IN_PLACE_H
#define IMPLFUZZ_IN_PLACE_H

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE ((size_t)4096)

/* How the result of a function is compared. */
enum result {
    RESULT_NONE,
    RESULT_1,
    RESULT_2,
    RESULT_4,
    RESULT_8,
    RESULT_FLOAT,
    RESULT_DOUBLE,
    RESULT_16,
    RESULT_UNKNOWN,
    RESULT_POINTER,
    RESULT_TEXT, /* a pointer to char */
    /* One or two words of a struct, which may be pointers. */
    RESULT_WORD,
    RESULT_PAIR,
    RESULT_PARTS /* words of a struct with padding or floating point */
};

/* A word of an argument or of a result: a register of its kind, or the word on the stack, and the bits that are no padding.
 * Generated: `passing.rs`. */
struct implfuzz_part {
    enum part_place {
        PART_INTEGER,
        PART_FLOATS, /* one number of four bytes, or two */
        PART_DOUBLE,
        PART_STACK
    } place;
    unsigned at;
    uint64_t mask;
    unsigned behind; /* bytes of the struct that it points to, or 0 */
};

/* Floating-point numbers behind an argument, or behind the result, in each element of an array. Generated: `floats.rs`. */
struct implfuzz_lane {
    int argument; /* -1: the result */
    int through;  /* where in an element of `step` bytes the array's address is; -1: the argument has it */
    unsigned step, size, at, width;
    int is_whole; /* elements are nothing but such numbers */
};

/* A function of the library. Generated: `functions`, `entries`. */
struct implfuzz_function {
    const char *symbol;
    enum result result;
    /* Bytes of arguments on the stack. */
    size_t stack_bytes;
    /* Integer arguments in registers, and on the stack, if it is known where these are. */
    unsigned integers, on_stack;
    /* The words of arguments, by which calls are told apart, and those of a result of RESULT_PARTS. */
    const struct implfuzz_part *arguments, *result_parts;
    size_t argument_count, result_count;
    const struct implfuzz_lane *lanes;
    size_t lane_count;
    /* What is judged, from number 0; NULL where there is nothing. */
    void *const *candidates;
    size_t count;
    /* C calls what may change errno as a side effect, and nothing whose result it is. */
    unsigned errno_says_nothing;
};

/* Where a function begins: in a unit that has a copy of it. */
struct implfuzz_entry {
    uint32_t function;
    unsigned char *address;
};

extern const struct implfuzz_function implfuzz_functions[];
extern const size_t implfuzz_function_count;
extern const struct implfuzz_entry implfuzz_entries[];
extern const size_t implfuzz_entry_count;

/* How a function of the driver gets its arguments, by the linker's name. Generated: `of_driver`. */
struct implfuzz_signature {
    const char *name;
    const struct implfuzz_parameter {
        enum passed {
            PASSED_INTEGER,
            PASSED_FLOAT,
            PASSED_POINTER,
            PASSED_INPUT, /* a pointer to what the function only reads */
            PASSED_TEXT   /* the same, to char */
        } kind;
        unsigned bytes; /* of a number, or of what a pointer leads to: 0 where that is not known */
    } *parameters;
    size_t count;
};

extern const struct implfuzz_signature implfuzz_signatures[];
extern const size_t implfuzz_signature_count;

/* What a call gets and gives; trampoline_*.S know this layout. */
struct registers {
    uint64_t integer[10]; /* x86-64: rdi rsi rdx rcx r8 r9 rax r10; aarch64: x0 to x8 */
    unsigned char vector[8][16];
};

struct result_registers {
    uint64_t integer[2];
    unsigned char vector[4][16];
};

/* Calls `target` with these registers and arguments; on `stack`, or on the current one where it is NULL. */
void implfuzz_call(void *target, const struct registers *registers, const void *arguments, size_t bytes,
                   struct result_registers *result, void *stack);

/* How a candidate differs from C. */
enum difference {
    SAME,
    DIFFERS_RESULT,
    DIFFERS_MEMORY,
    DIFFERS_VARIABLE,
    DIFFERS_STACK,
    DIFFERS_ERRNO,
    DIFFERS_ALLOCATION,
    CRASHED,
    HUNG,
    EXITED,
    LEFT_PROCESS,
    DIFFERS_HEAP,
    CALLS_OTHERWISE = 13 /* 12 is a whole run */
};

/* Why a difference may be right. */
enum excuse {
    NONE,
    MOVED,           /* addresses in the arena, after other allocations */
    OTHER_CONSTANT,  /* addresses of constants or functions, of which C and a port have one each */
    EQUAL_CONSTANTS, /* the same bytes stand at both, or C's function and its port: no difference */
    SAME_START,      /* the same text, and behind it C's constant goes on with other bytes */
    AT_END,          /* memory, where both end the program: what runs behind `exit` may read it, or not */
    OTHER_CALLS,     /* of the driver's own functions, or other arguments there: a program may look at them, or not */
    OTHER_MEMORY,    /* while one of them runs: the same */
    OTHER_NANS       /* of two NaNs, or of two integers that look like NaNs */
};

/* A stretch of memory that is put back. */
struct region {
    unsigned char *start;
    size_t pages;
    /* For each page: 0, or its number in the log and 1. */
    uint32_t *logged;
};

#define CANDIDATES 64
/* What new memory begins with outside of judged calls. */
#define FRESH_OF_DRIVER 0xcb
/* What C finds on a stack that nobody wrote, when it runs again: other bits while `flip` is set. */
#define STACK_FILL 0xa4
/* Places of differences that are told. */
#define PLACES 16
/* Sizes of blocks in the arena, which grow by a quarter. */
#define CLASSES 40
/* The kernel has a limit of 65,530 mappings, and each page of the log makes two. */
#define LOG_PAGES (1u << 14)
/* Of the arena, while the rest of it is protected between two judged calls. */
#define OPEN_PAGES 64
#define STACK_BYTES ((size_t)8 << 20)
/* Where C's answer is while candidates run: they cannot read it. */
#define AFTER_BYTES (STACK_BYTES + LOG_PAGES * PAGE)
#define SECRET_BYTES (PAGE + 2 * AFTER_BYTES + sizeof(struct called))

/* What is recorded of calls of the driver's functions in a judged call, in its order. */
#define CALLED_WORDS (1u << 14)
struct called {
    uint64_t calls;
    size_t count;
    struct called_word {
        uint64_t word;
        enum called_kind {
            CALLED_FUNCTION = 1,
            CALLED_ARGUMENT = 2,
            CALLED_TEXT = 4,   /* an argument that leads to bytes, which follow */
            CALLED_MEMORY = 8,
            CALLED_OWN = 16    /* and an address in memory that C or the candidate has for itself */
        } kind;
    } words[CALLED_WORDS];
};

/* A page that a call wrote. */
struct logged_page {
    unsigned char *address;
    uint32_t *logged;
    /* C wrote it: the others are as they were. */
    int by_c;
};

/* What a run is for. */
enum purpose {
    COUNTS,   /* which functions an input reaches */
    JUDGES,   /* C and candidates on the same memory */
    BRANCHES, /* the branches that C takes in calls that would be judged */
    WATCHES,  /* arguments and results of calls */
    REPLACES, /* candidate 0 in the place of C */
};

/* Arguments of a watched call that are integers. */
#define WATCHED 16
#define TAPE_CALLS 256
#define TAPE_BYTES ((size_t)1 << 20)
#define TAPE_ARGUMENTS 4

struct implfuzz_taped;

/* What C asked the system for in a judged call, and what it got. */
struct tape {
    struct taped_call {
        const struct implfuzz_taped *of;
        uint64_t said[TAPE_ARGUMENTS], asked, result; /* `asked`: how many items fwrite is to write */
        int error; /* `errno` behind it, or 0 where it stayed */
        size_t at; /* the first byte that it wrote */
    } calls[TAPE_CALLS];
    size_t count, used;
    size_t next; /* where a candidate stands */
    unsigned char bytes[TAPE_BYTES];
};

/* How one call of the system is answered otherwise. */
enum change {
    AS_REAL,
    FEWER,  /* bytes or items than were asked for */
    AT_ITS_END, /* of the file */
    FAILS,
    OTHER   /* another number, time or text */
};

/* Memory whose end is known; all 0 for other memory. */
struct extent {
    const unsigned char *start, *end;
};

struct state {
    /* Where judging stands. */
    volatile sig_atomic_t judging, in_candidate, tracking;
    sigjmp_buf leave;
    /* Where the run on an input ends if the program calls `exit`, in `drive`; and the thread that runs the driver, or 0. */
    sigjmp_buf end_of_run;
    volatile long driving;
    volatile sig_atomic_t has_ended;
    int status;
    uint64_t open_at_start; /* a bit for each descriptor */
    /* Whether the candidate has ended the program like C. */
    volatile sig_atomic_t ends_as_c;
    volatile unsigned ticks, ticks_at_start, ticks_allowed;
    /* The name of what left the process during a call. */
    const char *volatile outside;
    /* What has ended all judging: a thread or another process was started. */
    const char *volatile no_more;
    /* A stream writes to memory of the program whenever it likes. */
    const char *volatile no_tape;
    struct tape tape;
    /* answers.c */
    struct answers {
        struct tape real; /* what the system answered in the judged call */
        size_t at;        /* the call that is answered otherwise */
        enum change how;
        uint64_t number; /* of the changes: texts and times differ by it */
        int imagines;    /* C runs, and gets its answers here */
        int given;
        size_t next;     /* the first call of `real` that C has not made */
        uint64_t stream, rest; /* of the changed call: its stream, and the bytes that it did not give */
    } answers;

    struct region regions[2];
    struct logged_page log[LOG_PAGES];
    size_t logged;
    int overflow;
    /* C has converted a float to an integer that cannot hold it. */
    int undefined;
    /* Between judged calls, the arena may stay protected, except for these pages. */
    int is_closed;
    unsigned char *open_pages[OPEN_PAGES];
    size_t open_count;
    /* How many calls will leave it open. */
    size_t open_calls;
    size_t usable_pages; /* of the arena: those behind cannot be touched */
    size_t class_sizes[CLASSES];
    unsigned char *before, *after; /* LOG_PAGES pages each, in the order of the log */
    /* What C answered: a page, then `stack_after`, then `after`. */
    unsigned char *secret;
    /* The same of the judged call, while C runs once more; `logged_by_c`: how many pages of the log C wrote. */
    unsigned char *after_aside, *stack_after_aside;
    size_t logged_by_c, logged_aside;
    /* The bytes of new memory: what is not written before it is read shows. Judged calls have several. */
    unsigned char fresh;
    /* All bits while C runs to show which bytes come from new memory that it did not write: they are all other ones. */
    unsigned char flip;
    /* no_value.c: a bit for each byte of the log's pages and of the driver's stack, and what is done with those bytes */
    struct no_value {
        unsigned char *bits;
        int is_any;
        enum { COUNTED, FOUND, LEFT_OUT } use;
        uintptr_t others[PLACES - 1]; /* words that are not what nobody wrote, but may hang on it */
        size_t other_count;
    } no_value;
    /* The bytes behind blocks: what reads beyond the end finds something else with other inputs. */
    unsigned char red;
    /* Of the input. */
    uint64_t salt;
    /* Where the frames of the judged call's caller begin, with the arguments. */
    unsigned char *judged_stack;
    /* Where the trampoline of the judged call has its frame: all calls below it come from this one. */
    const unsigned char *judged_frame;
    /* The function that is judged, and the candidate that stands for it; NULL where that is C. */
    uint32_t judged_function;
    void *code;

    unsigned char *stack_base;   /* where the driver's stack ends */
    unsigned char *stack_before, *stack_after;
    unsigned char *candidate_stack; /* STACK_BYTES, between two pages that cannot be touched */
    unsigned char *judge_stack, *driver_stack; /* their ends */

    /* The run. */
    uint64_t input;
    int report;
    enum purpose purpose;
    int fails_allocations; /* whether calls are also judged with an allocation that fails */
    /* nans.c: the call that is compared */
    const struct implfuzz_function *compared;
    const struct registers *compared_arguments;
    const struct result_registers *compared_result;
    /* branches.c: calls of C that still count, and the sums of their counters. */
    uint64_t counted_calls, *branch_counts;
    /* The number of the newest call that was judged or watched in this run. */
    uint64_t newest_call;
    /* The arguments of this one, and how many bytes behind them C touched, and wrote. */
    struct watched {
        uint64_t word, touched, written;
        /* Where it begins is known for blocks alone. */
        struct extent extent;
    } watched[WATCHED];
    size_t watched_count;
    int is_watching;
    struct counts {
        uint64_t calls, calls_of_input, judged, judged_of_input, distinct, unsteady, undefined, changes;
        unsigned char killed[CANDIDATES], alive, unclear, allocates, hangs;
        const char *outside;
    } *counts;
    /* Hashes of the calls that were judged, by which equal ones are known. */
    uint64_t *seen;
    size_t seen_places; /* a power of two */
    /* What was allocated and freed since this was last cleared, as a hash; and how many blocks were allocated. */
    uint64_t allocations, allocated;
    /* called_back.c: what is recorded since then, and what C did, which candidates cannot read. */
    struct called called, *called_by_c;
    /* For each function of the driver what is known of its arguments, or NULL, and where it ends. */
    const struct implfuzz_signature **signatures;
    uintptr_t *called_ends;
    /* Blocks that were asked for since then, the one that is not given (0 for none), and whether that was so. */
    uint64_t asked, failing;
    int failed;
    /* system_calls.c: whether a port runs, and the first system call that it was not given */
    unsigned char port_runs;
    long system_call;
    /* rust_heap.c; `said` is what a panic printed */
    size_t rust_used, rust_live, rust_touched;
    char said[512];
    /* The newest block of Rust's heap. */
    size_t rust_last;
    /* A hash of the bytes that a whole run sends to the system. */
    uint64_t sent;
    /* The size, and 1, of a block behind which the candidate wrote before it freed it. */
    uint64_t overflown;
    /* constants.c */
    struct constant {
        uint64_t start, end;
    } *constants;
    size_t constant_count;
    /* entries.c: for each entry the end of the function, where it is known, and its code while C's body is barred */
    struct body {
        unsigned char *end, *code;
    } *bodies;
    unsigned char *traps; /* as many as the longest function has room for */
};

/*
 * Generated, in table.c: each build has other addresses, of which none says where another one is. A port that does not read
 * the program's own data knows the arena alone.
 */
extern const struct implfuzz_memory {
    uintptr_t state, arena, heap;
} implfuzz_memory;
#define STATE ((struct state *)implfuzz_memory.state)
#define ARENA ((unsigned char *)implfuzz_memory.arena)
#define ARENA_BYTES ((size_t)1 << 30)

/* places.c: memory at an address that nothing tells, which can be accessed so. */
void *implfuzz_somewhere(size_t bytes, int access);

/* memory.c */
void implfuzz_arena_make(void);
void implfuzz_arena_clear(void);
size_t implfuzz_arena_used(void);
/* The same, where the first page of the arena is a copy. */
size_t implfuzz_arena_used_in(const unsigned char *head);
size_t implfuzz_live_blocks(void);
int implfuzz_is_arena(const void *address);
/* The header of the block that has this byte, which may be a free one; NULL where there is none. */
unsigned char *implfuzz_block(const unsigned char *address);
/* The bytes of the block in use that has this address, or ends there. */
struct extent implfuzz_extent(const unsigned char *address);
/* Whether a header says that its block is in use. */
int implfuzz_is_live(const unsigned char *header);
/* Whether the block in use with this header was allocated since the newest call began, which is judged or watched. */
int implfuzz_is_new(const unsigned char *header);
/* Whether a block begins there that was allocated since the newest call began, which is judged or watched. */
int implfuzz_is_made(void *address);
/* As it was asked for, and 1; 0 of a free block. */
uint64_t implfuzz_size(const unsigned char *header);
struct red_zone {
    const unsigned char *start, *end;
};
struct red_zone implfuzz_red_zone(const unsigned char *header);
/* Where a block would end that had the size of this header, which is a copy. */
const unsigned char *implfuzz_end_as_in(const unsigned char *header, const unsigned char *copy);
const unsigned char *implfuzz_next_block(const unsigned char *header);

/* What is written over a block that is freed, by C or by a candidate: another byte. */
unsigned char implfuzz_dead(int by_candidate);
/* Whether the header of a freed block is as the allocator leaves it. */
int implfuzz_is_free_header(const unsigned char *header);
/* Whether a byte of a block is one that the program may use. */
int implfuzz_is_data(const unsigned char *header, const unsigned char *address);

/* track.c */
void implfuzz_track(void);
int implfuzz_has_outgrown(void);
void implfuzz_untrack(void);
int implfuzz_page_fault(void *address);
/* Opens these bytes as if they were written, so that the kernel can write to them. */
void implfuzz_open(unsigned char *start, size_t bytes);
/* Between judged calls: the kernel may write to all of the arena. */
void implfuzz_open_arena(void);

/* compare_pages.c */
void implfuzz_pages_make(void);
void implfuzz_keep_after(void);
void implfuzz_put_back_before(void);
void implfuzz_put_back_after(void);
/* Tells each word that the judged call has changed so far of memory that was there before it. */
void implfuzz_each_change(void (*change)(void *context, const unsigned char *address, uint64_t now), void *context);
/* Whether a constant or code of the program is there. */
int implfuzz_is_constant(uint64_t address);
/* C runs once more, and what it left in the judged call is kept for later. */
void implfuzz_set_after_aside(void);
void implfuzz_bring_after_back(void);
/* Whether a candidate wrote behind this block, while it runs. */
int implfuzz_is_overflown(const unsigned char *block);
/* The size, and 1, of a block behind which the candidate wrote, and C did not; 0 where there is none. Where the candidate
 * allocates in another way than C, bytes that differ are no proof, but this is. */
uint64_t implfuzz_overflown(void);
/* Where memory differs: the first words. */
struct places {
    const unsigned char *address[PLACES];
    unsigned char bytes[PLACES]; /* a bit for each byte of the word: whether it differs, and counts */
    uint64_t c[PLACES], own[PLACES]; /* the word, of C and of the candidate */
    size_t count;
    uint64_t result_of_c, own_result; /* where the result differs: the first bytes */
    int is_result;
    int is_certain; /* the candidate is wrong, whatever the bytes mean */
    enum excuse excuse;
    /* Words that look like addresses of constants: they may be right, but not where integers lie. */
    struct excused_words {
        const unsigned char *address[PLACES];
        uint64_t c[PLACES], own[PLACES];
        size_t count;
    } excused;
};

/*
 * Adds up to PLACES words that differ. Where blocks may have `moved`, addresses and blocks of
 * this call are left out; so are pointers to equal constants. `excuse` is set if anything was left out or may be right.
 */
enum difference implfuzz_compare_pages(struct places *places, int moved);
/* Adds a word that differs, of which the first byte that does is at `address`; `bytes` has a bit for each byte that does. */
void implfuzz_add_place(struct places *places, const unsigned char *address, uint64_t c, uint64_t own, unsigned bytes);
/* The same for a word with an excuse. */
void implfuzz_add_excused(struct places *places, enum excuse excuse, const unsigned char *address, uint64_t c, uint64_t own);
/* How two words differ that may be pointers: those of memory may be any, a result is what its function says. */
enum excuse implfuzz_excuse(uint64_t c, uint64_t own, int moved, enum result kind);

/* no_value.c */
void implfuzz_no_value_make(void);
/* Whether the byte has been found to have no value. */
int implfuzz_is_without_value(const unsigned char *address);
/* Whether, beyond that, nobody wrote it: other such words may hang on an address. */
int implfuzz_is_unwritten(const unsigned char *address);
/* Whether the byte has no value, while such bytes are left out. */
int implfuzz_is_left_out(const unsigned char *address);
/* C has left `now` there, and `then` before; whether that is kept, and is no difference. */
int implfuzz_find_no_value(const unsigned char *address, unsigned char now, unsigned char then);
void implfuzz_forget_no_value(void);

/* compare_call.c */
/* What is compared beside the pages. */
struct picture {
    struct result_registers result;
    int error;
    /* C ends the program: then what it has sent to the system counts, and memory only for what runs behind `exit`. */
    int ends;
    size_t live;
    uint64_t allocations, allocated;
};

/* Whether blocks may have other addresses than C's. */
int implfuzz_has_moved(const struct picture *c, const struct picture *own);
/* The stack is the driver's, of which so many bytes are compared. */
enum difference implfuzz_compare(const struct implfuzz_function *function, const struct picture *c, const struct picture *own,
                                 const struct registers *arguments, const unsigned char *stack, size_t bytes,
                                 struct places *places);
/* The same where both end the program: what hooks and destructors may see behind `exit`. New blocks do not count, and a
 * difference may be right. */
enum difference implfuzz_compare_ends(struct places *places);

/* nans.c */
enum number { NO_NUMBER, MAYBE_NUMBER, NUMBER };
/* Bytes that belong to two NaNs; 0 where there are none. */
struct nans {
    size_t bytes;
    enum number number;
};
struct nans implfuzz_nans(const unsigned char *now, const unsigned char *then);

/* words.c */
/* The words of one place take less than this. */
#define PLACE_TEXT 200
/* What `implfuzz_words_of` reads: the registers with arguments, how many these are, and what C returned, if that is a pointer. */
struct arguments {
    const struct registers *registers;
    unsigned count;
    uint64_t result;
};
void implfuzz_words_of(const struct places *places, struct arguments arguments, char *text, size_t size);

/* system_calls.c, which harnesses have, too */
void implfuzz_watch_system_calls(unsigned char *byte, long *number);
int implfuzz_system_call(char *words, size_t size);

/* rust_heap.c */
void implfuzz_rust_heap_make(void);
void implfuzz_rust_heap_clear(void);
/* How many bytes of it are in use from an address on; 0 where that is elsewhere. */
size_t implfuzz_rust_heap_behind(const unsigned char *address);
/* Whether a candidate wrote to memory of Rust's allocator that is not its own: behind blocks, or to freed ones. */
int implfuzz_rust_heap_is_damaged(void);

/* constants.c */
void implfuzz_constants_make(void);
/* The end of the named constant that has this byte; 0 where there is none. */
uint64_t implfuzz_end_of_constant(uint64_t address);

/* entries.c */
void implfuzz_patch(uint32_t function);
void implfuzz_unpatch(uint32_t function);
/* The functions of the driver: whether their calls are noticed. */
void implfuzz_patch_driver(int are_noticed);
/* How many functions the driver has, and where one begins. */
size_t implfuzz_driver_functions(void);
unsigned char *implfuzz_driver_function(size_t at);
/* Whether it is the driver's copy of a function of the library, from a header: such copies are judged. */
int implfuzz_is_of_library(const unsigned char *address);
/* Finds room for the code of functions that are barred. */
void implfuzz_entries_make(void);
/* Fills C's own body of a function with traps, from its entry to its end, or puts it back. */
void implfuzz_bar(uint32_t function, int is_barred);
int implfuzz_judge(uint32_t entry, struct registers *registers, unsigned char *frame, struct result_registers *result);
void implfuzz_end_call(void);
void *implfuzz_original(uint32_t entry);
/* Whether `own` is the port of the function of C at `c`, or of another one. */
enum port_of { NO_PORT, PORT_OF_THIS, PORT_OF_OTHER };
enum port_of implfuzz_port_of(uint64_t c, uint64_t own);

/* called_back.c */
/* Finds the signature of a function that the program's list of symbols has. */
void implfuzz_keep_signature(const char *name, uintptr_t address, size_t size);
/* Keeps what C did. */
void implfuzz_keep_called(void);
/* Whether a candidate did the same: NONE, or why it may be right. */
enum excuse implfuzz_compare_called(int moved);
/* A patched entry was called, with these arguments; whether it is a function of the driver. */
int implfuzz_is_called_back(uint32_t entry, const struct registers *registers, const unsigned char *stack);

/* call_time_limit.c */
/* Begins to count the time of the process. */
void implfuzz_start_ticks(void);
/* The ticks that a candidate gets, for those that C took. */
unsigned implfuzz_patience(unsigned ticks_of_c);

/* candidate.c */
void implfuzz_candidates_make(void);
/*
 * Where the trampoline lets the judge run, out of reach for what candidates write around the driver's stack; NULL for
 * where it is: inside of a judged call.
 */
void *implfuzz_judge_stack(const unsigned char *frame);
/* Where calls are judged, candidates have a small stack. */
void implfuzz_narrow_candidate_stack(void);
/* How many bytes there are from an address on to the judged call's caller, on the stack that has these arguments; 0 where that is
 * elsewhere, or below them. */
size_t implfuzz_stack_behind(const unsigned char *address, const unsigned char *arguments);
/* Lets nobody use what is below the judged call on the driver's stack, or lets the driver use it again. */
void implfuzz_close_driver_stack(const unsigned char *end, int is_closed);
/* Whether what stays open of it is as it was left. */
int implfuzz_is_driver_stack_clear(const unsigned char *end);
/* Gives the part of the candidates' stack that most functions use other bytes. */
void implfuzz_fill_candidate_stack(unsigned char byte);
/* The same for a smaller part; all below is as if it had never been used. */
void implfuzz_clear_candidate_stack(unsigned char byte);
/* What C left on the driver's stack, below this address, is no more. */
void implfuzz_clear_driver_stack(unsigned char *end);
/* Ends the candidate, which has this difference. */
_Noreturn void implfuzz_leave(enum difference difference);
/* Ends the run on an input. */
_Noreturn void implfuzz_end_run(void);
enum difference implfuzz_run(void *candidate, const struct registers *registers, const void *arguments, size_t bytes,
                             struct result_registers *result);

void implfuzz_outside(const char *name);

/* tape.c */
/* Whether all calls of the system from the library and the driver go through the judge. */
extern const int implfuzz_knows_calls;
/* Values that a variable of the environment may have. */
extern const char *const implfuzz_texts[];
extern const size_t implfuzz_text_count;
int implfuzz_tape_is_over(void);
/* Keeps that C ends the program, by `exit` or by `_exit`, which is quick; 0 where there is no room. */
int implfuzz_record_end(int status, int is_quick);
/* Whether C ends the program here, too. */
int implfuzz_answer_end(int status, int is_quick);
uint64_t implfuzz_with_answers(uint64_t hash);

/* answers.c */
/* Keeps what the system answered, and what C left, while C runs with other answers. */
void implfuzz_answers_begin(void);
void implfuzz_answers_end(void);
/* Chooses the change with this number; 0 where no call can be answered otherwise. */
int implfuzz_change_answer(uint64_t number);
/* The changed call, and how, as `read:fewer`; `-` where there is none. */
void implfuzz_change_words(char *text, size_t size);

/* calls.c */
/* Whether this call is also judged with other answers of the system. */
int implfuzz_is_for_changes(const struct counts *own);
int implfuzz_is_chosen(const struct counts *own, size_t candidates);
int implfuzz_is_distinct(const struct implfuzz_function *function, const struct registers *registers,
                         const unsigned char *stack);

/* branches.c */
void implfuzz_branches_begin(uint64_t calls);
int implfuzz_count_branches(uint32_t entry, struct registers *registers, const void *arguments, size_t bytes,
                            struct result_registers *result);
/* Adds what C counted in a call, and says whether the call counts. */
int implfuzz_add_branches(void);
void implfuzz_branches_write(const char *file);

/* watch.c */
int implfuzz_is_watched(const struct counts *own);
void implfuzz_watch(uint32_t entry, struct registers *registers, const void *arguments, struct result_registers *result);

/* report.c */
void implfuzz_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

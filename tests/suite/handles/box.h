#ifndef BOX_H
#define BOX_H
#include <stddef.h>

/* Made and freed by the library; only it knows the fields. */
typedef struct stack stack;
stack *stack_new(size_t cap);
int stack_push(stack *s, int value);
int stack_pop(stack *s, int *out);
size_t stack_len(const stack *s);
int stack_grow(stack *s);
const char *stack_state(const stack *s);
int *stack_top(stack *s);
void stack_free(stack *s);

/* The caller gives the memory, and sets what to read and where to write. */
struct rot_state;
typedef struct rot {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned char *next_out;
    unsigned avail_out;
    const char *msg;
    struct rot_state *state;
} rot;
int rot_init(rot *r, int key, const char *version);
int rot_run(rot *r);
int rot_end(rot *r);

/* Lent by the caller until the end; its text is turned with what runs through. */
struct note {
    unsigned flags;
    unsigned char *text;
    unsigned text_len;
};
int rot_note(rot *r, struct note *note);
int rot_copy(rot *r, unsigned char *seen);

#endif

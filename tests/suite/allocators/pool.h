#ifndef POOL_H
#define POOL_H
#include <stddef.h>

typedef void *(*pool_get)(size_t size);
typedef void (*pool_drop)(void *block);

/* Lets a program replace the allocator. */
void pool_use(pool_get get, pool_drop drop);

/* A copy of the first LENGTH bytes of TEXT; the caller frees it. */
char *pool_copy(const char *text, size_t length);

struct stack;
struct stack *stack_new(void);
int stack_push(struct stack *stack, int value);
int stack_pop(struct stack *stack, int fallback);
void stack_free(struct stack *stack);
#endif

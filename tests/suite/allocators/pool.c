#include "pool.h"
#include <stdlib.h>
#include <string.h>

static pool_get do_get = malloc;
static struct { pool_drop drop; int count; } hooks = {free, 0};

struct node {
    struct node *below;
    int value;
};

struct stack {
    struct node *top;
    int depth;
};

void pool_use(pool_get get, pool_drop drop)
{
    do_get = get;
    hooks.drop = drop;
}

char *pool_copy(const char *text, size_t length)
{
    char *copy = do_get(length + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

struct stack *stack_new(void)
{
    struct stack *stack = do_get(sizeof *stack);
    if (stack) {
        stack->top = NULL;
        stack->depth = 0;
    }
    return stack;
}

int stack_push(struct stack *stack, int value)
{
    struct node *node = do_get(sizeof *node);
    if (!node)
        return -1;
    node->below = stack->top;
    node->value = value;
    stack->top = node;
    return ++stack->depth;
}

int stack_pop(struct stack *stack, int fallback)
{
    struct node *node = stack->top;
    if (!node)
        return fallback;
    int value = node->value;
    stack->top = node->below;
    stack->depth--;
    hooks.drop(node);
    return value;
}

void stack_free(struct stack *stack)
{
    while (stack->top)
        stack_pop(stack, 0);
    hooks.drop(stack);
}

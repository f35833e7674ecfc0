#include "box.h"

#include <stdlib.h>

struct rot_state {
    rot *owner;
    unsigned total;
    int key;
    struct note *note;
};

int rot_init(rot *r, int key, const char *version)
{
    struct rot_state *state;

    r->msg = NULL;
    r->state = NULL;
    if (version[0] != 'v' || key < 1 || key > 25) {
        r->msg = "bad key";
        return -1;
    }
    state = malloc(sizeof(*state));
    if (state == NULL)
        return -2;
    state->owner = r;
    state->total = 0;
    state->key = key;
    state->note = NULL;
    r->state = state;
    return 0;
}

static unsigned char turned(struct rot_state *state, unsigned char c)
{
    state->total++;
    if (c >= 'a' && c <= 'z')
        return (unsigned char)('a' + (c - 'a' + state->key) % 26);
    return c;
}

int rot_run(rot *r)
{
    if (r->state == NULL)
        return -1;
    while (r->avail_in > 0 && r->avail_out > 0) {
        *r->next_out++ = turned(r->state, *r->next_in++);
        r->avail_in--;
        r->avail_out--;
    }
    r->msg = r->avail_in > 0 ? "no room" : "done";
    return (int)r->avail_in;
}

int rot_note(rot *r, struct note *note)
{
    if (r->state == NULL)
        return -1;
    r->state->note = note;
    if (note != NULL && note->text != NULL && note->text_len > 1) {
        note->text[0] = turned(r->state, note->text[0]);
        note->flags |= 2;
    }
    return 0;
}

/* As many bytes as have been turned, at most 1,000; the caller knows how many there can be. */
int rot_copy(rot *r, unsigned char *seen)
{
    unsigned n;

    if (r->state == NULL)
        return -1;
    n = r->state->total < 1000 ? r->state->total : 1000;
    for (unsigned i = 0; i < n; i++)
        seen[i] = (unsigned char)(i + (unsigned)r->state->key);
    return (int)n;
}

int rot_end(rot *r)
{
    if (r->state == NULL)
        return -1;
    free(r->state);
    r->state = NULL;
    return 0;
}

#include <stdint.h>
#include <stdlib.h>

/* A handle behind a header of its block. */
struct rc { size_t refs; };
struct box { int value, hits; char *name; };

struct box *box_new(int value)
{
    struct rc *rc = malloc(sizeof *rc + sizeof(struct box));
    if (!rc)
        return NULL;
    rc->refs = 1;
    struct box *box = (struct box *)(rc + 1);
    box->value = value;
    box->hits = 0;
    box->name = NULL;
    return box;
}

int box_get(struct box *box) { box->hits++; return box->value; }
size_t box_share(struct box *box) { return ++((struct rc *)box - 1)->refs; }
void box_free(struct box *box) { if (box) free((struct rc *)box - 1); }

/* A handle whose place in its block depends on the address of the block. */
struct vat { int value, hits; char *name; };

struct vat *vat_new(int value)
{
    char *raw = malloc(sizeof(void *) + 4095 + sizeof(struct vat));
    if (!raw)
        return NULL;
    struct vat *vat = (struct vat *)(((uintptr_t)raw + sizeof(void *) + 4095) & ~(uintptr_t)4095);
    ((void **)vat)[-1] = raw;
    vat->value = value;
    vat->hits = 0;
    vat->name = NULL;
    return vat;
}

int vat_get(struct vat *vat) { vat->hits++; return vat->value; }
void vat_free(struct vat *vat) { if (vat) free(((void **)vat)[-1]); }

/* A handle in a block that the harness does not know. */
struct tub { int value, hits; char *name; };

struct tub *tub_new(int value)
{
    struct tub *tub = aligned_alloc(64, 64);
    if (!tub)
        return NULL;
    tub->value = value;
    tub->hits = 0;
    tub->name = NULL;
    return tub;
}

int tub_get(struct tub *tub) { tub->hits++; return tub->value; }
void tub_free(struct tub *tub) { free(tub); }

/* A handle that is a constant of the library. */
struct pin { int size, step; const char *name; };
static const struct pin PINS[2] = {{4, 1, "four"}, {8, 3, "eight"}};

struct pin *pin_find(unsigned number) { return number < 2 ? (struct pin *)&PINS[number] : NULL; }
int pin_size(struct pin *pin) { return pin->size * pin->step; }

#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define NEEDS(x) if (!(x)) return -1

static inline int small(int x) { return x && x < 10; }

int counted(int a, int b, int n) {
    int i, s = 0;
    NEEDS(n >= 0);
    for (i = 0; i < n; i++)
        s += LARGER(a, LARGER(b, 2));

    switch (a) {
    case 1: s++; break;
    case 2:
    case 3: s += 2;
    default: break;
    }
#if 0
    left out
#endif

    while (1) { if (s > 10 || small(b)) break; s++; }
    do {
        s--;

    } while (s > 100 && b);
    if (s == 12345)

        return 8;
    return s ? s : 7;
    s = 3;
}

int never(int a) { return a ? 1 : 2; }

int pick(int a) {
    if (a > 3)
        return 1;
    return a < 0 ? 2 : 3;
}

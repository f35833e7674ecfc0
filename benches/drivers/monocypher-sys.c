/* Runs Monocypher on one input: its first byte chooses a part of the library, the next ones calls, sizes and
 * keys. Messages are the rest of it, over and over. What is made is opened, checked or made again in some
 * other way, damaged or not. Few inputs take more than two products on the curve, since those are slow. */
#include "monocypher.h"
#include "monocypher-ed25519.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct input { const uint8_t *data; size_t size; unsigned mixed; };
struct text { uint8_t *at; size_t size; };

static void *taken[32];
static size_t takes;
static volatile unsigned seen; /* results go in here, so that none is in vain */

/* The order of the base point, a point of order 8, and the public keys for a seed of zeros, EdDSA's and
 * Ed25519's: no product is needed for those. */
static const char *const fixed[] = {
    "\xed\xd3\xf5\x5c\x1a\x63\x12\x58\xd6\x9c\xf7\xa2\xde\xf9\xde\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10",
    "\x26\xe8\x95\x8f\xc2\xb2\x27\xb0\x45\xc3\xf4\x89\xf2\xef\x98\xf0"
    "\xd5\xdf\xac\x05\xd3\xc6\x33\x39\xb1\x38\x02\x88\x6d\x53\xfc\x05",
    "\x19\xd3\xd9\x19\x47\x5d\xee\xd4\x69\x6b\x5d\x13\x01\x81\x51\xd1"
    "\xaf\x88\xb2\xbd\x3b\xcf\xf0\x48\xb4\x50\x31\xc1\xf3\x6d\x18\x58",
    "\x3b\x6a\x27\xbc\xce\xb6\xa4\x2d\x62\xa3\xa8\xd0\x2a\x6f\x0d\x73"
    "\x65\x32\x15\x77\x1d\xe2\x43\xa6\x3a\xc0\x48\xa1\x8b\x59\xda\x29"};

/* A number from the next byte of the input, or one that follows from what was read when there are no more. */
static unsigned choice(struct input *in, unsigned below) {
    in->mixed = in->mixed * 1103515245 + (in->size > 0 ? *in->data : 12345);
    return (in->size > 0 ? (in->size--, *in->data++) : in->mixed >> 16 & 255) % below;
}

/* Zeros of just this size, which live until this input is done. */
static uint8_t *take(size_t size) {
    uint8_t *block = calloc(size ? size : 1, 1);
    if (!block || takes == sizeof taken / sizeof *taken) abort();
    return taken[takes++] = block;
}

static void mix(const void *data, size_t size) {
    for (size_t at = 0; at < size; at++) seen = seen * 31 + ((const uint8_t *)data)[at];
}

/* Two ways to the same result. */
static void same(const void *one, const void *other, size_t size) {
    if (mix(one, size), memcmp(one, other, size) != 0) abort();
}

/* Keys, nonces and the like. */
static uint8_t *bytes(struct input *in, size_t size) {
    uint8_t *made = take(size);
    unsigned way = choice(in, 32);
    for (size_t at = 0; at < size; at++) made[at] = way == 0 ? 0 : way == 1 ? 255 : (uint8_t)choice(in, 256);
    return made;
}

/* A message, often with a size at which a block begins or ends. */
static struct text text(struct input *in) {
    static const uint8_t sizes[] = {0, 1, 7, 8, 15, 16, 17, 32, 63, 64, 65, 111, 112, 127, 128, 129};
    unsigned way = choice(in, 256), step = choice(in, 8);
    size_t size = way < 96 ? sizes[way % 16] : way < 192 ? way - 96 : (way - 192) * 9;
    struct text made = {take(size), size};
    for (size_t at = 0; at < size; at++)
        made.at[at] = (uint8_t)(in->size ? in->data[at % in->size] + at / in->size * step : at * step);
    return made;
}

/* Cuts the next piece off a message, of any size, until there are no more. */
static int piece(struct input *in, struct text *rest, struct text *next) {
    static const uint8_t sizes[] = {0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 120, 127, 128};
    unsigned way = choice(in, 256);
    size_t left = rest->size, size = way < 192 ? sizes[way % 16] : way;
    *next = (struct text){rest->at, size < left ? size : left};
    rest->at += next->size, rest->size -= next->size;
    return left > 0;
}

/* Where a null pointer may stand for no message. */
static const uint8_t *or_null(struct text some) { return some.size ? some.at : NULL; }

/* Changes a bit. Gives 0 when there is none, or when it is not to. */
static int damage(struct input *in, int really, uint8_t *data, size_t size) {
    if (really && size > 0) data[choice(in, 256) * size / 256] ^= (uint8_t)(1 << choice(in, 8));
    return really && size > 0;
}

/* A scalar, or a number near to the order of the base point. */
static uint8_t *scalar(struct input *in) {
    unsigned way = choice(in, 8);
    uint8_t *made = way > 1 ? bytes(in, 32) : take(32);
    if (way == 0) memcpy(made, fixed[0], 32);
    if (way < 2) made[0] = (uint8_t)(made[0] + choice(in, 5) - 2 * !way);
    return made;
}

/* A point, maybe on no curve, or one of low order, for which other numbers than the lowest may stand, too. */
static uint8_t *point(struct input *in) {
    unsigned way = choice(in, 16);
    uint8_t *made = way < 8 ? take(32) : bytes(in, 32);
    if (way == 2 || way == 3) memcpy(made, fixed[1], 32);
    if (way < 2) crypto_eddsa_to_x25519(made, (const uint8_t *)fixed[1]);
    if (way == 4 || way == 5) made[0] = (uint8_t)choice(in, 10);
    if (way == 6 || way == 7) memset(made, 255, 32), made[0] -= (uint8_t)choice(in, 25), made[31] = 127;
    if (way < 8 && choice(in, 4) == 0) made[31] |= 0x80;
    return made;
}

static void sealed(struct input *in) {
    uint8_t *key = bytes(in, 32), *nonce = bytes(in, 24), *mac = take(16);
    struct text ad = text(in), all = text(in);
    uint8_t *made = take(all.size), *opened = choice(in, 4) ? take(all.size) : made; /* or in place */
    unsigned harm = choice(in, 8);
    memcpy(made, all.at, all.size);
    crypto_aead_lock(made, mac, key, nonce, or_null(ad), ad.size, opened == made ? made : all.at, all.size);
    mix(mac, 16), mix(made, all.size);
    int wrong = damage(in, harm == 1, mac, 16) || damage(in, harm == 2, made, all.size) ||
                damage(in, harm == 3, ad.at, ad.size) || damage(in, harm == 4, key, 32);
    int code = crypto_aead_unlock(opened, mac, key, nonce, or_null(ad), ad.size, made, all.size);
    same(&code, &(int){-wrong}, sizeof code);
    if (!wrong) same(opened, all.at, all.size);
}

static void in_pieces(struct input *in) {
    static void (*const begin[])(crypto_aead_ctx *, const uint8_t *, const uint8_t *) = {
        crypto_aead_init_x, crypto_aead_init_djb, crypto_aead_init_ietf};
    uint8_t *key = bytes(in, 32), *nonce = bytes(in, 24), *mac = take(16);
    struct text all = text(in), rest = all, with = text(in), none = {NULL, 0}, next, ad;
    uint8_t *made = take(all.size), *opened = take(all.size), *to = made, *back = opened;
    crypto_aead_ctx writer, reader;
    begin[choice(in, 3)](&writer, key, nonce), reader = writer;
    for (; piece(in, &rest, &next); to += next.size, back += next.size) {
        ad = choice(in, 2) ? with : none;
        crypto_aead_write(&writer, to, mac, or_null(ad), ad.size, next.at, next.size);
        mix(mac, 16), mix(to, next.size);
        for (int wrong = choice(in, 8) == 0; wrong >= 0; wrong--) { /* a reader that refused is as before */
            mac[next.size % 16] ^= (uint8_t)wrong;
            int code = crypto_aead_read(&reader, back, mac, or_null(ad), ad.size, to, next.size);
            same(&code, &(int){-wrong}, sizeof code), mac[next.size % 16] ^= (uint8_t)wrong;
        }
    }
    same(opened, all.at, all.size), same(&reader, &writer, sizeof reader);
    crypto_wipe(&reader, sizeof reader), mix(&reader, sizeof reader);
}

static void streamed(struct input *in) {
    uint8_t *key = bytes(in, 32), *nonce = bytes(in, 24), *hash = take(32);
    struct text plain = text(in);
    uint8_t *made = take(plain.size), *from = choice(in, 4) ? plain.at : NULL;
    uint64_t low = choice(in, 3) ? choice(in, 4) : UINT32_MAX - choice(in, 4); /* it carries */
    uint64_t start = low | (uint64_t)choice(in, 256) << 56, end;
    unsigned kind = choice(in, 4);
    if (kind == 0) end = crypto_chacha20_x(made, from, plain.size, key, nonce, start);
    else if (kind == 1) end = crypto_chacha20_ietf(made, from, plain.size, key, nonce, (uint32_t)low);
    else end = crypto_chacha20_djb(made, from, plain.size, key, nonce, start);
    mix(made, plain.size), mix(&end, sizeof end);
    if (kind == 2 && from) { /* again, in place and in two pieces, it gives the plain text */
        size_t half = plain.size / 128 * 64;
        end = crypto_chacha20_djb(made, made, half, key, nonce, start);
        crypto_chacha20_djb(made + half, made + half, plain.size - half, key, nonce, end);
        same(made, plain.at, plain.size);
    }
    crypto_chacha20_h(hash, key, nonce), mix(hash, 32);
}

/* Poly1305 and BLAKE2b of the same message, at once and in pieces. */
static void hashed(struct input *in) {
    size_t size = 1 + choice(in, 64), key_size = choice(in, 4) ? 0 : choice(in, 65);
    uint8_t *key = bytes(in, 64), *hash = take(64), *again = take(64);
    struct text all = text(in), rest = all, next;
    crypto_blake2b_ctx ctx;
    crypto_poly1305_ctx poly;
    crypto_poly1305_init(&poly, key);
    if (key_size || choice(in, 2)) crypto_blake2b_keyed_init(&ctx, size, key_size ? key : NULL, key_size);
    else crypto_blake2b_init(&ctx, size);
    while (piece(in, &rest, &next))
        crypto_poly1305_update(&poly, next.at, next.size), crypto_blake2b_update(&ctx, next.at, next.size);
    crypto_poly1305_final(&poly, hash), crypto_poly1305(again, all.at, all.size, key), same(hash, again, 16);
    crypto_blake2b_final(&ctx, hash);
    if (all.size >= size && choice(in, 4) == 0) again = all.at; /* they may overlap */
    if (key_size) crypto_blake2b_keyed(again, size, key, key_size, or_null(all), all.size);
    else crypto_blake2b(again, size, or_null(all), all.size);
    same(hash, again, size);
}

/* SHA-512, and HMAC and HKDF with it. */
static void sha512(struct input *in) {
    struct text all = text(in), rest = all, key = text(in), info = text(in), next;
    size_t size = choice(in, 2) ? choice(in, 256) : choice(in, 4) * 64;
    uint8_t *hash = take(64), *again = take(64), *made = take(size), *more = take(size);
    crypto_sha512_ctx ctx;
    crypto_sha512_hmac_ctx hmac;
    crypto_sha512_init(&ctx), crypto_sha512_hmac_init(&hmac, key.at, key.size);
    while (piece(in, &rest, &next))
        crypto_sha512_update(&ctx, next.at, next.size), crypto_sha512_hmac_update(&hmac, next.at, next.size);
    crypto_sha512_final(&ctx, hash), crypto_sha512(again, or_null(all), all.size), same(hash, again, 64);
    crypto_sha512_hmac_final(&hmac, hash); /* the first step of HKDF */
    crypto_sha512_hmac(again, key.at, key.size, or_null(all), all.size), same(hash, again, 64);
    crypto_sha512_hkdf(made, size, all.at, all.size, or_null(key), key.size, or_null(info), info.size);
    crypto_sha512_hkdf_expand(more, size, hash, 64, or_null(info), info.size), same(made, more, size);
}

/* Mostly one pass over eight blocks, since that is all that is cheap. */
static void argon2(struct input *in) {
    static const uint8_t sizes[] = {32, 64, 4, 65, 96, 97, 128, 200};
    unsigned odd = choice(in, 64), lanes = odd % 4 == 1 ? 2 + choice(in, 2) : 1;
    unsigned blocks = 8 * lanes + (odd % 8 == 3 ? choice(in, 24) : odd == 63 ? 512 : 0); /* 130 a segment */
    crypto_argon2_config config = {choice(in, 3), blocks, odd % 8 == 2 ? 2 : 1, lanes};
    struct text pass = text(in), ad = text(in);
    uint32_t salt_size = 8 + choice(in, 25), key_size = choice(in, 33), size = sizes[choice(in, 8)];
    crypto_argon2_inputs inputs = {pass.at, bytes(in, salt_size), (uint32_t)pass.size, salt_size};
    crypto_argon2_extras extras = {bytes(in, key_size), or_null(ad), key_size, (uint32_t)ad.size};
    uint8_t *hash = take(size), *work = take(blocks * 1024);
    crypto_argon2(hash, size, work, config, inputs, choice(in, 2) ? extras : crypto_argon2_no_extras);
    mix(hash, size);
}

static void exchanged(struct input *in) {
    uint8_t *secret = scalar(in), *from = point(in), *made = take(32), *again = take(32);
    unsigned kind = choice(in, 5);
    if (kind == 0) crypto_x25519_to_eddsa(made, from), crypto_eddsa_to_x25519(again, from);
    if (kind == 1) crypto_x25519(made, secret, from);
    if (kind == 2) crypto_x25519_inverse(made, secret, from);
    if (kind == 3) crypto_x25519_dirty_small(made, secret), crypto_x25519_dirty_fast(again, secret);
    if (kind == 4) /* the inverse leads back to the base point, which is 9 */
        crypto_x25519_public_key(from, secret), crypto_x25519_inverse(again, secret, from), made[0] = 9;
    if (kind > 2) same(made, again, 32);
    mix(made, 32), mix(again, 32);
}

static void hidden(struct input *in) {
    uint8_t *from = point(in), *curve = take(32), *again = take(32), *seed = bytes(in, 32);
    unsigned kind = choice(in, 4), tweak = choice(in, 256);
    if (kind == 0) crypto_x25519_dirty_fast(curve, seed); /* only half of such keys can be hidden */
    if (kind == 1) crypto_x25519_dirty_small(curve, seed);
    if (kind == 2) crypto_elligator_key_pair(from, again, seed), mix(again, 32); /* it looks for one */
    if (kind > 1) crypto_elligator_map(curve, from);
    int code = crypto_elligator_rev(from, curve, (uint8_t)tweak);
    if (code == 0) crypto_elligator_map(again, from), same(curve, again, 32);
    else if (kind > 1) abort();
    mix(from, 32), mix(curve, 32);
}

/* Signatures of the three kinds, with a new key or checked: not both, since that would be slow. */
static void is_signed(struct input *in) {
    unsigned kind = choice(in, 3), harm = choice(in, 8);
    uint8_t *secret = take(64), *public = take(32), *sign = take(64), *hash = take(64);
    struct text all = text(in);
    int checks = choice(in, 4) > 0, wrong, code;
    memcpy(public, fixed[2 + (kind > 0)], 32), memcpy(secret + 32, public, 32);
    if (!checks) (kind ? crypto_ed25519_key_pair : crypto_eddsa_key_pair)(secret, public, bytes(in, 32));
    crypto_sha512(hash, all.at, all.size);
    if (kind == 2) crypto_ed25519_ph_sign(sign, secret, hash);
    else (kind ? crypto_ed25519_sign : crypto_eddsa_sign)(sign, secret, all.at, all.size);
    mix(secret, 64), mix(sign, 64);
    if (!checks) return;
    wrong = damage(in, harm == 1, sign, 64) || damage(in, harm == 2, public, 32) || harm == 4 ||
            (kind < 2 ? damage(in, harm == 3, all.at, all.size) : damage(in, harm == 3, hash, 64));
    for (unsigned at = 0, sum = 0; at < 32 && harm == 4; at++, sum >>= 8) /* too large by the order */
        sum += sign[32 + at] + (unsigned)(uint8_t)fixed[0][at], sign[32 + at] = (uint8_t)sum;
    if (kind == 2) code = crypto_ed25519_ph_check(sign, public, hash);
    else code = (kind ? crypto_ed25519_check : crypto_eddsa_check)(sign, public, all.at, all.size);
    same(&code, &(int){-wrong}, sizeof code);
}

/* Any points and numbers in the equation that signatures are checked by, and some that satisfy it. */
static void equation(struct input *in) {
    uint8_t *sign = take(64), *hash = take(32), *one = take(32), *key = point(in), *number = scalar(in);
    unsigned kind = choice(in, 4);
    if (choice(in, 4)) crypto_eddsa_reduce(hash, bytes(in, 64));
    memcpy(sign, point(in), 32), memcpy(sign + 32, number, 32), one[0] = 1;
    if (kind > 0) crypto_eddsa_mul_add(sign + 32, hash, one, number); /* s = h + r */
    if (kind == 1) memcpy(key, fixed[1], 32); /* hash times this is of low order: R = sB fits */
    if (kind == 2) memset(key, 0x66, 32), key[0] = 0x58; /* the base point */
    if (kind == 1 || kind == 2) crypto_eddsa_scalarbase(sign, kind == 1 ? sign + 32 : number);
    int code = crypto_eddsa_check_equation(sign, key, hash);
    mix(sign, 64), mix(&code, sizeof code);
    if ((kind == 1 || kind == 2) && code != 0) abort();
}

static void scalars(struct input *in) {
    uint8_t *a = scalar(in), *b = scalar(in), *c = scalar(in), *wide = bytes(in, 64);
    uint8_t *made = take(32), *other = take(64);
    crypto_eddsa_mul_add(made, a, b, c), crypto_eddsa_mul_add(other, b, a, c), same(made, other, 32);
    memcpy(wide, fixed[0], choice(in, 2) ? 32 : 0), crypto_eddsa_reduce(made, wide), mix(made, 32);
    crypto_eddsa_trim_scalar(made, a), mix(made, 32);
    memcpy(other, wide, 64), damage(in, choice(in, 4) > 0, other, 64);
    int codes[] = {crypto_verify16(wide, other), crypto_verify32(wide, other), crypto_verify64(wide, other)};
    mix(codes, sizeof codes), crypto_wipe(wide, choice(in, 65)), mix(wide, 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const parts[])(struct input *) = {
        sealed, in_pieces, streamed, hashed, sha512, argon2, scalars, hidden, exchanged, is_signed, equation};
    struct input in = {data, size, 0};
    seen = 0, parts[choice(&in, sizeof parts / sizeof *parts)](&in);
    while (takes > 0) free(taken[--takes]);
    return 0;
}

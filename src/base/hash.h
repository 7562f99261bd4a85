/* A 64-bit hash of words, one after another, the same on every machine. Each step is one to one in
 * the hash and in the word, so no single change of a word can go unseen; it is no secret. */
#ifndef ZW_BASE_HASH_H
#define ZW_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BASE_HASH_START 0x7a77616e67ull

static inline uint64_t base_hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/* The bits of a number: 0 and -0 differ. */
static inline uint64_t base_hash_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint64_t base_hash_numbers(uint64_t hash, size_t count, const double *x)
{
    for (size_t i = 0; i < count; i++) {
        hash = base_hash_word(hash, base_hash_bits(x[i]));
    }
    return hash;
}

static inline uint64_t base_hash_ints(uint64_t hash, size_t count, const int *x)
{
    for (size_t i = 0; i < count; i++) {
        hash = base_hash_word(hash, (uint64_t)(int64_t)x[i]);
    }
    return hash;
}

static inline uint64_t base_hash_text(uint64_t hash, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    for (size_t i = 0; i < length; i++) {
        hash = base_hash_word(hash, (unsigned char)text[i]);
    }
    return base_hash_word(hash, length + 256);
}

#endif

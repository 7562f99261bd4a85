/* Copies in device code: by words where the size is not a small constant. */
#ifndef ZW_DEVICE_SHIM_STRING_H
#define ZW_DEVICE_SHIM_STRING_H

#include <stddef.h>
#include <stdint.h>

#define SHIM static inline __attribute__((always_inline))

static inline __attribute__((noinline)) void *shim_copy(void *to, const void *from, size_t bytes)
{
    size_t at = 0;
    if ((((uintptr_t)to | (uintptr_t)from) & 7) == 0) {
        for (; at + 8 <= bytes; at += 8) {
            *(uint64_t *)((char *)to + at) = *(const uint64_t *)((const char *)from + at);
        }
    }
    if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0) {
        for (; at + 4 <= bytes; at += 4) {
            *(uint32_t *)((char *)to + at) = *(const uint32_t *)((const char *)from + at);
        }
    }
    for (; at < bytes; at++) {
        ((char *)to)[at] = ((const char *)from)[at];
    }
    return to;
}

/* Small copies are left to the compiler, which knows the alignment of both: so these are macros. */
#define memcpy(to, from, bytes)                                                                    \
    (__builtin_constant_p(bytes) && (bytes) <= 128 ? __builtin_memcpy(to, from, bytes)             \
                                                   : shim_copy(to, from, bytes))

SHIM void *memmove(void *to, const void *from, size_t bytes)
{
    char *out = to;
    const char *in = from;
    if (out <= in || out >= in + bytes) {
        return shim_copy(to, from, bytes);
    }
    while (bytes-- > 0) {
        out[bytes] = in[bytes];
    }
    return to;
}

static inline __attribute__((noinline)) void *shim_set(void *to, int byte, size_t bytes)
{
    uint64_t word = (unsigned char)byte * 0x0101010101010101u;
    size_t at = 0;
    if (((uintptr_t)to & 7) == 0) {
        for (; at + 8 <= bytes; at += 8) {
            *(uint64_t *)((char *)to + at) = word;
        }
    }
    for (; at < bytes; at++) {
        ((char *)to)[at] = (char)byte;
    }
    return to;
}

#define memset(to, byte, bytes)                                                                    \
    (__builtin_constant_p(bytes) && (bytes) <= 128 ? __builtin_memset(to, byte, bytes)             \
                                                   : shim_set(to, byte, bytes))

SHIM int memcmp(const void *x, const void *y, size_t bytes)
{
    const unsigned char *a = x, *b = y;
    for (size_t i = 0; i < bytes; i++) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

size_t strlen(const char *text);
int strcmp(const char *a, const char *b);

#undef SHIM
#endif

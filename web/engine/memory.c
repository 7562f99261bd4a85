/* The engine's memory in WebAssembly, and a strstr without the tables of Emscripten's. memset and
 * memcpy go by vectors: a compiler that writes small code calls them for every few numbers, and
 * those of Emscripten's C library go byte by byte at both ends. Ends overlap here instead. */
#include <stddef.h>
#include <stdint.h>

#include "engine.h"

#ifdef __EMSCRIPTEN__
void *sbrk(intptr_t more);

int studio_heap(void)
{
    return (int)(intptr_t)sbrk(0);
}
#else
int studio_heap(void)
{
    return 0;
}
#endif

#ifdef __EMSCRIPTEN__
char *strstr(const char *text, const char *word)
{
    for (;; text++) {
        size_t k = 0;
        while (word[k] != 0 && word[k] == text[k]) {
            k++;
        }
        if (word[k] == 0) {
            return (char *)text;
        }
        if (*text == 0) {
            return NULL;
        }
    }
}
#endif

#ifdef __wasm_simd128__
typedef uint8_t line __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t half __attribute__((aligned(1), may_alias));
typedef uint32_t word __attribute__((aligned(1), may_alias));

void *memset(void *to, int value, size_t size)
{
    uint8_t *at = to, byte = (uint8_t)value;
    if (size >= 16) {
        line all = (line){0} + byte;
        uint8_t *last = at + size - 16;
        for (; at < last; at += 16) {
            *(line *)at = all;
        }
        *(line *)last = all;
    } else if (size >= 8) {
        half all = 0x0101010101010101u * (uint64_t)byte;
        *(half *)at = all;
        *(half *)(at + size - 8) = all;
    } else {
        for (; size > 0; size--) {
            *at++ = byte;
        }
    }
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    uint8_t *at = to;
    const uint8_t *source = from;
    if (size >= 16) {
        uint8_t *last = at + size - 16;
        line end = *(const line *)(source + size - 16);
        for (; at < last; at += 16, source += 16) {
            *(line *)at = *(const line *)source;
        }
        *(line *)last = end;
    } else if (size >= 8) {
        half first = *(const half *)source, end = *(const half *)(source + size - 8);
        *(half *)at = first;
        *(half *)(at + size - 8) = end;
    } else if (size >= 4) {
        word first = *(const word *)source, end = *(const word *)(source + size - 4);
        *(word *)at = first;
        *(word *)(at + size - 4) = end;
    } else {
        for (; size > 0; size--) {
            *at++ = *source++;
        }
    }
    return to;
}
#endif

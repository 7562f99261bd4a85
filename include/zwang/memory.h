/* Allocation hooks: where the library gets its memory.
 *
 *     zw_memory_use(&(zw_memory){my_allocate, my_release, &my_pool});      before anything else
 *
 * Everything that zwang itself allocates comes from here; libraries that it uses (SuiteSparse,
 * SUNDIALS, HDF5, expat, NLopt, where they are present) allocate by themselves. */
#ifndef ZWANG_MEMORY_H
#define ZWANG_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* allocate: returns a block of that many bytes, aligned as malloc would align it; its contents do
 * not matter. If it returns NULL, the library call that needed the block fails with ZW_NO_MEMORY.
 * release: frees a block, possibly while another thread allocates. */
typedef struct zw_memory {
    void *(*allocate)(void *user, size_t bytes);
    void (*release)(void *user, void *block);
    void *user;
} zw_memory;

/* Sets the allocator of the whole program: the one setting that is not part of an object. NULL
 * restores calloc and free. The struct is copied. Every block is released by the allocator it came
 * from, so the setting may be changed while objects exist, but no other thread may be inside the
 * library at that moment. */
void zw_memory_use(const zw_memory *memory);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

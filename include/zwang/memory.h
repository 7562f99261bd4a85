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

/* allocate: so many bytes, aligned as malloc aligns, in any state; or NULL, and then the call that
 * wanted them fails with ZW_NO_MEMORY. release: takes them back, also while another thread
 * allocates. */
typedef struct zw_memory {
    void *(*allocate)(void *user, size_t bytes);
    void (*release)(void *user, void *block);
    void *user;
} zw_memory;

/* From now on, for the whole program: the one setting that is not part of an object. NULL: calloc
 * and free again. The struct is copied. Blocks go back to where they came from, so it may be
 * changed while objects are alive; but no other thread may be inside the library meanwhile. */
void zw_memory_use(const zw_memory *memory);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

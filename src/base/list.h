/* Lists that grow: an array, its count and its capacity, kept by the owner. */
#ifndef ZW_BASE_LIST_H
#define ZW_BASE_LIST_H

#include <stddef.h>

/* Room for element number `count` of the array that `list` (the address of the owner's pointer)
 * holds: the array moves when it is full, what is new is zeroed. Returns 0, and leaves the array
 * as it was, when there is no memory. */
int base_list_reserve(void *list, int *capacity, int count, size_t size);

#endif

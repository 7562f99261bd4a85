#include "base/list.h"

#include <limits.h>
#include <string.h>

#include "base/memory.h"

int base_list_reserve(void *list, int *capacity, int count, size_t size)
{
    if (count < *capacity) {
        return 1;
    }
    if (count >= INT_MAX / 2) {
        return 0;
    }

    /* The owner's pointer may point to anything, so it is moved as bytes. */
    void *old;
    memcpy(&old, list, sizeof old);
    int wider = count < 4 ? 8 : 2 * count;
    void *block = base_alloc((size_t)wider * size);
    if (block == NULL) {
        return 0;
    }
    if (old != NULL) {
        memcpy(block, old, (size_t)*capacity * size);
    }
    base_free(old);
    memcpy(list, &block, sizeof block);
    *capacity = wider;
    return 1;
}

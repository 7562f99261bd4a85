#include "system/list.h"

#include <limits.h>
#include <string.h>

#include "base/memory.h"

void system_list_add(system_list *list, int item)
{
    if (list->count == list->capacity && !list->failed) {
        int wanted = list->capacity ? list->capacity : 32;
        int *grown = wanted > INT_MAX / 2 ? NULL : base_alloc(2 * (size_t)wanted * sizeof(int));
        if (!grown) {
            list->failed = 1;
        } else {
            if (list->count > 0) {
                memcpy(grown, list->item, (size_t)list->count * sizeof(int));
            }
            base_free(list->item);
            list->item = grown;
            list->capacity = 2 * wanted;
        }
    }
    if (!list->failed) {
        list->item[list->count++] = item;
    }
}

void system_list_free(system_list *list)
{
    base_free(list->item);
    *list = (system_list){0};
}

void system_list_comparisons(system_list *list, const zw_model *model)
{
    for (int i = 0; i < model->event_count; i++) {
        for (int k = 0; k < model->event[i].part_count; k++) {
            if (model->event[i].part[k].kind == MODEL_COMPARES) {
                system_list_add(list, model->event[i].part[k].root);
            }
        }
    }
}

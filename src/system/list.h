/* Growing lists of ints, used while a system is compiled. Running out of memory is sticky. */
#ifndef ZW_SYSTEM_LIST_H
#define ZW_SYSTEM_LIST_H

#include "model/model.h"

typedef struct system_list {
    int count;
    int capacity;
    int failed;
    int *item;
} system_list;

void system_list_add(system_list *list, int item);
/* The roots of all comparisons in the conditions of events. */
void system_list_comparisons(system_list *list, const zw_model *model);
void system_list_free(system_list *list);

#endif

/* Growing lists of ints while a system is compiled. Out of memory is sticky. */
#ifndef ZW_SYSTEM_LIST_H
#define ZW_SYSTEM_LIST_H

typedef struct system_list {
    int count;
    int capacity;
    int failed;
    int *item;
} system_list;

void system_list_add(system_list *list, int item);
void system_list_free(system_list *list);

#endif

/* Contacts in a recording: see touch.c. */
#ifndef ZW_RECORD_TOUCH_H
#define ZW_RECORD_TOUCH_H

#include "record/table.h"
#include "zwang/bodies.h"

typedef struct record_touch {
    int most;   /* largest number of pairs written; -1: all */
    int beyond; /* there are more: none is written */
    int pair_count, pair_capacity, next;
    struct touch_pair *pair;
    int sum_count, sum_capacity;
    struct touch_sum *sum; /* in the order of the rows */
    int arrow_count, arrow_capacity, slots;
    struct touch_arrow *arrow;
    int is_written;
} record_touch;

void record_touch_free(record_touch *touch);
/* The contacts of a row. */
zw_status record_touch_row(record_touch *touch, size_t row, const zw_contact *list, int count,
                           zw_error *error);
/* Adds their columns and arrows to the table; called once. */
zw_status record_touch_finish(record_touch *touch, record_table *table, zw_error *error);

#endif

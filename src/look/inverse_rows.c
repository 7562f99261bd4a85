#include "look/inverse_rows.h"

#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"

void inverse_rows_begin(inverse_rows *list, int n)
{
    *list = (inverse_rows){.n = n};
    list->sum = base_alloc(((size_t)n + 1) * sizeof *list->sum);
    list->failed = !list->sum;
}

void inverse_rows_free(inverse_rows *list)
{
    base_free(list->sum);
    base_free(list->count);
    base_free(list->entry);
    base_free(list->block);
    *list = (inverse_rows){0};
}

void inverse_rows_put(inverse_rows *list, int count, const int *column, const double *value,
                      double factor)
{
    for (int k = 0; k < count && !list->failed; k++) {
        list->sum[column[k]] += factor * value[k];
    }
}

void inverse_rows_end(inverse_rows *list)
{
    if (list->failed ||
        !base_list_reserve(&list->count, &list->row_capacity, list->rows, sizeof *list->count)) {
        list->failed = 1;
        return;
    }
    list->count[list->rows] = 0;
    for (int i = 0; i < list->n && !list->failed; i++) {
        if (list->sum[i] == 0) {
            continue;
        }
        if (!base_list_reserve(&list->entry, &list->entry_capacity, list->entries,
                               sizeof *list->entry)) {
            list->failed = 1;
            return;
        }
        list->entry[list->entries++] = (inverse_entry){i, list->sum[i]};
        list->count[list->rows]++;
        list->sum[i] = 0;
    }
    list->rows++;
}

void inverse_rows_block(inverse_rows *list, const zw_block *block)
{
    if (list->failed || !base_list_reserve(&list->block, &list->block_capacity, list->blocks,
                                           sizeof *list->block)) {
        list->failed = 1;
        return;
    }
    list->block[list->blocks++] = *block;
}

system_solver *inverse_rows_solver(const inverse_rows *list, const zw_system *system,
                                   const int *role, zw_error *error)
{
    const solver_tail tail = {list->blocks, list->rows, list->entries};
    int *column = base_alloc(((size_t)list->n + 1) * sizeof *column);
    double *value = base_alloc(((size_t)list->n + 1) * sizeof *value);
    system_solver *solver = NULL;
    if (list->failed || !column || !value) {
        base_no_memory(error);
    } else {
        solver = solver_create_with(system, role, NULL, 0, &tail, error);
    }
    for (int k = 0; solver && k < list->blocks; k++) {
        solver_add_block(solver, &list->block[k]);
    }
    const inverse_entry *from = list->entry;
    for (int r = 0; solver && r < list->rows; r++) {
        for (int k = 0; k < list->count[r]; k++, from++) {
            column[k] = from->column;
            value[k] = from->value;
        }
        solver_add_row(solver, list->count[r], column, value, 0);
    }
    base_free(column);
    base_free(value);
    return solver;
}

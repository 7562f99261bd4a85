/* Contacts in a recording. Which pairs will be in contact is not known before the end, so columns
 * and arrows are stored separately and added to the table when it is written.
 *
 * Columns of a pair of bodies (each named geom of the world counts separately: floor and wall are
 * two): the sum of the normal forces, the size of the sum of the tangential forces, the smallest
 * gap (NaN while they are apart), and the mode (0 apart or without force, 1 sticking, 2 sliding):
 * "normal(foot on floor)", ... If more than `most` pairs have been in contact, none has columns: a
 * heap would have thousands.
 *
 * Arrows: the force at every point, the SLOTS largest ones of each row. They are scaled so that all
 * but the largest tenth are shorter than PART of the extent of the drawing at the start; impacts
 * are cut off. */
#include "record/touch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "record/copy.h"

enum { SLOTS = 48, COLUMNS = 4, NAME = 256 };
#define PART 0.2
#define LONGEST 3.0 /* times that length */

typedef struct touch_pair {
    int side[2];         /* a body, or -1 - geom of the world */
    const char *name[2]; /* the system's */
} touch_pair;

typedef struct touch_sum {
    size_t row;
    int pair, state;
    double normal, across[3], gap;
} touch_sum;

typedef struct touch_arrow {
    size_t row;
    int slot;
    double size, from[3], force[3];
} touch_arrow;

void record_touch_free(record_touch *touch)
{
    base_free(touch->pair);
    base_free(touch->sum);
    base_free(touch->arrow);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static touch_pair sides(const zw_contact *it)
{
    touch_pair pair;
    for (int i = 0; i < 2; i++) {
        int of_world = it->body[i] == 0 && it->geom_name[i][0] != 0;
        pair.side[i] = of_world ? -1 - it->geom[i] : it->body[i];
        pair.name[i] = of_world ? it->geom_name[i] : it->body_name[i];
    }
    return pair;
}

/* The index of a pair; -1: no memory. Contacts come in nearly the same order each time. */
static int pair_of(record_touch *t, const zw_contact *it)
{
    const touch_pair pair = sides(it);
    for (int k = 0; k < t->pair_count; k++) {
        int at = (t->next + k) % t->pair_count;
        if (memcmp(t->pair[at].side, pair.side, sizeof pair.side) == 0) {
            t->next = at;
            return at;
        }
    }
    if (!base_list_reserve(&t->pair, &t->pair_capacity, t->pair_count, sizeof *t->pair)) {
        return -1;
    }
    t->pair[t->pair_count] = pair;
    t->next = t->pair_count;
    return t->pair_count++;
}

/* 0: no memory. */
static int add_sum(record_touch *t, size_t row, const zw_contact *it)
{
    int pair = pair_of(t, it), at = t->sum_count;
    if (pair < 0) {
        return 0;
    }
    while (at > 0 && t->sum[at - 1].row == row && t->sum[at - 1].pair != pair) {
        at--;
    }
    if (at == 0 || t->sum[at - 1].row != row) {
        if (!base_list_reserve(&t->sum, &t->sum_capacity, t->sum_count, sizeof *t->sum)) {
            return 0;
        }
        t->sum[t->sum_count++] = (touch_sum){.row = row, .pair = pair, .gap = INFINITY};
        at = t->sum_count;
    }
    touch_sum *to = &t->sum[at - 1];
    int state = it->state == ZW_TOUCH_OPEN ? 0 : it->state == ZW_TOUCH_STICK ? 1 : 2;
    to->normal += it->force[0];
    for (int i = 0; i < 3; i++) {
        to->across[i] += it->frame[3 + i] * it->force[1] + it->frame[6 + i] * it->force[2];
    }
    to->gap = it->gap < to->gap ? it->gap : to->gap;
    to->state = state > to->state ? state : to->state;
    return 1;
}

/* Adds an arrow to this row, or replaces the weakest of SLOTS. 0: no memory. */
static int add_arrow(record_touch *t, size_t row, int first, const zw_contact *it)
{
    touch_arrow arrow = {.row = row, .slot = t->arrow_count - first};
    memcpy(arrow.from, it->pos, sizeof arrow.from);
    for (int i = 0; i < 3; i++) {
        for (int r = 0; r < 3; r++) {
            arrow.force[i] += it->frame[3 * r + i] * it->force[r];
        }
        arrow.size += arrow.force[i] * arrow.force[i];
    }
    arrow.size = sqrt(arrow.size);
    if (!(arrow.size > 0) || !isfinite(arrow.size)) {
        return 1;
    }
    if (arrow.slot < SLOTS) {
        if (!base_list_reserve(&t->arrow, &t->arrow_capacity, t->arrow_count, sizeof arrow)) {
            return 0;
        }
        t->arrow[t->arrow_count++] = arrow;
        t->slots = arrow.slot + 1 > t->slots ? arrow.slot + 1 : t->slots;
        return 1;
    }
    touch_arrow *weakest = &t->arrow[first];
    for (int k = first + 1; k < t->arrow_count; k++) {
        weakest = t->arrow[k].size < weakest->size ? &t->arrow[k] : weakest;
    }
    if (arrow.size > weakest->size) {
        arrow.slot = weakest->slot;
        *weakest = arrow;
    }
    return 1;
}

zw_status record_touch_row(record_touch *t, size_t row, const zw_contact *list, int count,
                           zw_error *error)
{
    int first = t->arrow_count;
    for (int k = 0; k < count && t->most != 0; k++) {
        if (!add_arrow(t, row, first, &list[k]) || (!t->beyond && !add_sum(t, row, &list[k]))) {
            return record_no_memory(error);
        }
        t->beyond |= t->most >= 0 && t->pair_count > t->most;
    }
    return ZW_OK;
}

/* ---- Columns -------------------------------------------------------------------------------- */

/* Long names are cut, and may then coincide. */
static zw_status add_column(record_table *table, char *name, record_role role, double value,
                            zw_error *error)
{
    size_t end = strlen(name);
    for (int copy = 2; record_table_find(table, name) >= 0; copy++) {
        snprintf(name + end, NAME - end, " (%d)", copy);
    }
    return record_table_add_late(table, name, role, value, error);
}

static zw_status add_sums(record_touch *t, record_table *table, zw_error *error)
{
    static const char *const word[COLUMNS] = {"normal", "friction", "gap", "touch"};
    int first = table->column_count;
    zw_status status = record_table_widen(table, COLUMNS * t->pair_count, error);
    for (int k = 0; k < COLUMNS * t->pair_count && status == ZW_OK; k++) {
        const touch_pair *pair = &t->pair[k / COLUMNS];
        char name[NAME];
        snprintf(name, sizeof name, "%s(%.100s on %.100s)", word[k % COLUMNS], pair->name[1],
                 pair->name[0]);
        status = add_column(table, name, k % COLUMNS < 2 ? RECORD_ROLE_CONTACT : RECORD_ROLE_OTHER,
                            k % COLUMNS == 2 ? NAN : 0, error);
    }
    for (int k = 0; k < t->sum_count && status == ZW_OK; k++) {
        const touch_sum *it = &t->sum[k];
        const double *x = it->across;
        double number[COLUMNS] = {it->normal, sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]),
                                  it->gap, it->state};
        for (int c = 0; c < COLUMNS; c++) {
            *record_table_cell(table, first + COLUMNS * it->pair + c, it->row) = number[c];
        }
    }
    return status;
}

/* ---- Arrows --------------------------------------------------------------------------------- */

/* The extent of the moving points in the first row: the length of a diagonal. */
static double extent_of(const record_table *table)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double sum = 0;
    for (int i = 0; i < table->draw_count; i++) {
        const record_draw *draw = &table->draw[i];
        for (int k = 0; k < draw->point_count * 3 && draw->dimension == 3; k++) {
            int column = draw->point[k / 3].column[k % 3];
            double x = column >= 0 ? record_table_column(table, column)[0] : NAN;
            low[k % 3] = x - draw->radius < low[k % 3] ? x - draw->radius : low[k % 3];
            high[k % 3] = x + draw->radius > high[k % 3] ? x + draw->radius : high[k % 3];
        }
    }
    for (int d = 0; d < 3; d++) {
        sum += high[d] > low[d] ? (high[d] - low[d]) * (high[d] - low[d]) : 0;
    }
    return sqrt(sum);
}

static int smaller(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The ninth decile of the forces of the arrows; 0: no memory. */
static double usual_force(const record_touch *t)
{
    double *size = base_alloc(((size_t)t->arrow_count + 1) * sizeof *size), usual = 0;
    for (int k = 0; k < t->arrow_count && size; k++) {
        size[k] = t->arrow[k].size;
    }
    if (size) {
        qsort(size, (size_t)t->arrow_count, sizeof *size, smaller);
        usual = size[9 * (long)t->arrow_count / 10];
    }
    base_free(size);
    return usual;
}

static void fill_arrow(const touch_arrow *it, record_table *table, int first, double scale,
                       double longest)
{
    double length = it->size * scale < longest ? it->size * scale : longest;
    for (int i = 0; i < 3; i++) {
        *record_table_cell(table, first + 6 * it->slot + i, it->row) = it->from[i];
        *record_table_cell(table, first + 6 * it->slot + 3 + i, it->row) =
            it->from[i] + length * it->force[i] / it->size;
    }
}

static zw_status add_arrows(record_touch *t, record_table *table, zw_error *error)
{
    int first = table->column_count;
    double usual = usual_force(t), length = PART * extent_of(table);
    if (!(length > 0)) {
        return ZW_OK; /* nothing is drawn */
    }
    if (!(usual > 0)) {
        return record_no_memory(error);
    }
    zw_status status = record_table_widen(table, 6 * t->slots, error);
    for (int k = 0; k < 6 * t->slots && status == ZW_OK; k++) {
        char name[NAME];
        snprintf(name, sizeof name, "contact %d %s.%c", k / 6 + 1, k % 6 < 3 ? "from" : "to",
                 "xyz"[k % 3]);
        status = add_column(table, name, RECORD_ROLE_DRAW, NAN, error);
    }
    for (int k = 0; k < t->arrow_count && status == ZW_OK; k++) {
        fill_arrow(&t->arrow[k], table, first, length / usual, LONGEST * length);
    }
    for (int k = 0; k < t->slots && status == ZW_OK; k++) {
        record_point ends[2];
        for (int i = 0; i < 6; i++) {
            ends[i / 3].column[i % 3] = first + 6 * k + i;
        }
        record_draw draw = {
            .kind = RECORD_DRAW_ARROW, .dimension = 3, .point_count = 2, .point = ends};
        status = record_table_add_draw(table, &draw, error);
    }
    return status;
}

zw_status record_touch_finish(record_touch *t, record_table *table, zw_error *error)
{
    zw_status status = ZW_OK;
    if (t->is_written) {
        return ZW_OK;
    }
    t->is_written = 1;
    if (t->pair_count > 0 && !t->beyond) {
        status = add_sums(t, table, error);
    }
    return status == ZW_OK && t->arrow_count > 0 ? add_arrows(t, table, error) : status;
}

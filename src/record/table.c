#include "record/table.h"

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "record/copy.h"

#include <stdint.h>
#include <string.h>

const char *record_role_text(record_role role)
{
    switch (role) {
#define RECORD_ROLE_CASE(code, text)                                                               \
    case code:                                                                                     \
        return text;
        RECORD_ROLE_TABLE(RECORD_ROLE_CASE)
#undef RECORD_ROLE_CASE
    }
    return "other";
}

/* ---- Growing -------------------------------------------------------------------------------- */

zw_status record_no_memory(zw_error *error)
{
    return base_fail(error, ZW_NO_MEMORY, "recording: out of memory");
}

char *record_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = base_alloc(size);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}

/* One block holds all columns, so that growing it succeeds for all or none. */
static bool table_make_room(record_table *table, size_t capacity)
{
    const size_t columns = (size_t)table->column_count;
    if (columns > 0 && capacity > SIZE_MAX / sizeof(double) / columns) {
        return false;
    }
    double *value = base_alloc(capacity * columns * sizeof *value);
    if (value == NULL) {
        return false;
    }
    for (size_t c = 0; c < columns && table->row_count > 0; c++) {
        memcpy(value + c * capacity, table->value + c * table->row_capacity,
               table->row_count * sizeof *value);
    }
    base_free(table->value);
    table->value = value;
    table->row_capacity = capacity;
    return true;
}

/* Makes room for one more row. */
static bool table_grow_rows(record_table *table)
{
    const size_t capacity = table->row_capacity;
    return table->row_count < capacity ||
           table_make_room(table, capacity < 64 ? 64 : capacity + capacity / 2);
}

bool record_table_expect(record_table *table, double rows)
{
    return !(rows > (double)table->row_capacity) ||
           (rows < 0.5 * (double)SIZE_MAX && table_make_room(table, (size_t)rows));
}

/* ---- Creating and freeing -------------------------------------------------------------------- */

record_table *record_table_create(zw_error *error)
{
    record_table *table = base_alloc(sizeof *table);
    if (table == NULL) {
        record_no_memory(error);
        return NULL;
    }
    table->time = -1;
    for (int i = 0; i < RECORD_TEXT_COUNT; i++) {
        if (record_table_set_text(table, (record_text)i, "", error) != ZW_OK) {
            record_table_free(table);
            return NULL;
        }
    }
    return table;
}

void record_table_free(record_table *table)
{
    if (table == NULL) {
        return;
    }
    for (int i = 0; i < RECORD_TEXT_COUNT; i++) {
        base_free(table->text[i]);
    }
    for (int i = 0; i < table->column_count; i++) {
        base_free(table->column[i].name);
    }
    for (int i = 0; i < table->summary_count; i++) {
        base_free(table->summary[i].label);
        base_free(table->summary[i].text);
    }
    for (int i = 0; i < table->note_count; i++) {
        base_free(table->note[i].label);
        base_free(table->note[i].text);
    }
    for (int i = 0; i < table->mark_count; i++) {
        base_free(table->mark[i].label);
    }
    for (int i = 0; i < table->label_count; i++) {
        base_free(table->label[i].text);
    }
    for (int i = 0; i < table->plot_count; i++) {
        record_plot_clear(&table->plot[i]);
    }
    for (int i = 0; i < table->draw_count; i++) {
        record_draw_clear(&table->draw[i]);
    }
    base_free(table->column);
    base_free(table->slot);
    base_free(table->summary);
    base_free(table->note);
    base_free(table->mark);
    base_free(table->label);
    base_free(table->plot);
    base_free(table->draw);
    base_free(table->value);
    base_free(table);
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* FNV-1a, which gives the same slots in every run. */
static unsigned hash_of(const char *name)
{
    unsigned hash = 2166136261u;
    for (const char *c = name; *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    }
    return hash;
}

/* The slot of a name, or the free one where it would go; slot_count is a power of 2. */
static int slot_of(const record_table *table, const char *name)
{
    const unsigned mask = (unsigned)table->slot_count - 1;
    unsigned at = hash_of(name) & mask;
    while (table->slot[at] > 0 && strcmp(table->column[table->slot[at] - 1].name, name) != 0) {
        at = (at + 1) & mask;
    }
    return (int)at;
}

/* Keeps at most half of the slots in use after one more name. */
static bool table_grow_slots(record_table *table)
{
    if (2 * (table->column_count + 1) <= table->slot_count) {
        return true;
    }
    const int wider = table->slot_count < 16 ? 16 : 2 * table->slot_count;
    int *slot = base_alloc((size_t)wider * sizeof *slot);
    if (slot == NULL) {
        return false;
    }
    base_free(table->slot);
    table->slot = slot;
    table->slot_count = wider;
    for (int c = 0; c < table->column_count; c++) {
        slot[slot_of(table, table->column[c].name)] = c + 1;
    }
    return true;
}

int record_table_find(const record_table *table, const char *name)
{
    return table->slot_count > 0 ? table->slot[slot_of(table, name)] - 1 : -1;
}

/* ---- Columns and rows ----------------------------------------------------------------------- */

static zw_status table_check_column(const record_table *table, const char *name, record_role role,
                                    zw_error *error)
{
    if (table == NULL || name == NULL || name[0] == '\0') {
        return base_fail(error, ZW_BAD_INPUT, "recording: a column needs a table and a name");
    }
    if (role < RECORD_ROLE_TIME || role > RECORD_ROLE_OTHER) {
        return base_fail(error, ZW_BAD_INPUT, "recording: column %s has no role", name);
    }
    if (table->row_count > 0) {
        return base_fail(error, ZW_BAD_INPUT, "recording: column %s comes after the first row",
                         name);
    }
    if (record_table_find(table, name) >= 0) {
        return base_fail(error, ZW_BAD_INPUT, "recording: there is a column %s already", name);
    }
    if (role == RECORD_ROLE_TIME && table->time >= 0) {
        return base_fail(error, ZW_BAD_INPUT, "recording: %s and %s are both declared as the time",
                         table->column[table->time].name, name);
    }
    return ZW_OK;
}

zw_status record_table_add_column(record_table *table, const char *name, record_role role,
                                  int *index, zw_error *error)
{
    zw_status status = table_check_column(table, name, role, error);
    if (status != ZW_OK) {
        return status;
    }
    char *copy = record_copy_text(name);
    if (copy == NULL || !table_grow_slots(table) ||
        !base_list_reserve(&table->column, &table->column_capacity, table->column_count,
                           sizeof *table->column)) {
        base_free(copy);
        return record_no_memory(error);
    }
    table->column[table->column_count] = (record_column){.name = copy, .role = role};
    table->slot[slot_of(table, name)] = table->column_count + 1;
    if (role == RECORD_ROLE_TIME) {
        table->time = table->column_count;
    }
    if (index != NULL) {
        *index = table->column_count;
    }
    table->column_count++;
    return ZW_OK;
}

zw_status record_table_add_row(record_table *table, const double *row, zw_error *error)
{
    if (table == NULL || (row == NULL && table->column_count > 0)) {
        return base_fail(error, ZW_BAD_INPUT, "recording: a row needs a table and its numbers");
    }
    if (!table_grow_rows(table)) {
        return record_no_memory(error);
    }
    for (int c = 0; c < table->column_count; c++) {
        table->value[(size_t)c * table->row_capacity + table->row_count] = row[c];
    }
    table->row_count++;
    return ZW_OK;
}

/* ---- Late columns --------------------------------------------------------------------------- */

zw_status record_table_widen(record_table *table, int more, zw_error *error)
{
    const size_t columns = (size_t)table->column_count, all = columns + (size_t)more;
    table->row_capacity = table->row_capacity > 0 ? table->row_capacity : 1;
    if (all > SIZE_MAX / sizeof(double) / table->row_capacity) {
        return record_no_memory(error);
    }
    double *value = base_alloc(all * table->row_capacity * sizeof *value);
    if (value == NULL) {
        return record_no_memory(error);
    }
    if (table->value != NULL) {
        memcpy(value, table->value, columns * table->row_capacity * sizeof *value);
    }
    base_free(table->value);
    table->value = value;
    table->late_capacity = more;
    return ZW_OK;
}

zw_status record_table_add_late(record_table *table, const char *name, record_role role,
                                double value, zw_error *error)
{
    const size_t rows = table->row_count;
    if (table->late_capacity < 1) {
        return base_fail(error, ZW_BAD_INPUT, "recording: there is no room for column %s", name);
    }
    table->row_count =
        0; /* for record_table_add_column, which refuses columns after rows; here there is room */
    zw_status status = record_table_add_column(table, name, role, NULL, error);
    table->row_count = rows;
    for (size_t row = 0; row < rows && status == ZW_OK; row++) {
        *record_table_cell(table, table->column_count - 1, row) = value;
    }
    table->late_capacity -= status == ZW_OK;
    return status;
}

double *record_table_cell(record_table *table, int column, size_t row)
{
    return table->value + (size_t)column * table->row_capacity + row;
}

const double *record_table_column(const record_table *table, int column)
{
    return table->value != NULL ? table->value + (size_t)column * table->row_capacity : NULL;
}

bool record_is_number(const record_table *table, int column)
{
    record_role role = table->column[column].role;
    return role != RECORD_ROLE_DRAW && role != RECORD_ROLE_JOINT;
}

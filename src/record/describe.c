/* Descriptions in a table: texts, summary, marks, plots, draws.
 *
 * Each call first checks, then copies everything, then adds the copy to the table: a call that
 * fails changes nothing. */
#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "record/copy.h"
#include "record/table.h"

#include <math.h>
#include <string.h>

zw_status record_table_set_text(record_table *table, record_text which, const char *text,
                                zw_error *error)
{
    if (table == NULL || text == NULL || which < 0 || which >= RECORD_TEXT_COUNT) {
        return base_fail(error, ZW_BAD_INPUT, "recording: no such text");
    }
    char *copy = record_copy_text(text);
    if (copy == NULL) {
        return record_no_memory(error);
    }
    base_free(table->text[which]);
    table->text[which] = copy;
    return ZW_OK;
}

zw_status record_table_add_mark(record_table *table, double time, const char *label,
                                zw_error *error)
{
    if (table == NULL || label == NULL || !isfinite(time)) {
        return base_fail(error, ZW_BAD_INPUT, "recording: a mark needs a time and a label");
    }
    char *copy = record_copy_text(label);
    if (copy == NULL || !base_list_reserve(&table->mark, &table->mark_capacity, table->mark_count,
                                           sizeof *table->mark)) {
        base_free(copy);
        return record_no_memory(error);
    }
    table->mark[table->mark_count++] = (record_mark){.time = time, .label = copy};
    return ZW_OK;
}

zw_status record_table_label_row(record_table *table, const char *text, zw_error *error)
{
    if (table == NULL || text == NULL) {
        return base_fail(error, ZW_BAD_INPUT, "recording: a label needs its text");
    }
    char *copy = record_copy_text(text);
    if (copy == NULL || !base_list_reserve(&table->label, &table->label_capacity,
                                           table->label_count, sizeof *table->label)) {
        base_free(copy);
        return record_no_memory(error);
    }
    table->label[table->label_count++] = (record_label){.row = table->row_count, .text = copy};
    return ZW_OK;
}

static bool copy_line(record_summary *line, const char *label, const char *text)
{
    *line = (record_summary){.label = record_copy_text(label), .text = record_copy_text(text)};
    return line->label != NULL && line->text != NULL;
}

static zw_status drop_line(record_summary *line, zw_error *error)
{
    base_free(line->label);
    base_free(line->text);
    return record_no_memory(error);
}

zw_status record_table_add_summary(record_table *table, const char *label, const char *text,
                                   zw_error *error)
{
    record_summary line;
    if (table == NULL || label == NULL || text == NULL) {
        return base_fail(error, ZW_BAD_INPUT, "recording: a line of the summary needs its texts");
    }
    if (!copy_line(&line, label, text) ||
        !base_list_reserve(&table->summary, &table->summary_capacity, table->summary_count,
                           sizeof line)) {
        return drop_line(&line, error);
    }
    table->summary[table->summary_count++] = line;
    return ZW_OK;
}

zw_status record_table_add_note(record_table *table, const char *label, const char *text,
                                zw_error *error)
{
    record_summary line;
    if (table == NULL || label == NULL || text == NULL) {
        return base_fail(error, ZW_BAD_INPUT, "recording: a note needs its texts");
    }
    for (int i = 0; i < table->note_count; i++) {
        if (strcmp(table->note[i].label, label) == 0) {
            return base_fail(error, ZW_BAD_INPUT, "recording: there is a note %s already", label);
        }
    }
    if (!copy_line(&line, label, text) ||
        !base_list_reserve(&table->note, &table->note_capacity, table->note_count, sizeof line)) {
        return drop_line(&line, error);
    }
    table->note[table->note_count++] = line;
    return ZW_OK;
}

/* ---- Plots ---------------------------------------------------------------------------------- */

/* The table owns these copies, although readers see them as const. */
static void free_text(const char *text)
{
    base_free((void *)text);
}

void record_plot_clear(record_plot *plot)
{
    free_text(plot->title);
    free_text(plot->x_label);
    free_text(plot->y_label);
    base_free((void *)plot->y);
}

static bool is_column(const record_table *table, int column)
{
    return column >= 0 && column < table->column_count;
}

static zw_status check_plot(const record_table *table, const record_plot *plot, zw_error *error)
{
    if (table == NULL || plot == NULL || plot->y_count < 1 || plot->y == NULL) {
        return base_fail(error, ZW_BAD_INPUT, "recording: a plot needs a table and a curve");
    }
    const char *title = plot->title != NULL ? plot->title : "without a title";
    if (plot->kind < RECORD_PLOT_TIME || plot->kind > RECORD_PLOT_DOTS) {
        return base_fail(error, ZW_BAD_INPUT, "recording: plot %s has no kind", title);
    }
    if (plot->kind != RECORD_PLOT_TIME && !is_column(table, plot->x)) {
        return base_fail(error, ZW_BAD_INPUT, "recording: plot %s: there is no column %d", title,
                         plot->x);
    }
    if (plot->color != 0 && !is_column(table, plot->color - 1)) {
        return base_fail(error, ZW_BAD_INPUT, "recording: plot %s: there is no column %d", title,
                         plot->color - 1);
    }
    for (int i = 0; i < plot->y_count; i++) {
        if (!is_column(table, plot->y[i])) {
            return base_fail(error, ZW_BAD_INPUT, "recording: plot %s: there is no column %d",
                             title, plot->y[i]);
        }
    }
    return ZW_OK;
}

/* A copy of a text that may be absent; false when there is no memory. */
static bool copy_optional(const char **to, const char *from)
{
    *to = from != NULL ? record_copy_text(from) : NULL;
    return from == NULL || *to != NULL;
}

static bool copy_block(const void **to, const void *from, size_t bytes)
{
    void *copy = base_alloc(bytes);
    if (copy != NULL) {
        memcpy(copy, from, bytes);
    }
    *to = copy;
    return copy != NULL;
}

static bool copy_plot(record_plot *copy, const record_plot *plot)
{
    *copy = *plot;
    const void *y = NULL;
    bool ok = copy_optional(&copy->title, plot->title);
    ok &= copy_optional(&copy->x_label, plot->x_label);
    ok &= copy_optional(&copy->y_label, plot->y_label);
    ok &= copy_block(&y, plot->y, (size_t)plot->y_count * sizeof *plot->y);
    copy->y = y;
    return ok;
}

zw_status record_table_add_plot(record_table *table, const record_plot *plot, zw_error *error)
{
    zw_status status = check_plot(table, plot, error);
    if (status != ZW_OK) {
        return status;
    }
    record_plot copy;
    if (!copy_plot(&copy, plot) ||
        !base_list_reserve(&table->plot, &table->plot_capacity, table->plot_count, sizeof copy)) {
        record_plot_clear(&copy);
        return record_no_memory(error);
    }
    table->plot[table->plot_count++] = copy;
    return ZW_OK;
}

/* ---- Draws ---------------------------------------------------------------------------------- */

void record_draw_clear(record_draw *draw)
{
    free_text(draw->color);
    free_text(draw->text);
    base_free((void *)draw->point);
    base_free((void *)draw->vertex);
    base_free((void *)draw->face);
}

/* Fewest and most points of each kind; 0: any number. */
static const struct {
    const char *name;
    int fewest, most;
} draw_kind[] = {
    [RECORD_DRAW_POINT] = {"point", 1, 0},   [RECORD_DRAW_LINE] = {"line", 2, 0},
    [RECORD_DRAW_CIRCLE] = {"circle", 1, 1}, [RECORD_DRAW_TRAIL] = {"trail", 1, 1},
    [RECORD_DRAW_SPRING] = {"spring", 2, 2}, [RECORD_DRAW_POLYGON] = {"polygon", 3, 0},
    [RECORD_DRAW_TEXT] = {"text", 1, 1},     [RECORD_DRAW_BOX] = {"box", 4, 4},
    [RECORD_DRAW_SOLID] = {"solid", 4, 4},   [RECORD_DRAW_ARROW] = {"arrow", 2, 2},
    [RECORD_DRAW_PLANE] = {"plane", 3, 3},
};

/* Colours are written into style sheets and pictures: letters, digits and # cannot break out of
 * them. */
static bool is_color(const char *color)
{
    const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#";
    size_t length = strlen(color);
    return length > 0 && length <= 32 && strspn(color, allowed) == length;
}

static zw_status check_points(const record_table *table, const record_draw *draw, zw_error *error)
{
    const char *name = draw_kind[draw->kind].name;
    for (int i = 0; i < draw->point_count; i++) {
        for (int d = 0; d < draw->dimension; d++) {
            int column = draw->point[i].column[d];
            if (column >= table->column_count) {
                return base_fail(error, ZW_BAD_INPUT, "recording: draw %s: there is no column %d",
                                 name, column);
            }
            if (column < 0 && !isfinite(draw->point[i].fixed[d])) {
                return base_fail(error, ZW_BAD_INPUT,
                                 "recording: draw %s: a fixed point is not finite", name);
            }
        }
    }
    return ZW_OK;
}

/* Are the vertices finite, and do the faces refer to existing vertices? */
static bool check_faces(const record_draw *draw)
{
    bool ok = draw->vertex != NULL && draw->face != NULL;
    for (int i = 0; ok && i < 3 * draw->vertex_count; i++) {
        ok = isfinite(draw->vertex[i]);
    }
    for (int at = 0; ok && at < draw->face_length;) {
        int count = draw->face[at++];
        ok = count >= 3 && count <= draw->face_length - at;
        for (int k = 0; ok && k < count; k++, at++) {
            ok = draw->face[at] >= 0 && draw->face[at] < draw->vertex_count;
        }
    }
    return ok;
}

static zw_status check_draw(const record_table *table, const record_draw *draw, zw_error *error)
{
    if (table == NULL || draw == NULL || draw->point == NULL || draw->kind < RECORD_DRAW_POINT ||
        draw->kind > RECORD_DRAW_PLANE) {
        return base_fail(error, ZW_BAD_INPUT, "recording: a shape needs a table, a kind, points");
    }
    const char *name = draw_kind[draw->kind].name;
    int fewest = draw_kind[draw->kind].fewest, most = draw_kind[draw->kind].most;
    if (draw->dimension != 2 && draw->dimension != 3) {
        return base_fail(error, ZW_BAD_INPUT, "recording: draw %s: points have 2 or 3 coordinates",
                         name);
    }
    if (draw->point_count < fewest || (most > 0 && draw->point_count > most)) {
        return base_fail(error, ZW_BAD_INPUT, "recording: draw %s wants %s%d point%s, not %d", name,
                         most > 0 ? "" : "at least ", fewest, fewest == 1 ? "" : "s",
                         draw->point_count);
    }
    if (draw->color != NULL && !is_color(draw->color)) {
        return base_fail(error, ZW_BAD_INPUT, "recording: draw %s: \"%.40s\" is not a colour", name,
                         draw->color);
    }
    if (draw->kind == RECORD_DRAW_TEXT && draw->text == NULL) {
        return base_fail(error, ZW_BAD_INPUT, "recording: draw text has no text");
    }
    if (draw->kind == RECORD_DRAW_CIRCLE && draw->radius == 0 &&
        !is_column(table, draw->radius_column)) {
        return base_fail(error, ZW_BAD_INPUT, "recording: draw circle: there is no column %d",
                         draw->radius_column);
    }
    if (!isfinite(draw->radius) || !isfinite(draw->width) || !isfinite(draw->seconds) ||
        draw->radius < 0 || draw->width < 0 || draw->seconds < 0) {
        return base_fail(
            error, ZW_BAD_INPUT,
            "recording: draw %s: a radius, width or duration is negative or not finite", name);
    }
    if (draw->kind == RECORD_DRAW_SOLID && !check_faces(draw)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "recording: draw solid: its faces are missing or invalid");
    }
    return check_points(table, draw, error);
}

static bool copy_draw(record_draw *copy, const record_draw *draw)
{
    *copy = *draw;
    const void *point = NULL;
    bool ok = copy_optional(&copy->color, draw->color);
    ok &= copy_optional(&copy->text, draw->text);
    ok &= copy_block(&point, draw->point, (size_t)draw->point_count * sizeof *draw->point);
    copy->point = point;
    copy->vertex = NULL;
    copy->face = NULL;
    if (draw->kind == RECORD_DRAW_SOLID) {
        const void *vertex = NULL, *face = NULL;
        ok &= copy_block(&vertex, draw->vertex, (size_t)draw->vertex_count * 3 * sizeof(double));
        ok &= copy_block(&face, draw->face, (size_t)draw->face_length * sizeof(int));
        copy->vertex = vertex;
        copy->face = face;
    }
    return ok;
}

zw_status record_table_add_draw(record_table *table, const record_draw *draw, zw_error *error)
{
    zw_status status = check_draw(table, draw, error);
    if (status != ZW_OK) {
        return status;
    }
    record_draw copy;
    if (!copy_draw(&copy, draw) ||
        !base_list_reserve(&table->draw, &table->draw_room, table->draw_count, sizeof copy)) {
        record_draw_clear(&copy);
        return record_no_memory(error);
    }
    table->draw[table->draw_count++] = copy;
    return ZW_OK;
}

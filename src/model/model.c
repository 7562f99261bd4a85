#include "model/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "expr/lexer.h"
#include "model/bodies.h"

/* Index into capacity[] for each list. */
enum {
    FILES,
    PLACES,
    PARAMS,
    COORDS,
    CONSTRAINTS,
    EVENTS,
    CHECKS,
    PLOTS,
    DRAWS,
    MASSES,
    MOTORS,
    POINTS,
    COSTS,
    VARIES
};

zw_model *model_create(void)
{
    zw_model *model = base_alloc(sizeof *model);
    if (model == NULL) {
        return NULL;
    }
    model->graph = expr_graph_create();
    if (model->graph == NULL) {
        base_free(model);
        return NULL;
    }
    model->metric = EXPR_NONE;
    model->law.place = -1;
    model->reach.place = -1;
    return model;
}

/* ---- Freeing ------------------------------------------------------------------------------ */

static void constraints_free(zw_model *model)
{
    for (int i = 0; i < model->constraint_count; i++) {
        base_free(model->constraint[i].name);
        base_free(model->constraint[i].nonideal_coord);
        base_free(model->constraint[i].nonideal);
    }
    base_free(model->constraint);
    base_free(model->mass);
    for (int i = 0; i < model->point_count; i++) {
        base_free(model->point[i].name);
    }
    base_free(model->point);
}

static void events_free(zw_model *model)
{
    for (int i = 0; i < model->event_count; i++) {
        base_free(model->event[i].name);
        base_free(model->event[i].reset);
        base_free(model->event[i].part);
    }
    for (int i = 0; i < model->check_count; i++) {
        base_free(model->check[i].name);
    }
    for (int i = 0; i < model->cost_count; i++) {
        base_free(model->cost[i].name);
    }
    base_free(model->event);
    base_free(model->check);
    base_free(model->cost);
    base_free(model->vary);
}

static void pictures_free(zw_model *model)
{
    for (int i = 0; i < model->plot_count; i++) {
        for (int k = 0; k < model->plot[i].curve_count; k++) {
            base_free(model->plot[i].curve[k].label);
            base_free(model->plot[i].curve[k].x_label);
        }
        base_free(model->plot[i].curve);
    }
    for (int i = 0; i < model->draw_count; i++) {
        base_free(model->draw[i].point);
        base_free(model->draw[i].text);
        base_free(model->draw[i].colour);
        base_free(model->draw[i].vertex);
        base_free(model->draw[i].face);
    }
    base_free(model->plot);
    base_free(model->draw);
}

void zw_model_set_impact(zw_model *model, zw_impact_law law)
{
    model->impact = law;
}

zw_impact_law zw_model_impact(const zw_model *model)
{
    return model->impact == ZW_IMPACT_DEFAULT ? ZW_IMPACT_SEQUENTIAL : model->impact;
}

void zw_model_free(zw_model *model)
{
    if (model == NULL) {
        return;
    }
    for (int i = 0; i < model->file_count; i++) {
        base_free(model->file[i].name);
        base_free(model->file[i].text);
    }
    for (int i = 0; i < model->param_count; i++) {
        base_free(model->param[i].name);
    }
    for (int i = 0; i < model->coord_count; i++) {
        base_free(model->coord[i].name);
    }
    constraints_free(model);
    events_free(model);
    pictures_free(model);
    base_free(model->file);
    base_free(model->place);
    base_free(model->param);
    base_free(model->coord);
    base_free(model->title);
    base_free(model->law.lambda);
    base_free(model->law.given);
    base_free(model->run.method);
    base_free(model->robot);
    base_free(model->motor);
    model_bodies_free(model->bodies);
    expr_graph_free(model->graph);
    base_free(model);
}

/* ---- Adding ------------------------------------------------------------------------------- */

model_file *model_add_file(zw_model *model)
{
    int capacity = base_list_reserve(&model->file, &model->capacity[FILES], model->file_count,
                                     sizeof *model->file);
    return capacity ? &model->file[model->file_count++] : NULL;
}

model_param *model_add_param(zw_model *model)
{
    int capacity = base_list_reserve(&model->param, &model->capacity[PARAMS], model->param_count,
                                     sizeof *model->param);
    if (!capacity) {
        return NULL;
    }
    model->param[model->param_count].formula = EXPR_NONE;
    return &model->param[model->param_count++];
}

model_coord *model_add_coord(zw_model *model)
{
    if (!base_list_reserve(&model->coord, &model->capacity[COORDS], model->coord_count,
                           sizeof *model->coord)) {
        return NULL;
    }
    model_coord *coord = &model->coord[model->coord_count++];
    *coord = (model_coord){.start = EXPR_ZERO,
                           .speed = EXPR_NONE,
                           .force = EXPR_ZERO,
                           .prefer = EXPR_ZERO,
                           .free = EXPR_ZERO,
                           .reach = EXPR_NONE};
    return coord;
}

model_constraint *model_add_constraint(zw_model *model)
{
    if (!base_list_reserve(&model->constraint, &model->capacity[CONSTRAINTS],
                           model->constraint_count, sizeof *model->constraint)) {
        return NULL;
    }
    model_constraint *constraint = &model->constraint[model->constraint_count++];
    *constraint = (model_constraint){.restitution = EXPR_NONE, .friction = EXPR_NONE};
    return constraint;
}

model_mass *model_add_mass(zw_model *model)
{
    int capacity = base_list_reserve(&model->mass, &model->capacity[MASSES], model->mass_count,
                                     sizeof *model->mass);
    return capacity ? &model->mass[model->mass_count++] : NULL;
}

model_event *model_add_event(zw_model *model)
{
    int capacity = base_list_reserve(&model->event, &model->capacity[EVENTS], model->event_count,
                                     sizeof *model->event);
    return capacity ? &model->event[model->event_count++] : NULL;
}

model_cost *model_add_cost(zw_model *model)
{
    int capacity = base_list_reserve(&model->cost, &model->capacity[COSTS], model->cost_count,
                                     sizeof *model->cost);
    return capacity ? &model->cost[model->cost_count++] : NULL;
}

model_vary *model_add_vary(zw_model *model)
{
    int capacity = base_list_reserve(&model->vary, &model->capacity[VARIES], model->vary_count,
                                     sizeof *model->vary);
    return capacity ? &model->vary[model->vary_count++] : NULL;
}

model_check *model_add_check(zw_model *model)
{
    int capacity = base_list_reserve(&model->check, &model->capacity[CHECKS], model->check_count,
                                     sizeof *model->check);
    return capacity ? &model->check[model->check_count++] : NULL;
}

model_plot *model_add_plot(zw_model *model)
{
    int capacity = base_list_reserve(&model->plot, &model->capacity[PLOTS], model->plot_count,
                                     sizeof *model->plot);
    return capacity ? &model->plot[model->plot_count++] : NULL;
}

model_draw *model_add_draw(zw_model *model)
{
    if (!base_list_reserve(&model->draw, &model->capacity[DRAWS], model->draw_count,
                           sizeof *model->draw)) {
        return NULL;
    }
    model_draw *draw = &model->draw[model->draw_count++];
    *draw = (model_draw){.radius = EXPR_NONE};
    return draw;
}

model_motor *model_add_motor(zw_model *model)
{
    int capacity = base_list_reserve(&model->motor, &model->capacity[MOTORS], model->motor_count,
                                     sizeof *model->motor);
    return capacity ? &model->motor[model->motor_count++] : NULL;
}

model_point *model_add_point(zw_model *model)
{
    int capacity = base_list_reserve(&model->point, &model->capacity[POINTS], model->point_count,
                                     sizeof *model->point);
    return capacity ? &model->point[model->point_count++] : NULL;
}

int model_add_place(zw_model *model, int file, int line, int column, int length)
{
    if (model->place_count > 0) {
        const model_place *last = &model->place[model->place_count - 1];
        if (last->file == file && last->line == line && last->column == column &&
            last->length == length) {
            return model->place_count - 1;
        }
    }
    if (!base_list_reserve(&model->place, &model->capacity[PLACES], model->place_count,
                           sizeof *model->place)) {
        return -1;
    }
    model->place[model->place_count] = (model_place){file, line, column, length};
    return model->place_count++;
}

char *model_text_copy(const char *text, size_t length)
{
    char *copy = base_alloc(length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
    }
    return copy;
}

/* ---- Errors ------------------------------------------------------------------------------- */

/* Of a long line only the part around the caret is shown. */
enum { SHOWN_BEFORE = 60, SHOWN_AFTER = 38, SHOWN_BYTES = 4 * (SHOWN_BEFORE + SHOWN_AFTER) + 16 };

static const char *line_start(const char *text, int line)
{
    for (int i = 1; i < line; i++) {
        const char *end = strchr(text, '\n');
        if (end == NULL) {
            break;
        }
        text = end + 1;
    }
    return text;
}

/* U+0080 to U+009F: some terminals interpret these as control sequences, like ESC. */
static int is_late_control(const char *at, int bytes)
{
    const unsigned char *c = (const unsigned char *)at;
    return bytes == 2 && c[0] == 0xc2 && c[1] < 0xa0;
}

/* One character of the line as it can be printed; returns its bytes in the source. */
static int show_character(const char *at, char *shown, size_t *used)
{
    int bytes = expr_utf8_length(at);
    if (bytes == 0 || ((unsigned char)*at < 32 && *at != '\t')) {
        shown[(*used)++] = '?'; /* invalid UTF-8 and control characters must not reach a terminal */
        return 1;
    }
    if (is_late_control(at, bytes)) {
        shown[(*used)++] = '?';
        return bytes;
    }
    memcpy(shown + *used, at, (size_t)bytes);
    *used += (size_t)bytes;
    return bytes;
}

/* The line, and a caret under the column; tabs are kept, so that both align. A blank line is not
 * shown. */
static void show_line(char lines[2 * SHOWN_BYTES], const char *text, int line, int column,
                      int length)
{
    char shown[SHOWN_BYTES] = "";
    char under[SHOWN_BYTES];
    size_t used = 0;
    size_t marks = 0;
    int from = column > SHOWN_BEFORE ? column - SHOWN_BEFORE + 3 : 1;
    if (from > 1) {
        memcpy(shown, "...", 3);
        memcpy(under, "   ", 3);
        used = marks = 3;
    }

    const char *at = line_start(text, line);
    int end = 0; /* the column after the last character */
    for (int c = 1; end == 0; c++) {
        if (*at == 0 || *at == '\n' || (*at == '\r' && at[1] == '\n')) {
            end = c;
        } else if (c > column + SHOWN_AFTER) {
            memcpy(shown + used, "...", 3);
            used += 3;
            end = c;
        } else {
            char skipped[8];
            size_t none = 0;
            int before = c >= from && c < column;
            if (before) {
                under[marks++] = *at == '\t' ? '\t' : ' ';
            }
            at += c < from ? show_character(at, skipped, &none) : show_character(at, shown, &used);
        }
    }
    if (strspn(shown, " \t") >= used) { /* a caret under nothing would say nothing */
        *lines = 0;
        return;
    }
    while (column > end && marks < (size_t)(column - from)) {
        under[marks++] = ' ';
    }
    under[marks++] = '^';
    for (int i = 1; i < length && column + i < end && marks < sizeof under - 1; i++) {
        under[marks++] = '~';
    }
    snprintf(lines, 2 * SHOWN_BYTES, "\n%.*s\n%.*s", (int)used, shown, (int)marks, under);
}

/* A long path is cut at the front, as its end says more. */
static void show_file(zw_error *error, const char *name)
{
    size_t length = strlen(name);
    size_t capacity = sizeof error->file - 1;
    if (length > capacity) {
        snprintf(error->file, sizeof error->file, "...%s", name + length - capacity + 3);
    } else {
        memcpy(error->file, name, length + 1);
    }
}

/* Removes control characters, and names cut inside a character, which must not reach a terminal. */
static void message_clean(char *message)
{
    for (char *c = message; *c != 0;) {
        int bytes = expr_utf8_length(c);
        if (bytes == 0 || ((unsigned char)*c < 32 && *c != '\t' && *c != '\n')) {
            *c = '?';
            bytes = 1;
        } else if (is_late_control(c, bytes)) {
            memcpy(c, "??", 2);
        }
        c += bytes;
    }
}

zw_status model_fail(const zw_model *model, zw_error *error, zw_status status, int place,
                     const char *format, ...)
{
    if (error == NULL) {
        return status;
    }
    char message[sizeof error->text];
    char lines[2 * SHOWN_BYTES] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    message_clean(message);
    const model_place *at = place >= 0 ? &model->place[place] : NULL;
    if (at != NULL) {
        show_line(lines, model->file[at->file].text, at->line, at->column, at->length);
    }

    /* A message that is too long is cut to leave space for the line, but not inside a character. */
    size_t capacity = sizeof error->text - 1 - strlen(lines);
    size_t length = strlen(message);
    if (length > capacity) {
        length = capacity;
        while (length > 0 && ((unsigned char)message[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    base_fail(error, status, "%.*s%s", (int)length, message, lines);
    int file = at != NULL ? at->file : 0;
    if (file < model->file_count && model->file[file].name != NULL) {
        show_file(error, model->file[file].name);
    }
    if (at != NULL) {
        error->line = at->line;
        error->column = at->column;
    }
    return status;
}

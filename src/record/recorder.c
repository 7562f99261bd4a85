/* A recording of a system: which columns it has, and a row for every sample.
 *
 * Always: time, coordinates, speeds, energy, violations, multipliers, the certificate, activations
 * and sensor values. Then the expressions that plots and draws of the model need, unless they are
 * among those; for bodies, the contacts (touch.c) and, for reports, the size of the force that each
 * joint transmits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/decimal.h"
#include "path/recording/recording.h"
#include "record/file.h"
#include "record/table.h"
#include "record/touch.h"
#include "record/write.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"
#include "zwang/verdict.h"

struct zw_record {
    const zw_system *system;
    record_table *table;
    double *row;
    int *output; /* [outputs] the column of each output of the system, or -1 */
    record_touch touch;
    zw_wrench *load; /* [joints], and the first of their columns; NULL: there are none */
    int first_load;
    double *param; /* [params] at the first sample, or NULL */
    int jumped;    /* the last row was an event: the next jump belongs to it */
    int concluded; /* the verdict has been added */
    zw_run_verdict verdict;
    zw_status status;
    zw_error error;
};

enum { NAME = 256, MOST_PAIRS = 24 };

/* ---- Columns -------------------------------------------------------------------------------- */

typedef struct maker {
    zw_record *record;
    record_table *table;
    const zw_model *model;
    zw_error *error;
    zw_status status;
    int next_output;
} maker;

static int add_column(maker *k, const char *name, record_role role)
{
    int index = -1;
    if (k->status == ZW_OK) {
        k->status = record_table_add_column(k->table, name, role, &index, k->error);
    }
    return index;
}

static void add_fixed_columns(maker *k)
{
    const zw_model *model = k->model;
    char name[NAME];
    add_column(k, "t", RECORD_ROLE_TIME);
    for (int i = 0; i < model->coord_count; i++) {
        add_column(k, model->coord[i].name, RECORD_ROLE_COORD);
    }
    for (int i = 0; i < zw_count(k->record->system, ZW_KIND_SPEED); i++) {
        int bodies = k->record->system->tree != NULL;
        snprintf(name, sizeof name, bodies ? "%s" : "%s'",
                 zw_name(k->record->system, ZW_KIND_SPEED, i));
        add_column(k, name, RECORD_ROLE_SPEED);
    }
    add_column(k, "energy", RECORD_ROLE_ENERGY);
    add_column(k, "kinetic_energy", RECORD_ROLE_ENERGY);
    add_column(k, "potential_energy", RECORD_ROLE_ENERGY);
    if (k->record->system->m > 0) {
        add_column(k, "violation(position)", RECORD_ROLE_VIOLATION);
        add_column(k, "violation(velocity)", RECORD_ROLE_VIOLATION);
    }
    for (int c = 0; c < model->constraint_count; c++) {
        for (int j = 0; j < model->constraint[c].rows; j++) {
            const char *one = model->constraint[c].rows == 1 ? "lambda(%s)" : "lambda(%s).%c";
            snprintf(name, sizeof name, one, model->constraint[c].name, "xyzuvw"[j]);
            add_column(k, name, RECORD_ROLE_MULTIPLIER);
        }
    }
    add_column(k, "certificate", RECORD_ROLE_CERTIFICATE);
    for (int i = 0; i < zw_count(k->record->system, ZW_KIND_ACTIVATION); i++) {
        snprintf(name, sizeof name, "act(%.200s)",
                 zw_name(k->record->system, ZW_KIND_ACTIVATION, i));
        add_column(k, name, RECORD_ROLE_OTHER);
    }
    for (int i = 0; i < zw_count(k->record->system, ZW_KIND_READING); i++) {
        snprintf(name, sizeof name, "sensor(%.200s)",
                 zw_name(k->record->system, ZW_KIND_READING, i));
        add_column(k, name, RECORD_ROLE_OTHER);
    }
}

/* With imported bodies, leaves stand for what the formulas see; if that is a joint, its column is
 * found by name. */
static int is_seen(const maker *k, const expr_node *node, int *joint)
{
    const struct system_bodies *bodies = k->record->system->bodies;
    int leaf = node->op == EXPR_COORD || node->op == EXPR_SPEED;
    int seen = leaf && bodies && bodies->formulas;
    *joint = seen && bodies->formulas->seen[node->index].kind == MODEL_SEEN_JOINT;
    return seen;
}

/* The column that already holds this node, or -1. */
static int column_of(const maker *k, expr_id id, const char *label)
{
    const expr_node *node = expr_graph_node(k->model->graph, id);
    int speeds = zw_count(k->record->system, ZW_KIND_SPEED);
    int joint, seen = is_seen(k, node, &joint);
    switch (seen ? EXPR_CONST : (expr_op)node->op) {
    case EXPR_TIME:
        return 0;
    case EXPR_COORD:
        return 1 + node->index;
    case EXPR_SPEED:
        return 1 + k->model->coord_count + node->index;
    case EXPR_LAMBDA:
        return 1 + k->model->coord_count + speeds + 5 + node->index;
    default:
        /* names in the language for columns that always exist */
        return label && (!strcmp(label, "energy") || !strcmp(label, "kinetic_energy") ||
                         !strcmp(label, "potential_energy") || joint)
                   ? record_table_find(k->table, label)
                   : -1;
    }
}

/* A column for the next output of the system, which is node `id`. */
static int take_output(maker *k, expr_id id, const char *label, record_role role)
{
    char name[NAME];
    int column = column_of(k, id, label), output = k->next_output++;
    if (column >= 0 || k->status != ZW_OK) {
        k->record->output[output] = -1;
        return column;
    }
    snprintf(name, sizeof name, "%s", label && label[0] ? label : "draw");
    for (int copy = 2; record_table_find(k->table, name) >= 0; copy++) {
        snprintf(name, sizeof name, "%.200s (%d)", label && label[0] ? label : "draw", copy);
    }
    column = add_column(k, name, role);
    k->record->output[output] = column;
    return column;
}

/* A free joint transmits nothing. */
static int is_free(const zw_system *system, int joint)
{
    return system->tree->joint[system->bodies->joint[joint].index].kind == TREE_FREE;
}

static void add_joint_columns(maker *k)
{
    zw_record *record = k->record;
    int joints = record->system->tree ? zw_count(record->system, ZW_KIND_JOINT) : 0;
    char name[NAME];
    record->first_load = k->table->column_count;
    for (int i = 0; i < joints && k->status == ZW_OK; i++) {
        if (is_free(record->system, i)) {
            continue;
        }
        snprintf(name, sizeof name, "force(%.200s)", zw_name(record->system, ZW_KIND_JOINT, i));
        for (int copy = 2; record_table_find(k->table, name) >= 0; copy++) {
            snprintf(name, sizeof name, "force(%.200s) (%d)",
                     zw_name(record->system, ZW_KIND_JOINT, i), copy);
        }
        add_column(k, name, RECORD_ROLE_JOINT);
    }
    if (k->status == ZW_OK && k->table->column_count > record->first_load) {
        record->load = base_alloc((size_t)joints * sizeof *record->load);
        k->status = record->load ? ZW_OK : ZW_NO_MEMORY;
    }
}

static void skip_checks(maker *k)
{
    for (int i = 0; i < k->model->check_count; i++) {
        k->record->output[k->next_output++] = -1;
    }
}

/* One plot of the model: curves over time share a chart, phase plots get one each. */
static void add_plot(maker *k, const model_plot *plot)
{
    int *y = base_alloc((size_t)plot->curve_count * sizeof(int) + 1);
    if (!y) {
        k->status = ZW_NO_MEMORY;
        return;
    }
    for (int i = 0; i < plot->curve_count; i++) {
        const model_curve *curve = &plot->curve[i];
        expr_id x_id = curve->x == EXPR_NONE
                           ? k->record->system->tape[PART_OUTPUTS].out[k->next_output]
                           : curve->x;
        int x = take_output(k, x_id, curve->x_label, RECORD_ROLE_PLOT);
        y[i] = take_output(k, curve->y, curve->label, RECORD_ROLE_PLOT);
        record_plot shown = {.kind = plot->kind == MODEL_PLOT_PHASE ? RECORD_PLOT_PHASE
                                                                    : RECORD_PLOT_XY,
                             .x = x,
                             .y_count = 1,
                             .y = &y[i],
                             .x_label = curve->x_label,
                             .y_label = curve->label};
        if (plot->kind != MODEL_PLOT_TIME && k->status == ZW_OK) {
            k->status = record_table_add_plot(k->table, &shown, k->error);
        }
    }
    record_plot shown = {.kind = RECORD_PLOT_TIME, .y_count = plot->curve_count, .y = y};
    if (plot->kind == MODEL_PLOT_TIME && k->status == ZW_OK) {
        k->status = record_table_add_plot(k->table, &shown, k->error);
    }
    base_free(y);
}

static void add_draw(maker *k, const model_draw *draw)
{
    static const record_draw_kind kind[] = {
        RECORD_DRAW_POINT,  RECORD_DRAW_LINE,    RECORD_DRAW_CIRCLE, RECORD_DRAW_TRAIL,
        RECORD_DRAW_SPRING, RECORD_DRAW_POLYGON, RECORD_DRAW_TEXT,   RECORD_DRAW_BOX,
        RECORD_DRAW_SOLID,  RECORD_DRAW_PLANE};
    record_point *point = base_alloc(((size_t)draw->point_count + 1) * sizeof *point);
    if (!point) {
        k->status = ZW_NO_MEMORY;
        return;
    }
    for (int i = 0; i < draw->point_count * draw->dimension; i++) {
        const expr_node *node = expr_graph_node(k->model->graph, draw->point[i]);
        record_point *p = &point[i / draw->dimension];
        int j = i % draw->dimension;
        if (node->op == EXPR_CONST) {
            p->column[j] = -1;
            p->fixed[j] = node->value;
            k->record->output[k->next_output++] = -1;
        } else {
            p->column[j] = take_output(k, draw->point[i], NULL, RECORD_ROLE_DRAW);
        }
    }
    record_draw shown = {.kind = kind[draw->shape],
                         .dimension = draw->dimension,
                         .point_count = draw->point_count,
                         .point = point,
                         .color = draw->colour,
                         .text = draw->text,
                         .vertex_count = draw->vertex_count,
                         .face_length = draw->face_length,
                         .vertex = draw->vertex,
                         .face = draw->face};
    const expr_node *radius =
        draw->radius == EXPR_NONE ? NULL : expr_graph_node(k->model->graph, draw->radius);
    shown.radius = radius && radius->op == EXPR_CONST ? radius->value : 0;
    if (radius && radius->op != EXPR_CONST) {
        shown.radius_column = take_output(k, draw->radius, NULL, RECORD_ROLE_DRAW);
    } else {
        k->record->output[k->next_output++] = -1;
    }
    if (k->status == ZW_OK) {
        k->status = record_table_add_draw(k->table, &shown, k->error);
    }
    base_free(point);
}

static zw_status set_texts(maker *k)
{
    const zw_model *model = k->model;
    const char *file = model->file_count ? model->file[0].name : "";
    const char *source = model->file_count ? model->file[0].text : "";
    const char *title = model->title ? model->title : file;
    zw_status status = record_table_set_text(k->table, RECORD_TEXT_TITLE, title, k->error);
    if (status == ZW_OK) {
        status = record_table_set_text(k->table, RECORD_TEXT_FILE, file, k->error);
    }
    return status != ZW_OK ? status
                           : record_table_set_text(k->table, RECORD_TEXT_SOURCE, source, k->error);
}

zw_record *zw_record_create(const zw_system *system, zw_error *error)
{
    zw_record *record = base_alloc(sizeof *record);
    if (!record) {
        base_no_memory(error);
        return NULL;
    }
    record->system = system;
    record->touch.most = MOST_PAIRS;
    record->table = record_table_create(error);
    record->output = base_alloc(((size_t)system->tape[PART_OUTPUTS].count + 1) * sizeof(int));
    maker k = {.record = record, .table = record->table, .model = system->model, .error = error};
    k.status = record->table && record->output ? set_texts(&k) : ZW_NO_MEMORY;
    if (k.status == ZW_OK) {
        add_fixed_columns(&k);
        skip_checks(&k);
    }
    for (int i = 0; i < k.model->plot_count && k.status == ZW_OK; i++) {
        add_plot(&k, &k.model->plot[i]);
    }
    for (int i = 0; i < k.model->draw_count && k.status == ZW_OK; i++) {
        add_draw(&k, &k.model->draw[i]);
    }
    if (k.status == ZW_OK) {
        add_joint_columns(&k);
    }
    if (k.status == ZW_OK) {
        record->row = base_alloc((size_t)record->table->column_count * sizeof(double));
        k.status = record->row ? ZW_OK : ZW_NO_MEMORY;
    }
    if (k.status != ZW_OK) {
        if (k.status == ZW_NO_MEMORY) {
            base_no_memory(error);
        }
        zw_record_free(record);
        return NULL;
    }
    return record;
}

void zw_record_free(zw_record *record)
{
    if (record) {
        record_table_free(record->table);
        record_touch_free(&record->touch);
        base_free(record->output);
        base_free(record->load);
        base_free(record->row);
        base_free(record->param);
        base_free(record);
    }
}

/* ---- Rows ----------------------------------------------------------------------------------- */

zw_status zw_record_expect(zw_record *record, const zw_state *state, const zw_run_options *plan,
                           zw_error *error)
{
    double interval = plan->every > 0 ? plan->every : plan->step;
    double rows = interval > 0 ? ceil((plan->time - state->t) / interval) + 2 : 0;
    if (record_table_expect(record->table, rows)) {
        return ZW_OK;
    }
    return base_fail(error, ZW_NO_MEMORY,
                     "up to t = %g there would be %.2g samples of %d numbers: not enough memory; "
                     "record fewer, every %g say",
                     plan->time, rows, record->table->column_count, (plan->time - state->t) / 1000);
}

static double *put(double *to, zw_view view, int count)
{
    if (count > 0) {
        memcpy(to, view.data, (size_t)count * sizeof *to);
    }
    return to + count;
}

/* Notes the parameters at the first sample, and the events of this one. */
static void note_sample(zw_record *record, zw_sample_kind kind, int event, const zw_state *state,
                        zw_work *work)
{
    const zw_system *system = record->system;
    zw_view param = zw_field(system, state, work, ZW_FIELD_PARAM);
    zw_status status = ZW_OK;
    if (record->table->row_count == 0 && !record->param && param.count > 0) {
        record->param = base_alloc((size_t)param.count * sizeof(double));
        status = record->param ? ZW_OK : ZW_NO_MEMORY;
        if (record->param) {
            memcpy(record->param, param.data, (size_t)param.count * sizeof(double));
        }
    }
    const char *name = kind == ZW_SAMPLE_EVENT ? zw_name(system, ZW_KIND_EVENT, event)
                       : kind == ZW_SAMPLE_JUMP && record->jumped ? "set"
                       : kind == ZW_SAMPLE_JUMP                   ? "impact"
                                                                  : NULL;
    record->jumped = kind == ZW_SAMPLE_EVENT && system->model->event[event].reset_count > 0;
    if (status == ZW_OK && kind == ZW_SAMPLE_EVENT) {
        status = record_table_add_mark(record->table,
                                       zw_field(system, state, work, ZW_FIELD_TIME).data[0], name,
                                       &record->error);
    }
    if (status == ZW_OK && name) {
        status = record_table_label_row(record->table, name, &record->error);
    }
    record->status = record->status == ZW_OK ? status : record->status;
}

static void put_loads(zw_record *record, const zw_state *state, zw_work *work)
{
    const zw_system *system = record->system;
    double *to = record->row + record->first_load;
    int known = zw_wrenches(system, state, work, ZW_KIND_JOINT, record->load, NULL) == ZW_OK;
    for (int i = 0; i < zw_count(system, ZW_KIND_JOINT); i++) {
        const double *force = record->load[i].force;
        if (!is_free(system, i)) {
            *to++ =
                known ? sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]) : NAN;
        }
    }
}

int zw_record_observe(void *user, zw_sample_kind kind, int event, const zw_system *system,
                      const zw_state *state, zw_work *work)
{
    zw_record *record = user;
    double *to = record->row;
    note_sample(record, kind, event, state, work);
    to = put(to, zw_field(system, state, work, ZW_FIELD_TIME), 1);
    to = put(to, zw_field(system, state, work, ZW_FIELD_Q), system->nq);
    to = put(to, zw_field(system, state, work, ZW_FIELD_V), system->n);
    to = put(to, zw_field(system, state, work, ZW_FIELD_ENERGY), 3);
    if (system->m > 0) {
        to = put(to, zw_field(system, state, work, ZW_FIELD_VIOLATION), 2);
    }
    to = put(to, zw_field(system, state, work, ZW_FIELD_LAMBDA), system->m);
    *to++ = zw_work_motion(work)->certificate.worst;
    zw_view act = zw_field(system, state, work, ZW_FIELD_ACTIVATION);
    to = put(to, act, act.count);
    to = put(to, zw_field(system, state, work, ZW_FIELD_SENSOR), zw_count(system, ZW_KIND_READING));
    zw_view out = zw_field(system, state, work, ZW_FIELD_OUTPUT);
    for (int i = 0; i < out.count; i++) {
        if (record->output[i] >= 0) {
            record->row[record->output[i]] = out.data[i];
        }
    }
    if (record->load) {
        put_loads(record, state, work);
    }
    const contact_list *touched = work->touched && work->touched->acts ? work->touched : NULL;
    if (record->status == ZW_OK && touched) {
        record->status = record_touch_row(&record->touch, record->table->row_count,
                                          touched->contact, touched->count, &record->error);
    }
    if (record->status == ZW_OK) {
        record->status = record_table_add_row(record->table, record->row, &record->error);
    }
    return record->status != ZW_OK;
}

void zw_record_contacts(zw_record *record, int most)
{
    record->touch.most = most;
}

int zw_record_pairs(const zw_record *record)
{
    return record->touch.beyond ? -1 : record->touch.pair_count;
}

/* ---- Files ---------------------------------------------------------------------------------- */

void zw_record_conclude(zw_record *record, const zw_run_verdict *verdict)
{
    record->verdict = *verdict;
    record->concluded = 1;
}

void zw_record_plain(zw_record *record, int plain)
{
    record->table->plain = plain != 0;
}

static double value_of_text(const char *number)
{
    double value = NAN;
    math_decimal(number, number + strlen(number), &value);
    return value;
}

/* "g = 9.81, l = 1"; parameters that do not fit are counted. */
static void list_parameters(const zw_record *record, char *text, size_t size)
{
    int count = record->param ? zw_count(record->system, ZW_KIND_PARAM) : 0;
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        const char *name = zw_name(record->system, ZW_KIND_PARAM, i);
        if (used + strlen(name) + 60 > size) {
            snprintf(text + used, size - used, " and %d more", count - i);
            return;
        }
        char number[40];
        int digits = 15; /* as few digits as identify the number */
        do {
            record_number_text(number, sizeof number, record->param[i], digits);
        } while (digits++ < 17 && value_of_text(number) != record->param[i]);
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s = %s", i ? ", " : "", name, number);
    }
}

/* The origin of the numbers. Nothing here differs between equal runs: equal runs give
 * equal files. */
static void take_notes(zw_record *record, const zw_run_summary *summary)
{
    record_table *table = record->table;
    char text[4096] = "";
    snprintf(text, sizeof text, "%s", zw_version());
    record_table_add_note(table, "zwang", text, NULL);
    snprintf(text, sizeof text, "%.1000s, %016llx", table->text[RECORD_TEXT_FILE],
             (unsigned long long)record->system->fingerprint);
    record_table_add_note(table, "model", text, NULL);
    text[0] = 0;
    list_parameters(record, text, sizeof text);
    if (text[0]) {
        record_table_add_note(table, "parameters", text, NULL);
    }
    if (!summary || summary->method == ZW_METHOD_DEFAULT) {
        return; /* the rows are not from a run */
    }
    record_table_add_note(table, "method", zw_method_name(summary->method), NULL);
    record_number_text(text, sizeof text, summary->tolerance, 6);
    record_table_add_note(table, "tolerance", text, NULL);
    if (summary->step > 0) {
        record_number_text(text, sizeof text, summary->step, 17);
        record_table_add_note(table, "step", text, NULL);
    }
    if (summary->contact != ZW_CONTACT_DEFAULT) {
        record_table_add_note(table, "contact", zw_contact_law_name(summary->contact), NULL);
    }
    if (!record->concluded) {
        zw_run_conclude(record->system, NULL, summary, NULL, &record->verdict);
    }
    for (int kind = ZW_RUN_PROVED; kind <= ZW_RUN_SURVIVED; kind++) {
        const char *name = zw_run_verdict_name((zw_run_verdict_kind)kind);
        if (zw_run_verdict_text(&record->verdict, (zw_run_verdict_kind)kind, text, sizeof text)) {
            record_table_add_note(table, name, text + strlen(name) + 2, NULL);
        }
    }
}

static void summarise(record_table *table, const zw_run_summary *summary, bool robot)
{
    char text[160];
    if (!summary || table->summary_count > 0) {
        return;
    }
    snprintf(text, sizeof text, "%ld (%ld rejected)", summary->steps, summary->rejected);
    record_table_add_summary(table, "steps", text, NULL);
    snprintf(text, sizeof text, "%ld", summary->evaluations);
    record_table_add_summary(table, "evaluations", text, NULL);
    snprintf(text, sizeof text, "%.6g to %.6g, work %.6g", summary->energy_start,
             summary->energy_end, summary->work);
    record_table_add_summary(table, "energy", text, NULL);
    snprintf(text, sizeof text, "%.2g", summary->energy_drift);
    record_table_add_summary(table, "energy drift", text, NULL);
    snprintf(text, sizeof text, "%.2g position, %.2g velocity", summary->violation_position,
             summary->violation_velocity);
    record_table_add_summary(table, "violation", text, NULL);
    snprintf(text, sizeof text, "%.2g", summary->certificate);
    record_table_add_summary(table, "worst certificate", text, NULL);
    record_table_add_summary(table, "units",
                             robot ? "metres, kilograms, seconds, radians, newtons"
                                   : "those in which the model's numbers are meant",
                             NULL);
}

zw_status zw_record_write(zw_record *record, const zw_run_summary *summary, const char *path,
                          zw_error *error)
{
    if (record->status != ZW_OK) {
        if (error) {
            *error = record->error;
        }
        return record->status;
    }
    zw_status status = record_touch_finish(&record->touch, record->table, error);
    if (status != ZW_OK) {
        return status;
    }
    if (record->table->note_count == 0) {
        take_notes(record, summary);
    }
    summarise(record->table, summary, zw_count(record->system, ZW_KIND_BODY) > 0);
    return record_write(record->table, path, error);
}

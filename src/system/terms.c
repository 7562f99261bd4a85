/* Running the tapes, and reporting which of the user's formulas has no value. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "system/bodies/bodies.h"
#include "system/formulas.h"

void system_bind(const zw_system *system, zw_work *work, const double *param)
{
    size_t bytes = (size_t)system->shape.params * sizeof(double);
    if (work->prepared && (bytes == 0 || memcmp(work->param, param, bytes) == 0)) {
        return;
    }
    memcpy(work->param, param, bytes);
    for (int part = 0; part < PART_COUNT; part++) {
        expr_tape_prepare(system->tape[part].code, param, work->registers[part]);
    }
    work->prepared = 1;
}

/* A sum of x * 0 is NaN if one of the x is not finite; four independent sums are faster. */
static int finite(int count, const double *x)
{
    double sum[4] = {0};
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += x[i + k] * 0;
        }
    }
    for (; i < count; i++) {
        sum[0] += x[i] * 0;
    }
    return sum[0] + sum[1] + sum[2] + sum[3] == 0;
}

/* The source text at a place. */
static void quote(const zw_model *model, int place, char *text, size_t capacity)
{
    text[0] = 0;
    if (place < 0 || place >= model->place_count) {
        return;
    }
    const model_place *at = &model->place[place];
    const char *line = model->file[at->file].text;
    for (int i = 1; i < at->line && line; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (line) {
        size_t length = strcspn(line, "\n#"), used = 0;
        for (size_t i = 0; i < length && used + 1 < capacity; i++) {
            text[used++] = line[i];
        }
        while (used > 0 && (text[used - 1] == ' ' || text[used - 1] == '\r')) {
            used--;
        }
        text[used] = 0;
    }
}

expr_inputs system_inputs(const zw_system *system, zw_work *work, const expr_inputs *in)
{
    return system->bodies && system->bodies->formulas ? bodies_look_all(system, work, in) : *in;
}

int system_formulas(const zw_system *system, system_part part, const expr_id **list)
{
    const bodies_formulas *over_bodies = system->bodies ? system->bodies->formulas : NULL;
    *list = over_bodies ? over_bodies->out[part] : system->tape[part].out;
    return over_bodies ? over_bodies->outputs[part] : system->tree ? 0 : system->tape[part].count;
}

/* No formula is the cause: a coordinate, a speed, or a quantity of the bodies is not finite. */
static zw_status blame_state(const zw_system *system, const expr_inputs *in, zw_error *error)
{
    for (int i = 0; i < system->nq + system->n; i++) {
        int speed = i >= system->nq, k = speed ? i - system->nq : i;
        const double *x = speed ? in->v : in->q;
        if (x && !isfinite(x[k])) {
            return base_fail(error, ZW_NOT_FINITE, "at t = %.9g %s is not finite", in->t,
                             zw_name(system, speed ? ZW_KIND_SPEED : ZW_KIND_COORD, k));
        }
    }
    return base_fail(error, ZW_NOT_FINITE,
                     "at t = %.9g forces or accelerations are not finite: some coordinate, speed "
                     "or length is too large for them",
                     in->t);
}

static zw_status blame(const zw_system *system, zw_work *work, system_part part,
                       const expr_inputs *now, zw_error *error)
{
    const zw_model *model = system->model;
    const expr_inputs inputs = system_inputs(system, work, now), *in = &inputs;
    const expr_id *list;
    int count = system_formulas(system, part, &list);
    for (int i = 0; i < count; i++) {
        if (!system->tree && isfinite(work->out[part][i])) {
            continue;
        }
        expr_id id;
        if (expr_culprit(model->graph, list[i], in, &id) != ZW_OK) {
            return base_no_memory(error);
        }
        if (id == EXPR_NONE && !system->tree) {
            break;
        }
        if (id == EXPR_NONE) {
            continue;
        }
        const expr_node *node = expr_graph_node(model->graph, id);
        char text[160];
        quote(model, node->place, text, sizeof text);
        return model_fail(model, error, ZW_NOT_FINITE, node->place,
                          "at t = %.9g, '%s' in \"%s\" or in its derivative has no finite value",
                          in->t, expr_op_text((expr_op)node->op), text);
    }
    return blame_state(system, in, error);
}

zw_status system_evaluate(const zw_system *system, zw_work *work, system_part part, double t,
                          const double *q, const double *v, const double *a, const double *lambda,
                          zw_error *error)
{
    const expr_inputs in = {.t = t, .param = work->param, .q = q, .v = v, .a = a, .lambda = lambda};
    double *out = work->out[part];
    if (system->tree) {
        bodies_evaluate(system, work, part, &in);
    } else {
        expr_tape_run(system->tape[part].code, &in, work->registers[part], out);
    }
    if (finite(system->tape[part].count, out) || part == PART_OUTPUTS) {
        return ZW_OK;
    }
    return system->model ? blame(system, work, part, &in, error)
                         : base_fail_as(error, ZW_NOT_FINITE); /* on a device */
}

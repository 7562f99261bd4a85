/* Conditions of several comparisons.
 *
 * Each comparison is a separate function, which crosses zero, rests there, or is made positive by a
 * jump (event.h). The condition is decided from which of them hold, by `and` and `or`, not as a
 * function of their values: the least or largest of them would have the sign of the round-off of
 * one that rests at zero, where it does not hold. As conditions contain no `not` outside their
 * comparisons, they begin to hold only where a comparison does. */
#include "step/events/guard.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

int guards_make_conditions(step_guards *guards)
{
    const zw_model *model = guards->motion->system->model;
    int most = 1;
    size_t parts = (size_t)guards->parts + 1, events = (size_t)guards->events + 1;
    guards->part_of = base_alloc(parts * sizeof(int));
    guards->holds = base_alloc(parts * sizeof(int));
    guards->held = base_alloc(events * sizeof(int));
    guards->happens = base_alloc((events + (size_t)guards->count) * sizeof(int));
    if (!guards->part_of || !guards->holds || !guards->held || !guards->happens) {
        return 0;
    }
    for (int i = 0, p = 0; i < guards->events; i++) {
        most = model->event[i].part_count > most ? model->event[i].part_count : most;
        for (int k = 0; k < model->event[i].part_count; k++) {
            if (model->event[i].part[k].kind == MODEL_COMPARES) {
                guards->part_of[p++] = i;
            }
        }
    }
    guards->compared = base_alloc((size_t)most * sizeof(int));
    return guards->compared != NULL;
}

/* Does the condition of event i hold, whose first comparison is `first`? Operands come after their
 * operators, comparisons in order. */
static int condition_holds(const step_guards *guards, int i, int first)
{
    const model_event *event = &guards->motion->system->model->event[i];
    int *value = guards->compared, count = 0;
    for (int k = 0; k < event->part_count; k++) {
        if (event->part[k].kind == MODEL_COMPARES) {
            value[k] = guards->holds[first + count++];
        }
    }
    for (int k = event->part_count - 1; k >= 0; k--) {
        const model_part *part = &event->part[k];
        if (part->kind != MODEL_COMPARES) {
            int both = part->kind == MODEL_BOTH;
            value[k] = both ? value[part->left] && value[part->right]
                            : value[part->left] || value[part->right];
        }
    }
    return value[0];
}

/* At zero a comparison does not hold, unless it has just come there and was not stopped. */
zw_status guards_arm(step_guards *guards, const stepper *at, step_event_start start,
                     zw_error *error)
{
    int afresh = start == STEP_EVENTS_AFRESH || start == STEP_EVENTS_RESUMED;
    zw_status status = step_events_arm(guards->scan, at, start, error);
    for (int p = 0; p < guards->parts && status == ZW_OK; p++) {
        int side = step_events_side(guards->scan, p);
        int unknown = side == 0 && !guards->rests[p] && !guards->in_steps && !afresh;
        guards->holds[p] = unknown ? guards->holds[p] : side > 0;
    }
    for (int p = 0; p < guards->parts && status == ZW_OK; p++) {
        int i = guards->part_of[p];
        if (p == 0 || guards->part_of[p - 1] != i) {
            int now = condition_holds(guards, i, p);
            guards->held[i] = now && (afresh || guards->held[i]);
        }
    }
    return status;
}

int guards_conclude(step_guards *guards, int fired, int armed, const int **list)
{
    const int *which = step_events_fired(guards->scan);
    int count = 0, k = 0;
    for (int p = 0; p < guards->parts && !armed; p++) {
        int side = step_events_side_there(guards->scan, p);
        guards->holds[p] = side != 0 ? side > 0 : guards->holds[p];
    }
    for (; k < fired && which[k] < guards->parts; k++) {
        guards->holds[which[k]] = 1;
    }
    for (int p = 0, next = 0; p < guards->parts; p++) {
        int i = guards->part_of[p], first = p;
        int happens = 0;
        for (; p < guards->parts && guards->part_of[p] == i; p++) {
            happens |= next < k && which[next] == p;
            next += next < k && which[next] == p;
        }
        int now = condition_holds(guards, i, first);
        if (happens && (p - first == 1 || (now && !guards->held[i]))) {
            guards->happens[count++] = i;
        }
        guards->held[i] = now;
        p--;
    }
    for (; k < fired; k++) {
        guards->happens[count++] = which[k] - guards->parts + guards->events;
    }
    *list = guards->happens;
    return count;
}

/* One comparison of coordinates, speeds and time. What needs a solve, or kinematics, or has kinks
 * that are latched, is evaluated with the others. */
zw_status guards_evaluate_one(void *user, int k, double t, const double *y, double *g,
                              zw_error *error)
{
    const step_guards *guards = user;
    const zw_system *system = guards->motion->system;
    const expr_inputs in = {
        .t = t, .param = guards->motion->work->param, .q = y, .v = y + system->nq};
    unsigned on = expr_graph_node(system->model->graph, guards->root[k])->depends;
    int simple = !system->tree && guards->kinks.count == 0 &&
                 !(on & (unsigned)(EXPR_ON_ACCEL | EXPR_ON_LAMBDA));
    if (!simple) {
        return guards_evaluate(user, t, y, g, error);
    }
    zw_status status = expr_value(system->model->graph, guards->root[k], &in, &g[k]);
    return status == ZW_OK ? ZW_OK : base_no_memory(error);
}

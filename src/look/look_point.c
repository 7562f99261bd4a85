/* The points of a .zw file, with exact derivatives: for a component x(q, t)
 *
 *     x' = x_q v + x_t = D x,      x'' = x_q a + D D x,      D = v d/dq + d/dt
 *
 * (system.h), all of them formulas, on one tape. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "expr/derive.h"
#include "look/probe.h"
#include "system/list.h"

/* The nodes of one component after those of the others. */
static zw_status add_component(probe_points *points, expr_id x, int number, system_list *out,
                               system_list *column)
{
    expr_terms terms = {0};
    expr_id rate, second = EXPR_ZERO;
    zw_status status = expr_rate(points->graph, &x, 1, EXPR_RATE_BIAS, &rate);
    status = status != ZW_OK ? status : expr_rate(points->graph, &rate, 1, EXPR_RATE_BIAS, &second);
    status = status != ZW_OK ? status : expr_gradient(points->graph, x, EXPR_COORD, &terms);
    if (status == ZW_OK) {
        points->part[number] =
            (probe_component){.at = out->count, .first = column->count, .count = terms.count};
        system_list_add(out, x);
        system_list_add(out, rate);
        system_list_add(out, second);
        for (int k = 0; k < terms.count; k++) {
            system_list_add(out, terms.term[k].id);
            system_list_add(column, terms.term[k].index);
        }
    }
    expr_terms_free(&terms);
    return status;
}

static zw_status add_points(zw_probe *probe, system_list *out, system_list *column)
{
    probe_points *points = &probe->points;
    zw_status status = ZW_OK;
    for (int p = 0, c = 0; p < points->count && status == ZW_OK; p++) {
        const model_point *point = &probe->model->point[p];
        points->component[p] = c;
        for (int k = 0; k < point->dimension && status == ZW_OK; k++) {
            status = add_component(points, point->at[k], c++, out, column);
        }
        points->component[p + 1] = c;
    }
    int failed = out->failed || column->failed;
    return failed ? ZW_NO_MEMORY : status != ZW_OK ? status : expr_graph_status(points->graph);
}

zw_status probe_points_create(zw_probe *probe, zw_error *error)
{
    const zw_system *system = probe->system;
    probe_points *points = &probe->points;
    system_list out = {0}, column = {0};
    int components = 0;
    if (system->tree || probe->model->point_count == 0) {
        return ZW_OK;
    }
    for (int p = 0; p < probe->model->point_count; p++) {
        components += probe->model->point[p].dimension;
    }
    points->count = probe->model->point_count;
    points->component = base_alloc(((size_t)points->count + 1) * sizeof(int));
    points->part = base_alloc((size_t)components * sizeof *points->part);
    points->graph = expr_graph_copy(system->model->graph);
    zw_status status = points->component && points->part && points->graph
                           ? add_points(probe, &out, &column)
                           : ZW_NO_MEMORY;
    if (status == ZW_OK) {
        points->tape = expr_tape_create(points->graph, &system->shape, out.item, out.count, error);
        size_t registers = points->tape ? expr_tape_registers(points->tape) : 0;
        points->registers = base_alloc((registers + 1) * sizeof(double));
        points->out = base_alloc(((size_t)out.count + 1) * sizeof(double));
        status = points->tape && points->registers && points->out ? ZW_OK : ZW_NO_MEMORY;
    }
    points->outputs = out.count;
    points->column = column.item;
    column.item = NULL;
    system_list_free(&out);
    system_list_free(&column);
    return status == ZW_NO_MEMORY ? base_no_memory(error) : status;
}

void probe_points_free(probe_points *points)
{
    base_free(points->component);
    base_free(points->part);
    base_free(points->column);
    base_free(points->registers);
    base_free(points->out);
    expr_tape_free(points->tape);
    expr_graph_free(points->graph);
}

zw_status probe_points_run(zw_probe *probe, probe_now now, zw_error *error)
{
    probe_points *points = &probe->points;
    const expr_inputs in = {
        .t = now.t, .param = probe->work->param, .q = now.q, .v = now.v, .a = NULL};
    (void)error;
    expr_tape_prepare(points->tape, probe->work->param, points->registers);
    expr_tape_run(points->tape, &in, points->registers, points->out);
    return ZW_OK;
}

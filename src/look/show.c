/* The quantities to show. The outputs of a system are its checks, then x and y of every curve of
 * every plot, then the points of every draw and its radius: as system/compile.c lists them. */
#include "zwang/show.h"

#include "system/system.h"

/* The first output of plot `plot`. */
static int plot_output(const zw_model *model, int plot)
{
    int output = model->check_count;
    for (int i = 0; i < plot; i++) {
        output += 2 * model->plot[i].curve_count;
    }
    return output;
}

int zw_curve_count(const zw_system *system)
{
    const zw_model *model = system->model;
    return (plot_output(model, model->plot_count) - model->check_count) / 2;
}

static const char *text_of(const char *text)
{
    return text != NULL ? text : "";
}

zw_curve zw_curve_of(const zw_system *system, int index)
{
    static const zw_plot_kind kind[] = {ZW_PLOT_TIME, ZW_PLOT_PHASE, ZW_PLOT_XY};
    const zw_model *model = system->model;
    for (int i = 0; i < model->plot_count && index >= 0; i++) {
        const model_plot *plot = &model->plot[i];
        if (index < plot->curve_count) {
            const model_curve *curve = &plot->curve[index];
            return (zw_curve){.kind = kind[plot->kind],
                              .plot = i,
                              .x_label = text_of(curve->x_label),
                              .label = text_of(curve->label),
                              .output = plot_output(model, i) + 2 * index};
        }
        index -= plot->curve_count;
    }
    return (zw_curve){.x_label = "", .label = ""};
}

int zw_draw_count(const zw_system *system)
{
    return system->model->draw_count;
}

zw_draw zw_draw_of(const zw_system *system, int index)
{
    static const zw_draw_kind kind[] = {
        ZW_DRAW_POINT,   ZW_DRAW_LINE, ZW_DRAW_CIRCLE, ZW_DRAW_TRAIL, ZW_DRAW_SPRING,
        ZW_DRAW_POLYGON, ZW_DRAW_TEXT, ZW_DRAW_BOX,    ZW_DRAW_SOLID, ZW_DRAW_PLANE};
    const zw_model *model = system->model;
    if (index < 0 || index >= model->draw_count) {
        return (zw_draw){.text = "", .colour = ""};
    }
    int output = plot_output(model, model->plot_count);
    for (int i = 0; i < index; i++) {
        output += model->draw[i].point_count * model->draw[i].dimension + 1;
    }
    const model_draw *draw = &model->draw[index];
    return (zw_draw){.kind = kind[draw->shape],
                     .dimension = draw->dimension,
                     .points = draw->point_count,
                     .output = output,
                     .has_radius = draw->radius != EXPR_NONE,
                     .text = text_of(draw->text),
                     .colour = text_of(draw->colour)};
}

int zw_output_is_fixed(const zw_system *system, int output)
{
    const zw_model *model = system->model;
    int at = plot_output(model, model->plot_count);
    for (int i = 0; i < model->draw_count && output >= at; i++) {
        const model_draw *draw = &model->draw[i];
        int points = draw->point_count * draw->dimension;
        if (output <= at + points) {
            expr_id id = output < at + points ? draw->point[output - at] : draw->radius;
            return id == EXPR_NONE || expr_graph_node(model->graph, id)->op == EXPR_CONST;
        }
        at += points + 1;
    }
    return 0;
}

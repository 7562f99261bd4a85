/* For the tests of the reader: a model from text, with numbers for all its leaves. */
#ifndef ZWANG_TEST_READ_READING_H
#define ZWANG_TEST_READ_READING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "scene/dice.h"

enum { MOST = 64 };

typedef struct world {
    zw_model *model;
    double t, param[MOST], q[MOST], v[MOST], a[MOST], lambda[MOST];
} world;

static inline zw_model *read_text(const char *text)
{
    zw_error error;
    zw_model *model = zw_model_parse(text, "test.zw", NULL, &error);
    if (model == NULL) {
        print_error("%s:%d:%d: %s\n", error.file, error.line, error.column, error.text);
    }
    assert_non_null(model);
    return model;
}

/* Parameters as in the text, everything else random. */
static inline world world_of(const char *text, uint64_t seed)
{
    world w = {.model = read_text(text)};
    dice d = dice_of(seed);
    assert_true(w.model->param_count <= MOST && w.model->coord_count <= MOST);
    w.t = dice_between(&d, 0.1, 2);
    for (int i = 0; i < w.model->param_count; i++) {
        w.param[i] = w.model->param[i].value;
    }
    for (int i = 0; i < MOST; i++) {
        w.q[i] = dice_between(&d, 0.2, 1.5);
        w.v[i] = dice_between(&d, -1, 1);
        w.a[i] = dice_between(&d, -1, 1);
        w.lambda[i] = dice_between(&d, -1, 1);
    }
    return w;
}

static inline double value(const world *w, expr_id id)
{
    expr_inputs in = {w->t, w->param, w->q, w->v, w->a, w->lambda};
    assert_true(id >= 0 && id < expr_graph_count(w->model->graph));
    double value;
    assert_int_equal(expr_value(w->model->graph, id, &in, &value), ZW_OK);
    return value;
}

/* The k-th curve of the first plot. */
static inline double curve(const world *w, int k)
{
    assert_true(w->model->plot_count > 0 && k < w->model->plot[0].curve_count);
    return value(w, w->model->plot[0].curve[k].y);
}

static inline void world_free(world *w)
{
    zw_model_free(w->model);
}

/* Equal but for the rounding of a formula written in another way. */
#define ASSERT_CLOSE(got, wanted) assert_close(got, wanted, __FILE__, __LINE__)
static inline void assert_close(double got, double wanted, const char *file, int line)
{
    if (!(fabs(got - wanted) <= 1e-12 * (1 + fabs(wanted)))) {
        print_error("got %.17g, wanted %.17g\n", got, wanted);
        _fail(file, line);
    }
}

#endif

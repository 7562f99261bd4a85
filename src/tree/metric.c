#include "tree/metric.h"

#include "tree/sweeps.h"

/* ---- By the entries -------------------------------------------------------------------------- */

static void apply_entries(void *self, const double *x, double *y)
{
    const tree_metric *m = self;
    tree_multiply(m->tree, m->diagonal, m->work, x, y);
}

static void diagonal_entries(void *self, double *d)
{
    const tree_metric *m = self;
    for (int k = 0; k < m->tree->nv; k++) {
        d[k] = m->work[m->tree->at.M + m->tree->start[k + 1] - 1];
        d[k] += m->diagonal != NULL ? m->diagonal[k] : 0.0;
    }
}

static zw_status factor_entries(void *self)
{
    const tree_metric *m = self;
    int bad;
    tree_factor(m->tree, m->diagonal, m->work, &bad);
    return bad ? ZW_NOT_A_METRIC : ZW_OK;
}

static void lower_entries(void *self, double *x)
{
    const tree_metric *m = self;
    tree_solve_lower(m->tree, m->work, x);
}

static void upper_entries(void *self, double *x)
{
    const tree_metric *m = self;
    tree_solve_upper(m->tree, m->work, x);
}

/* ---- By sweeps ------------------------------------------------------------------------------- */

static void apply_articulated(void *self, const double *x, double *y)
{
    const tree_metric *m = self;
    tree_inertia_times(m->tree, x, m->work, y);
    for (int k = 0; k < m->tree->nv && m->diagonal != NULL; k++) {
        y[k] += m->diagonal[k] * x[k];
    }
}

static void diagonal_articulated(void *self, double *d)
{
    const tree_metric *m = self;
    tree_inertia_diagonal(m->tree, m->work, d);
    for (int k = 0; k < m->tree->nv && m->diagonal != NULL; k++) {
        d[k] += m->diagonal[k];
    }
}

static zw_status factor_articulated(void *self)
{
    const tree_metric *m = self;
    int bad;
    tree_articulate(m->tree, m->diagonal, m->work, &bad);
    return bad ? ZW_NOT_A_METRIC : ZW_OK;
}

static void lower_articulated(void *self, double *x)
{
    const tree_metric *m = self;
    tree_articulated_lower(m->tree, m->work, x);
}

static void upper_articulated(void *self, double *x)
{
    const tree_metric *m = self;
    tree_articulated_upper(m->tree, m->work, x);
}

void tree_metric_wire(tree_metric *metric, tree_metric_form form, const tree_mechanism *tree,
                      const double *diagonal, double *work)
{
    static const zw_metric_operator forms[] = {
        [TREE_ENTRIES] = {.apply = apply_entries,
                          .diagonal = diagonal_entries,
                          .factor = factor_entries,
                          .solve_lower = lower_entries,
                          .solve_upper = upper_entries},
        [TREE_ARTICULATED] = {.apply = apply_articulated,
                              .diagonal = diagonal_articulated,
                              .factor = factor_articulated,
                              .solve_lower = lower_articulated,
                              .solve_upper = upper_articulated}};
    *metric = (tree_metric){tree, work, diagonal, forms[form]};
    metric->operator_.self = metric;
}

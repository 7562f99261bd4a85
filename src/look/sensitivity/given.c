/* From unknowns to the values that a state is created with. */
#include "base/error.h"
#include "base/memory.h"
#include "look/sensitivity/sensitivity.h"

zw_status sens_given(const zw_system *system, const zw_unknown *unknown, int count, const double *x,
                     const state_given *to, zw_error *error)
{
    const zw_model *model = system->model;
    int params = system->shape.params;
    double *param = (double *)to->param, *q = (double *)to->q, *v = (double *)to->v;
    for (int k = 0; k < params; k++) {
        param[k] = model->param[k].value;
    }
    for (int round = 0; round < params + 1; round++) {
        int changed = 0;
        for (int k = 0; k < params; k++) {
            double value = param[k];
            const expr_inputs in = {.param = param};
            if (model->param[k].formula != EXPR_NONE &&
                expr_value(model->graph, model->param[k].formula, &in, &value) != ZW_OK) {
                return base_no_memory(error);
            }
            for (int c = 0; c < count; c++) {
                const zw_unknown *by = &unknown[c];
                value = by->kind == ZW_UNKNOWN_PARAM && by->index == k ? x[c] : value;
            }
            changed |= value != param[k];
            param[k] = value;
        }
        if (!changed) {
            break;
        }
    }
    for (int c = 0; c < count; c++) {
        if (unknown[c].kind != ZW_UNKNOWN_PARAM) {
            (unknown[c].kind == ZW_UNKNOWN_START ? q : v)[unknown[c].index] = x[c];
        }
    }
    return ZW_OK;
}

/* The value of an unknown in the model, from one of its states. */
double sens_origin(const zw_system *system, const zw_unknown *by, zw_state *state)
{
    return by->kind == ZW_UNKNOWN_PARAM   ? system->model->param[by->index].value
           : by->kind == ZW_UNKNOWN_START ? state_q(state)[by->index]
                                          : state_v(state)[by->index];
}

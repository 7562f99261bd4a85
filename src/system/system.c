/* Creating and freeing a system, its names and its numbers. */
#include "system/system.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/bodies.h"
#include "system/bodies/bodies.h"
#include "system/law.h"
#include "system/work.h"
#include "tree/sweeps.h"

/* A forgotten mass is more likely than a system without masses (Fan et al. 2005, section 6) with
 * forces, or without any rule of motion. */
static zw_status check_masses(const zw_model *model, zw_error *error)
{
    int rule = model->constraint_count > 0,
        forces = model->potential != EXPR_ZERO || model->rayleigh != EXPR_ZERO;
    for (int i = 0; i < model->coord_count; i++) {
        rule |= model->coord[i].prefer != EXPR_ZERO || model->coord[i].free != EXPR_ZERO;
        forces |= model->coord[i].force != EXPR_ZERO;
    }
    if (!model->massless || (rule && !forces) || model->coord_count == 0) {
        return ZW_OK;
    }
    return model_fail(model, error, ZW_BAD_INPUT, model->coord[0].place,
                      forces ? "there are forces, but no line gives a mass to %s; write `mass` or "
                               "`kinetic`"
                             : "nothing moves %s: no line gives it a mass, and no rule says how",
                      model->coord[0].name);
}

zw_system *system_compile_with_law(const zw_model *model, const model_law *law, zw_error *error)
{
    zw_system *system = base_alloc(sizeof *system);
    if (!system) {
        base_no_memory(error);
        return NULL;
    }
    system->own = *model;
    system->own.graph = NULL;
    system->model = &system->own;
    system->given = *law;
    system->impact = model->impact;
    system->n = system->nq = model->coord_count;
    for (int c = 0; c < model->constraint_count; c++) {
        system->m += model->constraint[c].rows;
    }
    if (model->bodies) {
        zw_status made = bodies_compile(system, model, error);
        if (made == ZW_OK) {
            made = law_read(system, error);
        }
        system->carried = system->law.carried + (system->bodies ? system->bodies->act_count : 0);
        if (made == ZW_OK) {
            made = system_take_fingerprint(system, error);
        }
        if (made != ZW_OK) {
            zw_system_free(system);
            return NULL;
        }
        return system;
    }
    system->own.graph = expr_graph_copy(model->graph);
    if (!system->own.graph) {
        base_no_memory(error);
        zw_system_free(system);
        return NULL;
    }
    zw_status status = law_read(system, error);
    system->carried = system->law.carried;
    system->shape = (expr_shape){.params = model->param_count,
                                 .coords = system->n,
                                 .carried = system->law.carried,
                                 .lambdas = system->m};
    if (status == ZW_OK) {
        status = check_masses(model, error);
    }
    if (status == ZW_OK) {
        status = system_derive(system, error);
    }
    if (status == ZW_OK) {
        status = system_take_fingerprint(system, error);
    }
    if (status != ZW_OK) {
        zw_system_free(system);
        return NULL;
    }
    return system;
}

zw_system *zw_system_compile(const zw_model *model, const zw_law *law, zw_error *error)
{
    static const char *const name[] = {"nonholonomic", "vakonomic", "mixed", "penalty"};
    if (!law) {
        return system_compile_with_law(model, &model->law, error);
    }
    int kind = 0;
    while (kind < 4 && strcmp(name[kind], law->name) != 0) {
        kind++;
    }
    model_law asked = model->law;
    asked.kind = (model_law_kind)kind;
    asked.place = -1;
    asked.alpha = law->alpha;
    asked.beta = law->beta;
    asked.N = law->N;
    int numbers = law->alpha >= 0 && law->beta >= 0 && isfinite(law->alpha + law->beta) &&
                  law->alpha + law->beta > 0;
    if (kind == 4 || (kind >= MODEL_LAW_MIXED && !numbers) ||
        (kind == MODEL_LAW_PENALTY && !(law->N > 0 && isfinite(law->N)))) {
        base_fail(error, ZW_BAD_INPUT,
                  kind == 4
                      ? "there is no law called %s"
                      : "the %s law: alpha and beta are not negative, nor both zero, and N is "
                        "positive",
                  law->name);
        return NULL;
    }
    return system_compile_with_law(model, &asked, error);
}

void zw_system_free(zw_system *system)
{
    if (!system) {
        return;
    }
    for (int part = 0; part < PART_COUNT; part++) {
        expr_tape_free(system->tape[part].code);
        base_free(system->tape[part].out);
    }
    base_free(system->row_constraint);
    base_free(system->row_kind);
    base_free(system->first_row);
    base_free(system->A_start);
    base_free(system->A_column);
    base_free(system->M_start);
    base_free(system->M_row);
    base_free(system->C_coord);
    base_free(system->slip);
    base_free(system->slip_column);
    tree_free(system->tree);
    bodies_free(system->bodies);
    base_free(system->law.row);
    base_free(system->law.of_row);
    base_free(system->law.reaction_start);
    base_free(system->law.reaction_column);
    expr_graph_free(system->own.graph);
    base_free(system);
}

/* ---- Names --------------------------------------------------------------------------------- */

int zw_count(const zw_system *system, zw_kind kind)
{
    const zw_model *model = system->model;
    switch (kind) {
    case ZW_KIND_COORD:
        return model->coord_count;
    case ZW_KIND_SPEED:
        return system->n;
    case ZW_KIND_PARAM:
        return model->param_count;
    case ZW_KIND_CONSTRAINT:
        return model->constraint_count;
    case ZW_KIND_ROW:
        return system->m;
    case ZW_KIND_EVENT:
        return model->event_count;
    case ZW_KIND_CHECK:
        return model->check_count;
    case ZW_KIND_BODY:
        return system->bodies ? system->bodies->part_count : 0;
    case ZW_KIND_JOINT:
        return system->bodies ? system->bodies->joint_count : 0;
    case ZW_KIND_READING:
        return system->bodies ? system->bodies->reading_count : 0;
    case ZW_KIND_ACTIVATION:
        return system->bodies ? system->bodies->act_count : 0;
    default:
        return zw_model_count(&system->own, kind);
    }
}

const char *zw_name(const zw_system *system, zw_kind kind, int index)
{
    const zw_model *model = system->model;
    const char *name = NULL;
    if (index < 0 || index >= zw_count(system, kind)) {
        return "";
    }
    switch (kind) {
    case ZW_KIND_COORD:
        name = model->coord[index].name;
        break;
    case ZW_KIND_SPEED:
        name = system_speed_name(system, index);
        break;
    case ZW_KIND_PARAM:
        name = model->param[index].name;
        break;
    case ZW_KIND_CONSTRAINT:
        name = model->constraint[index].name;
        break;
    case ZW_KIND_ROW:
        name = model->constraint[system->row_constraint[index]].name;
        break;
    case ZW_KIND_EVENT:
        name = model->event[index].name;
        break;
    case ZW_KIND_CHECK:
        name = model->check[index].name;
        break;
    case ZW_KIND_BODY:
        name = system->bodies->part_name[index];
        break;
    case ZW_KIND_JOINT:
        name = system->bodies->joint_name[index];
        break;
    case ZW_KIND_READING:
        name = system->bodies->reading_name[index];
        break;
    case ZW_KIND_ACTIVATION:
        name = model->param[system->bodies->motor[system->bodies->act_motor[index]].param].name;
        break;
    default:
        name = *model_part_name(model_part_at(system->own.bodies, kind, index));
        break;
    }
    return name ? name : "";
}

int zw_id(const zw_system *system, zw_kind kind, const char *name)
{
    for (int i = 0; i < zw_count(system, kind); i++) {
        if (strcmp(zw_name(system, kind, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

int system_solve_tree(const zw_system *system, zw_work *work, const double *q, double *x)
{
    int bad = 0;
    if (!system->tree || system->tree->without_matrix || system->law.curved ||
        system->bodies->extra_count > 0 || system->bodies->thin_count > 0) {
        return 0;
    }
    tree_kinematics(system->tree, q, work->sweeps);
    tree_composite(system->tree, work->sweeps);
    tree_factor(system->tree, NULL, work->sweeps, &bad);
    if (!bad) {
        tree_solve(system->tree, work->sweeps, x);
    }
    return !bad;
}

/* a_free = M \ force. */
static const double *free_motion(const zw_system *system, zw_state *state, zw_work *work)
{
    const double *force = work->out[PART_TERMS] + system->at.force; /* without contacts */
    memcpy(work->a_free, force, (size_t)system->n * sizeof(double));
    if (system_solve_tree(system, work, state_q(state), work->a_free)) {
        return work->a_free;
    }
    zw_gauss bare = work->shown_by->problem;
    bare.block_count = 0;
    bare.law = NULL;
    bare.C = NULL;
    bare.force = force;
    zw_gauss_work *gauss = zw_gauss_work_create(&bare, &work->shown_by->options, NULL);
    zw_motion motion;
    if (gauss && zw_gauss_solve(&bare, NULL, gauss, &motion, NULL) == ZW_OK) {
        memcpy(work->a_free, motion.a, (size_t)system->n * sizeof(double));
    } else {
        for (int i = 0; i < system->n; i++) {
            work->a_free[i] = NAN;
        }
    }
    zw_gauss_work_free(gauss);
    return work->a_free;
}

static const double *energy_now(const zw_system *system, zw_state *state, zw_work *work)
{
    system_bind(system, work, state_param(state));
    for (int i = 0; i < 4; i++) {
        work->energy[i] = NAN;
    }
    if (system_evaluate(system, work, PART_ENERGY, state->t, state_q(state), state_v(state), NULL,
                        NULL, NULL) == ZW_OK) {
        memcpy(work->energy, work->out[PART_ENERGY], 3 * sizeof(double));
        work->energy[3] = work->power;
    }
    return work->energy;
}

static const double *violation_now(const zw_system *system, zw_state *state, zw_work *work)
{
    system_bind(system, work, state_param(state));
    work->violation[0] = work->violation[1] = NAN;
    if (system_set_modes(system, work, state_mode(state), NULL) == ZW_OK) {
        system_violation(system, work, state->t, state_q(state), state_v(state), work->violation,
                         NULL);
    }
    return work->violation;
}

static zw_view readings_now(const zw_system *system, zw_state *state, zw_work *work)
{
    zw_view view = {work->reading, zw_count(system, ZW_KIND_READING)};
#ifdef ZW_NO_SENSORS /* the studio's engine shows none, and leaves their code out */
    int known = view.count == 0;
    (void)state;
#else
    int known = view.count == 0 || bodies_sense(system, work, state, NULL) == ZW_OK;
#endif
    if (!known) {
        for (int i = 0; i < view.count; i++) {
            work->reading[i] = NAN;
        }
    }
    return view;
}

zw_view zw_field(const zw_system *system, const zw_state *state, zw_work *work, zw_field_id field)
{
    zw_state *now = (zw_state *)state; /* only read */
    switch (field) {
    case ZW_FIELD_TIME:
        return (zw_view){&state->t, 1};
    case ZW_FIELD_Q:
        return (zw_view){state_q(now), system->nq};
    case ZW_FIELD_V:
        return (zw_view){state_v(now), system->n};
    case ZW_FIELD_A:
        return (zw_view){work->a, system->n};
    case ZW_FIELD_A_FREE:
        return (zw_view){free_motion(system, now, work), system->n};
    case ZW_FIELD_LAMBDA:
        return (zw_view){work->lambda, system->m};
    case ZW_FIELD_ENERGY:
        return (zw_view){energy_now(system, now, work), 4};
    case ZW_FIELD_VIOLATION:
        return (zw_view){violation_now(system, now, work), 2};
    case ZW_FIELD_OUTPUT:
        system_bind(system, work, state_param(now));
        system_evaluate(system, work, PART_OUTPUTS, state->t, state_q(now), state_v(now), work->a,
                        work->lambda, NULL);
        return (zw_view){work->out[PART_OUTPUTS], system->tape[PART_OUTPUTS].count};
    case ZW_FIELD_CARRIED:
        return (zw_view){state_v(now) + system->n, system->law.carried};
    case ZW_FIELD_ACTIVATION:
        return (zw_view){state_v(now) + system->n + system->law.carried,
                         zw_count(system, ZW_KIND_ACTIVATION)};
    case ZW_FIELD_MOCAP: {
        int moved = system->tree ? system->tree->moved : system->nq;
        return (zw_view){state_q(now) + moved, system->nq - moved};
    }
    case ZW_FIELD_SENSOR:
        return readings_now(system, now, work);
    case ZW_FIELD_PARAM:
        return (zw_view){state_param(now), system->shape.params};
    }
    return (zw_view){NULL, 0};
}

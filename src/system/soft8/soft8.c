/* Which systems can be computed in lanes, and their constant data. */
#include "system/soft8/soft8.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "tree/sweeps.h"

/* ---- Conditions ------------------------------------------------------------------------------ */

static int motors_fit(const struct system_bodies *bodies)
{
    int fit = bodies->act_count == 0;
    for (int k = 0; k < bodies->motor_count && fit; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        fit = motor->kind == MOTOR_LENGTH && motor->formula < 0 && motor->act < 0 &&
              (!motor->gain_law || motor->gain_law == ZW_ACTUATOR_AFFINE) &&
              (!motor->bias_law || motor->bias_law == ZW_ACTUATOR_AFFINE);
    }
    return fit;
}

const char *soft8_lacks(const zw_system *system)
{
    enum { MOST = 128 }; /* dofs, so that H of eight worlds fits in the cache */
    const struct system_bodies *bodies = system->bodies;
    if (!system->tree || system->tree->without_matrix || system->n > MOST || system->n < 1) {
        return "systems without bodies, and those with no or more than 128 speeds";
    }
    const contact_world *world = bodies->contact;
    int touches = world->geom_count > 0 && world->touches;
    return bodies->formulas                            ? "formulas over bodies"
           : bodies->path_count > 0                    ? "tendons through space"
           : bodies->fluid_count > 0                   ? "fluids"
           : bodies->lift_count > 0                    ? "gravity compensation"
           : bodies->dry_count > 0                     ? "dry friction in joints"
           : bodies->motor_lifts                       ? "gravity compensation by motors"
           : bodies->extra_count > 0                   ? "tendons with inertia"
           : bodies->integrator != ZW_INTEGRATOR_EULER ? "integrators other than Euler's"
           : system->carried > 0                       ? "activations"
           : !motors_fit(bodies) ? "motors that are not affine in control, length and rate"
           : !touches            ? NULL
           : bodies->elliptic    ? "elliptic friction cones"
           : !world->match || world->asleep ? "more geoms than are tested pair by pair"
                                            : NULL;
}

/* Conditions on the soft problem. */
static int fits_law(const soft_problem *s)
{
    int fit = !s->work->group;
    for (int t = 0; t < s->trees && fit; t++) {
        fit = !s->tree[t].is_deep;
    }
    for (int c = 0; c < s->system->bodies->constraint_count && fit; c++) {
        const bodies_constraint *constraint = &s->system->bodies->constraint[c];
        fit = s->watch[c].q >= 0 || constraint->kind == CONSTRAINT_LOWER ||
              constraint->kind == CONSTRAINT_UPPER;
    }
    return fit;
}

/* ---- Constant data -------------------------------------------------------------------------- */

static int is_straight(const tree_mechanism *tree, const int *column, int columns)
{
    int d = columns > 0 ? column[columns - 1] : -1;
    for (int i = columns - 2; i >= 0; i--) {
        while (d > column[i]) {
            d = tree->dof_parent[d];
        }
        if (d != column[i]) {
            return 0;
        }
    }
    return 1;
}

static soft8_rule rule_of(const contact_world *world, const contact_match *match)
{
    const contact_geom *a = &world->geom[match->a], *b = &world->geom[match->b];
    const contact_geom *plane = match->plane == 1 ? a : b, *other = match->plane == 1 ? b : a;
    if (match->plane && plane->body == 0 && plane->shape.kind == COLLIDE_PLANE) {
        return other->shape.kind == COLLIDE_BOX       ? SOFT8_BOX_ON_PLANE
               : other->shape.kind <= COLLIDE_CAPSULE ? SOFT8_ROUND_ON_PLANE
                                                      : SOFT8_OTHER;
    }
    return !match->plane && a->shape.kind <= COLLIDE_CAPSULE && b->shape.kind <= COLLIDE_CAPSULE
               ? SOFT8_ROUND
               : SOFT8_OTHER;
}

/* column and side point into arrays for all matches; NULL: only count. Returns the number of
 * columns. */
static int make_match(soft8 *s, int index, int *column, double *side)
{
    const contact_world *world = s->system->bodies->contact;
    const tree_mechanism *tree = s->system->tree;
    contact_match of = world->match[index];
    contact_point law = contact_law(world, &of);
    int columns = contact_columns(tree, law.body, column, side);
    if (!column) {
        return columns;
    }
    soft8_match *to = &s->match[index];
    *to = (soft8_match){.of = of,
                        .rule = rule_of(world, &of),
                        .plane = -1,
                        .law = law,
                        .columns = columns,
                        .column = column,
                        .side = side,
                        .is_straight = is_straight(tree, column, columns),
                        .width = law.rows};
    for (int r = 0; r + 1 < law.rows; r++) {
        to->mu[r] = fmax(law.friction[r], SOFT_LEAST_FRICTION);
    }
    to->pair = *soft_pair_of(s->alone, &law);
    if (of.plane && world->geom[of.plane == 1 ? of.a : of.b].body == 0) {
        to->plane = of.plane == 1 ? of.a : of.b;
        to->other = of.plane == 1 ? of.b : of.a;
        collide_pose *pose = &s->alone->found.pose[to->plane];
        contact_place(s->system, &world->geom[to->plane], s->work->sweeps, pose);
        for (int i = 0; i < 3; i++) { /* from the first to the second */
            to->frame[i] = (of.plane == 1 ? 1 : -1) * pose->R[3 * i + 2];
        }
        contact_span(to->frame);
    }
    return columns;
}

static int make_matches(soft8 *s)
{
    const contact_world *world = s->system->bodies->contact;
    size_t columns = 0;
    s->match_count = world->geom_count > 0 && world->touches ? world->match_count : 0;
    for (int k = 0; k < s->match_count; k++) {
        columns += (size_t)make_match(s, k, NULL, NULL);
    }
    s->match = base_alloc(((size_t)s->match_count + 1) * sizeof *s->match);
    s->columns = base_alloc((columns + 1) * sizeof *s->columns);
    s->sides = base_alloc((columns + 1) * sizeof *s->sides);
    if (!s->match || !s->columns || !s->sides) {
        return 0;
    }
    int *column = s->columns;
    double *side = s->sides;
    for (int k = 0; k < s->match_count; k++) {
        int count = make_match(s, k, column, side);
        column += count;
        side += count;
    }
    return 1;
}

/* Limits of tendons: their moment arms are constant, and so are their rows. */
static void make_tendons(soft8 *s)
{
    const zw_system *system = s->system;
    double *terms = s->work->out[PART_TERMS];
    memset(s->v, 0, (size_t)system->n * sizeof *s->v);
    for (int c = 0; c < system->bodies->constraint_count; c++) {
        const bodies_constraint *constraint = &system->bodies->constraint[c];
        int start = system->A_start[constraint->row], end = system->A_start[constraint->row + 1];
        if (s->alone->watch[c].q >= 0) {
            continue;
        }
        bodies_fill_constraint(system, s->work, constraint, system->tree->q_rest,
                               (const double *)s->v,
                               (bodies_rows){.phi = s->work->rows,
                                             .psi = s->work->rows + system->m,
                                             .b = terms + system->at.b,
                                             .A = terms + system->at.A});
        memcpy(s->tendon_J + start, terms + system->at.A + start,
               (size_t)(end - start) * sizeof *s->tendon_J);
        s->tendon_straight[c] = is_straight(system->tree, system->A_column + start, end - start);
    }
}

static void find_apart(soft8 *s)
{
    const struct system_bodies *bodies = s->system->bodies;
    s->motors_apart = s->lengths_apart = 1;
    for (int k = 0; k < bodies->motor_count; k++) {
        for (int i = 0; i < k; i++) {
            s->motors_apart &= bodies->motor[i].length != bodies->motor[k].length;
        }
    }
    for (int k = 0; k < bodies->length_count; k++) {
        s->lengths_apart &= bodies->length[k].count == 1;
        for (int i = 0; i < k; i++) {
            s->lengths_apart &= bodies->term[bodies->length[i].first].dof !=
                                bodies->term[bodies->length[k].first].dof;
        }
    }
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* What does not change. */
static void lay_out(soft8 *s, base_arena *arena)
{
    const struct system_bodies *bodies = s->system->bodies;
    size_t n = (size_t)s->system->n;
    s->tendon_J = base_arena_doubles(arena, (size_t)s->system->A_start[s->system->m] + 1);
    s->tendon_straight = base_arena_ints(arena, (size_t)bodies->constraint_count);
    s->of_depth = base_arena_ints(arena, n);
    s->of_start = base_arena_ints(arena, n);
    s->of_run = base_arena_ints(arena, n + 1);
    soft8_lay_out(s, arena, arena);
}

static int fit_list(void *list, size_t count, size_t size)
{
    void **to = list;
    base_free(*to);
    *to = base_alloc(count * size);
    return *to != NULL;
}

int soft8_grow(soft8 *s)
{
    if (!s->memory) { /* on a device, even an emulated one, lists have a fixed size */
        return 0;
    }
    if (s->needs_blocks > s->block_capacity || !s->block) {
        size_t count = 2 * (size_t)s->needs_blocks, edges = SOFT8_EDGES * count;
        s->block_capacity = 0;
        if (!fit_list(&s->block, count, sizeof *s->block) ||
            !fit_list(&s->row, count, sizeof *s->row) ||
            !fit_list(&s->active, count, sizeof *s->active) ||
            !fit_list(&s->edge_r, edges, sizeof *s->edge_r) ||
            !fit_list(&s->edge_d, edges, sizeof *s->edge_d) ||
            !fit_list(&s->edge_D, edges, sizeof *s->edge_D)) {
            return 0;
        }
        s->block_capacity = (int)count;
    }
    if (s->needs_entries > s->entry_capacity || !s->J) {
        s->entry_capacity = 0;
        if (!fit_list(&s->J, 2 * (size_t)s->needs_entries, sizeof *s->J)) {
            return 0;
        }
        s->entry_capacity = 2 * s->needs_entries;
    }
    return 1;
}

static int allocate(soft8 *s)
{
    base_arena arena = {0};
    lay_out(s, &arena);
    s->memory = base_alloc(arena.used);
    s->sweeps = tree_work_create(s->system->tree, LANES);
    s->needs_blocks = 16;
    s->needs_entries = 1024;
    if (!s->memory || !s->sweeps || !soft8_grow(s) || !make_matches(s)) {
        return 0;
    }
    arena = (base_arena){.block = s->memory};
    lay_out(s, &arena);
    s->straight =
        paths_find(s->system->n, s->system->tree->dof_parent, s->of_depth, s->of_start, s->of_run);
    make_tendons(s);
    find_apart(s);
    soft8_begin_steps(s);
    return 1;
}

soft8 *soft8_create(const zw_system *system, zw_work *work, double h, int *failed)
{
    soft8 *s = NULL;
    zw_error ignored;
    *failed = 0;
    if (soft8_lacks(system)) {
        return NULL;
    }
    s = base_alloc(sizeof *s);
    if (!s) {
        *failed = 1;
        return NULL;
    }
    *s = (soft8){.system = system, .work = work, .h = h};
    zw_status status = soft_create(system, work, h, &s->alone, &ignored);
    if (status != ZW_OK || !fits_law(s->alone)) { /* errors are reported when a world steps alone */
        *failed = status == ZW_NO_MEMORY;
        soft8_free(s);
        return NULL;
    }
    if (!allocate(s)) {
        *failed = 1;
        soft8_free(s);
        return NULL;
    }
    return s;
}

void soft8_free(soft8 *s)
{
    if (!s) {
        return;
    }
    soft_free(s->alone);
    void *list[] = {s->match,  s->columns, s->sides,  s->sweeps, s->block,  s->row,
                    s->edge_r, s->edge_d,  s->edge_D, s->J,      s->active, s->memory};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        base_free(list[k]);
    }
    base_free(s);
}

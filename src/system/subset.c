#include "system/subset_inner.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/pose.h"
#include "tree/sweeps.h"

const char *subset_lacks(const zw_system *system)
{
    const struct system_bodies *bodies = system->bodies;
    return system->carried > 0       ? "activations of actuators"
           : bodies->extra_count > 0 ? "armatures of tendons"
                                     : NULL;
}

int subset_most(const zw_system *system)
{
    int count = 0;
    for (int i = 1; i < system->tree->bodies; i++) {
        count += system->tree->body[i].parent == 0;
    }
    return count;
}

/* ---- Groups --------------------------------------------------------------------------------- */

static int root_of(int *link, int i)
{
    while (link[i] != i) {
        i = link[i] = link[link[i]];
    }
    return i;
}

int subset_tie(int *link, int a, int b)
{
    if (a <= 0 || b <= 0) {
        return a > 0 ? a : b;
    }
    a = root_of(link, a);
    b = root_of(link, b);
    link[a > b ? a : b] = a < b ? a : b;
    return a < b ? a : b;
}

static int tie_terms(const zw_system *system, int *link, int first, int count)
{
    int body = 0;
    for (int k = first; k < first + count; k++) {
        body = subset_tie(link, body, system->tree->dof_body[system->bodies->term[k].dof]);
    }
    return body;
}

static int tie_closer(const zw_system *system, int *link, const bodies_closer *closer)
{
    int body = 0;
    if (closer->kind < CLOSER_LENGTH) {
        return subset_tie(link, closer->frame[0].body, closer->frame[1].body);
    }
    if (closer->kind == CLOSER_BALL) {
        return system->tree->dof_body[closer->dof];
    }
    for (int k = 0; k < 2; k++) {
        if (closer->length[k] >= 0) {
            const bodies_length *length = &system->bodies->length[closer->length[k]];
            body = subset_tie(link, body, tie_terms(system, link, length->first, length->count));
        }
    }
    return body;
}

static int tie_motor(const zw_system *system, int *link, const bodies_motor *motor)
{
    if (motor->kind == MOTOR_LENGTH) {
        const bodies_length *length = &system->bodies->length[motor->length];
        return tie_terms(system, link, length->first, length->count);
    }
    if (motor->kind == MOTOR_SITE) {
        return motor->refers ? subset_tie(link, motor->frame.body, motor->ref.body)
                             : motor->frame.body;
    }
    return system->tree->dof_body[motor->dof];
}

/* One of the bodies of each thing, and which bodies belong together: link[]. 0: no memory. */
static int tie_all(subset_groups *g, int *link)
{
    const zw_system *system = g->whole;
    const struct system_bodies *bodies = system->bodies;
    for (int i = 0; i < system->tree->bodies; i++) {
        int parent = i > 0 ? system->tree->body[i].parent : 0;
        link[i] = parent > 0 ? parent : i;
    }
    for (int c = 0; c < bodies->closer_count; c++) {
        g->closer[c] = tie_closer(system, link, &bodies->closer[c]);
    }
    for (int i = 0; i < bodies->length_count; i++) {
        g->length[i] = tie_terms(system, link, bodies->length[i].first, bodies->length[i].count);
    }
    for (int k = 0; k < bodies->motor_count; k++) {
        g->motor[k] = tie_motor(system, link, &bodies->motor[k]);
    }
    for (int k = 0; k < bodies->dry_count; k++) {
        g->dry[k] = tie_terms(system, link, bodies->dry[k].first, bodies->dry[k].count);
    }
    for (int k = 0; k < bodies->lift_count; k++) {
        g->lift[k] = bodies->lift[k].body;
    }
    return subset_tie_formulas(g, link);
}

/* From bodies to the numbers of groups, by their first bodies. */
static void number_groups(subset_groups *g, int *link)
{
    const struct system_bodies *bodies = g->whole->bodies;
    int *const list[] = {g->closer, g->length, g->motor, g->dry, g->lift};
    const int count[] = {bodies->closer_count, bodies->length_count, bodies->motor_count,
                         bodies->dry_count, bodies->lift_count};
    g->body[0] = -1;
    for (int i = 1; i < g->whole->tree->bodies; i++) {
        int root = root_of(link, i);
        g->body[i] = root == i ? g->count++ : g->body[root];
    }
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < count[k]; i++) {
            list[k][i] = g->body[list[k][i]];
        }
    }
    g->formula = g->body[g->formula];
}

static double length_of(const double *v)
{
    return sqrt(model_dot(v, v));
}

/* How far the matter of a body and of all that hangs on it is from its origin, in the pose as
 * described: extent[bodies]. */
static void find_extents(const subset_groups *g, double *extent)
{
    const tree_mechanism *tree = g->whole->tree;
    const contact_world *world = g->whole->bodies->contact;
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = &tree->body[i];
        double spin = body->inertia[0] + body->inertia[1] + body->inertia[2];
        extent[i] = length_of(body->com) + (body->mass > 0 ? sqrt(spin / body->mass) : 0);
    }
    for (int k = 0; k < world->geom_count; k++) {
        const contact_geom *geom = &world->geom[k];
        if (isfinite(geom->radius)) {
            extent[geom->body] = fmax(extent[geom->body], length_of(geom->pos) + geom->radius);
        }
    }
    for (int i = tree->bodies - 1; i > 0; i--) {
        const tree_body *body = &tree->body[i];
        extent[body->parent] = fmax(extent[body->parent], length_of(body->pos) + extent[i]);
    }
}

static void find_reach(subset_groups *g, double *extent)
{
    const tree_mechanism *tree = g->whole->tree;
    find_extents(g, extent);
    for (int d = 0; d < tree->nv; d++) {
        const tree_joint *joint = &tree->joint[tree->dof_joint[d]];
        int shifts = joint->kind == TREE_SLIDE || (joint->kind == TREE_FREE && d < joint->v + 3);
        g->reach[d] = shifts ? 1 : extent[joint->body] + length_of(joint->anchor);
    }
}

static void lay_out_groups(subset_groups *g, base_arena *arena)
{
    const zw_system *system = g->whole;
    const struct system_bodies *bodies = system->bodies;
    size_t count = (size_t)system->tree->bodies, geoms = (size_t)bodies->contact->geom_count;
    g->body = base_arena_ints(arena, count);
    g->closer = base_arena_ints(arena, (size_t)bodies->closer_count);
    g->length = base_arena_ints(arena, (size_t)bodies->length_count);
    g->motor = base_arena_ints(arena, (size_t)bodies->motor_count);
    g->dry = base_arena_ints(arena, (size_t)bodies->dry_count);
    g->lift = base_arena_ints(arena, (size_t)bodies->lift_count);
    g->reach = base_arena_doubles(arena, (size_t)system->n);
    g->geom = base_arena_bytes(arena, (geoms + 1) * sizeof *g->geom);
    g->still = base_arena_bytes(arena, geoms + 1);
    g->asleep = base_arena_bytes(arena, geoms + 1);
    g->moving = base_arena_ints(arena, geoms + 1);
    g->match = base_arena_bytes(arena, CONTACT_FEW * CONTACT_FEW / 2 * sizeof *g->match);
    g->keep = base_arena_bytes(arena, count);
    g->to = base_arena_ints(arena, count);
    g->to_q = base_arena_ints(arena, (size_t)system->nq);
    g->to_v = base_arena_ints(arena, (size_t)system->n);
    g->to_length = base_arena_ints(arena, (size_t)bodies->length_count);
}

zw_status subset_groups_create(subset_groups *g, const zw_system *whole)
{
    size_t bodies = (size_t)whole->tree->bodies;
    const contact_world *world = whole->bodies->contact;
    int *link = base_alloc(bodies * sizeof *link);
    double *extent = base_alloc(bodies * sizeof *extent);
    base_arena arena = {0};
    *g = (subset_groups){.whole = whole};
    lay_out_groups(g, &arena);
    arena = (base_arena){.block = base_alloc(arena.used + 1)};
    if (arena.block) {
        lay_out_groups(g, &arena);
    }
    if (link && extent && arena.block && tie_all(g, link)) {
        g->memory = arena.block;
        number_groups(g, link);
        find_reach(g, extent);
        memcpy(g->geom, world->geom, (size_t)world->geom_count * sizeof *g->geom);
        g->contact = *world;
        g->contact.geom = g->geom;
        g->contact.still = g->still;
        g->contact.asleep = g->asleep;
        g->contact.moving = g->moving;
        g->contact.crowd = NULL; /* it is for all of them */
    } else {
        base_free(arena.block);
    }
    base_free(link);
    base_free(extent);
    return g->memory ? ZW_OK : ZW_NO_MEMORY;
}

void subset_groups_free(subset_groups *g)
{
    base_free(g->memory);
    *g = (subset_groups){0};
}

/* ---- A subset ------------------------------------------------------------------------------- */

static int in(const unsigned char *awake, int group)
{
    return group < 0 || awake[group];
}

/* Sizes, and where things go. A length without terms does nothing. */
static void measure(subset *s, subset_groups *g, const unsigned char *awake)
{
    const zw_system *whole = g->whole;
    const struct system_bodies *all = whole->bodies;
    struct system_bodies *to = &s->bodies;
    to->length_count = to->closer_count = to->dry_count = to->motor_count = to->lift_count = 0;
    to->term_count = s->system.m = s->system.contact_count = 0;
    subset_measure_formulas(s, g, in(awake, g->formula));
    for (int i = 0; i < all->length_count; i++) {
        int there = g->length[i] >= 0 && awake[g->length[i]];
        g->to_length[i] = there ? to->length_count++ : -1;
        to->term_count += there ? all->length[i].count : 0;
    }
    for (int c = 0; c < all->closer_count; c++) {
        int there = in(awake, g->closer[c]);
        to->closer_count += there;
        s->system.m += there ? all->closer[c].rows : 0;
        s->system.contact_count += there && all->closer[c].kind >= CLOSER_LOWER;
    }
    for (int k = 0; k < all->dry_count; k++) {
        int there = in(awake, g->dry[k]);
        to->dry_count += there;
        to->term_count += there ? all->dry[k].count : 0;
    }
    for (int k = 0; k < all->motor_count; k++) {
        to->motor_count += in(awake, g->motor[k]);
    }
    for (int k = 0; k < all->lift_count; k++) {
        to->lift_count += in(awake, g->lift[k]);
    }
}

/* Entries of M and A. */
static void measure_patterns(const subset *s, const subset_groups *g, const unsigned char *awake,
                             size_t *M, size_t *A)
{
    const zw_system *whole = g->whole;
    *M = *A = 1;
    for (int d = 0; d < whole->n; d++) {
        int there = g->keep[whole->tree->dof_body[d]];
        *M += there ? (size_t)(whole->M_start[d + 1] - whole->M_start[d]) : 0;
    }
    *A += s->bodies.formulas ? (size_t)whole->A_start[s->formulas.rows] : 0;
    for (int c = 0; c < whole->bodies->closer_count && s->system.m > 0; c++) {
        const bodies_closer *closer = &whole->bodies->closer[c];
        if (in(awake, g->closer[c])) {
            *A +=
                (size_t)(whole->A_start[closer->row + closer->rows] - whole->A_start[closer->row]);
        }
    }
}

static void lay_out(subset *s, size_t M, size_t A, base_arena *arena)
{
    zw_system *system = &s->system;
    struct system_bodies *to = &s->bodies;
    size_t n = (size_t)system->n, m = (size_t)system->m;
    size_t constraints = (size_t)s->model.constraint_count + 1;
    s->group = base_arena_ints(arena, (size_t)system->tree->bodies);
    s->q = base_arena_ints(arena, (size_t)system->nq);
    s->v = base_arena_ints(arena, n);
    s->constraint = base_arena_ints(arena, constraints);
    s->model.constraint = base_arena_bytes(arena, constraints * sizeof *s->model.constraint);
    system->row_constraint = base_arena_ints(arena, m + 1);
    system->row_kind = base_arena_bytes(arena, (m + 1) * sizeof *system->row_kind);
    system->first_row = base_arena_ints(arena, constraints);
    system->A_start = base_arena_ints(arena, m + 2);
    system->A_column = base_arena_ints(arena, A);
    system->M_start = base_arena_ints(arena, n + 1);
    system->M_row = base_arena_ints(arena, M);
    to->entry = base_arena_ints(arena, (size_t)system->tree->entries);
    to->term = base_arena_bytes(arena, (size_t)to->term_count * sizeof *to->term);
    to->length = base_arena_bytes(arena, (size_t)to->length_count * sizeof *to->length);
    to->closer = base_arena_bytes(arena, (size_t)to->closer_count * sizeof *to->closer);
    to->dry = base_arena_bytes(arena, (size_t)to->dry_count * sizeof *to->dry);
    to->motor = base_arena_bytes(arena, (size_t)to->motor_count * sizeof *to->motor);
    to->lift = base_arena_bytes(arena, (size_t)to->lift_count * sizeof *to->lift);
    if (to->formulas) {
        bodies_formulas *f = to->formulas;
        f->seen = base_arena_bytes(arena, (size_t)f->count * sizeof *f->seen);
        f->frame = base_arena_bytes(arena, (size_t)f->frame_count * sizeof *f->frame);
    }
}

/* Coordinates and speeds, which stand in the order of the bodies in both. */
static void fill_places(subset *s, subset_groups *g)
{
    const tree_mechanism *tree = g->whole->tree;
    int q = 0, v = 0;
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = &tree->body[i];
        if (!g->keep[i]) {
            continue;
        }
        s->group[g->to[i]] = g->body[i];
        for (int j = body->joint; j < body->joint_end; j++) {
            int end = j + 1 < tree->joints ? tree->joint[j + 1].q : tree->nq;
            for (int k = tree->joint[j].q; k < end; k++) {
                g->to_q[k] = q;
                s->q[q++] = k;
            }
        }
        for (int d = body->dof; d < body->dof_end; d++) {
            g->to_v[d] = v;
            s->v[v++] = d;
        }
    }
}

static void fill_metric(subset *s, const subset_groups *g)
{
    const zw_system *whole = g->whole;
    zw_system *system = &s->system;
    const tree_mechanism *tree = system->tree;
    int used = 0;
    for (int j = 0; j < system->n; j++) {
        int from = s->v[j];
        system->M_start[j] = used;
        for (int k = whole->M_start[from]; k < whole->M_start[from + 1]; k++) {
            system->M_row[used++] = g->to_v[whole->M_row[k]];
        }
    }
    system->M_start[system->n] = used;
    for (int d = 0; d < system->n && tree->entries > 0; d++) {
        int first = whole->tree->start[s->v[d]] - tree->start[d];
        for (int k = tree->start[d]; k < tree->start[d + 1]; k++) {
            int j = tree->column[k], at = whole->bodies->entry[first + k];
            s->bodies.entry[k] = system->M_start[j] + at - whole->M_start[s->v[j]];
        }
    }
}

static int copy_terms(subset *s, const subset_groups *g, int first, int count)
{
    int at = s->bodies.term_count;
    for (int k = 0; k < count; k++) {
        bodies_term term = g->whole->bodies->term[first + k];
        term.q = g->to_q[term.q];
        term.dof = g->to_v[term.dof];
        s->bodies.term[s->bodies.term_count++] = term;
    }
    return at;
}

static void fill_closer(subset *s, const subset_groups *g, int c)
{
    const zw_system *whole = g->whole;
    zw_system *system = &s->system;
    bodies_closer *to = &s->bodies.closer[s->bodies.closer_count];
    *to = whole->bodies->closer[c];
    int from = to->row, number = bodies_first_closer(&s->bodies) + s->bodies.closer_count++;
    c += bodies_first_closer(whole->bodies);
    to->row = system->m;
    for (int k = 0; k < 2; k++) {
        to->frame[k].body = to->kind < CLOSER_LENGTH ? g->to[to->frame[k].body] : 0;
        if (to->kind >= CLOSER_LENGTH && to->kind != CLOSER_BALL && to->length[k] >= 0) {
            to->length[k] = g->to_length[to->length[k]];
        }
    }
    if (to->kind == CLOSER_BALL) {
        to->q = g->to_q[to->q];
        to->dof = g->to_v[to->dof];
    }
    s->constraint[number] = c;
    s->model.constraint[number] = whole->model->constraint[c];
    system->first_row[number] = system->m;
    for (int r = from; r < from + to->rows; r++) {
        int row = system->m++, used = system->A_start[row];
        system->row_constraint[row] = number;
        system->row_kind[row] = whole->row_kind[r];
        for (int k = whole->A_start[r]; k < whole->A_start[r + 1]; k++) {
            system->A_column[used++] = g->to_v[whole->A_column[k]];
        }
        system->A_start[row + 1] = used;
    }
    system->A_start[system->m + 1] = system->A_start[system->m];
}

static void fill_motor(bodies_motor *to, const subset_groups *g)
{
    if (to->kind == MOTOR_LENGTH) {
        to->length = g->to_length[to->length];
    } else if (to->kind == MOTOR_SITE) {
        to->frame.body = g->to[to->frame.body];
        to->ref.body = to->refers ? g->to[to->ref.body] : 0;
    } else {
        to->q = g->to_q[to->q];
        to->dof = g->to_v[to->dof];
    }
}

/* All but the tree, the masses and the contacts; counts go up from 0 again. */
static void fill_things(subset *s, const subset_groups *g, const unsigned char *awake)
{
    const struct system_bodies *all = g->whole->bodies;
    struct system_bodies *to = &s->bodies;
    to->length_count = to->closer_count = to->dry_count = to->motor_count = to->lift_count = 0;
    to->term_count = s->system.m = 0;
    int first = bodies_first_closer(to), behind = bodies_first_closer(all) + all->closer_count;
    subset_fill_formulas(s, g);
    for (int i = 0; i < all->length_count; i++) {
        if (g->to_length[i] >= 0) {
            bodies_length *length = &to->length[to->length_count++];
            *length = all->length[i];
            length->first = copy_terms(s, g, length->first, length->count);
        }
    }
    for (int c = 0; c < all->closer_count; c++) {
        if (in(awake, g->closer[c])) {
            fill_closer(s, g, c);
        }
    }
    for (int k = 0; k < all->dry_count; k++) {
        if (in(awake, g->dry[k])) {
            int c = first + to->closer_count + to->dry_count;
            bodies_dry *dry = &to->dry[to->dry_count++];
            *dry = all->dry[k];
            dry->first = copy_terms(s, g, dry->first, dry->count);
            s->constraint[c] = behind + k;
            s->model.constraint[c] = g->whole->model->constraint[behind + k];
            s->system.first_row[c] = s->system.m;
        }
    }
    s->system.first_row[first + to->closer_count + to->dry_count] = s->system.m;
    for (int k = 0; k < all->motor_count; k++) {
        if (in(awake, g->motor[k])) {
            to->motor[to->motor_count] = all->motor[k];
            fill_motor(&to->motor[to->motor_count++], g);
        }
    }
    for (int k = 0; k < all->lift_count; k++) {
        if (in(awake, g->lift[k])) {
            to->lift[to->lift_count] = all->lift[k];
            to->lift[to->lift_count].body = g->to[to->lift[to->lift_count].body];
            to->lift_count++;
        }
    }
}

/* Those that may touch, sleepers aside, if they are few. */
static void find_matches(subset_groups *g, const tree_mechanism *tree, int count)
{
    contact_world *world = &g->contact;
    int list[CONTACT_FEW], used = 0;
    world->match = count <= CONTACT_FEW ? g->match : NULL;
    world->match_count = 0;
    for (int i = 0; i < world->geom_count && world->match; i++) {
        if (!g->asleep[i]) {
            list[used++] = i;
        }
    }
    for (int k = 0; k < used; k++) {
        for (int l = k + 1; l < used; l++) {
            if (contact_may(world, tree, list[k], list[l])) {
                g->match[world->match_count++] = contact_match_of(world, list[k], list[l]);
            }
        }
    }
}

/* Geoms move with their bodies, or are where their bodies sleep. */
static void fill_contacts(subset_groups *g, const tree_mechanism *tree, const double *sweeps)
{
    const contact_world *world = g->whole->bodies->contact;
    int sleepers = 0;
    g->contact.moving_count = 0;
    for (int i = 0; i < world->geom_count; i++) {
        const contact_geom *from = &world->geom[i];
        contact_geom *to = &g->geom[i];
        int asleep = from->body > 0 && !g->keep[from->body];
        to->body = g->to[from->body];
        memcpy(to->pos, from->pos, sizeof to->pos);
        memcpy(to->R, from->R, sizeof to->R);
        if (asleep) {
            collide_pose pose;
            contact_place(g->whole, from, sweeps, &pose);
            memcpy(to->pos, pose.pos, sizeof to->pos);
            memcpy(to->R, pose.R, sizeof to->R);
        }
        g->asleep[i] = (unsigned char)asleep;
        g->still[i] = to->body == 0;
        sleepers += asleep;
        if (!g->still[i]) {
            g->moving[g->contact.moving_count++] = i;
        }
    }
    g->contact.asleep = sleepers > 0 ? g->asleep : NULL;
    find_matches(g, tree, world->geom_count - sleepers);
    if (!world->is_given) {
        g->contact.capacity = contact_capacity(world->geom_count - sleepers);
    }
}

zw_status subset_create(subset *s, subset_groups *g, const unsigned char *awake,
                        const double *sweeps)
{
    const zw_system *whole = g->whole;
    size_t M, A;
    for (int i = 1; i < whole->tree->bodies; i++) {
        g->keep[i] = awake[g->body[i]];
    }
    *s = (subset){.system = *whole, .bodies = *whole->bodies, .model = *whole->model};
    tree_mechanism *tree = s->system.tree = tree_part(whole->tree, g->keep, g->to, NULL);
    if (!tree) {
        return ZW_NO_MEMORY;
    }
    s->system.n = tree->nv;
    s->system.nq = tree->nq;
    measure(s, g, awake);
    measure_patterns(s, g, awake, &M, &A);
    s->model.constraint_count =
        bodies_first_closer(&s->bodies) + s->bodies.closer_count + s->bodies.dry_count;
    base_arena arena = {0};
    lay_out(s, M, A, &arena);
    arena = (base_arena){.block = base_alloc(arena.used + 1)};
    s->memory = arena.block;
    if (!s->memory) {
        tree_free(tree);
        return ZW_NO_MEMORY;
    }
    lay_out(s, M, A, &arena);
    fill_places(s, g);
    fill_metric(s, g);
    fill_things(s, g, awake);
    fill_contacts(g, tree, sweeps);
    s->system.model = &s->model;
    s->system.bodies = &s->bodies;
    s->system.sparse = 1;
    s->system.shape.coords = s->system.n;
    s->system.shape.lambdas = s->system.m;
    s->bodies.contact = &g->contact;
    s->bodies.reading_count = s->bodies.sensor_count = 0;
    for (int part = 0; part < PART_COUNT; part++) {
        s->system.tape[part].count = 0;
    }
    return ZW_OK;
}

void subset_free(subset *s)
{
    if (s->memory) {
        tree_free(s->system.tree);
        base_free(s->memory);
    }
    *s = (subset){0};
}

/* Some of the bodies of a system, as a separate system. */
#include "system/subset/subset_inner.h"

#include <string.h>

#include "base/memory.h"

static int in(const unsigned char *awake, int group)
{
    return group < 0 || awake[group];
}

/* The column of entry `at` of M. */
static int column_of(const zw_system *system, int at)
{
    int low = 0, high = system->n;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(system->M_start[middle] <= at ? &low : &high) = middle;
    }
    return low;
}

/* Sizes and new numbers. A length without terms has no effect. */
static void measure(subset *s, subset_groups *g, const unsigned char *awake)
{
    const zw_system *whole = g->whole;
    const struct system_bodies *all = whole->bodies;
    struct system_bodies *to = &s->bodies;
    to->length_count = to->constraint_count = to->dry_count = to->motor_count = to->lift_count = 0;
    to->term_count = s->system.m = s->system.contact_count = 0;
    subset_measure_formulas(s, g, in(awake, g->formula));
    for (int i = 0; i < all->length_count; i++) {
        int there = g->length[i] >= 0 && awake[g->length[i]];
        g->to_length[i] = there ? to->length_count++ : -1;
        to->term_count += there ? all->length[i].count : 0;
    }
    for (int c = 0; c < all->constraint_count; c++) {
        int there = in(awake, g->constraint[c]);
        to->constraint_count += there;
        s->system.m += there ? all->constraint[c].rows : 0;
        s->system.contact_count += there && all->constraint[c].kind >= CONSTRAINT_LOWER;
    }
    for (int k = 0; k < all->dry_count; k++) {
        int there = in(awake, g->dry[k]);
        to->dry_count += there;
        to->term_count += there ? all->dry[k].count : 0;
    }
    to->act_count = to->extra_count = 0;
    to->thin_count = 0; /* impulse steps do not need them */
    for (int k = 0; k < all->motor_count; k++) {
        to->motor_count += in(awake, g->motor[k]);
        to->act_count += in(awake, g->motor[k]) && all->motor[k].act >= 0;
    }
    for (int k = 0; k < all->extra_count; k++) {
        to->extra_count += g->keep[whole->tree->dof_body[column_of(whole, all->extra[k].at)]];
    }
    for (int k = 0; k < all->lift_count; k++) {
        to->lift_count += in(awake, g->lift[k]);
    }
    to->fluid_count = 0;
    for (int k = 0; k < all->fluid_count; k++) {
        to->fluid_count += g->keep[all->fluid[k].frame.body];
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
    for (int c = 0; c < whole->bodies->constraint_count && s->system.m > 0; c++) {
        const bodies_constraint *constraint = &whole->bodies->constraint[c];
        if (in(awake, g->constraint[c])) {
            *A += (size_t)(whole->A_start[constraint->row + constraint->rows] -
                           whole->A_start[constraint->row]);
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
    to->coef = base_arena_doubles(arena, (size_t)to->term_count);
    to->length = base_arena_bytes(arena, (size_t)to->length_count * sizeof *to->length);
    to->constraint = base_arena_bytes(arena, (size_t)to->constraint_count * sizeof *to->constraint);
    to->dry = base_arena_bytes(arena, (size_t)to->dry_count * sizeof *to->dry);
    to->motor = base_arena_bytes(arena, (size_t)to->motor_count * sizeof *to->motor);
    to->act_motor = base_arena_ints(arena, (size_t)to->act_count);
    s->act = base_arena_ints(arena, (size_t)to->act_count);
    s->act_group = base_arena_ints(arena, (size_t)to->act_count);
    to->extra = base_arena_bytes(arena, (size_t)to->extra_count * sizeof *to->extra);
    to->lift = base_arena_bytes(arena, (size_t)to->lift_count * sizeof *to->lift);
    to->fluid = base_arena_bytes(arena, (size_t)to->fluid_count * sizeof *to->fluid);
    if (to->formulas) {
        bodies_formulas *f = to->formulas;
        f->seen = base_arena_bytes(arena, (size_t)f->count * sizeof *f->seen);
        f->frame = base_arena_bytes(arena, (size_t)f->frame_count * sizeof *f->frame);
    }
}

/* Coordinates and speeds, in the order of the bodies in both. */
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
            int end = j + 1 < tree->joints ? tree->joint[j + 1].q : tree->moved;
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
    s->bodies.extra_count = 0;
    for (int k = 0; k < whole->bodies->extra_count; k++) { /* armatures of tendons */
        bodies_extra extra = whole->bodies->extra[k];
        int j = column_of(whole, extra.at);
        if (g->keep[whole->tree->dof_body[j]]) {
            extra.at += system->M_start[g->to_v[j]] - whole->M_start[j];
            extra.length = g->to_length[extra.length];
            s->bodies.extra[s->bodies.extra_count++] = extra;
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
        s->bodies.coef[s->bodies.term_count] = term.coef;
        s->bodies.term[s->bodies.term_count++] = term;
    }
    return at;
}

static void fill_constraint(subset *s, const subset_groups *g, int c)
{
    const zw_system *whole = g->whole;
    zw_system *system = &s->system;
    bodies_constraint *to = &s->bodies.constraint[s->bodies.constraint_count];
    *to = whole->bodies->constraint[c];
    int from = to->row, number = bodies_first_constraint(&s->bodies) + s->bodies.constraint_count++;
    c += bodies_first_constraint(whole->bodies);
    to->row = system->m;
    for (int k = 0; k < 2; k++) {
        to->frame[k].body = to->kind < CONSTRAINT_LENGTH ? g->to[to->frame[k].body] : 0;
        if (to->kind >= CONSTRAINT_LENGTH && to->kind != CONSTRAINT_BALL && to->length[k] >= 0) {
            to->length[k] = g->to_length[to->length[k]];
        }
    }
    if (to->kind == CONSTRAINT_BALL) {
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

static void fill_motor(subset *s, const subset_groups *g, int k)
{
    struct system_bodies *bodies = &s->bodies;
    bodies_motor *to = &bodies->motor[bodies->motor_count];
    *to = g->whole->bodies->motor[k];
    if (to->act >= 0) {
        s->act[bodies->act_count] = to->act;
        s->act_group[bodies->act_count] = g->motor[k];
        bodies->act_motor[bodies->act_count] = bodies->motor_count;
        to->act = bodies->act_count++;
    }
    bodies->motor_count++;

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

/* What a fluid acts on. */
static void fill_fluid(subset *s, const subset_groups *g)
{
    const struct system_bodies *all = g->whole->bodies;
    s->bodies.fluid_count = 0;
    for (int k = 0; k < all->fluid_count; k++) {
        bodies_fluid fluid = all->fluid[k];
        if (g->keep[fluid.frame.body]) {
            fluid.frame.body = g->to[fluid.frame.body];
            s->bodies.fluid[s->bodies.fluid_count++] = fluid;
        }
    }
}

/* All parts except the tree, the masses and the contacts; they are counted again from 0. */
static void fill_parts(subset *s, const subset_groups *g, const unsigned char *awake)
{
    const struct system_bodies *all = g->whole->bodies;
    struct system_bodies *to = &s->bodies;
    to->length_count = to->constraint_count = to->dry_count = to->motor_count = to->lift_count = 0;
    to->term_count = to->act_count = s->system.m = 0;
    int first = bodies_first_constraint(to),
        behind = bodies_first_constraint(all) + all->constraint_count;
    subset_fill_formulas(s, g);
    for (int i = 0; i < all->length_count; i++) {
        if (g->to_length[i] >= 0) {
            bodies_length *length = &to->length[to->length_count++];
            *length = all->length[i];
            length->first = copy_terms(s, g, length->first, length->count);
        }
    }
    for (int c = 0; c < all->constraint_count; c++) {
        if (in(awake, g->constraint[c])) {
            fill_constraint(s, g, c);
        }
    }
    for (int k = 0; k < all->dry_count; k++) {
        if (in(awake, g->dry[k])) {
            int c = first + to->constraint_count + to->dry_count;
            bodies_dry *dry = &to->dry[to->dry_count++];
            *dry = all->dry[k];
            dry->first = copy_terms(s, g, dry->first, dry->count);
            dry->length = dry->length < 0 ? -1 : g->to_length[dry->length];
            s->constraint[c] = behind + k;
            s->model.constraint[c] = g->whole->model->constraint[behind + k];
            s->system.first_row[c] = s->system.m;
        }
    }
    s->system.first_row[first + to->constraint_count + to->dry_count] = s->system.m;
    for (int k = 0; k < all->motor_count; k++) {
        if (in(awake, g->motor[k])) {
            fill_motor(s, g, k);
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

/* Pairs that may touch, without those of sleeping bodies, if they are few. */
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

/* Geoms move with their bodies, or are fixed where their bodies sleep; without sweeps, those of
 * other bodies are absent. */
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
        to->law.restitution = asleep && !sweeps ? 0 : from->law.restitution;
        if (asleep && sweeps) {
            collide_pose pose;
            contact_place(g->whole, from, sweeps, &pose);
            memcpy(to->pos, pose.pos, sizeof to->pos);
            memcpy(to->R, pose.R, sizeof to->R);
        }
        g->asleep[i] = (unsigned char)asleep;
        g->still[i] = to->body == 0 && (!asleep || sweeps);
        sleepers += asleep;
        if (to->body > 0) {
            g->moving[g->contact.moving_count++] = i;
        }
    }
    g->contact.asleep = sleepers > 0 && sweeps ? g->asleep : NULL;
    g->contact.absent = sleepers > 0 && !sweeps ? g->asleep : NULL;
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
    s->bodies.chain = NULL;
    tree_mechanism *tree = s->system.tree = tree_part(whole->tree, g->keep, g->to, NULL);
    if (!tree) {
        return ZW_NO_MEMORY;
    }
    s->system.n = tree->nv;
    s->system.nq = tree->nq;
    measure(s, g, awake);
    measure_patterns(s, g, awake, &M, &A);
    s->model.constraint_count =
        bodies_first_constraint(&s->bodies) + s->bodies.constraint_count + s->bodies.dry_count;
    base_arena arena = {0};
    lay_out(s, M, A, &arena);
    arena = (base_arena){.block = base_alloc(arena.used)};
    s->memory = arena.block;
    if (!s->memory) {
        tree_free(tree);
        return ZW_NO_MEMORY;
    }
    lay_out(s, M, A, &arena);
    fill_places(s, g);
    fill_metric(s, g);
    fill_parts(s, g, awake);
    fill_fluid(s, g);
    fill_contacts(g, tree, sweeps);
    s->system.model = &s->model;
    s->system.bodies = &s->bodies;
    s->system.sparse = 1;
    s->system.carried = s->bodies.act_count;
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

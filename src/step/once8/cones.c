/* Contacts and limits of one linearisation (impulse_quick.c) by gauss/augment/augment.h: the same
 * operations that eight worlds at once take (step/once8/once8.h), so that each has the bits of the
 * world alone. The multipliers of the last step are not used. */
#include "step/once8/cones.h"

#include <string.h>

#include "base/memory.h"
#include "system/bodies/bodies.h"

/* Largest number of speeds: in larger problems the multipliers of the last step are worth more for
 * a single world, unless it is required to go without. A humanoid with 27 that lies still steps
 * four times faster with them (bench/robots resting once). */
enum { MOST = 24 };

/* Does a length of several coordinates contribute to H? */
static int couples(const struct system_bodies *bodies)
{
    int found = 0;
    for (int i = 0; i < bodies->length_count; i++) {
        const bodies_length *length = &bodies->length[i];
        found |= length->count != 1 && (length->stiffness != 0 || length->damping != 0);
    }
    for (int k = 0; k < bodies->motor_count; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        found |= motor->kind != MOTOR_LENGTH || bodies->length[motor->length].count != 1;
    }
    return found;
}

int cones_fit(const zw_system *system, int memoryless)
{
    const struct system_bodies *bodies = system->bodies;
    if (!system->tree || system->tree->without_matrix || system->n < 1 ||
        (system->n > MOST && !memoryless)) {
        return 0;
    }
    int fit = !bodies->formulas && bodies->path_count == 0 && bodies->fluid_count == 0 &&
              bodies->dry_count == 0 && bodies->extra_count == 0 && !couples(bodies);
    for (int c = 0; c < bodies->constraint_count && fit; c++) {
        fit = bodies->constraint[c].kind == CONSTRAINT_LOWER ||
              bodies->constraint[c].kind == CONSTRAINT_UPPER;
    }
    return fit;
}

void cones_create(impulse_cones *c, const zw_system *system)
{
    *c =
        (impulse_cones){.kind = cones_fit(system, 1), .fits = cones_fit(system, 0), .n = system->n};
    c->parent = system->tree->dof_parent;
}

void cones_free(impulse_cones *c)
{
    augment_alone_free(&c->alone);
    base_free(c->entry);
    *c = (impulse_cones){0};
}

static int is_ascending(const int *column, int columns)
{
    int ascending = 1;
    for (int i = 1; i < columns; i++) {
        ascending &= column[i] > column[i - 1];
    }
    return ascending;
}

/* 0: it is not of a supported kind. */
static int put_block(const impulse_problem *p, int index, int warm, augment_block1 *to)
{
    const zw_block *block = &p->block[index];
    int first = p->first[index], start = p->start[first], columns = p->start[first + 1] - start;
    int cone = block->kind == ZW_CONE;
    if (cone ? block->rows != 3 || block->friction[0] != block->friction[1]
             : block->kind != ZW_INEQUALITY || block->rows != 1) {
        return 0;
    }
    *to = (augment_block1){.width = block->rows,
                           .columns = columns,
                           .column = p->column + start,
                           .J = p->value + start,
                           .mu = cone ? block->friction[0] : 0,
                           .b = p->b[first],
                           .on = 1,
                           .guess = warm ? p->guess + first : NULL};
    return is_ascending(p->column + start, columns) &&
           p->start[first + block->rows] - start == block->rows * columns;
}

/* Where the entries of rows of paths are in the lower half of H, by columns. 0: no memory */
static int find_entries(impulse_cones *c, const impulse_matrix *H)
{
    const paths_shape *shape = &c->alone.straight;
    c->entry = base_alloc((size_t)(H->start[H->n] + 1) * sizeof *c->entry);
    for (int i = 0, e = 0; i < c->n && c->entry; i++) {
        for (int k = shape->depth[i] - 1, j = i; k >= 0; k--, j = shape->parent[j]) {
            int at = H->start[j];
            while (H->row[at] != i) {
                at++;
            }
            c->entry[e++] = at;
        }
    }
    return c->entry != NULL;
}

static void put_matrix(const impulse_cones *c, const impulse_matrix *H)
{
    const paths_shape *shape = &c->alone.straight;
    const int *from = c->entry;
    for (int i = 0; i < c->n; i++) {
        double *row = c->alone.H + shape->start[i];
        for (int k = shape->depth[i] - 1; k >= 0; k--) {
            row[k] = H->value[*from++];
        }
    }
}

int cones_solve(impulse_cones *c, impulse_problem *p, const impulse_matrix *H, const double *r,
                const double *v0, int warm, double *v)
{
    augment_alone *alone = &c->alone;
    augment1 *it = &alone->it;
    if (!c->kind || p->gives || p->no_memory || p->options.contact == ZW_CONTACT_CONVEX ||
        (!alone->memory && !augment_alone_create(alone, c->n, c->parent)) ||
        (!c->entry && !find_entries(c, H)) || !augment_alone_grow(alone, p->blocks + 1)) {
        return 0;
    }
    it->blocks = p->blocks;
    for (int k = 0; k < p->blocks; k++) {
        if (!put_block(p, k, warm, &it->block[k])) {
            return 0;
        }
    }
    put_matrix(c, H);
    it->r = r;
    it->v0 = v0;
    it->good = 1;
    augment_begin1(it);
    augment_solve1(it);
    if (!it->good) {
        return 0;
    }
    for (int k = 0; k < p->blocks; k++) {
        for (int i = 0; i < p->block[k].rows; i++) {
            p->guess[p->first[k] + i] = it->block[k].found[i];
        }
    }
    for (int i = 0; i < it->n; i++) {
        v[i] = v0[i] + it->x[i];
    }
    p->answer = (gauss_islands_answer){
        .a = v, .lambda = p->guess, .certificate = it->certificate, .worst_block = -1};
    return 1;
}

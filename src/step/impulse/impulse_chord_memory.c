/* Which robots Newton's method for a whole step is for (impulse_chord.c), and its memory. */
#include <math.h>

#include "base/memory.h"
#include "gauss/contact/choose.h"
#include "step/impulse/impulse.h"

enum { FEW = 12 };   /* speeds: robots with more than that are not small */
enum { CHAIN = 3 };  /* speeds of one of these, on average */
enum { LARGE = 10 }; /* mean number of speeds of a tree from which one matrix is used for all */

/* The number of moving things that are not carried by others. The kernel divides many small ones
 * into islands, which one matrix for all would not. What joints connect to the world is one thing,
 * like the fingers of a hand, where these are chains. */
static int count_trees(const tree_mechanism *tree, int n)
{
    int free = 0, held = 0;
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = &tree->body[i];
        int root = body->dof_end > body->dof && body->last_dof == body->dof_end - 1 &&
                   tree->dof_parent[body->dof] < 0;
        int flies = root && tree->joint[tree->dof_joint[body->dof]].kind == TREE_FREE;
        free += flies;
        held += root && !flies;
    }
    return free + (n >= CHAIN * held + 6 * free ? held > 0 : held);
}

zw_status chord_create(impulse_chord *x, const zw_system *system, int always)
{
    size_t n = (size_t)system->n, wide = (n + 7) / 8 * 8;
    *x = (impulse_chord){.n = system->n, .wide = (int)wide};
    int trees = count_trees(system->tree, system->n);
    int alone = trees == 1 && system->n > FEW;
    x->small = system->n <= GAUSS_CHOOSE_MOST && !alone && !always;
    if (system->n > CHORD_MOST || (!always && (x->small ? trees > 1 : system->n < LARGE * trees))) {
        return ZW_OK;
    }
    x->memory =
        base_alloc((3 * n * wide + 8 * wide + balance_slopes_scratch(system)) * sizeof(double));
    if (!x->memory) {
        return ZW_NO_MEMORY;
    }
    x->K = x->memory;
    x->U = x->K + n * wide;
    x->N = x->U + n * wide;
    x->way = x->N + n * wide;
    x->inverse = x->way + wide;
    x->first = x->inverse + wide;
    x->lack = x->first + wide;
    x->nearing = x->lack + wide;
    x->gain = x->nearing + wide;
    x->drift = x->gain + wide;
    x->scratch = x->drift + wide;
    x->is_there = 1;
    return ZW_OK;
}

void chord_free(impulse_chord *x)
{
    base_free(x->memory);
    base_free(x->rows);
    base_free(x->unit);
    *x = (impulse_chord){0};
}

int chord_make_room(impulse_chord *x, const impulse_problem *p)
{
    if (p->rows > x->row_capacity) {
        size_t rows = 2 * (size_t)p->rows, wide = (size_t)x->wide;
        size_t most = rows < CHORD_ROWS ? rows : CHORD_ROWS;
        base_free(x->rows);
        base_free(x->unit);
        x->rows =
            base_alloc((rows * (2 * wide + 11) + most * (wide + CHORD_ROWS)) * sizeof(double));
        x->unit = base_alloc(rows * sizeof *x->unit);
        x->row_capacity = x->rows && x->unit ? (int)rows : 0;
        x->B = x->rows;
    }
    if (p->rows > x->row_capacity) {
        return 0;
    }
    if (x->row_capacity > 0) {
        size_t rows = (size_t)x->row_capacity, wide = (size_t)x->wide;
        x->G = x->B + rows * wide;
        x->scale = x->G + rows * wide;
        x->lambda = x->scale + rows;
        x->z = x->lambda + rows;
        x->change = x->z + rows;
        x->speed = x->change + rows;
        x->dw = x->speed + rows;
        x->moved = x->dw + rows;
        x->stiff = x->moved + rows;
        x->stiffer = x->stiff + rows;
        x->off = x->stiffer + rows;
        x->growth = x->off + rows;
        x->answer = x->growth + rows;
        x->W = x->answer + (rows < CHORD_ROWS ? rows : CHORD_ROWS) * wide;
    }
    return 1;
}

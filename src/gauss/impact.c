/* The law of impact.
 *
 * Contacts k are closed at an instant; v- are the speeds before. A contact's speed along its normal
 * is w_k = (A v - b)_k, negative where it approaches; b is not 0 where a wall is moved. An impact
 * finds speeds v+ with w+ >= 0 everywhere, by impulses lambda: M (v+ - v-) = A' lambda.
 *
 * The problem of a group of contacts (Newton's coefficient of restitution e in Moreau's form, 1988,
 * and Glocker's, 2001):
 *
 *     w+_k >= max(0, -e_k w-_k),   lambda_k >= 0,   one of them with equality;
 *     across the normal Coulomb's law with the impulses and the speeds after;
 *     rows that always hold: w+ = 0.
 *
 * That is Gauss's problem with v in place of a. e_k counts as 0 where the approach is not faster
 * than slow_k.
 *
 * Simultaneous: the group is all closed contacts.
 *
 * Sequential: the impulses of one instant act one after another, as they would if small gaps were
 * open between the surfaces. The strength of an approach is how far the speeds are from those that
 * the contact admits, in the metric of the masses: |w| sqrt(m), where 1/m = A M^-1 A' with the rows
 * that always hold; m |w|^2/2 is the kinetic energy of the approach. It depends neither on the unit
 * in which a gap is written nor on coordinates. In a round, the group is every pair of surfaces
 * whose approach is not weaker than that of any other pair at the same bodies; equal ones, up to
 * SAME, act together, so that symmetric problems have symmetric answers. Groups that share no body
 * do not affect each other, so their order does not matter. Rounds follow until nothing approaches.
 * With e < 1 there may be infinitely many (the speeds then decrease geometrically): as soon as what
 * is left is weaker than TAIL of the first approach, or after a number of rounds that the count of
 * pairs limits, the rest is one simultaneous problem.
 *
 * Energy. With lambda' A (v+ + v-)/2 = (v+' M v+ - v-' M v-)/2 the contacts take
 *
 *     loss = - lambda' (w+ + w-)/2 = |v+ - v-|_M^2 / 2 - lambda' w+
 *
 * and lambda' b is the work of what moves the walls. For e = 0 the last term is the friction's,
 * lambda_t . w+_t <= 0, as lambda_n w+_n = 0: so loss >= |v+ - v-|_M^2/2 >= 0, whatever the
 * friction. Without friction, and if nothing in the group parts at first, loss is the sum of
 * lambda_k (1 - e_k) |w-_k| / 2, not negative either. Else Newton's law may gain energy (Kane and
 * Levinson 1985): then all e_k of the group are multiplied by the largest common share for which
 * it does not, found by bisection. */
#include "gauss/impact.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "gauss/islands.h"

/* Relative; speeds from the kernel are good to about 1e-14 of the sizes of their terms. */
#define NONE 1e-13 /* an approach of this part of the terms of its row is none */
#define SAME 1e-9  /* strengths that differ by this part are equal */
#define TAIL 1e-12 /* approaches weaker than this part of the first end together */
#define GAIN 1e-13 /* of |v+ - v-|^2/2: a gain of energy up to this is round-off */

enum { HALVINGS = 40 };

typedef struct impact_block {
    zw_block block;
    int first;    /* row */
    int contact;  /* 0: always holds */
    double mass;  /* of the normal row, the m above; 0: not known yet */
    double speed; /* of approach now, -w */
    gauss_impact_contact law;
} impact_block;

struct gauss_impact {
    int n, no_memory;
    zw_metric metric;
    gauss_islands *islands;
    zw_gauss_options options;

    /* As appended. */
    int blocks, rows, entries, pairs;
    int block_room, start_room, b_room, column_room, value_room;
    impact_block *block;
    int *start; /* [rows + 1] */
    double *b;  /* [rows] */
    int *column;
    double *value;

    /* The problem of a round: blocks that take part, in the same order. */
    int part_blocks, part_rows;
    zw_block *part;
    int *part_of;    /* [part_blocks] */
    int *part_start; /* [part_rows + 1] */
    int *part_column;
    double *part_value, *part_b;

    int *root;        /* [n] bodies: unknowns that masses and rows which always hold couple */
    double *best;     /* [n] by root: the strongest approach */
    double *strength; /* [pairs] */
    int *chosen;      /* [pairs] */
    double *w;        /* [rows] before */
    double *after;    /* [n] speeds after a round */
    double *kept;     /* [n] the best answer of a bisection */
    double *impulse;  /* [rows] of a round, and of the best answer of a bisection */
    double *impulse_kept;
    double *total; /* [rows] */
    void *memory;
    size_t memory_size;
};

/* ---- Memory ---------------------------------------------------------------------------------- */

gauss_impact *gauss_impact_create(void)
{
    gauss_impact *x = base_alloc(sizeof *x);
    if (x && !(x->islands = gauss_islands_create())) {
        base_free(x);
        x = NULL;
    }
    return x;
}

void gauss_impact_free(gauss_impact *x)
{
    if (x) {
        gauss_islands_free(x->islands);
        base_free(x->block);
        base_free(x->start);
        base_free(x->b);
        base_free(x->column);
        base_free(x->value);
        base_free(x->memory);
        base_free(x);
    }
}

static void lay_out(gauss_impact *x, base_arena *arena)
{
    size_t n = (size_t)x->n, blocks = (size_t)x->blocks, rows = (size_t)x->rows;
    size_t pairs = (size_t)x->pairs, entries = (size_t)x->entries;
    x->part = base_arena_bytes(arena, blocks * sizeof *x->part);
    x->part_of = base_arena_ints(arena, blocks);
    x->part_start = base_arena_ints(arena, rows + 1);
    x->part_column = base_arena_ints(arena, entries);
    x->part_value = base_arena_doubles(arena, entries);
    x->part_b = base_arena_doubles(arena, rows);
    x->root = base_arena_ints(arena, n);
    x->best = base_arena_doubles(arena, n);
    x->strength = base_arena_doubles(arena, pairs);
    x->chosen = base_arena_ints(arena, pairs);
    x->w = base_arena_doubles(arena, rows);
    x->after = base_arena_doubles(arena, n);
    x->kept = base_arena_doubles(arena, n);
    x->impulse = base_arena_doubles(arena, rows);
    x->impulse_kept = base_arena_doubles(arena, rows);
    x->total = base_arena_doubles(arena, rows);
}

static int make_room(gauss_impact *x)
{
    base_arena arena = {0};
    lay_out(x, &arena);
    if (arena.used + 1 > x->memory_size) {
        void *memory = base_alloc(2 * arena.used + 1);
        if (!memory) {
            return 0;
        }
        base_free(x->memory);
        x->memory = memory;
        x->memory_size = 2 * arena.used + 1;
    }
    arena = (base_arena){.block = x->memory};
    lay_out(x, &arena);
    memset(x->total, 0, (size_t)x->rows * sizeof *x->total);
    return 1;
}

/* ---- Appending ------------------------------------------------------------------------------- */

void gauss_impact_begin(gauss_impact *x, int n, const zw_metric *metric)
{
    x->n = n;
    x->metric = *metric;
    x->blocks = x->rows = x->entries = x->pairs = 0;
    x->no_memory = !base_list_room(&x->start, &x->start_room, 0, sizeof *x->start);
    if (!x->no_memory) {
        x->start[0] = 0;
    }
}

void gauss_impact_block(gauss_impact *x, const zw_block *block, const gauss_impact_contact *contact)
{
    if (x->no_memory ||
        !base_list_room(&x->block, &x->block_room, x->blocks, sizeof *x->block)) {
        x->no_memory = 1;
        return;
    }
    x->block[x->blocks] =
        (impact_block){.block = *block, .first = x->rows, .contact = contact != NULL};
    if (contact) {
        x->block[x->blocks].law = *contact;
        x->pairs = contact->pair + 1 > x->pairs ? contact->pair + 1 : x->pairs;
    }
    x->blocks++;
}

void gauss_impact_row(gauss_impact *x, int count, const int *column, const double *value, double b)
{
    for (int k = 0; k < count && !x->no_memory; k++) {
        if (value[k] == 0) {
            continue; /* it would seem to couple what it does not */
        }
        if (!base_list_room(&x->column, &x->column_room, x->entries, sizeof *x->column) ||
            !base_list_room(&x->value, &x->value_room, x->entries, sizeof *x->value)) {
            x->no_memory = 1;
            return;
        }
        x->column[x->entries] = column ? column[k] : k;
        x->value[x->entries++] = value[k];
    }
    if (x->no_memory || !base_list_room(&x->b, &x->b_room, x->rows, sizeof *x->b) ||
        !base_list_room(&x->start, &x->start_room, x->rows + 1, sizeof *x->start)) {
        x->no_memory = 1;
        return;
    }
    x->b[x->rows++] = b;
    x->start[x->rows] = x->entries;
}

/* ---- Speeds and strengths -------------------------------------------------------------------- */

static double row_speed(const gauss_impact *x, int row, const double *v)
{
    double sum = -x->b[row];
    for (int e = x->start[row]; e < x->start[row + 1]; e++) {
        sum += x->value[e] * v[x->column[e]];
    }
    return sum;
}

/* The size of the terms of row_speed. */
static double row_size(const gauss_impact *x, int row, const double *v)
{
    double sum = fabs(x->b[row]);
    for (int e = x->start[row]; e < x->start[row + 1]; e++) {
        sum += fabs(x->value[e] * v[x->column[e]]);
    }
    return sum;
}

/* Fills the speeds of approach; the number of contacts that approach. */
static int measure_approach(gauss_impact *x, const double *v)
{
    int count = 0;
    for (int k = 0; k < x->blocks; k++) {
        impact_block *block = &x->block[k];
        double speed = block->contact ? -row_speed(x, block->first, v) : 0;
        block->speed = speed > NONE * row_size(x, block->first, v) ? speed : 0;
        count += block->speed > 0;
    }
    return count;
}

static int find_root(int *root, int i)
{
    while (root[i] != i) {
        root[i] = root[root[i]];
        i = root[i];
    }
    return i;
}

static void join(int *root, int i, int j)
{
    int a = find_root(root, i), b = find_root(root, j);
    root[a > b ? a : b] = a > b ? b : a;
}

/* Unknowns that move as one body, or as several that are joined. */
static void find_bodies(gauss_impact *x)
{
    for (int i = 0; i < x->n; i++) {
        x->root[i] = i;
    }
    for (int j = 0; j < x->n && x->metric.kind == ZW_METRIC_SPARSE; j++) {
        for (int k = x->metric.start[j]; k < x->metric.start[j + 1]; k++) {
            join(x->root, j, x->metric.value[k] != 0 ? x->metric.row[k] : j);
        }
    }
    for (int k = 0; k < x->blocks; k++) {
        int first = x->block[k].first, last = first + x->block[k].block.rows;
        for (int e = x->start[first] + 1; e < x->start[last] && !x->block[k].contact; e++) {
            join(x->root, x->column[x->start[first]], x->column[e]);
        }
    }
    for (int i = 0; i < x->n; i++) {
        x->root[i] = find_root(x->root, i);
    }
}

/* ---- The problem of a group ------------------------------------------------------------------ */

static void begin_part(gauss_impact *x)
{
    x->part_blocks = x->part_rows = 0;
    x->part_start[0] = 0;
}

/* `rows` of block k as rows of this kind. */
static void add_part(gauss_impact *x, int k, zw_block_kind kind, int rows)
{
    const impact_block *from = &x->block[k];
    x->part[x->part_blocks] = from->block;
    x->part[x->part_blocks].kind = kind;
    x->part[x->part_blocks].rows = rows;
    x->part_of[x->part_blocks++] = k;
    for (int r = from->first; r < from->first + rows; r++) {
        int at = x->part_start[x->part_rows], count = x->start[r + 1] - x->start[r];
        memcpy(x->part_column + at, x->column + x->start[r], (size_t)count * sizeof(int));
        memcpy(x->part_value + at, x->value + x->start[r], (size_t)count * sizeof(double));
        x->part_b[x->part_rows++] = x->b[r];
        x->part_start[x->part_rows] = at + count;
    }
}

/* The speeds nearest to `given`. An answer that misses the tolerance, which is beyond what can be
 * had, is one all the same up to ENOUGH. */
static zw_status solve_part(gauss_impact *x, const double *given, gauss_islands_answer *answer,
                            zw_error *error)
{
    const double ENOUGH = 1e-8; /* the kernel's own tolerance with cones */
    zw_gauss problem = {.n = x->n, .metric = x->metric, .free = given};
    problem.block_count = x->part_blocks;
    problem.block = x->part;
    problem.A =
        (zw_rows){.start = x->part_start, .column = x->part_column, .value = x->part_value};
    problem.b = x->part_b;
    zw_status status =
        gauss_islands_solve(x->islands, &problem, &x->options, NULL, answer, error);
    int best = status == ZW_INACCURATE || status == ZW_JAMMED || status == ZW_CONFLICT;
    return best && answer->certificate <= ENOUGH ? ZW_OK : status;
}

/* The mass that the normal row of contact k meets. */
static zw_status find_mass(gauss_impact *x, int k, zw_error *error)
{
    gauss_islands_answer answer;
    begin_part(x);
    for (int i = 0; i < x->blocks; i++) {
        if (!x->block[i].contact) {
            add_part(x, i, ZW_EQUALITY, x->block[i].block.rows);
        }
    }
    memset(x->part_b, 0, (size_t)x->part_rows * sizeof(double));
    add_part(x, k, ZW_EQUALITY, 1);
    x->part_b[x->part_rows - 1] = 1;
    memset(x->after, 0, (size_t)x->n * sizeof(double));
    zw_status status = solve_part(x, x->after, &answer, error);
    if (status == ZW_OK) {
        x->block[k].mass = fmax(answer.lambda[x->part_rows - 1], DBL_MIN);
    }
    return status;
}

/* What pairs take part; all: every contact. */
static void put_group(gauss_impact *x, int all)
{
    begin_part(x);
    for (int k = 0; k < x->blocks; k++) {
        const impact_block *block = &x->block[k];
        if (!block->contact || all || x->chosen[block->law.pair]) {
            add_part(x, k, block->block.kind, block->block.rows);
        }
    }
}

/* One answer to the problem of the group with this share of the restitution: x->after and
 * x->impulse. Energies: what the contacts take, that of the change, and what walls that move give.
 */
typedef struct impact_energy {
    double loss, change, work;
} impact_energy;

static zw_status solve_group(gauss_impact *x, const double *v, double share, impact_energy *energy,
                             gauss_impact_answer *answer, zw_error *error)
{
    gauss_islands_answer found;
    *energy = (impact_energy){0};
    for (int p = 0, row = 0; p < x->part_blocks; row += x->part[p++].rows) {
        const impact_block *block = &x->block[x->part_of[p]];
        double e = block->speed > block->law.slow ? share * block->law.restitution : 0;
        x->part_b[row] = x->b[block->first] + (block->contact ? e * block->speed : 0);
    }
    zw_status status = solve_part(x, v, &found, error);
    if (x->options.contact == ZW_COULOMB &&
        (status == ZW_INACCURATE || status == ZW_JAMMED || status == ZW_NO_STEP)) {
        x->options.contact = ZW_CONVEX;
        status = solve_part(x, v, &found, error);
        x->options.contact = ZW_COULOMB;
        answer->relaxed++;
    }
    if (status != ZW_OK) {
        return status;
    }
    memcpy(x->after, found.a, (size_t)x->n * sizeof(double));
    memcpy(x->impulse, found.lambda, (size_t)x->part_rows * sizeof(double));
    for (int p = 0, row = 0; p < x->part_blocks; p++) {
        for (int i = 0; i < x->part[p].rows; i++, row++) {
            int r = x->block[x->part_of[p]].first + i;
            double before = row_speed(x, r, v), after = row_speed(x, r, x->after);
            energy->loss -= 0.5 * x->impulse[row] * (before + after);
            energy->change += 0.5 * x->impulse[row] * (after - before);
            energy->work += x->impulse[row] * x->b[r];
        }
    }
    answer->certificate = fmax(answer->certificate, found.certificate);
    return ZW_OK;
}

static int gains(const impact_energy *energy)
{
    return energy->loss < -GAIN * fabs(energy->change);
}

/* The largest share of the restitution that gains no energy, where the whole does. */
static zw_status find_share(gauss_impact *x, const double *v, impact_energy *energy, double *share,
                            gauss_impact_answer *answer, zw_error *error)
{
    double low = 0, high = 1;
    zw_status status = solve_group(x, v, 0, energy, answer, error);
    memcpy(x->kept, x->after, (size_t)x->n * sizeof(double));
    memcpy(x->impulse_kept, x->impulse, (size_t)x->part_rows * sizeof(double));
    for (int k = 0; k < HALVINGS && status == ZW_OK; k++) {
        impact_energy trial;
        double middle = 0.5 * (low + high);
        status = solve_group(x, v, middle, &trial, answer, error);
        if (status == ZW_OK && !gains(&trial)) {
            low = middle;
            *energy = trial;
            memcpy(x->kept, x->after, (size_t)x->n * sizeof(double));
            memcpy(x->impulse_kept, x->impulse, (size_t)x->part_rows * sizeof(double));
        } else {
            high = middle;
        }
    }
    memcpy(x->after, x->kept, (size_t)x->n * sizeof(double));
    memcpy(x->impulse, x->impulse_kept, (size_t)x->part_rows * sizeof(double));
    *share = low;
    return status;
}

/* The group that was put together acts: v becomes the speeds after. */
static zw_status strike(gauss_impact *x, double *v, gauss_impact_answer *answer, zw_error *error)
{
    impact_energy energy;
    double share = 1;
    zw_status status = solve_group(x, v, 1, &energy, answer, error);
    if (status == ZW_OK && gains(&energy)) {
        status = find_share(x, v, &energy, &share, answer, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    memcpy(v, x->after, (size_t)x->n * sizeof *v);
    for (int p = 0, row = 0; p < x->part_blocks; p++) {
        for (int i = 0; i < x->part[p].rows; i++, row++) {
            x->total[x->block[x->part_of[p]].first + i] += x->impulse[row];
        }
    }
    answer->loss += energy.loss;
    answer->work += energy.work;
    answer->share = fmin(answer->share, share);
    answer->rounds++;
    return ZW_OK;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* The strength of every pair; *most: the largest. */
static zw_status weigh_pairs(gauss_impact *x, double *most, zw_error *error)
{
    zw_status status = ZW_OK;
    memset(x->strength, 0, (size_t)x->pairs * sizeof(double));
    *most = 0;
    for (int k = 0; k < x->blocks && status == ZW_OK; k++) {
        impact_block *block = &x->block[k];
        if (block->speed > 0 && block->mass == 0) {
            status = find_mass(x, k, error);
        }
        if (block->speed > 0) {
            double *to = &x->strength[block->law.pair];
            *to = fmax(*to, block->speed * sqrt(block->mass));
            *most = fmax(*most, *to);
        }
    }
    return status;
}

/* Pairs that are not weaker than any other at the same bodies. */
static void choose_strongest(gauss_impact *x)
{
    memset(x->best, 0, (size_t)x->n * sizeof(double));
    for (int pass = 0; pass < 2; pass++) {
        for (int p = 0; pass == 1 && p < x->pairs; p++) {
            x->chosen[p] = x->strength[p] > 0;
        }
        for (int k = 0; k < x->blocks; k++) {
            const impact_block *block = &x->block[k];
            int p = block->law.pair, last = block->first + block->block.rows;
            for (int e = x->start[block->first]; e < x->start[last] && block->contact; e++) {
                double *best = &x->best[x->root[x->column[e]]];
                if (pass == 0) {
                    *best = fmax(*best, x->strength[p]);
                } else {
                    x->chosen[p] &= x->strength[p] >= (1 - SAME) * *best;
                }
            }
        }
    }
}

static zw_status act_in_turn(gauss_impact *x, double *v, gauss_impact_answer *answer,
                             zw_error *error)
{
    const int limit = 100 + 50 * x->pairs;
    double first = 0, most = 0;
    find_bodies(x);
    for (int round = 0;; round++) {
        zw_status status = weigh_pairs(x, &most, error);
        if (status != ZW_OK) {
            return status;
        }
        first = round == 0 ? most : first;
        int last = most <= TAIL * first || round == limit;
        if (!last) {
            choose_strongest(x);
        }
        put_group(x, last);
        status = strike(x, v, answer, error);
        if (status != ZW_OK || last || measure_approach(x, v) == 0) {
            return status;
        }
    }
}

zw_status gauss_impact_solve(gauss_impact *x, zw_impact_law law, zw_contact_law contact, double *v,
                             gauss_impact_answer *answer, zw_error *error)
{
    *answer = (gauss_impact_answer){.share = 1};
    if (x->no_memory || !make_room(x)) {
        return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    }
    x->options = zw_gauss_options_default();
    x->options.contact = contact;
    x->options.tolerance = 1e-14;
    x->options.rank = 1e-6; /* as for projections: system_set_modes */
    x->options.least_squares = 1;
    answer->total = x->total;
    answer->any = measure_approach(x, v) > 0;
    if (!answer->any) {
        return ZW_OK;
    }
    if (law != ZW_IMPACT_SIMULTANEOUS) {
        return act_in_turn(x, v, answer, error);
    }
    put_group(x, 1);
    return strike(x, v, answer, error);
}

/* Random convex problems, consistent by construction.
 *
 * First a motion is chosen, the witness. Every row is drawn fresh or made from earlier rows; its
 * right-hand side is its value at the witness, less a slack that its block admits. So equalities
 * hold there, inequalities too (some exactly), and cones strictly. */
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_UNKNOWNS 64

scene_random_params scene_random_everything(double difficulty)
{
    scene_random_params p = {.n_min = 1,
                             .n_max = 60,
                             .row_ratio = 2,
                             .kinds = SCENE_ALL_KINDS,
                             .metrics = (1u << ZW_METRIC_OPERATOR) - 1,
                             .features = SCENE_ALL_FEATURES,
                             .difficulty = difficulty};
    return p;
}

/* ---- Rows --------------------------------------------------------------------------------- */

static int wants(const growth *g, unsigned feature)
{
    return (g->want.features & feature) != 0;
}

static double row_length(const growth *g, int row)
{
    const double *x = g->d->A + row * g->d->n;
    double sum = 0;
    for (int j = 0; j < g->d->n; j++)
        sum += x[j] * x[j];
    return sqrt(sum);
}

double random_row_size(const growth *g, int row)
{
    return row_length(g, row) * g->size;
}

static void row_value(growth *g, int row)
{
    double sum = 0;
    for (int j = 0; j < g->d->n; j++)
        sum += draft_row(g->d, row)[j] * g->d->witness[j];
    g->at[row] = g->d->b[row] = sum;
}

void random_row_fresh(growth *g, int row)
{
    double *x = draft_row(g->d, row);
    int n = g->d->n, one = dice_int(&g->dice, 0, n - 1);
    for (int j = 0; j < n; j++)
        x[j] = dice_chance(&g->dice, g->density) ? dice_bell(&g->dice) : 0;
    x[one] = dice_sign(&g->dice, dice_between(&g->dice, 0.5, 2));
    g->is_fresh[row] = 1;
    row_value(g, row);
}

void random_row_copy(growth *g, int row, int source, double factor)
{
    for (int j = 0; j < g->d->n; j++)
        draft_row(g->d, row)[j] = factor * draft_row(g->d, source)[j];
    g->at[row] = g->d->b[row] = factor * g->at[source];
}

/* row = source + a little of something fresh: an angle of 10^-(1 .. 5). */
static void row_near(growth *g, int row, int source)
{
    random_row_fresh(g, row);
    double angle = dice_power(&g->dice, -1 - 4 * g->want.difficulty, -1);
    double factor = angle * row_length(g, source) / row_length(g, row);
    for (int j = 0; j < g->d->n; j++)
        draft_row(g->d, row)[j] = draft_row(g->d, source)[j] + factor * draft_row(g->d, row)[j];
    g->is_fresh[row] = 0;
    row_value(g, row);
}

/* A sum of two or three fresh rows: of others, cancellation would leave rounding errors only. */
static void row_sum(growth *g, int row)
{
    int parts = dice_int(&g->dice, 2, 3), used = 0, turn = dice_int(&g->dice, 0, row - 1);
    double value = 0;
    memset(draft_row(g->d, row), 0, (size_t)g->d->n * sizeof(double));
    for (int i = 0; i < row && used < parts; i++) {
        int source = (i + turn) % row;
        if (!g->is_fresh[source])
            continue;
        double factor = dice_chance(&g->dice, 0.5) ? 1 : dice_between(&g->dice, -2, 2);
        for (int j = 0; j < g->d->n; j++)
            draft_row(g->d, row)[j] += factor * draft_row(g->d, source)[j];
        value += factor * g->at[source];
        used++;
    }
    g->at[row] = g->d->b[row] = value;
    if (used == 0)
        random_row_fresh(g, row);
}

static double random_factor(growth *g)
{
    double range = 3 * g->want.difficulty;
    return dice_chance(&g->dice, 0.3) ? 1 : dice_power(&g->dice, -range, range);
}

/* Any row: from earlier ones if the scene wants that. */
static void row_any(growth *g, int row)
{
    int source = row > 0 ? dice_int(&g->dice, 0, row - 1) : -1;
    double chance = dice_between(&g->dice, 0, 1);
    if (source >= 0 && wants(g, SCENE_REDUNDANT) && chance < 0.15)
        random_row_copy(g, row, source, dice_sign(&g->dice, random_factor(g)));
    else if (source >= 0 && wants(g, SCENE_REDUNDANT) && chance < 0.25)
        row_sum(g, row);
    else if (source >= 0 && wants(g, SCENE_PARALLEL) && chance < 0.33)
        row_near(g, row, source);
    else
        random_row_fresh(g, row);
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static void slack_of_inequality(growth *g, int row)
{
    if (dice_chance(&g->dice, 0.4))
        return;
    g->slack[row] = random_row_size(g, row) * dice_power(&g->dice, -3, 0.5);
    g->d->b[row] = g->at[row] - g->slack[row];
}

/* A residual strictly inside the dual cone: |friction r| < 0.9 normal. */
static void slack_of_cone(growth *g, int block)
{
    const zw_block *cone = &g->d->block[block];
    int first = g->d->first[block];
    double size = random_row_size(g, first), sum = 0;
    double normal = size * dice_power(&g->dice, -1, 0.5);

    g->slack[first] = normal;
    for (int i = 1; i < cone->rows; i++) {
        double t = size * dice_bell(&g->dice);
        g->slack[first + i] = t;
        sum += cone->friction[i - 1] * t * cone->friction[i - 1] * t;
    }
    double depth = dice_between(&g->dice, 0, 0.9) * normal;
    double factor = sqrt(sum) > depth ? depth / sqrt(sum) : 1;
    for (int i = 0; i < cone->rows; i++) {
        if (i > 0 && cone->friction[i - 1] > 0)
            g->slack[first + i] *= factor;
        g->d->b[first + i] = g->at[first + i] - g->slack[first + i];
    }
}

/* Isotropic or elliptic sliding, 0 to 2; spin and roll smaller; sometimes none at all. */
static void draw_friction(growth *g, zw_block *cone)
{
    double mu = dice_between(&g->dice, 0.05, 2);
    int elliptic = dice_chance(&g->dice, 0.3);
    for (int i = 0; i < cone->rows - 1; i++) {
        double f = elliptic ? dice_between(&g->dice, 0, 2) : mu;
        if (i >= 2)
            f = dice_power(&g->dice, -3, -1);
        if (dice_chance(&g->dice, 0.05))
            f = 0;
        cone->friction[i] = f;
    }
}

static void new_block(growth *g, zw_block_kind kind)
{
    static const char *const names[] = {"equality", "inequality", "cone"};
    static const int most[] = {6, 4, 6};
    draft *d = g->d;
    int capacity = d->row_capacity - 8 - d->m, rows = dice_int(&g->dice, 1, most[kind]);
    char name[24];
    if (kind == ZW_CONE && dice_chance(&g->dice, 0.6))
        rows = 3;
    if (rows > capacity)
        rows = capacity;
    snprintf(name, sizeof name, "%s[%d]", names[kind], d->blocks);

    int block = draft_block(d, kind, rows, name);
    for (int i = 0; i < rows; i++) {
        int row = d->first[block] + i;
        row_any(g, row);
        if (kind == ZW_INEQUALITY)
            slack_of_inequality(g, row);
    }
    if (kind == ZW_CONE) {
        draw_friction(g, &d->block[block]);
        slack_of_cone(g, block);
    }
}

/* A whole block again, scaled; a cone perhaps with less friction: its dual cone is wider. */
static void repeat_block(growth *g)
{
    draft *d = g->d;
    int source = dice_int(&g->dice, 0, d->blocks - 1);
    zw_block *old = &d->block[source];
    if (d->m + old->rows > d->row_capacity - 8)
        return;

    char name[32];
    double factor = random_factor(g);
    double less = dice_chance(&g->dice, 0.7) ? 1 : dice_between(&g->dice, 0, 1);
    snprintf(name, sizeof name, "repeat[%d]", d->blocks);
    int block = draft_block(d, old->kind, old->rows, name);
    for (int i = 0; i < old->rows; i++) {
        int from = d->first[source] + i, to = d->first[block] + i;
        random_row_copy(g, to, from, factor);
        g->slack[to] = factor * g->slack[from];
        d->b[to] = factor * d->b[from];
        if (i > 0)
            d->block[block].friction[i - 1] = less * old->friction[i - 1];
    }
}

/* The inequality that opposes an earlier one: together they are an equality, or a narrow strip. */
static void disguised_equality(growth *g)
{
    draft *d = g->d;
    int source = dice_int(&g->dice, 0, d->blocks - 1);
    if (d->block[source].kind != ZW_INEQUALITY || d->m + 1 > d->row_capacity - 8)
        return;

    char name[32];
    double factor = random_factor(g);
    snprintf(name, sizeof name, "opposed[%d]", d->blocks);
    int row = d->first[draft_block(d, ZW_INEQUALITY, 1, name)];
    random_row_copy(g, row, d->first[source], -factor);
}

/* ---- The problem -------------------------------------------------------------------------- */

static zw_block_kind draw_kind(growth *g, const double weight[3])
{
    double sum = 0, x;
    for (int k = 0; k < 3; k++)
        sum += g->want.kinds >> k & 1u ? weight[k] : 0;
    x = dice_between(&g->dice, 0, sum);
    for (int k = 2; k > 0; k--) {
        double w = g->want.kinds >> k & 1u ? weight[k] : 0;
        if (w > 0 && x < w)
            return (zw_block_kind)k;
        x -= w;
    }
    for (int k = 0; k < 3; k++) /* the rest: the first kind that is wanted */
        if (g->want.kinds >> k & 1u)
            return (zw_block_kind)k;
    return ZW_EQUALITY;
}

static void draw_blocks(growth *g)
{
    draft *d = g->d;
    double weight[3];
    int rows = dice_int(&g->dice, 1, d->row_capacity - 8);
    for (int k = 0; k < 3; k++)
        weight[k] = dice_between(&g->dice, 0.1, 1);
    while (d->m < rows && d->blocks < d->block_capacity - 3) {
        new_block(g, draw_kind(g, weight));
        if (wants(g, SCENE_REDUNDANT) && dice_chance(&g->dice, 0.1))
            repeat_block(g);
        if (wants(g, SCENE_REDUNDANT) && dice_chance(&g->dice, 0.2))
            disguised_equality(g);
    }
}

static void draw_compliance(growth *g)
{
    draft *d = g->d;
    double mass = 0;
    for (int i = 0; i < d->n; i++)
        mass += d->M[i * d->n + i] / d->n;
    for (int k = 0; k < d->blocks; k++) {
        double soft = dice_power(&g->dice, -6, 0) / (mass > 0 ? mass : 1);
        if (!dice_chance(&g->dice, 0.3) || strcmp(d->block[k].name, "massless") == 0)
            continue;
        for (int i = 0; i < d->block[k].rows; i++) {
            double length = row_length(g, d->first[k] + i);
            d->compliance[d->first[k] + i] = soft * length * length;
        }
    }
}

/* The witness, and the free motion somewhere around it; now and then both are the same. */
static void draw_motions(growth *g)
{
    draft *d = g->d;
    double range = 2 * g->want.difficulty;
    g->size = dice_power(&g->dice, -range, range);
    double away = dice_chance(&g->dice, 0.02) ? 0 : g->size * dice_power(&g->dice, -1, 1.5);
    for (int j = 0; j < d->n; j++) {
        d->witness[j] = g->size * dice_bell(&g->dice);
        d->free[j] = d->witness[j] + away * dice_bell(&g->dice);
    }
}

/* C = M x with x of the size of the motion. */
static void draw_nonideal(growth *g)
{
    draft *d = g->d;
    double x[MAX_UNKNOWNS];
    for (int j = 0; j < d->n; j++)
        x[j] = g->size * dice_bell(&g->dice);
    for (int i = 0; i < d->n; i++)
        for (int j = 0; j < d->n; j++)
            d->C[i] += d->M[i * d->n + j] * x[j];
}

/* Unknown j becomes a unit[j] times smaller number: M, A and C change with it. Then the blocks. */
static void change_units(growth *g, int columns)
{
    draft *d = g->d;
    double range = 3 * g->want.difficulty, unit[MAX_UNKNOWNS];
    int n = d->n;
    for (int j = 0; j < n && columns; j++) {
        unit[j] = dice_power(&g->dice, -range, range);
        d->free[j] /= unit[j];
        d->witness[j] /= unit[j];
        d->C[j] *= unit[j];
        for (int i = 0; i < d->m; i++)
            draft_row(d, i)[j] *= unit[j];
    }
    for (int i = 0; i < n && columns; i++) {
        for (int j = 0; j <= i; j++) {
            d->M[i * n + j] *= unit[i] * unit[j];
            d->M[j * n + i] = d->M[i * n + j];
        }
    }
    for (int k = 0; k < d->blocks; k++) {
        double f = dice_chance(&g->dice, 0.5) ? 1 : dice_power(&g->dice, -range, range);
        for (int i = d->first[k]; i < d->first[k] + d->block[k].rows; i++) {
            for (int j = 0; j < n; j++)
                draft_row(d, i)[j] *= f;
            d->b[i] *= f;
            d->compliance[i] *= f * f;
        }
    }
}

static void growth_start(growth *g, uint64_t seed, const scene_random_params *params)
{
    scene_random_params p = params ? *params : scene_random_everything(1);
    int n_min = p.n_min > 0 ? p.n_min : 1, n_max = p.n_max > 0 ? p.n_max : 60;
    if (n_max > MAX_UNKNOWNS)
        n_max = MAX_UNKNOWNS;
    if (p.row_ratio <= 0)
        p.row_ratio = 2;
    if (!p.kinds)
        p.kinds = SCENE_ALL_KINDS;
    if (!p.metrics)
        p.metrics = (1u << ZW_METRIC_OPERATOR) - 1;

    memset(g, 0, sizeof *g);
    g->dice = dice_of(seed ^ UINT64_C(0x5CE11E5CE11E));
    g->want = p;
    int n = dice_int(&g->dice, n_min, n_max), most = (int)(p.row_ratio * n);
    int rows = (most > 1 ? most : 1) + 8; /* and some: the last block may be a contradiction */
    g->d = draft_new(n, rows, rows + 2);
    g->at = scene_alloc(g->d->memory, (size_t)rows, sizeof *g->at);
    g->slack = scene_alloc(g->d->memory, (size_t)rows, sizeof *g->slack);
    g->is_fresh = scene_alloc(g->d->memory, (size_t)rows, sizeof *g->is_fresh);
    g->density = dice_chance(&g->dice, 0.5) ? 1 : dice_between(&g->dice, 0.02, 0.6);
}

static zw_metric_kind draw_metric_kind(growth *g)
{
    for (int tries = 0; tries < 200; tries++) {
        int kind = dice_int(&g->dice, 0, ZW_METRIC_OPERATOR - 1);
        if (g->want.metrics >> kind & 1u)
            return (zw_metric_kind)kind;
    }
    return ZW_METRIC_DENSE;
}

scene *scene_random(uint64_t seed, const scene_random_params *params)
{
    growth g;
    char name[64];
    growth_start(&g, seed, params);

    draft_form form = {.metric = draw_metric_kind(&g)};
    form.both_triangles = dice_chance(&g.dice, 0.3);
    form.compressed = wants(&g, SCENE_COMPRESSED) && dice_chance(&g.dice, 0.5);
    if (wants(&g, SCENE_FORCE) && dice_chance(&g.dice, 0.4))
        form.force = dice_chance(&g.dice, 0.95) ? 1 : -1;
    if (wants(&g, SCENE_MASSLESS) && form.metric == ZW_METRIC_IDENTITY)
        form.metric = ZW_METRIC_DIAGONAL;

    random_metric(&g, form.metric);
    draw_motions(&g);
    if (wants(&g, SCENE_MASSLESS))
        random_massless(&g);
    draw_blocks(&g);
    if (wants(&g, SCENE_COMPLIANT) && dice_chance(&g.dice, 0.3))
        draw_compliance(&g);
    if (g.want.infeasible)
        random_conflict(&g);
    if (wants(&g, SCENE_NONIDEAL) && dice_chance(&g.dice, 0.3))
        draw_nonideal(&g);
    if (wants(&g, SCENE_UNITS) && dice_chance(&g.dice, 0.5))
        change_units(&g, form.metric != ZW_METRIC_IDENTITY);

    snprintf(name, sizeof name, "%s-%llu", g.want.infeasible ? "contradiction" : "random",
             (unsigned long long)seed);
    return draft_finish(g.d, name, ZW_CONTACT_CONVEX, &form);
}

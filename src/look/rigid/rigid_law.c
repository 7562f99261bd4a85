/* Laws of rows in a piece of method impulse, with what is held, slides and is open as it is.
 *
 * Each block of rows has speeds w and multipliers lambda (impulse.c). Its unknowns, and as many
 * equations, are
 *
 *     open           none, lambda = 0
 *     held           all lambda;  w = 0
 *     slides         lambda_n;    w_n = 0, or by the convex law w_n = rho;
 *                                 lambda_i = -mu_i^2 w_i/rho lambda_n,   rho = |mu w_t|
 *     given          none: lambda is a number, the end of a box or what the law of a motor says
 *
 * Speeds are smooth functions of all else, directions of slip are not where it is slow: so the
 * slopes of w are found first, and the law is differentiated here. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "look/rigid/rigid.h"

void rigid_half_free(rigid_half *half)
{
    base_free(half->block);
    base_free(half->lambda);
    *half = (rigid_half){0};
}

static int make_room(rigid_half *to, int n, int blocks, int rows)
{
    if (blocks > to->block_capacity) {
        base_free(to->block);
        to->block = base_alloc(2 * (size_t)blocks * sizeof *to->block);
        to->block_capacity = to->block ? 2 * blocks : 0;
    }
    if (rows > to->row_capacity) {
        base_free(to->lambda);
        to->lambda = base_alloc(2 * (size_t)rows * (size_t)(n + 2) * sizeof(double));
        to->row_capacity = to->lambda ? 2 * rows : 0;
    }
    if (to->block_capacity < blocks || to->row_capacity < rows) {
        return 0;
    }
    to->w = to->lambda + to->row_capacity;
    to->B = to->w + to->row_capacity;
    return 1;
}

/* The block of a key, which is a new one of so many rows if there is none. */
static rigid_block *block_of(rigid_half *to, int64_t key, int rows)
{
    int b = 0;
    while (b < to->blocks && to->block[b].key != key) {
        b++;
    }
    if (b == to->blocks) {
        to->block[to->blocks++] = (rigid_block){.key = key, .rows = rows, .first = to->rows};
        memset(to->lambda + to->rows, 0, (size_t)rows * sizeof(double));
        to->rows += rows;
    }
    return &to->block[b];
}

int rigid_list(rigid_half *to, int n, const impulse_problem *p, const double *lambda,
               const step_impulse *s)
{
    if (!make_room(to, n, p->blocks + 1, p->rows + 1)) {
        return 0;
    }
    to->blocks = to->rows = 0;
    for (int b = 0; b < p->blocks; b++) {
        int64_t key = s ? rigid_point_key(s, p->key[b]) : p->key[b];
        rigid_block *it = block_of(to, key, p->block[b].rows);
        it->kind = p->block[b].kind;
        memcpy(it->mu, p->block[b].friction, sizeof it->mu);
        for (int i = 0; i < it->rows; i++) {
            to->lambda[it->first + i] += lambda[p->first[b] + i];
        }
    }
    return 1;
}

int rigid_half_copy(rigid_half *to, const rigid_half *from, int n)
{
    if (!make_room(to, n, from->blocks + 1, from->rows + 1)) {
        return 0;
    }
    to->blocks = from->blocks;
    to->rows = from->rows;
    to->unknowns = from->unknowns;
    if (from->rows > 0) {
        size_t rows = (size_t)from->rows * sizeof(double);
        memcpy(to->block, from->block, (size_t)from->blocks * sizeof *to->block);
        memcpy(to->lambda, from->lambda, rows);
        memcpy(to->w, from->w, rows);
        memcpy(to->B, from->B, rows * (size_t)n);
    }
    return 1;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static int find(const impulse_problem *p, int64_t key, int from)
{
    for (int k = 0; k < p->blocks; k++) {
        int b = from + k < p->blocks ? from + k : from + k - p->blocks;
        if (p->key[b] == key) {
            return b;
        }
    }
    return -1;
}

static double speed(const impulse_problem *p, int row, const double *x)
{
    double w = -p->b[row];
    for (int e = p->start[row]; e < p->start[row + 1]; e++) {
        w += p->value[e] * x[p->column[e]];
    }
    return w;
}

static double value_of(const rigid_block *it, const impulse_problem *p, int b, int row,
                       const double *x)
{
    double w = speed(p, row, x);
    return it->mode != RIGID_GIVEN ? w
           : it->side >= 0         ? p->block[b].limit[it->side]
                                   : -w / p->give[row];
}

int rigid_values(const rigid_half *half, const impulse_problem *p, const double *x, double *R,
                 double *value)
{
    for (int k = 0, from = 0; k < half->blocks; k++) {
        const rigid_block *it = &half->block[k];
        int b = find(p, it->key, from);
        if (b < 0 || p->block[b].rows != it->rows) {
            return 0;
        }
        from = b + 1 < p->blocks ? b + 1 : 0;
        for (int r = 0; r < it->rows; r++) {
            int row = p->first[b] + r;
            double lambda = it->mode == RIGID_FREE ? 0 : half->lambda[it->first + r];
            value[it->first + r] = value_of(it, p, b, row, x);
            value[half->rows + it->first + r] =
                it->mode == RIGID_SLIDES && r > 0 ? p->block[b].friction[r - 1] : 0;
            for (int e = p->start[row]; e < p->start[row + 1] && R; e++) {
                R[p->column[e]] -= lambda * p->value[e];
            }
        }
    }
    return 1;
}

/* ---- Modes ----------------------------------------------------------------------------------- */

/* How fast row i gets by a unit impulse. */
static double ease(const double *B, int n, const impulse_matrix *H)
{
    double sum = 0;
    for (int j = 0; j < n; j++) {
        double M = matrix_diagonal(H, j);
        sum += B[j] != 0 && M > 0 ? B[j] * B[j] / M : 0;
    }
    return sum;
}

static void decide_box(sens_rigid *r, rigid_half *half, rigid_block *it, const impulse_problem *p,
                       int b, double by)
{
    const double *limit = p->block[b].limit;
    int row = p->first[b];
    double give = p->give[row], lambda = half->lambda[it->first], w = half->w[it->first];
    double target = give > 0 ? -w / give : lambda - (by > 0 ? w / by : 0);
    double slack = RIGID_NEAR * (limit[1] - limit[0]);
    slack = slack < HUGE_VAL ? slack : 0;
    it->side = target <= limit[0] || limit[0] == limit[1] ? 0 : target >= limit[1] ? 1 : -1;
    if (limit[0] < limit[1] &&
        (fabs(target - limit[0]) <= slack || fabs(target - limit[1]) <= slack) &&
        (give > 0 || fabs(w) <= r->slow)) {
        rigid_note_kink(r, give > 0 ? "a motor at the end of its range" : "friction of a joint");
    }
    it->mode = it->side < 0 && give == 0 ? RIGID_HELD : RIGID_GIVEN;
}

/* Does it push in that half? */
static int pushes(const rigid_half *later, int64_t key, double least)
{
    for (int b = 0; later && b < later->blocks; b++) {
        if (later->block[b].key == key) {
            return later->lambda[later->block[b].first] > least;
        }
    }
    return 0;
}

/* What neither pushes nor parts is open, unless it lands at the very end: then it pushes later. */
static void decide_contact(sens_rigid *r, rigid_half *half, rigid_block *it, int n,
                           const impulse_matrix *H, const rigid_half *later)
{
    const double *lambda = half->lambda + it->first, *w = half->w + it->first;
    double by = ease(half->B + (size_t)it->first * (size_t)n, n, H), k = 0, x = 0, y = 0;
    it->mode = by * lambda[0] > w[0] ? RIGID_HELD : RIGID_FREE;
    if (by * lambda[0] <= r->slow && w[0] <= r->slow) {
        rigid_note_kink(r, "a contact or limit that opens or closes");
        int lands = by > 0 && pushes(later, it->key, r->slow / by);
        it->mode = lands ? (it->kind == ZW_CONE ? RIGID_SLIDES : RIGID_HELD) : it->mode;
    }
    if (it->kind != ZW_CONE || it->mode != RIGID_HELD) {
        return; /* without a push there is no friction */
    }
    for (int i = 1; i < it->rows; i++) {
        double mu = it->mu[i - 1];
        k = fmax(k, mu * mu * ease(half->B + (size_t)(it->first + i) * (size_t)n, n, H));
        x += mu > 0 ? lambda[i] * lambda[i] / (mu * mu) : 0;
        y += mu * mu * w[i] * w[i];
    }
    double left = k * (lambda[0] - sqrt(x)), slip = sqrt(y);
    it->mode = slip > left && slip > r->slow ? RIGID_SLIDES : RIGID_HELD;
    if (slip <= r->slow && left <= RIGID_NEAR * k * lambda[0]) {
        rigid_note_kink(r, "a contact about to slide");
    }
}

int rigid_decide(sens_rigid *r, rigid_half *half, const impulse_problem *p, const double *x,
                 const impulse_matrix *H, const rigid_half *later)
{
    int n = r->system->n;
    memset(half->B, 0, (size_t)half->rows * (size_t)n * sizeof(double));
    half->unknowns = 0;
    for (int k = 0, from = 0; k < half->blocks; k++) {
        rigid_block *it = &half->block[k];
        int b = find(p, it->key, from);
        if (b < 0 || p->block[b].rows != it->rows) {
            return 0;
        }
        from = b + 1 < p->blocks ? b + 1 : 0;
        it->give = p->give[p->first[b]];
        for (int i = 0; i < it->rows; i++) {
            int row = p->first[b] + i;
            double *B = half->B + (size_t)(it->first + i) * (size_t)n;
            half->w[it->first + i] = speed(p, row, x);
            for (int e = p->start[row]; e < p->start[row + 1]; e++) {
                B[p->column[e]] += p->value[e];
            }
        }
        if (it->kind == ZW_EQUALITY) {
            it->mode = RIGID_HELD;
        } else if (it->kind == ZW_BOX) {
            decide_box(r, half, it, p, b, ease(half->B + (size_t)it->first * (size_t)n, n, H));
        } else {
            decide_contact(r, half, it, n, H, later);
        }
        it->at = half->unknowns;
        half->unknowns += it->mode == RIGID_HELD ? it->rows : it->mode == RIGID_SLIDES;
    }
    return 1;
}

/* 1/rho; 0 where nothing slips, as nothing pushes yet. */
static double per_rho(const rigid_half *half, const rigid_block *it)
{
    double sum = 0;
    for (int i = 1; i < it->rows; i++) {
        double y = it->mu[i - 1] * half->w[it->first + i];
        sum += y * y;
    }
    return sum > 0 ? 1 / sqrt(sum) : 0;
}

int rigid_holds(const rigid_half *half, double part)
{
    double speed = 0, push = 0;
    for (int i = 0; i < half->rows; i++) {
        speed = fmax(speed, fabs(half->w[i]));
        push = fmax(push, fabs(half->lambda[i]));
    }
    for (int b = 0; b < half->blocks; b++) {
        const rigid_block *it = &half->block[b];
        const double *w = half->w + it->first, *lambda = half->lambda + it->first;
        double per = it->mode == RIGID_SLIDES ? per_rho(half, it) : 1;
        for (int i = 0; i < it->rows; i++) {
            int along = it->mode == RIGID_SLIDES && i > 0;
            double mu = along ? it->mu[i - 1] : 0, law = -mu * mu * w[i] * per * lambda[0];
            int held = it->mode == RIGID_HELD || (it->mode == RIGID_SLIDES && i == 0);
            if ((held && fabs(w[i]) > part * (speed + 1e-3)) ||
                (along && fabs(lambda[i] - law) > part * push)) {
                return 0;
            }
        }
    }
    return 1;
}

/* ---- Slopes ---------------------------------------------------------------------------------- */

/* to -= B' dlambda of row i of a block */
static void push(const rigid_half *half, int n, int row, double dlambda, double *to)
{
    const double *B = half->B + (size_t)row * (size_t)n;
    for (int j = 0; j < n && dlambda != 0; j++) {
        to[j] -= dlambda * B[j];
    }
}

/* lambda_i = -mu_i^2 w_i/rho lambda_n */
static void spread_slide(const rigid_half *half, const rigid_block *it, int n, int coulomb,
                         const double *dw, const double *dmu, double *to)
{
    double per = per_rho(half, it), drho = 0, lambda = half->lambda[it->first];
    for (int i = 1; i < it->rows; i++) {
        double mu = it->mu[i - 1], w = half->w[it->first + i];
        drho += mu * w * (mu * dw[i] + w * dmu[i]) * per;
    }
    for (int i = 1; i < it->rows; i++) {
        double mu = it->mu[i - 1], w = half->w[it->first + i];
        double by = mu * mu * (dw[i] - w * drho * per) + 2 * mu * dmu[i] * w;
        push(half, n, it->first + i, -lambda * by * per, to);
    }
    to[n + it->at] = dw[0] - (coulomb ? 0 : drho);
}

void rigid_spread(const rigid_half *half, int n, int coulomb, const double *dR,
                  const double *dvalue, double *to)
{
    memcpy(to, dR, (size_t)n * sizeof *to);
    for (int k = 0; k < half->blocks; k++) {
        const rigid_block *it = &half->block[k];
        const double *dw = dvalue + it->first;
        if (it->mode == RIGID_SLIDES) {
            spread_slide(half, it, n, coulomb, dw, dw + half->rows, to);
        }
        for (int i = 0; i < it->rows && it->mode == RIGID_HELD; i++) {
            to[n + it->at + i] = dw[i];
        }
        if (it->mode == RIGID_GIVEN) {
            push(half, n, it->first, dw[0], to);
        }
    }
}

void rigid_push_unknown(const rigid_half *half, int n, int unknown, double *to)
{
    for (int k = 0; k < half->blocks; k++) {
        const rigid_block *it = &half->block[k];
        int i = unknown - it->at;
        if (it->mode == RIGID_HELD && i >= 0 && i < it->rows) {
            push(half, n, it->first + i, 1, to);
        } else if (it->mode == RIGID_SLIDES && i == 0) {
            double per = per_rho(half, it);
            push(half, n, it->first, 1, to);
            for (int j = 1; j < it->rows; j++) {
                double mu = it->mu[j - 1];
                push(half, n, it->first + j, -mu * mu * half->w[it->first + j] * per, to);
            }
        }
    }
}

/* x . B of a row */
static double along(const rigid_half *half, int n, int row, const double *x)
{
    const double *B = half->B + (size_t)row * (size_t)n;
    double sum = 0;
    for (int j = 0; j < n; j++) {
        sum += x[j] * B[j];
    }
    return sum;
}

static void collect_slide(const rigid_half *half, const rigid_block *it, int n, int coulomb,
                          const double *z, double *y)
{
    const double *w = half->w + it->first;
    double per = per_rho(half, it), lambda = half->lambda[it->first];
    double of_rho = coulomb ? 0 : -z[n + it->at];
    y[0] = z[n + it->at];
    for (int i = 1; i < it->rows; i++) {
        double mu = it->mu[i - 1];
        y[i] = mu == 0 ? 0 : along(half, n, it->first + i, z) * lambda * per * mu * mu;
        of_rho -= y[i] * w[i] * per;
    }
    for (int i = 1; i < it->rows; i++) {
        double mu = it->mu[i - 1];
        y[i] += of_rho * mu * mu * w[i] * per;
    }
}

void rigid_collect(const rigid_half *half, int n, int coulomb, const double *z, double *y)
{
    memset(y, 0, (size_t)half->rows * sizeof *y);
    for (int k = 0; k < half->blocks; k++) {
        const rigid_block *it = &half->block[k];
        if (it->mode == RIGID_SLIDES) {
            collect_slide(half, it, n, coulomb, z, y + it->first);
        }
        for (int i = 0; i < it->rows && it->mode == RIGID_HELD; i++) {
            y[it->first + i] = z[n + it->at + i];
        }
        if (it->mode == RIGID_GIVEN) {
            y[it->first] = -along(half, n, it->first, z);
        }
    }
}

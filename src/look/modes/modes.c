/* Modes: eigenvalues of the linearised motion, restricted to what the constraints admit.
 *
 * The columns of N span the tangent space (linear.c). At an equilibrium or in a steady motion this
 * space is invariant, F N = N G, so G = N' F N has the eigenvalues of the admissible motions; |F N
 * - N G| shows whether it is invariant. In an equilibrium x' = 0, along a steady motion a = 0 and
 * x' does not change: x'' = F x' = 0. Over a period T deviations are mapped by Phi with Phi' = F(t)
 * Phi, Phi(0) = 1, along the motion: by Runge-Kutta steps of order four between states that dop853
 * computes, twice as many until Phi does not change any more; G = N' Phi N. Multipliers below
 * RESOLVED of the largest are lost in its error. */
#include "zwang/modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/modes/linear.h"
#include "math/dense/dense.h"
#include "math/dense/eigen.h"
#include "math/elementary.h"
#include "step/set.h"
#include "system/formulas.h"

enum { FEWEST_STEPS = 500, MOST_STEPS = 32000 };
#define AGREES 1e-9 /* maps of two numbers of steps; extrapolation makes it less */
#define RESOLVED 1e-12

struct zw_modes {
    const zw_system *system;
    int n, count;
    zw_mode *mode;
    double *shape; /* [count][2 n] */
    double unsteady;
    int frozen;
    zw_stability stability;
};

/* ---- Over a period --------------------------------------------------------------------------- */

/* out = base + h F x for matrices of `wide` columns. */
static void push_on(const double *F, size_t wide, const double *base, double h, const double *x,
                    double *out)
{
    for (size_t i = 0; i < wide; i++) {
        double *row = out + i * wide;
        memset(row, 0, wide * sizeof *row);
        for (size_t k = 0; k < wide; k++) {
            if (F[i * wide + k] != 0) {
                dense_axpy((int)wide, h * F[i * wide + k], x + k * wide, row);
            }
        }
        for (size_t j = 0; j < wide; j++) {
            row[j] += base[i * wide + j];
        }
    }
}

static zw_status go_on(const zw_system *system, zw_state *state, zw_work *work, double time,
                       zw_error *error)
{
    const zw_run_options options = {
        .time = time, .tolerance = 1e-12, .method = ZW_METHOD_DOP853, .every = 2 * time + 1};
    zw_run_summary summary;
    zw_status status = zw_run(system, state, work, &options, &summary, error);
    if (status == ZW_OK && summary.events + summary.impacts > 0) {
        return base_fail(error, ZW_BAD_INPUT,
                         "at t = %.9g there is an event or impact within the period: such modes "
                         "are not supported yet",
                         summary.end);
    }
    return status;
}

/* One step of order four: F at its beginning, middle and end. */
static zw_status one_step(linear *l, zw_state *state, zw_work *work, double h, double *Phi,
                          double *scratch, zw_error *error)
{
    size_t wide = 2 * (size_t)l->system->n, all = wide * wide;
    double *k = scratch, *sum = k + all, *F0 = sum + all, *F1 = F0 + all, t = state->t;
    zw_status status = linear_look(l, state, 0, error);
    memcpy(F0, l->F, all * sizeof *F0);
    status = status == ZW_OK ? go_on(l->system, state, work, t + h / 2, error) : status;
    status = status == ZW_OK ? linear_look(l, state, 0, error) : status;
    memcpy(F1, l->F, all * sizeof *F1);
    status = status == ZW_OK ? go_on(l->system, state, work, t + h, error) : status;
    status = status == ZW_OK ? linear_look(l, state, 0, error) : status;
    if (status != ZW_OK) {
        return status;
    }
    double *x = F1 + all, *y = x + all;
    push_on(F0, wide, Phi, h / 2, Phi, x);   /* Phi + h/2 k1 */
    push_on(F1, wide, Phi, h / 2, x, y);     /* Phi + h/2 k2 */
    push_on(F1, wide, Phi, h, y, k);         /* Phi + h k3 */
    push_on(l->F, wide, Phi, h / 2, k, sum); /* Phi + h/2 k4 */
    for (size_t i = 0; i < all; i++) {       /* Phi + h/6 (k1 + 2 k2 + 2 k3 + k4) */
        Phi[i] = (x[i] + 2 * y[i] + k[i] + sum[i] - 2 * Phi[i]) / 3;
    }
    return ZW_OK;
}

/* Phi[6 wide^2] over the period, the rest is scratch; *away: the distance of the end of the motion
 * from its start. */
static zw_status over_period(linear *l, const zw_state *from, double period, int steps, double *Phi,
                             double *away, zw_error *error)
{
    const zw_system *system = l->system;
    size_t wide = 2 * (size_t)system->n, all = wide * wide;
    zw_work *work = zw_work_create(system, error);
    zw_state *state = NULL;
    zw_status status = work ? zw_state_copy(from, &state, error) : base_no_memory(error);
    memset(Phi, 0, all * sizeof *Phi);
    for (size_t i = 0; i < wide && status == ZW_OK; i++) {
        Phi[i * wide + i] = 1;
    }
    for (int k = 0; k < steps && status == ZW_OK; k++) {
        double t = from->t + period * (k + 1) / steps;
        status = one_step(l, state, work, t - state->t, Phi, Phi + all, error);
    }
    *away = 0;
    for (int i = 0; i < system->nq && status == ZW_OK; i++) {
        *away = fmax(*away, fabs(state_q(state)[i] - state_q((zw_state *)from)[i]));
    }
    for (int i = 0; i < system->n && status == ZW_OK; i++) {
        *away = fmax(*away, fabs(state_v(state)[i] - state_v((zw_state *)from)[i]));
    }
    zw_state_free(state);
    zw_work_free(work);
    return status;
}

/* The same with as many steps as are needed, extrapolated, into l->F. */
static zw_status map_period(linear *l, const zw_state *from, double period, double *away,
                            zw_error *error)
{
    size_t wide = 2 * (size_t)l->system->n, all = wide * wide;
    double *Phi = base_alloc((8 * all + 1) * sizeof *Phi), *last = Phi + 7 * all, off = INFINITY;
    zw_status status = Phi ? ZW_OK : base_no_memory(error);
    for (int steps = FEWEST_STEPS; status == ZW_OK && !(off <= AGREES); steps *= 2) {
        double most = 0, far = 0;
        if (steps > MOST_STEPS) {
            status = base_fail(error, ZW_NOT_REACHED,
                               "small motions are too fast for a period of %.9g: even %d steps do "
                               "not follow them",
                               period, MOST_STEPS);
            break;
        }
        status = over_period(l, from, period, steps, Phi, away, error);
        for (size_t i = 0; i < all; i++) {
            double change = Phi[i] - last[i];
            most = fmax(most, fabs(Phi[i]));
            far = isfinite(change) ? fmax(far, fabs(change)) : INFINITY;
            l->F[i] = Phi[i] + change / 15;
        }
        off = steps > FEWEST_STEPS ? far / most : INFINITY;
        memcpy(last, Phi, all * sizeof *Phi);
    }
    base_free(Phi);
    return status;
}

/* ---- Eigenvalues ----------------------------------------------------------------------------- */

/* G = N' F N with the rows of N'; answers |F N - N G| over |F|, which is one at least: dq' = dv. */
static double restrict_to(const linear *l, double *G, double *scratch)
{
    size_t wide = 2 * (size_t)l->system->n, size = wide - (size_t)l->rank;
    const double *N = l->tangent + (size_t)l->rank * wide;
    double out = 0, all = 1;
    for (size_t j = 0; j < size; j++) {
        dense_multiply((int)wide, (int)wide, l->F, (int)wide, N + j * wide, scratch);
        for (size_t i = 0; i < size; i++) {
            G[i * size + j] = dense_dot((int)wide, N + i * wide, scratch);
        }
        for (size_t i = 0; i < (size_t)l->rank; i++) {
            out = fmax(out, fabs(dense_dot((int)wide, l->tangent + i * wide, scratch)));
        }
        all = fmax(all, dense_norm((int)wide, scratch));
    }
    return out / all;
}

/* How far from steady: what accelerates along admissible directions, and the rate of that along the
 * motion, beside free accelerations and those by a displacement of one. x[4 n]: scratch */
static double restless(const linear *l, double *x)
{
    const size_t n = (size_t)l->system->n, wide = 2 * n, rank = (size_t)l->rank;
    const double *a = l->answer.a, *v = state_v((zw_state *)l->state);
    const zw_view a_free = zw_field(l->system, l->state, l->slopes->work, ZW_FIELD_A_FREE);
    double scale = dense_largest((int)(n * n), l->answer.a_by), *rate = x + wide, most = 0;
    for (size_t i = 0; i < n; i++) {
        scale = isfinite(a_free.data[i]) ? fmax(scale, fabs(a_free.data[i])) : scale;
    }
    memcpy(x, v, n * sizeof *x);
    memcpy(x + n, a, n * sizeof *x);
    dense_multiply((int)wide, (int)wide, l->F, (int)wide, x, rate);
    for (int k = 0; k < 2; k++) {
        double *y = k ? rate : x;
        double unit = k ? scale * (1 + dense_largest((int)n, v)) : scale;
        memset(y, 0, n * sizeof *y);
        for (size_t i = 0; i < rank; i++) {
            const double *out = l->tangent + i * wide;
            dense_axpy((int)wide, -dense_dot((int)wide, out, y), out, y);
        }
        most = fmax(most, unit > 0 ? dense_largest((int)n, y + n) / unit : 0);
    }
    return most;
}

/* s of an eigenvalue: itself, or its logarithm over the period (of one whose size is `lost`: that
 * of zero). */
static void exponent(zw_mode *mode, double re, double im, double period, double lost)
{
    mode->growth = re;
    mode->frequency = fabs(im);
    if (period > 0) {
        double size = hypot(re, im);
        if (size <= lost) {
            *mode = (zw_mode){.growth = -INFINITY, .damping = 1};
            return;
        }
        mode->multiplier[0] = re;
        mode->multiplier[1] = fabs(im);
        mode->growth = math_log(size) / period;
        mode->frequency = fabs(math_atan2(im, re)) / period;
    }
    double s = hypot(mode->growth, mode->frequency);
    mode->damping = s > 0 ? -mode->growth / s : 0;
}

/* The deviations of the coordinates, the first half of N x; those of v if all of q are zero. */
static void fill_shape(const linear *l, const double *x, double *shape)
{
    size_t n = (size_t)l->system->n, wide = 2 * n, size = wide - (size_t)l->rank;
    const double *N = l->tangent + (size_t)l->rank * wide;
    double most = 0, re = 1, im = 0;
    memset(shape, 0, 2 * n * sizeof *shape);
    for (size_t k = 0; k < size; k++) {
        for (size_t i = 0; i < n; i++) {
            shape[2 * i] += N[k * wide + i] * x[2 * k];
            shape[2 * i + 1] += N[k * wide + i] * x[2 * k + 1];
        }
    }
    for (size_t i = 0; i < n; i++) {
        double here = hypot(shape[2 * i], shape[2 * i + 1]);
        if (here > most * (1 + 1e-9)) {
            most = here;
            re = shape[2 * i] / here;
            im = shape[2 * i + 1] / here;
        }
    }
    for (size_t i = 0; i < n && most > 0; i++) { /* the largest becomes 1 */
        double x0 = shape[2 * i] / most, y0 = shape[2 * i + 1] / most;
        shape[2 * i] = x0 * re + y0 * im;
        shape[2 * i + 1] = y0 * re - x0 * im;
    }
}

typedef struct sorted {
    zw_mode mode;
    double key; /* growth without round-off */
    int from;
} sorted;

static int by_growth(const void *x, const void *y)
{
    const sorted *a = x, *b = y;
    return a->key > b->key                         ? -1
           : a->key < b->key                       ? 1
           : a->mode.frequency > b->mode.frequency ? -1
           : a->mode.frequency < b->mode.frequency ? 1
                                                   : a->from - b->from;
}

/* What counts as none: NONE of the fastest, or of what the free accelerations would give over a way
 * of one, where all is held and nothing is fast. Double zeros (a body that drifts) come out as
 * roots of round-off, and of the errors of differences where slopes_bodies.c has these. */
static double none_of(const linear *l, const sorted *list, int count)
{
    const zw_view a = zw_field(l->system, l->state, l->slopes->work, ZW_FIELD_A_FREE);
    double most = 0;
    for (int i = 0; i < a.count; i++) {
        most = isfinite(a.data[i]) ? fmax(most, sqrt(fabs(a.data[i]))) : most;
    }
    for (int k = 0; k < count; k++) {
        double s = hypot(list[k].mode.growth, list[k].mode.frequency);
        most = isfinite(s) ? fmax(most, s) : most;
    }
    return (l->slopes->by_bodies ? 1e-5 : 1e-7) * fmax(most, 1e-300);
}

static void classify(zw_modes *modes, double none)
{
    int grows = 0, stays = 0;
    for (int k = 0; k < modes->count; k++) {
        grows += modes->mode[k].growth > none;
        stays += modes->mode[k].growth >= -none;
    }
    modes->stability = grows ? ZW_UNSTABLE : stays ? ZW_NEUTRAL : ZW_STABLE;
}

static zw_status gather(zw_modes *modes, const linear *l, int size, const double *value,
                        const double *vector, double period, zw_error *error)
{
    size_t n = (size_t)modes->n;
    sorted *list = base_alloc(((size_t)size + 1) * sizeof *list);
    modes->mode = base_alloc(((size_t)size + 1) * sizeof *modes->mode);
    modes->shape = base_alloc((2 * n * (size_t)size + 1) * sizeof *modes->shape);
    if (!list || !modes->mode || !modes->shape) {
        base_free(list);
        return base_no_memory(error);
    }
    double fastest = 0;
    for (int k = 0; k < size; k++) {
        fastest = fmax(fastest, hypot(value[2 * k], value[2 * k + 1]));
    }
    for (int k = 0; k < size; k++) { /* of a conjugate pair the one with positive imaginary part */
        double re = value[2 * k], im = value[2 * k + 1];
        im = fabs(im) <= 1e-14 * fastest ? 0 : im;
        if (im >= 0) {
            list[modes->count].from = k;
            exponent(&list[modes->count++].mode, re, im, period, RESOLVED * fastest);
        }
    }
    double none = none_of(l, list, modes->count);
    for (int k = 0; k < modes->count; k++) {
        zw_mode *mode = &list[k].mode;
        if (hypot(mode->growth, mode->frequency) <= none) {
            mode->growth = mode->frequency = mode->damping = 0;
        }
        list[k].key = rint(mode->growth / none);
    }
    qsort(list, (size_t)modes->count, sizeof *list, by_growth);
    for (int k = 0; k < modes->count; k++) {
        modes->mode[k] = list[k].mode;
        fill_shape(l, vector + 2 * (size_t)size * (size_t)list[k].from,
                   modes->shape + 2 * n * (size_t)k);
    }
    classify(modes, none);
    base_free(list);
    return ZW_OK;
}

static zw_status find(zw_modes *modes, linear *l, const zw_state *state, double period,
                      zw_error *error)
{
    double away = 0;
    zw_status status = linear_look(l, state, 1, error);
    if (status == ZW_OK && period > 0) {
        status = map_period(l, state, period, &away, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    size_t wide = 2 * (size_t)modes->n, size = wide - (size_t)l->rank;
    double *G = base_alloc((3 * size * size + 2 * size + 2 * wide + 1) * sizeof *G);
    if (!G) {
        return base_no_memory(error);
    }
    double *value = G + size * size, *vector = value + 2 * size,
           *scratch = vector + 2 * size * size;
    modes->unsteady = restrict_to(l, G, scratch);
    modes->unsteady = period > 0 ? away : fmax(modes->unsteady, restless(l, scratch));
    int done = dense_eigen((int)size, G, value, vector);
    status = done > 0   ? gather(modes, l, (int)size, value, vector, period, error)
             : done < 0 ? base_no_memory(error)
                        : base_fail(error, ZW_NOT_FINITE, "eigenvalues were not found");
    base_free(G);
    return status;
}

static int depends_on_time(const zw_system *system)
{
    static const system_part part[] = {PART_TERMS, PART_POSITION, PART_VELOCITY};
    unsigned seen = 0;
    for (size_t p = 0; p < sizeof part / sizeof *part; p++) {
        const expr_id *list;
        int count = system_formulas(system, part[p], &list);
        for (int i = 0; i < count; i++) {
            seen |= (unsigned)expr_graph_node(system->model->graph, list[i])->depends;
        }
    }
    return (seen & EXPR_ON_TIME) != 0;
}

zw_modes *zw_modes_create(const zw_model *model, const zw_system *system, const zw_state *state,
                          double period, zw_error *error)
{
    linear l;
    zw_modes *modes = base_alloc(sizeof *modes);
    if (!modes) {
        base_no_memory(error);
        return NULL;
    }
    modes->system = system;
    modes->n = system->n;
    modes->frozen = period == 0 && depends_on_time(system);
    zw_status status = linear_create(&l, model, system, error);
    if (status == ZW_OK && period > 0 && system->tree && system->carried > 0) {
        status = base_fail(error, ZW_BAD_INPUT,
                           "modes over a period are not supported for robots whose actuators have "
                           "activations");
    }
    status = status == ZW_OK ? find(modes, &l, state, period, error) : status;
    linear_free(&l);
    if (status != ZW_OK) {
        zw_modes_free(modes);
        return NULL;
    }
    return modes;
}

void zw_modes_free(zw_modes *modes)
{
    if (modes) {
        base_free(modes->mode);
        base_free(modes->shape);
        base_free(modes);
    }
}

int zw_modes_count(const zw_modes *modes)
{
    return modes->count;
}

zw_mode zw_modes_look(const zw_modes *modes, int mode)
{
    return mode >= 0 && mode < modes->count ? modes->mode[mode] : (zw_mode){0};
}

const double *zw_modes_shape(const zw_modes *modes, int mode)
{
    return mode >= 0 && mode < modes->count ? modes->shape + 2 * (size_t)modes->n * (size_t)mode
                                            : NULL;
}

zw_status zw_modes_move(const zw_modes *modes, int mode, double size, double phase,
                        const zw_state *from, zw_state *to, zw_work *work, zw_error *error)
{
    const zw_system *system = modes->system;
    const double *shape = zw_modes_shape(modes, mode);
    size_t n = (size_t)modes->n, nq = (size_t)system->nq;
    double *q = base_alloc((nq + 2 * n + 1) * sizeof *q), c = math_cos(phase), s = math_sin(phase);
    if (!shape || !q) {
        base_free(q);
        return shape ? base_no_memory(error)
                     : base_fail(error, ZW_BAD_INPUT, "there is no mode %d", mode);
    }
    double *along = q + nq, *zero = along + n;
    memcpy(q, state_q((zw_state *)from), nq * sizeof *q);
    for (size_t i = 0; i < n; i++) {
        along[i] = size * (shape[2 * i] * c - shape[2 * i + 1] * s);
    }
    system_move(system, q, 1, along);
    zw_status status = set_held(system, to, work, ZW_FIELD_Q, q, error);
    if (status == ZW_OK) {
        status = set_held(system, to, work, ZW_FIELD_V, zero, error);
    }
    base_free(q);
    return status;
}

zw_stability zw_modes_stability(const zw_modes *modes)
{
    return modes->stability;
}

double zw_modes_unsteady(const zw_modes *modes)
{
    return modes->unsteady;
}

int zw_modes_frozen(const zw_modes *modes)
{
    return modes->frozen;
}

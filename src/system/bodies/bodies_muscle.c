/* Muscles, as in MuJoCo: force = -F (FL(L) FV(V) a + FP(L)), with the peak force F, the activation
 * a, and curves over the length and the velocity in units of the muscle's optimal length.
 *
 * The operating range [r0, r1] gives the lengths L that correspond to the shortest and the longest
 * length of the actuator, [l0, l1]. So the optimal length is L0 = (l1 - l0)/(r1 - r0), and
 *
 *     L = r0 + (length - l0)/L0,      V = velocity/(L0 vmax).
 *
 * FL is 1 at L = 1, and 0 at lmin and lmax; between, four parabolas that join halfway with equal
 * slopes. FV is 0 below V = -1, (V + 1)^2 up to 0, then a parabola up to fvmax at V = fvmax - 1,
 * and constant beyond. FP is a parabola from L = 1 to b = (1 + lmax)/2, where it is fpmax/2, and
 * continues along its tangent. If F is not given it is scale/a0, where a0 is the acceleration of
 * the speeds by a unit of the actuator's force in the reference pose: |M^-1 J'|.
 *
 * The activation follows the control c, within 0 and 1: a' = (c - a)/tau, with tau = t1 s upwards
 * and t2/s downwards, s = 0.5 + 1.5 a; over a width w of c - a around 0 the two are blended by x^3
 * (6 x^2 - 15 x + 10). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies_build.h"
#include "tree/sweeps.h"

/* Lower bound of denominators, as in MuJoCo. */
#define LEAST 1e-15

/* ---- Curves ---------------------------------------------------------------------------------- */

/* 0.5 x^2 for x = (L - from)/(to - from), and the slope. */
static double parabola(double L, double from, double to, double *slope)
{
    double span = to > from ? fmax(LEAST, to - from) : -fmax(LEAST, from - to);
    double x = (L - from) / span;
    *slope = x / span;
    return 0.5 * x * x;
}

static double by_length_curve(const bodies_muscle *m, double L, double *slope)
{
    double a = 0.5 * (m->least + 1), b = 0.5 * (1 + m->most), value;
    *slope = 0;
    if (!(m->least <= L && L <= m->most)) {
        return 0;
    }
    if (L <= a) {
        return parabola(L, m->least, a, slope);
    }
    if (L > b) {
        return parabola(L, m->most, b, slope);
    }
    value = 1 - parabola(L, 1, L <= 1 ? a : b, slope);
    *slope = -*slope;
    return value;
}

static double by_rate_curve(const bodies_muscle *m, double V, double *slope)
{
    double y = m->eccentric - 1;
    *slope = 0;
    if (V <= -1) {
        return 0;
    }
    if (V <= 0) {
        *slope = 2 * (V + 1);
        return (V + 1) * (V + 1);
    }
    if (V <= y) {
        *slope = 2 * (y - V) / fmax(LEAST, y);
        return m->eccentric - (y - V) * (y - V) / fmax(LEAST, y);
    }
    return m->eccentric;
}

double bodies_muscle_gain(const bodies_muscle *m, double length, double rate, double *by_length,
                          double *by_rate)
{
    double slope_l, slope_v;
    double FL = by_length_curve(m, m->start + m->by_length * length, &slope_l);
    double FV = by_rate_curve(m, m->by_rate * rate, &slope_v);
    *by_length = -m->peak * slope_l * m->by_length * FV;
    *by_rate = -m->peak * FL * slope_v * m->by_rate;
    return -m->peak * FL * FV;
}

double bodies_muscle_bias(const bodies_muscle *m, double length, double *by_length)
{
    double L = m->start + m->by_length * length, b = 0.5 * (1 + m->most), slope = 0, FP = 0;
    if (L > b) {
        slope = 1 / fmax(LEAST, b - 1);
        FP = 0.5 + (L - b) * slope;
    } else if (L > 1) {
        FP = parabola(L, 1, b, &slope);
    }
    *by_length = -m->peak * m->passive * slope * m->by_length;
    return -m->peak * m->passive * FP;
}

double bodies_muscle_time(const bodies_motor *motor, double u, double now)
{
    double s = 0.5 + 1.5 * fmin(fmax(now, 0), 1);
    double up = motor->tau[0] * s, down = motor->tau[1] / s;
    double more = u - now, part = more > 0;
    if (motor->tau[2] >= LEAST) {
        double x = fmin(fmax(more / motor->tau[2] + 0.5, 0), 1);
        part = x * x * x * (x * (6 * x - 15) + 10);
    }
    return fmax(LEAST, down + (up - down) * part);
}

/* ---- From definitions ------------------------------------------------------------------------ */

static bodies_muscle muscle_of(const double prm[10], const double length[2], double peak)
{
    double best = (length[1] - length[0]) / fmax(LEAST, prm[1] - prm[0]);
    double by_length = 1 / fmax(LEAST, best);
    return (bodies_muscle){.start = prm[0] - by_length * length[0],
                           .by_length = by_length,
                           .by_rate = 1 / fmax(LEAST, best * prm[6]),
                           .peak = peak,
                           .least = prm[4],
                           .most = prm[5],
                           .passive = prm[7],
                           .eccentric = prm[8]};
}

/* |M^-1 J'|, row[n] being J; 0: it cannot be computed. */
static double acceleration(bodies_builder *b, double *row)
{
    const tree_mechanism *tree = b->system->tree;
    double sum = 0;
    tree_articulated_solve(tree, b->sweeps, row);
    for (int d = 0; d < tree->nv; d++) {
        sum += row[d] * row[d];
    }
    return sqrt(sum);
}

/* The reason why the mass matrix of the tree is not that of the system; NULL: it is. */
static const char *why_unknown(const bodies_builder *b)
{
    for (int i = 0; i < b->to->length_count; i++) {
        if (b->to->length[i].armature > 0) {
            return "where tendons have armature";
        }
    }
    return b->cut ? "where loops are cut" : NULL;
}

zw_status bodies_make_muscles(bodies_builder *b, zw_error *error)
{
    tree_mechanism *tree = b->system->tree;
    size_t n = (size_t)tree->nv + 1;
    int bad = 0, done = 0;
    double *row = base_alloc((n + 6 * ((size_t)b->to->widest + 1)) * sizeof *row);
    zw_status status = row ? ZW_OK : base_no_memory(error);
    for (int k = 0; k < b->from->count[ZW_KIND_ACTUATOR] && status == ZW_OK; k++) {
        const zw_actuator_def *from = &b->from->actuator[k];
        bodies_motor *motor = &b->to->motor[k];
        int pulls = from->gain_law == ZW_ACTUATOR_MUSCLE,
            holds = from->bias_law == ZW_ACTUATOR_MUSCLE;
        double peak[2] = {from->gain_prm[2], from->bias_prm[2]};
        if ((pulls && peak[0] < 0) || (holds && peak[1] < 0)) {
            const char *why = why_unknown(b);
            if (!why && !done++) {
                tree_articulate(tree, NULL, b->sweeps, &bad);
                why = bad ? "where masses are missing" : NULL;
            }
            if (why) {
                status = model_fail(b->model, error, ZW_BAD_INPUT, from->place,
                                    "actuator '%.60s': the peak force of this muscle depends on "
                                    "the effective mass, which is not known %s; give its force",
                                    from->name ? from->name : "", why);
                break;
            }
            bodies_transmission(b, motor, row + n, row);
            double effective = fmax(LEAST, acceleration(b, row));
            peak[0] = peak[0] < 0 ? from->gain_prm[3] / effective : peak[0];
            peak[1] = peak[1] < 0 ? from->bias_prm[3] / effective : peak[1];
        }
        motor->active = pulls ? muscle_of(from->gain_prm, b->reach[k], peak[0]) : motor->active;
        motor->slack = holds ? muscle_of(from->bias_prm, b->reach[k], peak[1]) : motor->slack;
    }
    base_free(row);
    return status;
}

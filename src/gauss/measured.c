/* The verdict of certificate.c, from the numbers it has computed. */
#include <math.h>

#include "gauss/measured.h"
#include "gauss/tolerances.h"
#include "math/cone.h"

static double larger(double x, double y)
{
    return x > y ? x : y;
}

/* What x exceeds `granted` by; a NaN stays. */
static double above(double x, double granted)
{
    double rest = x - granted;
    return rest > 0.0 || rest != rest ? rest : 0.0;
}

/* The interval of the multiplier of a single row. */
static void certify_interval(const gauss_measured *j, const zw_block *block, int i, double end[2])
{
    end[0] = 0.0;
    end[1] = HUGE_VAL;
    if (block->kind == ZW_BOX) {
        end[0] = block->limit[0] / j->scale[i];
        end[1] = block->limit[1] / j->scale[i];
    }
}

/* How far the residual u is from what the block at row i admits without a force: for a box only the
 * signs of its limits matter. */
static double certify_violation(const zw_block *block, int rows, const double *u)
{
    if (block->kind == ZW_BOX) {
        return interval_gap(block->limit[0], block->limit[1], u[0]);
    }
    return block->kind == ZW_EQUALITY ? fabs(u[0]) : cone_gap(rows, u);
}

/* The contribution of one cone, inequality row or equality row to V: zero if it is open before and
 * after. */
static double certify_concern(gauss_measured *j, const zw_block *block, int at, int rows)
{
    double size = 0.0, carried = 0.0, push = 0.0;
    for (int i = at; i < at + rows; i++) {
        size = larger(size, fabs(j->w[i]));
        push = larger(push, fabs(j->r[i]));
        carried = larger(carried, j->carried[i]);
    }
    double violation = certify_violation(block, rows, j->before + at);
    int pushes = push > GAUSS_PUSHES * j->R; /* a trace of a multiplier does not count */
    if (!pushes && violation == 0.0 && certify_violation(block, rows, j->w + at) == 0.0) {
        return 0.0;
    }
    return larger(violation, pushes ? size : 0.0) + GAUSS_SCALE_FLOOR * larger(carried, j->R);
}

/* V */
static void certify_size(gauss_measured *j)
{
    j->V = 0.0;
    for (int k = 0, at = 0; k < j->block_count; at += j->block[k++].rows) {
        const zw_block *block = &j->block[k];
        int step = block->kind == ZW_CONE ? block->rows : 1;
        for (int i = at; i < at + block->rows; i += step) {
            j->V = larger(j->V, certify_concern(j, block, i, step));
        }
    }
    j->V = j->V > 0.0 ? j->V : 1.0;
}

static void worse(double *slot, double value)
{
    if (value > *slot || value != value) { /* a NaN stays */
        *slot = value;
    }
}

/* One cone in scaled units. */
static double certify_cone(gauss_measured *j, int d, const double *r, const double *w, int shifted)
{
    double u[CONE_MAX], z[CONE_MAX], p[CONE_MAX], product = 0.0, rho = j->R / j->V;
    double push = 0.0, off = 0.0;
    for (int i = 0; i < d; i++) {
        u[i] = w[i] + (i == 0 && shifted ? cone_tangent(d, w) : 0.0);
        z[i] = r[i] - rho * u[i];
        product += r[i] * u[i];
        push = larger(push, fabs(r[i]));
    }
    double outside = cone_gap(d, u) / j->V;
    worse(&j->out.feasibility, outside);
    if (push == 0.0 && outside == 0.0) {
        return 0.0; /* open */
    }
    double granted = larger(0.0, GAUSS_GRANTED * push);
    granted = granted < GAUSS_GRANTED_MOST * j->R ? granted : GAUSS_GRANTED_MOST * j->R;
    worse(&j->out.complementarity, fabs(product) / (j->R * j->V));
    worse(&j->out.membership, above(cone_gap(d, r), granted) / j->R);
    cone_project(d, z, p);
    for (int i = 0; i < d; i++) {
        worse(&off, fabs(r[i] - p[i]));
    }
    double natural = above(off, granted) / j->R;
    worse(&natural, outside);
    worse(&j->out.natural, natural);
    return natural;
}

/* A single row with the interval of its multiplier. */
static double certify_row(gauss_measured *j, const double end[2], double r, double w)
{
    double rho = j->R / j->V, outside = interval_excess(end[0], end[1], w) / j->V;
    double nearest = interval_nearest(end[0], end[1], r), at = w > 0.0 ? end[0] : end[1];
    worse(&j->out.feasibility, outside);
    if (r == 0.0 && nearest == 0.0 && interval_gap(end[0], end[1], w) == 0.0) {
        return 0.0; /* open */
    }
    double granted = larger(0.0, GAUSS_GRANTED * fabs(r));
    granted = granted < GAUSS_GRANTED_MOST * j->R ? granted : GAUSS_GRANTED_MOST * j->R;
    worse(&j->out.complementarity, fabs((isinf(at) ? r : r - at) * w) / (j->R * j->V));
    worse(&j->out.membership, above(fabs(r - nearest), granted) / j->R);
    double off = fabs(r - interval_nearest(end[0], end[1], r - rho * w));
    double natural = above(off, granted) / j->R;
    worse(&natural, outside);
    worse(&j->out.natural, natural);
    return natural;
}

static double certify_block(gauss_measured *j, int k, int at)
{
    const zw_block *block = &j->block[k];
    double worst = 0.0;
    if (block->kind == ZW_CONE) {
        worst = certify_cone(j, block->rows, j->r + at, j->w + at, j->contact != ZW_CONTACT_CONVEX);
        for (int i = 1; i < block->rows; i++) { /* no friction, no force */
            if (block->friction[i - 1] == 0.0) {
                worse(&worst, fabs(j->lambda[at + i]) / j->R);
                worse(&j->out.membership, fabs(j->lambda[at + i]) / j->R);
            }
        }
        return worst;
    }
    for (int i = at; i < at + block->rows; i++) {
        if (block->kind == ZW_EQUALITY) {
            worse(&worst, fabs(j->w[i]) / j->V);
            worse(&j->out.feasibility, fabs(j->w[i]) / j->V);
        } else {
            double end[2];
            certify_interval(j, block, i, end);
            worse(&worst, certify_row(j, end, j->r[i], j->w[i]));
        }
    }
    return worst;
}

/* Primal minus dual objective: with stationarity exact it is the sum of lambda . residual, and in a
 * box of the distance to the end that the residual leads to. */
static double certify_gap(const gauss_measured *j)
{
    double gap = 0.0, size = 0.0;
    for (int k = 0, i = 0; k < j->block_count; k++) {
        const zw_block *block = &j->block[k];
        for (int end = i + block->rows; i < end; i++) {
            double low = block->kind == ZW_BOX ? block->limit[j->w[i] < 0.0] / j->scale[i] : 0.0;
            double part = (j->r[i] - (isfinite(low) ? low : 0.0)) * j->w[i];
            gap += part;
            size += fabs(part);
        }
    }
    return fabs(gap) / larger(size, j->R * j->V);
}

void gauss_measured_certify(gauss_measured *j)
{
    zw_certificate *out = &j->out;
    *out = (zw_certificate){.worst_block = -1};
    certify_size(j);
    for (int i = 0; i < j->n; i++) {
        double size = j->unit[i] * j->R, granted = GAUSS_GRANTED * j->pushes[i];
        granted = granted < GAUSS_GRANTED_MOST * size ? granted : GAUSS_GRANTED_MOST * size;
        worse(&out->stationarity, above(fabs(j->force[i]), granted) / size);
    }
    out->worst = out->stationarity;
    for (int k = 0, at = 0; k < j->block_count; at += j->block[k++].rows) {
        double worst = certify_block(j, k, at);
        if (worst > out->worst || worst != worst) {
            out->worst = worst;
            out->worst_block = k;
        }
    }
    out->gap = certify_gap(j);
    worse(&out->worst, out->membership);
}

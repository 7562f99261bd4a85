/* A table with four legs on a floor: three would suffice, and the laws of rigid bodies do not
 * determine how the load is shared. Where it slides, friction depends on the loads, and not even
 * the motion is determined: with six points under three wheels two runs whose starts differ by 1e-9
 * m were centimetres apart after a second, as the solver took one share or another.
 *
 * The intended solution is the limit of stiff bodies. Contacts with compliances R_i, all going to 0
 * at the same rate, share the load with the least sum R_i lambda_i^2 among all possible
 * distributions: that is unique, and depends continuously on the problem. So normal rows get
 *
 *     R_i = share * sum_k A_ik^2 / M_kk
 *
 * a small part of their own mobility. Around forces that solve the rigid problem, A a - b + R
 * (lambda - around) has no compliance: repeated like that, it ends at a rigid solution that differs
 * from the least one by the order of `share`.
 *
 * Contacts that are open in a solution of the rigid problem, by more than the compliance could
 * close, share nothing: in speeds scaled by sqrt(M_kk) the forces lambda_i change the motion by no
 * more than L = sum_i |A_i| lambda_i, and a compliance of `share` times that cannot close w_i >
 * share |A_i| L. If the normal rows of the others are independent, the solution is locally unique,
 * and there is nothing to choose.
 *
 * Rows are dependent if what Gram-Schmidt orthogonalisation leaves of one, its columns scaled by
 * 1/sqrt(M_kk), is less than DEPENDENT of it. */
#include "gauss/contact/choose.h"

#include <math.h>

#define DEPENDENT 1e-3

/* 1/sqrt(M_kk) of all; 0: unknown. */
static int scales(const zw_gauss *problem, double *scale)
{
    const zw_metric *M = &problem->metric;
    int dense = M->kind == ZW_METRIC_DENSE;
    if (!dense && M->kind != ZW_METRIC_DIAGONAL) {
        return 0;
    }
    for (int k = 0; k < problem->n; k++) {
        double mass = dense ? M->value[k * problem->n + k] : M->value[k];
        if (!(mass > 0)) {
            return 0;
        }
        scale[k] = 1 / sqrt(mass);
    }
    return 1;
}

static double length2(const double *x, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += x[k] * x[k];
    }
    return sum;
}

/* Does row x depend on the `count` rows of `basis`? If not, it is added to them. */
static int depends(double *basis, int count, int n, double *x)
{
    double whole = length2(x, n);
    for (int i = 0; i < count; i++) {
        double along = 0;
        for (int k = 0; k < n; k++) {
            along += basis[i * n + k] * x[k];
        }
        for (int k = 0; k < n; k++) {
            x[k] -= along * basis[i * n + k];
        }
    }
    double left = length2(x, n);
    if (count == n || !(left > DEPENDENT * DEPENDENT * whole)) {
        return whole > 0;
    }
    for (int k = 0; k < n; k++) {
        basis[count * n + k] = x[k] / sqrt(left);
    }
    return 0;
}

static int pushes(const zw_block *block)
{
    return block->kind == ZW_CONE || block->kind == ZW_INEQUALITY;
}

/* x = row i, its columns scaled by 1/sqrt(M_kk). */
static void scaled_row(const zw_gauss *problem, int row, const double *scale, double *x)
{
    for (int k = 0; k < problem->n; k++) {
        x[k] = problem->A.dense[(long)row * problem->n + k] * scale[k];
    }
}

/* L: an upper bound of the effect of all forces of a solution together. */
static double reach(const zw_gauss *problem, const double *scale, const double *lambda)
{
    double x[GAUSS_CHOOSE_MOST], sum = 0;
    for (int i = 0, row = 0; i < problem->block_count; row += problem->block[i++].rows) {
        if (pushes(&problem->block[i])) {
            scaled_row(problem, row, scale, x);
            sum += sqrt(length2(x, problem->n)) * fabs(lambda[row]);
        }
    }
    return sum;
}

int gauss_shares(const zw_gauss *problem, const gauss_shared *answer)
{
    double scale[GAUSS_CHOOSE_MOST], x[GAUSS_CHOOSE_MOST];
    double basis[GAUSS_CHOOSE_MOST * GAUSS_CHOOSE_MOST];
    int n = problem->n, count = 0;
    if (n > GAUSS_CHOOSE_MOST || problem->A.dense == NULL || !scales(problem, scale)) {
        return 0;
    }
    double L = answer && answer->w ? reach(problem, scale, answer->lambda) : 0;
    for (int i = 0, row = 0; i < problem->block_count; row += problem->block[i++].rows) {
        if (!pushes(&problem->block[i])) {
            continue;
        }
        scaled_row(problem, row, scale, x);
        int open = answer && !(answer->lambda[row] > 0) &&
                   (!answer->w || answer->w[row] > answer->share * L * sqrt(length2(x, n)));
        if (open) {
            continue;
        }
        if (depends(basis, count, n, x)) {
            return 1;
        }
        count += length2(x, n) > 0;
    }
    return 0;
}

void gauss_choose(const zw_gauss *problem, double share, const double *around, double *give,
                  double *b)
{
    double scale[GAUSS_CHOOSE_MOST];
    int n = problem->n;
    scales(problem, scale);
    for (int i = 0, row = 0; i < problem->block_count; i++) {
        for (int r = 0; r < problem->block[i].rows; r++, row++) {
            double sum = 0;
            for (int k = 0; k < n && r == 0 && pushes(&problem->block[i]); k++) {
                double part = problem->A.dense[(long)row * n + k] * scale[k];
                sum += part * part;
            }
            give[row] += share * sum;
            b[row] += around ? share * sum * around[row] : 0;
        }
    }
}

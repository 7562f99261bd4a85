/* Which cones take part.
 *
 * A contact without force can be left out. If a motion solves the problem without some cones, and
 * the law admits its residuals there with a multiplier of zero, then it solves the problem with
 * them: r = 0 is what the law requires of an open cone. (Boxes are never open, and always take
 * part.) So where a guess is given, the solve begins with the cones that have a force in it. It
 * adds those that the resulting motion violates, and starts again from there with them; after
 * ROUNDS of that, or where Newton's method fails, all cones take part and the guess is the one
 * given.
 *
 * Invariants
 * 1. Nothing is assumed: the certificate includes all rows, and only what it accepts is returned
 *    from a part of the cones.
 * 2. With all cones in, the tables are those that work.c has made. */
#include <math.h>
#include <string.h>

#include "gauss/internal.h"
#include "gauss/rows.h"
#include "math/cone.h"

enum { ROUNDS = 4 };
static const double ROUND_OFF = 1e-14;

/* The tables of the cones whose `taken` is set, in their order. */
static void part_tables(zw_gauss_work *work)
{
    const gauss_whole *whole = &work->whole;
    int cones = 0, rows = 0;
    for (int k = 0; k < whole->cone_count; k++) {
        const gauss_cone *cone = &whole->cone[k];
        if (!whole->taken[k]) {
            continue;
        }
        for (int j = 0; j < cone->rows; j++) {
            work->cone_row[rows + j] = whole->row[cone->first + j];
        }
        gauss_cone here = {.first = rows, .rows = cone->rows, .block = cone->block};
        work->cone[cones] = work->normal[cones] = here;
        work->normal[cones++].rows = 1;
        rows += cone->rows;
    }
    work->cone_count = cones;
    work->mc = rows;
    work->m_wide = gauss_whole_lines(work->me + rows);
    work->core.wide = gauss_whole_lines(rows);
    work->partial = cones < whole->cone_count;
}

void gauss_part_all(zw_gauss_work *work)
{
    for (int k = 0; k < work->whole.cone_count; k++) {
        work->whole.taken[k] = 1;
    }
    if (work->partial) {
        part_tables(work);
    }
}

void gauss_part_start(const zw_gauss *problem, zw_gauss_work *work, const double *guess)
{
    const gauss_whole *whole = &work->whole;
    int nonideal = problem->C != NULL || problem->law != NULL;
    work->rounds = ROUNDS;
    work->missing = 0;
    if (guess == NULL || nonideal || work->shifted || work->is_sparse) {
        gauss_part_all(work);
        return;
    }
    for (int k = 0; k < whole->cone_count; k++) {
        const gauss_cone *cone = &whole->cone[k];
        whole->taken[k] = problem->block[cone->block].kind == ZW_BOX;
        for (int j = 0; j < cone->rows; j++) {
            whole->taken[k] |= guess[whole->row[cone->first + j]] != 0.0;
        }
    }
    part_tables(work);
    memset(work->lambda, 0, (size_t)work->m * sizeof(double));
}

/* Does the motion violate this cone, which has no force, by more than round-off? For Coulomb's law
 * only the normal matters. */
static int part_violates(const zw_gauss *problem, const zw_gauss_work *work, const gauss_cone *cone,
                         int coulomb)
{
    const zw_block *block = &problem->block[cone->block];
    int rows = coulomb ? 1 : cone->rows;
    double w[CONE_MAX];
    for (int j = 0; j < rows; j++) {
        int i = work->whole.row[cone->first + j];
        double mu = j > 0 ? block->friction[j - 1] : 1.0;
        w[j] = mu * gauss_row_residual(problem, i, work->a, work->lambda);
    }
    double below = cone_tangent(rows, w) - w[0];
    if (!(below > 0.0)) {
        return 0;
    }
    int i = work->whole.row[cone->first];
    double b = problem->b != NULL ? fabs(problem->b[i]) : 0.0;
    return below > ROUND_OFF * (gauss_row_dot_size(problem, i, work->a) + b);
}

int gauss_part_missing(const zw_gauss *problem, const zw_gauss_options *options,
                       zw_gauss_work *work)
{
    const gauss_whole *whole = &work->whole;
    work->missing = 0;
    for (int k = 0; k < whole->cone_count && work->partial; k++) {
        if (!whole->taken[k] &&
            part_violates(problem, work, &whole->cone[k], options->contact != ZW_CONTACT_CONVEX)) {
            whole->taken[k] = 1;
            work->missing++;
        }
    }
    return work->missing;
}

int gauss_part_again(const zw_gauss_options *options, zw_gauss_work *work, zw_status status,
                     const double **guess)
{
    int stands = status == ZW_OK && work->certificate.worst <= options->tolerance;
    if (!work->partial || (stands && work->missing == 0)) {
        return 0;
    }
    if (work->missing > 0 && --work->rounds > 0) {
        part_tables(work);
        *guess = work->lambda;
    } else {
        gauss_part_all(work);
        *guess = options->guess;
    }
    work->missing = 0;
    return 1;
}

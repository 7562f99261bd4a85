/* The forces that constraints, friction and contacts may exert in a given motion.
 *
 * Coulomb's and Signorini's laws relate forces to motions (contact_now.c, friction.c). In forward
 * dynamics the motion is unknown, which makes them hard; here it is known, and each constraint and
 * point is in one of three cases, all of them convex:
 *
 *     it separates, by its speed or acceleration           no force
 *     it slides, by its speed, or begins to            N (normal - mu * direction), N >= 0
 *     it rests                                         its whole cone, or its box for dry friction
 *
 * A two-sided constraint that slides has friction mu |N| for either sign of N: that is not convex,
 * and is left to the kernel's law (friction_set_up). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "look/inverse.h"
#include "system/contact/contact_now_inner.h"
#include "system/events/tangent.h"

static const double *terms(const zw_work *work, int at)
{
    return work->out[PART_TERMS] + at;
}

/* ---- Constraints ---------------------------------------------------------------------------- */

/* How fast the row accelerates away, A a - b, and the size of its terms. In a motion at rest all of
 * these are round-off, and none is large: so the accelerations that other forces would cause are
 * included (now->usual). */
static double row_rate(const zw_inverse *inverse, int r, const inverse_now *now, double *size)
{
    const zw_system *system = inverse->system;
    const double *A = terms(inverse->work, system->at.A), b = terms(inverse->work, system->at.b)[r];
    double sum = -b;
    *size = fabs(b);
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        double x = A[k] * now->a[system->A_column[k]];
        sum += x;
        *size += fabs(x) + fabs(A[k]) * now->usual[system->A_column[k]];
    }
    return sum;
}

/* Does it slide, or begin to? If so, hint holds the direction. */
static int slides(const zw_inverse *inverse, const inverse_now *now, int c)
{
    const zw_system *system = inverse->system;
    tangent t = tangent_look(system, c, terms(inverse->work, system->at.slip));
    double *hint = inverse->work->hint + 3 * c, rate[TANGENT_WIDTH] = {0}, far = 0, size = 0;
    if (tangent_speed(&t) > now->rest) {
        return 1; /* system_note_slip has noted it */
    }
    for (int i = 0; i < t.width; i++) {
        rate[i] = t.bias[i];
        size += fabs(t.bias[i]);
        for (int k = 0; k < t.columns; k++) {
            double x = t.T[i * t.columns + k] * now->a[t.column[k]];
            rate[i] += x;
            size += fabs(x) + fabs(t.T[i * t.columns + k]) * now->usual[t.column[k]];
        }
        far += rate[i] * rate[i];
    }
    far = sqrt(far);
    if (!(far > inverse->still * size)) {
        return 0;
    }
    for (int i = 0; i < t.width; i++) {
        hint[i] = rate[i] / far;
    }
    return 1;
}

/* Dry friction of a joint at rest: a force between -limit and limit. */
static void add_dry(const zw_inverse *inverse, int c, inverse_rows *rows)
{
    const zw_system *system = inverse->system;
    tangent t = tangent_look(system, c, terms(inverse->work, system->at.slip));
    double limit = terms(inverse->work, system->at.mu)[c];
    const zw_block box = {.name = system->model->constraint[c].name,
                          .kind = ZW_BOX,
                          .rows = 1,
                          .limit = {-limit, limit}};
    inverse_rows_put(rows, t.columns, t.column, t.T, 1);
    inverse_rows_end(rows);
    inverse_rows_block(rows, &box);
}

/* Is a one-sided constraint open, or about to open? */
static int parts(const zw_inverse *inverse, const inverse_now *now, int c)
{
    int r = inverse->system->first_row[c];
    const zw_work *work = inverse->work;
    double size, rate = row_rate(inverse, r, now, &size);
    return work->out[PART_POSITION][r] > inverse->touch ||
           work->out[PART_VELOCITY][r] > now->rest || rate > inverse->still * size;
}

zw_status inverse_roles(zw_inverse *inverse, const inverse_now *now, inverse_rows *rows,
                        zw_error *error)
{
    const zw_system *system = inverse->system;
    const zw_model *model = system->model;
    zw_work *work = inverse->work;
    zw_status status = ZW_OK;
    if (system->contact_count > 0) {
        status =
            system_evaluate(system, work, PART_POSITION, now->t, now->q, now->v, NULL, NULL, error);
        status = status != ZW_OK ? status
                                 : system_evaluate(system, work, PART_VELOCITY, now->t, now->q,
                                                   now->v, NULL, NULL, error);
    }
    for (int c = 0; c < model->constraint_count && status == ZW_OK; c++) {
        int rough = system->slip[c].width > 0,
            dry = system->first_row[c] == system->first_row[c + 1];
        int one_sided = model->constraint[c].relation == MODEL_AT_LEAST;
        int *role = &inverse->role[c];
        if (dry) {
            *role = slides(inverse, now, c) ? SOLVER_EQUAL : SOLVER_ABSENT;
            if (*role == SOLVER_ABSENT) {
                add_dry(inverse, c, rows);
            }
        } else if (one_sided && parts(inverse, now, c)) {
            *role = SOLVER_ABSENT;
        } else if (!rough || slides(inverse, now, c)) {
            *role = one_sided ? SOLVER_AT_LEAST : SOLVER_EQUAL;
        } else {
            *role = one_sided ? SOLVER_CONE : SOLVER_EQUAL_HELD;
        }
    }
    return status;
}

/* ---- Points of contact ---------------------------------------------------------------------- */

/* J a + J' v of a point, and the size of each. */
static void rates_of(const now_point *it, const inverse_now *now, double rate[6], double *size)
{
    *size = 0;
    for (int r = 0; r < it->point.rows; r++) {
        rate[r] = it->rate[r];
        *size = fmax(*size, fabs(it->rate[r]));
        for (int k = 0; k < it->columns; k++) {
            double J = it->J[r * it->columns + k], x = J * now->a[it->column[k]];
            rate[r] += x;
            *size = fmax(*size, fabs(x) + fabs(J) * now->usual[it->column[k]]);
        }
    }
}

/* The friction for a normal force of 1 against the slip u: -mu_i^2 u_i / |mu u|. 0: it rests. */
static int friction_against(const contact_point *point, const double u[6], double least,
                            double across[6])
{
    double size = 0;
    for (int r = 1; r < point->rows; r++) {
        size += point->friction[r - 1] * point->friction[r - 1] * u[r] * u[r];
    }
    size = sqrt(size);
    if (!(size > point->friction[0] * least)) {
        return 0;
    }
    for (int r = 1; r < point->rows; r++) {
        across[r] = -point->friction[r - 1] * point->friction[r - 1] * u[r] / size;
    }
    return 1;
}

static void add_point(const zw_inverse *inverse, const inverse_now *now, const now_point *it,
                      inverse_point *to, inverse_rows *rows)
{
    const contact_point *point = &it->point;
    double rate[6] = {0}, size;
    rates_of(it, now, rate, &size);
    if (it->way == NOW_OPEN || rate[0] > inverse->still * size) {
        return;
    }
    int sliding = it->way == NOW_SLIDES && friction_against(point, it->slip, now->rest, to->across);
    sliding = sliding || (it->way != NOW_SMOOTH &&
                          friction_against(point, rate, inverse->still * size, to->across));
    to->row = rows->rows;
    to->rows = it->way == NOW_SMOOTH || sliding ? 1 : point->rows;
    const zw_block block = contact_block(point, to->rows, it->name);
    for (int r = 0; r < to->rows; r++) {
        inverse_rows_put(rows, it->columns, it->column, it->J + r * it->columns, 1);
        for (int k = 1; k < point->rows && sliding; k++) {
            inverse_rows_put(rows, it->columns, it->column, it->J + k * it->columns, to->across[k]);
        }
        inverse_rows_end(rows);
    }
    inverse_rows_block(rows, &block);
}

zw_status inverse_points(zw_inverse *inverse, zw_state *state, const inverse_now *now,
                         inverse_rows *rows, zw_error *error)
{
    int count = 0;
    inverse->points = 0;
    if (zw_contact_capacity(inverse->system) == 0) {
        return ZW_OK;
    }
    zw_status status = contact_now_find(inverse->system, inverse->work, state, &count, error);
    for (int k = 0; k < count && status == ZW_OK; k++) {
        if (!base_list_reserve(&inverse->point, &inverse->point_capacity, k,
                               sizeof *inverse->point)) {
            return base_no_memory(error);
        }
        inverse->point[k] = (inverse_point){.index = k, .row = -1};
        add_point(inverse, now, &inverse->work->now->point[k], &inverse->point[k], rows);
        inverse->points++;
    }
    return status;
}

zw_status inverse_list(zw_inverse *inverse, zw_error *error)
{
    contact_list *list = contact_list_begin(inverse->work, inverse->points);
    if (!list) {
        return base_no_memory(error);
    }
    for (int k = 0; k < inverse->points; k++) {
        const inverse_point *from = &inverse->point[k];
        const now_point *it = &inverse->work->now->point[from->index];
        zw_contact *to = contact_list_add(list, inverse->system, &it->point);
        const double *x = from->row >= 0 ? inverse->x + inverse->solver->rows + from->row : NULL;
        memcpy(to->slip, it->slip, sizeof to->slip);
        to->state = !x || x[0] <= 0  ? ZW_TOUCH_OPEN
                    : from->rows > 1 ? ZW_TOUCH_STICK
                                     : ZW_TOUCH_SLIDE;
        for (int r = 0; x && r < it->point.rows; r++) {
            to->force[r] = r < from->rows ? x[r] : x[0] * from->across[r];
        }
    }
    return ZW_OK;
}

/* Dry friction of bodies: which joints at rest are held, and which begin to move.
 *
 * The force of each is in a box, |f| <= limit: it holds (e' = 0), or it is at a limit and the joint
 * moves against it. A touching contact presses or separates. Together that is a linear
 * complementarity problem with a positive definite matrix: its accelerations are unique. They are
 * found by pivoting: all joints stick at first; one that cannot hold is released in the direction
 * of the force on it, one that would then move the other way sticks again; a contact with a tensile
 * force opens, one that would be penetrated closes. All wrong ones are changed at once while their
 * number decreases, and otherwise one at a time, by number (Murty's rule, which terminates). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/events/decide.h"

typedef struct standing {
    int constraint;
    int wrong; /* its mode contradicts the motion */
    double pull;
} standing;

static int is_dry(const zw_system *system, int c)
{
    return system->first_row[c] == system->first_row[c + 1];
}

int decide_dry_stands(const decision *d, int c)
{
    return is_dry(d->system, c) && decide_slip_speed(d, c) <= 10 * d->rest;
}

/* Does contact c touch without separating? */
static int touches(const decision *d, int c)
{
    return decide_one_sided(d->system, c) && d->touching[c] && d->normal[c] <= 2 * d->still[c];
}

/* The force that holds constraint c. */
static double pull_of(const system_solver *solver, int c)
{
    for (int i = 0; i < solver->rows; i++) {
        if (solver->row_of[i] == -1 && solver->tangent_of[i] == 4 * c) {
            return solver->answer.lambda[i];
        }
    }
    return 0;
}

/* Its acceleration along the direction in which it was released. */
static double leaves(const decision *d, int c)
{
    tangent t = tangent_look(d->system, c, d->work->out[PART_TERMS] + d->system->at.slip);
    double sum = t.bias[0];
    for (int k = 0; k < t.columns; k++) {
        sum += t.T[k] * d->work->a[t.column[k]];
    }
    return d->work->hint[3 * c] * sum;
}

/* The normal force of contact c if it is closed, else the acceleration of its gap. */
static double presses(const decision *d, int c)
{
    const zw_system *system = d->system;
    const system_solver *solver = d->work->motion;
    int r = system->first_row[c];
    for (int i = 0; i < solver->rows; i++) {
        if (solver->row_of[i] == r) {
            return solver->answer.lambda[i];
        }
    }
    const double *A = d->work->out[PART_TERMS] + system->at.A;
    double sum = -d->work->out[PART_TERMS][system->at.b + r];
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        sum += A[k] * d->work->a[system->A_column[k]];
    }
    return sum;
}

static zw_status accelerate(decision *d, double t, const double *q, const double *v,
                            zw_error *error)
{
    return system_accelerate(d->system, d->work, t, q, v, d->work->a, error);
}

/* Marks the wrong ones, and counts them. Of those at the border of what they can do the answer a
 * moment later decides. */
static zw_status look(decision *d, standing *list, int count, int *wrong, zw_error *error)
{
    zw_state *state = d->state;
    zw_work *work = d->work;
    const double *mode = state_mode(state);
    zw_status status = system_set_modes(d->system, work, mode, error);
    if (status == ZW_OK) {
        status = accelerate(d, state->t, state_q(state), state_v(state), error);
    }
    double largest = status == ZW_OK && work->motion->rows > 0
                         ? decide_largest(work->motion->rows, work->motion->answer.lambda)
                         : 0;
    double fastest = decide_largest(d->system->n, work->a) + decide_pull_of(d);
    int border = 0;
    *wrong = 0;
    for (int k = 0; k < count && status == ZW_OK; k++) {
        int c = list[k].constraint;
        double size = largest, spare;
        if (!is_dry(d->system, c)) {
            spare = presses(d, c);
            size = mode[c] == SYSTEM_OPEN ? fastest : largest;
        } else if (mode[c] == SYSTEM_STUCK) {
            spare = system_hold(d->system, work, c);
            list[k].pull = pull_of(work->motion, c);
        } else {
            spare = leaves(d, c);
            size = fastest;
        }
        list[k].wrong = spare < -DECIDE_BORDER * size ? 1 : 0;
        int acts = is_dry(d->system, c) ? mode[c] == SYSTEM_STUCK : mode[c] != SYSTEM_OPEN;
        if (acts && fabs(spare) <= DECIDE_BORDER * size) {
            list[k].wrong = -1;
            border = 1;
        }
        *wrong += list[k].wrong > 0;
    }
    if (!border || status != ZW_OK) {
        return status;
    }
    zw_error ignored;
    decide_go_ahead(d, work->a, DECIDE_MOMENT);
    int later = accelerate(d, state->t + DECIDE_MOMENT, d->ahead, d->ahead + d->system->nq,
                           &ignored) == ZW_OK;
    for (int k = 0; k < count; k++) {
        int c = list[k].constraint;
        if (list[k].wrong < 0) {
            int dry = is_dry(d->system, c);
            list[k].wrong = later && (dry ? system_hold(d->system, work, c) : presses(d, c)) < 0;
            *wrong += list[k].wrong;
        }
    }
    return ZW_OK;
}

static zw_status pivot(decision *d, standing *it, int tied, zw_error *error)
{
    double *mode = &state_mode(d->state)[it->constraint],
           *hint = d->work->hint + 3 * it->constraint;
    zw_status status = ZW_OK;
    if (!is_dry(d->system, it->constraint)) {
        *mode = *mode == SYSTEM_OPEN ? SYSTEM_CLOSED : SYSTEM_OPEN;
    } else if (*mode == SYSTEM_STUCK) {
        *hint = it->pull > 0 ? -1 : 1;
        *mode = SYSTEM_CLOSED;
    } else {
        int prescribed = 0;
        status = tied ? decide_prescribed(d, it->constraint, &prescribed, error) : ZW_OK;
        *hint = prescribed ? -*hint : *hint;
        *mode = prescribed ? SYSTEM_CLOSED : SYSTEM_STUCK;
    }
    return status;
}

/* If rows are dependent, joints are held one by one, as long as the others do not prescribe their
 * motion; joints whose motion is prescribed follow it. */
static zw_status hold_in_turn(decision *d, const standing *list, int count, zw_error *error)
{
    zw_status status = ZW_OK;
    double *mode = state_mode(d->state);
    for (int k = 0; k < count; k++) {
        int c = list[k].constraint;
        if (is_dry(d->system, c)) {
            mode[c] = SYSTEM_CLOSED;
            d->work->hint[3 * c] = 0;
        }
    }
    for (int k = 0; k < count && status == ZW_OK; k++) {
        int c = list[k].constraint;
        if (is_dry(d->system, c)) {
            int prescribed = 0;
            status = decide_prescribed(d, c, &prescribed, error);
            mode[c] = prescribed ? SYSTEM_CLOSED : SYSTEM_STUCK;
        }
    }
    for (int k = 0; k < count && status == ZW_OK; k++) {
        int c = list[k].constraint;
        if (is_dry(d->system, c) && mode[c] == SYSTEM_CLOSED) {
            status = decide_follow(d, c, error);
        }
    }
    return status;
}

static zw_status settle(decision *d, standing *list, int count, zw_error *error)
{
    int wrong = count + 1, before, tries = 4, tied = 0;
    for (int round = 0; round < 20 + 4 * count; round++) {
        before = wrong;
        zw_status status = look(d, list, count, &wrong, error);
        if (round == 0 && decide_is_tied(d, status)) {
            tied = 1;
            status = hold_in_turn(d, list, count, error);
            status = status == ZW_OK ? look(d, list, count, &wrong, error) : status;
        }
        if (status != ZW_OK || wrong == 0) {
            return status;
        }
        tries -= wrong >= before;
        for (int k = 0, done = 0; k < count && !done && status == ZW_OK; k++) {
            if (list[k].wrong) {
                status = pivot(d, &list[k], tied, error);
                done = tries < 0;
            }
        }
        if (status != ZW_OK) {
            return status;
        }
    }
    return ZW_OK; /* a cycle caused by round-off: any of these answers is as good */
}

zw_status decide_dry(decision *d, zw_error *error)
{
    const zw_system *system = d->system;
    double *mode = state_mode(d->state);
    int constraints = system->model->constraint_count, count = 0, dry = 0;
    standing *list = base_alloc(((size_t)constraints + 1) * sizeof *list);
    if (!list) {
        return base_no_memory(error);
    }
    for (int c = 0; c < constraints; c++) {
        int stands = decide_dry_stands(d, c);
        if (is_dry(system, c)) {
            mode[c] = stands ? SYSTEM_STUCK : SYSTEM_CLOSED;
        }
        list[count].constraint = c;
        count += stands || touches(d, c);
        dry += stands;
    }
    zw_status status = dry > 0 ? settle(d, list, count, error) : ZW_OK;
    base_free(list);
    return status;
}

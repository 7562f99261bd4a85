/* The active set of a robot at an instant, from the answer of zw_forward.
 *
 * It consists of the rows of loops, couplings and limits that exert a force; of friction in joints,
 * a row if it sticks, a known force if it slides; and of contact points (contact_now.c), which
 * stick with all their rows, or slide.
 *
 * A point that touches, does not separate and has no force is either redundant, because others
 * carry the load (a box on four corners), or about to open: then its row is independent of the
 * others, and the solution has a kink. In either case the normal row is taken as active, but not
 * friction, which has no normal force to act with. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "look/slopes/slopes_bodies.h"
#include "system/bodies/bodies.h"
#include "system/contact/contact_now_inner.h"
#include "system/events/tangent.h"

#define NONE 1e-9 /* relative to the largest force: zero */

static slopes_hold *add(slopes_bodies *s, slopes_hold_kind kind, int rows, int unknowns)
{
    if (!base_list_reserve(&s->hold, &s->hold_capacity, s->holds, sizeof *s->hold)) {
        return NULL;
    }
    slopes_hold *it = &s->hold[s->holds++];
    *it = (slopes_hold){
        .kind = kind, .rows = rows, .at = s->unknowns, .unknowns = unknowns, .first = s->values};
    s->values += rows;
    s->unknowns += unknowns;
    return it;
}

static void note(zw_slopes *slopes, const char *name)
{
    slopes->answer.kinks++;
    slopes->answer.kink = name;
}

/* ---- Constraints ----------------------------------------------------------------------------- */

static double largest_push(const zw_slopes *slopes)
{
    const zw_work *work = slopes->work;
    double most = 1e-300;
    for (int r = 0; r < slopes->system->m; r++) {
        most = fmax(most, fabs(work->push[r]));
    }
    return most;
}

/* Rows without effect have been made empty (bodies_rows.c), and have no force. */
static int is_empty(const zw_slopes *slopes, int r)
{
    const zw_system *system = slopes->system;
    const double *A = slopes->work->out[PART_TERMS] + system->at.A;
    int empty = 1;
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        empty &= A[k] == 0;
    }
    return empty;
}

/* A a - b of a row, relative to the size of its terms. */
static double rate_of(const zw_slopes *slopes, int r)
{
    const zw_system *system = slopes->system;
    const double *out = slopes->work->out[PART_TERMS];
    double sum = -out[system->at.b + r], size = fabs(sum) + 1e-300;
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        double x = out[system->at.A + k] * slopes->work->a[system->A_column[k]];
        sum += x;
        size += fabs(x);
    }
    return sum / size;
}

/* The multiplier of dry friction that sticks. */
static double held_by(const system_solver *solver, int c)
{
    for (int i = 0; i < solver->rows; i++) {
        if (solver->row_of[i] == -1 && solver->tangent_of[i] == 4 * c) {
            return solver->scale[i] * solver->answer.lambda[i];
        }
    }
    return 0;
}

static zw_status add_dry(zw_slopes *slopes, slopes_bodies *s, int c, int role, zw_error *error)
{
    const zw_system *system = slopes->system;
    const double *out = slopes->work->out[PART_TERMS];
    tangent t = tangent_look(system, c, out + system->at.slip);
    double limit = out[system->at.mu + c], rate = t.bias[0];
    int rests = role == SOLVER_EQUAL_HELD;
    slopes_hold *it = add(s, rests ? HOLD_DRY : HOLD_SLIP, 1, rests);
    if (!it) {
        return base_no_memory(error);
    }
    for (int k = 0; k < t.columns; k++) {
        rate += t.T[k] * slopes->work->a[t.column[k]];
    }
    it->index = c;
    if (rests) {
        it->lambda[0] = held_by(slopes->work->shown_by, c);
        if (fabs(it->lambda[0]) >= limit * (1 - NONE)) {
            note(slopes, zw_name(system, ZW_KIND_CONSTRAINT, c));
        }
    } else {
        double way = fabs(t.e[0]) > slopes->work->slow ? t.e[0] : rate;
        it->lambda[0] = way > 0 ? -1 : 1; /* times its limit */
    }
    return ZW_OK;
}

static zw_status add_rows(zw_slopes *slopes, slopes_bodies *s, int c, double most, zw_error *error)
{
    const zw_system *system = slopes->system;
    for (int r = system->first_row[c]; r < system->first_row[c + 1]; r++) {
        double push = slopes->work->push[r];
        int one_sided = system->row_kind[r] == SYSTEM_CONTACT, none = push <= NONE * most;
        if ((one_sided && none && rate_of(slopes, r) > SLOPES_STILL) || is_empty(slopes, r)) {
            continue;
        }
        slopes_hold *it = add(s, HOLD_ROW, 1, 1);
        if (!it) {
            return base_no_memory(error);
        }
        it->index = r;
        it->lambda[0] = push;
        if (one_sided && none) {
            note(slopes, zw_name(system, ZW_KIND_ROW, r));
        }
    }
    return ZW_OK;
}

static zw_status add_constraints(zw_slopes *slopes, slopes_bodies *s, zw_error *error)
{
    const zw_system *system = slopes->system;
    const int *role = slopes->work->shown_by->role;
    double most = largest_push(slopes);
    zw_status status = ZW_OK;
    for (int c = 0; c < system->model->constraint_count && status == ZW_OK; c++) {
        int dry = system->first_row[c] == system->first_row[c + 1];
        if (!dry && system->slip[c].width > 0 && role[c] != SOLVER_ABSENT) {
            return base_fail(
                error, ZW_BAD_INPUT,
                "derivatives of constraints with friction over robots are not supported yet: %s",
                zw_name(system, ZW_KIND_CONSTRAINT, c));
        }
        if (dry) {
            status = add_dry(slopes, s, c, role[c], error);
        } else if (role[c] != SOLVER_ABSENT) {
            status = add_rows(slopes, s, c, most, error);
        }
    }
    return status;
}

/* ---- Points ---------------------------------------------------------------------------------- */

static double size_across(const slopes_hold *it, const double *x)
{
    double sum = 0;
    for (int r = 1; r < it->rows; r++) {
        sum += it->mu[r - 1] * x[r] * it->mu[r - 1] * x[r];
    }
    return sqrt(sum);
}

/* Does a point that is not sliding begin to slide? Its friction then opposes x. */
static void find_slip(zw_slopes *slopes, slopes_hold *it, const now_point *from, double pull)
{
    double across = 0, x[6];
    for (int r = 0; r < from->point.rows; r++) {
        x[r] = from->rate[r];
        for (int k = 0; k < from->columns; k++) {
            x[r] += from->J[r * from->columns + k] * slopes->work->a[from->column[k]];
        }
    }
    for (int r = 1; r < it->rows; r++) {
        across += it->mu[r - 1] > 0 ? it->lambda[r] / it->mu[r - 1] * it->lambda[r] / it->mu[r - 1]
                                    : it->lambda[r] * it->lambda[r];
    }
    double slip = size_across(it, x);
    int at_limit = sqrt(across) >= it->lambda[0] * (1 - NONE);
    if (from->way == NOW_SLIDES) {
        it->way = WAY_SLIDES;
        memcpy(it->turn, from->slip, sizeof it->turn);
    } else if (at_limit && slip > SLOPES_STILL * pull * it->mu[0]) {
        it->way = WAY_BEGINS;
        memcpy(it->turn, x, sizeof it->turn);
    } else if (at_limit) {
        note(slopes, "a contact about to slide");
    }
    it->unknowns = it->way == WAY_HELD ? it->rows : 1;
}

/* Does a point without force separate? */
static int parts(const zw_slopes *slopes, const now_point *from, double pull)
{
    double x = from->rate[0];
    for (int k = 0; k < from->columns; k++) {
        x += from->J[k] * slopes->work->a[from->column[k]];
    }
    return from->way == NOW_OPEN || x > SLOPES_STILL * pull;
}

static zw_status add_points(zw_slopes *slopes, slopes_bodies *s, zw_error *error)
{
    const zw_system *system = slopes->system;
    const contact_now *now = slopes->work->now;
    double most = 1e-300, pull = 0;
    for (int k = 0; k < 3; k++) {
        pull += fabs(system->tree->gravity[k]);
    }
    for (int i = 0; i < system->n; i++) {
        pull = fmax(pull, fabs(slopes->work->a[i]));
    }
    for (int k = 0; k < now->count; k++) {
        most = fmax(most, now->point[k].force[0]);
    }
    for (int k = 0; k < now->count; k++) {
        const now_point *from = &now->point[k];
        int weak = !(from->force[0] > NONE * most);
        if (from->hits) {
            return base_fail(error, ZW_BAD_INPUT,
                             "%s is about to hit: an impact has no accelerations", from->name);
        }
        if (weak && parts(slopes, from, pull)) {
            continue;
        }
        int rows = weak || from->way == NOW_SMOOTH ? 1 : from->point.rows;
        slopes_hold *it = add(s, HOLD_POINT, rows, 0);
        if (!it) {
            return base_no_memory(error);
        }
        it->index = k;
        it->key = from->point.key;
        it->point = from->point;
        slopes_point_keep(system, slopes->work->sweeps, it);
        it->weak = weak;
        memcpy(it->mu, from->point.friction, sizeof it->mu);
        memcpy(it->lambda, from->force, sizeof it->lambda);
        if (rows > 1) {
            find_slip(slopes, it, from, pull);
        } else {
            it->unknowns = 1;
        }
        s->unknowns += it->unknowns;
    }
    return ZW_OK;
}

zw_status slopes_hold_find(zw_slopes *slopes, slopes_bodies *s, zw_state *state, zw_error *error)
{
    const double *v = state_v(state);
    s->holds = s->values = s->unknowns = s->moves = 0;
    for (int i = 0; i < slopes->system->n; i++) {
        s->moves |= v[i] != 0;
    }
    zw_status status = add_constraints(slopes, s, error);
    if (status == ZW_OK && slopes->work->shown_by != slopes->work->motion) {
        status = add_points(slopes, s, error);
    }
    return status;
}

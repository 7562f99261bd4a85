/* Contacts at an instant, for zw_forward: which accelerations, and which forces?
 *
 * A point touches if its gap is negligible compared with the size of the geoms. Along its rows J
 * (contacts.h) the second body moves relative to the first with u = J v; the rate of u is J a + r
 * with r = J' v. Signorini's and Coulomb's laws, differentiated:
 *
 *     u_n > 0                 separating: no force
 *     u_n = 0                 J_n a + r_n >= 0, lambda_n >= 0, one of them 0
 *             and u_t = 0     Coulomb's law, x = J_t a + r_t in the place of a speed
 *             and u_t != 0    lambda_i = -(mu_i^2 u_i / |mu u|) lambda_n
 *     u_n < 0                 an impact follows
 *
 * A point that does not slide is a cone of the kernel: it continues to stick, or begins to slide.
 * For a sliding point, friction follows from the normal force: on the ellipsoid |lambda_i/mu_i| <=
 * lambda_n it is the one with the largest dissipation. At an impact there are speeds before and
 * after, but no acceleration. It is reported (ZW_TOUCH_HIT) and treated as u_n = 0: the answer is
 * the finite force, without the impulse.
 *
 * All points, equality constraints, active limits and dry friction of joints are one problem. Where
 * there are more points than necessary (a box on four corners), sums are determined but single
 * forces are not: the kernel returns one of the solutions.
 *
 * Sliding. A cone depends only on the direction of its residual w, not on its size: with w = x + s
 * it gives the sliding friction for every s that makes w parallel to u_t, in the same sense. So s =
 * k u_t - (x perpendicular to u_t), with x from the previous answer. An error of the direction
 * changes x by about that error over k: with k u_t = CONTACT_PUSH times the current accelerations a
 * few rounds of warm-started solves converge to round-off. If friction is so strong that no force
 * satisfies the laws (Painleve), w remains 0 however large k is: the status is ZW_NO_SOLUTION with
 * the name of the sliding contact.
 *
 * Rest. Steps close gaps at their ends; the speeds there are those of chords, and points that stuck
 * during a whole step separate and slide with speeds of about h times a centripetal acceleration.
 * So points that separate no faster than gravity could reverse within the world's timestep count as
 * not separating, and points that slide no faster than friction under that weight could stop within
 * a tenth of it (CONTACT_SLIPS) as not sliding.
 *
 * r = J' v is computed in contact_rate.c. */
#include "gauss/tolerances.h"
#include "system/contact/contact_now_inner.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gauss/contact/apart.h"
#include "model/pose.h"
#include "system/events/tangent.h"
#include "system/law.h"
#include "tree/sweeps.h"

/* ---- Creating and freeing -------------------------------------------------------------------- */

static void forget(contact_now *now)
{
    solver_free(now->solver);
    base_free(now->ignored);
    base_free(now->point);
    base_free(now->J);
    base_free(now->column);
    now->solver = NULL;
    now->ignored = NULL;
    now->point = NULL;
    now->J = NULL;
    now->column = NULL;
    now->count = 0;
}

void contact_now_free(contact_now *now)
{
    if (now) {
        forget(now);
        contact_work_free(&now->found);
        contact_work_free(&now->beside);
        base_free(now->sweeps);
        base_free(now->q);
        base_free(now->J_aside);
        base_free(now->column_aside);
        base_free(now->role);
        gauss_apart_free(now->apart);
        base_free(now);
    }
}

static contact_now *create(const zw_system *system)
{
    const contact_world *world = system->bodies->contact;
    size_t constraints = (size_t)system->model->constraint_count;
    contact_now *now = base_alloc(sizeof *now);
    if (!now) {
        return NULL;
    }
    now->wide = 2 * system->bodies->widest + 1;
    now->sweeps = base_alloc(((size_t)system->tree->at.count + 1) * sizeof(double));
    now->q = base_alloc(((size_t)system->nq + 1) * sizeof(double));
    now->J_aside = base_alloc(6 * (size_t)now->wide * sizeof(double));
    now->column_aside = base_alloc((size_t)now->wide * sizeof(int));
    now->role = base_alloc((constraints + 1) * sizeof(int));
    if (!now->sweeps || !now->q || !now->role || !now->J_aside || !now->column_aside ||
        contact_work_create(&now->found, world) != ZW_OK ||
        contact_work_create(&now->beside, world) != ZW_OK) {
        contact_now_free(now);
        return NULL;
    }
    return now;
}

/* ---- Touching points ------------------------------------------------------------------------ */

/* The largest distance of a centre of mass from the origin, plus the size of the largest geom. */
static double far_out(const zw_system *system, const double *sweeps)
{
    double most = 1;
    for (int k = 3; k < 3 * system->tree->bodies; k++) {
        most = fmax(most, fabs(sweeps[system->tree->at.com + k]));
    }
    return most;
}

double contact_now_largest(const contact_world *world)
{
    double most = 0;
    for (int i = 0; i < world->geom_count; i++) {
        most = isfinite(world->geom[i].radius) ? fmax(most, world->geom[i].radius) : most;
    }
    return most;
}

/* The size of the smaller geom. */
double contact_now_size(const contact_world *world, const contact_point *point)
{
    const contact_geom *geom = world->geom;
    return fmin(geom[point->key.geom[0]].radius, geom[point->key.geom[1]].radius);
}

void contact_now_speed(const contact_point *point, int columns, const int *column, const double *J,
                       const double *v, double *out)
{
    for (int r = 0; r < point->rows; r++) {
        out[r] = 0;
        for (int i = 0; i < columns; i++) {
            out[r] += J[r * columns + i] * v[column[i]];
        }
    }
}

/* Selects the points that touch, and computes their rows. */
static int take_points(const zw_system *system, contact_now *now, const double *sweeps,
                       const double *v)
{
    const contact_world *world = system->bodies->contact;
    size_t found = (size_t)now->found.count, wide = (size_t)now->wide;
    double least = CONTACT_FAR * now->extent;
    now->point = base_alloc((found + 1) * sizeof *now->point);
    now->J = base_alloc((6 * found * wide + 1) * sizeof *now->J);
    now->column = base_alloc((found * wide + 1) * sizeof *now->column);
    if (!now->point || !now->J || !now->column) {
        return 0;
    }
    for (size_t k = 0; k < found; k++) {
        const contact_point *from = &now->found.point[k];
        if (!(from->gap <= fmax(CONTACT_TOUCH * contact_now_size(world, from), least))) {
            continue;
        }
        now_point *it = &now->point[now->count];
        *it = (now_point){.point = *from,
                          .ignored = now->ignored[k],
                          .row = -1,
                          .J = now->J + 6 * wide * (size_t)now->count,
                          .column = now->column + wide * (size_t)now->count};
        it->columns = contact_rows(system, from, sweeps, it->column, it->J);
        contact_now_speed(from, it->columns, it->column, it->J, v, it->slip);
        contact_name(world, &from->key, it->name, sizeof it->name);
        now->count++;
    }
    return 1;
}

/* ---- Classification ------------------------------------------------------------------------- */

static void classify(now_point *it, double deep, double rest, double parting, double pull)
{
    const contact_point *point = &it->point;
    int rough = point->friction[0] > GAUSS_NO_FRICTION && !(point->gap < -deep);
    int rows = rough ? point->rows : 1;
    double size = 0;
    for (int r = 1; r < rows; r++) {
        size += point->friction[r - 1] * it->slip[r] * point->friction[r - 1] * it->slip[r];
    }
    size = sqrt(size);
    it->hits = !it->ignored && it->slip[0] < -parting;
    it->way =
        it->ignored || it->slip[0] > parting ? NOW_OPEN
        : rows == 1                          ? NOW_SMOOTH
        : size <= point->friction[0] * fmax(rest, CONTACT_SLIPS * parting * point->friction[0])
            ? NOW_HOLDS
            : NOW_SLIDES;
    it->size = CONTACT_PUSH * (1 + pull);
    it->off = INFINITY;
    for (int r = 1; r < rows && it->way == NOW_SLIDES; r++) {
        it->way_of[r] = it->slip[r] * point->friction[0] / size;
        it->size = fmax(it->size, CONTACT_PUSH * fabs(it->rate[r]));
    }
    for (int r = 1; r < rows && it->way == NOW_SLIDES; r++) {
        it->shift[r] = it->size * it->way_of[r] - it->rate[r];
    }
}

zw_status contact_now_find(const zw_system *system, zw_work *work, zw_state *state, int *count,
                           zw_error *error)
{
    const double *q = state_q(state), *v = state_v(state);
    contact_now *now = work->now ? work->now : create(system);
    *count = 0;
    if (!now) {
        return base_no_memory(error);
    }
    work->now = now;
    forget(now);
    now->extent = far_out(system, work->sweeps);
    double margin = fmax(CONTACT_TOUCH * contact_now_largest(system->bodies->contact),
                         CONTACT_FAR * now->extent);
    zw_status status = contact_find(system, &now->found, work->sweeps, 0, margin, error);
    if (status == ZW_OK) {
        status =
            contact_now_find_stuck(system, now, work->sweeps, CONTACT_OVERLAP * now->extent, error);
    }
    if (status == ZW_OK && !take_points(system, now, work->sweeps, v)) {
        status = base_no_memory(error);
    }
    status = status == ZW_OK ? contact_now_rates(system, now, work->sweeps, q, v, error) : status;
    const double *g = system->tree->gravity;
    double speed = 1, pull = sqrt(model_dot(g, g));
    for (int i = 0; i < system->n; i++) {
        speed = fmax(speed, 1 + fabs(v[i]));
    }
    for (int k = 0; k < now->count && status == ZW_OK; k++) {
        classify(&now->point[k], CONTACT_DEEP * now->extent, CONTACT_REST * speed,
                 fmax(CONTACT_REST * speed, pull * system->bodies->timestep), pull);
    }
    *count = status == ZW_OK ? now->count : 0;
    return status;
}

/* ---- The problem ---------------------------------------------------------------------------- */

/* Limits without a gap may push, whatever was decided about them without contacts. */
static zw_status set_roles(const zw_system *system, zw_work *work, zw_state *state, zw_error *error)
{
    const zw_model *model = system->model;
    const double *q = state_q(state), *v = state_v(state), *mode = state_mode(state);
    zw_status status =
        system_evaluate(system, work, PART_POSITION, state->t, q, v, NULL, NULL, error);
    if (status == ZW_OK) {
        status = system_evaluate(system, work, PART_VELOCITY, state->t, q, v, NULL, NULL, error);
    }
    for (int c = 0; c < model->constraint_count && status == ZW_OK; c++) {
        int r = system->first_row[c], *role = &work->now->role[c];
        int rough = model->constraint[c].friction != EXPR_NONE;
        if (law_is_loose(system, c)) {
            *role = SOLVER_ABSENT;
        } else if (mode[c] == SYSTEM_STUCK) {
            *role = SOLVER_EQUAL_HELD;
        } else if (model->constraint[c].relation != MODEL_AT_LEAST) {
            *role = SOLVER_EQUAL;
        } else {
            int touches = !rough && work->out[PART_POSITION][r] <= CONTACT_FAR &&
                          work->out[PART_VELOCITY][r] <= CONTACT_REST;
            *role = mode[c] != SYSTEM_OPEN || touches ? SOLVER_AT_LEAST : SOLVER_ABSENT;
        }
    }
    return status;
}

static solver_tail tail_of(const contact_now *now)
{
    solver_tail tail = {0};
    for (int k = 0; k < now->count; k++) {
        const now_point *it = &now->point[k];
        int rows = it->way == NOW_OPEN ? 0 : it->way == NOW_SMOOTH ? 1 : it->point.rows;
        tail.blocks += rows > 0;
        tail.rows += rows;
        tail.entries += rows * it->columns;
    }
    return tail;
}

static void add_point(system_solver *solver, now_point *it)
{
    int rows = it->way == NOW_SMOOTH ? 1 : it->point.rows;
    const zw_block block = contact_block(&it->point, rows, it->name);
    solver_add_block(solver, &block);
    it->row = solver->rows + solver->tail;
    for (int r = 0; r < rows; r++) {
        solver_add_row(solver, it->columns, it->column, it->J + r * it->columns,
                       -it->rate[r] - it->shift[r]);
    }
}

static zw_status make_solver(const zw_system *system, contact_now *now, zw_error *error)
{
    enum { EFFORT = 150 };
    solver_tail tail = tail_of(now);
    solver_free(now->solver);
    now->solver = solver_create_with(system, now->role, NULL, 0, &tail, error);
    for (int k = 0; k < now->count && now->solver; k++) {
        if (now->point[k].way != NOW_OPEN) {
            add_point(now->solver, &now->point[k]);
        }
    }
    if (now->solver && system->sparse && !now->apart) {
        now->apart = gauss_apart_create(); /* without it, solved as one problem */
    }
    if (now->solver) {
        now->solver->options.effort = EFFORT;
        now->solver->apart = now->apart;
    }
    return now->solver ? ZW_OK : ZW_NO_MEMORY;
}

zw_status contact_now_begin(const zw_system *system, zw_work *work, zw_state *state,
                            system_solver **to, zw_error *error)
{
    contact_now *now = work->now;
    zw_status status = now->solver ? ZW_OK : set_roles(system, work, state, error);
    status = status == ZW_OK ? make_solver(system, now, error) : status;
    *to = now->solver;
    return status;
}

const char *contact_now_jammed(const contact_now *now)
{
    return now ? now->jammed : NULL;
}

/* x . y in the metric of the ellipsoid, over the tangential rows. */
static double across(const contact_point *point, const double *x, const double *y)
{
    double sum = 0;
    for (int r = 1; r < point->rows; r++) {
        sum += point->friction[r - 1] * point->friction[r - 1] * x[r] * y[r];
    }
    return sum;
}

/* Changes the shift of a sliding point so that its residual gets the required direction, unless it
 * has it already, up to round-off or the kernel's error, which further rounds do not reduce. k
 * increases where it nearly stops, and where the direction does not converge: points that share a
 * load in more ways than one, and slide in different directions, get other shares in each round.
 * Returns the relative error of the direction; 0: it is right; 1: it did not slide at all. */
static double turn(const contact_now *now, now_point *it)
{
    const double most = 1e15;
    const contact_point *point = &it->point;
    const double *w = now->solver->answer.residual + it->row, *way = it->way_of;
    double x[6] = {0}, off[6] = {0}, unit = across(point, way, way);
    double along = across(point, w, way) / unit;
    for (int r = 1; r < point->rows; r++) {
        x[r] = w[r] - it->shift[r];
        off[r] = w[r] - along * way[r];
    }
    double back = across(point, x, way) / unit;
    double far = sqrt(across(point, off, off) / unit) / it->size, before = it->off;
    it->off = far;
    int stops = !(along > 0.1 * it->size), stalls = !stops && far >= 0.5 * before;
    if (stalls && far <= CONTACT_LEFT) {
        return 0;
    }
    if ((stops || stalls) && it->size < most) {
        it->size *= stops ? 1000 : 10;
    }
    for (int r = 1; r < point->rows; r++) {
        it->shift[r] = it->size * way[r] - (x[r] - back * way[r]);
        now->solver->b[it->row + r] = -it->rate[r] - it->shift[r];
    }
    return along > 1e-6 * it->size ? far : 1;
}

double contact_now_turns(contact_now *now)
{
    double most = 0, worst = 0;
    now->jammed = NULL;
    for (int k = 0; k < now->count; k++) {
        const now_point *it = &now->point[k];
        most = it->row >= 0 ? fmax(most, now->solver->answer.lambda[it->row]) : most;
    }
    for (int k = 0; k < now->count; k++) {
        now_point *it = &now->point[k];
        if (it->way == NOW_SLIDES && now->solver->answer.lambda[it->row] > 1e-12 * most) {
            double off = turn(now, it);
            now->jammed = off >= 1 ? it->name : now->jammed;
            worst = fmax(worst, off);
        } else if (it->way == NOW_SLIDES &&
                   now->solver->answer.residual[it->row] < -1e-6 * (1 + fabs(it->rate[0]))) {
            now->jammed = it->name; /* it penetrates, which such a large shift concealed */
            worst = 1;
        }
    }
    return worst;
}

/* The multiplier of dry friction assumed to hold, or 0. */
static double held(const system_solver *solver, int c)
{
    for (int i = 0; i < solver->rows; i++) {
        if (solver->row_of[i] == -1 && solver->tangent_of[i] == 4 * c) {
            return solver->answer.lambda[i];
        }
    }
    return 0;
}

int contact_now_gives(const zw_system *system, zw_work *work)
{
    contact_now *now = work->now;
    int gives = 0;
    for (int c = 0; c < system->model->constraint_count; c++) {
        double limit = work->out[PART_TERMS][system->at.mu + c];
        int dry = system->first_row[c] == system->first_row[c + 1];
        double pull = dry && now->role[c] == SOLVER_EQUAL_HELD ? held(now->solver, c) : 0;
        if (fabs(pull) > limit * (1 + 1e-9)) {
            now->role[c] = SOLVER_EQUAL;
            work->hint[3 * c] = pull > 0 ? -1 : 1;
            gives++;
        }
    }
    return gives;
}

/* ---- The answer ----------------------------------------------------------------------------- */

/* Does it begin to slide, or continue sliding? */
static int slides(const now_point *it, const zw_motion *answer, double pull)
{
    double sum = 0;
    for (int r = 1; r < it->point.rows && r < 3 && it->way == NOW_HOLDS; r++) {
        sum += answer->residual[it->row + r] * answer->residual[it->row + r];
    }
    return it->way == NOW_SLIDES ? it->slip[1] * it->slip[1] + it->slip[2] * it->slip[2] > 0
                                 : sqrt(sum) > 1e-7 * pull;
}

static void show(const now_point *it, const zw_motion *answer, double pull, double most,
                 zw_contact *to)
{
    memcpy(to->slip, it->slip, sizeof to->slip);
    memcpy(to->force, it->force, sizeof to->force);
    to->state = it->hits                         ? ZW_TOUCH_HIT
                : !(it->force[0] > 1e-12 * most) ? ZW_TOUCH_OPEN
                : slides(it, answer, pull)       ? ZW_TOUCH_SLIDE
                                                 : ZW_TOUCH_STICK;
}

zw_status contact_now_list(const zw_system *system, zw_work *work, const zw_state *state,
                           zw_error *error)
{
    contact_now *now = work->now;
    const double *g = system->tree->gravity;
    double most = 0, pull = sqrt(model_dot(g, g));
    contact_list *list = contact_list_begin(work, now->count);
    if (!list) {
        return base_no_memory(error);
    }
    for (int i = 0; i < system->n; i++) {
        pull = fmax(pull, fabs(work->a[i]));
    }
    for (int k = 0; k < now->count; k++) {
        now_point *it = &now->point[k];
        const double *lambda = it->row >= 0 ? now->solver->answer.lambda + it->row : NULL;
        for (int r = 0; r < it->point.rows && lambda; r++) {
            it->force[r] = r == 0 || it->way != NOW_SMOOTH ? lambda[r] : 0;
        }
        most = fmax(most, it->force[0]);
    }
    for (int k = 0; k < now->count; k++) {
        const now_point *it = &now->point[k];
        show(it, &now->solver->answer, pull, most, contact_list_add(list, system, &it->point));
    }
    list->of = state_digest(state, 1);
    list->acts = 1;
    return ZW_OK;
}

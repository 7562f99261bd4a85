/* The principle as a problem: of all a with A a = b the nearest to a_free in the metric M. */
#include <stdlib.h>
#include <string.h>

#include "world.h"

static double *room_for(size_t count)
{
    studio_world *w = &studio;
    if (count > w->problem_room) {
        double *wider = realloc(w->problem, count * sizeof *wider);
        if (wider == NULL) {
            studio_fail(ZW_NO_MEMORY, "out of memory");
            return NULL;
        }
        w->problem = wider;
        w->problem_room = count;
    }
    return w->problem;
}

/* One-sided constraints that are open ask for nothing: their rows become 0. */
static int drop_open(size_t n, double *A, double *b)
{
    studio_world *w = &studio;
    int count = zw_count(w->system, ZW_KIND_CONSTRAINT);
    zw_constraint *list = calloc((size_t)count + 1, sizeof *list);
    int ok =
        list != NULL && zw_constraints_look(w->system, w->state, w->work, list, &w->error) == ZW_OK;
    for (int i = 0; ok && i < count; i++) {
        size_t first = (size_t)list[i].first_row, rows = (size_t)list[i].rows;
        if (list[i].kind == ZW_ONE_SIDED && list[i].mode == ZW_MODE_OPEN) {
            memset(A + first * n, 0, rows * n * sizeof *A);
            memset(b + first, 0, rows * sizeof *b);
        }
    }
    free(list);
    return ok;
}

/* What friction at contacts is in the speeds: sum of J' t over them, t being the tangential force
 * on the second body and -t that on the first. J is room for [3][n]. */
static int add_friction(size_t n, double *J, double *friction)
{
    studio_world *w = &studio;
    for (int i = 0; w->number != NULL && i < 2 * (int)w->number[9]; i++) {
        const zw_contact *c = &w->contact[i / 2];
        const zw_frame_motion *body = &w->motion[c->body[i % 2]];
        zw_frame frame = {.body = c->body[i % 2], .quat = {1, 0, 0, 0}};
        for (int k = 0; k < 9; k++) { /* the point in the frame of its body */
            frame.pos[k % 3] += body->matrix[k] * (c->pos[k / 3] - body->pos[k / 3]);
        }
        if (zw_frame_jacobian(w->probe, w->state, &frame, J, NULL, &w->error) != ZW_OK) {
            return 0;
        }
        for (size_t k = 0; k < 3 * n; k++) {
            double t = c->rows < 3
                           ? 0
                           : c->force[1] * c->frame[3 + k / n] + c->force[2] * c->frame[6 + k / n];
            friction[k % n] += (i % 2 ? t : -t) * J[k];
        }
    }
    return 1;
}

const double *studio_problem(void)
{
    studio_world *w = &studio;
    size_t n = (size_t)zw_count(w->system, ZW_KIND_SPEED),
           m = (size_t)zw_count(w->system, ZW_KIND_ROW);
    double *problem = room_for(2 + n * n + m * n + m + 4 * n);
    if (problem == NULL) {
        return NULL;
    }
    double *M = problem + 2, *A = M + n * n, *b = A + m * n, *J = b + m, *friction = J + 3 * n;
    zw_frame frame;
    problem[0] = (double)n;
    problem[1] = (double)m;
    memset(J, 0, 4 * n * sizeof *J);
    if (zw_mass(w->probe, w->state, M, &w->error) != ZW_OK ||
        (m > 0 && (zw_rows_look(w->probe, w->state, A, b, NULL, NULL, &w->error) != ZW_OK ||
                   !drop_open(n, A, b)))) {
        return NULL;
    }
    if (!add_friction(n, J, friction)) {
        return NULL;
    }
    memset(J, 0, 3 * n * sizeof *J);
    if (studio_selected_frame(&frame) &&
        zw_frame_jacobian(w->probe, w->state, &frame, J, NULL, &w->error) != ZW_OK) {
        return NULL;
    }
    return problem;
}

const double *studio_unexplained(const double *given)
{
    studio_world *w = &studio;
    int n = zw_count(w->system, ZW_KIND_SPEED);
    zw_view a = zw_field(w->system, w->state, w->work, ZW_FIELD_A);
    double *force = room_for(2 * (size_t)n);
    if (force == NULL || a.count != n) {
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        force[n + i] = given[i] - a.data[i];
    }
    return zw_mass_times(w->probe, w->state, force + n, force, &w->error) == ZW_OK ? force : NULL;
}

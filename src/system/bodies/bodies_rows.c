/* The rows of constraints; the form they share is at the head of bodies.h.
 *
 * p, v, a: a frame's origin, its velocity and acceleration; w, alpha: angular ones; x, y, z its
 * axes; u = p2 - p1. All along the axes of the world.
 *
 *     connect      phi = p1 - p2
 *     distance     phi = |u| - d,  e = u/|u|:       psi = e . (v2 - v1)
 *                  d psi/dt = e . (a2 - a1) + (|v2 - v1|^2 - psi^2)/|u|
 *     hinge        phi = z1 . x2:                   psi = (w1 - w2) . (z1 x x2); and with y2
 *     slide        phi = x1 . u:                    psi = w1 . (x1 x u) + x1 . (v2 - v1); and y1
 *     orientation  (s, e) = q1* q2 as quaternion, phi = 2 e; with w = R1' (w2 - w1) along frame 1,
 *                  (s, e)' = 1/2 (0, w) (s, e):     psi = s w + w x e,    s' = -w . e/2
 *                  w' = R1' (alpha2 - alpha1 - w1 x (w2 - w1)) */
#include <math.h>
#include <string.h>

#include "math/dense/dense.h"
#include "math/elementary.h"
#include "model/pose.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

static void difference(const double *x, const double *y, double *d)
{
    for (int k = 0; k < 3; k++) {
        d[k] = x[k] - y[k];
    }
}

static void put(double *to, double factor, const double *x)
{
    for (int k = 0; k < 3; k++) {
        to[k] = factor * x[k];
    }
}

bodies_moving bodies_look(const zw_system *system, const zw_work *work, const bodies_frame *frame)
{
    const tree_mechanism *tree = system->tree;
    const double *sweeps = work->sweeps, *R = sweeps + tree->at.R + 9 * frame->body;
    bodies_moving m;
    double local[9];
    tree_point(tree, frame->body, frame->pos, sweeps, m.place);
    tree_point_velocity(tree, frame->body, m.place, sweeps, m.V);
    tree_point_acceleration(tree, frame->body, m.place, sweeps, m.A);
    model_quat_matrix(frame->quat, local);
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) {
            m.axis[j][k] =
                R[3 * k] * local[j] + R[3 * k + 1] * local[3 + j] + R[3 * k + 2] * local[6 + j];
        }
    }
    return m;
}

static void connect_rows(const bodies_moving f[2], bodies_row *list)
{
    for (int k = 0; k < 3; k++) {
        list[k] = (bodies_row){.phi = f[0].place[k] - f[1].place[k]};
        list[k].c[0][3 + k] = 1;
        list[k].c[1][3 + k] = -1;
    }
}

static void distance_row(const bodies_moving f[2], double wanted, bodies_row *r)
{
    double u[3], v[3], along = 0, square = 0;
    difference(f[1].place, f[0].place, u);
    difference(f[1].V + 3, f[0].V + 3, v);
    double length = sqrt(model_dot(u, u));
    *r = (bodies_row){.phi = length - wanted};
    for (int k = 0; k < 3; k++) {
        double e = u[k] / length;
        r->c[0][3 + k] = -e;
        r->c[1][3 + k] = e;
        along += e * v[k];
        square += v[k] * v[k];
    }
    r->rest = (square - along * along) / length;
}

/* z1 . x2 = 0 */
static void square_row(const bodies_moving f[2], const double *z1, const double *x2, bodies_row *r)
{
    double across[3], w[3], turn1[3], turn2[3], part1[3], part2[3];
    model_cross(across, z1, x2);
    difference(f[0].V, f[1].V, w);
    *r = (bodies_row){.phi = model_dot(z1, x2)};
    put(r->c[0], 1, across);
    put(r->c[1], -1, across);
    model_cross(turn1, f[0].V, z1);
    model_cross(turn2, f[1].V, x2);
    model_cross(part1, turn1, x2);
    model_cross(part2, z1, turn2);
    r->rest = model_dot(w, part1) + model_dot(w, part2);
}

/* x1 . (p2 - p1) = 0 */
static void beside_row(const bodies_moving f[2], const double *x1, bodies_row *r)
{
    double u[3], v[3], across[3], turn[3], part1[3], part2[3];
    difference(f[1].place, f[0].place, u);
    difference(f[1].V + 3, f[0].V + 3, v);
    model_cross(across, x1, u);
    *r = (bodies_row){.phi = model_dot(x1, u)};
    put(r->c[0], 1, across);
    put(r->c[0] + 3, -1, x1);
    put(r->c[1] + 3, 1, x1);
    model_cross(turn, f[0].V, x1);
    model_cross(part1, turn, u);
    model_cross(part2, x1, v);
    r->rest = model_dot(f[0].V, part1) + model_dot(f[0].V, part2) + model_dot(turn, v);
}

/* q1* q2 as (s, e), with s >= 0. */
static double relative(const bodies_moving f[2], double e[3])
{
    double R[9], quat[4];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] = model_dot(f[0].axis[i], f[1].axis[j]);
        }
    }
    model_quat_of_matrix(quat, R);
    for (int k = 0; k < 3; k++) {
        e[k] = quat[0] < 0 ? -quat[k + 1] : quat[k + 1];
    }
    return fabs(quat[0]);
}

static void orientation_rows(const bodies_moving f[2], bodies_row *list)
{
    double e[3], w_world[3], w[3], drag[3], drag1[3], e_rate[3], part[3], swing[3];
    double s = relative(f, e);
    difference(f[1].V, f[0].V, w_world);
    model_cross(drag, f[0].V, w_world);
    for (int k = 0; k < 3; k++) {
        w[k] = model_dot(f[0].axis[k], w_world);
        drag1[k] = -model_dot(f[0].axis[k], drag); /* w' for alpha1 = alpha2 */
    }
    model_cross(part, w, e);
    for (int k = 0; k < 3; k++) {
        e_rate[k] = 0.5 * (s * w[k] + part[k]);
    }
    model_cross(part, w, e_rate);
    model_cross(swing, drag1, e);
    double s_rate = -0.5 * model_dot(w, e);
    for (int i = 0; i < 3; i++) {
        /* psi_i = sum_j G_ij w_j, G = s 1 - [e] x */
        const double G[3][3] = {{s, e[2], -e[1]}, {-e[2], s, e[0]}, {e[1], -e[0], s}};
        list[i] = (bodies_row){.phi = 2 * e[i],
                               .rest = s_rate * w[i] + part[i] + s * drag1[i] + swing[i]};
        for (int k = 0; k < 3; k++) {
            double c =
                G[i][0] * f[0].axis[0][k] + G[i][1] * f[0].axis[1][k] + G[i][2] * f[0].axis[2][k];
            list[i].c[0][k] = -c;
            list[i].c[1][k] = c;
        }
    }
}

static void frame_rows(const bodies_constraint *constraint, const bodies_moving f[2],
                       bodies_row *list)
{
    switch (constraint->kind) {
    case CONSTRAINT_CONNECT:
        connect_rows(f, list);
        break;
    case CONSTRAINT_WELD:
        connect_rows(f, list);
        orientation_rows(f, list + 3);
        break;
    case CONSTRAINT_HINGE:
        connect_rows(f, list);
        square_row(f, f[0].axis[2], f[1].axis[0], list + 3);
        square_row(f, f[0].axis[2], f[1].axis[1], list + 4);
        break;
    case CONSTRAINT_SLIDE:
        orientation_rows(f, list);
        beside_row(f, f[0].axis[0], list + 3);
        beside_row(f, f[0].axis[1], list + 4);
        break;
    case CONSTRAINT_DISTANCE:
        distance_row(f, constraint->limit, list);
        break;
    default:
        bodies_roll_rows(constraint, f, list);
        break;
    }
}

static double times(const double *c, const double *x)
{
    return model_dot(c, x) + model_dot(c + 3, x + 3);
}

static double sum_of(const double *x)
{
    return fabs(x[0]) + fabs(x[1]) + fabs(x[2]) + fabs(x[3]) + fabs(x[4]) + fabs(x[5]);
}

/* c . J_d. A component along c that is only round-off counts as zero. */
double bodies_entry(const double *c, const double *J)
{
    double sum = times(c, J);
    return fabs(sum) > 1e-15 * sum_of(c) * sum_of(J) ? sum : 0;
}

/* Empty rows. A planar loop closed in space has a row normal to its plane, "the same y", that is
 * only round-off. On a base that tips and turns the three rows of its point have rank two and none
 * is empty: after a roll by 1e-6, y is 1e-6 times z, and the rest is again round-off, 1e-10 of its
 * length. The kernel takes rows as they are and would rely on it. Here the terms are known: row i
 * has round-off of 1e-16 sigma_i, sigma_i being the length that it would have if no terms of c .
 * J_d cancelled. So the rows of a constraint are orthogonalised, the one with the largest remainder
 * in units of its sigma first, and a row that is SHORT and whose remainder is NOTHING is dropped,
 * as the others imply it (not for the soft law, where each row has its own compliance). (For a row
 * that is not short the kernel itself detects that the remainder is round-off.) */
static const double SHORT = 0.03;
static const double NOTHING = 1e-11;

/* An upper bound of |c . J|. */
static double size_of(const double *c, const double *J)
{
    double turn = fabs(J[0]) + fabs(J[1]) + fabs(J[2]),
           shift = fabs(J[3]) + fabs(J[4]) + fabs(J[5]);
    return turn * (fabs(c[0]) + fabs(c[1]) + fabs(c[2])) +
           shift * (fabs(c[3]) + fabs(c[4]) + fabs(c[5]));
}

/* Empties such a row. psi and b are set to zero unless they exceed round-off: then there is a
 * contradiction, which is kept. `speed` is that of all joints on the paths to the frames, which may
 * be at rest while the joints move against each other. With n the vanishing combination of rows, n
 * . psi = 0 always, and so n . (d psi/dt) = -n' . psi: off the manifold, or by round-off of psi, b
 * has this size. */
static void empty(const zw_system *system, const bodies_constraint *constraint, int i, double b,
                  const bodies_moving f[2], const bodies_row *it, double speed, bodies_rows rows)
{
    int r = constraint->row + i, start = system->A_start[r];
    double size = sum_of(it->c[0]) + sum_of(it->c[1]);
    double most = sum_of(f[0].A) + sum_of(f[1].A) + speed * speed;
    double off = 0;
    for (int k = 0; k < constraint->rows; k++) {
        off += fabs(rows.psi[constraint->row + k]);
    }
    memset(rows.A + start, 0, (size_t)(system->A_start[r + 1] - start) * sizeof(double));
    rows.psi[r] = fabs(rows.psi[r]) > 1e-13 * size * speed ? rows.psi[r] : 0;
    rows.b[r] = fabs(b) > 1e-13 * size * most + 10 * speed * off ? b : 0;
}

/* sigma: squares; rest: scratch for the rows. */
static void clear_empty(const zw_system *system, const bodies_constraint *constraint,
                        const double *sigma, double *rest, const bodies_moving f[2],
                        const bodies_row *list, double speed, bodies_rows rows)
{
    int first = constraint->row, count = system->A_start[first + 1] - system->A_start[first];
    int open[6] = {1, 1, 1, 1, 1, 1};
    double b[6], length[6];
    memcpy(rest, rows.A + system->A_start[first],
           (size_t)count * (size_t)constraint->rows * sizeof *rest);
    memcpy(b, rows.b + first, (size_t)constraint->rows * sizeof *b);
    for (int taken = 0; taken < constraint->rows; taken++) {
        int best = -1;
        double most = NOTHING * NOTHING, square = 0;
        for (int i = 0; i < constraint->rows; i++) {
            double own = open[i] ? dense_dot(count, rest + i * count, rest + i * count) : 0;
            length[i] = taken == 0 ? own : length[i];
            if (own > most * sigma[i]) {
                best = i;
                most = own / sigma[i];
                square = own;
            }
        }
        for (int i = 0; i < constraint->rows && best >= 0; i++) {
            if (open[i] && i != best) {
                double share = dense_dot(count, rest + i * count, rest + best * count) / square;
                dense_axpy(count, -share, rest + best * count, rest + i * count);
                b[i] -= share * b[best];
            }
        }
        if (best < 0) {
            break;
        }
        open[best] = 0;
    }
    for (int i = 0; i < constraint->rows; i++) {
        if (open[i] && length[i] < SHORT * SHORT * sigma[i]) {
            empty(system, constraint, i, b[i], f, &list[i], speed, rows);
        }
    }
}

static void fill_frames(const zw_system *system, const zw_work *work,
                        const bodies_constraint *constraint, const double *v, bodies_rows rows)
{
    bodies_moving f[2];
    bodies_row list[6];
    const int *column = system->A_column + system->A_start[constraint->row];
    double speed = 0, sigma[6] = {0};
    for (int k = 0; k < 2; k++) {
        f[k] = bodies_look(system, work, &constraint->frame[k]);
    }
    frame_rows(constraint, f, list);
    for (int i = 0; i < constraint->rows; i++) {
        int r = constraint->row + i;
        rows.phi[r] = list[i].phi;
        rows.psi[r] = times(list[i].c[0], f[0].V) + times(list[i].c[1], f[1].V);
        rows.b[r] = -(times(list[i].c[0], f[0].A) + times(list[i].c[1], f[1].A) + list[i].rest);
        int start = system->A_start[r];
        memset(rows.A + start, 0, (size_t)(system->A_start[r + 1] - start) * sizeof(double));
    }
    for (int k = 0; k < 2; k++) {
        tree_jacobian(system->tree, constraint->frame[k].body, f[k].place, work->sweeps,
                      work->jacobian);
        for (int d = 0; d < constraint->chain[k]; d++) {
            speed += sum_of(work->jacobian + 6 * d) * fabs(v[column[constraint->column[k][d]]]);
        }
        for (int i = 0; i < constraint->rows; i++) {
            double *A = rows.A + system->A_start[constraint->row + i];
            for (int d = 0; d < constraint->chain[k]; d++) {
                const double *c = list[i].c[k], *J = work->jacobian + 6 * d;
                double size = size_of(c, J);
                A[constraint->column[k][d]] += times(c, J);
                sigma[i] += size * size;
            }
        }
    }
    if (!rows.all) {
        clear_empty(system, constraint, sigma, work->jacobian, f, list, speed, rows);
    }
}

/* L1 - o1 = poly(L2 - o2), or a limit. */
static void fill_lengths(const zw_system *system, const zw_work *work,
                         const bodies_constraint *constraint, const double *q, const double *v,
                         bodies_rows rows)
{
    const struct system_bodies *bodies = system->bodies;
    const double *coef = bodies_coef_at(system, work, q);
    int r = constraint->row, first = constraint->length[0], second = constraint->length[1];
    double *A = rows.A + system->A_start[r], sign = constraint->kind == CONSTRAINT_UPPER ? -1 : 1;
    double value = 0, slope = 0, curve = 0, x = 0, rate = 0, from = constraint->limit;
    if (constraint->kind == CONSTRAINT_LENGTH) {
        from = bodies->length[first].origin;
        x = second < 0 ? 0
                       : bodies_length_of(system, work, second, q) - bodies->length[second].origin;
        rate = second < 0 ? 0 : bodies_rate_of(system, work, second, q, v);
        for (int k = 4; k >= 0; k--) { /* Horner, with both derivatives */
            curve = curve * x + 2 * slope;
            slope = slope * x + value;
            value = value * x + constraint->poly[k];
        }
    }
    double bends = curve * rate * rate - bodies_length_bias(system, work, first);
    bends += second < 0 ? 0 : slope * bodies_length_bias(system, work, second);
    rows.phi[r] = sign * (bodies_length_of(system, work, first, q) - from - value);
    rows.psi[r] = sign * (bodies_rate_of(system, work, first, q, v) - slope * rate);
    rows.b[r] = sign * bends;
    memset(A, 0, (size_t)(system->A_start[r + 1] - system->A_start[r]) * sizeof *A);
    for (int k = 0; k < 2; k++) {
        double factor = k == 0 ? sign : -sign * slope;
        for (int i = 0; i < constraint->chain[k]; i++) {
            const bodies_length *length = &bodies->length[constraint->length[k]];
            A[constraint->column[k][i]] += factor * coef[length->first + i];
        }
    }
}

/* The angle of a ball joint, theta = 2 atan(|e|/|s|) of its quaternion (s, e), is at most `limit`.
 * With n = +-e/|e| (the sign of s) and w along the body: theta' = n . w; from (s, e)' = 1/2 (s, e)
 * (0, w), n' . w = 1/2 cot(theta/2) (|w|^2 - (n . w)^2). At theta = 0 n is not defined, and not
 * needed, as the limit is far. */
static void fill_ball(const zw_system *system, const bodies_constraint *constraint, const double *q,
                      const double *v, bodies_rows rows)
{
    const double *quat = q + constraint->q, *w = v + constraint->dof;
    double n[3] = {0}, *A = rows.A + system->A_start[constraint->row];
    double size = sqrt(model_dot(quat + 1, quat + 1)), s = fabs(quat[0]);
    int r = constraint->row, away = size > 1e-9 * s;
    for (int k = 0; k < 3 && away; k++) {
        n[k] = (quat[0] < 0 ? -quat[k + 1] : quat[k + 1]) / size;
    }
    double along = model_dot(n, w), across = model_dot(w, w) - along * along;
    rows.phi[r] = constraint->limit - 2 * math_atan2(size, s);
    rows.psi[r] = -along;
    rows.b[r] = away ? 0.5 * (s / size) * across : 0;
    for (int k = 0; k < 3; k++) {
        A[constraint->column[0][k]] = -n[k];
    }
}

void bodies_constraint_wrench(const zw_system *system, const zw_work *work,
                              const bodies_constraint *constraint, const double *push,
                              double place[2][3], double wrench[2][6])
{
    bodies_moving f[2];
    bodies_row list[6];
    for (int k = 0; k < 2; k++) {
        f[k] = bodies_look(system, work, &constraint->frame[k]);
        memcpy(place[k], f[k].place, sizeof f[k].place);
        memset(wrench[k], 0, 6 * sizeof *wrench[k]);
    }
    frame_rows(constraint, f, list);
    for (int i = 0; i < constraint->rows; i++) {
        for (int j = 0; j < 6; j++) {
            wrench[0][j] += push[i] * list[i].c[0][j];
            wrench[1][j] += push[i] * list[i].c[1][j];
        }
    }
}

/* A limit of a single coordinate, as most are: the same as fill_lengths. */
static void fill_limit(const zw_system *system, const bodies_constraint *constraint, int term,
                       const double *q, const double *v, bodies_rows rows)
{
    const bodies_term *it = &system->bodies->term[term];
    double sign = constraint->kind == CONSTRAINT_UPPER ? -1 : 1, coef = system->bodies->coef[term];
    int r = constraint->row;
    rows.phi[r] = sign * (coef * q[it->q] - constraint->limit);
    rows.psi[r] = sign * (coef * v[it->dof]);
    rows.b[r] = 0;
    rows.A[system->A_start[r] + constraint->column[0][0]] = sign * coef;
}

void bodies_fill_constraint(const zw_system *system, const zw_work *work,
                            const bodies_constraint *constraint, const double *q, const double *v,
                            bodies_rows rows)
{
    if (constraint->kind == CONSTRAINT_LOWER || constraint->kind == CONSTRAINT_UPPER) {
        const bodies_length *length = &system->bodies->length[constraint->length[0]];
        if (length->count == 1 && length->path < 0 &&
            system->A_start[constraint->row + 1] - system->A_start[constraint->row] == 1) {
            fill_limit(system, constraint, length->first, q, v, rows);
            return;
        }
    }
    if (constraint->kind == CONSTRAINT_BALL) {
        fill_ball(system, constraint, q, v, rows);
    } else if (constraint->kind >= CONSTRAINT_LENGTH) {
        fill_lengths(system, work, constraint, q, v, rows);
    } else {
        fill_frames(system, work, constraint, v, rows);
    }
}

void bodies_fill_rows(const zw_system *system, const zw_work *work, const double *q,
                      const double *v, bodies_rows rows)
{
    for (int c = 0; c < system->bodies->constraint_count; c++) {
        bodies_fill_constraint(system, work, &system->bodies->constraint[c], q, v, rows);
    }
}

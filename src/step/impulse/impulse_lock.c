/* Loops that cannot move.
 *
 * Rods that are meant to be redundant, but differ in length by the digits of a drawing, close loops
 * that are rigid although their rows A have a direction n of speeds, that in which the loop was
 * meant to move, with A n = 0, or nearly (1e-9 of their size in the neck of one robot): along it
 * the rows are violated at second order, y . phi = c x^2 with y' A = 0. A force f along n is
 * balanced only by multipliers f/(2 c x), x being round-off of positions, of rods that pull against
 * each other; their own round-off is a force as large as f, steps cannot be solved, and gain
 * energy.
 *
 * Where nothing but the pose itself is on the rows, each coordinate of the loop is where it is, and
 * rows that say so may replace others: that is what n needs. y' A = 0 says that a row in which y is
 * not 0 depends on the others at first order. The one in which it is largest is replaced by
 * k (q_d - home_d) = 0, d its coordinate in which n is largest, k the largest length of the rows,
 * home the pose in which the loop closes. What the rows admit is the same, and the multipliers are
 * as large as the forces.
 *
 * Loops are found in the reference pose, whichever state a stepper begins with: sets of coordinates
 * that two-sided rows connect. One is locked if exactly one direction has |A n| below RANK of the
 * rows, and if they cannot be satisfied at a distance FAR along n, to either side: the least
 * squares that are left there are along y. A step uses the other rows if A n is as small at its
 * start, which it is not in other poses in which the loop closes. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/tolerances.h"
#include "math/dense/dense.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

enum { MOST = 64 };   /* coordinates of a loop */
enum { ROUNDS = 20 }; /* of Newton's method: a pose near the reference pose needs five */
#define CLOSED (10 * IMPULSE_PLACE) /* m, rad: the loop closes as well as a step asks for */
#define FAR 0.1                     /* rad, m: along n */

struct impulse_lock {
    int row, entry, q; /* of the system; of A; the coordinate */
    double home, size;
    double *n; /* [speeds] the direction; 0: not in the loop */
    int on;    /* in the current step */
};

/* The two-sided rows of bodies, which depend on q alone. */
static int holds(const zw_system *system, int r)
{
    int bodies = bodies_first_constraint(system->bodies);
    return r >= system->first_row[bodies] && system->row_kind[r] != SYSTEM_CONTACT &&
           system->row_kind[r] != SYSTEM_VELOCITY;
}

/* Speeds that move both ends of a constraint alike are in the pattern of its rows, but not in its
 * loop: marks them in `moves` [n] with 0. */
static void find_moving(const zw_system *system, int c, int *moves)
{
    const bodies_constraint *it = &system->bodies->constraint[c];
    const int *column = system->A_column + system->A_start[it->row];
    memset(moves, 0, (size_t)system->n * sizeof *moves);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < it->chain[k]; i++) {
            moves[column[it->column[k][i]]] += it->kind < CONSTRAINT_LENGTH ? 1 + k : 1;
        }
    }
    for (int i = 0; i < system->n; i++) { /* both ends: 1 + 2 */
        moves[i] = moves[i] > 0 && !(it->kind < CONSTRAINT_LENGTH && moves[i] == 3);
    }
}

static void join(const zw_system *system, int a, int b, int *label)
{
    for (int i = 0; i < system->n && a != b; i++) {
        label[i] = label[i] == a || label[i] == b ? (a < b ? a : b) : label[i];
    }
}

typedef struct loops {
    int *label;   /* [n] the first speed of the loop of each, */
    int *of;      /* [m] and the loop of each row; -1: none */
    int *scratch; /* [n] */
} loops;

static void find_loops(const zw_system *system, const loops *in)
{
    int *label = in->label, *of = in->of, *moves = in->scratch;
    for (int i = 0; i < system->n; i++) {
        label[i] = i;
    }
    for (int r = 0; r < system->m; r++) {
        of[r] = -1;
    }
    for (int c = 0; c < system->bodies->constraint_count; c++) {
        const bodies_constraint *it = &system->bodies->constraint[c];
        int first = -1;
        find_moving(system, c, moves);
        for (int i = 0; i < system->n && holds(system, it->row); i++) {
            first = first < 0 && moves[i] ? i : first;
            if (moves[i]) {
                join(system, label[first], label[i], label);
            }
        }
        for (int r = it->row; r < it->row + it->rows; r++) {
            of[r] = first; /* until all are joined */
        }
    }
    for (int r = 0; r < system->m; r++) {
        of[r] = of[r] >= 0 ? label[of[r]] : -1;
    }
}

/* A n of row r, and its length. */
static double row_times(const zw_system *system, const double *A, int r, const double *n,
                        double *length)
{
    double sum = 0, square = 0;
    for (int e = system->A_start[r]; e < system->A_start[r + 1]; e++) {
        sum += A[e] * n[system->A_column[e]];
        square += A[e] * A[e];
    }
    *length = sqrt(square);
    return sum;
}

/* |A n| over the rows of the loop of n, and their largest length. */
static double held_by(const zw_system *system, const double *A, const double *n, double *size)
{
    double sum = 0;
    *size = 0;
    for (int r = 0; r < system->m; r++) {
        double length, part;
        if (holds(system, r)) {
            part = row_times(system, A, r, n, &length);
            sum += part * part;
            *size = fmax(*size, part != 0 ? length : 0);
        }
    }
    return sqrt(sum);
}

/* A'A over the `count` speeds of a loop; place[n] gets their indices there, -1: none. */
static void square(const zw_system *system, const double *A, const loops *in, int loop, int count,
                   double *G)
{
    int *place = in->scratch, index = 0;
    for (int i = 0; i < system->n; i++) {
        place[i] = in->label[i] == loop ? index++ : -1;
    }
    for (int r = 0; r < system->m; r++) {
        int start = system->A_start[r], end = in->of[r] == loop ? system->A_start[r + 1] : start;
        for (int e = start; e < end; e++) {
            for (int f = start; f < end; f++) {
                int i = place[system->A_column[e]], j = place[system->A_column[f]];
                if (i >= 0 && j >= 0) {
                    G[i * count + j] += A[e] * A[f];
                }
            }
        }
    }
}

/* The smallest eigenvalue of G, relative to its trace, and its vector x, by inverse iteration. With
 * a shift of 1e-15 the vectors of small ones grow by 1e3 and more in each of them. */
static double smallest(int count, const double *G, double *x)
{
    double U[MOST * MOST], Gx[MOST], trace = 0;
    for (int i = 0; i < count; i++) {
        trace += G[i * count + i];
        x[i] = 1 + i % 7;
    }
    memcpy(U, G, (size_t)count * (size_t)count * sizeof *U);
    for (int i = 0; i < count; i++) {
        U[i * count + i] += 1e-15 * trace;
    }
    if (!(trace > 0) || dense_cholesky(count, U, count, 0.0) < count) {
        return INFINITY;
    }
    for (int k = 0; k < ROUNDS; k++) {
        dense_solve_upper_transposed(count, U, count, x);
        dense_solve_upper(count, U, count, x);
        dense_scale(count, 1 / dense_norm(count, x), x);
    }
    for (int i = 0; i < count; i++) {
        Gx[i] = dense_dot(count, G + i * count, x);
    }
    return dense_dot(count, x, Gx) / trace;
}

/* n of the only small eigenvalue of A'A; 0: there is another one, or none. */
static int weakest(const zw_system *system, const double *A, const loops *in, int loop, int count,
                   double *n)
{
    const double rank = GAUSS_PROJECTION_RANK * GAUSS_PROJECTION_RANK;
    double G[MOST * MOST] = {0}, x[MOST], other[MOST], trace = 0;
    square(system, A, in, loop, count, G);
    if (!(smallest(count, G, x) <= rank)) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        trace += G[i * count + i];
    }
    for (int i = 0; i < count; i++) {
        dense_axpy(count, trace * x[i], x, G + i * count);
    }
    for (int i = 0; i < system->n; i++) {
        n[i] = in->scratch[i] >= 0 ? x[in->scratch[i]] : 0;
    }
    return smallest(count, G, other) > rank;
}

/* The coordinate of speed d; -1: it has none of its own. */
static int coordinate_of(const zw_system *system, int d)
{
    const struct system_bodies *bodies = system->bodies;
    for (int k = 0; k < bodies->length_count; k++) {
        const bodies_length *length = &bodies->length[k];
        if (length->count == 1 && length->path < 0 && bodies->term[length->first].dof == d) {
            return bodies->term[length->first].q;
        }
    }
    return -1;
}

/* The entry of the row, for the coordinate in which n is largest; 0: it has none. */
static int choose_entry(const zw_system *system, impulse_lock *lock)
{
    double most = 0;
    for (int e = system->A_start[lock->row]; e < system->A_start[lock->row + 1]; e++) {
        int d = system->A_column[e], q = coordinate_of(system, d);
        if (q >= 0 && fabs(lock->n[d]) > most) {
            most = fabs(lock->n[d]);
            lock->entry = e;
            lock->q = q;
        }
    }
    lock->home = most > 0 ? system->tree->q_rest[lock->q] : 0;
    return most > 0;
}

/* Rows at q; the sweeps of `begin` are used for it. */
static void fill_rows(step_impulse *s, const double *q)
{
    double *sweeps = s->work->sweeps;
    tree_kinematics(s->system->tree, q, s->begin);
    s->work->sweeps = s->begin;
    impulse_rows_at(s, 0, 0, q, s->psi, s->A);
    s->work->sweeps = sweeps;
}

/* The largest phi of the loop; *row: where. */
static double violation(const step_impulse *s, const loops *in, int loop, int *row)
{
    double most = 0;
    for (int r = 0; r < s->system->m; r++) {
        if (in->of[r] == loop && !(fabs(s->phi[r]) <= most)) {
            most = fabs(s->phi[r]);
            *row = r;
        }
    }
    return most;
}

/* The change of the loop's coordinates, by least squares: A dq = -phi with n . dq = ahead; into
 * dq[n]. 0: A'A + n n' is singular. */
static int correct(const step_impulse *s, const loops *in, int loop, int count, const double *n,
                   double ahead, double *dq)
{
    const zw_system *system = s->system;
    double G[MOST * MOST] = {0}, x[MOST] = {0};
    square(system, s->A, in, loop, count, G);
    for (int i = 0; i < system->n; i++) {
        int at = in->scratch[i];
        for (int j = 0; j < system->n && at >= 0; j++) {
            if (in->scratch[j] >= 0) {
                G[at * count + in->scratch[j]] += n[i] * n[j];
            }
        }
        if (at >= 0) {
            x[at] += n[i] * ahead;
        }
    }
    for (int r = 0; r < system->m; r++) {
        for (int e = system->A_start[r]; e < system->A_start[r + 1] && in->of[r] == loop; e++) {
            if (in->scratch[system->A_column[e]] >= 0) {
                x[in->scratch[system->A_column[e]]] -= s->A[e] * s->phi[r];
            }
        }
    }
    if (dense_cholesky(count, G, count, 0.0) < count) {
        return 0;
    }
    dense_solve_upper_transposed(count, G, count, x);
    dense_solve_upper(count, G, count, x);
    for (int i = 0; i < system->n; i++) {
        dq[i] = in->scratch[i] >= 0 ? x[in->scratch[i]] : 0;
    }
    return 1;
}

/* How well the loop can be closed at a distance x along n; -1: that is not known. */
static double closes_at(step_impulse *s, const loops *in, int loop, int count, const double *n,
                        double x, int *row)
{
    const zw_system *system = s->system;
    double *q = s->q1, *dq = s->other;
    memcpy(q, system->tree->q_rest, (size_t)system->nq * sizeof *q);
    for (int round = 0; round < ROUNDS; round++) {
        fill_rows(s, q);
        if (!correct(s, in, loop, count, n, round == 0 ? x : 0, dq)) {
            return -1;
        }
        for (int i = 0; i < system->n; i++) {
            int at = in->scratch[i] >= 0 ? coordinate_of(system, i) : -1;
            if (in->scratch[i] >= 0 && at < 0) {
                return -1; /* of a ball joint */
            }
            if (at >= 0) {
                q[at] += dq[i];
            }
        }
    }
    fill_rows(s, q);
    return violation(s, in, loop, row);
}

/* Is this loop locked? */
static int look_at(step_impulse *s, const loops *in, int loop, impulse_lock *lock)
{
    const zw_system *system = s->system;
    int count = 0, rows = 0, row = -1;
    for (int i = 0; i < system->n; i++) {
        count += in->label[i] == loop;
    }
    for (int r = 0; r < system->m; r++) {
        rows += in->of[r] == loop;
    }
    if (rows < count || count > MOST) {
        return 0;
    }
    fill_rows(s, system->tree->q_rest);
    if (!(violation(s, in, loop, &row) <= CLOSED)) {
        return 0;
    }
    if (!weakest(system, s->A, in, loop, count, lock->n)) {
        return 0;
    }
    held_by(system, s->A, lock->n, &lock->size);
    return closes_at(s, in, loop, count, lock->n, -FAR, &row) > CLOSED &&
           closes_at(s, in, loop, count, lock->n, FAR, &lock->row) > CLOSED &&
           choose_entry(system, lock);
}

void impulse_locks_free(impulse_locks *locks)
{
    for (int k = 0; k < locks->count; k++) {
        base_free(locks->list[k].n);
    }
    base_free(locks->list);
    *locks = (impulse_locks){0};
}

zw_status impulse_locks_create(step_impulse *s)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n + 1;
    int *memory, rows = 0;
    for (int r = 0; r < system->m; r++) {
        rows += holds(system, r);
    }
    if (rows == 0) {
        return ZW_OK;
    }
    memory = base_alloc((2 * n + (size_t)system->m) * sizeof *memory);
    impulse_lock *list = s->locks.list = base_alloc(n * sizeof *list);
    double *direction = base_alloc(n * sizeof *direction);
    loops in = {.label = memory, .scratch = memory + n, .of = memory + 2 * n};
    if (memory && list && direction) {
        find_loops(system, &in);
    }
    int enough = memory && list && direction;
    for (int i = 0; i < system->n && enough; i++) {
        impulse_lock lock = {.n = direction};
        if (in.label[i] == i && look_at(s, &in, i, &lock)) {
            list[s->locks.count++] = lock;
            direction = base_alloc(n * sizeof *direction);
            enough = direction != NULL;
        }
    }
    base_free(direction);
    base_free(memory);
    return enough ? ZW_OK : ZW_NO_MEMORY;
}

void impulse_locks_begin(step_impulse *s)
{
    impulse_locks *locks = &s->locks;
    double size;
    for (int k = 0; k < locks->count; k++) {
        locks->list[k].on = 0;
    }
    if (locks->count > 0) {
        impulse_see_start(s);
        s->theta = 0;
        impulse_place_rows(s);
    }
    for (int k = 0; k < locks->count; k++) {
        double held = held_by(s->system, s->A0, locks->list[k].n, &size);
        locks->list[k].on = held < GAUSS_PROJECTION_RANK * size;
    }
}

void impulse_locks_apply(const step_impulse *s, const double *q, double *A)
{
    const int *start = s->system->A_start;
    for (int k = 0; k < s->locks.count; k++) {
        const impulse_lock *lock = &s->locks.list[k];
        int r = lock->row;
        if (lock->on) {
            memset(A + start[r], 0, (size_t)(start[r + 1] - start[r]) * sizeof *A);
            A[lock->entry] = lock->size;
            s->phi[r] = lock->size * (q[lock->q] - lock->home);
            s->b[r] = 0;
        }
    }
}

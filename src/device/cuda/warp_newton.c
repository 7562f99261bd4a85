/* Newton's method of the soft law (soft8_newton.c) for the worlds of a warp, one after another, by
 * all of its threads.
 *
 * Where each thread has a world of its own, H, J and the blocks of 512 worlds compete for the cache
 * of a multiprocessor, which has room for a hundredth of them, and all worlds of a warp take as
 * many iterations as the slowest. So each thread copies what Newton's method reads (M, force, D, b
 * and J of the rows) to device memory, number by number beside those of the other worlds; then the
 * warp takes one world after another: it fetches the numbers of that world, its own rows only, into
 * shared memory, iterates until the active rows do not change, and puts back the accelerations, the
 * forces of the rows and which of them are active. Then each thread goes on with its own world.
 *
 * Bits. Every number is computed by one thread with the operations of soft8_block.c and
 * soft_lane.c in their order:
 *
 *   H_tc   = M_tc, plus for each block in turn ((H_tc + w_1 J_1c) + w_2 J_2c) + w_3 J_3c,
 *            w = C J_t;
 *   pivots from the last dof to the first: H_tc -= (H_kt / H_kk) H_kc for the dofs t, c above k,
 *            and x_t -= H_kt (x_k / H_kk);
 *   then from the root on: x_k = (x_k - sum of H_kt x_t over the dofs above k, from the root on) /
 *            H_kk. The dofs of one depth do not depend on each other: depth by depth, every dof
 *            that is deeper subtracts the term of that depth.
 *
 * The minimum has the bits of its active rows, whatever the way to them (soft8.h). What is not
 * settled here is left to soft8_newton.c: worlds that need a line search, have too many rows for
 * the memory of a warp, tendons at their limits, contacts with other than three rows, or a matrix
 * that is not positive.
 *
 * Terms: the stage is the part of device memory where a warp's worlds are side by side; the desk is
 * its part of shared memory. */
#include "device/cuda/warp_desk.h"
#include "step/soft_step.h"

/* Iterations before a world is left to line searches: as soft8_newton.c. */
enum { TURNS = 8 };

/* ---- One world ------------------------------------------------------------------------------- */

typedef struct warp_world {
    const soft8 *s;
    stage t;
    places p;
    int n, entries, blocks; /* dofs, numbers of M, blocks of all worlds */
    int lane;               /* of the world */
    int is_damped;
    int is_tabulated, is_bent;
    int limits, points;
    /* Of the block of this thread */
    soft8_block block[WARP_KEEPS];
    double mu[WARP_KEEPS][2]; /* or J of a limit */
    int dof[WARP_KEEPS];
} warp_world;

static int is_here(const warp_world *o, int block)
{
    return *staged_block(&o->t, o->lane, block, AT_D) > 0;
}

/* What is the same in all worlds of the warp. */
ZW_INLINE void learn(const warp_world *o)
{
    const soft8 *s = o->s;
    const double *damping = s->system->tree->damping;
    double h = s->h;
    CREW_MEET();
    CREW_FOR (k, o->n) {
        o->p.d->diagonal[k] = (zw_scalar)(h * damping[k]);
    }
    CREW_FOR (i, o->blocks) {
        const soft8_row *row = &s->row[i];
        known *to = &o->t.known[i];
        int is_limit = row->is_fixed != 0, columns = row->columns;
        to->column = row->column;
        to->mu[0] = (zw_scalar)row->numbers[0];
        to->mu[1] = is_limit ? 0 : (zw_scalar)row->numbers[1];
        to->J = (short)row->J;
        to->dof = (short)row->column[0];
        to->columns = (unsigned char)columns;
        to->index = (unsigned char)i;
        to->is_limit = (unsigned char)is_limit;
        to->is_bent = !row->is_straight;
        to->is_other = is_limit ? columns != 1 : row->width != ROWS;
    }
    CREW_MEET();
}

/* Lists the world's blocks; 0: they are not for this method. */
ZW_INLINE int list_blocks(warp_world *o)
{
    const soft8 *s = o->s;
    int bent = 0, other = 0, count = 0, columns = 0;
    o->limits = 0;
    CREW_MEET();
    for (int from = 0; from < o->blocks; from += WARP_THREADS) {
        int i = from + WARP_THREAD, on = i < o->blocks && is_here(o, i), is_limit = 0;
        unsigned all = WARP_LIVE(on);
        int slot = count + __builtin_popcount(all & WARP_BELOW);
        if (on && slot < BLOCKS) {
            known block = o->t.known[i];
            o->p.d->known[slot] = block;
            bent |= block.is_bent;
            other |= block.is_other;
            is_limit = block.is_limit;
        }
        count += __builtin_popcount(all);
        o->limits += __builtin_popcount(WARP_LIVE(is_limit));
    }
    o->points = count - o->limits;
    bent = CREW_ANY(bent);
    if (CREW_ANY(other) || count > BLOCKS || o->points > POINTS) {
        return 0;
    }
    CREW_MEET();
    for (int p = 0; p < o->points; p++) {
        columns += o->p.d->known[o->limits + p].columns;
    }
    if (columns > COLUMNS) {
        return 0;
    }
    if (!o->is_tabulated || bent != o->is_bent) {
        tabulate(s->system, bent ? &s->shape : &s->straight, &o->p);
    }
    o->is_tabulated = 1;
    o->is_bent = bent;
    CREW_MEET();
    return 1;
}

/* J of the contacts and their columns. */
ZW_INLINE void fetch_points(const warp_world *o)
{
    WARP_DESK desk *d = o->p.d;
    int first = 0;
    for (int p = 0; p < o->points; p++) {
        const WARP_DESK known *block = &d->known[o->limits + p];
        const int *column = block->column;
        int columns = block->columns, J = o->t.J + block->J;
        CREW_ONE () {
            d->first[p] = (unsigned char)first;
            d->columns[p] = (unsigned char)columns;
        }
        CREW_FOR (c, columns) {
            int dof = column[c];
            d->column[first + c] = (unsigned char)dof;
            d->row[first + c] = d->start[dof];
            d->level[first + c] = (unsigned char)(d->depth[dof] - 1);
        }
        CREW_FOR (e, ROWS * columns) {
            WARP_FETCH(&d->J[ROWS * first + e], staged(&o->t, o->lane, J + e));
        }
        first += columns;
    }
    WARP_FETCHED();
    CREW_MEET();
}

/* The block of each thread. 0: two limits of one dof, whose order matters. */
ZW_INLINE int take_blocks(warp_world *o)
{
    int repeats = 0, count = o->limits + o->points;
    CREW_FOR (i, count) {
        const WARP_DESK known *block = &o->p.d->known[i];
        int index = block->index, is_limit = i < o->limits, k = WARP_OWN(i);
        soft8_block *b = &o->block[k];
        int mode = (int)*staged_block(&o->t, o->lane, index, AT_MODE);
        b->D[0] = *staged_block(&o->t, o->lane, index, AT_D);
        for (int e = 0; e < 4; e++) {
            b->b[e][0] = e == 0 || !is_limit ? *staged_block(&o->t, o->lane, index, AT_B + e) : 0;
        }
        for (int j = 0; j < 2; j++) {
            b->up[j][0] = -(zw_whole)((mode & UP << j) != 0);
            b->down[j][0] = -(zw_whole)((mode & DOWN << j) != 0);
            o->mu[k][j] = block->mu[j];
        }
        o->dof[k] = block->dof;
        for (int e = 0; e < i && is_limit; e++) {
            repeats |= o->p.d->known[e].dof == block->dof;
        }
    }
    return !CREW_ANY(repeats);
}

/* ---- H and the right-hand side --------------------------------------------------------------- */

/* M and force. */
ZW_INLINE void fetch_free(const warp_world *o)
{
    WARP_DESK desk *d = o->p.d;
    int n = o->n, entries = o->entries;
    if (o->is_bent) {
        CREW_FOR (e, (int)H_entries(n)) {
            o->p.H[e] = 0;
        }
        CREW_MEET();
    }
    CREW_FOR (e, entries) {
        WARP_FETCH(&o->p.H[o->p.place[e]], staged(&o->t, o->lane, o->t.M + e));
    }
    CREW_FOR (k, n) {
        WARP_FETCH(&d->x[k], staged(&o->t, o->lane, o->t.force + k));
    }
    WARP_FETCHED();
    CREW_MEET();
}

/* Limits change their dof's diagonal; contacts get C and rest. */
ZW_INLINE void add_limits(warp_world *o)
{
    WARP_DESK desk *d = o->p.d;
    CREW_FOR (i, o->limits + o->points) {
        int k = WARP_OWN(i), dof = o->dof[k], p = i - o->limits;
        soft8_block *b = &o->block[k];
        if (p >= 0) {
            slopes_pyramid(b, o->mu[k], ROWS);
            for (int e = 0; e < 6; e++) {
                d->C[p][e] = b->C[e][0];
            }
            for (int r = 0; r < ROWS; r++) {
                d->rest[p][r] = b->rest[r][0];
            }
            d->is_on[p] = any_edge(b, ROWS)[0] != 0;
        } else if (b->up[0][0]) {
            zw_scalar J = (zw_scalar)o->mu[k][0], D = b->D[0];
            o->p.H[d->start[dof] + d->depth[dof] - 1] += J * D * J;
            d->x[dof] += D * b->b[0][0] * J;
        }
    }
    CREW_MEET();
}

/* Row t of the entry e of a triangle by rows, t (t + 1) / 2 <= e: 8 e + 1 is between (2 t + 1)^2
 * and (2 t + 3)^2 - 8, whose roots are 4 / (2 t + 3) from the next row, more than 0.015 if t < 128;
 * 0.004 of that is for the error of the root. */
ZW_INLINE int triangle_row(int e)
{
    return (int)((WARP_SQRT((float)(8 * e + 1)) - 0.996F) * 0.5F);
}

/* The entries (t, c) of a triangle, c <= t < m, that a thread computes first: the same in every
 * triangle. */
typedef struct corner {
    int entry[WARP_FIRST];
} corner;

ZW_INLINE corner corner_of(void)
{
    corner own;
    WARP_UNROLL
    for (int j = 0; j < WARP_FIRST; j++) {
        int e = WARP_THREAD + j * WARP_THREADS, t = triangle_row(e);
        own.entry[j] = t << 8 | (e - t * (t + 1) / 2);
    }
    return own;
}

/* All entries of a triangle: call(t, c, ...). */
#define TRIANGLE(own, m, call, ...)                                                                \
    do {                                                                                           \
        int count_ = (m) * ((m) + 1) / 2;                                                          \
        WARP_UNROLL                                                                                \
        for (int j_ = 0; j_ < WARP_FIRST; j_++) {                                                  \
            if (WARP_THREAD + j_ * WARP_THREADS < count_) {                                        \
                call((own)->entry[j_] >> 8, (own)->entry[j_] & 255, __VA_ARGS__);                  \
            }                                                                                      \
        }                                                                                          \
        for (int e_ = WARP_THREAD + WARP_FIRST * WARP_THREADS; e_ < count_; e_ += WARP_THREADS) {  \
            int t_ = triangle_row(e_);                                                             \
            call(t_, e_ - t_ * (t_ + 1) / 2, __VA_ARGS__);                                         \
        }                                                                                          \
    } while (0)

/* What a contact, whose columns begin at `first`, adds to an entry of H. */
ZW_INLINE void add_entry(int t, int c, WARP_DESK desk *d, desk_number *H, int first, int m)
{
    const desk_number *J = d->J + ROWS * first;
    desk_number *to = H + d->row[first + t] + d->level[first + c];
    zw_scalar sum = *to;
    sum += d->w[3 * t] * J[c];
    sum += d->w[3 * t + 1] * J[m + c];
    sum += d->w[3 * t + 2] * J[2 * m + c];
    *to = sum;
}

/* A function of its own, like those below: so the numbers of the thread's block are in memory while
 * its loops run, and not parts of the loops. */
static __attribute__((noinline)) void add_points(WARP_DESK desk *d, desk_number *H, int points)
{
    const corner own = corner_of();
    for (int p = 0; p < points; p++) {
        const int first = d->first[p], m = d->is_on[p] ? d->columns[p] : 0;
        const desk_number *J = d->J + ROWS * first, *C = d->C[p], *rest = d->rest[p];
        CREW_FOR (t, m) {
            zw_scalar J0 = J[t], J1 = J[m + t], J2 = J[2 * m + t];
            desk_number *x = d->x + d->column[first + t];
            zw_scalar sum = *x;
            sum += rest[0] * J0;
            sum += rest[1] * J1;
            sum += rest[2] * J2;
            *x = sum;
            d->w[3 * t] = C[0] * J0 + C[1] * J1 + C[3] * J2;
            d->w[3 * t + 1] = C[1] * J0 + C[2] * J1 + C[4] * J2;
            d->w[3 * t + 2] = C[3] * J0 + C[4] * J1 + C[5] * J2;
        }
        CREW_MEET();
        TRIANGLE(&own, m, add_entry, d, H, first, m);
        CREW_MEET();
    }
}

/* ---- The solution ---------------------------------------------------------------------------- */

/* What a pivot takes off an entry. */
ZW_INLINE void take_off(int t, int c, const WARP_DESK desk *d, desk_number *H,
                        const desk_number *row, const desk_byte *up, zw_scalar inverse)
{
    H[d->start[up[t]] + c] -= row[t] * inverse * row[c];
}

/* With h times the damping of the joints, or without. Returns whether all pivots are positive.
 * Diagonals are replaced by their inverses. */
static __attribute__((noinline)) int eliminate(WARP_DESK desk *d, desk_number *H,
                                               const desk_byte *above, int n, int damped)
{
    const corner own = corner_of();
    int good = 1;
    for (int k = n - 1; k >= 0; k--) {
        const int m = d->depth[k] - 1;
        desk_number *row = H + d->start[k];
        const desk_byte *up = above + k * n;
        zw_scalar pivot = row[m];
        pivot += damped ? d->diagonal[k] : 0;
        zw_scalar inverse = (zw_scalar)1.0 / pivot, y = d->x[k] * inverse;
        good &= pivot > 0;
        TRIANGLE(&own, m, take_off, d, H, row, up, inverse);
        CREW_FOR (t, m) {
            d->x[up[t]] -= row[t] * y;
        }
        CREW_MEET();
        CREW_ONE () {
            row[m] = inverse;
        }
    }
    CREW_MEET();
    return good;
}

static __attribute__((noinline)) void substitute(WARP_DESK desk *d, const desk_number *H,
                                                 const desk_byte *above, int n)
{
    int deepest = 0;
    for (int l = 0; l <= deepest; l++) {
        CREW_FOR (k, n) {
            int m = d->depth[k] - 1;
            if (m == l) {
                d->x[k] *= H[d->start[k] + m];
            }
        }
        CREW_MEET();
        int deeper = 0;
        CREW_FOR (k, n) {
            if (d->depth[k] - 1 > l) {
                d->x[k] -= H[d->start[k] + l] * d->x[above[k * n + l]];
                deeper = 1;
            }
        }
        deepest = CREW_ANY(deeper) ? l + 1 : l;
        CREW_MEET();
    }
}

/* x = H \ x. 0: H is not positive. */
ZW_INLINE int solve(const warp_world *o, int damped)
{
    int good = eliminate(o->p.d, o->p.H, o->p.above, o->n, damped);
    if (good) {
        substitute(o->p.d, o->p.H, o->p.above, o->n);
    }
    return good;
}

/* ---- The law --------------------------------------------------------------------------------- */

/* J x of the contacts, in four partial sums. */
ZW_INLINE void look_ahead(const warp_world *o)
{
    WARP_DESK desk *d = o->p.d;
    CREW_FOR (q, ROWS * o->points) {
        int p = q / ROWS, r = q % ROWS, first = d->first[p], m = d->columns[p];
        const desk_number *J = d->J + ROWS * first + r * m;
        const desk_byte *column = d->column + first;
        zw_scalar part[4] = {0, 0, 0, 0};
        int c = 0;
        for (; c + 4 <= m; c += 4) {
            part[0] += J[c] * d->x[column[c]];
            part[1] += J[c + 1] * d->x[column[c + 1]];
            part[2] += J[c + 2] * d->x[column[c + 2]];
            part[3] += J[c + 3] * d->x[column[c + 3]];
        }
        part[0] += c < m ? J[c] * d->x[column[c]] : 0;
        part[1] += c + 1 < m ? J[c + 1] * d->x[column[c + 1]] : 0;
        part[2] += c + 2 < m ? J[c + 2] * d->x[column[c + 2]] : 0;
        d->along[p][r] = (part[0] + part[2]) + (part[1] + part[3]);
    }
    CREW_MEET();
}

/* Returns whether an active edge has changed. */
ZW_INLINE int follow(warp_world *o)
{
    WARP_DESK desk *d = o->p.d;
    int changed = 0;
    CREW_FOR (i, o->limits + o->points) {
        int k = WARP_OWN(i), p = i - o->limits;
        soft8_block *b = &o->block[k];
        if (p >= 0) {
            for (int r = 0; r < ROWS; r++) {
                b->move[r][0] = d->along[p][r];
            }
            changed |= look_pyramid(b, o->mu[k], ROWS, b->move, b->force)[0] != 0;
        } else {
            b->move[0][0] = (zw_scalar)o->mu[k][0] * d->x[o->dof[k]];
            changed |= look_above(b, b->move, b->force)[0] != 0;
        }
    }
    return CREW_ANY(changed);
}

/* Returns the number of iterations; 0: not settled. */
ZW_INLINE int minimise(warp_world *o)
{
    for (int turn = 1; turn <= TURNS; turn++) {
        fetch_free(o);
        add_limits(o);
        add_points(o->p.d, o->p.H, o->points);
        if (!solve(o, 0)) {
            return 0;
        }
        look_ahead(o);
        if (!follow(o)) {
            return turn;
        }
    }
    return 0;
}

/* (M + h damping) x = force + push, where joints are damped. 0: not positive. */
ZW_INLINE int damp(warp_world *o)
{
    WARP_DESK desk *d = o->p.d;
    const int n = o->n;
    desk_number *push = d->w;
    fetch_free(o);
    CREW_FOR (k, n) {
        push[k] = 0;
    }
    CREW_MEET();
    CREW_FOR (i, o->limits + o->points) {
        int k = WARP_OWN(i), p = i - o->limits;
        const soft8_block *b = &o->block[k];
        if (p < 0) {
            push[o->dof[k]] += b->force[0][0] * (zw_scalar)o->mu[k][0];
        }
        for (int r = 0; r < ROWS && p >= 0; r++) {
            d->rest[p][r] = b->force[r][0];
        }
    }
    CREW_MEET();
    for (int p = 0; p < o->points; p++) {
        const int first = d->first[p], m = d->columns[p];
        const desk_number *J = d->J + ROWS * first, *f = d->rest[p];
        CREW_FOR (c, m) {
            desk_number *to = push + d->column[first + c];
            zw_scalar sum = *to;
            sum += f[0] * J[c];
            sum += f[1] * J[m + c];
            sum += f[2] * J[2 * m + c];
            *to = sum;
        }
        CREW_MEET();
    }
    CREW_FOR (k, n) {
        d->x[k] += push[k];
    }
    CREW_MEET();
    if (!solve(o, 1)) {
        return 0;
    }
    CREW_FOR (k, n) {
        *staged(&o->t, o->lane, o->t.damped + k) = d->x[k];
    }
    return 1;
}

ZW_INLINE void put_back(const warp_world *o)
{
    CREW_FOR (i, o->limits + o->points) {
        int index = o->p.d->known[i].index, k = WARP_OWN(i), is_limit = i < o->limits, mode = 0;
        const soft8_block *b = &o->block[k];
        for (int r = 0; r < ROWS; r++) {
            if (r == 0 || !is_limit) {
                *staged_block(&o->t, o->lane, index, AT_FORCE + r) = b->force[r][0];
            }
        }
        for (int j = 0; j < 2; j++) {
            mode |= b->up[j][0] && (j == 0 || !is_limit) ? UP << j : 0;
            mode |= b->down[j][0] && !is_limit ? DOWN << j : 0;
        }
        *staged_block(&o->t, o->lane, index, AT_END) = (zw_scalar)mode;
    }
    CREW_FOR (k, o->n) {
        *staged(&o->t, o->lane, o->t.a + k) = o->p.d->x[k];
    }
}

ZW_INLINE int take_world(warp_world *o)
{
    if (!list_blocks(o) || !take_blocks(o)) {
        return 0;
    }
    fetch_points(o);
    int turns = minimise(o);
    if (turns > 0) {
        put_back(o);
        turns = !o->is_damped || damp(o) ? turns : 0;
    }
    return turns;
}

zw_mask8 soft8_settle(soft8 *s, zw_mask8 live)
{
    if (!s->desk) {
        return live;
    }
    warp_world o = {.s = s,
                    .t = stage_of(s, s->stage),
                    .n = s->system->n,
                    .entries = s->system->tree->start[s->system->n],
                    .blocks = s->blocks,
                    .is_damped = soft_is_damped(s->system)};
    o.p = places_on(s->desk, o.n, o.entries);
    put_world(s, &o.t);
    learn(&o);
    LANE_MEET();
    int turns = 0;
    for (unsigned left = WARP_LIVE(live[0] != 0); left; left &= left - 1) {
        o.lane = __builtin_ctz(left);
        int taken = take_world(&o);
        turns = o.lane == WARP_LANE ? taken : turns;
    }
    LANE_MEET();
    if (turns > 0) {
        get_world(s, &o.t);
        s->iterations = turns;
        s->settled[0] = -1;
        live[0] = 0;
    }
    return live;
}

int soft8_damp_settled(const soft8 *s, zw_real8 *x)
{
    if (lane_any8(s->good & ~s->settled)) {
        return 0;
    }
    stage t = stage_of(s, s->stage);
    for (int d = 0; d < s->system->n && s->settled[0]; d++) {
        NEAR8(x)[d][0] = *staged(&t, WARP_LANE, t.damped + d);
    }
    return 1;
}

void soft8_settle_bytes(const soft8 *s, size_t *desk_bytes, size_t *stage_bytes)
{
    const struct system_bodies *bodies = s->system->bodies;
    int blocks = s->block_capacity, J = s->entry_capacity, n = s->system->n;
    int has_rows = bodies->constraint_count > 0 || bodies->contact->geom_count > 0;
    size_t entries = (size_t)s->system->tree->start[n], H = (size_t)H_entries(n);
    size_t near = sizeof(desk) + H * sizeof(zw_scalar) + entries * sizeof(short) + (size_t)(n * n);
    size_t far = (size_t)stage_of(s, NULL).numbers * WARP_LANES * sizeof(zw_scalar);
    far += (size_t)blocks * sizeof(known);
    *desk_bytes = has_rows && n <= DOFS && blocks < 256 && J < 32768 ? (near + 15) / 16 * 16 : 0;
    *stage_bytes = (far + 63) / 64 * 64;
}

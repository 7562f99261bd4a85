/* Impacts within a step of method impulse.
 *
 * A flight that ends where something meets is as long as its gap g(q1) takes to close: with the
 * slopes Z of its end at constant length and P_h by its length,
 *
 *     g_q (Z_q + P_h,q h_z) + g_p = 0
 *
 * g_q being the row of the normal, or of the limit. (That holds along a rim, too: what closes is
 * its lowest point, where the gap does not change as the point goes along it.) The impact then, if
 * all of it happens at once,
 *
 *     M(q) (v+ - v-) = B(q)' p,     w+ + e w- = 0 along normals that push, the laws of rigid_law.c
 *
 * is differentiated as a piece is. (Those by q are differences, as there.) Where impulses act one
 * after another in an instant (gauss/contact/impact.c), so are their slopes, act by act. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/rigid/rigid.h"
#include "look/slopes/slopes.h"
#include "tree/sweeps.h"

#define SMALL 0x1p-13
#define RANK 1e-8
#define REACH                                                                                      \
    0x1p-7 /* m: where points are looked for beside a contact, in models with other numbers */
#define TOUCHES 1e-9 /* m */

/* What closes at the end of a piece: a point, or (key below 0) a limit. */
typedef struct meeting {
    contact_key key;
    int limit;   /* its row; -1: it is a point */
    double *row; /* [n] */
} meeting;

static void put_row(meeting *it, int n, int count, const int *column, const double *value)
{
    memset(it->row, 0, (size_t)n * sizeof *it->row);
    for (int i = 0; i < count; i++) {
        it->row[column[i]] = value[i];
    }
}

/* Of all that is closed, what approaches fastest; the others have been closed before, or meet at
 * the same time: then any bit more or less makes one of them the first. 0: it is not there. */
static int find_meeting(sens_rigid *r, const step_impulse *s, meeting *it)
{
    const impulse_contacts *t = &s->touch;
    const zw_system *system = r->system;
    double closed = 1e-9 * impulse_extent(s), fastest = 0, second = 0, gap, speed;
    for (int k = 0; k < (t->is_there ? t->found.count : 0); k++) {
        speed = -impulse_contact_speed(s, k, r->v_end);
        if (fabs(t->found.point[k].gap) <= closed && speed > fastest) {
            second = fastest;
            fastest = speed;
            it->key = t->found.point[k].key;
            it->limit = -1;
            put_row(it, system->n, t->columns[k], t->column + (size_t)k * (size_t)t->wide,
                    t->J + (size_t)k * 6 * (size_t)t->wide);
        } else if (fabs(t->found.point[k].gap) <= closed) {
            second = fmax(second, speed);
        }
    }
    for (int i = -1; (i = impulse_limits_next(s, i, r->v_end, &gap, &speed)) >= 0;) {
        if (fabs(gap) <= closed && speed > fastest) {
            int start = system->A_start[i];
            second = fastest;
            fastest = speed;
            it->limit = i;
            put_row(it, system->n, system->A_start[i + 1] - start, system->A_column + start,
                    s->A + start);
        }
    }
    if (second > 1e-6 * fastest) {
        rigid_note_kink(r, "two contacts that close at once");
    }
    return fastest > 0;
}

/* Its gap at q, by another model. 0: it is not there. */
static int gap_of(const meeting *it, step_impulse *s, const double *q, double *gap)
{
    impulse_contacts *t = &s->touch;
    double *sweeps = s->work->sweeps;
    tree_kinematics(s->system->tree, q, sweeps);
    if (it->limit >= 0) {
        impulse_rows_at(s, s->t + s->h, s->t + s->h, q, s->psi, s->A);
        *gap = s->phi[it->limit];
        return 1;
    }
    tree_velocities(s->system->tree, s->still, sweeps);
    if (contact_find(s->system, &t->found, sweeps, 0, t->near, NULL) != ZW_OK) {
        return 0;
    }
    for (int k = 0; k < t->found.count; k++) {
        if (memcmp(&t->found.point[k].key, &it->key, sizeof it->key) == 0) {
            *gap = t->found.point[k].gap;
            return 1;
        }
    }
    return 0;
}

typedef struct gap_named {
    const sens_rigid *r;
    const meeting *it;
    const rigid_variant *of;
} gap_named;

static int look_gap(void *user, int k, double *gap)
{
    const gap_named *at = user;
    return gap_of(at->it, at->of->at[k].s, at->r->q_end, gap);
}

/* How the gap changes with a number of the model, all places as they are. */
static int gap_by_name(const sens_rigid *r, const meeting *it, int name, double *by)
{
    gap_named at = {r, it, &r->variant[name]};
    double gap[4];
    return number_differ(&at.of->of, 1, look_gap, &at, NULL, 0, gap, by);
}

/* A number of the model that opens or closes a contact which touches at the start (the radius of a
 * ball on the floor): with a bit more or less of it the first step has other contacts. */
void rigid_check_start(sens_rigid *r, const double *q)
{
    step_impulse *s = r->here.s;
    impulse_contacts *t = &s->touch;
    double *sweeps = r->here.work->sweeps, by = 0;
    if (!t->is_there || r->names == 0) {
        return;
    }
    memcpy(r->q_end, q, (size_t)r->system->nq * sizeof *q);
    tree_kinematics(r->system->tree, q, sweeps);
    tree_velocities(r->system->tree, s->still, sweeps);
    for (int k = -1; k < NUMBER_SYSTEMS * r->names; k++) {
        (k < 0 ? &r->here : rigid_beside(r, k))->s->touch.near = REACH;
    }
    if (contact_find(r->system, &t->found, sweeps, 0, REACH, NULL) != ZW_OK) {
        return;
    }
    for (int k = 0; k < t->found.count; k++) {
        const meeting it = {.key = t->found.point[k].key, .limit = -1};
        for (int name = 0; name < r->names && fabs(t->found.point[k].gap) <= TOUCHES; name++) {
            if (gap_by_name(r, &it, name, &by) &&
                fabs(by * r->variant[name].of.step[0]) > RIGID_NEAR * REACH) {
                rigid_note_kink(r, "a contact that touches at the start");
            }
        }
    }
}

zw_status rigid_meeting(sens_rigid *r, const step_impulse *s, double *row, double *by)
{
    meeting it = {.row = row};
    int good = find_meeting(r, s, &it);
    for (int k = 0; k < r->names && good; k++) {
        good = gap_by_name(r, &it, k, &by[k]);
    }
    return good ? ZW_OK
                : base_fail(&r->failure, ZW_INACCURATE,
                            "a contact that closed in the step was not found again");
}

zw_status rigid_hit(sens_rigid *r, const step_impulse *s)
{
    size_t n = (size_t)r->system->n, state = (size_t)r->state, wide = state + (size_t)r->more;
    size_t width = wide + 2;
    meeting it = {.row = r->unit};
    double rate = 0;
    int good = find_meeting(r, s, &it);
    for (size_t i = 0; i < n; i++) {
        rate += it.row[i] * r->piece[i * width + state];
    }
    for (size_t c = 0; c < wide && good; c++) {
        size_t own = wide - (size_t)r->names;
        double sum = 0;
        good = c < own || gap_by_name(r, &it, (int)(c - own), &sum);
        for (size_t i = 0; i < n; i++) {
            const double *piece = r->piece + i * width;
            double along = (c >= state ? piece[c + 2] : 0) - piece[state + 1] * r->rest_by[c];
            for (size_t k = 0; k < state; k++) {
                along += piece[k] * r->by[k * wide + c];
            }
            sum += it.row[i] * along;
        }
        r->h_by[c] = -sum / rate;
    }
    return good ? ZW_OK
                : base_fail(&r->failure, ZW_INACCURATE,
                            "a contact that closed in the step was not found again");
}

/* ---- Impacts --------------------------------------------------------------------------------- */

/* A block of an impact: an equality constraint or limit, or a point. */
typedef struct struck {
    int64_t key;
    double bounce;
    const double *impulse;
} struck;

typedef struct impact {
    const step_impulse *of;
    gauss_impact_act act;
    const double *before, *after; /* of the act */
    const double *q;
    struct struck *list;
    int count;
} impact;

/* Newton's coefficient of a point: the one that it has, or 0 where it was too slow. */
static double bounce_of(const impact *it, int k)
{
    double e = it->of->touch.found.point[k].restitution;
    double approach = -impulse_contact_speed(it->of, k, it->before);
    double leaves = impulse_contact_speed(it->of, k, it->after);
    return leaves > 0.5 * e * approach ? e : 0;
}

static void add_struck(impact *it, int64_t key, int block, double bounce)
{
    if (it->act.part[block] != 0) {
        int row = gauss_impact_first_row(it->of->touch.law, block);
        it->list[it->count++] =
            (struck){.key = key, .bounce = bounce, .impulse = it->act.impulse + row};
    }
}

/* What took part: the blocks of the impact are those of s->aside. */
static void list_struck(impact *it)
{
    const step_impulse *s = it->of;
    int point = 0;
    for (int b = 0; b < s->aside.blocks; b++) {
        int touches = s->aside.key[b] >= IMPULSE_CONTACTS;
        while (touches && s->touch.listed[point] != b) {
            point++;
        }
        add_struck(it, s->aside.key[b], b, touches ? bounce_of(it, point) : 0);
    }
}

static const struck *find(const impact *it, int64_t key)
{
    for (int i = 0; i < it->count; i++) {
        if (it->list[i].key == key) {
            return &it->list[i];
        }
    }
    return NULL;
}

static void put_joints(const impact *it, step_impulse *s)
{
    for (int r = 0; r < s->system->m; r++) {
        s->b[r] = -s->psi[r];
    }
    for (int c = 0; c < impulse_held(s); c++) {
        if (find(it, c)) {
            impulse_put_joint(s, &s->aside, c, s->A, s->b);
        }
    }
}

/* M and the rows at q, in s->H and s->aside: w+ + e w- of them. 0: some point is not there. */
static int put_impact(const impact *it, step_impulse *s, const double *q)
{
    const zw_system *system = s->system;
    impulse_contacts *t = &s->touch;
    double *sweeps = s->work->sweeps;
    tree_kinematics(system->tree, q, sweeps);
    impulse_rows_at(s, s->t, s->t, q, s->psi, s->A);
    tree_velocities(system->tree, it->before, sweeps);
    tree_composite(system->tree, sweeps);
    matrix_set(&s->H, system, sweeps);
    problem_begin(&s->aside);
    put_joints(it, s);
    if (t->is_there && contact_find(system, &t->found, sweeps, 0, t->near, NULL) != ZW_OK) {
        return 0;
    }
    for (int k = 0; k < (t->is_there ? t->found.count : 0); k++) {
        const struck *hit = find(it, impulse_contact_key(&t->found.point[k].key));
        if (hit) {
            t->columns[k] = contact_rows(system, &t->found.point[k], sweeps,
                                         t->column + (size_t)k * (size_t)t->wide,
                                         t->J + (size_t)k * 6 * (size_t)t->wide);
            impulse_put_contact(s, &s->aside, k,
                                -hit->bounce * impulse_contact_speed(s, k, it->before));
        }
    }
    return s->aside.blocks == it->count && !s->aside.no_memory;
}

static int look(const sens_rigid *r, const impact *it, step_impulse *s, const double *q, double *y)
{
    int n = r->system->n;
    double *jump = r->gain;
    if (!put_impact(it, s, q)) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        jump[i] = it->after[i] - it->before[i];
    }
    matrix_times(&s->H, jump, y);
    return rigid_values(&r->half[0], &s->aside, it->after, y, y + n);
}

typedef struct impact_named {
    sens_rigid *r;
    const impact *it;
    const rigid_variant *of;
} impact_named;

static int look_named(void *user, int k, double *y)
{
    const impact_named *at = user;
    return look(at->r, at->it, at->of->at[k].s, at->it->q, y);
}

/* By a number of the model. */
static int differ_name(sens_rigid *r, const impact *it, int name, double *to)
{
    impact_named at = {r, it, &r->variant[name]};
    size_t count = (size_t)r->system->n + 2 * (size_t)r->half[0].rows;
    double *y0 = base_alloc((count + 1) * sizeof *y0);
    int good = y0 && look(r, it, r->here.s, it->q, y0)
                   ? number_differ(&at.of->of, count, look_named, &at, y0, r->noise, r->y, to)
                   : 0;
    if (good == 2) {
        rigid_note_kink(r, "a number of the model at which something switches");
    }
    base_free(y0);
    return good;
}

typedef struct impact_moved {
    sens_rigid *r;
    const impact *it;
    int column;
} impact_moved;

static int look_moved(void *user, double by, double *y)
{
    const impact_moved *at = user;
    sens_rigid *r = at->r;
    memset(r->unit, 0, (size_t)r->system->n * sizeof(double));
    r->unit[at->column] = 1;
    tree_advance(r->system->tree, at->it->q, r->unit, &by, r->here.s->q1);
    return look(r, at->it, r->here.s, r->here.s->q1, y);
}

/* By the place, along a speed. */
static int differ(sens_rigid *r, const impact *it, int column, double *to)
{
    impact_moved at = {r, it, column};
    const number_way way = {.look = look_moved,
                            .user = &at,
                            .step = SMALL,
                            .tries = 3,
                            .enough = NUMBER_ENOUGH,
                            .count = (size_t)r->system->n + 2 * (size_t)r->half[0].rows,
                            .scratch = r->y};
    return number_along(&way, to);
}

/* Multipliers in the order of the rows of s->aside, then what holds and slides. */
static int decide(sens_rigid *r, const impact *it)
{
    step_impulse *s = r->here.s;
    rigid_half *half = &r->half[0];
    if (!put_impact(it, s, it->q) ||
        !rigid_grow(&r->X, &r->X_capacity, (size_t)s->aside.rows + 1)) {
        return 0;
    }
    for (int b = 0; b < s->aside.blocks; b++) {
        const struck *hit = find(it, s->aside.key[b]);
        memcpy(r->X + s->aside.first[b], hit->impulse,
               (size_t)s->aside.block[b].rows * sizeof(double));
    }
    return rigid_list(half, r->system->n, &s->aside, r->X, NULL) &&
           rigid_decide(r, half, &s->aside, it->after, &s->H, NULL);
}

/* K by v+ (row by row, K[size][size]) and the columns x[n + names][size] by q and names, then
 * [n][size] by v-. */
static int put_all(sens_rigid *r, const impact *it, int size, double *K, double *x)
{
    const rigid_half *half = &r->half[0];
    int n = r->system->n, law = r->here.s->aside.options.contact != ZW_CONTACT_CONVEX;
    double *y = r->y + 4 * ((size_t)n + 2 * (size_t)half->rows), *column = y + n + 2 * half->rows;
    memset(y, 0, ((size_t)n + 2 * (size_t)half->rows) * sizeof *y);
    for (int j = 0; j < size; j++) {
        memset(column, 0, (size_t)size * sizeof *column);
        if (j < n) {
            memset(r->unit, 0, (size_t)n * sizeof(double));
            r->unit[j] = 1;
            matrix_times(&r->here.s->H, r->unit, y);
            double *back = x + (size_t)(n + r->names + j) * (size_t)size;
            for (int i = 0; i < half->rows; i++) {
                y[n + i] = half->B[(size_t)i * (size_t)n + (size_t)j];
            }
            rigid_spread(half, n, law, y, y + n, column);
            memset(back, 0, (size_t)size * sizeof *back);
            for (int i = 0; i < n; i++) {
                back[i] = -y[i];
            }
            for (int b = 0; b < half->blocks; b++) {
                const rigid_block *block = &half->block[b];
                if (block->mode == RIGID_HELD || block->mode == RIGID_SLIDES) {
                    back[n + block->at] = find(it, block->key)->bounce * y[n + block->first];
                }
            }
        } else {
            rigid_push_unknown(half, n, j - n, column);
        }
        for (int i = 0; i < size; i++) {
            K[(size_t)i * (size_t)size + (size_t)j] = column[i];
        }
    }
    for (int c = 0; c < n + r->names; c++) {
        if (!(c < n ? differ(r, it, c, y) : differ_name(r, it, c - n, y))) {
            return 0;
        }
        rigid_spread(half, n, law, y, y + n, x + (size_t)c * (size_t)size);
    }
    return 1;
}

/* r->by: rows of v. */
static void follow(sens_rigid *r, int size, const double *x)
{
    size_t n = (size_t)r->system->n, names = (size_t)r->names;
    size_t wide = (size_t)r->state + (size_t)r->more;
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < wide; c++) {
            double sum = c >= wide - names ? x[(n + c + names - wide) * (size_t)size + i] : 0;
            for (size_t k = 0; k < n; k++) {
                sum += x[k * (size_t)size + i] * r->by[k * wide + c] +
                       x[(n + names + k) * (size_t)size + i] * r->by[(n + k) * wide + c];
            }
            r->next[i * wide + c] = -sum;
        }
    }
    memcpy(r->by + n * wide, r->next, n * wide * sizeof(double));
}

static double bounce_by_key(void *user, int64_t key)
{
    const struck *hit = find(user, key);
    return hit ? hit->bounce : 0;
}

/* Slopes of the equations of an act by a number of the model. */
static int column_of(sens_rigid *r, void *user, int name, double *to)
{
    size_t n = (size_t)r->system->n, rows = (size_t)r->half[0].rows;
    int law = r->here.s->aside.options.contact != ZW_CONTACT_CONVEX;
    if (!rigid_grow(&r->y, &r->y_capacity, 5 * (n + 2 * rows))) {
        return 0;
    }
    double *y = r->y + 4 * (n + 2 * rows);
    if (!differ_name(r, user, name, y)) {
        return 0;
    }
    rigid_spread(&r->half[0], (int)n, law, y, y + n, to);
    return 1;
}

static zw_status strike(sens_rigid *r, impact *it)
{
    size_t n = (size_t)r->system->n;
    list_struck(it);
    int good = decide(r, it), size = (int)n + r->half[0].unknowns;
    size_t wide = (size_t)size, rows = (size_t)r->half[0].rows;
    if (!good) {
        return base_fail(&r->failure, ZW_INACCURATE,
                         "a contact that closed in the step was not found again");
    }
    if (!rigid_holds(&r->half[0], 1e-9)) {
        return base_fail(&r->failure, ZW_BAD_INPUT,
                         "an impact whose restitution was reduced has no derivatives");
    }
    if (r->differs == RIGID_TAPE) {
        return rigid_tape_act(r, it->q, it->before, it->after, bounce_by_key, it, column_of);
    }
    if (!rigid_grow(&r->y, &r->y_capacity, 5 * (n + 2 * rows) + wide) ||
        !rigid_grow(&r->K, &r->K_capacity, wide * wide + wide) ||
        !rigid_grow(&r->X, &r->X_capacity, (2 * n + (size_t)r->names) * wide)) {
        return rigid_no_memory(r);
    }
    if (!put_all(r, it, size, r->K, r->X)) {
        return base_fail(&r->failure, ZW_INACCURATE,
                         "a contact that closed in the step was not found again");
    }
    int columns = 2 * (int)n + r->names;
    const rigid_matrix K = {.size = size, .at = r->K, .given = (int *)(r->K + wide * wide)};
    if (!rigid_share(r, &r->half[0], &K, columns, r->X) ||
        slopes_solve_to(size, columns, r->K, r->X, RANK, NULL, NULL) < 0) {
        return rigid_no_memory(r);
    }
    follow(r, size, r->X);
    return ZW_OK;
}

zw_status rigid_impact(sens_rigid *r, const step_impulse *s)
{
    int points = s->touch.is_there ? s->touch.found.count : 0;
    impact it = {.of = s, .q = s->q1};
    zw_status status = ZW_OK;
    it.list = base_alloc((size_t)(impulse_held(s) + points + 1) * sizeof *it.list);
    if (!it.list || !rigid_copy_piece(r, s)) { /* there may have been no piece before */
        base_free(it.list);
        return rigid_no_memory(r);
    }
    for (int k = 0; k < gauss_impact_acts(s->touch.law) && status == ZW_OK; k++) {
        it.act = gauss_impact_act_of(s->touch.law, k);
        it.before = it.act.before;
        it.after = it.act.after;
        it.count = 0;
        status = strike(r, &it);
    }
    base_free(it.list);
    return status;
}

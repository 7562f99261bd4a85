/* long: the law is one piece, from the approach of contacts to the acts of its rounds.
 *
 * The law of impact.
 *
 * Contacts k are closed at an instant; v- are the speeds before. A contact's speed along its normal
 * is w_k = (A v - b)_k, negative where it approaches; b is not 0 where a wall moves. An impact
 * finds speeds v+ with w+ >= 0 everywhere, by impulses lambda: M (v+ - v-) = A' lambda.
 *
 * The problem of a group of contacts, none of which separates (Newton's coefficient of restitution
 * e in the form of Moreau, 1988, and Glocker, 2001):
 *
 *     w+_k >= -e_k w-_k,   lambda_k >= 0,   one of them with equality;
 *     tangentially Coulomb's law with the impulses and the speeds after;
 *     permanent rows: w+ = 0.
 *
 * That is Gauss's problem with v in place of a. e_k counts as 0 where the approach is not faster
 * than slow_k. Groups act in rounds, until nothing approaches.
 *
 * Permanent rows may cause an impact: where a wire has a corner, or its prescribed motion changes
 * its speed suddenly, their w- is not 0. Where nothing approaches, they act first: with the
 * simultaneous law together with all closed contacts, with the sequential law alone; contacts that
 * approach as a result act next.
 *
 * A permanent row with friction is a cone that presses from one side or from the other: from the
 * one where w+ = 0 results. It starts with the side that w- requires, and turns where it would
 * separate.
 *
 * Simultaneous: the group is all closed contacts that do not part. Nearly always one round is
 * enough; another follows where it makes contacts approach that were separating.
 *
 * Sequential: the impulses of one instant act one after another, as they would if small gaps were
 * open between the surfaces. The strength of an approach is how far the speeds are from those that
 * the contact admits, in the metric of the masses: |w| sqrt(m), where 1/m = A M^-1 A' with the rows
 * that always hold; m |w|^2/2 is the kinetic energy of the approach. It depends neither on the unit
 * in which a gap is written nor on coordinates. In a round, the group is every pair of surfaces
 * whose approach is not weaker than that of any other pair at the same bodies; equal ones, up to
 * SAME, act together, so that symmetric problems have symmetric answers. Groups that share no body
 * do not affect each other, so their order does not matter. A group of one contact without friction
 * has the answer v+ = v- + (1 + e) |w-| d, where d, the speeds nearest to 0 that give w = 1, is
 * found once; loss = m (1 - e^2) |w-|^2/2.
 *
 * Pairs without restitution (e_k = 0, or slow) that are connected through bodies count as one pair,
 * with the strength of the strongest of them: they act together, or wait together for a stronger
 * pair at one of their bodies. So where all e = 0, both laws are the same: the speeds nearest to v-
 * that the contacts admit, which is what a step without bounce ends with.
 *
 * With e < 1 there may be infinitely many rounds (the speeds then decrease geometrically): as soon
 * as what is left is weaker than TAIL of the first approach, or after a number of rounds that grows
 * with the count of pairs (a row of n bodies needs n - 1), all contacts end it together, with e =
 * 0. Rounds that ask the kernel cost more than those of single contacts: fewer are granted.
 *
 * Energy. With lambda' A (v+ + v-)/2 = (v+' M v+ - v-' M v-)/2 the contacts dissipate
 *
 *     loss = - lambda' (w+ + w-)/2 = |v+ - v-|_M^2 / 2 - lambda' w+
 *
 * and lambda' b is the work of moving walls. For e = 0 the last term is the friction's, lambda_t .
 * w+_t <= 0, as lambda_n w+_n = 0: so loss >= |v+ - v-|_M^2/2 >= 0, whatever the friction. Without
 * friction loss is the sum of lambda_k (1 - e_k) |w-_k| / 2, not negative either. With friction
 * Newton's law may gain energy (Kane and Levinson 1985), and contacts with different e may
 * contradict each other: then all e_k of the group are multiplied by the largest common factor for
 * which neither is the case, found by bisection. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gauss/contact/impact_inner.h"
#include "gauss/tolerances.h"

/* Relative; speeds from the kernel are accurate to about 1e-14 of the sizes of their terms. */
#define NONE 1e-13 /* an approach below this part of the possible speed of a row counts as none */
#define SAME 1e-9  /* strengths that differ by this part are equal */
#define TAIL 1e-12 /* approaches weaker than this part of the first end together */
#define GAIN 1e-13 /* of |v+ - v-|^2/2: a gain of energy up to this is round-off */

/* Work: the bisection's steps. */
#define FINE 1e-14  /* certificates to ask for; with friction the kernel may not get there, and */
#define CHEAP 1e-12 /* trying costs much: in bisections */
enum { HALVINGS = 30 };

/* ---- Speeds ---------------------------------------------------------------------------------- */

static double row_speed(const gauss_impact *x, int row, const double *v)
{
    double sum = -x->b[row];
    for (int e = x->start[row]; e < x->start[row + 1]; e++) {
        sum += x->value[e] * v[x->column[e]];
    }
    return sum;
}

static double mass_of(const gauss_impact *x, int i)
{
    const zw_metric *M = &x->metric; /* the lower triangle: the diagonal comes first */
    return M->kind == ZW_METRIC_DIAGONAL ? M->value[i] : M->value[M->start[i]];
}

/* |v| in the metric of the diagonal of the masses. */
static double size_of(const gauss_impact *x, const double *v)
{
    double sum = 0;
    for (int i = 0; i < x->n; i++) {
        sum += mass_of(x, i) * v[i] * v[i];
    }
    return sqrt(sum);
}

/* The largest possible speed of a row: the round-off of a closed contact is relative to this, not
 * to its own terms, which may all be round-off. */
static double row_size(const gauss_impact *x, int row, double size)
{
    double sum = 0;
    for (int e = x->start[row]; e < x->start[row + 1]; e++) {
        double M = mass_of(x, x->column[e]);
        sum += M > 0 ? x->value[e] * x->value[e] / M : 0;
    }
    return fabs(x->b[row]) + size * sqrt(sum);
}

/* Fills the speeds of approach; the number of contacts that approach. */
static int measure_approach(gauss_impact *x, const double *v)
{
    int count = 0;
    double size = size_of(x, v);
    for (int k = 0; k < x->blocks; k++) {
        impact_block *block = &x->block[k];
        double speed = block->contact ? -row_speed(x, block->first, v) : 0;
        double none = block->contact ? NONE * row_size(x, block->first, size) : 0;
        block->parts = speed < -none;
        block->speed = speed > none ? speed : 0;
        count += block->speed > 0;
    }
    return count;
}

/* ---- The problem of a group ------------------------------------------------------------------ */

/* The contacts that take part: all, or those of chosen pairs that are not solved one by one, unless
 * they separate. Returns their number. */
static int put_group(gauss_impact *x, int all)
{
    int count = 0;
    impact_begin_part(x);
    for (int k = 0; k < x->blocks; k++) {
        const impact_block *block = &x->block[k];
        if (!block->contact || all || (x->chosen[block->law.pair] == 1 && !block->parts)) {
            impact_add_part(x, k, block->block.kind, block->block.rows);
            count += block->contact;
        }
    }
    return count;
}

/* One solution of the problem of the group with this factor of the restitution: x->after and
 * x->impulse. Energies: dissipated by the contacts, of the change, and supplied by moving walls. */
typedef struct impact_energy {
    double loss, change, work;
} impact_energy;

/* Turns the permanent cones of an answer that separate: all, or the first one. Their number. */
static int turn_cones(gauss_impact *x, const double *after, double size, int all)
{
    int count = 0;
    for (int p = 0, row = 0; p < x->part_blocks; row += x->part[p++].rows) {
        const impact_block *block = &x->block[x->part_of[p]];
        if (block->side != 0 && x->part[p].kind == ZW_CONE && (all || count == 0) &&
            fabs(row_speed(x, block->first, after)) > NONE * row_size(x, block->first, size)) {
            impact_turn_part(x, p, row);
            count++;
        }
    }
    return count;
}

/* The problem of the group, with every permanent cone on the side where it presses. */
static zw_status solve_sides(gauss_impact *x, const double *v, gauss_islands_answer *found,
                             zw_error *error)
{
    const int together = 4, limit = together + 4 * x->part_blocks;
    double size = size_of(x, v);
    for (int turns = 0; turns < limit; turns++) {
        zw_status status = impact_solve_part(x, v, found, error);
        if (status != ZW_OK || turn_cones(x, found->a, size, turns < together) == 0) {
            return status;
        }
    }
    return base_fail(error, ZW_NO_STEP, "no impulse of friction was found");
}

static zw_status solve_group(gauss_impact *x, const double *v, double share, impact_energy *energy,
                             gauss_impact_answer *answer, zw_error *error)
{
    gauss_islands_answer found;
    *energy = (impact_energy){0};
    for (int p = 0, row = 0; p < x->part_blocks; row += x->part[p++].rows) {
        const impact_block *block = &x->block[x->part_of[p]];
        double e = block->speed > block->law.slow ? share * block->law.restitution : 0;
        x->part_b[row] = block->side < 0  ? -x->b[block->first]
                         : block->contact ? x->b[block->first] + e * block->speed
                                          : x->b[block->first];
    }
    zw_status status = solve_sides(x, v, &found, error);
    if (x->options.contact != ZW_CONTACT_CONVEX &&
        (status == ZW_INACCURATE || status == ZW_JAMMED || status == ZW_NO_STEP)) {
        x->options.contact = ZW_CONTACT_CONVEX;
        status = solve_sides(x, v, &found, error);
        x->options.contact = ZW_CONTACT_COULOMB;
        answer->relaxed++;
    }
    if (status != ZW_OK) {
        return status;
    }
    memcpy(x->after, found.a, (size_t)x->n * sizeof(double));
    memcpy(x->impulse, found.lambda, (size_t)x->part_rows * sizeof(double));
    for (int p = 0, row = 0; p < x->part_blocks; p++) {
        x->impulse[row] *= x->block[x->part_of[p]].side < 0 ? -1 : 1;
        for (int i = 0; i < x->part[p].rows; i++, row++) {
            int r = x->block[x->part_of[p]].first + i;
            double before = row_speed(x, r, v), after = row_speed(x, r, x->after);
            energy->loss -= 0.5 * x->impulse[row] * (before + after);
            energy->change += 0.5 * x->impulse[row] * (after - before);
            energy->work += x->impulse[row] * x->b[r];
        }
    }
    answer->certificate = fmax(answer->certificate, found.certificate);
    return ZW_OK;
}

/* No solution, or one that gains energy; not if there is no memory, or if the law is satisfied. */
static int is_refused(zw_status status, const impact_energy *energy)
{
    return status == ZW_OK ? energy->loss < -GAIN * fabs(energy->change) : status != ZW_NO_MEMORY;
}

/* The largest share of the restitution that is not refused, where the whole is. */
static zw_status find_share(gauss_impact *x, const double *v, impact_energy *energy, double *share,
                            gauss_impact_answer *answer, zw_error *error)
{
    double low = 0, high = 1;
    size_t speeds = (size_t)x->n * sizeof(double), rows = (size_t)x->part_rows * sizeof(double);
    zw_status status = solve_group(x, v, 0, energy, answer, error);
    if (status != ZW_OK) {
        return status;
    }
    memcpy(x->kept, x->after, speeds);
    memcpy(x->kept_sum, x->impulse, rows);
    for (int k = 0; k < HALVINGS && status != ZW_NO_MEMORY; k++) {
        impact_energy trial;
        double middle = 0.5 * (low + high);
        status = solve_group(x, v, middle, &trial, answer, error);
        if (is_refused(status, &trial)) {
            high = middle;
        } else if (status == ZW_OK) {
            low = middle;
            *energy = trial;
            memcpy(x->kept, x->after, speeds);
            memcpy(x->kept_sum, x->impulse, rows);
        }
    }
    memcpy(x->after, x->kept, speeds);
    memcpy(x->impulse, x->kept_sum, rows);
    *share = low;
    return status == ZW_NO_MEMORY ? status : ZW_OK;
}

static void add_impulses(gauss_impact *x)
{
    for (int p = 0, row = 0; p < x->part_blocks; p++) {
        for (int i = 0; i < x->part[p].rows; i++, row++) {
            x->sum[x->block[x->part_of[p]].first + i] += x->impulse[row];
        }
    }
}

/* The group acts, with its restitution or without: v becomes the speeds after. */
static zw_status strike(gauss_impact *x, double share, double *v, gauss_impact_answer *answer,
                        zw_error *error)
{
    impact_energy energy;
    zw_status status = solve_group(x, v, share, &energy, answer, error);
    if (share > 0 && is_refused(status, &energy)) {
        x->options.tolerance = CHEAP;
        status = find_share(x, v, &energy, &share, answer, error);
        answer->share = fmin(answer->share, share);
    }
    if (status == ZW_OK) {
        memcpy(v, x->after, (size_t)x->n * sizeof *v);
        add_impulses(x);
        answer->loss += energy.loss;
        answer->work += energy.work;
    }
    return status;
}

/* Contacts that are groups of their own. */
static void strike_alone(gauss_impact *x, double *v, gauss_impact_answer *answer)
{
    for (int k = 0; k < x->blocks; k++) {
        const impact_block *block = &x->block[k];
        if (!block->contact || x->chosen[block->law.pair] != 2) {
            continue;
        }
        double c = block->speed, e = c > block->law.slow ? block->law.restitution : 0;
        for (int i = block->first_way; i < block->first_way + block->ways; i++) {
            double *to = x->way[i] < x->n ? v + x->way[i] : x->sum + (x->way[i] - x->n);
            *to += (1 + e) * c * x->by[i];
        }
        x->sum[block->first] += block->mass * (1 + e) * c;
        answer->loss += 0.5 * block->mass * (1 - e) * (1 + e) * c * c;
        answer->work += block->mass * (1 + e) * c * x->b[block->first];
    }
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* The strength of every pair; *most: the largest. */
static zw_status weigh_pairs(gauss_impact *x, double *most, zw_error *error)
{
    zw_status status = ZW_OK;
    memset(x->strength, 0, (size_t)x->pairs * sizeof(double));
    *most = 0;
    for (int k = 0; k < x->blocks && status == ZW_OK; k++) {
        impact_block *block = &x->block[k];
        if (block->speed > 0 && block->mass == 0) {
            status = impact_find_mass(x, k, error);
        }
        if (block->speed > 0) {
            double *to = &x->strength[block->law.pair];
            *to = fmax(*to, block->speed * sqrt(block->mass));
            *most = fmax(*most, *to);
        }
    }
    return status;
}

typedef enum visit { VISIT_BEST, VISIT_CHOOSE, VISIT_COUNT, VISIT_ALONE } visit;

/* One contact of a pair at one of its bodies. */
static void visit_body(gauss_impact *x, visit what, int pair, int body)
{
    int *chosen = &x->chosen[pair];
    switch (what) {
    case VISIT_BEST:
        x->best[body] = fmax(x->best[body], x->strength[pair]);
        break;
    case VISIT_CHOOSE:
        *chosen = *chosen && x->strength[pair] >= (1 - SAME) * x->best[body];
        break;
    case VISIT_COUNT:
        x->acting[body] = !*chosen                                               ? x->acting[body]
                          : x->acting[body] == 0 || x->acting[body] == -1 - pair ? -1 - pair
                                                                                 : 1;
        break;
    case VISIT_ALONE:
        *chosen = *chosen == 2 && x->acting[body] == 1 ? 1 : *chosen;
        break;
    }
}

static void visit_all(gauss_impact *x, visit what)
{
    for (int k = 0; k < x->blocks; k++) {
        const impact_block *block = &x->block[k];
        int last = block->first + block->block.rows;
        for (int e = x->start[block->first]; e < x->start[last] && block->contact; e++) {
            visit_body(x, what, block->law.pair, x->root[x->column[e]]);
        }
    }
}

static void find_bouncing(gauss_impact *x)
{
    memset(x->bouncing, 0, (size_t)x->pairs * sizeof(int));
    for (int k = 0; k < x->blocks; k++) {
        const impact_block *block = &x->block[k];
        if (block->contact && block->law.restitution > 0 && block->speed > block->law.slow) {
            x->bouncing[block->law.pair] = 1;
        }
    }
}

/* Contact k, if it has no restitution and does not separate: the range of its entries;
 * else none. */
static int inelastic_entries(const gauss_impact *x, int k, int *from)
{
    const impact_block *block = &x->block[k];
    *from = x->start[block->first];
    if (!block->contact || block->parts || x->bouncing[block->law.pair]) {
        return *from;
    }
    return x->start[block->first + block->block.rows];
}

/* Connected pairs without restitution get the strength of the strongest of them. */
static void spread_strength(gauss_impact *x)
{
    memset(x->best, 0, (size_t)x->n * sizeof(double));
    for (int more = 1; more;) {
        more = 0;
        for (int k = 0; k < x->blocks; k++) {
            int from, to = inelastic_entries(x, k, &from);
            double *strength = &x->strength[x->block[k].law.pair];
            for (int e = from; e < to; e++) {
                double at_body = x->best[x->root[x->column[e]]];
                more |= at_body > *strength;
                *strength = fmax(*strength, at_body);
            }
            for (int e = from; e < to; e++) {
                double *at_body = &x->best[x->root[x->column[e]]];
                more |= *strength > *at_body;
                *at_body = *strength;
            }
        }
    }
}

/* If one of them has to wait, all do. */
static void wait_together(gauss_impact *x)
{
    memset(x->acting, 0, (size_t)x->n * sizeof(int)); /* 1: a pair without bounce waits here */
    for (int more = 1; more;) {
        more = 0;
        for (int k = 0; k < x->blocks; k++) {
            int from, to = inelastic_entries(x, k, &from), waits = 0;
            int *chosen = &x->chosen[x->block[k].law.pair];
            for (int e = from; e < to; e++) {
                waits |= x->acting[x->root[x->column[e]]];
            }
            more |= waits && *chosen;
            *chosen = waits ? 0 : *chosen;
            for (int e = from; e < to && !*chosen; e++) {
                int *here = &x->acting[x->root[x->column[e]]];
                more |= !*here;
                *here = 1;
            }
        }
    }
}

/* Pairs that are not weaker than any other at the same bodies; those that have one row, and share
 * no body with another of them, are solved one by one. */
static void choose_strongest(gauss_impact *x)
{
    find_bouncing(x);
    spread_strength(x);
    memset(x->best, 0, (size_t)x->n * sizeof(double));
    for (int p = 0; p < x->pairs; p++) {
        x->chosen[p] = x->strength[p] > 0;
    }
    visit_all(x, VISIT_BEST);
    visit_all(x, VISIT_CHOOSE);
    wait_together(x);
    memset(x->acting, 0, (size_t)x->n * sizeof(int));
    visit_all(x, VISIT_COUNT);
    for (int p = 0; p < x->pairs; p++) {
        x->chosen[p] = !x->chosen[p] ? 0 : x->rows_of[p] == 1 && !x->moved ? 2 : 1;
    }
    visit_all(x, VISIT_ALONE);
}

static void choose_all(gauss_impact *x)
{
    for (int p = 0; p < x->pairs; p++) {
        x->chosen[p] = 1;
    }
}

/* ---- Acts, for derivatives ------------------------------------------------------------------- */

static size_t act_size(const gauss_impact *x)
{
    return 2 * (size_t)x->n + (size_t)x->rows + (size_t)x->blocks;
}

/* Memory for one more; NULL: they are not recorded. */
static double *open_act(gauss_impact *x)
{
    size_t size = act_size(x), need = ((size_t)x->acts + 1) * size;
    if (!x->keeps) {
        return NULL;
    }
    if (need > x->act_capacity) {
        double *more = base_alloc(2 * need * sizeof *more);
        if (!more) {
            x->no_memory = 1;
            return NULL;
        }
        if (x->acts > 0) {
            memcpy(more, x->act, (size_t)x->acts * size * sizeof *more);
        }
        base_free(x->act);
        x->act = more;
        x->act_capacity = 2 * need;
    }
    return x->act + (size_t)x->acts * size;
}

/* v and the impulses so far, at the start of an act. */
static void begin_act(gauss_impact *x, const double *v)
{
    double *to = open_act(x);
    if (to) {
        memcpy(to, v, (size_t)x->n * sizeof *v);
        memcpy(to + 2 * x->n, x->sum, (size_t)x->rows * sizeof *to);
    }
}

/* At its end; alone: it is one of contacts that are groups of their own. */
static void end_act(gauss_impact *x, const double *v, int alone)
{
    double *to = open_act(x);
    if (!to) {
        return;
    }
    double *part = to + 2 * x->n + x->rows;
    int any = 0, held = 0;
    memcpy(to + x->n, v, (size_t)x->n * sizeof *v);
    for (int i = 0; i < x->rows; i++) {
        to[2 * x->n + i] = x->sum[i] - to[2 * x->n + i];
    }
    for (int k = 0; k < x->blocks; k++) {
        const impact_block *block = &x->block[k];
        part[k] = alone && block->contact && x->chosen[block->law.pair] == 2;
        any |= part[k] != 0;
        held |=
            part[k] != 0 && block->ways > 0 && x->way[block->first_way + block->ways - 1] >= x->n;
    }
    for (int k = 0; k < x->blocks && held; k++) {
        part[k] = x->block[k].contact ? part[k] : 1;
    }
    for (int p = 0; p < x->part_blocks && !alone; p++) {
        part[x->part_of[p]] = any = 1;
    }
    x->acts += any;
}

void gauss_impact_keep(gauss_impact *x, int keeps)
{
    x->keeps = keeps;
}

int gauss_impact_acts(const gauss_impact *x)
{
    return x->acts;
}

gauss_impact_act gauss_impact_act_of(const gauss_impact *x, int act)
{
    const double *at = x->act + (size_t)act * act_size(x);
    return (gauss_impact_act){.before = at,
                              .after = at + x->n,
                              .impulse = at + 2 * x->n,
                              .part = at + 2 * x->n + x->rows};
}

int gauss_impact_first_row(const gauss_impact *x, int block)
{
    return x->block[block].first;
}

static zw_status act_in_rounds(gauss_impact *x, zw_impact_law law, double *v,
                               gauss_impact_answer *answer, zw_error *error)
{
    const int limit = 100 + 50 * x->pairs, kernel_limit = 100 + x->pairs;
    double first = 0, most = 0;
    int asked = 0;
    impact_find_bodies(x);
    for (int round = 0;; round++) {
        zw_status status = weigh_pairs(x, &most, error);
        int starts = round == 0 && most == 0; /* by permanent rows */
        first = first > 0 ? first : most;
        int last = (most <= TAIL * first && !starts) || round == limit || asked == kernel_limit;
        if (law == ZW_IMPACT_SIMULTANEOUS) {
            choose_all(x);
        } else {
            choose_strongest(x);
        }
        if (status == ZW_OK && (put_group(x, last) > 0 || starts)) {
            x->options.tolerance = FINE;
            asked++;
            begin_act(x, v);
            status = strike(x, last ? 0 : 1, v, answer, error);
            end_act(x, v, 0);
        }
        if (status == ZW_OK && !last) {
            begin_act(x, v);
            strike_alone(x, v, answer);
            end_act(x, v, 1);
        }
        answer->rounds++;
        if (status != ZW_OK || last || measure_approach(x, v) == 0) {
            return status;
        }
    }
}

zw_status gauss_impact_solve(gauss_impact *x, zw_impact_law law, zw_contact_law contact, double *v,
                             gauss_impact_answer *answer, zw_error *error)
{
    *answer = (gauss_impact_answer){.share = 1};
    if (x->no_memory || !impact_make_room(x)) {
        return base_no_memory(error);
    }
    memset(x->sum, 0, (size_t)x->rows * sizeof(double));
    x->acts = 0;
    x->options = zw_gauss_options_default();
    x->options.contact = contact;
    x->options.tolerance = FINE;
    x->options.rank = GAUSS_PROJECTION_RANK;
    x->options.least_squares = 1;
    answer->any = measure_approach(x, v) > 0 || x->kicked;
    for (int k = 0; k < x->blocks; k++) {
        impact_block *block = &x->block[k];
        block->side = block->side == 0 ? 0 : row_speed(x, block->first, v) > 0 ? -1 : 1;
    }
    zw_status status = answer->any ? act_in_rounds(x, law, v, answer, error) : ZW_OK;
    return status == ZW_OK && x->no_memory ? base_no_memory(error) : status;
}

const double *gauss_impact_impulse(const gauss_impact *x, int block)
{
    return x->sum + x->block[block].first;
}

/* The rounds of a step: impulse.c has their equations. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "gauss/contact/choose.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

enum { ROUNDS = 60, FEW = 3, MANY = 12, HEAP = 300, FAILURES = 2, SLOW = 2 };
#define FIRST 1e-6  /* certificate requested of the first solve, */
#define NEARLY 1e-3 /* of the balance, below which landings are detected */
#define STALE                                                                                      \
    1e-2 /* relative to the residual before: factors that gain less belong to another iterate */
#define INNER 1e-3 /* and of later ones, relative to the residual of the balance before them, */
#define LAST 1e-11 /* down to this; */
#define GAIN 0.1   /* a solve that gets this far is not worth more effort: another round follows */
#define LAW 1e-11  /* of the slip of contacts, to the speeds of their points */
#define SAME                                                                                       \
    1e-9 /* of positions, to the size of the mechanism: closed gaps, ways of what stays, and the   \
            error of rounds that get no farther, which is reported; */
#define NEAR 1e-6 /* the same, where the kernel's effort is exhausted, */
#define FAIR 1e-3 /* with a certificate no worse than this */
#define SANE                                                                                       \
    0.1            /* or this, where more than HEAP speeds are one island: no part of a step helps \
                    */
#define SOUND 1e-6 /* of the balance: rounds that get no farther end with that, likewise */

double impulse_extent(const step_impulse *s)
{
    return s->extent;
}

double impulse_round_off(const step_impulse *s)
{
    return 64 * DBL_EPSILON * impulse_extent(s);
}

double impulse_touching(const step_impulse *s)
{
    return SAME * impulse_extent(s);
}

/* The allowed error of positions. A relative error of u that the balance may have, s->close, moves
 * them by that part of the displacement of the step, which is that of the fastest centre of mass,
 * or what it could fall in it; positions are required to be INNER of that. */
static double place_error(const step_impulse *s)
{
    const tree_mechanism *tree = s->system->tree;
    const double *from = s->begin + tree->at.com, *to = s->work->sweeps + tree->at.com;
    const double fall = s->h * s->h * impulse_gravity(s);
    double way = 0;
    for (int k = 3; k < 3 * tree->bodies; k++) {
        way = fmax(way, fabs(to[k] - from[k]));
    }
    return fmax(IMPULSE_PLACE * impulse_extent(s),
                fmax(INNER * s->close, s->accuracy) * (way + fall));
}

int impulse_gave_up(const step_impulse *s, const impulse_problem *p)
{
    return s->touch.found.count > 0 &&
           p->answer.certificate > fmax(fmax(p->wanted, p->fair), LAST) &&
           p->answer.certificate <= (p->answer.largest > HEAP ? SANE : FAIR);
}

void impulse_count_solve(step_impulse *s, const impulse_problem *p)
{
    s->work->effort.rounds++;
    s->failed_work += p->answer.failed_work;
    s->work->effort.factors += p->answer.factorizations;
}

/* ---- One round ------------------------------------------------------------------------------ */

/* u = u - H \ r, or by N, and then no farther than r decreases. */
static void step_free(step_impulse *s)
{
    enum { HALVES = 8 };
    int n = s->system->n;
    double left = impulse_norm(s, s->r), part = 1, *way = s->push; /* without rows it is free */
    s->problem.answer.certificate = 0;                             /* the kernel was not used */
    memcpy(way, s->r, (size_t)n * sizeof(double));
    impulse_solve(s, way);
    for (int i = 0; i < n; i++) {
        s->u[i] -= way[i];
    }
    for (int k = 0; k < HALVES && s->with_N; k++) {
        impulse_balance(s, s->u, s->r);
        if (impulse_norm(s, s->r) < left) {
            break;
        }
        part *= 0.5;
        for (int i = 0; i < n; i++) {
            s->u[i] += part * way[i];
        }
    }
}

/* The kernel's problem: H u' = H u - r + A' lambda'; with N, H u' = H z + A' (lambda' - lambda). */
static zw_status step_held(step_impulse *s, double left, zw_error *error)
{
    int n = s->system->n;
    double *way = s->other;
    memcpy(way, s->r, (size_t)n * sizeof *way);
    if (s->with_N) {
        for (int i = 0; i < n; i++) {
            way[i] -= s->push[i];
        }
        impulse_solve(s, way);
        matrix_solve(&s->H, s->push);
    } else {
        impulse_solve(s, way);
    }
    for (int i = 0; i < n; i++) {
        way[i] = s->u[i] - way[i] - (s->with_N ? s->push[i] : 0);
    }
    s->problem.chosen = s->rounds > 0;
    s->problem.at_rest = impulse_hardly_moves(s);
    s->problem.wanted = fmax(fmin(FIRST, fmax(INNER * left, LAST)), s->accuracy);
    s->problem.fair = fmax(fmin(FIRST, fmax(GAIN * left, 10 * LAST)), s->accuracy);
    zw_status status = problem_solve(&s->problem, &s->H, way, s->u, error);
    impulse_count_solve(s, &s->problem);
    if (status == ZW_OK) {
        memcpy(s->u, s->problem.answer.a, (size_t)n * sizeof(double));
        impulse_settle(s, &s->problem, s->u);
    }
    return status;
}

/* The progress of the rounds. */
typedef struct progress {
    double left, before; /* relative residual of the balance */
    double part;         /* of what was measured in the round before, */
    double measured;     /* even where the end of a flight was moved since then */
    double best;         /* the least so far */
    double off,
        off_before;  /* of positions, the largest error, relative to the size of the mechanism */
    double soundest; /* the least combined error of positions and balance */
    int placed;      /* the error is as small as required */
    int held;        /* there were rows in some round */
    int slow;        /* number of rounds that contracted slowly */
    int idle;        /* number of the last rounds that did not contract at all, */
    int lost;        /* and did not get nearer than all before */
    int made;        /* H has been computed for these modes, */
    int factored;    /* with its factors, */
    int definite;    /* and H is positive definite */
    int chord;       /* the factors of impulse_chord.c are there; */
    int followed;    /* they led to this iterate, */
    int failed;      /* and have failed this many times */
    int again;       /* one more round was made than the residual asks for */
} progress;

/* At q1, which the sweeps know, but not the speeds. */
static zw_status find_contacts(step_impulse *s, zw_error *error)
{
    if (s->touch.is_there) {
        tree_velocities(s->system->tree, s->u, s->work->sweeps);
    }
    return impulse_find_contacts(s, s->work->sweeps, s->u, error);
}

/* How far an iterate is from one that could be accepted as the solution: below 1 it could. */
static double unsound(const progress *at)
{
    return fmax(at->left / SOUND, at->off / SAME);
}

static void note_best(step_impulse *s, progress *at)
{
    if (unsound(at) < at->soundest) {
        at->soundest = unsound(at);
        memcpy(s->best, s->u, (size_t)s->system->n * sizeof(double));
    }
}

/* The problem of the next solve, and what the current multipliers push in it. */
static void put_rows(step_impulse *s)
{
    impulse_put_rows(s);
    problem_guess_push(&s->problem, s->push);
}

/* The way of the coordinate that goes farthest with v0. */
static double farthest(const step_impulse *s)
{
    double way = 0;
    for (int i = 0; i < s->system->n; i++) {
        way = fmax(way, s->h * fabs(s->v0[i]));
    }
    return way;
}

int impulse_is_at_rest(const step_impulse *s)
{
    return farthest(s) <= 0.2 * IMPULSE_PLACE;
}

/* Do all contacts, limits, equality constraints and boxes also have multipliers of the step before?
 * u is 0 then, and the points found at q0 are those at q1. */
static int may_rest(const step_impulse *s)
{
    return s->problem.fresh == 0 && impulse_is_at_rest(s) && s->touch.deep_count == 0;
}

/* Bodies that hardly move are brought to rest by the kernel, whose speeds end at round-off; with
 * those that Newton's method leaves (1e-11 on a humanoid) each step of a robot that lies still
 * would cost all its rounds for ever. */
int impulse_hardly_moves(const step_impulse *s)
{
    return farthest(s) <= SAME * impulse_extent(s);
}

/* Contacts of the first round may be those where v0 leads, which is nearer the end of the step than
 * q0: if all are known from the step before, and nothing is so fast that it could have passed
 * through something there. */
static int may_look_ahead(const step_impulse *s)
{
    return s->calm && s->chord.is_there && !impulse_hardly_moves(s) && s->touch.found.count > 0 &&
           !s->chord.small;
}

void impulse_note_trend(step_impulse *s, const double *from, const double *to, double time)
{
    s->has_trend = s->chord.is_there && time > 0 && !s->touch.sweep.linear;
    s->trend_time = time;
    for (int i = 0; i < s->system->n && s->has_trend; i++) {
        s->trend[i] = (to[i] - from[i]) / time;
    }
}

/* v1 and u of a step are the speeds at its end and in its middle: v1 + (v1 - u) is that in the
 * middle of the next one, up to O(h^2), as long as no contact opens or closes. A step that is
 * repeated, for another time, continues as it did. Speeds change by no more than they have done: in
 * a flight of 1e-7 s one may change by an impulse, an acceleration that would lead far away. */
int impulse_extrapolate(step_impulse *s)
{
    int smooth = s->has_trend && !s->chord.small && !impulse_hardly_moves(s) && s->theta < 0.5;
    double ahead = fmin(impulse_late(s), s->trend_time);
    for (int i = 0; i < s->system->n && smooth; i++) {
        s->u[i] += ahead * s->trend[i];
    }
    return smooth;
}

/* Islands that have converged stay as they are while the rounds of others continue: those for which
 * the residuals of the balance and of the laws are within what the step requires, each on its own.
 * The squares of the allowed residuals sum to at most that of the whole. */
static void find_settled(step_impulse *s, int round, int more, impulse_miss miss)
{
    if (s->chord.is_there || s->chord.small || round == 0 || more > 0 || s->changed || s->with_N) {
        return;
    }
    impulse_find_excess(s, s->other, s->close, s->excess);
    impulse_mark_misses(
        s, (impulse_miss){.way = place_error(s), .slip = miss.fastest * fmax(s->close, LAW)},
        s->excess);
    s->problem.excess = s->excess;
}

/* The residuals of the balance and the laws at u, and their progress. 1: small enough. */
static int measure(step_impulse *s, int round, int more, progress *at)
{
    int small = s->chord.small; /* their rounds go to the end by themselves */
    for (int i = 0; i < s->system->n; i++) {
        s->other[i] = s->r[i] - s->push[i];
        s->unbalanced[i] = small ? 0 : s->other[i];
    }
    impulse_miss_of_boxes(s, s->other);
    at->before = at->left;
    at->left = impulse_norm(s, s->other);
    double all = at->left;
    double size = impulse_size(s), noise_free = fmax(all - impulse_noise(s, 0), 0);
    at->left = isfinite(all) ? (size > 0 ? noise_free / size : noise_free) : INFINITY;
    double off = fmax(impulse_violation(s), impulse_depth(s));
    impulse_miss miss = impulse_law_miss(s);
    if (!at->followed) { /* Newton's rule knows how right sides change */
        off = fmax(off, impulse_unsettled(s));
    }
    off = fmax(off, miss.way);
    at->left = fmax(at->left, miss.slip * s->close / fmax(s->close, LAW));
    at->part = at->left / at->measured;
    at->measured = at->left;
    at->placed = off <= place_error(s);
    int there = at->left <= s->close && at->placed;
    int sharper = there && s->sharp && round > 0 && !at->again;
    at->again |= sharper;
    find_settled(s, round, more, miss);
    at->slow += round > 1 && !there && !(at->left < 0.25 * at->before);
    at->idle = at->left < 0.7 * at->before ? 0 : at->idle + 1;
    at->lost = at->left < 0.7 * at->best || more > 0 ? 0 : at->lost + 1;
    at->best = fmin(at->best, at->left);
    int noise = at->idle > 2 && s->touch.found.count > 0 && all <= impulse_noise(s, 1);
    int ends = at->idle > 2 && (at->left <= IMPULSE_BALANCED || noise) &&
               off <= 10 * IMPULSE_PLACE * impulse_extent(s);
    at->left = ends && noise ? 0 : at->left; /* round-off is no error of the solver */
    there |= ends;
    at->off_before = at->off;
    at->off = off / impulse_extent(s);
    note_best(s, at);
    if (round > 0 && impulse_gave_up(s, &s->problem) && at->left <= s->problem.answer.certificate) {
        at->left = s->problem.answer.certificate;
        double near = round > FEW ? fmin(NEAR, at->left) : 1000 * IMPULSE_PLACE;
        there |= off <= near * impulse_extent(s);
    }
    return there && !sharper;
}

/* Evaluates the balance and the rows at u; has it converged? */
static zw_status look(step_impulse *s, int round, progress *at, int *done, zw_error *error)
{
    *done = s->changed = 0;
    s->problem.excess = NULL;
    s->touch.stay.follows = s->U && at->slow >= SLOW; /* others converge as they are */
    impulse_seek_anew(s);
    impulse_balance(s, s->u, s->r);
    impulse_fill_rows(s, s->t + s->h);
    zw_status status = round > 0 ? find_contacts(s, error) : ZW_OK;
    if (status == ZW_OK && round > 0 && impulse_is_lost(s)) {
        return base_fail(error, ZW_INACCURATE, "bodies are too fast for the step");
    }
    impulse_seek_limits(s);
    int more = impulse_reach(s);
    at->made &= more == 0 && !s->changed;
    int ahead = status == ZW_OK && round == 0 && !impulse_is_at_rest(s) && may_look_ahead(s);
    status = ahead ? find_contacts(s, error) : status;
    if (status == ZW_OK) {
        put_rows(s);
        at->held |= s->problem.rows > 0;
    }
    if (status != ZW_OK || (round == 0 && !may_rest(s))) {
        return status;
    }
    if (round == 0) {
        impulse_metric(s); /* what sizes are measured in */
    }
    int there = measure(s, round, more, at);
    *done =
        there && (more == 0 || round == 0) && !impulse_seeks(s); /* then they have multipliers */
    s->rests = *done && round == 0;
    return ZW_OK;
}

/* The rounds have failed: one more from the best iterate. It is accepted where the step is not to
 * be divided further, and its error is reported; but not where it is to separate overlaps:
 * contradictory rows have huge multipliers, and do work without cause. Those overlaps are ignored
 * (impulse.c). */
static zw_status take_best(step_impulse *s, progress *at, zw_error *error)
{
    int done = 0;
    zw_status status = ZW_INACCURATE;
    if (s->last_resort && at->soundest < INFINITY) {
        memcpy(s->u, s->best, (size_t)s->system->n * sizeof(double));
        status = look(s, 1, at, &done, error);
    }
    if (status == ZW_OK && s->problem.rows > 0) {
        impulse_metric(s);
        impulse_factor(s);
        status = step_held(s, 0, error);
        status = status == ZW_OK ? look(s, 1, at, &done, error) : status;
    }
    int near = at->off <= (s->last_resort > 1 ? FAIR : NEAR);
    int excused = at->held || at->left <= FAIR; /* free flight has no excuse */
    int taken = status == ZW_OK && (unsound(at) <= 1 || (near && excused && !impulse_parts(s)));
    if (!taken) {
        return status == ZW_NO_MEMORY ? status
                                      : base_fail(error, ZW_INACCURATE,
                                                  "the equations of the step could not be solved");
    }
    s->residual = fmax(at->left, at->off);
    s->missed = 1;
    return ZW_OK;
}

/* Is Newton's method for the whole step (impulse_chord.c) useful? Not where bodies turn far in a
 * step: its derivatives are for small rotations. Small contact problems are left to the kernel,
 * which decides how a load is shared (gauss/contact/choose.h) and what sticks, to round-off. */
static int may_follow(const step_impulse *s, const progress *at)
{
    int small =
        s->chord.small && (s->touch.found.count > 0 || (s->touch.is_there && s->problem.rows == 0));
    return s->chord.is_there && !small && !impulse_hardly_moves(s) && s->theta < 0.5 &&
           !s->with_N && at->failed <= FAILURES;
}

/* Are all derivatives needed? Without its curvature a rim is not followed. */
static int wants_slopes(const step_impulse *s, const progress *at)
{
    int due = at->slow >= SLOW && (!s->with_N || at->slow % SLOW == 0);
    return s->touch.stay.merged || (due && !may_follow(s, at));
}

/* Would the current factors take more than two further rounds, although those of this iterate gain
 * more in one? */
static int contracts_slowly(const step_impulse *s, const progress *at)
{
    return at->part > STALE && at->part * at->part * at->left > s->close;
}

/* A round by it, with modes known from the previous round or step. 0: they are not, or it made no
 * progress. */
static int step_by_chord(step_impulse *s, progress *at, int round)
{
    int nearer = at->left < 0.5 * at->before || (!at->placed && at->off < 0.5 * at->off_before);
    int worse = at->followed && !nearer;
    int old = at->followed && round > 1 && contracts_slowly(s, at);
    at->failed += worse;
    at->followed = 0;
    at->chord &= !worse;
    if (worse || !may_follow(s, at)) {
        return 0;
    }
    if (!at->chord || old || !chord_fits(s)) {
        at->chord = chord_factor(s);
    }
    at->followed = at->chord && chord_step(s, round == 0);
    at->failed += !at->followed;
    at->chord &= at->followed;
    if (at->followed) {
        impulse_settle(s, &s->problem, s->u);
    }
    return at->followed;
}

/* No rows are active, and a round diverged: rounds without all derivatives of inertia do that where
 * moments of inertia differ much (the momentum of a needle along its axis is a small remainder of
 * that across it). Then all derivatives are computed, at the best iterate. */
static int strays(const step_impulse *s, const progress *at, int round)
{
    return s->U && round > 1 && !at->held && !s->with_N && at->left > at->before;
}

static zw_status turn_back(step_impulse *s, int round, progress *at, zw_error *error)
{
    int done;
    memcpy(s->u, s->best, (size_t)s->system->n * sizeof(double));
    at->followed = at->chord = 0;
    zw_status status = look(s, round, at, &done, error);
    at->before = INFINITY;
    return status;
}

/* For a flight that is to end at an impact. */
static void move_end(step_impulse *s, progress *at)
{
    int moved = impulse_seek_on(s);
    at->left = moved ? INFINITY : at->left;
    at->made &= moved != 2;
}

/* Something lands: the step will be divided there, and its end without that need not be known. */
static int lands(step_impulse *s)
{
    impulse_landing *land = &s->touch.land;
    if (land->watched) {
        impulse_find_landings(s);
        land->seen = impulse_note_landings(s);
    }
    return land->seen;
}

/* The same by forces that are nearly final. */
static int sees_landing(step_impulse *s, const progress *at, int round)
{
    return round > 0 && at->left <= NEARLY && lands(s);
}

/* A round of Newton's method. The first one may already find a landing: then the residual is not
 * known, and will not be needed. */
static int goes_on_by_chord(step_impulse *s, progress *at, int round)
{
    int goes = step_by_chord(s, at, round);
    int landed = goes && round == 0 && lands(s);
    if (goes) {
        s->residual = landed ? 0 : at->left;
    }
    if (goes && !landed) {
        move_end(s, at);
    }
    return goes;
}

/* Rounds of contacts that stagnate near the solution: arms whose two points both stick on the
 * floor, for example, hold each other with more rows than they have joints, and forces creep from
 * one to another until something slides, at 1e-10 m/s. Halves of the step do the same. So it is
 * accepted, and its error is reported. Those of small problems converge by themselves. */
static int stagnates(step_impulse *s, progress *at)
{
    enum { REPEATS = 4 };
    int enough = s->touch.found.count > 0 && s->system->n > GAUSS_CHOOSE_MOST &&
                 at->lost > REPEATS && unsound(at) <= 0.1;
    s->missed |= enough;
    at->left = enough ? fmax(at->left, at->off) : at->left;
    return enough;
}

zw_status impulse_solve_rounds(step_impulse *s, zw_error *error)
{
    enum { IDLE = 3, LOST = 16 };
    progress at = {.left = INFINITY, .measured = INFINITY, .best = INFINITY, .soundest = INFINITY};
    zw_status status = ZW_OK;
    s->missed = s->rests = s->with_N = s->touch.stay.apart = 0;
    for (int round = 0; round < ROUNDS && status == ZW_OK && !s->touch.land.seen; round++) {
        s->rounds = round;
        int done = 0;
        if (impulse_stops(s)) {
            return base_fail_as(error, ZW_INTERRUPTED);
        }
        status = look(s, round, &at, &done, error);
        if (status != ZW_OK || done || sees_landing(s, &at, round) || stagnates(s, &at)) {
            s->residual = at.left;
            return status;
        }
        if (round > 0 && (!isfinite(at.left) || (at.lost > LOST && s->touch.found.count > 0) ||
                          (round > MANY && s->last_resort && at.soundest <= 1))) {
            break;
        }
        int newton = wants_slopes(s, &at);
        if (strays(s, &at, round)) {
            status = turn_back(s, round, &at, error);
            at.failed = FAILURES + 1;
            newton = 1;
        }
        if (s->with_N && at.idle >= IDLE && s->touch.found.count > 0) {
            at.made = at.slow = at.idle = newton = 0;
            s->with_N = 0;
            s->touch.stay.apart = 1;
        }
        if (!at.made) {
            impulse_metric(s);
            at.made = 1;
            at.factored = at.chord = 0;
        }
        if (goes_on_by_chord(s, &at, round)) {
            continue;
        }
        s->touch.land.seek.moves = 0; /* it is Newton's rule that finds the time of an impact */
        if (!at.factored) {
            at.definite = impulse_factor(s);
            at.factored = 1;
        }
        if (newton && s->U) {
            at.idle = s->with_N ? at.idle : 0;
            impulse_slopes(s);
        }
        s->residual = at.left;
        if (s->problem.rows == 0 && (at.definite || s->with_N)) {
            step_free(s);
        } else { /* the kernel says what is wrong with a metric */
            status = step_held(s, at.left, error);
        }
    }
    int ends = s->touch.land.seen || (status != ZW_OK && !s->last_resort);
    return ends ? status : take_best(s, &at, error);
}

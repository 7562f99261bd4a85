/* The rounds of a step: impulse.c has their equations. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "gauss/contact/choose.h"
#include "model/pose.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

enum { ROUNDS = 60, FEW = 3, MANY = 12, HEAP = 300, FAILURES = 2 };
#define FIRST 1e-6  /* certificate that the first solve is asked for, */
#define NEARLY 1e-3 /* of the balance, where landings are seen */
#define STALE 1e-2  /* of what was left: factors of an iterate that gain less are of another one */
#define INNER 1e-3  /* and later ones, to what the balance was off before them, */
#define LAST 1e-11  /* down to this; */
#define GAIN 0.1 /* a solve that gets this far is not worth more effort: there is another round */
#define ENOUGH 1e-9   /* of the balance, where round-off does not let it be better */
#define LAW 1e-11     /* of the slip of contacts, to the speeds of their points */
#define STILL 1e-9    /* way in a step, to the size of the mechanism: hardly_moves */
#define PLACE 1e-13   /* of phi, to the size of the mechanism: as near as round-off allows */
#define TOUCHING 1e-9 /* of gaps, likewise: those are closed */
#define NEAR 1e-6     /* the same, where the kernel has come to the end of its effort, */
#define FAIR 1e-3     /* with a certificate that is no worse than this */
#define SANE                                                                                       \
    0.1            /* or this, where more than HEAP speeds are one island: no part of a step helps \
                    */
#define SOUND 1e-6 /* of the balance, and */
#define FIRM 1e-9  /* of places: rounds that lead no farther end with that, and it is reported */

/* How far the largest coordinate of a centre of mass is from the origin. */
double impulse_extent(const step_impulse *s)
{
    const tree_mechanism *tree = s->system->tree;
    double most = 1;
    for (int k = 3; k < 3 * tree->bodies; k++) {
        double x = fabs(s->begin[tree->at.com + k]);
        most = x > most ? x : most;
    }
    return most;
}

double impulse_touching(const step_impulse *s)
{
    return TOUCHING * impulse_extent(s);
}

/* How far places may be off. A relative error of u that the balance may have, s->close, moves them
 * by that part of the way of the step, which is that of the centre of mass that goes farthest, or
 * what it could fall in it; places are held to INNER of that. */
static double place_error(const step_impulse *s)
{
    const tree_mechanism *tree = s->system->tree;
    const double *from = s->begin + tree->at.com, *to = s->work->sweeps + tree->at.com;
    const double fall = s->h * s->h * sqrt(model_dot(tree->gravity, tree->gravity));
    double way = 0;
    for (int k = 3; k < 3 * tree->bodies; k++) {
        way = fmax(way, fabs(to[k] - from[k]));
    }
    return fmax(PLACE * impulse_extent(s), fmax(INNER * s->close, s->accuracy) * (way + fall));
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
    s->futile += p->answer.futile;
    s->work->effort.factors += p->answer.factorizations;
}

/* ---- One round ------------------------------------------------------------------------------ */

/* u = u - H \ r, or by N, and then no farther than r gets smaller. */
static void step_free(step_impulse *s)
{
    enum { HALVES = 8 };
    int n = s->system->n;
    double left = impulse_norm(s, s->r), part = 1, *way = s->push; /* without rows it is free */
    s->problem.answer.certificate = 0; /* nothing was asked of the kernel */
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

/* What the rounds have come to. */
typedef struct progress {
    double left, before;    /* of the balance, relative */
    double best;            /* that was ever left */
    double off, off_before; /* of places, the worst, to the size of the mechanism */
    double soundest;        /* the least of what places and balance were off together */
    int placed;             /* that is as little as is asked for */
    int held;               /* there were rows in some round */
    int slow;               /* rounds that contracted slowly */
    int idle;               /* the last so many rounds did not contract at all, */
    int lost;               /* and did not get nearer than all before */
    int made;               /* H is there for these modes, */
    int factored;           /* with its factors, */
    int definite;           /* and H is a metric */
    int chord;              /* the factors of impulse_chord.c are there; */
    int followed;           /* they led to this iterate, */
    int failed;             /* and have failed so many times */
} progress;

/* At q1, which the sweeps know, but not the speeds. */
static zw_status find_contacts(step_impulse *s, zw_error *error)
{
    if (s->touch.is_there) {
        tree_velocities(s->system->tree, s->u, s->work->sweeps);
    }
    return impulse_find_contacts(s, s->work->sweeps, s->u, error);
}

/* How far an iterate is from one that could be taken for the answer: below 1 it could. */
static double unsound(const progress *at)
{
    return fmax(at->left / SOUND, at->off / FIRM);
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

/* No coordinate moves by more than round-off of places. */
static int is_at_rest(const step_impulse *s)
{
    return farthest(s) <= 0.2 * PLACE;
}

/* And all contacts, limits, equality constraints and boxes have multipliers of the step before:
 * what has been found at q0 is what is at q1. */
static int may_rest(const step_impulse *s)
{
    return s->problem.rows > 0 && s->problem.fresh == 0 && is_at_rest(s) &&
           s->touch.deep_count == 0;
}

/* What hardly moves comes to rest by the kernel, whose speeds end at round-off; with those that
 * Newton's rule leaves (1e-11 on a humanoid) the step of a robot that lies still costs all its
 * rounds for ever. */
int impulse_hardly_moves(const step_impulse *s)
{
    return farthest(s) <= STILL * impulse_extent(s);
}

/* Contacts of the first round may be those of where v0 leads, which is nearer the end of the step
 * than q0 is: where all are known from the step before, and nothing is so fast that it could be
 * through something there. */
static int may_look_ahead(const step_impulse *s)
{
    return s->calm && s->chord.is_there && !impulse_hardly_moves(s) && s->touch.found.count > 0 &&
           !s->chord.small;
}

void impulse_note_trend(step_impulse *s, const double *from, const double *to, double time)
{
    s->has_trend = s->chord.is_there && time > 0 && !s->touch.sweep.linear;
    for (int i = 0; i < s->system->n && s->has_trend; i++) {
        s->trend[i] = (to[i] - from[i]) / time;
    }
}

/* v1 and u of a step are the speeds at its end and in its middle: v1 + (v1 - u) is that in the
 * middle of the next one, up to O(h^2), as long as no contact opens or closes. And one that is
 * taken again, for another time, goes on as it did. */
void impulse_extrapolate(step_impulse *s)
{
    int smooth = s->has_trend && !s->chord.small && !impulse_hardly_moves(s) && s->theta < 0.5;
    for (int i = 0; i < s->system->n && smooth; i++) {
        s->u[i] += impulse_late(s) * s->trend[i];
    }
}

/* Islands that have come to their answer stay as they are, while the rounds of others go on: those
 * of which the balance and the laws leave no more than the step is asked for, each on its own. The
 * squares of what may be left sum up to at most that of the whole. */
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

/* What the balance and the laws leave at u, and how that has come along. 1: it is enough. */
static int measure(step_impulse *s, int round, int more, progress *at)
{
    int small = s->chord.small; /* their rounds go to the end by themselves */
    for (int i = 0; i < s->system->n; i++) {
        s->other[i] = s->r[i] - s->push[i];
        s->owed[i] = small ? 0 : s->other[i];
    }
    impulse_miss_of_boxes(s, s->other);
    at->before = at->left;
    at->left = impulse_norm(s, s->other);
    double all = at->left;
    at->left = fmax(at->left - impulse_noise(s, 0), 0);
    double size = impulse_size(s);
    at->left = size > 0 ? at->left / size : at->left;
    double off = fmax(impulse_violation(s), impulse_depth(s));
    impulse_miss miss = impulse_law_miss(s);
    if (!at->followed) { /* Newton's rule knows how right sides change */
        off = fmax(off, impulse_unsettled(s));
    }
    off = fmax(off, miss.way);
    at->left = fmax(at->left, miss.slip * s->close / fmax(s->close, LAW));
    at->placed = off <= place_error(s);
    int there = at->left <= s->close && at->placed;
    find_settled(s, round, more, miss);
    at->slow += round > 1 && !there && !(at->left < 0.25 * at->before);
    at->idle = at->left < 0.7 * at->before ? 0 : at->idle + 1;
    at->lost = at->left < 0.7 * at->best || more > 0 ? 0 : at->lost + 1;
    at->best = fmin(at->best, at->left);
    int noise = at->idle > 2 && s->touch.found.count > 0 && all <= impulse_noise(s, 1);
    int ends =
        at->idle > 2 && (at->left <= ENOUGH || noise) && off <= 10 * PLACE * impulse_extent(s);
    at->left = ends && noise ? 0 : at->left; /* round-off is no error of the solver */
    there |= ends;
    at->off_before = at->off;
    at->off = off / impulse_extent(s);
    note_best(s, at);
    if (round > 0 && impulse_gave_up(s, &s->problem) && at->left <= s->problem.answer.certificate) {
        at->left = s->problem.answer.certificate;
        double near = round > FEW ? fmin(NEAR, at->left) : 1000 * PLACE;
        there |= off <= near * impulse_extent(s);
    }
    return there;
}

/* At u: the balance and the rows; are we there? */
static zw_status look(step_impulse *s, int round, progress *at, int *done, zw_error *error)
{
    *done = s->changed = 0;
    s->problem.excess = NULL;
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
    int ahead = status == ZW_OK && round == 0 && !is_at_rest(s) && may_look_ahead(s);
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

/* The rounds have led nowhere: one more from the best iterate that there was. It is taken where the
 * step is not to be cut into smaller pieces, and what it misses is reported; but not where it is to
 * part overlaps: rows that contradict each other have huge multipliers, and do work that
 * has no cause. Those overlaps are let go (impulse.c). */
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
    int excused = at->held || at->left <= FAIR; /* what flies freely has no excuse */
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

/* Is Newton's rule for the whole step (impulse_chord.c) of use? Not where a step turns things by
 * much: its slopes are those of small turns. Small problems of contact are the kernel's, which says
 * how a load is shared (gauss/contact/choose.h) and what sticks, to round-off. */
static int may_follow(const step_impulse *s, const progress *at)
{
    int small =
        s->chord.small && (s->touch.found.count > 0 || (s->touch.is_there && s->problem.rows == 0));
    return s->chord.is_there && !small && !impulse_hardly_moves(s) && s->theta < 0.5 &&
           !s->with_N && at->failed <= FAILURES;
}

/* Would the current factors take more than one round more, although those of this iterate gain more
 * in one than they do? */
static int contracts_slowly(const step_impulse *s, const progress *at)
{
    double part = at->left / at->before;
    return part > STALE && part * at->left > s->close;
}

/* A round by it, with what is held known from the round, or the step, before. 0: that is not so, or
 * it did not lead on. */
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

/* Nothing holds it, and a round led away: rounds whose slopes of inertia are not all there do where
 * moments of inertia differ much (a needle's momentum along its axis is what is left of that across
 * it). Then all slopes are found, at the best iterate that there was. */
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

/* Of a flight that is to end at an impact. */
static void move_end(step_impulse *s, progress *at)
{
    int moved = impulse_seek_on(s);
    at->left = moved ? INFINITY : at->left;
    at->made &= moved != 2;
}

/* Something lands, by forces that are nearly those of the end: the step will be cut there, and
 * what it would come to otherwise need not be known. */
static int sees_landing(step_impulse *s, const progress *at, int round)
{
    impulse_landing *land = &s->touch.land;
    if (land->watched && round > 0 && at->left <= NEARLY) {
        impulse_find_landings(s);
        land->seen = impulse_note_landings(s);
    }
    return land->seen;
}

/* Rounds of contacts that stagnate near the answer: arms whose two points both stick on the floor,
 * say, hold each other with more rows than they have joints, and forces creep from one to another
 * until something slides, at 1e-10 m/s. In halves of the step they do the same. So it is taken, and
 * what it misses is reported. Those of small problems go to the end by themselves. */
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
    enum { SLOW = 2, IDLE = 3, LOST = 16 };
    progress at = {.left = INFINITY, .best = INFINITY, .soundest = INFINITY};
    zw_status status = ZW_OK;
    s->missed = s->rests = s->with_N = 0;
    for (int round = 0; round < ROUNDS && status == ZW_OK; round++) {
        s->rounds = round;
        int done = 0;
        if (impulse_stops(s)) {
            return base_fail(error, ZW_INTERRUPTED, "%s", zw_status_text(ZW_INTERRUPTED));
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
        int newton = at.slow >= SLOW && (!s->with_N || at.slow % SLOW == 0) && !may_follow(s, &at);
        if (strays(s, &at, round)) {
            status = turn_back(s, round, &at, error);
            at.failed = FAILURES + 1;
            newton = 1;
        }
        if (s->with_N && at.idle >= IDLE && s->touch.found.count > 0) {
            at.made = at.slow = at.idle = newton = 0;
            s->with_N = 0;
        }
        if (!at.made) {
            impulse_metric(s);
            at.made = 1;
            at.factored = at.chord = 0;
        }
        if (step_by_chord(s, &at, round)) {
            s->residual = at.left;
            move_end(s, &at);
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
    return status != ZW_OK && !s->last_resort ? status : take_best(s, &at, error);
}

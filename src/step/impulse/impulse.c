/* Gauss's principle for the next velocity (docs/mathematics.md, section 23), implicit, for rigid
 * bodies.
 *
 * The unknown is u, the mean speed over the step: it leads from q0 to q1 = q0 (+) h u.
 *
 * Balance.  P = (J omega, m v) are the momenta of the bodies along the axes of the world, about
 * their centres of mass; S are the motions of the coordinates. With 0 <= theta <= 1,
 *
 *     S' (P+ - P(q0, v0) - fall (0, m g)) + armature (u - v0) = fall f(qf, u) + A' lambda
 *
 *     P+ = P(q1 (-) late u, u),    late = (1 - theta) h/2,    fall = h - late,
 *     S, A at q0 (+) theta h u
 *
 * Then v1 from the remaining time of the forces: impulse_close.c.
 *
 * Inertial forces need no separate terms: gyroscopic and centrifugal forces arise because P is a
 * vector in the world frame while J and S turn.
 *
 * Forces. f are those of springs, dampers, motors and formulas at the time ahead = (1 + sigma) h/2
 * after the start of the step, at qf = q0 (+) ahead u, with the mean speed u. sigma = 0 is the
 * implicit midpoint rule: order two, and it gains no energy for any stiffness or feedback gain, but
 * stiff components oscillate for ever: with constant M, D, K, v1 = (1 - hD/2M)/(1 + hD/2M) v0 for a
 * damper, which goes to -v0. sigma = 1: all at the end, u = (M + fall (D + h K)) \ (M v0 - fall K
 * q0), which decays for every h but is of order one. sigma = balance_ramp(x^2), x the largest of (h
 * D + h^2 K)/M over the coordinates, by their diagonals at (q0, v0): 0 up to x = 0.2, which for a
 * spring is h n = 0.45, 1 from 0.5 on, and never less than theta.
 *
 * theta = 0: momenta in the middle of steps, impulses at their ends. With the constraints below
 * that is Hamilton's principle for the midpoint rule (up to S, which is taken at q0 for all bodies
 * of a chain): with u of one step and w of the step before, turned round in time, (u, w) -> (-w,
 * -u), the equations without f are the same. Energy then oscillates within O(h^2) without drift as
 * long as bodies turn little in a step; but the method is only as stable as an explicit one: a
 * pendulum of frequency n needs h n < 2, and a chain that whirls by half a radian per step gains
 * energy without bound (measured). theta = 1: all at the end. Then S u = V(q1, u), and for every
 * body m v1 . (v1 - v0) >= m (v1^2 - v0^2)/2, so that kinetic energy grows by no more than the work
 * of the forces. (The turning part: with J that of the end and G the rotation from the start to the
 * end, G' J G is that of the start. omega1 . (L1 - L0) = T1 - T0 + 1/2 (omega1 - omega0)' J0
 * (omega1 - omega0) + 1/2 omega1' (J1 - J0) omega1, and the last term is zero where G turns about
 * omega1: for each body that one joint holds to the world. For others it is of second order in h;
 * no sign is known for it.) This loses energy at first order in h. theta = balance_ramp((h n)^2)
 * with n the fastest rate at which a joint or a parent rotates a centre of mass, at which a body
 * would oscillate under its weight, or at which its angular momentum rotates in the body
 * (balance_theta): 0 up to h n = 0.2, so that motions resolved by a step have order two, and 1 from
 * 0.5 on, where steps are too long to resolve the motion.
 *
 * Free body: the equation is L+ = L-, at any h and theta: angular momentum is kept exactly, and
 * T = 1/2 L . J \ L stays between L^2/2J of the largest and of the smallest axis. With theta = 1
 * T cannot grow: with w = J1 \ L and d = G' L - L, w . d = 0 as G turns about w, and
 * T0 = 1/2 (L + d) . J1 \ (L + d) = T1 + 1/2 d . J1 \ d.
 *
 * Constraints. phi(q1) = 0, solved to round-off. Rows on speeds, A v + psi(q, t) = 0, by the
 * trapezoidal rule: the mean of A u + psi at both ends of the step is 0, at q0 (+) theta h u and at
 * q1. Limits: phi(q1) >= 0 and lambda >= 0, one of them 0. A limit is added once an iterate
 * violates it; none is removed, so that terminates. u is tangent to the constraints at the middle,
 * and at q1 only up to O(h); v1 satisfies the rows at q1 and violates no limit (stops have no
 * restitution): one more solve of the kernel.
 *
 * Boxes. A motor's force is its law at (qf, u), clamped to its range. Dry friction holds, e . u = 0
 * with |lambda| <= fall limit, or exerts its full force against e . u. Both are box constraints in
 * the problem of each round: impulse_boxes.c.
 *
 * Rounds. For the iterate u with r(u) = left side - fall f: H (u' - u) + r = A' lambda, H = M(q0) +
 * fall (D + ahead K) with the slopes of springs, dampers and motors that are inside their boxes:
 * Gauss's problem in the metric H. Where it is known which contacts stick, slide or are open,
 * usually from the step before, rounds are Newton steps for all of this at once (impulse_chord.c):
 * for robots, which turn little in a step, the error falls by a factor of about 1000 per round, and
 * the kernel is used where that fails. Derivatives that H does not contain, those of inertia and
 * the asymmetric ones, make the rounds contract by about h |w| only; H is kept for the step. Where
 * they contract too slowly (fast tops, large steps), all derivatives N of r are found by
 * differences, and the rounds continue as z = u - N \ (r - A' lambda), H (u' - z) = A' (lambda' -
 * lambda): Newton's method without rows, and with the same fixed points always; where contacts make
 * that fail, with H again. A step whose rounds do not converge, or whose contacts gain energy
 * (impulse_work.c), is taken in halves, down to 1/256 of it; a piece of that size is accepted as
 * well as it can be solved, unless constraints are violated. Rounds that only reach SOUND and FIRM
 * (impulse_rounds.c) end there. Such steps are counted, and their residual is reported. The
 * kernel's effort on one contact problem is bounded (EFFORT). Where it ends near the law but not at
 * it, with a certificate up to FAIR, as in impacts of many bodies at once, the balance need be no
 * better than that certificate and positions no better than NEAR; the residual of the step is then
 * the certificate.
 *
 * State. (q, v) is the whole state. The initial guess of the multipliers is passed on in the state
 * as well: impulse_memory.c. */
#include "step/impulse/impulse.h"
#include "step/chain/chain.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gauss/tolerances.h"
#include "step/sleep/sleep.h"
#include "step/split/split.h"
#include "tree/sweeps.h"

enum { PIECES = 256, LEAST = 16, SHORT = 8, CUTS = 100 };
#define SHORTEST 1e-6         /* of a step: no piece is shorter */
#define FAILED_WORK 3e7       /* operations: about a hundredth of a second; */
#define FAILED_WORK_FAST 1e11 /* and where bodies are fast: about half a minute */
#define JAM 1e-6 /* up to this certificate, Coulomb's law is not considered to have no solution */

/* ---- A step --------------------------------------------------------------------------------- */

/* One round is all that is requested. What it leaves of phi and of depths is where the next step
 * starts. */
static int is_first_enough(const step_impulse *s)
{
    return s->close >= 1 && !s->touch.bounces;
}

void impulse_note_extent(step_impulse *s)
{
    const tree_mechanism *tree = s->system->tree;
    s->extent = 1;
    for (int k = 3; k < 3 * tree->bodies; k++) {
        double x = fabs(s->begin[tree->at.com + k]);
        s->extent = x > s->extent ? x : s->extent;
    }
}

void impulse_see(step_impulse *s, const double *q)
{
    tree_kinematics(s->system->tree, q, s->begin);
    impulse_note_extent(s);
    memcpy(s->q_begin, q, (size_t)s->system->nq * sizeof(double));
    s->composed = 0;
}

/* What is known about q1 at the end of a piece serves as the start of the next one. */
static void see_end(step_impulse *s)
{
    if (s->sees_q1) {
        memcpy(s->begin, s->work->sweeps, (size_t)s->system->tree->at.count * sizeof(double));
        impulse_note_extent(s);
        memcpy(s->q_begin, s->q1, (size_t)s->system->nq * sizeof(double));
        s->composed = 1;
    }
}

void impulse_see_start(step_impulse *s)
{
    if (memcmp(s->q_begin, s->q0, (size_t)s->system->nq * sizeof(double)) != 0) {
        impulse_see(s, s->q0);
    }
}

void impulse_begin_length(step_impulse *s)
{
    s->theta = balance_theta(s->system, s->begin, s->v0, s->h);
    s->fall = s->h - impulse_late(s);
    impulse_begin_forces(s);
}

/* By one linearisation. *taken: nothing remains to be done in the current piece. */
static zw_status take_quickly(step_impulse *s, double *v1, int *taken, zw_error *error)
{
    double gained = s->gained;
    zw_status quick = impulse_quick(s, v1, error);
    s->sees_q1 = 0;
    *taken = quick == ZW_NO_MEMORY || (quick == ZW_OK && !impulse_gains(s, v1, gained));
    if (*taken) {
        return quick;
    }
    s->gained = gained;
    s->touch.sweep.linear = s->plain = 0;
    if (s->may_be_shorter) {
        *taken = 1;
        return base_fail(error, ZW_INACCURATE, "one linearisation is not enough");
    }
    s->problem.old_blocks = 0;
    impulse_begin_boxes(s, 0);
    return ZW_OK;
}

/* Frames of all bodies at q0, and their inertias. */
static void find_frames(step_impulse *s)
{
    impulse_see_start(s);
    if (!s->composed) {
        tree_composite(s->system->tree, s->begin);
        s->composed = 1;
    }
}

/* Rows of constraints at q0, and limits that are closed there. */
static void find_rows(step_impulse *s)
{
    s->theta = 0;
    impulse_place_rows(s);
    impulse_limits_begin(s, s->psi0, s->A0);
    impulse_touch(s);
}

/* The momenta at (q0, v0), and where in the piece momenta and forces are taken. */
static void find_balance(step_impulse *s)
{
    tree_velocities(s->system->tree, s->v0, s->begin);
    impulse_begin_length(s);
    impulse_begin_balance(s);
}

/* The first iterate is v0; where that would lead no farther than round-off, rest: then the points
 * at q0 are those at q1, and a step that is accepted there is repeated for ever. With v0 bodies
 * would go on by 1e-14 m a step until a gap is wrong, and its correction sets them in motion. */
static void guess_speeds(step_impulse *s)
{
    int rests = impulse_is_at_rest(s);
    for (int i = 0; i < s->system->n; i++) {
        s->u[i] = rests ? 0 : s->v0[i];
    }
}

/* Points of contact at q0; then u, the balance and its rows in rounds. Where that fails from
 * extrapolated speeds, once more from v0; where it fails and bodies roll, once more with all
 * impulses at q1. */
static zw_status solve(step_impulse *s, zw_error *error)
{
    impulse_rolling *rolling = &s->touch.rolling;
    zw_status status;
    int guessed, failed;
    do {
        guess_speeds(s);
        status = impulse_find_contacts(s, s->begin, NULL, error);
        guessed = impulse_extrapolate(s);
        status = status == ZW_OK ? impulse_solve_rounds(s, error) : status;
        failed = status != ZW_OK && status != ZW_NO_MEMORY && !impulse_stops(s);
        s->has_trend &= !(guessed && failed);
        rolling->off = !guessed && status == ZW_INACCURATE && rolling->count > 0 && !rolling->off;
    } while (rolling->off || (guessed && failed));
    return status;
}

/* The speeds at the end; they must not gain energy in a piece that may be halved. */
static zw_status close_piece(step_impulse *s, double *v1, zw_error *error)
{
    impulse_find_landings(s);
    zw_status status = impulse_close(s, v1, error);
    s->sees_q1 = status == ZW_OK && !s->watch;
    if (status == ZW_OK && s->may_be_halved && impulse_is_driven(s, v1)) {
        status = base_fail(error, ZW_INACCURATE, "contacts would gain energy");
    }
    if (status == ZW_OK && s->touch.land.cut) {
        impulse_note_push(s);
    }
    if (status == ZW_OK && s->watch) {
        s->watch->solved(s->watch->user, s, v1);
    }
    return status;
}

/* From (s->q0, s->v0) over s->h: q1 in s, the speeds in v1. */
zw_status impulse_take(step_impulse *s, double *v1, zw_error *error)
{
    int linear = is_first_enough(s), taken = 0;
    double gained = s->gained;
    zw_status status = ZW_OK;
    s->touch.land.seen = 0;
    s->touch.sweep.linear = linear;
    impulse_begin_boxes(s, linear);
    if (linear) {
        status = take_quickly(s, v1, &taken, error);
    }
    if (taken) {
        return status;
    }
    s->close = s->close >= 1 ? IMPULSE_BALANCED : s->close; /* for the rest of the step */
    s->sees_end = 0;
    find_frames(s);
    find_rows(s);
    find_balance(s);
    status = solve(s, error);
    if (status == ZW_OK && s->touch.land.seen) { /* it will be taken in flights */
        s->sees_q1 = 0;
        return ZW_OK;
    }
    status = status == ZW_OK ? close_piece(s, v1, error) : status;
    if (status != ZW_OK) { /* it may be tried again */
        s->sees_q1 = 0;
        s->gained = gained;
    }
    return status;
}

void impulse_move_on(step_impulse *s, const double *v1)
{
    see_end(s);
    memcpy(s->q0, s->q1, (size_t)s->system->nq * sizeof(double));
    memcpy(s->v0, v1, (size_t)s->system->n * sizeof(double));
}

static zw_contact_law law(const step_impulse *s)
{
    return s->problem.options.contact;
}

static void set_law(step_impulse *s, zw_contact_law contact)
{
    s->problem.options.contact = s->aside.options.contact = contact;
}

int impulse_is_spent(const step_impulse *s, int fast)
{
    return s->failed_work > (fast ? FAILED_WORK_FAST : FAILED_WORK);
}

int impulse_stops(const step_impulse *s)
{
    return s->work->stop && system_stops(s->work->stop);
}

/* Passes the poll function to the kernel. */
static void hand_down_stop(step_impulse *s)
{
    impulse_problem *all[] = {&s->problem, &s->aside};
    for (int k = 0; k < 2; k++) {
        all[k]->options.stop = s->work->stop ? system_stops : NULL;
        all[k]->options.user = s->work->stop;
    }
}

/* A piece could not be solved: can requirements for the rest of the step be relaxed? First that
 * shallow overlaps are separated which cannot be; for the shortest piece that any overlap is
 * separated, then Coulomb's law. */
static int asks_less(step_impulse *s, zw_status status, int shortest)
{
    int near = status == ZW_JAMMED || status == ZW_INACCURATE;
    int failed = status != ZW_OK && status != ZW_NO_MEMORY;
    if (failed && impulse_is_wedged(s)) {
        s->touch.sinks = 1;
        return 1;
    }
    if (shortest && failed && impulse_parts(s)) {
        s->touch.overlaps_ignored = 1;
    } else if (shortest && near && law(s) != ZW_CONTACT_CONVEX) {
        set_law(s, ZW_CONTACT_CONVEX);
    } else {
        return 0;
    }
    s->inexact = 1;
    return 1;
}

/* How a step is being taken in pieces; lengths in parts of the step. */
typedef struct pieces {
    double h;       /* the step */
    double done;    /* the part that has been taken */
    double size;    /* the longest piece to try next */
    double least;   /* no piece is shorter */
    double solved;  /* the longest piece solved */
    double pace;    /* of the fastest body (impulse_pace); -1: not needed yet */
    int again;      /* the last piece is tried again, shorter */
    int cuts, good; /* pieces that ended where bodies meet; and the last ones that were solved */
} pieces;

/* Sets the length of the next piece and what is allowed in it; returns its part of the step. */
static double begin_piece(step_impulse *s, pieces *at)
{
    double part = fmin(at->size, 1 - at->done);
    at->pace = at->pace < 0 && at->again ? impulse_pace(s, at->h) : at->pace;
    const int fast = at->pace > 1, spent = impulse_is_spent(s, fast);
    at->least = spent ? 1 : fast ? SHORTEST : 1.0 / PIECES;
    if (fast && !at->again && !is_first_enough(s)) { /* with one linearisation: afterwards */
        part = fmin(part, fmax(impulse_until_meeting(s, at->h * part) / at->h, SHORTEST));
    }
    s->h = at->h * part;
    s->calm = at->pace >= 0 && at->pace <= 1;
    s->may_be_halved = part > at->least;
    s->may_be_shorter = part > 1.0 / SHORT && part > at->least;
    s->last_resort = fast && !spent ? part <= at->least : 2 * (spent || part <= 1.0 / LEAST);
    s->problem.jammed = s->aside.jammed = part > at->least ? 0 : JAM;
    s->touch.sweep.strict = fast && part > at->least;
    return part;
}

/* The piece failed, or bodies meet in it that it did not consider, after this part of it: then
 * something shorter is tried. */
static int shorten_piece(step_impulse *s, pieces *at, zw_status status, double part, double open)
{
    int cut = status == ZW_OK && open < 1 && part > SHORTEST && at->cuts < CUTS;
    at->solved = status == ZW_OK ? fmax(part, at->again ? 0 : at->solved) : 0;
    at->good = status == ZW_OK ? at->good + 1 : 0;
    at->again = status != ZW_OK || cut;
    if (at->again) {
        s->halved = 1;
        s->problem.old_blocks = 0; /* a failed solve gives no guess */
        at->size = fmax(open * part, cut ? SHORTEST : at->least);
        at->cuts += cut;
    }
    return at->again;
}

/* Goes on from its end. */
static void end_piece(step_impulse *s, pieces *at, double part, double open, const double *v1)
{
    s->touch.sweep.sure &= open == 1 || part <= SHORTEST;
    double required = s->accuracy > 0 ? s->accuracy : s->close;
    s->inexact |= s->missed || s->residual > fmax(required, GAUSS_GOOD);
    at->done += part;
    if (s->watch) {
        s->watch->taken(s->watch->user, s, 0);
    }
    impulse_pass(s, v1);
    impulse_move_on(s, v1);
    at->size = at->cuts > 0 || at->pace > 1    ? (at->good > 4 ? 2 : 1) * at->solved
               : fmod(at->done, 2 * part) == 0 ? 2 * part
                                               : part;
}

/* Takes the step in pieces: halves, while one cannot be solved; and up to where bodies meet that
 * the piece did not consider (impulse_sweep.c), after which the rest is tried as a whole. Where
 * bodies are so fast that they would pass through each other, the first piece ends where they meet
 * if their speeds stay constant, and pieces may be shorter than 1/PIECES; and if no solution of
 * Coulomb's law is found for the shortest of them, the rest of the step uses the convex law, which
 * always has one. Before that, overlaps that were to be separated are ignored (impulse_part.c);
 * shallow ones that cannot be separated stay as they are, as soon as a piece cannot be solved.
 * Shorter pieces are not tried indefinitely: once failed solves have cost FAILED_WORK, the current
 * piece is the shortest. For fast bodies that limit is larger: trial states of a long piece have
 * them deep inside each other, with so many points that one such solve costs FAILED_WORK, and
 * shorter pieces have fewer. A remainder at the level of round-off is no piece: limits exceeded by
 * 1e-16 over 1e-18 s would become speeds. After CUTS meetings the rest of the step is taken without
 * looking for more, and reported as not proved: in a step of a year limbs meet without end. */
zw_status impulse_advance(step_impulse *s, double h, int *lands, double *v1, zw_error *error)
{
    const zw_contact_law contact = law(s);
    pieces at = {
        .h = h, .size = 1, .solved = 1, .pace = is_first_enough(s) ? -1 : impulse_pace(s, h)};
    zw_status failed = ZW_OK;
    int landed = 0;
    while (1 - at.done > IMPULSE_ROUNDED && failed == ZW_OK && !landed &&
           !impulse_stops(s)) { /* impulse_step reports it */
        double part = begin_piece(s, &at), gained = s->gained;
        s->touch.land.watched = lands && part == 1;
        zw_status status = impulse_take(s, v1, error);
        landed = status == ZW_OK && s->touch.land.seen;
        if (landed) {
            continue;
        }
        if (asks_less(s, status, part <= at.least)) {
            s->failed_work = at.again = 0;
            at.size = 1;
            continue;
        }
        if (status != ZW_OK && (status == ZW_NO_MEMORY || part <= at.least)) {
            failed = status; /* too many points may be in reach of a trial speed only: continue */
            continue;
        }
        double open = status == ZW_OK ? impulse_free_part(s) : 0.5;
        double blurred = status == ZW_OK ? impulse_blurred(s) : 0;
        if (blurred > 0) {
            failed = base_fail(error, ZW_INACCURATE,
                               "a body moves by %g in one step, and round-off of that is more than "
                               "its thickness; take shorter steps",
                               blurred);
            continue;
        }
        int shorter = shorten_piece(s, &at, status, part, open);
        landed = !shorter && lands && part == 1 && impulse_note_landings(s);
        if (shorter || landed) {
            s->gained = gained;
            continue;
        }
        end_piece(s, &at, part, open, v1);
    }
    if (landed) {
        *lands = 1;
    }
    set_law(s, contact);
    return failed;
}

int impulse_measure_ways(step_impulse *s)
{
    s->ways = base_alloc(((size_t)s->system->bodies->contact->geom_count + 1) * sizeof *s->ways);
    return s->ways != NULL;
}

void impulse_forget_ways(step_impulse *s)
{
    memset(s->ways, 0, (size_t)s->system->bodies->contact->geom_count * sizeof *s->ways);
}

/* Those of the piece from q0 by u. */
static void add_ways(step_impulse *s)
{
    const contact_world *world = s->system->bodies->contact;
    contact_path *path = &s->touch.sweep.path;
    contact_path_begin(path, s->q0, s->u, s->h);
    for (int k = 0; k < world->moving_count; k++) {
        s->ways[world->moving[k]] += contact_path_length(path, world->moving[k]);
    }
}

void impulse_pass(step_impulse *s, const double *v1)
{
    if (s->ways && s->touch.is_there) {
        add_ways(s);
    }
    impulse_count_landings(s);
    s->linear |= s->touch.sweep.linear;
    s->coarse |= s->sigma > 0;
    impulse_keep_push(s);
    s->t += s->h;
    impulse_note_trend(s, s->u, v1, impulse_late(s));
    memcpy(s->act0, s->act, (size_t)s->system->bodies->act_count * sizeof(double));
}

/* A step that failed: if a formula had no value, it is named. */
static zw_status blame(step_impulse *s, zw_status status, zw_error *error)
{
    zw_error other = {0};
    if (s->system->bodies->formulas && status != ZW_NO_MEMORY &&
        system_evaluate(s->system, s->work, PART_TERMS, s->t + s->h, s->q0, s->v0, NULL, NULL,
                        &other) == ZW_NOT_FINITE) {
        *error = other;
        return ZW_NOT_FINITE;
    }
    return status;
}

/* The state at the start, and nothing of the last step. */
static void begin_step(step_impulse *s, double t, double h, const double *q0, const double *v0)
{
    const double *carried = v0 + s->system->n + s->system->law.carried;
    memcpy(s->q0, q0, (size_t)s->system->nq * sizeof(double));
    memcpy(s->v0, v0, (size_t)s->system->n * sizeof(double));
    memcpy(s->first, v0, (size_t)s->system->n * sizeof(double));
    memcpy(s->act0, carried, (size_t)s->system->bodies->act_count * sizeof(double));
    s->t = t;
    s->h = h;
    s->gained = s->impact_loss = s->late = 0;
    s->work->effort = (struct system_effort){0};
    s->impacts = s->halved = s->inexact = s->linear = s->coarse = s->slow = s->turned = 0;
    s->failed_work = s->plain = 0;
    s->touch.overlaps_ignored = s->touch.sinks = 0;
    s->touch.sweep.sure = 1;
    s->touch.land.step = h;
    s->touch.land.pairs = s->touch.land.cut = s->touch.land.cuts = 0;
    s->touch.land.sum_count = s->touch.land.flight_count = 0;
    s->rough = s->touch.sweep.linear = is_first_enough(s);
    s->parts = s->overlaps;
    impulse_forget_landings(s);
    impulse_locks_begin(s);
    hand_down_stop(s);
}

/* The state at the end, and what the next step starts from. */
static void end_step(step_impulse *s, double *q1, double *v1)
{
    memcpy(q1, s->q1, (size_t)s->system->nq * sizeof(double));
    memcpy(v1 + s->system->n + s->system->law.carried, s->act0,
           (size_t)s->system->bodies->act_count * sizeof(double));
    s->sure = s->touch.sweep.sure;
    s->plain &= !s->halved;
    impulse_keep(s);
}

zw_status impulse_step(step_impulse *s, double t, double h, const double *q0, const double *v0,
                       double *q1, double *v1, zw_error *error)
{
    int lands = s->touch.bounces;
    double close = s->close;
    if (s->sleep) {
        return sleep_step(s, t, h, q0, v0, q1, v1, NULL, error);
    }
    if (s->chain) {
        return chain_step(s, t, h, q0, v0, q1, v1, error);
    }
    if (s->split && !is_first_enough(s) && split_step(s, t, h, q0, v0, q1, v1)) {
        return ZW_OK;
    }
    if (impulse_recall(s) < 0) {
        return base_no_memory(error);
    }
    begin_step(s, t, h, q0, v0);
    impulse_part(s);
    zw_status status = bodies_find_adhesion(s->system, s->work, s->q0, s->v0, IMPULSE_GRIP, error);
    if (status != ZW_OK) {
        return status;
    }
    status = lands ? ZW_OK : impulse_advance(s, h, &lands, v1, error);
    status = lands ? impulse_bounce(s, h, v1, error) : status;
    if (status == ZW_OK && !impulse_list_contacts(s, v1)) {
        status = base_no_memory(error);
    }
    s->close = close;
    if (impulse_stops(s)) { /* the result is incomplete */
        status = base_fail_as(error, ZW_INTERRUPTED);
    }
    if (status != ZW_OK) { /* v1 may be where v0 was */
        memcpy(v1, s->first, (size_t)s->system->n * sizeof(double));
        return blame(s, status, error);
    }
    end_step(s, q1, v1);
    return ZW_OK;
}

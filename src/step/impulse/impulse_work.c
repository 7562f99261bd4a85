/* The work done in a step by forces, drives, friction and impacts. The numerical loss or gain of
 * the step itself is not included: that is E - E0 - W, the drift of a run.
 *
 * Forces.  The coordinates go from q0 to q0 (+) h u, so a force Q without a potential, as the step
 * applies it, does the work h Q . u.
 *
 * Impulses.  A step leads from v0 (at q0) to u, and from there to v1 (at q1). Each time a sum of
 * impulses changes the speeds, and the impulse lambda of a row whose rate is s does
 *
 *     lambda (s before + s after)/2
 *
 * which is the kinetic energy that it gives, exactly, where s = A v with one and the same row A:
 * impacts, and friction that brings something to rest within the step. Of contacts that were closed
 * at q0, s is what is true at each instant: J(q0) v0, the mean slip of the step, J(q1) v1, and
 * along the normal 0 in between. J(q1) v0, which appears in the equations of the step, is not: a
 * rolling point arrives from above at the speed h R omega^2, and the apparent loss is an error of
 * the step. (A contact that was open has the row of q1 for all: it is an impact. One that
 * overlapped is being separated, and the work is the impulse times the displacement, whose speed is
 * no part of the motion.) Constraints at rest do no work; moving ones do, at the rate of their
 * prescribed motion: A u.
 *
 * Contacts without restitution and limits dissipate energy. In a step the energy may seem to grow,
 * as rolling oscillates by a part of h n; but the equations of a step that is too long have other
 * solutions, too: a rocking stone may as well have turned over, by a force at the point where it
 * arrives. There most of the kinetic energy comes from nowhere. Such a step is not the intended
 * solution, which tends to v0 with h: it is taken in halves. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "model/pose.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

#define GAIN                                                                                       \
    0.01 /* relative to the kinetic energy: more per step is no error of one linearisation */

/* Does constraint c ask for speeds other than 0? */
static int moves(const step_impulse *s, int c)
{
    int found = 0;
    for (int r = s->system->first_row[c]; r < s->system->first_row[c + 1]; r++) {
        found |= s->psi0[r] != 0 || s->psi[r] != 0;
    }
    return found;
}

static double row_times(const impulse_problem *p, int i, const double *v)
{
    double sum = 0;
    for (int e = p->start[i]; e < p->start[i + 1]; e++) {
        sum += p->value[e] * v[p->column[e]];
    }
    return sum;
}

static double mean_rate_of(const impulse_problem *p, int i, const double *before,
                           const double *after)
{
    return 0.5 * (row_times(p, i, before) + row_times(p, i, after));
}

static int is_contact(const impulse_problem *p, int k)
{
    return p->key[k] >= IMPULSE_CONTACTS;
}

double impulse_joint_work(const step_impulse *s, const impulse_problem *p, const double *lambda,
                          const double *before, const double *after)
{
    int held = impulse_held(s);
    double sum = 0;
    for (int k = 0; k < p->blocks && !is_contact(p, k); k++) {
        int constraint = p->key[k] < held, motor = p->key[k] >= IMPULSE_MOTORS;
        if (p->block[k].kind == ZW_INEQUALITY || (constraint && !moves(s, (int)p->key[k])) ||
            (motor && p == &s->aside)) {
            continue;
        }
        double part = motor ? s->h / s->fall : 1; /* as forces do: over all of the step */
        for (int i = p->first[k]; i < p->first[k] + p->block[k].rows; i++) {
            sum +=
                part * lambda[i] *
                (constraint || motor ? row_times(p, i, s->u) : mean_rate_of(p, i, before, after));
        }
    }
    return sum;
}

/* ---- Contacts ------------------------------------------------------------------------------- */

/* The rates of row r of a contact that stays closed: at (q0, v0), and in the mean of the step. */
static double rate_before(const impulse_roller *it, const double *frame, int r)
{
    return model_dot(it->begun + r / 3 * 3, frame + r % 3 * 3);
}

static double rate_between(const step_impulse *s, const impulse_problem *p,
                           const impulse_roller *it, int i, int r)
{
    if (r == 0) {
        return 0;
    }
    return it && r < 3 ? it->slip[r - 1] : row_times(p, i, s->u);
}

/* With one linearisation (impulse_quick.c) speeds are those of the way alone: all rates are u's. */
double impulse_contact_work(step_impulse *s, const impulse_problem *p, const double *lambda,
                            const double *before, const double *after)
{
    impulse_contacts *t = &s->touch;
    int b = 0, starts = before == s->v0, quick = s->close >= 1;
    double sum = 0, touching = impulse_touching(s);
    for (; b < p->blocks && !is_contact(p, b); b++) {
        if (p->block[b].kind == ZW_INEQUALITY) { /* limits have one row */
            double work = lambda[p->first[b]] * mean_rate_of(p, p->first[b], before, after);
            t->land.loss -= s->limits.now[s->system->first_row[p->key[b]]] ? work : 0;
            sum += work;
        }
    }
    for (int k = 0; k < t->found.count && b < p->blocks; k++) {
        const contact_point *point = &t->found.point[k];
        if (p->key[b] != impulse_contact_key(&point->key)) {
            continue; /* it has no rows in p */
        }
        const impulse_roller *it = impulse_rolled(s, k);
        int lasts = it || (quick && fabs(point->gap) <= touching);
        const double *frame = it && starts ? it->frame : point->frame;
        double before_it = sum;
        for (int r = 0; r < p->block[b].rows; r++) {
            int i = p->first[b] + r;
            double mean =
                lasts ? rate_between(s, p, it, i, r) : row_times(p, i, starts ? after : before);
            double end = !starts        ? row_times(p, i, after)
                         : lasts && !it ? mean
                         : lasts        ? rate_before(it, frame, r)
                                        : row_times(p, i, before);
            sum += 0.5 * lambda[i] * (mean + end);
        }
        t->land.loss -= impulse_is_landing(t, k) ? sum - before_it : 0;
        b++;
    }
    return sum;
}

/* Springs, dampers and motors along a way, in speeds; motors with limits are rows of the problem.
 */
static double along(const step_impulse *s, const double *way)
{
    const impulse_problem *p = &s->problem;
    double sum = 0;
    for (int i = 0; i < s->system->n; i++) {
        sum += s->h * s->force[i] * way[i];
    }
    for (int k = 0; k < p->blocks && !is_contact(p, k); k++) {
        int rows = p->key[k] >= IMPULSE_MOTORS ? p->block[k].rows : 0;
        for (int i = p->first[k]; i < p->first[k] + rows; i++) {
            sum += s->h / s->fall * p->guess[i] * row_times(p, i, way);
        }
    }
    return sum;
}

int impulse_pushes_apart(const step_impulse *s)
{
    int apart = 0;
    for (int k = 0; k < s->touch.found.count; k++) {
        apart |= s->touch.land.now[k] == IMPULSE_APART ||
                 impulse_is_fixed(&s->touch, &s->touch.found.point[k]);
    }
    return apart;
}

/* Pairs that are in one another come apart at the speed u, of which they keep nothing: v1 does not
 * know of it; or they are stopped at their depth by an impulse that acts from the start of the
 * step. Weight, springs, dampers and motors, whose impulses are reckoned with the mean of v0, u and
 * v1, have work along all of h u. Half of the way that goes beyond the motion is so what pushing
 * apart lifts, stretches and drags without impulses that say so; with one linearisation, all of it.
 */
double impulse_lift(step_impulse *s, const double *begin, double *end, const double *v1)
{
    const tree_mechanism *tree = s->system->tree;
    const int com = tree->at.com, V = tree->at.V;
    double sum = 0, *beyond = s->other;
    if (!impulse_pushes_apart(s)) {
        return 0;
    }
    tree_velocities(tree, v1, end);
    for (int i = 1; i < tree->bodies; i++) {
        for (int k = 0; k < 3; k++) {
            double mean = 0.5 * (begin[V + 6 * i + 3 + k] + end[V + 6 * i + 3 + k]);
            double way = end[com + 3 * i + k] - begin[com + 3 * i + k] - s->h * mean;
            sum += 0.5 * tree->body[i].lift[k] * way;
        }
    }
    for (int i = 0; i < s->system->n; i++) {
        beyond[i] = s->u[i] - 0.5 * (s->v0[i] + v1[i]);
    }
    return sum - 0.5 * along(s, beyond);
}

void impulse_kinetic(step_impulse *s)
{
    double sum = 0;
    matrix_times(&s->H, s->v0, s->other);
    for (int i = 0; i < s->system->n; i++) {
        sum += 0.5 * s->v0[i] * s->other[i];
    }
    s->kinetic = sum;
}

/* Is the kinetic energy of v1 in the metric H more than GAIN above that of v0? Their difference is
 * (v1 + v0) . H (v1 - v0)/2. */
static int gets_faster(step_impulse *s, const double *v1)
{
    const double *v0 = s->v0;
    double risen = 0, *change = s->push;
    for (int i = 0; i < s->system->n; i++) {
        change[i] = v1[i] - v0[i];
    }
    matrix_times(&s->H, change, s->other);
    for (int i = 0; i < s->system->n; i++) {
        risen += 0.5 * (v1[i] + v0[i]) * s->other[i];
    }
    if (risen <= 0) {
        return 0;
    }
    if (s->kinetic < 0) {
        impulse_kinetic(s);
    }
    return !(risen <= GAIN * s->kinetic);
}

/* ---- Steps in which contacts gain energy ----------------------------------------------------- */

static int is_one_sided(const impulse_problem *p, int k)
{
    return p->block[k].kind == ZW_CONE || p->block[k].kind == ZW_INEQUALITY;
}

static int pushes(const impulse_problem *p)
{
    for (int k = 0; k < p->blocks; k++) {
        if (is_one_sided(p, k) && p->guess[p->first[k]] > 0) {
            return 1;
        }
    }
    return 0;
}

/* Kinetic and potential energy at (q1, v1) less those at (q0, v0), whose sweeps the scratch has
 * then: with one linearisation impulse_free_part goes on from there. */
static double risen(step_impulse *s, const double *v1)
{
    const double *out = s->work->out[PART_ENERGY];
    s->sees_q1 = 0;
    system_evaluate(s->system, s->work, PART_ENERGY, s->t + s->h, s->q1, v1, NULL, NULL, NULL);
    double after = out[0];
    system_evaluate(s->system, s->work, PART_ENERGY, s->t, s->q0, s->v0, NULL, NULL, NULL);
    return after - out[0];
}

/* Is there energy that tree_energies does not have? */
static int stores_more(const struct system_bodies *bodies)
{
    int more = bodies->formulas || bodies->lift_count > 0;
    for (int i = 0; i < bodies->length_count; i++) {
        more |= bodies->length[i].stiffness != 0 || bodies->length[i].armature != 0;
    }
    return more;
}

/* From the sweeps of (q0, v0) to those of q1: is there more energy than `given` explains, by this
 * part of the kinetic energy? */
static int has_more(step_impulse *s, const double *begin, double *end, const double *v1,
                    double given, double part)
{
    const tree_mechanism *tree = s->system->tree;
    double before[2], after[2], fall = 0;
    tree_energies(tree, s->q0, s->v0, begin, before);
    tree_velocities(tree, v1, end);
    tree_energies(tree, s->q1, v1, end, after);
    for (int i = 1; i < tree->bodies; i++) {
        const double *lift = tree->body[i].lift;
        fall += 0.5 * s->h * s->h * model_dot(lift, lift) / fmax(tree->body[i].mass, DBL_MIN);
    }
    double least = fmax(part * (before[0] + after[0]), 1e-6 * fall);
    double more = after[0] + after[1] - before[0] - before[1]; /* but for springs between bodies */
    int formulas =
        s->system->bodies->formulas != NULL; /* whose potentials count as springs of joints do */
    if (after[0] <= before[0] || (more <= least && !formulas)) {
        return 0; /* true of nearly all steps */
    }
    more = stores_more(s->system->bodies) ? risen(s, v1) : more;
    return !(formulas && more <= least) && !(more - (s->system->works ? given : 0) <= least);
}

int impulse_is_driven(step_impulse *s, const double *v1)
{
    return pushes(&s->problem) && has_more(s, s->begin, s->work->sweeps, v1, s->driven, 0.1);
}

/* The angle by which the fastest rotating body would turn in the step. */
static double turn(const step_impulse *s)
{
    const tree_mechanism *tree = s->system->tree;
    double most = 0;
    for (int i = 1; i < tree->bodies; i++) {
        const double *w = s->work->sweeps + tree->at.V + 6 * i;
        most = fmax(most, model_dot(w, w));
    }
    return s->h * sqrt(most);
}

/* One linearisation has the forces of inertia of (q0, v0) for all of the step: what turns by a part
 * of a radian in it gains (h omega)^2/2 of its energy where its axes differ, a plate that turns by
 * ten of them a hundredfold. Where contacts need only be solved to some accuracy, what they leave
 * may be more than all the energy that there is, in a tower that stands: there only what turns so
 * far that it could gain is looked at. */
int impulse_gains(step_impulse *s, const double *v1, double gained)
{
    if (!gets_faster(s, v1) || (s->accuracy > 0 && turn(s) <= sqrt(2 * GAIN))) {
        return 0;
    }
    impulse_see(s, s->q1);
    s->sees_end = memcmp(v1, s->u, (size_t)s->system->n * sizeof *v1) == 0; /* has_more */
    return has_more(s, s->work->sweeps, s->begin, v1, s->gained - gained, GAIN);
}

double impulse_forces_work(const step_impulse *s)
{
    double sum = s->h * s->drift;
    for (int i = 0; i < s->system->n; i++) {
        sum += s->h * s->Q[i] * s->u[i];
    }
    return sum;
}

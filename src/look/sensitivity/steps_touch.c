/* Constraints and contacts in a step of the soft law, in the backward pass.
 *
 * A block of rows exerts lambda(b - J a, D) (system/soft/soft_law.c), b = -B J v - K d r, where the
 * impedance d and D = 1/R, R ~ (1 - d)/d, depend on the position r of the rows. The law is
 * homogeneous: scaling D by a factor scales lambda by it. So with C = -d lambda/dx,
 *
 *     d lambda = C (db - dx) + lambda dlogD,     dlogD = d' dr/(d (1 - d)),
 *
 * and the derivative of w . J' lambda at constant accelerations a is that of
 *
 *     phi(q) = lambda . J w + beta . J a + gamma . J v + kappa r,
 *     beta = -C J w,   gamma = -B C J w,   kappa = (lambda . J w) d'/(d (1 - d)) - K (d + d' r) (C
 * J w)_r
 *
 * with everything but J and r held constant. (For a pyramid b is that of its edges.) The slope by
 * the speeds is J' gamma.
 *
 * Limits and couplings have a constant J; phi of the rows of contacts is differentiated in back.c.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "look/sensitivity/steps.h"

/* ---- Rows of any kind ------------------------------------------------------------------------ */

static double C_of(const soft_block *k, int i, int j)
{
    return k->now.C[i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i];
}

void steps_stiffen(const soft_block *k, const double *x, double *to)
{
    for (int i = 0; i < k->width; i++) {
        to[i] = 0;
        for (int j = 0; j < k->width; j++) {
            to[i] += C_of(k, i, j) * x[j];
        }
    }
}

static double along(const soft_problem *soft, const soft_block *k, const double *x)
{
    double sum = 0;
    for (int c = 0; c < k->columns; c++) {
        sum += soft->value[k->J + c] * x[soft->column[k->column + c]];
    }
    return sum;
}

static void add_row(const soft_problem *soft, const soft_block *k, double by, double *to)
{
    for (int c = 0; c < k->columns; c++) {
        to[soft->column[k->column + c]] += by * soft->value[k->J + c];
    }
}

/* ---- Contacts: their law --------------------------------------------------------------------- */

/* lambda, beta, gamma, kappa; for a pyramid, from the forces of its edges and their b. */
static void law_back(const sens_steps *s, const soft_block *k, const double *Jw, back_rows *to)
{
    const contact_point *point = &s->soft->found.point[k->of];
    const soft_pair *pair = soft_pair_of(s->soft, point);
    double gap = point->gap, d = soft_impedance(pair->imp, gap), CJw[6] = {0}, pushed = 0, by_b;
    double slope = soft_impedance_slope(pair->imp, gap);
    steps_stiffen(k, Jw, CJw);
    memcpy(to->rows[STEPS_W], k->now.force, (size_t)k->width * sizeof(double));
    for (int i = 0; i < k->width; i++) {
        pushed += k->now.force[i] * Jw[i];
        to->rows[STEPS_A][i] = -CJw[i];
        to->rows[STEPS_V][i] = -(i == 0 ? pair->spring : pair->across).B * CJw[i];
    }
    by_b = CJw[0];
    if (k->kind == SOFT_PYRAMID) { /* all edges share one spring */
        for (int i = 1; i < k->width; i++) {
            to->rows[STEPS_V][i] = -pair->spring.B * CJw[i];
        }
    }
    to->kappa = pushed * slope / (d * (1 - d)) - pair->spring.K * (d + slope * gap) * by_b;
}

/* ---- Kinks ----------------------------------------------------------------------------------- */

static int is_near(double x, double size)
{
    return fabs(x) <= STEPS_NEAR * size;
}

static int is_at_kink(const soft_problem *s, const soft_block *k)
{
    const double *b = s->b + k->first, *D = s->D + k->first, *x = k->x;
    double t = 0, z0 = 0, m, near = 0;
    switch (k->kind) {
    case SOFT_ABOVE:
        return is_near(b[0] - x[0], fabs(b[0]) + fabs(x[0]));
    case SOFT_BOX:
        return is_near(fabs(D[0] * (b[0] - x[0])) - k->most, k->most);
    case SOFT_PYRAMID:
        for (int e = 0; e < k->rows; e++) {
            double edge = x[0] + (e % 2 ? -1 : 1) * k->mu[e / 2] * x[1 + e / 2];
            near += is_near(b[e] - edge, fabs(b[e]) + fabs(edge));
        }
        return near > 0;
    case SOFT_CONE:
        m = k->mu[0] * sqrt(D[0] / D[1]);
        z0 = sqrt(D[0]) * (b[0] - x[0]);
        for (int i = 1; i < k->width; i++) {
            t += D[i] * (b[i] - x[i]) * (b[i] - x[i]);
        }
        t = sqrt(t);
        return is_near(t - m * z0, t + fabs(m * z0)) || is_near(m * t + z0, m * t + fabs(z0));
    default:
        return 0;
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

int steps_is_contact(const soft_problem *soft, int b)
{
    return b >= soft->first_contact && b < soft->first_contact + soft->contacts;
}

int steps_is_closed(const sens_steps *s, const soft_block *k)
{
    const struct system_bodies *bodies = s->system->bodies;
    if (k->kind == SOFT_BOX) {
        return bodies->dry[k->of].length < 0 || bodies->length[bodies->dry[k->of].length].path < 0;
    }
    const bodies_constraint *it = &bodies->constraint[k->of];
    if (!slopes_is_constant(it)) {
        return 0;
    }
    return bodies->length[it->length[0]].path < 0 &&
           (it->length[1] < 0 || bodies->length[it->length[1]].path < 0);
}

int steps_touch_look(sens_steps *s)
{
    const soft_problem *soft = s->soft;
    if (soft->contacts > s->touch_capacity) {
        base_free(s->touch);
        s->touch_capacity = 0;
        s->touch = base_alloc(2 * (size_t)soft->contacts * sizeof *s->touch);
        if (!s->touch) {
            return 0;
        }
        s->touch_capacity = 2 * soft->contacts;
    }
    for (int i = 0; i < soft->contacts; i++) {
        const contact_point *point = &soft->found.point[soft->block[soft->first_contact + i].of];
        if (!back_contact_look(s->system, soft->found.pose, point, soft->found.choice, 0,
                               &s->touch[i])) {
            steps_note_kink(s, "a contact of other parts of two shapes");
        }
    }
    for (int i = 0; soft->is_there && i < soft->found.count; i++) {
        if (fabs(soft->found.point[i].gap) <= soft->near) {
            steps_note_kink(s, "a contact that opens or closes");
        }
    }
    for (int b = 0; b < soft->blocks; b++) {
        if (is_at_kink(soft, &soft->block[b])) {
            steps_note_kink(s, steps_is_contact(soft, b) ? "a contact about to slide or open"
                                                         : "a limit or friction of a joint");
        }
    }
    return 1;
}

void steps_touch_stiffen(sens_steps *s, const double *x, double *out)
{
    const soft_problem *soft = s->soft;
    for (int b = 0; b < soft->blocks; b++) {
        const soft_block *k = &soft->block[b];
        double Jx[6];
        back_rows rows = {.kappa = 0};
        if (steps_is_contact(soft, b)) {
            const back_contact *touch = &s->touch[b - soft->first_contact];
            back_rows_see(&s->place, touch, STEPS_W, Jx);
            steps_stiffen(k, Jx, rows.rows[STEPS_W]);
            back_rows_add(&s->place, touch, k->width, &rows, touch->point.frame, NULL);
        } else {
            add_row(soft, k, k->now.C[0] * along(soft, k, x), out);
        }
    }
    back_gather(&s->place, (double *const[]){out, NULL, NULL});
    back_clear(&s->place);
}

/* One row, along a constant direction. */
static void row_back(const sens_steps *s, const soft_block *k, double *q_by, double *v_by)
{
    const soft_problem *soft = s->soft;
    const struct system_bodies *bodies = s->system->bodies;
    double Jw = along(soft, k, s->w), CJw = k->now.C[0] * Jw;
    const zw_soft *law =
        k->kind == SOFT_BOX ? &bodies->dry[k->of].soft : &bodies->constraint[k->of].soft;
    soft_spring spring = soft_spring_of(law, soft->h);
    add_row(soft, k, -spring.B * CJw, v_by);
    if (k->kind != SOFT_BOX) {
        double r = soft_row_place(soft, k, s->q0), d = soft_impedance(law->imp, r);
        double slope = soft_impedance_slope(law->imp, r);
        add_row(soft, k,
                k->now.force[0] * Jw * slope / (d * (1 - d)) - spring.K * (d + slope * r) * CJw,
                q_by);
    }
}

static void contact_back(sens_steps *s, int index)
{
    const soft_block *k = &s->soft->block[s->soft->first_contact + index];
    const back_contact *touch = &s->touch[index];
    back_rows rows = {.kappa = 0};
    double Jw[6];
    back_rows_see(&s->place, touch, STEPS_W, Jw);
    law_back(s, k, Jw, &rows);
    back_rows_add(&s->place, touch, k->width, &rows, touch->point.frame, NULL);
}

void steps_touch_back(sens_steps *s, double *q_by, double *v_by)
{
    const soft_problem *soft = s->soft;
    for (int b = 0; b < soft->blocks; b++) {
        const soft_block *k = &soft->block[b];
        if (steps_is_contact(soft, b)) {
            contact_back(s, b - soft->first_contact);
        } else if (k->kind != SOFT_MASS && steps_is_closed(s, k)) {
            row_back(s, k, q_by, v_by);
        }
    }
    back_gather(&s->place, (double *const[]){NULL, NULL, v_by});
    for (int i = 0; i < s->system->n; i++) {
        q_by[i] += s->place.q_by[i];
    }
    back_clear(&s->place);
}

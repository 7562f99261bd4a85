/* Rows of eight worlds: all limits, and points within reach of the step. */
#include <math.h>

#include "step/once8/once8.h"
#include "system/soft8/soft8_jacobian.h"

static augment_block8 *add(once8 *s, int width, int columns, const int *column, int with_J,
                           once8_about **about)
{
    int entries = with_J ? width * columns : 0;
    s->needs_blocks++;
    s->needs_entries += entries;
    if (once8_lacks_room(s)) {
        return NULL; /* all worlds must wait until there is room */
    }
    *about = &s->about[s->it.blocks];
    augment_block8 *k = &s->it.block[s->it.blocks++];
    k->width = width;
    k->columns = columns;
    k->column = column;
    k->J = s->J + s->entries;
    k->mu = 0;
    s->entries += entries;
    return k;
}

/* ---- Contacts ------------------------------------------------------------------------------- */

/* A point: what is known of it, and its rows. */
ZW_CLONES static void fill_contact(const once8 *s, const soft8_match *match, const zw_mask8 *on,
                                   const zw_real8 *pos, const zw_real8 *frame, const zw_real8 *gap,
                                   once8_about *about, augment_block8 *k)
{
    zw_real8 *J = s->J + (k->J - s->J), back = 0.0 - *gap / s->h;
    about->gap = *gap;
    about->found = *on;
    for (int i = 0; i < 3; i++) {
        about->n[i] = frame[i];
    }
    k->on = *on;
    k->b = lane_select8(back < s->falling, back, (zw_real8){0} + s->falling);
    if (k->width == 3) {
        soft8_put_rows(s->of, match, 3, pos, frame, J, NULL);
    } else {
        soft8_put_rows(s->of, match, 1, pos, frame, J, NULL);
    }
}

/* A point, for soft8_meet. */
static void add_contact(soft8 *of, const soft8_match *match, const zw_mask8 *on,
                        const zw_real8 *pos, const zw_real8 *frame, const zw_real8 *gap)
{
    once8 *s = of->user;
    once8_about *about;
    int width = s->rows[match - of->match];
    augment_block8 *k = add(s, width, match->columns, match->column, 1, &about);
    if (k) {
        about->constraint = -1;
        about->match = (int)(match - of->match);
        k->mu = width > 1 ? match->law.friction[0] : 0;
        fill_contact(s, match, on, pos, frame, gap, about, k);
    }
}

/* The largest displacement of the points of a geom in a step: reach_of in contact_find.c. */
ZW_CLONES static void find_reach(const once8 *s)
{
    const soft8 *of = s->of;
    const contact_world *world = of->system->bodies->contact;
    const tree_places *at = &of->system->tree->at;
    for (int k = 0; k < world->geom_count; k++) {
        const contact_geom *geom = &world->geom[k];
        if (geom->body == 0) {
            s->reach[k] = (zw_real8){0};
            continue;
        }
        const zw_real8 *V = of->sweeps + at->V + 6 * geom->body;
        const zw_real8 *com = of->sweeps + at->com + 3 * geom->body, *pos = of->pose[k].pos;
        zw_real8 a[3] = {pos[0] - com[0], pos[1] - com[1], pos[2] - com[2]};
        zw_real8 v[3] = {V[1] * a[2] - V[2] * a[1] + V[3], V[2] * a[0] - V[0] * a[2] + V[4],
                         V[0] * a[1] - V[1] * a[0] + V[5]};
        zw_real8 turn = lane_sqrt8(V[0] * V[0] + V[1] * V[1] + V[2] * V[2]);
        zw_real8 speed = lane_sqrt8(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        s->reach[k] = s->h * (speed + lane_select8(turn > 0.0, turn * geom->radius, turn));
    }
}

/* ---- Limits --------------------------------------------------------------------------------- */

ZW_CLONES static void add_limit(once8 *s, int index)
{
    const zw_system *system = s->of->system;
    const struct system_bodies *bodies = system->bodies;
    const bodies_constraint *constraint = &bodies->constraint[index];
    const bodies_length *length = &bodies->length[constraint->length[0]];
    double sign = constraint->kind == CONSTRAINT_UPPER ? -1 : 1;
    int start = system->A_start[constraint->row],
        columns = system->A_start[constraint->row + 1] - start;
    once8_about *about;
    augment_block8 *k = add(s, 1, columns, system->A_column + start, 0, &about);
    if (k) {
        zw_real8 now = {0};
        for (int i = length->first; i < length->first + length->count; i++) {
            now += bodies->coef[i] * s->of->q[bodies->term[i].q];
        }
        about->constraint = index;
        about->gap = sign * (now - constraint->limit);
        k->J = s->limit_J + start;
        k->on = s->of->good;
        k->b = -about->gap / s->h - 0.0;
    }
}

void once8_find_rows(once8 *s)
{
    s->it.blocks = s->entries = s->needs_blocks = s->needs_entries = 0;
    for (int c = 0; c < s->of->system->bodies->constraint_count; c++) {
        add_limit(s, c);
    }
    s->of->user = s;
    s->of->add = add_contact;
    s->of->reach = s->reach;
    soft8_place(s->of);
    find_reach(s);
    once8_begin_spares(s);
    soft8_meet_placed(s->of);
}

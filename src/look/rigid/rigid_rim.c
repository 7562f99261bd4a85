/* Points of contact along a rim, for derivatives of steps by method impulse.
 *
 * The lowest point of a cylinder that stands on its rim with a tilt turns by 1/tilt times what the
 * cylinder turns. While there is a tilt it is a smooth function of the place, however fast, and
 * differences must follow it, over ways that are short beside the tilt. Without one (a base that
 * lies flat) there is no such point: those that the step has are points of the bodies. touch.c
 * says which it is: whether the slopes of points that push are there. If they are not, points of
 * the bodies are right as long as three of them carry the pair, so that it cannot tilt; with fewer
 * it is a kink.
 *
 * Where the rounds of a step do not converge to such a point, it is between two points of the
 * bodies that are nearly one (impulse_stay.c). The equations here are those of the limit: one
 * point, with the sum of the impulses. The step has them up to the distance of the two, and from
 * start to start it has other ones: so that is flagged, too. */
#include <string.h>

#include "look/rigid/rigid.h"
#include "look/sensitivity/touch.h"

int64_t rigid_point_key(const step_impulse *s, int64_t key)
{
    const impulse_contacts *t = &s->touch;
    for (int j = 0; key >= IMPULSE_CONTACTS && t->is_there && j < t->stay.count; j++) {
        const impulse_stays *it = &t->stay.list[j];
        if (it->carried && impulse_contact_key(&it->point.key) == key) {
            return impulse_contact_key(&impulse_stay_at(t, it)->point.key);
        }
    }
    return key;
}

static int pushes(const sens_rigid *r, const impulse_stays *it)
{
    int64_t key = impulse_contact_key(&it->point.key);
    int found = 0;
    for (int k = 0; k < 2; k++) {
        const rigid_half *half = &r->half[k];
        for (int b = 0; b < half->blocks; b++) {
            found |= half->block[b].key == key && half->lambda[half->block[b].first] > 0;
        }
    }
    return found;
}

/* Does a point move smoothly with its shapes? */
static int is_smooth(const sens_rigid *r, const impulse_stays *it)
{
    const step_impulse *s = r->here.s;
    touch_change by[12];
    contact_point point = it->point;
    point.key.feature = it->origin;
    point.gap -= impulse_left_by(&s->touch, &point);
    return !it->carried && touch_slopes(s->system->bodies->contact, s->touch.found.pose, &point,
                                        COLLIDE_COMPLETE, by);
}

void rigid_rims(sens_rigid *r)
{
    impulse_staying *stay = &r->here.s->touch.stay;
    int count = r->here.s->touch.is_there ? stay->count : 0;
    for (int first = 0, end; first < count; first = end) {
        const contact_key *key = &stay->list[first].point.key;
        int pushing = 0, smooth = 1;
        for (end = first; end < count && memcmp(stay->list[end].point.key.geom, key->geom,
                                                sizeof key->geom) == 0;) {
            end++;
        }
        for (int j = first; j < end && end - first > 1; j++) {
            if (pushes(r, &stay->list[j])) {
                pushing++;
                smooth = smooth && is_smooth(r, &stay->list[j]);
            }
        }
        if (!smooth && pushing < 3) {
            rigid_note_kink(r, "a contact of other parts of two shapes");
        }
        for (int j = first; j < end; j++) {
            stay->list[j].follows = smooth;
        }
    }
}

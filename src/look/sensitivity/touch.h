/* How a point of contact moves with the shapes that touch: touch.c. */
#ifndef ZW_LOOK_TOUCH_H
#define ZW_LOOK_TOUCH_H

#include "system/contact/contacts.h"

/* dp, dn, dgap: of the place, the normal and the gap. (A point that is not the lowest of a rim goes
 * along it as the tilt turns: its gap changes by more than its row of the normal says.) */
typedef double touch_change[7];

/* For unit turns about the point (0..2) and unit shifts (3..5) of the first geom, then (6..11) of
 * the second. 0: the parts of the shapes that touch would be others at once, so that there are no
 * such numbers; the point is then taken to stay on the first. */
int touch_slopes(const contact_world *world, const collide_pose *pose, const contact_point *point,
                 touch_change out[12]);

#endif

/* How a contact point moves with the touching shapes: touch.c. */
#ifndef ZW_LOOK_TOUCH_H
#define ZW_LOOK_TOUCH_H

#include "system/contact/contacts.h"

/* dp, dn, dgap: of the position, the normal and the gap. (A point that is not the lowest of a rim
 * moves along it as the tilt changes: its gap changes by more than the motion of the bodies along
 * the normal.) */
typedef double touch_change[7];

/* For unit rotations about the point (0..2) and unit translations (3..5) of the first geom, then
 * (6..11) of the second. 0: the smallest motion makes other parts of the shapes touch, so that
 * there are no such slopes; the point is then assumed to move with the first geom. choice: that by
 * which it was found. */
int touch_slopes(const contact_world *world, const collide_pose *pose, const contact_point *point,
                 collide_choice choice, touch_change out[12]);

#endif

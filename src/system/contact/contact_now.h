/* Contacts at an instant: see contact_now.c. */
#ifndef ZW_SYSTEM_CONTACT_NOW_H
#define ZW_SYSTEM_CONTACT_NOW_H

#include "system/contact/contacts.h"
#include "system/work.h"

typedef struct contact_now contact_now;

void contact_now_free(contact_now *now);

/* What touches at this state, where PART_TERMS has been evaluated: their number in `count`. */
zw_status contact_now_find(const zw_system *system, zw_work *work, zw_state *state, int *count,
                           zw_error *error);
/* Gauss's problem with them: the rows of contacts are there, all others are to be filled. */
zw_status contact_now_begin(const zw_system *system, zw_work *work, zw_state *state,
                            system_solver **to, zw_error *error);
/* Solved: is friction of what slides not yet in its direction? Then the problem has been changed,
 * and is to be solved again. */
int contact_now_turns(contact_now *now);
/* After that: the name of what no force lets slide; NULL: none. */
const char *contact_now_jammed(const contact_now *now);
/* Solved: does dry friction of some joint hold more than it can? Then the problem is another. */
int contact_now_gives(const zw_system *system, zw_work *work);
/* Solved: into the list of the work, which then is of this state. */
zw_status contact_now_list(const zw_system *system, zw_work *work, const zw_state *state,
                           zw_error *error);

#endif

/* Contacts at an instant: see contact_now.c. */
#ifndef ZW_SYSTEM_CONTACT_NOW_H
#define ZW_SYSTEM_CONTACT_NOW_H

#include "system/contact/contacts.h"
#include "system/work.h"

typedef struct contact_now contact_now;

void contact_now_free(contact_now *now);

/* Finds the touching points at this state, where PART_TERMS has been evaluated; *count: their
 * number. */
zw_status contact_now_find(const zw_system *system, zw_work *work, zw_state *state, int *count,
                           zw_error *error);
/* Creates Gauss's problem with them: the rows of contacts are filled, the caller fills all
 * others. */
zw_status contact_now_begin(const zw_system *system, zw_work *work, zw_state *state,
                            system_solver **to, zw_error *error);
/* After a solve: how far sliding friction is from its direction, relative to its size. Where that
 * is not 0, the problem has been changed and must be solved again. */
double contact_now_turns(contact_now *now);
/* After that: the name of a sliding contact without a solution; NULL: none. */
const char *contact_now_jammed(const contact_now *now);
/* After a solve: does dry friction of some joint exceed its limit? Then the problem has been
 * changed. */
int contact_now_gives(const zw_system *system, zw_work *work);
/* After a solve: writes the list of contacts of the work, for this state. */
zw_status contact_now_list(const zw_system *system, zw_work *work, const zw_state *state,
                           zw_error *error);

#endif

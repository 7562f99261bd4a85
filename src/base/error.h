/* Filling a zw_error; every function takes NULL where no message is wanted. */
#ifndef ZW_BASE_ERROR_H
#define ZW_BASE_ERROR_H

#include "zwang/status.h"

/* Clear `error`, note the status and a printf-style message, and return the status. */
zw_status base_fail(zw_error *error, zw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the text of the status; and with ZW_NO_MEMORY. */
zw_status base_fail_as(zw_error *error, zw_status status);
zw_status base_no_memory(zw_error *error);

/* Nothing has failed: the status is ZW_OK and the texts are empty. Every solve does this, so it
 * writes no more than it has to. Returns ZW_OK. */
zw_status base_clear(zw_error *error);

/* Append to the message; cut where the room ends. */
void base_fail_more(zw_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

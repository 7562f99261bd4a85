/* A recorded path in memory: samples in pieces. */
#ifndef ZW_PATH_PATH_H
#define ZW_PATH_PATH_H

#include "system/system.h"
#include "zwang/path.h"

/* A piece is a run of samples with increasing times. A repeated time separates two pieces: the
 * first of the two samples ends one piece, the second begins the next. */
struct zw_path {
    int n;      /* coordinates, as in the system, */
    int speeds; /* and its speeds: fewer where there are quaternions */
    long count; /* samples */
    double *t;  /* [count] */
    double *q;  /* [count * n] sample by sample */
    double *v;  /* [count * speeds], or NULL: none were recorded */
    int pieces;
    long *start; /* [pieces + 1] piece p has the samples start[p] .. start[p + 1] - 1 */
    /* From a file (recording.c), see zw_path_about: */
    int some_speeds;  /* speeds of only some coordinates were recorded, and not used */
    int ignored;      /* columns that were not used */
    char *ignored_as; /* their names, or NULL; zw_path_free frees it */
    char file[128];   /* its name, "" if it is of memory, and */
    int first_line;   /* the line of the first sample; 0: it is not text */
    int last_line;    /* and of the last */

    int *known; /* [n + speeds] which of them were recorded; NULL: all, or all but speeds */

    void *memory; /* all arrays but ignored_as and known */
};

/* An empty path of this size, for a reader to fill (v only if `speeds`); NULL: no memory.
 * path_finish checks that its numbers are finite and that times never decrease, drops samples that
 * repeat the one before, and finds the pieces; after a failure the caller still frees the path. */
zw_path *path_allocate(const zw_system *system, long count, int speeds, zw_error *error);
zw_status path_finish(zw_path *path, zw_error *error);
/* A message on the path, with its file; line 0: on no line of it. */
zw_status path_fail(const zw_path *path, zw_error *error, zw_status status, int line,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif

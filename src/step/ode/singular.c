/* Runs that end where rows lose rank say so. */
#include <stdio.h>
#include <string.h>

#include "step/run.h"

/* Where the rows of a mechanism lose rank, branches of its motion meet. In passing there is one
 * that goes on smoothly (leap.c); who begins there, at rest, is not told which: the accelerations
 * that the rows admit are more than their curvature does. */
void run_tell_singular(run *r, zw_error *error)
{
    int early = r->summary->end - r->start < 1e-4 * (r->options.time - r->start);
    char names[200], more[400] = "";
    if (!error || r->motion.first < 0) {
        return;
    }
    motion_pack(&r->motion, r->state, r->y);
    int near = motion_name_singular(&r->motion, r->state->t, r->y, names, sizeof names);
    int beside = early ? motion_rank_beside(&r->motion, r->state->t, r->y) : 0;
    if (beside > r->motion.first) {
        snprintf(more, sizeof more,
                 "; the start is a singular position: %d rows count there, %d beside it. Begin a "
                 "little apart from it",
                 r->motion.first, beside);
    } else if (near) {
        snprintf(more, sizeof more,
                 "; near t = %.9g is a singular position, where rows of these constraints lose "
                 "rank: %s",
                 r->state->t, names);
    }
    char rest[sizeof error->text], *line = strchr(error->text, '\n'); /* the file's, with a mark */
    snprintf(rest, sizeof rest, "%s", line ? line : "");
    size_t used = line ? (size_t)(line - error->text) : strlen(error->text);
    snprintf(error->text + used, sizeof error->text - used, "%s%s", more, rest);
}

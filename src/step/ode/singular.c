/* Reports runs that end where rows lose rank, and counts those that pass such positions by ordinary
 * steps. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "step/run.h"

/* Where the rows of a mechanism lose rank, branches of its motion meet. A motion that passes there
 * continues smoothly on one (leap.c); a run that begins there, at rest, cannot know which: the rows
 * admit more accelerations than their curvature does. */
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
                 "; the start is a singular position: %d rows count there, %d beside it. Start a "
                 "little away from it",
                 r->motion.first, beside);
    } else if (near) {
        snprintf(more, sizeof more,
                 "; near t = %.9g is a singular position, where rows of these constraints lose "
                 "rank: %s",
                 r->state->t, names);
    }
    char rest[sizeof error->text],
        *line = strchr(error->text, '\n'); /* the line of the file, with a mark */
    snprintf(rest, sizeof rest, "%s", line ? line : "");
    size_t used = line ? (size_t)(line - error->text) : strlen(error->text);
    snprintf(error->text + used, sizeof error->text - used, "%s%s", more, rest);
}

/* When the motion passes a position where rows lose rank, the margin falls to zero and rises again,
 * both as |t - t*| (leap.c). So it was passed between the nodes b and c of four consecutive ones if
 * the lines through a, b and through c, d cross zero there, at one instant: a motion that
 * approaches it to a distance d and turns away has margins like (d^2 + (t - t*)^2)^1/2, whose
 * tangents cross zero 2 d^2/|t - t*| apart. Next to a node it is detected from both sides: between
 * two such instants the margin rises, so detections in two successive groups of four are one. */
void run_note_margin(run *r)
{
    const double APART = 0.25; /* of the step from b to c */
    const stepper_view *at = stepper_look(r->stepper);
    double *t = r->node, *m = r->margin;
    int leapt = r->leapt, before = r->passed,
        moves = !r->impulse && !r->soft && !r->lagrange.system;
    r->leapt = at->leapt;
    r->passed = 0;
    if (!moves || r->system->m == 0) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        t[k] = t[k + 1];
        m[k] = m[k + 1];
    }
    t[3] = at->t;
    m[3] = r->motion.margin;
    r->nodes = r->nodes < 4 ? r->nodes + 1 : 4;
    if (r->nodes < 4 || leapt || !(m[1] < m[0]) || !(m[2] < m[3])) {
        return;
    }
    double from = t[1] + m[1] * (t[1] - t[0]) / (m[0] - m[1]), span = APART * (t[2] - t[1]);
    double to = t[2] - m[2] * (t[3] - t[2]) / (m[3] - m[2]);
    r->passed = fabs(from - to) <= span && from >= t[1] - span && from <= t[2] + span;
    r->summary->singular += r->passed && !before;
}

/* Islands of a step, each taken by a stepper of its own: split.c. Used by impulse_step only. */
#ifndef ZW_STEP_SPLIT_H
#define ZW_STEP_SPLIT_H

#include "step/impulse/impulse.h"
#include "system/subset/subset.h"

/* An island: its groups, and the stepper of these alone. */
typedef struct split_part {
    int count, *group; /* ascending */
    long used;         /* the step that used it last, */
    long taken;        /* and the one that it has taken */
    subset_groups groups;
    subset part;
    zw_work *work;
    step_impulse *inner;
    double *q0, *v0, *q1, *v1; /* [nq], [n + activations] */
    double *mode;              /* [constraints] */
    unsigned char *member;     /* [groups] */
    void *memory;
} split_part;

typedef struct step_split {
    subset_groups groups;
    int parts;          /* of the last step; 0: it was taken as a whole */
    split_part **now;   /* [groups] these, by their first groups */
    split_part **table; /* [capacity] those that are kept for other steps */
    int entries, capacity;
    long steps;
    int *link, *part_of;   /* [groups] */
    int *order;            /* [moving geoms] by their lowest x */
    collide_pose *pose;    /* [geoms] at the start of the step, */
    double *lower, *upper; /* [geoms][3] boxes around all that they may reach in it, */
    double *allowed;       /* [geoms] as no point of them moves farther than this */
    double *kept;          /* [kept_capacity] scratch */
    void *memory;
} step_split;

/* From now on the steps of s are taken by islands, where there is more than one and that is
 * supported. 0: no memory. */
int split_begin(step_impulse *s);
/* What a step reports: of none so far, and with that of another stepper. */
void split_begin_sums(step_impulse *s);
void split_add_sums(step_impulse *s, const step_impulse *part);
void split_free(step_split *z);

/* impulse_step, if there are several islands: 1. 0: there are not, or the step has to be taken as a
 * whole; nothing was changed. */
int split_step(step_impulse *s, double t, double h, const double *q0, const double *v0, double *q1,
               double *v1);
void split_modes(const step_impulse *s, double *mode);

/* split_find.c: the islands of this step: link[]. Returns their number. */
int split_find(step_impulse *s, double h, const double *q0, const double *v0);
/* The same after all parts have moved: where some have moved farther than was assumed. */
int split_find_again(step_impulse *s);

/* split_memory.c: the memory of the step in the numbering of a part, and from all parts. */
void split_hand_in(const step_impulse *s, int index);
void split_hand_out(step_impulse *s);

#endif

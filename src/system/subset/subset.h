/* Some of the bodies of a system as a separate system: those that are awake.
 *
 * Bodies connected by joints, constraints, tendons or motors are a group; a subset consists of
 * whole groups. It has its own tree, rows and patterns, in the order of the whole, and computes for
 * its bodies what the whole computes, at the cost of its own size. Formulas over bodies form one
 * group with all bodies that they use or act on: subset_formula.c.
 *
 * Geoms keep their numbers. Those of bodies outside the subset are part of its world, at their
 * present poses. */
#ifndef ZW_SYSTEM_SUBSET_H
#define ZW_SYSTEM_SUBSET_H

#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"

/* The group of each body; -1: none (it is part of the world). */
typedef struct subset_groups {
    const zw_system *whole;
    int count;
    int *body;                                     /* [bodies of the tree] */
    int *constraint, *length, *motor, *dry, *lift; /* [number of each] */
    int formula;                                   /* group of the formulas */
    int restless;  /* they depend on time: the group is never at rest */
    double *reach; /* [n] approximate displacement of points, in metres, per unit of the speed */
    contact_world contact;         /* of the current subset */
    contact_geom *geom;            /* [geoms] its own */
    unsigned char *still, *asleep; /* [geoms] */
    int *moving;                   /* [geoms] */
    contact_match *match;          /* [CONTACT_FEW^2 / 2] */
    unsigned char *keep;           /* [bodies] scratch */
    int *to;                       /* [bodies] their numbers in the subset */
    int *to_q, *to_v, *to_length;  /* [nq], [n], [lengths] the same, scratch */
    void *memory;
} subset_groups;

typedef struct subset {
    zw_system system;
    struct system_bodies bodies;
    bodies_formulas formulas; /* those of the whole, with separate `seen` and `frame` */
    zw_model model;
    int *group;      /* [bodies of the tree] */
    int *q, *v;      /* [nq], [n] index of each in the whole */
    int *act;        /* [activations] the same, */
    int *act_group;  /* and the group of each */
    int *constraint; /* [formulas + constraints + dry] the same */
    void *memory;
} subset;

/* An upper bound of the number of groups. */
int subset_most(const zw_system *system);

/* ZW_NO_MEMORY: nothing has to be freed. */
zw_status subset_groups_create(subset_groups *g, const zw_system *whole);
void subset_groups_free(subset_groups *g);

/* A subset of the groups with awake[i]; `sweeps` has the kinematics of the whole. NULL: the geoms
 * of bodies outside the subset are not part of its world, but absent. Only one subset at a time, as
 * its contacts are stored in g. ZW_NO_MEMORY: nothing has to be freed. */
zw_status subset_create(subset *s, subset_groups *g, const unsigned char *awake,
                        const double *sweeps);
void subset_free(subset *s);

#endif

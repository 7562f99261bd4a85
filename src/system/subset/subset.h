/* Some of the bodies of a system as a system of their own: what is awake.
 *
 * Bodies that hang on each other by joints, constraints, tendons or motors are a group; a subset
 * has whole groups. It has its own tree, rows and patterns, in the order of the whole, and computes
 * for its bodies what the whole computes, at the cost of its own size. Formulas over bodies are one
 * group with all that they see and push: subset_formula.c.
 *
 * Geoms keep their numbers. Those of bodies that are not in the subset are part of its world, where
 * the bodies are. */
#ifndef ZW_SYSTEM_SUBSET_H
#define ZW_SYSTEM_SUBSET_H

#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"

/* The group of each body; -1: to none (all of it is part of the world). */
typedef struct subset_groups {
    const zw_system *whole;
    int count;
    int *body;                                     /* [bodies of the tree] */
    int *constraint, *length, *motor, *dry, *lift; /* [as many as there are] */
    int formula;                                   /* that of the formulas */
    int restless;                                  /* they know the time: it is never at rest */
    double *reach;                 /* [n] metres that unit speed moves a point, about */
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
    bodies_formulas formulas; /* the whole's, with its own `seen` and `frame` */
    zw_model model;
    int *group;      /* [bodies of the tree] */
    int *q, *v;      /* [nq], [n] where each is in the whole */
    int *act;        /* [activations] the same, */
    int *act_group;  /* and whose group each is in */
    int *constraint; /* [formulas + constraints + dry] the same */
    void *memory;
} subset;

/* How many groups there are at most. */
int subset_most(const zw_system *system);

/* ZW_NO_MEMORY: there is nothing to free. */
zw_status subset_groups_create(subset_groups *g, const zw_system *whole);
void subset_groups_free(subset_groups *g);

/* The groups with awake[i]; `sweeps` has the kinematics of the whole. One subset at a time: its
 * contacts live in g. ZW_NO_MEMORY: there is nothing to free. */
zw_status subset_create(subset *s, subset_groups *g, const unsigned char *awake,
                        const double *sweeps);
void subset_free(subset *s);

#endif

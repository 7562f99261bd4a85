/* The numerical sliding directions of a constraint with friction; slip.c has the formulas.
 *
 * `slip` always points to the outputs of slip.c: in PART_SLIP, or in PART_TERMS. */
#ifndef ZW_SYSTEM_TANGENT_H
#define ZW_SYSTEM_TANGENT_H

#include "system/system.h"

#define TANGENT_WIDTH MODEL_DIMENSION

/* One constraint with friction at an instant. */
typedef struct tangent {
    int width, rank, rows, size, columns;
    const int *row;     /* [rows] of the system: those of the normal force */
    const int *column;  /* [columns] */
    const double *e;    /* [width] speed of sliding */
    const double *bias; /* [width] D e */
    const double *T;    /* [width * columns] de/dv */
    const double *nu;   /* [rows * size] push of each row */
    double miss;
} tangent;

tangent tangent_look(const zw_system *system, int constraint, const double *slip);

/* Direction k < rank, a unit vector over the components of e. */
void tangent_direction(const tangent *it, int k, double *d);
/* |e|; e has no component along nu except round-off. */
double tangent_speed(const tangent *it);
/* The normal force |sum nu lambda|, with the multipliers of all rows of the system. */
double tangent_force(const tangent *it, const double *lambda);
/* The length of the push of its first row: the only one of a contact. */
double tangent_push(const tangent *it);

#endif

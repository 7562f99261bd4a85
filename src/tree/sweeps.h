/* The sweeps over a tree, for one world and for eight; tree.h says what they compute, the .lane.h
 * files derive how. A lane of eight has the bits of the world alone. None allocates, none branches
 * on data; what is not a number stays so.
 *
 * Order: tree_kinematics; tree_velocities; then what is wanted. Each says what it needs (it reads
 * the work as they left it) and fills the arrays named after it in tree_places. */
#ifndef ZW_TREE_SWEEPS_H
#define ZW_TREE_SWEEPS_H

#include "math/lane.h"
#include "tree/tree.h"

/* clang-format off */
#define TREE_SWEEPS(LANE, real, mask)                                                              \
    /* Configurations. next = q (+) h v;  v = q (-) from;  rate = N(q) v */                        \
    void LANE(tree_advance)(const tree_mechanism *tree, const real *q, const real *v,              \
                            const real *h, real *next);                                            \
    void LANE(tree_difference)(const tree_mechanism *tree, const real *q, const real *from,        \
                               real *v);                                                           \
    void LANE(tree_rates)(const tree_mechanism *tree, const real *q, const real *v, real *rate);   \
                                                                                                   \
    void LANE(tree_kinematics)(const tree_mechanism *tree, const real *q, real *work);             \
    void LANE(tree_velocities)(const tree_mechanism *tree, const real *v, real *work);             \
                                                                                                   \
    /* After velocities. A of all bodies for accelerations a (NULL: zero) */                       \
    void LANE(tree_accelerations)(const tree_mechanism *tree, const real *a, real *work);          \
    /* After velocities. tau = M a + bias - J' wrench. a NULL: zero; wrench[bodies][6]: moment     \
     * about the centre of mass and force on each body, world axes; NULL: none */                  \
    void LANE(tree_inverse)(const tree_mechanism *tree, const real *a, const real *wrench,         \
                            real *work, real *tau);                                                \
    /* tau = -springs - dampers; needs no work */                                                  \
    void LANE(tree_passive)(const tree_mechanism *tree, const real *q, const real *v, real *tau);  \
                                                                                                   \
    /* After kinematics. The entries of M; y = (M + diagonal) x by them */                         \
    void LANE(tree_composite)(const tree_mechanism *tree, real *work);                             \
    void LANE(tree_multiply)(const tree_mechanism *tree, const real *diagonal, const real *work,   \
                             const real *x, real *y);                                              \
    /* After composite. M + diagonal = L' D L (NULL: M alone); bad where a D is not positive */    \
    void LANE(tree_factor)(const tree_mechanism *tree, const real *diagonal, real *work,           \
                           mask *bad);                                                             \
    /* After factor. x = M \ x;  with E = L' D^1/2, M = E E':  x = E \ x;  x = E' \ x */           \
    void LANE(tree_solve)(const tree_mechanism *tree, const real *work, real *x);                  \
    void LANE(tree_solve_lower)(const tree_mechanism *tree, const real *work, real *x);            \
    void LANE(tree_solve_upper)(const tree_mechanism *tree, const real *work, real *x);            \
                                                                                                   \
    /* The same in O(n), without M. After kinematics: y = M x (uses A, F), d = diag(M),
      * and the factors */ \
    void LANE(tree_inertia_times)(const tree_mechanism *tree, const real *x, real *work, real *y); \
    void LANE(tree_inertia_diagonal)(const tree_mechanism *tree, real *work, real *d);             \
    void LANE(tree_articulate)(const tree_mechanism *tree, const real *diagonal, real *work,       \
                               mask *bad);                                                         \
    /* After articulate; they use A, F */                                                          \
    void LANE(tree_articulated_solve)(const tree_mechanism *tree, real *work, real *x);            \
    void LANE(tree_articulated_lower)(const tree_mechanism *tree, real *work, real *x);            \
    void LANE(tree_articulated_upper)(const tree_mechanism *tree, real *work, real *x);            \
    /* After velocities and articulate. (M + diagonal) a = tau - bias + J' wrench; fills A */      \
    void LANE(tree_forward)(const tree_mechanism *tree, const real *tau, const real *wrench,       \
                            real *work, real *a);                                                  \
                                                                                                   \
    /* After velocities. Kinetic and potential energy, with springs; centre of mass, momentum and  \
     * angular momentum about it (9) */                                                            \
    void LANE(tree_energies)(const tree_mechanism *tree, const real *q, const real *v,             \
                             const real *work, real *energy);                                      \
    void LANE(tree_momentum)(const tree_mechanism *tree, const real *work, real *momentum);        \
                                                                                                   \
    /* Points: from the body's frame to the world; motion of the point that is there now, angular  \
     * part first. After kinematics; velocities; accelerations, inverse or forward */              \
    void LANE(tree_point)(const tree_mechanism *tree, int body, const double *local,               \
                          const real *work, real *place);                                          \
    void LANE(tree_point_velocity)(const tree_mechanism *tree, int body, const real *place,        \
                                   const real *work, real *velocity);                              \
    void LANE(tree_point_acceleration)(const tree_mechanism *tree, int body, const real *place,    \
                                       const real *work, real *acceleration);                      \
    /* After kinematics. J[6 * k + row] for dof k of tree_chain */                                 \
    void LANE(tree_jacobian)(const tree_mechanism *tree, int body, const real *place,              \
                             const real *work, real *J);
/* clang-format on */

#define TREE_ONE(name) name
#define TREE_EIGHT(name) name##8
TREE_SWEEPS(TREE_ONE, double, int)
TREE_SWEEPS(TREE_EIGHT, zw_real8, zw_mask8)

#endif

/* The sweeps, declared over lanes: sweeps.h includes this for one world and for eight. Each comment
 * says which sweeps must have been run before. A step h and the mask `bad` are passed by pointer,
 * as vectors must be. Arguments may be NULL only where the comment says so. */

/* ---- Configurations: no work needed ---------------------------------------------------------- */

/* next = q (+) h v; it may be q itself. */
void LANE(tree_advance)(const tree_mechanism *tree, const zw_real *q, const zw_real *v,
                        const zw_real *h, zw_real *next);
/* The same with Cayley's map in place of the exponential, as differences: next - q, and halfway - q
 * (for quaternions the middle of the great circle). */
void LANE(tree_halfway)(const tree_mechanism *tree, const zw_real *q, const zw_real *v,
                        const zw_real *h, zw_real *change, zw_real *half);
/* v = q (-) from, by the shorter rotation: from (+) v = q */
void LANE(tree_difference)(const tree_mechanism *tree, const zw_real *q, const zw_real *from,
                           zw_real *v);
/* rate = q' = N(q) v */
void LANE(tree_rates)(const tree_mechanism *tree, const zw_real *q, const zw_real *v,
                      zw_real *rate);
/* tau = -stiffness (q (-) spring) - damping v */
void LANE(tree_passive)(const tree_mechanism *tree, const zw_real *q, const zw_real *v,
                        zw_real *tau);

/* ---- Motion and forces ----------------------------------------------------------------------- */

void LANE(tree_kinematics)(const tree_mechanism *tree, const zw_real *q, zw_real *work);
/* After kinematics. */
void LANE(tree_velocities)(const tree_mechanism *tree, const zw_real *v, zw_real *work);
/* After velocities. A of all bodies; a may be NULL: zero. */
void LANE(tree_accelerations)(const tree_mechanism *tree, const zw_real *a, zw_real *work);
/* After velocities. tau = M a + bias - J' wrench; fills A and F. a may be NULL: zero. wrench
 * [bodies][6] has a moment about the centre of mass and a force for each body; NULL: none. */
void LANE(tree_inverse)(const tree_mechanism *tree, const zw_real *a, const zw_real *wrench,
                        zw_real *work, zw_real *tau);

/* After inverse, for a step of length h: bodies to which nothing is attached keep their angular
 * momentum as they turn. */
void LANE(tree_spin)(const tree_mechanism *tree, const zw_real *h, const zw_real *work,
                     zw_real *tau);

/* After velocities. p = M v, and the force g in p' = g + tau: weights, and the effect of moving
 * axes. Overwrites A and F. */
void LANE(tree_momenta)(const tree_mechanism *tree, const zw_real *v, zw_real *work, zw_real *p,
                        zw_real *g);

/* ---- The mass matrix by its entries: not for a tree without_matrix --------------------------- */

/* After kinematics. The entries of M. */
void LANE(tree_composite)(const tree_mechanism *tree, zw_real *work);
/* After composite. y = (M + diagonal) x; diagonal may be NULL. */
void LANE(tree_multiply)(const tree_mechanism *tree, const zw_real *diagonal, const zw_real *work,
                         const zw_real *x, zw_real *y);
/* After composite. M + diagonal = L' D L; bad where a D is not positive. diagonal may be NULL. */
void LANE(tree_factor)(const tree_mechanism *tree, const zw_real *diagonal, zw_real *work,
                       zw_mask *bad);
/* After factor. x = M \ x, and with E = L' D^1/2, M = E E': x = E \ x, x = E' \ x */
void LANE(tree_solve)(const tree_mechanism *tree, const zw_real *work, zw_real *x);
void LANE(tree_solve_lower)(const tree_mechanism *tree, const zw_real *work, zw_real *x);
void LANE(tree_solve_upper)(const tree_mechanism *tree, const zw_real *work, zw_real *x);

/* ---- The mass matrix by sweeps, each O(n); all of these overwrite A and F -------------------- */

/* After kinematics. y = M x; d = diag(M); the factors of M + diagonal, as tree_factor. */
void LANE(tree_inertia_times)(const tree_mechanism *tree, const zw_real *x, zw_real *work,
                              zw_real *y);
void LANE(tree_inertia_diagonal)(const tree_mechanism *tree, zw_real *work, zw_real *d);
void LANE(tree_articulate)(const tree_mechanism *tree, const zw_real *diagonal, zw_real *work,
                           zw_mask *bad);
/* After articulate. As tree_solve, tree_solve_lower, tree_solve_upper. */
void LANE(tree_articulated_solve)(const tree_mechanism *tree, zw_real *work, zw_real *x);
void LANE(tree_articulated_lower)(const tree_mechanism *tree, zw_real *work, zw_real *x);
void LANE(tree_articulated_upper)(const tree_mechanism *tree, zw_real *work, zw_real *x);
/* The same for bodies first..end-1 alone, which are complete trees. To the inertia of body i the
 * entries from 21 i of `held` are added, laid out as `articulated` in tree_places: for example a
 * spring between it and the world. y and x have the entries of their dofs. */
void LANE(tree_inertia_times_held)(const tree_mechanism *tree, int first, int end, const zw_real *x,
                                   zw_real *work, zw_real *y);
void LANE(tree_articulate_held)(const tree_mechanism *tree, int first, int end, const zw_real *held,
                                const zw_real *diagonal, zw_real *work, zw_mask *bad);
void LANE(tree_articulated_solve_held)(const tree_mechanism *tree, int first, int end,
                                       zw_real *work, zw_real *x);
/* After velocities and articulate. (M + diagonal) a = tau - bias + J' wrench, with the diagonal
 * that tree_articulate was given; fills A. wrench may be NULL. */
void LANE(tree_forward)(const tree_mechanism *tree, const zw_real *tau, const zw_real *wrench,
                        zw_real *work, zw_real *a);

/* ---- Observables ------------------------------------------------------------------------------
 */

/* After velocities. Kinetic and potential energy (2); the latter of gravity and springs. */
void LANE(tree_energies)(const tree_mechanism *tree, const zw_real *q, const zw_real *v,
                         const zw_real *work, zw_real *energy);
/* After velocities. Centre of mass, momentum, angular momentum about that centre (9). */
void LANE(tree_momentum)(const tree_mechanism *tree, const zw_real *work, zw_real *momentum);
/* After kinematics. From the body's frame to the world. */
void LANE(tree_point)(const tree_mechanism *tree, int body, const double *local,
                      const zw_real *work, zw_real *place);
/* After velocities. Angular velocity of the body, and velocity of its point that is at `place`. */
void LANE(tree_point_velocity)(const tree_mechanism *tree, int body, const zw_real *place,
                               const zw_real *work, zw_real *velocity);
/* After a sweep that fills A: accelerations, inverse, forward. The same for accelerations; with a =
 * 0 it is the term J' v of constraint rows. */
void LANE(tree_point_acceleration)(const tree_mechanism *tree, int body, const zw_real *place,
                                   const zw_real *work, zw_real *acceleration);
/* After kinematics. J[6 * k + row], angular rows first, for dof k of tree_chain. */
void LANE(tree_jacobian)(const tree_mechanism *tree, int body, const zw_real *place,
                         const zw_real *work, zw_real *J);

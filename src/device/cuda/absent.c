/* Stubs of functions that steps on a device never reach: image_check refuses systems that would
 * need them. Each fails in a way that its callers handle. */
#include "base/memory.h"
#include "collide/broad.h"
#include "collide/ground.h"
#include "step/once8/once8.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"
#include "system/soft/soft_large.h"
#include "system/soft8/soft8.h"

/* Buffers are large enough (world.c), so no memory is requested. */
void *base_alloc(size_t bytes)
{
    (void)bytes;
    return NULL;
}

void base_free(void *block)
{
    (void)block;
}

enum { LINE = 64 };

/* As base/memory.c. */
void *base_arena_bytes(base_arena *arena, size_t count)
{
    size_t start = (arena->used + LINE - 1) / LINE * LINE;
    arena->used = start + count;
    return arena->block ? arena->block + start : NULL;
}

double *base_arena_doubles(base_arena *arena, size_t count)
{
    return base_arena_bytes(arena, count * sizeof(double));
}

int *base_arena_ints(base_arena *arena, size_t count)
{
    return base_arena_bytes(arena, count * sizeof(int));
}

/* No formulas. */
void bodies_formula_forces(const zw_system *system, zw_work *work, int potential, double *force)
{
    (void)system, (void)work, (void)potential, (void)force;
}

const double *bodies_formula_outputs(const zw_system *system, const zw_work *work)
{
    (void)system, (void)work;
    return NULL;
}

const double *bodies_run_formulas(const zw_system *system, zw_work *work, system_part part,
                                  const expr_inputs *in)
{
    (void)system, (void)work, (void)part, (void)in;
    return NULL;
}

void bodies_formula_rows(const zw_system *system, zw_work *work, const double *entries, double *A)
{
    (void)system, (void)work, (void)entries, (void)A;
}

void bodies_formula_bias(const zw_system *system, zw_work *work, double *b)
{
    (void)system, (void)work, (void)b;
}

int bodies_formula_wrench(const zw_system *system, const zw_work *work, int f, const double *push,
                          double place[3], double wrench[6])
{
    (void)system, (void)work, (void)f, (void)push, (void)place, (void)wrench;
    return 0;
}

double *bodies_put_slip(const zw_system *system, zw_work *work, const double *from, double *out)
{
    (void)system, (void)work, (void)from;
    return out;
}

const expr_node *expr_graph_node(const expr_graph *graph, expr_id id)
{
    (void)graph, (void)id;
    return NULL;
}

/* No adhesion: nothing to find. */
zw_status bodies_find_adhesion(const zw_system *system, zw_work *work, const double *q,
                               const double *v, double slack, zw_error *error)
{
    (void)system, (void)work, (void)q, (void)v, (void)slack, (void)error;
    return ZW_OK;
}

int bodies_aim_adhesion(const zw_system *system, zw_work *work, const bodies_motor *motor, int *dof,
                        double *coef)
{
    (void)system, (void)work, (void)motor, (void)dof, (void)coef;
    return 0;
}

/* No crowds, no bounding boxes. */
int contact_crowd_meet(const struct zw_system *system, contact_work *work, double margin)
{
    (void)system, (void)work, (void)margin;
    return 0;
}

zw_status collide_broad_keep(collide_broad *broad, int count, const double *lower,
                             const double *upper, const unsigned char *still, int *bad)
{
    (void)broad, (void)count, (void)lower, (void)upper, (void)still, (void)bad;
    return ZW_NO_MEMORY;
}

zw_status collide_broad_update(collide_broad *broad, int count, const int *list,
                               const double *lower, const double *upper, int among, int *bad)
{
    (void)broad, (void)count, (void)list, (void)lower, (void)upper, (void)among, (void)bad;
    return ZW_NO_MEMORY;
}

int collide_broad_pairs(const collide_broad *broad, const int **pair)
{
    (void)broad, (void)pair;
    return 0;
}

/* No large islands. */
int soft_large_find(soft_problem *s, soft_island *island)
{
    (void)s, (void)island;
    return 0;
}

int soft_large_factor(soft_problem *s, const soft_island *island, const double *diagonal,
                      int only_masses)
{
    (void)s, (void)island, (void)diagonal, (void)only_masses;
    return 0;
}

void soft_large_solve(soft_problem *s, const soft_island *island, double *x)
{
    (void)s, (void)island, (void)x;
}

/* No more blocks than there is room for: such worlds step alone. */
int soft8_grow(soft8 *s)
{
    (void)s;
    return 0;
}

int once8_grow(once8 *s)
{
    (void)s;
    return 0;
}

/* No height fields, no meshes of single triangles; rays are refused where they may hit one. */
void collide_field_pair(const collide_field *field, const collide_solid *b, collide_sink *sink)
{
    (void)field, (void)b, (void)sink;
}

void collide_mesh_pair(const collide_mesh *mesh, const collide_solid *b, collide_sink *sink)
{
    (void)mesh, (void)b, (void)sink;
}

void collide_field_box(const collide_field *field, double lower[3], double upper[3])
{
    (void)field, (void)lower, (void)upper;
}

void collide_mesh_box(const collide_mesh *mesh, double lower[3], double upper[3])
{
    (void)mesh, (void)lower, (void)upper;
}

double collide_mesh_ray(const collide_mesh *mesh, const double p[3], const double d[3],
                        double normal[3])
{
    (void)mesh, (void)p, (void)d, (void)normal;
    return -1;
}

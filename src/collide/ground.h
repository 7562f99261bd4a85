/* What does not move and is not convex: height fields and triangle meshes (field.c, mesh.c).
 *
 * Both are triangles with a front, the side from which they are counterclockwise. An edge between
 * two triangles is a ridge, a valley, or flat; only over a ridge may a normal stand between those
 * of its two triangles. So what slides over a flat floor of many triangles does not stumble. */
#ifndef ZW_COLLIDE_GROUND_H
#define ZW_COLLIDE_GROUND_H

#include "collide/inner.h"

enum { COLLIDE_RING = 24 };

/* columns along x from -half_x to half_x, rows along y, at least 2 each; height[row * columns +
 * column], copied. The ground is below. NULL: no memory or bad numbers. */
collide_field *collide_field_new(int columns, int rows, double half_x, double half_y,
                                 const double *height);
void collide_field_free(collide_field *field);

/* Vertices and triangles are copied. NULL: no memory, no triangle, or numbers out of range. */
collide_mesh *collide_mesh_new(const double *vertex, int vertex_count, const int *triangle,
                               int triangle_count);
void collide_mesh_free(collide_mesh *mesh);

void collide_field_pair(const collide_field *field, const collide_solid *b, collide_sink *sink);
void collide_mesh_pair(const collide_mesh *mesh, const collide_solid *b, collide_sink *sink);
/* As collide_ray; triangles are met from both sides, and the normal is that of their front. */
double collide_mesh_ray(const collide_mesh *mesh, const double p[3], const double d[3],
                        double normal[3]);
void collide_field_box(const collide_field *field, double lower[3], double upper[3]);
void collide_mesh_box(const collide_mesh *mesh, double lower[3], double upper[3]);

/* One triangle: its corners, its unit normal, and those of its neighbours across the edges 0-1,
 * 1-2, 2-0; a neighbour of length 0 is none. */
typedef struct collide_facet {
    double corner[9], normal[3], beyond[3][3];
    uint32_t number;
    /* The neighbours of a corner, counterclockwise, the first once more at the end if they go all
     * around it: how many; 0: too many. */
    int (*ring)(const void *ground, uint32_t number, int corner, double ring[][3]);
    const void *ground;
    int solid; /* there is nothing but ground behind it */
    int deep;  /* and the middle of the shape is in it: out along the normal */
} collide_facet;

/* At most so many of the points: those that hold as well as all. */
int collide_thin(collide_point *point, int count, int most);
void collide_facet_pair(const collide_facet *facet, const collide_solid *b, collide_sink *sink);

#endif

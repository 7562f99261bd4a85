/* Fixed shapes that are not convex: height fields and triangle meshes (field.c, mesh.c).
 *
 * Both are triangles with a front, the side from which they are counterclockwise. An edge between
 * two triangles is a ridge, a valley, or flat; only over a ridge may a contact normal lie between
 * those of its two triangles. So a body that slides over a flat floor of many triangles is not
 * stopped by inner edges. */
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
/* As collide_ray; rays hit triangles from both sides, and the normal is that of their front. */
double collide_mesh_ray(const collide_mesh *mesh, const double p[3], const double d[3],
                        double normal[3]);
void collide_field_box(const collide_field *field, double lower[3], double upper[3]);
void collide_mesh_box(const collide_mesh *mesh, double lower[3], double upper[3]);

/* One triangle: its corners, its unit normal, and those of its neighbours across the edges 0-1,
 * 1-2, 2-0; a normal of length 0: no neighbour. */
typedef struct collide_facet {
    double corner[9], normal[3], beyond[3][3];
    uint32_t number;
    /* The neighbours of a corner, counterclockwise, with the first repeated at the end if they form
     * a closed ring: returns their number; 0: too many. */
    int (*ring)(const void *ground, uint32_t number, int corner, double ring[][3]);
    const void *ground;
    int solid; /* the ground is solid behind it */
    int deep;  /* and the centre of the shape is in it: pushed out along the normal */
} collide_facet;

/* Reduces the points to at most `most` that support as well as all. */
int collide_thin(collide_point *point, int count, int most);
void collide_facet_pair(const collide_facet *facet, const collide_solid *b, collide_sink *sink);

#endif

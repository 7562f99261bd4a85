/* Faces of the shapes of a body, for drawing. */
#ifndef ZW_SYSTEM_BODIES_SOLID_H
#define ZW_SYSTEM_BODIES_SOLID_H

#include "zwang/bodies.h"

struct model_bodies;

/* Initialise with zeros. In the body's frame. */
typedef struct bodies_solid {
    int vertex_count, vertex_capacity;
    double (*vertex)[3];
    int face_count;
    int face_length, face_capacity;
    int *face; /* for each face the number of its corners, then the corners, anticlockwise from
                  outside */
    const double *rgba; /* the first colour of its shapes; NULL: none */
    int failed;         /* no memory */
} bodies_solid;

/* 0: this shape is not drawn as faces. */
int bodies_solid_add(bodies_solid *solid, const struct model_bodies *from, const zw_geom_def *geom);
void bodies_solid_free(bodies_solid *solid);

#endif

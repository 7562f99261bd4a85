/* The convex hull of points: triangles for volumes; vertices, polygons and neighbours for
 * collisions. */
#ifndef ZW_COLLIDE_HULL_H
#define ZW_COLLIDE_HULL_H

/* The triangles of the hull (three vertex indices each, outward), allocated by base_alloc at
 * *triangle, and unless `across` is NULL, at *across what collide_neighbours finds. Returns their
 * number; 0: the points are in a plane, -1: no memory. */
int collide_hull_triangles(const double *vertex, int count, int **triangle, int **across);

/* across[3 t + k]: the triangle beyond the edge from corner k to k + 1 of t, or -1. If more than
 * two triangles share an edge, they are paired. 0: no memory. */
int collide_neighbours(const int *triangle, int triangles, int *across);

/* Faces are polygons, counterclockwise from outside; those within 1e-10 of the size of one plane
 * are one. Points in a plane have a hull of two faces, points on a line one without faces. */
struct collide_hull {
    int vertex_count, face_count, ring_count;
    double extent;     /* largest distance of a vertex from the origin */
    double middle[3];  /* mean of the vertices, which is inside */
    double *vertex;    /* 3 each; only those that are corners */
    double *plane;     /* 4 for each face: unit normal, offset */
    int *face_start;   /* face_count + 1, into ring */
    int *ring;         /* vertices of the faces, one after the other */
    int *near_start;   /* vertex_count + 1, into near: */
    int *near;         /* the neighbours along edges of each vertex, */
    int *around_start; /* vertex_count + 1, into around: */
    int *around;       /* the faces at each vertex */
    int *cell;   /* table over directions (hull_cells.c): 2 each: the first of four parts, -1; */
    int *listed; /* or where its list of vertices is, and how many */
    int cell_count, listed_count;
};

/* NULL: no memory, no points, or numbers that are not finite. */
struct collide_hull *collide_hull_new(const double *vertex, int count);
void collide_hull_free(struct collide_hull *hull);

/* hull_cells.c: fills the table; 0: no memory. */
int collide_hull_cells(struct collide_hull *hull);
/* shape.c: the farthest vertex in a direction: the first that has the largest computed u . v of
 * all. */
int collide_hull_support(const struct collide_hull *hull, const double u[3]);

#endif

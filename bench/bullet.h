/* Bullet behind a C interface, for bench/heaps.c: free bodies of one shape, and planes. */
#ifndef ZWANG_BENCH_BULLET_H
#define ZWANG_BENCH_BULLET_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bullet_world bullet_world;

/* half: of boxes; NULL: spheres of this radius. Planes: normal and offset, four numbers each. */
bullet_world *bullet_open(int bodies, const double *pos, const double *half, double radius,
                          double mass, double friction, int planes, const double *plane);
void bullet_step(bullet_world *world, double h);
/* pos[3], quat[4] (w first), velocity[3] and angular velocity[3] of each. */
void bullet_look(const bullet_world *world, double *pos, double *quat, double *v);
void bullet_close(bullet_world *world);

#ifdef __cplusplus
}
#endif

#endif

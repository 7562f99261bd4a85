/* Bullet behind a C interface, for bench/heaps.c: free bodies, and planes. */
#ifndef ZWANG_BENCH_BULLET_H
#define ZWANG_BENCH_BULLET_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bullet_world bullet_world;

typedef enum bullet_shape {
    BULLET_SPHERE,  /* size[0]: radius */
    BULLET_BOX,     /* half lengths */
    BULLET_CAPSULE, /* radius, half length between the caps, along z */
    BULLET_CYLINDER /* radius, half length, along z */
} bullet_shape;

/* Planes: normal and offset, four numbers each. */
bullet_world *bullet_open(double friction, int planes, const double *plane);
/* One body more: quat w first. */
void bullet_add(bullet_world *world, bullet_shape shape, const double size[3], double mass,
                const double pos[3], const double quat[4], const double v[3]);
void bullet_step(bullet_world *world, double h);
/* pos[3], quat[4] (w first), velocity[3] and angular velocity[3] of each. */
void bullet_look(const bullet_world *world, double *pos, double *quat, double *v);
void bullet_close(bullet_world *world);

#ifdef __cplusplus
}
#endif

#endif

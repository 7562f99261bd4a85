/* Engines for bench/heaps.c: each opens the same scene, steps it and returns the state of its
 * bodies. */
#ifndef ZW_BENCH_ENGINES_H
#define ZW_BENCH_ENGINES_H

#include <stdarg.h>
#include <string.h>

#ifdef ZW_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif
#ifdef ZW_HAVE_ODE
#include <ode/ode.h>
#endif
#ifdef ZW_HAVE_BULLET
#include "bullet.h"
#endif

#include "collide/collide.h"
#include "measure.h"
#include "model/pose.h"
#include "read/file/xml.h"
#include "scene/dice.h"
#include "step/impulse/impulse.h"
#include "step/soft_step.h"
#include "step/split/split.h"

#define G 9.81
#define FRICTION 0.5
#define SHARE 8.0 /* seconds that an engine may take */

/* A free body of one shape. */
typedef struct thing {
    collide_shape shape; /* sphere, box, capsule or cylinder */
    double mass, pos[3], quat[4], v[3];
} thing;

typedef struct scene {
    const char *name;
    int count;
    thing *body;
    double h;
    int steps, planes;
    double plane[5][4]; /* normal, offset */
} scene;

/* The state of all bodies in an engine. */
typedef struct shown {
    double *pos, *quat, *v; /* [3], [4], [6]: velocity, angular velocity, in the world */
} shown;

typedef struct engine {
    const char *name;
    void *(*open)(const scene *s); /* NULL: not available */
    int (*step)(void *world, double h);
    void (*look)(const void *world, shown *to);
    void (*close)(void *world);
    int most;                                 /* largest number of bodies that it supports */
    double (*certificate)(const void *world); /* of its last step; NULL: it has none */
} engine;

/* ---- The same text for zwang and MuJoCo ------------------------------------------------------ */

static char *text_of(const scene *s)
{
    static const char *const word[] = {[COLLIDE_SPHERE] = "sphere",
                                       [COLLIDE_BOX] = "box",
                                       [COLLIDE_CAPSULE] = "capsule",
                                       [COLLIDE_CYLINDER] = "cylinder"};
    char *text = allocate((size_t)s->count + 20, 400), *end = text;
    end += sprintf(end,
                   "<mujoco><option gravity='0 0 %g' timestep='%g'/><default><geom friction='%g 0 "
                   "0'/></default><worldbody>",
                   -G, s->h, FRICTION);
    for (int i = 0; i < s->planes; i++) {
        const double *p = s->plane[i];
        end += sprintf(end, "<geom type='plane' size='0 0 1' pos='%g %g %g' zaxis='%g %g %g'/>",
                       p[3] * p[0], p[3] * p[1], p[3] * p[2], p[0], p[1], p[2]);
    }
    for (int i = 0; i < s->count; i++) {
        const thing *it = &s->body[i];
        end += sprintf(end,
                       "<body pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'><freejoint/>"
                       "<geom type='%s' size='%g %g %g' mass='%.17g'/></body>",
                       it->pos[0], it->pos[1], it->pos[2], it->quat[0], it->quat[1], it->quat[2],
                       it->quat[3], word[it->shape.kind], it->shape.size[0], it->shape.size[1],
                       it->shape.size[2], it->mass);
    }
    sprintf(end, "</worldbody></mujoco>");
    return text;
}

/* Free joints: q has position and quaternion, v the velocity along the world's axes and the angular
 * velocity along the body's. Both engines have the same layout. */
static void start_free(const scene *s, double *v)
{
    for (int i = 0; i < s->count; i++) {
        memcpy(v + 6 * i, s->body[i].v, sizeof s->body[i].v);
    }
}

static void show_free(int count, const double *q, const double *v, shown *to)
{
    for (int i = 0; i < count; i++) {
        memcpy(to->pos + 3 * i, q + 7 * i, 3 * sizeof *q);
        memcpy(to->quat + 4 * i, q + 7 * i + 3, 4 * sizeof *q);
        memcpy(to->v + 6 * i, v + 6 * i, 3 * sizeof *v);
        double R[9];
        model_quat_matrix(q + 7 * i + 3, R);
        for (int k = 0; k < 3; k++) {
            to->v[6 * i + 3 + k] = model_dot(R + 3 * k, v + 6 * i + 3);
        }
    }
}

/* ---- zwang ----------------------------------------------------------------------------------- */

typedef struct ours {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
    step_impulse *impulse;
    soft_problem *soft;
    zw_error error;
    int count;
    double t;
} ours;

static void ours_close(void *world)
{
    ours *w = world;
    impulse_free(w->impulse);
    soft_free(w->soft);
    zw_state_free(w->state);
    zw_work_free(w->work);
    zw_system_free(w->system);
    zw_model_free(w->model);
    free(w);
}

static void *ours_open(const scene *s, int soft, double tolerance, double accuracy)
{
    ours *w = allocate(1, sizeof *w);
    char *text = text_of(s);
    w->count = s->count;
    w->model = zw_model_parse(text, "heap.xml", NULL, &w->error);
    free(text);
    w->system = w->model ? zw_system_compile(w->model, NULL, &w->error) : NULL;
    w->work = w->system ? zw_work_create(w->system, &w->error) : NULL;
    w->state = w->work ? zw_state_create(w->system, w->work, NULL, &w->error) : NULL;
    if (w->state) {
        system_bind(w->system, w->work, state_param(w->state));
        start_free(s, state_v(w->state));
    }
    if (w->state && soft) {
        soft_create(w->system, w->work, s->h, &w->soft, &w->error);
    } else if (w->state) {
        w->impulse = impulse_create(w->system, w->work, &w->error);
        w->impulse = w->impulse && split_begin(w->impulse) ? w->impulse : NULL;
    }
    if (!w->soft && !w->impulse) {
        printf("*%s*\n", w->error.text);
        ours_close(w);
        return NULL;
    }
    if (w->impulse) {
        impulse_set_tolerance(w->impulse, tolerance);
        impulse_set_accuracy(w->impulse, accuracy);
    }
    return w;
}

static void *exact_open(const scene *s)
{
    return ours_open(s, 0, 0, 0);
}

static void *linear_open(const scene *s)
{
    return ours_open(s, 0, 1, 0);
}

static void *fine_open(const scene *s)
{
    return ours_open(s, 0, 1, 1e-6);
}

static void *rough_open(const scene *s)
{
    return ours_open(s, 0, 1, 1e-2);
}

static void *roughest_open(const scene *s)
{
    return ours_open(s, 0, 1, 0.1);
}

static void *soft_open(const scene *s)
{
    return ours_open(s, 1, 0, 0);
}

static int ours_step(void *world, double h)
{
    ours *w = world;
    double *q = state_q(w->state), *v = state_v(w->state), gained;
    zw_status status = w->soft ? soft_step(w->soft, w->t, h, q, v, q, v, &gained, &w->error)
                               : impulse_step(w->impulse, 0, h, q, v, q, v, &w->error);
    w->t += h;
    if (status != ZW_OK) {
        printf("*%s: %s*\n\n", zw_status_text(status), w->error.text);
    }
    return status == ZW_OK;
}

static void ours_look(const void *world, shown *to)
{
    const ours *w = world;
    show_free(w->count, state_q(w->state), state_v(w->state), to);
}

static double ours_certificate(const void *world)
{
    const ours *w = world;
    return w->impulse->residual;
}

/* ---- MuJoCo ---------------------------------------------------------------------------------- */

#ifdef ZW_HAVE_MUJOCO
typedef struct theirs {
    mjModel *m;
    mjData *d;
    int count;
} theirs;

static void be_quiet(const char *text)
{
    (void)text;
}

static void *mujoco_open(const scene *s)
{
    theirs *w = allocate(1, sizeof *w);
    mjVFS *vfs = allocate(1, sizeof *vfs);
    char *text = text_of(s), problem[300] = "not read";
    mju_user_warning = be_quiet;
    mj_defaultVFS(vfs);
    if (mj_makeEmptyFileVFS(vfs, "heap.xml", (int)strlen(text)) == 0) {
        memcpy(vfs->filedata[0], text, strlen(text));
        w->m = mj_loadXML("heap.xml", vfs, problem, sizeof problem);
    }
    mj_deleteVFS(vfs);
    free(vfs);
    free(text);
    if (w->m) {
        int tower = s->body[0].shape.kind == COLLIDE_BOX;
        w->m->opt.solver = tower ? mjSOL_NEWTON : mjSOL_CG;
        w->m->opt.cone = tower ? mjCONE_PYRAMIDAL : mjCONE_ELLIPTIC; /* fewer rows */
        w->m->nconmax = tower ? 20 * s->count : 5 * s->count;
        w->m->njmax = (tower ? 4 : 3) * w->m->nconmax;
        w->m->nstack = 4000000 + 5000 * s->count;
        w->d = mj_makeData(w->m);
    }
    if (w->d) {
        start_free(s, w->d->qvel);
    }
    w->count = s->count;
    if (!w->d) {
        printf("*MuJoCo: %s*\n", problem);
        free(w);
        return NULL;
    }
    return w;
}

static int mujoco_step(void *world, double h)
{
    theirs *w = world;
    (void)h;
    mj_step(w->m, w->d);
    return w->d->warning[mjWARN_BADQACC].number == 0;
}

static void mujoco_look(const void *world, shown *to)
{
    const theirs *w = world;
    show_free(w->count, w->d->qpos, w->d->qvel, to);
}

static void mujoco_close(void *world)
{
    theirs *w = world;
    int dropped = w->d->warning[mjWARN_CONTACTFULL].number;
    if (dropped > 0) {
        printf("*MuJoCo had no room for all contacts in %d steps*\n\n", dropped);
    }
    mj_deleteData(w->d);
    mj_deleteModel(w->m);
    free(w);
}
#endif

/* ---- ODE ------------------------------------------------------------------------------------- */

#ifdef ZW_HAVE_ODE
typedef struct ode_world {
    dWorldID world;
    dSpaceID space;
    dJointGroupID touching;
    dBodyID *body;
    int count, exact;
} ode_world;

static void ode_quiet(int number, const char *text, va_list more)
{
    (void)number;
    (void)text;
    (void)more;
}

static void ode_meet(void *data, dGeomID a, dGeomID b)
{
    enum { POINTS = 8 };
    ode_world *w = data;
    dContact list[POINTS];
    int count = dCollide(a, b, POINTS, &list[0].geom, sizeof *list);
    if (!dGeomGetBody(a) && !dGeomGetBody(b)) {
        return;
    }
    for (int k = 0; k < count; k++) {
        list[k].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = FRICTION};
        dJointAttach(dJointCreateContact(w->world, w->touching, &list[k]), dGeomGetBody(a),
                     dGeomGetBody(b));
    }
}

static dGeomID ode_shape(dSpaceID space, const collide_shape *shape, double total, dMass *mass)
{
    const double *z = shape->size;
    switch (shape->kind) {
    case COLLIDE_BOX:
        dMassSetBoxTotal(mass, total, 2 * z[0], 2 * z[1], 2 * z[2]);
        return dCreateBox(space, 2 * z[0], 2 * z[1], 2 * z[2]);
    case COLLIDE_CAPSULE:
        dMassSetCapsuleTotal(mass, total, 3, z[0], 2 * z[1]);
        return dCreateCapsule(space, z[0], 2 * z[1]);
    case COLLIDE_CYLINDER:
        dMassSetCylinderTotal(mass, total, 3, z[0], 2 * z[1]);
        return dCreateCylinder(space, z[0], 2 * z[1]);
    default:
        dMassSetSphereTotal(mass, total, z[0]);
        return dCreateSphere(space, z[0]);
    }
}

static void *ode_open_with(const scene *s, int exact)
{
    ode_world *w = allocate(1, sizeof *w);
    dInitODE2(0);
    dSetMessageHandler(ode_quiet); /* its exact solver reports zero pivots in redundant rows */
    w->exact = exact;
    w->count = s->count;
    w->world = dWorldCreate();
    w->space = dHashSpaceCreate(NULL);
    w->touching = dJointGroupCreate(0);
    w->body = allocate((size_t)s->count, sizeof *w->body);
    dWorldSetGravity(w->world, 0, 0, -G);
    for (int i = 0; i < s->planes; i++) {
        const double *p = s->plane[i];
        dCreatePlane(w->space, p[0], p[1], p[2], p[3]);
    }
    for (int i = 0; i < s->count; i++) {
        const thing *it = &s->body[i];
        dMass mass;
        dGeomID geom = ode_shape(w->space, &it->shape, it->mass, &mass);
        w->body[i] = dBodyCreate(w->world);
        dBodySetMass(w->body[i], &mass);
        dGeomSetBody(geom, w->body[i]);
        dBodySetPosition(w->body[i], it->pos[0], it->pos[1], it->pos[2]);
        dBodySetQuaternion(w->body[i], it->quat);
        dBodySetLinearVel(w->body[i], it->v[0], it->v[1], it->v[2]);
    }
    return w;
}

static void *ode_open(const scene *s)
{
    return ode_open_with(s, 0);
}

static void *ode_open_exact(const scene *s)
{
    return ode_open_with(s, 1);
}

static int ode_step(void *world, double h)
{
    ode_world *w = world;
    dSpaceCollide(w->space, w, ode_meet);
    if (w->exact) {
        dWorldStep(w->world, h);
    } else {
        dWorldQuickStep(w->world, h);
    }
    dJointGroupEmpty(w->touching);
    return 1;
}

static void ode_look(const void *world, shown *to)
{
    const ode_world *w = world;
    for (int i = 0; i < w->count; i++) {
        const dReal *x = dBodyGetPosition(w->body[i]), *q = dBodyGetQuaternion(w->body[i]);
        const dReal *v = dBodyGetLinearVel(w->body[i]), *turn = dBodyGetAngularVel(w->body[i]);
        for (int k = 0; k < 4; k++) {
            to->quat[4 * i + k] = q[k];
        }
        for (int k = 0; k < 3; k++) {
            to->pos[3 * i + k] = x[k];
            to->v[6 * i + k] = v[k];
            to->v[6 * i + 3 + k] = turn[k];
        }
    }
}

static void ode_close(void *world)
{
    ode_world *w = world;
    dJointGroupDestroy(w->touching);
    dSpaceDestroy(w->space);
    dWorldDestroy(w->world);
    dCloseODE();
    free(w->body);
    free(w);
}
#endif

/* ---- Bullet ---------------------------------------------------------------------------------- */

#ifdef ZW_HAVE_BULLET
static void *other_open(const scene *s)
{
    bullet_world *w = bullet_open(FRICTION, s->planes, &s->plane[0][0]);
    for (int i = 0; i < s->count; i++) {
        const thing *it = &s->body[i];
        static const bullet_shape shape[] = {[COLLIDE_SPHERE] = BULLET_SPHERE,
                                             [COLLIDE_BOX] = BULLET_BOX,
                                             [COLLIDE_CAPSULE] = BULLET_CAPSULE,
                                             [COLLIDE_CYLINDER] = BULLET_CYLINDER};
        bullet_add(w, shape[it->shape.kind], it->shape.size, it->mass, it->pos, it->quat, it->v);
    }
    return w;
}

static int other_step(void *world, double h)
{
    bullet_step(world, h);
    return 1;
}

static void other_look(const void *world, shown *to)
{
    bullet_look(world, to->pos, to->quat, to->v);
}

static void other_close(void *world)
{
    bullet_close(world);
}
#endif

static const engine list[] = {
#ifdef ZW_HAVE_MUJOCO
    {"MuJoCo 2.2.2", mujoco_open, mujoco_step, mujoco_look, mujoco_close, 400, NULL},
#endif
#ifdef ZW_HAVE_ODE
    {"ODE quickstep", ode_open, ode_step, ode_look, ode_close, 100000, NULL},
    {"ODE exact", ode_open_exact, ode_step, ode_look, ode_close, 30, NULL},
#endif
#ifdef ZW_HAVE_BULLET
    {"Bullet", other_open, other_step, other_look, other_close, 100000, NULL},
#endif
    {"zwang", exact_open, ours_step, ours_look, ours_close, 100000, ours_certificate},
    {"zwang --tol 1", linear_open, ours_step, ours_look, ours_close, 100000, ours_certificate},
    {"zwang --tol 1 --accuracy 1e-6", fine_open, ours_step, ours_look, ours_close, 100000,
     ours_certificate},
    {"zwang --tol 1 --accuracy 1e-2", rough_open, ours_step, ours_look, ours_close, 100000,
     ours_certificate},
    {"zwang --tol 1 --accuracy 0.1", roughest_open, ours_step, ours_look, ours_close, 100000,
     ours_certificate},
    {"zwang soft", soft_open, ours_step, ours_look, ours_close, 400, NULL},
};
enum { ENGINES = sizeof list / sizeof *list };

#endif

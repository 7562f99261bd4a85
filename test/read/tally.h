/* How compare_mjcf.c compares numbers, and poses at random coordinates: MuJoCo's kinematics against
 * a routine of our own here. */
#ifndef ZW_TEST_READ_TALLY_H
#define ZW_TEST_READ_TALLY_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mujoco/mujoco.h>

#include "model/bodies.h"
#include "scene/dice.h"

enum { POSES = 5 };

/* Of the file that is compared now. */
static const char *current;
static int differences;
static double worst;
static int numbers;

/* Equal up to `tolerance` of `scale`. */
static inline void same_within(const char *what, int index, const double *ours,
                               const double *theirs, int count, double tolerance, double scale)
{
    for (int i = 0; i < count; i++) {
        double error = fabs(ours[i] - theirs[i]) / scale;
        numbers++;
        worst = error > worst && tolerance < 1e-8 ? error : worst;
        if (!(error <= tolerance) && differences++ < 12) {
            printf("  %s: %s %d [%d]: %.17g, MuJoCo has %.17g\n", current, what, index, i, ours[i],
                   theirs[i]);
        }
    }
}

static inline void same(const char *what, int index, const double *ours, const double *theirs,
                        int count)
{
    double scale = 1;
    for (int i = 0; i < count; i++) {
        scale = fmax(scale, fabs(theirs[i]));
    }
    same_within(what, index, ours, theirs, count, 1e-9, scale);
}

static inline void same_int(const char *what, int index, int ours, int theirs)
{
    double a = ours, b = theirs;
    same_within(what, index, &a, &b, 1, 0, 1);
}

static inline void same_name(const char *what, int index, const char *ours, const mjModel *m,
                             int kind)
{
    const char *theirs = mj_id2name(m, kind, index);
    if (strcmp(ours != NULL ? ours : "", theirs != NULL ? theirs : "") != 0 && differences++ < 12) {
        printf("  %s: %s %d is '%s', MuJoCo's is '%s'\n", current, what, index, ours ? ours : "",
               theirs ? theirs : "");
    }
}

/* ---- Kinematics of our own ------------------------------------------------------------------- */

typedef struct posed {
    model_pose *body;    /* [bodies] */
    double (*anchor)[3]; /* [joints], in the order of the coordinates */
    double (*axis)[3];
} posed;

/* A body's frame before its joints is its parent's; each joint moves it in turn. */
static inline void kinematics(const model_bodies *b, const int *order, const double *q, posed *p)
{
    int next = 0;
    p->body[0] = model_pose_none();
    for (int i = 1; i < b->count[ZW_KIND_BODY]; i++) {
        const zw_body_def *d = &b->body[i];
        model_pose own;
        memcpy(own.pos, d->pos, sizeof own.pos);
        memcpy(own.quat, d->quat, sizeof own.quat);
        model_pose x = model_pose_chain(&p->body[d->parent], &own);
        for (; next < b->count[ZW_KIND_JOINT] && b->joint[order[next]].body == i; next++) {
            const zw_joint_def *j = &b->joint[order[next]];
            if (j->kind == ZW_JOINT_FREE) {
                memcpy(x.pos, q, sizeof x.pos);
                memcpy(x.quat, q + 3, sizeof x.quat);
                model_quat_unit(x.quat);
                q += 7;
                memcpy(p->anchor[next], x.pos, sizeof x.pos);
                continue;
            }
            double arm[3], turned[3], turn[4];
            model_rotate(x.quat, j->pos, arm);
            model_rotate(x.quat, j->axis, p->axis[next]);
            for (int k = 0; k < 3; k++) {
                p->anchor[next][k] = x.pos[k] + arm[k];
            }
            if (j->kind == ZW_JOINT_SLIDE) {
                for (int k = 0; k < 3; k++) {
                    x.pos[k] += p->axis[next][k] * (*q - j->ref);
                }
                q++;
                continue;
            }
            if (j->kind == ZW_JOINT_HINGE) {
                model_quat_axis(turn, j->axis, *q++ - j->ref);
            } else {
                memcpy(turn, q, sizeof turn);
                model_quat_unit(turn);
                q += 4;
            }
            model_quat_multiply(x.quat, x.quat, turn);
            model_rotate(x.quat, j->pos, turned);
            for (int k = 0; k < 3; k++) {
                x.pos[k] = p->anchor[next][k] - turned[k];
            }
        }
        p->body[i] = x;
    }
}

static inline void same_quat(const char *what, int index, const double ours[4],
                             const double *theirs)
{
    double a[4], sign = 0;
    for (int i = 0; i < 4; i++) {
        sign += ours[i] * theirs[i];
    }
    for (int i = 0; i < 4; i++) {
        a[i] = sign < 0 ? -ours[i] : ours[i];
    }
    same(what, index, a, theirs, 4);
}

/* Geoms named fit... were fitted to meshes: known to 1e-6, and their axes may be exchanged. */
static inline int is_fitted(const zw_geom_def *g)
{
    return g->name != NULL && strncmp(g->name, "fit", 3) == 0;
}

/* Indices of things of a list, body by body. */
static inline int by_body(const model_bodies *b, zw_kind kind, int *list)
{
    int count = 0;
    for (int i = 0; i < b->count[ZW_KIND_BODY]; i++) {
        for (int k = 0; k < b->count[kind]; k++) {
            int body = kind == ZW_KIND_GEOM ? b->geom[k].body : b->site[k].body;
            if (body == i) {
                list[count++] = k;
            }
        }
    }
    return count;
}

static inline void compare_points(const model_bodies *b, const posed *p, const mjData *d,
                                  const int *geom, const int *site)
{
    for (int i = 0; i < b->count[ZW_KIND_GEOM]; i++) {
        const zw_geom_def *g = &b->geom[geom[i]];
        model_pose own;
        double R[9];
        memcpy(own.pos, g->pos, sizeof own.pos);
        memcpy(own.quat, g->quat, sizeof own.quat);
        model_pose x = model_pose_chain(&p->body[g->body], &own);
        model_quat_matrix(x.quat, R);
        if (is_fitted(g)) {
            same_within("position of fitted geom", i, x.pos, d->geom_xpos + 3 * i, 3, 1e-6, 1);
        } else if (g->shape != ZW_SHAPE_MESH) { /* MuJoCo moves those */
            same("geom position", i, x.pos, d->geom_xpos + 3 * i, 3);
            same("geom orientation", i, R, d->geom_xmat + 9 * i, 9);
        }
    }
    for (int i = 0; i < b->count[ZW_KIND_SITE]; i++) {
        const zw_site_def *s = &b->site[site[i]];
        model_pose own;
        double R[9];
        memcpy(own.pos, s->pos, sizeof own.pos);
        memcpy(own.quat, s->quat, sizeof own.quat);
        model_pose x = model_pose_chain(&p->body[s->body], &own);
        model_quat_matrix(x.quat, R);
        same("site position", i, x.pos, d->site_xpos + 3 * i, 3);
        same("site orientation", i, R, d->site_xmat + 9 * i, 9);
    }
}

static inline void compare_poses(const model_bodies *b, const mjModel *m, mjData *d,
                                 const int *order, const int *geom, const int *site)
{
    dice chance = dice_of(7);
    posed p = {calloc((size_t)m->nbody, sizeof *p.body), calloc((size_t)m->njnt + 1, 24),
               calloc((size_t)m->njnt + 1, 24)};
    for (int k = 0; k < POSES; k++) {
        for (int i = 0; i < m->nq; i++) {
            d->qpos[i] = k == 0 ? m->qpos0[i] : dice_between(&chance, -1.5, 1.5);
        }
        mj_normalizeQuat(m, d->qpos);
        mj_kinematics(m, d);
        kinematics(b, order, d->qpos, &p);
        for (int i = 0; i < m->nbody; i++) {
            same("body position", i, p.body[i].pos, d->xpos + 3 * i, 3);
            same_quat("body orientation", i, p.body[i].quat, d->xquat + 4 * i);
        }
        for (int i = 0; i < m->njnt; i++) {
            if (m->jnt_type[i] != mjJNT_FREE) {
                same("joint anchor", i, p.anchor[i], d->xanchor + 3 * i, 3);
            }
            if (m->jnt_type[i] >= mjJNT_SLIDE) {
                same("joint axis", i, p.axis[i], d->xaxis + 3 * i, 3);
            }
        }
        compare_points(b, &p, d, geom, site);
    }
    free(p.body);
    free(p.anchor);
    free(p.axis);
}

#endif

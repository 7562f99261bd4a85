/* A humanoid: 6 unknowns of the pelvis, waist 1, arms 2 x 4, legs 2 x 6: 27 in all, and 12 friction
 * cones: four corners of each foot and two points of each hand, which leans on something steep.
 *
 *     M = sum over links of  m Jv' Jv + Jw' I Jw,  and armature on the joints
 *
 * Moving the pelvis up with all joints at rest opens all contacts. */
#include <math.h>
#include <string.h>

#include "stage.h"

enum { LINKS = 22, UNKNOWNS = 27 };

typedef struct link {
    int parent;         /* -1: the pelvis itself */
    double origin[3];   /* of its joint, from that of the parent, in the parent's axes */
    double axis[3];     /* in its own axes */
    double com[3];      /* from its joint, in its own axes */
    double mass, width; /* of a sphere with its inertia */
} link;

/* Where the links are in the world. */
typedef struct pose {
    double at[LINKS][3], turn[LINKS][9], axis[LINKS][3];
} pose;

static void put(link *l, int parent, int axis, const double origin[3], double down, double mass)
{
    memset(l, 0, sizeof *l);
    l->parent = parent;
    memcpy(l->origin, origin, sizeof l->origin);
    l->axis[axis] = 1;
    l->com[2] = -down / 2;
    l->mass = mass;
    l->width = 0.05 + down / 3;
}

static void limb(link *list, int first, int parent, const int *axes, const double *down,
                 const double *mass, int count, const double origin[3])
{
    double at[3] = {origin[0], origin[1], origin[2]};
    for (int i = 0; i < count; i++) {
        put(&list[first + i], i == 0 ? parent : first + i - 1, axes[i], at, down[i], mass[i]);
        set3(at, 0, 0, -down[i]);
    }
}

static void humanoid(link list[LINKS])
{
    static const int arm[4] = {1, 0, 2, 1}, leg[6] = {2, 0, 1, 1, 1, 0};
    static const double arm_down[4] = {0, 0, 0.3, 0.3}, arm_mass[4] = {0.3, 0.3, 2, 1.2};
    static const double leg_down[6] = {0, 0, 0.4, 0.4, 0, 0.08};
    static const double leg_mass[6] = {0.5, 0.5, 7, 3, 0.2, 1};
    const double waist[3] = {0, 0, 0.1};
    memset(list, 0, LINKS * sizeof *list);
    put(&list[0], -1, 0, waist, 0.2, 10);
    set3(list[0].origin, 0, 0, 0);
    put(&list[1], 0, 2, waist, -0.5, 20);
    for (int side = 0; side < 2; side++) {
        double y = side ? 0.2 : -0.2;
        const double shoulder[3] = {0, y, 0.45}, hip[3] = {0, y / 2, -0.1};
        limb(list, 2 + 4 * side, 1, arm, arm_down, arm_mass, 4, shoulder);
        limb(list, 10 + 6 * side, 0, leg, leg_down, leg_mass, 6, hip);
    }
}

static void to_world(const double R[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

static void pose_draw(dice *d, const link list[LINKS], pose *p)
{
    memset(p, 0, sizeof *p);
    set3(p->at[0], 0, 0, 0.9);
    p->turn[0][0] = p->turn[0][4] = p->turn[0][8] = 1;
    double axis[3];
    dice_direction(d, axis);
    turn3(p->turn[0], axis, dice_between(d, -0.2, 0.2));
    for (int k = 1; k < LINKS; k++) {
        int parent = list[k].parent;
        double offset[3];
        to_world(p->turn[parent], list[k].origin, offset);
        to_world(p->turn[parent], list[k].axis, p->axis[k]);
        for (int i = 0; i < 3; i++)
            p->at[k][i] = p->at[parent][i] + offset[i];
        memcpy(p->turn[k], p->turn[parent], sizeof p->turn[k]);
        turn3(p->turn[k], p->axis[k], dice_between(d, -0.7, 0.7));
    }
}

/* Velocity along direction d of a point of link k (angular if point is NULL): row[27]. */
static void jacobian(const link list[LINKS], const pose *p, int k, const double *point,
                     const double d[3], double row[UNKNOWNS])
{
    memset(row, 0, UNKNOWNS * sizeof *row);
    for (; k >= 0; k = list[k].parent) {
        double arm[3] = {0, 0, 0}, turned[3] = {d[0], d[1], d[2]};
        if (point) {
            for (int i = 0; i < 3; i++)
                arm[i] = point[i] - p->at[k][i];
            cross3(arm, d, turned);
        }
        if (k > 0) {
            row[5 + k] = dot3(p->axis[k], turned);
            continue;
        }
        for (int i = 0; i < 3; i++) {
            row[i] = point ? d[i] : 0;
            row[3 + i] = turned[i];
        }
    }
}

static void robot_metric(const link list[LINKS], const pose *p, double armature, double *M)
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double row[UNKNOWNS];
    for (int k = 0; k < LINKS; k++) {
        double com[3];
        to_world(p->turn[k], list[k].com, com);
        add3(com, 1, p->at[k]);
        for (int i = 0; i < 6; i++) {
            double weight =
                i < 3 ? list[k].mass : 0.4 * list[k].mass * list[k].width * list[k].width;
            jacobian(list, p, k, i < 3 ? com : NULL, axes[i % 3], row);
            for (int a = 0; a < UNKNOWNS; a++)
                for (int b = 0; b <= a; b++)
                    M[a * UNKNOWNS + b] += weight * row[a] * row[b];
        }
    }
    for (int a = 0; a < UNKNOWNS; a++) {
        M[a * UNKNOWNS + a] += a < 6 ? 0 : armature;
        for (int b = 0; b < a; b++)
            M[b * UNKNOWNS + a] = M[a * UNKNOWNS + b];
    }
}

static void robot_contact(draft *d, const link list[LINKS], const pose *p, int k,
                          const double local[3], const double normal[3], double mu)
{
    static const char *const names[] = {"foot", "hand"};
    double point[3], t1[3], t2[3];
    char name[32];
    to_world(p->turn[k], local, point);
    add3(point, 1, p->at[k]);
    tangents3(normal, 0, t1, t2);
    const double *direction[3] = {normal, t1, t2};

    snprintf(name, sizeof name, "%s[%d]", names[k < 10], d->blocks);
    int block = draft_block(d, ZW_CONE, 3, name);
    for (int i = 0; i < 3; i++)
        jacobian(list, p, k, point, direction[i], draft_row(d, d->first[block] + i));
    d->block[block].friction[0] = d->block[block].friction[1] = mu;
}

static void robot_contacts(draft *d, stage *st, const link list[LINKS], const pose *p)
{
    static const double up[3] = {0, 0, 1};
    for (int side = 0; side < 2; side++) {
        int foot = 15 + 6 * side, hand = 5 + 4 * side;
        double steep[3];
        for (int c = 0; c < 4; c++) {
            const double corner[3] = {c & 1 ? 0.16 : -0.06, c & 2 ? 0.04 : -0.04, -0.08};
            robot_contact(d, list, p, foot, corner, up, st->mu);
        }
        stage_steep_normal(st, st->mu, steep);
        for (int c = 0; c < 2; c++) {
            const double point[3] = {0, c ? 0.03 : -0.03, -0.3};
            robot_contact(d, list, p, hand, point, steep, st->mu);
        }
    }
}

scene *robot_scene(uint64_t seed, const char *name)
{
    stage st; /* for its dice, step and friction */
    link list[LINKS];
    pose p;
    stage_start(&st, seed);
    humanoid(list);
    pose_draw(&st.dice, list, &p);

    draft *d = draft_new(UNKNOWNS, 36, 12);
    robot_metric(list, &p, dice_power(&st.dice, -3, -1), d->M);
    robot_contacts(d, &st, list, &p);

    /* Rest or motion, gravity on all, muscles on the joints. */
    double speed = dice_chance(&st.dice, 0.3) ? 0 : dice_power(&st.dice, -2, 0.5);
    for (int i = 0; i < UNKNOWNS; i++) {
        d->free[i] = speed * dice_bell(&st.dice);
        d->free[i] += i < 6 ? 0 : st.h * 20 * dice_bell(&st.dice);
    }
    d->free[2] -= 9.81 * st.h;
    d->witness[2] = 1;

    draft_form form = {.metric = ZW_METRIC_DENSE, .compressed = dice_chance(&st.dice, 0.3)};
    form.force = dice_chance(&st.dice, 0.3);
    return draft_finish(d, name, ZW_CONTACT_COULOMB, &form);
}

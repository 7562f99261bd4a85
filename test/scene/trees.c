#include "trees.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/fuse.h"

static void *larger(void *list, int *capacity, int count, size_t size)
{
    if (count < *capacity) {
        return list;
    }
    *capacity = *capacity > 0 ? 2 * *capacity : 16;
    list = realloc(list, (size_t)*capacity * size);
    if (list == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return list;
}

tree_sketch *sketch_new(double gravity)
{
    tree_sketch *s = calloc(1, sizeof *s);
    if (s == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    s->def.gravity[2] = -gravity;
    s->body = larger(NULL, &s->body_capacity, 0, sizeof *s->body);
    s->body[s->def.body_count++] = tree_body_default(-1);
    return s;
}

int sketch_body(tree_sketch *s, int parent, double x, double y, double z)
{
    s->body = larger(s->body, &s->body_capacity, s->def.body_count, sizeof *s->body);
    tree_body_def *body = s->body + s->def.body_count;
    *body = tree_body_default(parent);
    body->pos[0] = x;
    body->pos[1] = y;
    body->pos[2] = z;
    return s->def.body_count++;
}

tree_joint_def *sketch_joint(tree_sketch *s, tree_joint_kind kind, double x, double y, double z)
{
    s->joint = larger(s->joint, &s->joint_capacity, s->def.joint_count, sizeof *s->joint);
    tree_joint_def *joint = s->joint + s->def.joint_count++;
    *joint = tree_joint_default(kind);
    joint->axis[0] = x;
    joint->axis[1] = y;
    joint->axis[2] = z;
    s->body[s->def.body_count - 1].joint_count++;
    return joint;
}

/* I += m (r.r 1 - r r') */
static void steiner(double *I, double m, const double *r)
{
    double xx = r[0] * r[0], yy = r[1] * r[1], zz = r[2] * r[2];
    I[0] += m * (yy + zz);
    I[1] += m * (xx + zz);
    I[2] += m * (xx + yy);
    I[3] -= m * r[0] * r[1];
    I[4] -= m * r[0] * r[2];
    I[5] -= m * r[1] * r[2];
}

void sketch_rod(tree_sketch *s, double mass, double radius, const double *from, const double *to)
{
    tree_body_def *body = s->body + s->def.body_count - 1;
    double along[3], mid[3], com[3], total = body->mass + mass;
    for (int k = 0; k < 3; k++) {
        along[k] = to[k] - from[k];
        mid[k] = 0.5 * (from[k] + to[k]);
        com[k] = (body->mass * body->com[k] + mass * mid[k]) / total;
    }
    /* about its own centre: m l^2 / 12 across, m r^2 / 2 or so about the axis */
    double thick = 0.4 * mass * radius * radius;
    for (int k = 0; k < 3; k++) {
        body->inertia[k] += thick;
    }
    steiner(body->inertia, mass / 12.0, along);
    double old[3], new[3];
    for (int k = 0; k < 3; k++) {
        old[k] = body->com[k] - com[k];
        new[k] = mid[k] - com[k];
        body->com[k] = com[k];
    }
    steiner(body->inertia, body->mass, old);
    steiner(body->inertia, mass, new);
    body->mass = total;
}

static tree_mechanism *finish(tree_sketch *s, int is_fused)
{
    zw_error error = {0};
    tree_fused fused = {0};
    s->def.body = s->body;
    s->def.joint = s->joint;
    if (is_fused && tree_fuse(&s->def, &fused, &error) != ZW_OK) {
        fprintf(stderr, "not fused: %s\n", error.text);
        exit(2);
    }
    tree_mechanism *tree = tree_create(is_fused ? &fused.def : &s->def, &error);
    if (tree == NULL) {
        fprintf(stderr, "no tree: %s\n", error.text);
        exit(2);
    }
    tree_fused_free(&fused);
    free(s->body);
    free(s->joint);
    free(s);
    return tree;
}

tree_mechanism *sketch_finish(tree_sketch *s)
{
    return finish(s, 0);
}

tree_mechanism *sketch_fused(tree_sketch *s)
{
    return finish(s, 1);
}

/* ---- A humanoid ------------------------------------------------------------------------------ */

static void limb(tree_sketch *s, double mass, double radius, double x, double y, double z)
{
    sketch_rod(s, mass, radius, (double[3]){0.0, 0.0, 0.0}, (double[3]){x, y, z});
}

static void motor_hinge(tree_sketch *s, double x, double y, double z, double height)
{
    tree_joint_def *joint = sketch_joint(s, TREE_HINGE, x, y, z);
    joint->anchor[2] = height;
    joint->armature = 0.01;
    joint->damping = 1.0;
    joint->stiffness = 2.0;
}

static void leg(tree_sketch *s, int pelvis, double side)
{
    int thigh = sketch_body(s, pelvis, 0.0, side * 0.1, -0.05);
    motor_hinge(s, 1.0, 0.0, 0.0, 0.0);
    motor_hinge(s, 0.0, 0.0, 1.0, 0.0);
    motor_hinge(s, 0.0, 1.0, 0.0, 0.0);
    limb(s, 4.5, 0.06, 0.0, -0.01 * side, -0.34);
    int shin = sketch_body(s, thigh, 0.0, -0.01 * side, -0.4);
    motor_hinge(s, 0.0, -1.0, 0.0, 0.02);
    limb(s, 2.6, 0.05, 0.0, 0.0, -0.3);
    sketch_body(s, shin, 0.0, 0.0, -0.39);
    motor_hinge(s, 0.0, 1.0, 0.0, 0.08);
    motor_hinge(s, 1.0, 0.0, 0.5 * side, 0.08);
    sketch_rod(s, 1.0, 0.03, (double[3]){-0.07, -0.02, 0.0}, (double[3]){0.14, -0.04, 0.0});
    sketch_rod(s, 1.0, 0.03, (double[3]){-0.07, 0.02, 0.0}, (double[3]){0.14, 0.04, 0.0});
}

static void arm(tree_sketch *s, int trunk, double side)
{
    int upper = sketch_body(s, trunk, 0.0, 0.17 * side, 0.06);
    motor_hinge(s, 2.0, side, 1.0, 0.0);
    motor_hinge(s, 0.0, -side, 1.0, 0.0);
    limb(s, 1.7, 0.04, 0.16, 0.16 * side, -0.16);
    int lower = sketch_body(s, upper, 0.18, 0.18 * side, -0.18);
    motor_hinge(s, 0.0, -1.0, side, 0.0);
    limb(s, 1.1, 0.03, 0.17, -0.17 * side, 0.17);
    sketch_body(s, lower, 0.18, -0.18 * side, 0.18); /* a hand, welded on */
    limb(s, 0.3, 0.04, 0.01, 0.0, 0.0);
}

tree_mechanism *tree_humanoid(int is_fused)
{
    tree_sketch *s = sketch_new(9.81);
    int trunk = sketch_body(s, 0, 0.0, 0.0, 1.3);
    sketch_joint(s, TREE_FREE, 0.0, 0.0, 1.0);
    sketch_rod(s, 6.5, 0.07, (double[3]){0.0, -0.07, 0.0}, (double[3]){0.0, 0.07, 0.0});
    sketch_rod(s, 4.0, 0.06, (double[3]){-0.01, -0.06, -0.12}, (double[3]){-0.01, 0.06, -0.12});
    sketch_body(s, trunk, 0.0, 0.0, 0.19); /* a head, welded on */
    limb(s, 3.0, 0.09, 0.0, 0.0, 0.02);
    int waist = sketch_body(s, trunk, -0.01, 0.0, -0.26);
    motor_hinge(s, 0.0, 0.0, 1.0, 0.06);
    motor_hinge(s, 0.0, 1.0, 0.0, 0.06);
    sketch_rod(s, 2.8, 0.06, (double[3]){0.0, -0.06, 0.0}, (double[3]){0.0, 0.06, 0.0});
    int pelvis = sketch_body(s, waist, 0.0, 0.0, -0.16);
    motor_hinge(s, 1.0, 0.0, 0.0, 0.1);
    sketch_rod(s, 6.0, 0.09, (double[3]){-0.02, -0.07, 0.0}, (double[3]){-0.02, 0.07, 0.0});
    s->body[waist].quat[2] = -0.002;
    s->body[pelvis].quat[2] = -0.002;
    leg(s, pelvis, -1.0);
    leg(s, pelvis, 1.0);
    arm(s, trunk, -1.0);
    arm(s, trunk, 1.0);
    return is_fused ? sketch_fused(s) : sketch_finish(s);
}

tree_mechanism *tree_chain_of(int links, double last, int without_matrix)
{
    tree_sketch *s = sketch_new(9.81);
    s->def.without_matrix = without_matrix;
    for (int i = 0; i < links; i++) {
        sketch_body(s, i, 0.0, 0.0, i > 0 ? -1.0 : 0.0);
        sketch_joint(s, TREE_HINGE, i % 2 == 0 ? 1.0 : 0.0, i % 2 == 0 ? 0.0 : 1.0, 0.0);
        sketch_rod(s, i < links - 1 ? 1.0 : last, 0.05, (double[3]){0.0, 0.0, 0.0},
                   (double[3]){0.0, 0.0, -1.0});
    }
    return sketch_finish(s);
}

/* ---- For peers ------------------------------------------------------------------------------- */

static void write_numbers(FILE *to, const char *name, const double *x, int n)
{
    fprintf(to, " %s=\"", name);
    for (int k = 0; k < n; k++) {
        fprintf(to, k > 0 ? " %.17g" : "%.17g", x[k]);
    }
    fprintf(to, "\"");
}

static void write_joint(FILE *to, const tree_mechanism *tree, const tree_joint *joint)
{
    static const char *const NAME[] = {
        [TREE_FREE] = "free", [TREE_BALL] = "ball", [TREE_HINGE] = "hinge", [TREE_SLIDE] = "slide"};
    fprintf(to, "<joint type=\"%s\"", NAME[joint->kind]);
    if (joint->kind == TREE_HINGE || joint->kind == TREE_SLIDE) {
        write_numbers(to, "axis", joint->axis, 3);
        write_numbers(to, "ref", &joint->rest, 1);
        write_numbers(to, "springref", tree->q_spring + joint->q, 1);
    }
    if (joint->kind != TREE_FREE) {
        write_numbers(to, "pos", joint->anchor, 3);
    }
    write_numbers(to, "armature", tree->armature + joint->v, 1);
    write_numbers(to, "damping", tree->damping + joint->v, 1);
    write_numbers(to, "stiffness", &joint->stiffness, 1);
    fprintf(to, "/>\n");
}

static void write_body(FILE *to, const tree_mechanism *tree, const tree_body *body)
{
    fprintf(to, "<body");
    write_numbers(to, "pos", body->pos, 3);
    write_numbers(to, "quat", body->quat, 4);
    fprintf(to, ">\n<inertial");
    write_numbers(to, "pos", body->com, 3);
    write_numbers(to, "mass", &body->mass, 1);
    write_numbers(to, "fullinertia", body->inertia, 6);
    fprintf(to, "/>\n");
    for (int j = body->joint; j < body->joint_end; j++) {
        write_joint(to, tree, tree->joint + j);
    }
}

/* The files of a model that are being written, each inside the one before. */
typedef struct writer {
    const char *folder;
    FILE *open[TREE_MJCF_FILES];
    int depth; /* bodies that are open; a file holds so many of them inside each other: */
    int files; /* begun so far */
} writer;

enum { NESTED = 80 };

static FILE **writer_at(writer *w, int depth)
{
    if (depth / NESTED >= TREE_MJCF_FILES) {
        fprintf(stderr, "this tree is too deep for MJCF\n");
        exit(2);
    }
    return &w->open[depth / NESTED];
}

static FILE *writer_begin(writer *w)
{
    char path[1000];
    FILE *to;
    snprintf(path, sizeof path, "%s/robot_%d.xml", w->folder, w->files);
    if ((to = fopen(path, "w")) == NULL) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(2);
    }
    w->files++;
    return to;
}

static void close_body(writer *w)
{
    FILE **to = writer_at(w, --w->depth);
    fprintf(*to, "</body>\n");
    if (w->depth > 0 && w->depth % NESTED == 0) {
        fprintf(*to, "</mujocoinclude>\n");
        fclose(*to);
    }
}

static FILE *open_body(writer *w)
{
    FILE **to = writer_at(w, w->depth);
    if (w->depth > 0 && w->depth % NESTED == 0) {
        fprintf(*writer_at(w, w->depth - 1), "<include file=\"robot_%d.xml\"/>\n", w->files);
        *to = writer_begin(w);
        fprintf(*to, "<mujocoinclude>\n");
    }
    w->depth++;
    return *to;
}

int tree_mjcf(const tree_mechanism *tree, const char *folder)
{
    writer w = {.folder = folder};
    FILE *first = w.open[0] = writer_begin(&w);
    fprintf(first, "<mujoco>\n<compiler angle=\"radian\"/>\n<option");
    write_numbers(first, "gravity", tree->gravity, 3);
    fprintf(first, "/>\n<worldbody>\n");
    for (int i = 1, open = 0; i < tree->bodies; i++) {
        for (; open != tree->body[i].parent; open = tree->body[open].parent) {
            close_body(&w);
        }
        write_body(open_body(&w), tree, tree->body + i);
        open = i;
    }
    while (w.depth > 0) {
        close_body(&w);
    }
    fprintf(first, "</worldbody>\n</mujoco>\n");
    fclose(first);
    return w.files;
}

/* ---- Random trees ---------------------------------------------------------------------------- */

static void random_vector(dice *d, double size, double *x, int n)
{
    for (int k = 0; k < n; k++) {
        x[k] = dice_between(d, -size, size);
    }
}

/* Joints of a body: the turning and the sliding dofs are independent, so that M is regular. */
static const tree_joint_kind JOINTS[][4] = {{0},
                                            {TREE_BALL},
                                            {TREE_HINGE},
                                            {TREE_HINGE},
                                            {TREE_HINGE},
                                            {TREE_SLIDE},
                                            {TREE_HINGE, TREE_HINGE},
                                            {TREE_HINGE, TREE_SLIDE},
                                            {TREE_SLIDE, TREE_BALL},
                                            {TREE_BALL, TREE_SLIDE, TREE_SLIDE},
                                            {TREE_SLIDE, TREE_HINGE, TREE_SLIDE},
                                            {TREE_HINGE, TREE_HINGE, TREE_HINGE},
                                            {TREE_BALL, TREE_HINGE}};

static void random_joint(tree_sketch *s, dice *d, tree_joint_kind kind)
{
    double axis[3];
    dice_direction(d, axis);
    if (dice_chance(d, 0.5)) { /* one of the body's own, each once, either way */
        int k = s->body[s->def.body_count - 1].joint_count % 3;
        double sign = dice_sign(d, 1.0);
        memset(axis, 0, sizeof axis);
        axis[k] = sign;
    }
    tree_joint_def *joint = sketch_joint(s, kind, axis[0], axis[1], axis[2]);
    if (dice_chance(d, 0.6) || s->body[s->def.body_count - 1].joint_count > 1) {
        random_vector(d, 0.3, joint->anchor, 3); /* a hinge beside a ball is not in its centre */
    }
    joint->rest = dice_between(d, -0.5, 0.5);
    joint->armature = dice_chance(d, 0.3) ? dice_power(d, -3.0, 0.0) : 0.0;
    joint->damping = dice_chance(d, 0.5) ? dice_between(d, 0.0, 1.0) : 0.0;
    joint->stiffness = dice_chance(d, 0.5) ? dice_between(d, 0.0, 20.0) : 0.0;
    joint->spring = dice_between(d, -0.5, 0.5);
}

/* Rods in three random directions, so that no axis is without inertia. */
static void random_inertia(tree_sketch *s, dice *d, double decades)
{
    double mass = dice_power(d, -0.5 * decades, 0.5 * decades);
    for (int k = 0; k < 3; k++) {
        double from[3], to[3];
        random_vector(d, 0.3, from, 3);
        random_vector(d, 0.3, to, 3);
        sketch_rod(s, mass, 0.05, from, to);
    }
}

tree_sketch *tree_random_sketch(uint64_t seed, int bodies, double decades)
{
    dice d = dice_of(seed);
    tree_sketch *s = sketch_new(9.81);
    random_vector(&d, 3.0, s->def.gravity, 2);
    for (int i = 1; i <= bodies; i++) {
        double pos[3];
        int parent = dice_chance(&d, 0.7) ? i - 1 : dice_int(&d, 0, i - 1);
        random_vector(&d, 0.5, pos, 3);
        sketch_body(s, parent, pos[0], pos[1], pos[2]);
        if (dice_chance(&d, 0.7)) {
            random_vector(&d, 1.0, s->body[i].quat, 4);
        }
        random_inertia(s, &d, decades);
        if (parent == 0 && dice_chance(&d, 0.5)) {
            tree_joint_def *joint = sketch_joint(s, TREE_FREE, 0.0, 0.0, 0.0);
            joint->stiffness = dice_chance(&d, 0.3) ? dice_between(&d, 0.0, 20.0) : 0.0;
            continue;
        }
        const tree_joint_kind *kind = JOINTS[dice_int(&d, 0, sizeof JOINTS / sizeof *JOINTS - 1)];
        for (int k = 0; k < 4 && kind[k] != 0; k++) {
            random_joint(s, &d, kind[k]);
        }
    }
    return s;
}

tree_mechanism *tree_random(uint64_t seed, int bodies, double decades)
{
    return sketch_finish(tree_random_sketch(seed, bodies, decades));
}

void tree_random_q(const tree_mechanism *tree, dice *d, double *q)
{
    for (int j = 0; j < tree->joints; j++) {
        const tree_joint *joint = tree->joint + j;
        int turning = joint->kind == TREE_FREE ? 3 : 0;
        double *x = q + joint->q, sum;
        switch (joint->kind) {
        case TREE_FREE:
        case TREE_BALL:
            random_vector(d, 2.0, x, turning);
            do {
                random_vector(d, 1.0, x + turning, 4);
                sum = 0.0;
                for (int k = 0; k < 4; k++) {
                    sum += x[turning + k] * x[turning + k];
                }
            } while (sum < 0.1 || sum > 1.0);
            for (int k = 0; k < 4; k++) {
                x[turning + k] *= 1.001 / sqrt(sum);
            }
            break;
        case TREE_HINGE:
            x[0] = dice_between(d, -4.0, 4.0);
            break;
        case TREE_SLIDE:
            x[0] = dice_between(d, -0.5, 0.5);
            break;
        }
    }
}

void tree_random_v(const tree_mechanism *tree, dice *d, double *v)
{
    random_vector(d, 2.0, v, tree->nv);
}

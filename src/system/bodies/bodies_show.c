/* What reports show of bodies: their shapes, or without shapes a stick from joint to joint; and the
 * joints over time. Shapes of the groups 0 to 2, as in MuJoCo's viewer; those of other groups if a
 * body has no others.
 *
 * Draws and curves of a model are formulas. Points of bodies are not: they have a placeholder leaf,
 * which is never evaluated, and bodies_evaluate fills the output. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/elementary.h"
#include "system/bodies/bodies_build.h"
#include "system/bodies/bodies_solid.h"

enum { MOST_MARKS = 200, MOST_CURVES = 12 };

typedef struct painter {
    bodies_builder *b;
    int next;           /* the next output */
    int many;           /* there are several trees: each has its own colour */
    const double *rgba; /* colour of the current shape, if the model gives one; else NULL */
    int failed;
} painter;

/* ---- Points --------------------------------------------------------------------------------- */

static const double upright[4] = {1, 0, 0, 0};

/* One point of a draw, given in a body of the model; points of the world are constants. */
static void put_point(painter *p, model_draw *draw, int index, int body, const double pos[3])
{
    struct system_bodies *to = p->b->to;
    expr_graph *graph = to->shown->graph;
    bodies_frame frame = bodies_frame_on(p->b, body, pos, upright);
    if (frame.body != 0) {
        to->mark_output[to->mark_count] = p->next;
        bodies_mark *mark = &to->mark[to->mark_count++];
        mark->body = frame.body;
        memcpy(mark->pos, frame.pos, sizeof mark->pos);
    }
    for (int k = 0; k < 3; k++) {
        draw->point[3 * index + k] = frame.body == 0 ? expr_const(graph, frame.pos[k])
                                                     : expr_leaf(graph, EXPR_ACCEL, p->next + k);
    }
    p->next += 3;
}

/* The root of the tree that a body belongs to, without fixed bodies; -1: it is fixed.
 */
static int tree_of(const bodies_builder *b, int body)
{
    const model_bodies *from = b->drawn;
    int top = body, number = 0;
    while (b->fused.frame[top].body != 0 && b->fused.frame[from->body[top].parent].body != 0) {
        top = from->body[top].parent;
    }
    for (int i = 1; i < top; i++) {
        number += b->fused.frame[i].body != 0 && b->fused.frame[from->body[i].parent].body == 0;
    }
    return b->fused.frame[body].body == 0 ? -1 : number;
}

/* The model's colour; if there is none, a colour for each separate tree. */
static void paint(painter *p, model_draw *draw, int body)
{
    if (p->rgba) {
        char hex[8];
        int byte[3];
        for (int k = 0; k < 3; k++) {
            byte[k] = (int)(255 * fmin(fmax(p->rgba[k], 0), 1) + 0.5);
        }
        snprintf(hex, sizeof hex, "#%02x%02x%02x", byte[0] & 255, byte[1] & 255, byte[2] & 255);
        draw->colour = bodies_copy(hex);
        p->failed |= !draw->colour;
        return;
    }
    static const char *const name[] = {"blue", "orange", "green", "purple", "yellow", "cyan"};
    enum { COLOURS = sizeof name / sizeof *name };
    int tree = p->many ? tree_of(p->b, body) : -1;
    if (p->many) {
        draw->colour = bodies_copy(tree < 0 ? "gray" : name[tree % COLOURS]);
        p->failed |= !draw->colour;
    }
}

/* A draw with this many points; NULL: the limit is reached, or no memory. */
static model_draw *new_draw(painter *p, model_shape shape, int points)
{
    struct system_bodies *to = p->b->to;
    if (p->failed || to->mark_count + points > MOST_MARKS) {
        return NULL;
    }
    model_draw *draw = model_add_draw(to->shown);
    expr_id *point = base_alloc((size_t)(3 * points) * sizeof *point);
    if (!draw || !point) {
        base_free(point);
        p->failed = 1;
        return NULL;
    }
    draw->shape = shape;
    draw->place = -1;
    draw->dimension = 3;
    draw->point_count = points;
    draw->point = point;
    return draw;
}

/* The output after the points of a draw is its radius. */
static void end_draw(painter *p, model_draw *draw, double radius)
{
    if (radius > 0) {
        draw->radius = expr_const(p->b->to->shown->graph, radius);
    }
    p->next++;
}

static void draw_line(painter *p, int body1, const double from[3], int body2, const double to[3],
                      double radius)
{
    model_draw *draw = new_draw(p, MODEL_DRAW_LINE, 2);
    if (draw) {
        paint(p, draw, body2);
        put_point(p, draw, 0, body1, from);
        put_point(p, draw, 1, body2, to);
        end_draw(p, draw, radius);
    }
}

static void draw_ball(painter *p, int body, const double centre[3], double radius)
{
    model_draw *draw = new_draw(p, MODEL_DRAW_CIRCLE, 1);
    if (draw) {
        paint(p, draw, body);
        put_point(p, draw, 0, body, centre);
        end_draw(p, draw, radius);
    }
}

/* ---- Shapes --------------------------------------------------------------------------------- */

static void point_of(const zw_geom_def *geom, double x, double y, double z, double at[3])
{
    const double local[3] = {x, y, z};
    model_rotate(geom->quat, local, at);
    for (int k = 0; k < 3; k++) {
        at[k] += geom->pos[k];
    }
}

/* A corner of a box and its three neighbours. */
static void draw_box(painter *p, const zw_geom_def *geom)
{
    const double *s = geom->size;
    model_draw *draw = new_draw(p, MODEL_DRAW_BOX, 4);
    for (int i = 0; i < 4 && draw; i++) {
        double at[3];
        point_of(geom, i == 1 ? s[0] : -s[0], i == 2 ? s[1] : -s[1], i == 3 ? s[2] : -s[2], at);
        put_point(p, draw, i, geom->body, at);
    }
    if (draw) {
        paint(p, draw, geom->body);
        end_draw(p, draw, 0);
    }
}

/* A plane: its origin, and points on its x and y axes. */
static void draw_plane(painter *p, const zw_geom_def *geom)
{
    model_draw *draw = new_draw(p, MODEL_DRAW_PLANE, 3);
    for (int i = 0; i < 3 && draw; i++) {
        double at[3];
        point_of(geom, i == 1, i == 2, 0, at);
        put_point(p, draw, i, geom->body, at);
    }
    if (draw) {
        end_draw(p, draw, 0);
    }
}

/* Faces, in the frame of their body: its origin, and points on its axes as far off as the faces. */
static void draw_solid(painter *p, int body, bodies_solid *solid)
{
    double size = 0;
    for (int i = 0; i < solid->vertex_count; i++) {
        size = fmax(size, sqrt(model_dot(solid->vertex[i], solid->vertex[i])));
    }
    model_draw *draw = size > 0 && solid->face_count > 0 ? new_draw(p, MODEL_DRAW_SOLID, 4) : NULL;
    for (int i = 0; i < 4 && draw; i++) {
        const double at[3] = {i == 1 ? size : 0, i == 2 ? size : 0, i == 3 ? size : 0};
        put_point(p, draw, i, body, at);
    }
    p->failed |= solid->failed;
    if (draw) {
        p->rgba = solid->rgba;
        paint(p, draw, body);
        end_draw(p, draw, 0);
        for (int i = 0; i < solid->vertex_count; i++) {
            for (int k = 0; k < 3; k++) {
                solid->vertex[i][k] /= size;
            }
        }
        draw->vertex = solid->vertex[0];
        draw->face = solid->face;
        draw->vertex_count = solid->vertex_count;
        draw->face_length = solid->face_length;
        solid->vertex = NULL; /* owned by the draw now */
        solid->face = NULL;
    }
    bodies_solid_free(solid);
}

/* 0: this shape is not drawn. */
static int draw_geom(painter *p, const zw_geom_def *geom)
{
    p->rgba = geom->rgba[3] >= 0 ? geom->rgba : NULL;
    double from[3], to[3];
    switch ((zw_shape)geom->shape) {
    case ZW_SHAPE_SPHERE:
        draw_ball(p, geom->body, geom->pos, geom->size[0]);
        return 1;
    case ZW_SHAPE_CAPSULE:
        point_of(geom, 0, 0, -geom->size[1], from);
        point_of(geom, 0, 0, geom->size[1], to);
        draw_line(p, geom->body, from, geom->body, to, geom->size[0]);
        return 1;
    case ZW_SHAPE_BOX:
        draw_box(p, geom);
        return 1;
    case ZW_SHAPE_PLANE:
        draw_plane(p, geom);
        return 1;
    default:
        return 0;
    }
}

/* From the parent's origin to the body's, and on to its centre of mass. */
static void draw_stick(painter *p, int body)
{
    static const double origin[3] = {0, 0, 0};
    int parent = p->b->drawn->body[body].parent;
    if (p->b->fused.frame[body].body == 0) {
        return; /* it is fixed */
    }
    if (p->b->fused.frame[parent].body != 0) {
        draw_line(p, parent, origin, body, origin, 0);
    }
    if (p->b->inertia[body].mass > 0) {
        draw_line(p, body, origin, body, p->b->inertia[body].com, 0);
    }
}

static void draw_bodies(painter *p)
{
    enum { SHOWN = 2 }; /* the last group that is shown */
    const model_bodies *from = p->b->drawn;
    size_t bodies = (size_t)from->count[ZW_KIND_BODY];
    unsigned char *drawn = base_alloc(2 * bodies), *shown = drawn ? drawn + bodies : NULL;
    bodies_solid *solid = base_alloc(bodies * sizeof *solid);
    p->failed |= !drawn || !solid;
    for (int i = 1; i < (int)bodies && !p->many; i++) {
        p->many |= tree_of(p->b, i) > 0;
    }
    for (int i = 0; i < from->count[ZW_KIND_GEOM] && !p->failed; i++) {
        shown[from->geom[i].body] |= from->geom[i].group <= SHOWN;
    }
    for (int i = 0; i < from->count[ZW_KIND_GEOM] && !p->failed; i++) {
        const zw_geom_def *geom = &from->geom[i];
        if (geom->group <= SHOWN || !shown[geom->body]) {
            drawn[geom->body] |=
                bodies_solid_add(&solid[geom->body], from, geom) || draw_geom(p, geom);
        }
    }
    for (int i = 0; solid && i < (int)bodies; i++) {
        draw_solid(p, i, &solid[i]);
    }
    p->rgba = NULL;
    for (int i = 1; i < (int)bodies && !p->failed; i++) {
        if (!drawn[i]) {
            draw_stick(p, i);
        }
    }
    base_free(drawn);
    base_free(solid);
}

/* ---- Curves --------------------------------------------------------------------------------- */

static int is_shown(const bodies_builder *b, int joint, int part, int turning)
{
    int kind = b->from->joint[joint].kind;
    return turning ? kind == ZW_JOINT_HINGE
                   : kind == ZW_JOINT_SLIDE || (kind == ZW_JOINT_FREE && part < 3);
}

/* The leaf of coordinate i, of joint j; with formulas it is a seen quantity. */
static expr_id joint_leaf(bodies_builder *b, int j, int i)
{
    int kind = b->from->joint[j].kind;
    if (!b->to->formulas) {
        return expr_leaf(b->to->shown->graph, EXPR_COORD, i);
    }
    if (kind == ZW_JOINT_FREE) {
        return bodies_see(b, &(model_seen){.kind = MODEL_SEEN_POINT,
                                           .body = b->from->joint[j].body,
                                           .site = -1,
                                           .component = i - b->joint_q[j]});
    }
    return bodies_see(b, &(model_seen){.kind = MODEL_SEEN_JOINT, .joint = j, .site = -1});
}

/* Angles in one plot, lengths in another. */
static void plot_joints(painter *p, int turning)
{
    bodies_builder *b = p->b;
    zw_model *shown = b->to->shown;
    model_curve *curve = base_alloc(MOST_CURVES * sizeof *curve);
    int count = 0;
    for (int k = 0; k < b->from->count[ZW_KIND_JOINT] && curve; k++) {
        int j = b->order[k];
        for (int part = 0; part < model_joint_positions[b->from->joint[j].kind]; part++) {
            int i = b->joint_q[j] + part;
            if (count < MOST_CURVES && is_shown(b, j, part, turning)) {
                curve[count++] = (model_curve){.label = bodies_copy(shown->coord[i].name),
                                               .x = expr_leaf(shown->graph, EXPR_TIME, 0),
                                               .y = joint_leaf(b, j, i),
                                               .x_label = bodies_copy("t")};
                p->failed |= !curve[count - 1].label || !curve[count - 1].x_label;
            }
        }
    }
    model_plot *plot = curve && count > 0 ? model_add_plot(shown) : NULL;
    p->failed |= curve == NULL || (count > 0 && !plot);
    if (plot) {
        *plot = (model_plot){
            .kind = MODEL_PLOT_TIME, .place = -1, .curve_count = count, .curve = curve};
        p->next += 2 * count;
        return;
    }
    for (int k = 0; k < count; k++) {
        base_free(curve[k].label);
        base_free(curve[k].x_label);
    }
    base_free(curve);
}

zw_status bodies_make_pictures(bodies_builder *b, zw_error *error)
{
    painter p = {.b = b};
    b->to->mark = base_alloc(MOST_MARKS * sizeof *b->to->mark);
    b->to->mark_output = base_alloc(MOST_MARKS * sizeof *b->to->mark_output);
    if (!b->to->mark || !b->to->mark_output) {
        return base_no_memory(error);
    }
    zw_status status = b->to->formulas ? bodies_formula_plots(b) : ZW_OK;
    p.next = b->to->shown->check_count;
    for (int i = 0; i < b->to->shown->plot_count; i++) {
        p.next += 2 * b->to->shown->plot[i].curve_count;
    }
    if (b->to->shown->plot_count == 0) {
        plot_joints(&p, 1);
        plot_joints(&p, 0);
    }
    draw_bodies(&p);
    b->to->outputs = p.next;
    if (b->to->formulas && status == ZW_OK && !p.failed) {
        status = bodies_formula_draws(b);
        status = status == ZW_OK ? bodies_formula_list(b) : status;
    }
    return p.failed || status != ZW_OK ? base_no_memory(error)
                                       : expr_graph_status(b->to->shown->graph);
}

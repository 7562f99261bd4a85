/* Rolling and gliding on a plane:
 *
 *     wheel   front: cart.front_wheel radius 0.3 on z = 0
 *     mecanum left:  cart.left radius 0.1 rollers 45*deg on z = 0
 *     roll    marble: table.marble radius 0.02 on table.top
 *     blade   edge:  sleigh.runner along x on z = 0, without touch
 *
 * The axle of a wheel is the hinge of its body, through the hinge's anchor; for a free body or a
 * site it is the z axis; `axle x` selects another axis. The plane is a shifted coordinate plane of
 * the world, or the xy plane of a body or site. */
#include <math.h>
#include <string.h>

#include "read/zw/zw.h"

enum { THING, RADIUS, ROLLERS, PLANE, HEIGHT }; /* parts of the item */
enum { WITHOUT_TOUCH = 1 };                     /* its option */
/* from2 is the axis of the plane, to2 that of the axle or blade, -1: not given. */

static int take_axis(expr_parser *p)
{
    static const char *const name[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++) {
        if (read_take_word(p, name[i])) {
            return i;
        }
    }
    return -1;
}

/* on z = h, or on a body or site */
static int parse_plane(reader *r, expr_parser *p, read_item *item)
{
    const expr_token *t = &p->token[p->next];
    if (t->kind == EXPR_TOKEN_NAME && t[1].kind == EXPR_TOKEN_EQUAL) {
        item->from2 = take_axis(p);
        if (item->from2 < 0) {
            return read_fail(r, p->next, "a plane is x, y or z = a number, or a body or site");
        }
        p->next++;
        item->part[HEIGHT] = read_expression(r, p);
        return item->part[HEIGHT] >= 0;
    }
    item->part[PLANE] = read_expression(r, p);
    return item->part[PLANE] >= 0;
}

static int parse_options(reader *r, expr_parser *p, read_statement *s, read_item *item)
{
    int kind = s->word->option, round = kind != ZW_EQUALITY_BLADE;
    int axle = kind == ZW_EQUALITY_WHEEL || kind == ZW_EQUALITY_MECANUM;
    for (;;) {
        int part = -1;
        if (round && item->part[RADIUS] < 0 && read_take_word(p, "radius")) {
            part = RADIUS;
        } else if (kind == ZW_EQUALITY_MECANUM && item->part[ROLLERS] < 0 &&
                   read_take_word(p, "rollers")) {
            part = ROLLERS;
        } else if (item->to2 < 0 && ((axle && read_take_word(p, "axle")) ||
                                     (!round && read_take_word(p, "along")))) {
            item->to2 = take_axis(p);
            if (item->to2 < 0) {
                return read_fail_expected(r, p, s, "x, y or z");
            }
            continue;
        } else if (item->part[PLANE] < 0 && item->part[HEIGHT] < 0 && read_take_word(p, "on")) {
            if (!parse_plane(r, p, item)) {
                return 0;
            }
            continue;
        } else {
            return 1;
        }
        item->part[part] = read_expression(r, p);
        if (item->part[part] < 0) {
            return 0;
        }
    }
}

int read_parse_rolling(reader *r, expr_parser *p, read_statement *s)
{
    int label = p->next;
    if (p->token[label].kind != EXPR_TOKEN_NAME || p->token[label + 1].kind != EXPR_TOKEN_COLON) {
        return read_fail_expected(r, p, s, "a name and ':'");
    }
    int target = read_target(r, p);
    p->next++;
    read_item item = {.target = target,
                      .part = {read_expression(r, p), -1, -1, -1, -1, -1},
                      .from2 = 2,
                      .to2 = -1};
    if (target < 0 || item.part[THING] < 0 || !parse_options(r, p, s, &item)) {
        return 0;
    }
    if (read_take(p, EXPR_TOKEN_COMMA)) {
        if (!read_take_word(p, "without") || !read_take_word(p, "touch")) {
            return read_fail_expected(r, p, s, "'without touch'");
        }
        item.option = WITHOUT_TOUCH;
    }
    if (s->word->option == ZW_EQUALITY_BLADE && expr_parser_at_word(p, "radius")) {
        return read_fail(r, p->next, "a blade has no radius");
    }
    if (s->word->option != ZW_EQUALITY_BLADE && item.part[RADIUS] < 0) {
        return read_fail_expected(r, p, s, "a radius");
    }
    if (s->word->option == ZW_EQUALITY_MECANUM && item.part[ROLLERS] < 0) {
        return read_fail_expected(r, p, s, "the angle of its rollers");
    }
    read_item *kept = read_item_add(r, s, target);
    if (kept != NULL) {
        *kept = item;
    }
    return kept != NULL;
}

/* ---- Meaning -------------------------------------------------------------------------------- */

/* A rotation of axis `from` to axis `to`: 120 degrees about (1, 1, 1) map x to y, y to z, z to
 * x. */
static void turn_axis(int from, int to, double quat[4])
{
    int steps = (to - from + 3) % 3;
    const double none[4] = {1, 0, 0, 0}, once[4] = {0.5, 0.5, 0.5, 0.5};
    const double twice[4] = {0.5, -0.5, -0.5, -0.5};
    memcpy(quat, steps == 0 ? none : steps == 1 ? once : twice, sizeof none);
}

/* The shortest rotation from z to this unit vector. */
static void turn_to(const double axis[3], double quat[4])
{
    double w = 1 + axis[2];
    const double along[4] = {w, -axis[1], axis[0], 0}, back[4] = {0, 1, 0, 0};
    memcpy(quat, w > 1e-8 ? along : back, sizeof along);
    model_quat_unit(quat);
}

/* The hinge that is the axle of the body: its last joint, and the only rotational one. -1: there is
 * only a free joint; -2: there are others. */
static int only_hinge(const model_bodies *bodies, int body)
{
    int found = -1, turning = 0, last = -1;
    for (int j = 0; j < bodies->count[ZW_KIND_JOINT]; j++) {
        int kind = bodies->joint[j].kind;
        if (bodies->joint[j].body != body) {
            continue;
        }
        found = kind == ZW_JOINT_HINGE ? j : found;
        turning += kind == ZW_JOINT_HINGE || kind == ZW_JOINT_BALL;
        last = j;
    }
    return turning == 0 ? -1 : turning == 1 && found == last ? found : -2;
}

static void frame_of(const model_bodies *bodies, const model_seen *seen, int *body, double pos[3],
                     double quat[4])
{
    static const double upright[4] = {1, 0, 0, 0};
    const zw_site_def *site = seen->site >= 0 ? &bodies->site[seen->site] : NULL;
    *body = site ? site->body : seen->body;
    memset(pos, 0, 3 * sizeof *pos);
    memcpy(quat, upright, sizeof upright);
    if (site) {
        memcpy(pos, site->pos, 3 * sizeof *pos);
        memcpy(quat, site->quat, sizeof upright);
    }
}

/* Frame 1: on the rolling body. */
static int place_part(reader *r, const read_statement *s, const read_item *item,
                      zw_equality_def *def)
{
    const model_bodies *bodies = r->model->bodies;
    model_seen seen;
    double turn[4], own[4];
    if (!read_robot_frame(r, item->part[THING], &seen)) {
        return 0;
    }
    frame_of(bodies, &seen, &def->first, def->pos1, own);
    int blade = s->word->option == ZW_EQUALITY_BLADE, ball = s->word->option == ZW_EQUALITY_ROLL;
    int hinge =
        seen.site >= 0 || blade || ball || item->to2 >= 0 ? -1 : only_hinge(bodies, def->first);
    if (hinge == -2) {
        return read_fail_tree(
            r, item->part[THING],
            "its joints do not show which axis is the axle: write axle x, y or z");
    }
    if (hinge >= 0) {
        memcpy(def->pos1, bodies->joint[hinge].pos, sizeof def->pos1);
        turn_to(bodies->joint[hinge].axis, def->quat1);
        return 1;
    }
    int axis = item->to2 >= 0 ? item->to2 : blade ? 0 : 2;
    turn_axis(blade ? 0 : 2, axis, turn);
    model_quat_multiply(def->quat1, own, turn);
    return 1;
}

/* Frame 2: the plane. */
static int place_plane(reader *r, const read_item *item, zw_equality_def *def)
{
    model_seen seen;
    if (item->part[PLANE] >= 0) {
        if (!read_robot_frame(r, item->part[PLANE], &seen)) {
            return 0;
        }
        frame_of(r->model->bodies, &seen, &def->second, def->pos2, def->quat2);
        return 1;
    }
    def->second = 0;
    turn_axis(2, item->from2, def->quat2);
    return item->part[HEIGHT] < 0 ||
           read_number(r, item->part[HEIGHT], 1, "the position of a plane",
                       &def->pos2[item->from2]);
}

int read_make_rolling(reader *r, const read_statement *s, const read_item *item)
{
    zw_equality_def def = zw_equality_default();
    int member = read_member_of(r, item->target);
    if (member < 0 || !place_part(r, s, item, &def) || !place_plane(r, item, &def) ||
        (item->part[RADIUS] >= 0 &&
         !read_number(r, item->part[RADIUS], 1, "a radius", &def.radius)) ||
        (item->part[ROLLERS] >= 0 &&
         !read_number(r, item->part[ROLLERS], 1, "the angle of rollers", &def.roller))) {
        return 0;
    }
    const expr_symbol *name = &r->symbols.symbol[r->trees.tree[item->target].symbol];
    char text[100];
    int length = name->length < 99 ? name->length : 99;
    memcpy(text, name->text, (size_t)length);
    text[length] = 0;
    def.name = text;
    def.kind = s->word->option;
    def.place = read_place(r, item->target);
    def.touch = item->option != WITHOUT_TOUCH;
    if (r->model->bodies->world.without & (ZW_WITHOUT_CONSTRAINT | ZW_WITHOUT_EQUALITY)) {
        return read_fail(r, s->token, "the robot's file has switched such constraints off");
    }
    zw_error failure = {0};
    int index = zw_model_add_equality(r->model, &def, &failure);
    if (index < 0) {
        r->status = failure.status;
        if (r->error != NULL) {
            *r->error = failure;
        }
        return 0;
    }
    r->member[member].number = index;
    r->member[member].rows = model_equality_rows(&def) - def.touch;
    return 1;
}

int read_rolling_rows(reader *r)
{
    const model_bodies *bodies = r->model->bodies;
    for (int i = 0; i < r->member_count && bodies != NULL; i++) {
        read_member *m = &r->member[i];
        if (r->name[m->name].kind != READ_CONSTRAINT || m->rows == 0) {
            continue;
        }
        m->row = r->rows;
        for (int k = 0; k < m->number; k++) {
            m->row += bodies->equality[k].active ? model_equality_rows(&bodies->equality[k]) : 0;
        }
    }
    return 1;
}

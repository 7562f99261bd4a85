/* A ground plane for a robot:
 *
 *     ground z = 0
 *     ground z = -0.1, friction 0.8, restitution 0.5
 *
 * The half space below it is solid. URDF has no element for this. Friction given here applies to
 * all contacts with the ground (by priority); otherwise it is that of the other body. */
#include <string.h>

#include "read/zw/zw.h"

enum { HEIGHT, FRICTION, RESTITUTION }; /* parts of the item; from2 is the axis */

int read_parse_ground(reader *r, expr_parser *p, read_statement *s)
{
    static const char *const axis[] = {"x", "y", "z"}, *const option[] = {"friction",
                                                                          "restitution"};
    read_item item = {.target = -1, .part = {-1, -1, -1, -1, -1, -1}, .from2 = -1};
    for (int i = 0; i < 3 && item.from2 < 0; i++) {
        item.from2 = read_take_word(p, axis[i]) ? i : -1;
    }
    if (item.from2 < 0 || !read_take(p, EXPR_TOKEN_EQUAL)) {
        return read_fail_expected(r, p, s, "a plane: z = 0");
    }
    item.part[HEIGHT] = read_expression(r, p);
    while (item.part[HEIGHT] >= 0 && read_take(p, EXPR_TOKEN_COMMA)) {
        int k = read_take_word(p, option[0])   ? FRICTION
                : read_take_word(p, option[1]) ? RESTITUTION
                                               : -1;
        if (k < 0 || item.part[k] >= 0) {
            return read_fail_expected(r, p, s, "friction or restitution, once");
        }
        item.part[k] = read_expression(r, p);
        if (item.part[k] < 0) {
            return 0;
        }
    }
    read_item *kept = item.part[HEIGHT] < 0 ? NULL : read_item_add(r, s, -1);
    if (kept != NULL) {
        *kept = item;
    }
    return kept != NULL;
}

/* Rotates z to this axis, by multiples of 120 degrees about (1, 1, 1). */
static void turn(int axis, double quat[4])
{
    static const double third[3][4] = {{0.5, 0.5, 0.5, 0.5}, {0.5, -0.5, -0.5, -0.5}, {1, 0, 0, 0}};
    memcpy(quat, third[axis], sizeof third[axis]);
}

int read_make_ground(reader *r, const read_statement *s, const read_item *item)
{
    (void)s;
    zw_geom_def def = zw_geom_default();
    memset(def.friction, 0, sizeof def.friction);
    def.shape = ZW_SHAPE_PLANE;
    def.size[2] = 1;
    def.condim = 1;
    turn(item->from2, def.quat);
    if (!read_number(r, item->part[HEIGHT], 1, "the position of a plane", &def.pos[item->from2])) {
        return 0;
    }
    if (item->part[FRICTION] >= 0) {
        def.priority = 1;
        def.condim = 3;
        if (!read_number(r, item->part[FRICTION], 1, "a friction", &def.friction[0])) {
            return 0;
        }
    }
    if (item->part[RESTITUTION] >= 0 &&
        !read_number(r, item->part[RESTITUTION], 1, "a restitution", &def.restitution)) {
        return 0;
    }
    def.name = zw_model_find(r->model, ZW_KIND_GEOM, "ground") < 0 ? "ground" : NULL;
    def.place = read_place(r, item->part[HEIGHT]);
    zw_error failure = {0};
    if (zw_model_add_geom(r->model, &def, &failure) < 0) {
        r->status = failure.status;
        if (r->error != NULL) {
            *r->error = failure;
        }
        return 0;
    }
    return 1;
}

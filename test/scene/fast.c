#include "scene/fast.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scene/dice.h"
#include "zwang/bodies.h"
#include "zwang/zwang.h"

static const double pi = 3.14159265358979323846;

const char *fast_name(fast_family family)
{
    static const char *name[] = {"wall", "post", "room", "plate", "chain"};
    return name[family];
}

static void add(fast_case *c, const char *format, ...)
{
    size_t used = strlen(c->text);
    va_list list;
    va_start(list, format);
    vsnprintf(c->text + used, sizeof c->text - used, format, list);
    va_end(list);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static void put_corner(fast_body *b, double x, double y, double z)
{
    double *to = b->corner[b->corners++];
    to[0] = x;
    to[1] = y;
    to[2] = z;
}

/* What a geom says of its shape, and its corners; `assets` gets the vertices of a hull. */
static double draw_shape(dice *d, fast_body *b, double size, int number, char *geom, size_t room,
                         char *assets, size_t more)
{
    int kind = dice_int(d, 0, 6);
    double thin = size * dice_power(d, -2, -0.3), other = size * dice_between(d, 0.3, 1);
    double reach = size;
    *b = (fast_body){0};
    assets[0] = 0;
    switch (kind) {
    case 0:
        put_corner(b, 0, 0, 0);
        b->radius = size;
        snprintf(geom, room, "type='sphere' size='%.17g'", size);
        break;
    case 1:
        put_corner(b, 0, 0, size);
        put_corner(b, 0, 0, -size);
        b->radius = thin;
        reach = size + thin;
        snprintf(geom, room, "type='capsule' size='%.17g %.17g'", thin, size);
        break;
    case 2: /* a disc or a rod */
    case 3: {
        double r = kind == 2 ? size : thin, half = kind == 2 ? thin : size;
        for (int k = 0; k < 20; k++) {
            put_corner(b, r * cos(pi * (k / 2) / 5), r * sin(pi * (k / 2) / 5),
                       k % 2 ? half : -half);
        }
        reach = sqrt(r * r + half * half);
        snprintf(geom, room, "type='cylinder' size='%.17g %.17g'", r, half);
        break;
    }
    case 4:
        for (int k = 0; k < 6; k++) {
            double s = k % 2 ? -1 : 1;
            put_corner(b, k / 2 == 0 ? s * size : 0, k / 2 == 1 ? s * other : 0,
                       k / 2 == 2 ? s * thin : 0);
        }
        snprintf(geom, room, "type='ellipsoid' size='%.17g %.17g %.17g'", size, other, thin);
        break;
    case 5:
        for (int k = 0; k < 8; k++) {
            put_corner(b, k & 1 ? size : -size, k & 2 ? other : -other, k & 4 ? thin : -thin);
        }
        reach = sqrt(size * size + other * other + thin * thin);
        snprintf(geom, room, "type='box' size='%.17g %.17g %.17g'", size, other, thin);
        break;
    default: {
        size_t used = (size_t)snprintf(assets, more, "<mesh name='h%d' vertex='", number);
        for (int k = 0; k < 10; k++) {
            double v[3];
            dice_direction(d, v);
            put_corner(b, size * v[0], other * v[1], thin * v[2]);
            used += (size_t)snprintf(assets + used, more - used, "%.17g %.17g %.17g ", size * v[0],
                                     other * v[1], thin * v[2]);
        }
        snprintf(assets + used, more - used, "'/>");
        snprintf(geom, room, "type='mesh' mesh='h%d'", number);
        break;
    }
    }
    return reach;
}

static void draw_quat(dice *d, double q[4])
{
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        q[k] = dice_between(d, -1, 1);
        sum += q[k] * q[k];
    }
    for (int k = 0; k < 4; k++) {
        q[k] /= sqrt(sum);
    }
}

static double draw_restitution(dice *d)
{
    int kind = dice_int(d, 0, 3);
    return kind == 0 ? dice_between(d, 0.2, 1) : 0;
}

static void begin(fast_case *c, const char *assets)
{
    c->text[0] = 0;
    add(c,
        "<mujoco><option gravity='0 0 0'/><compiler angle='radian' inertiafromgeom='true'/>"
        "<asset>%s</asset>",
        assets);
    if (c->restitution > 0) {
        add(c, "<custom><numeric name='restitution' data='%.17g'/></custom>", c->restitution);
    }
}

static int steps_for(double time, double h, int most)
{
    double n = ceil(time / h);
    return n < 3 ? 3 : n > most ? most : (int)n;
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

static void draw_free_speeds(dice *d, fast_case *c, int at, double speed, double spin, int towards)
{
    double way[3], axis[3];
    do {
        dice_direction(d, way);
    } while (towards && way[0] < 0.5);
    dice_direction(d, axis);
    for (int k = 0; k < 3; k++) {
        c->speed[at + k] = speed * way[k];
        c->speed[at + 3 + k] = spin * axis[k];
    }
}

static void draw_wall(fast_case *c, dice *d)
{
    static const char *kinds[] = {"box", "triangles", "hull", "field"};
    char geom[2000], assets[3000], wall[600] = "";
    double size = dice_power(d, -2, -0.5), thick = dice_power(d, -3.3, -2), quat[4];
    double reach = draw_shape(d, &c->body[0], size, 0, geom, sizeof geom, assets, sizeof assets);
    double speed = dice_power(d, 0, 3), spin = dice_power(d, 0, 3), far = dice_between(d, 0.05, 1);
    int kind = dice_int(d, 0, 3);
    size_t used = strlen(assets);
    c->restitution = draw_restitution(d);
    draw_quat(d, quat);
    c->limit[0] = kind % 2 ? 1e-6 : 0;
    switch (kind) {
    case 0:
        snprintf(wall, sizeof wall, "<geom type='box' size='%.17g 300 300'/>", thick / 2);
        break;
    case 1:
        snprintf(assets + used, sizeof assets - used,
                 "<mesh name='w' vertex='0 -300 -300 0 300 -300 0 300 300 0 -300 300 5 0 0' "
                 "face='0 2 1 0 3 2'/>");
        snprintf(wall, sizeof wall, "<geom name='w' type='mesh' mesh='w'/>");
        break;
    case 2:
        snprintf(assets + used, sizeof assets - used,
                 "<mesh name='w' vertex='%.17g -300 -300 %.17g 300 -300 %.17g 300 300 %.17g -300 "
                 "300 %.17g -300 -300 %.17g 300 -300 %.17g 300 300 %.17g -300 300'/>",
                 -thick / 2, -thick / 2, -thick / 2, -thick / 2, thick / 2, thick / 2, thick / 2,
                 thick / 2);
        snprintf(wall, sizeof wall, "<geom type='mesh' mesh='w'/>");
        break;
    default:
        snprintf(
            assets + used, sizeof assets - used,
            "<hfield name='f' nrow='3' ncol='3' size='300 300 1 .1' elevation='0 0 0 0 0 0 0 0 "
            "0'/>");
        snprintf(wall, sizeof wall, "<geom type='hfield' hfield='f' zaxis='-1 0 0'/>");
    }
    begin(c, assets);
    if (kind == 1) {
        add(c, "<custom><text name='triangles' data='w'/></custom>");
    }
    add(c,
        "<worldbody>%s<body pos='%.17g 0 0' quat='%.17g %.17g %.17g %.17g'><freejoint/>"
        "<geom %s density='%.17g'/></body></worldbody></mujoco>",
        wall, -far - reach - thick, quat[0], quat[1], quat[2], quat[3], geom, 1000.0);
    c->bodies = 1;
    c->speeds = 6;
    draw_free_speeds(d, c, 0, speed, spin, 1);
    c->steps = steps_for(3 * far / (0.5 * speed) + 3 * c->step, c->step, 60);
    snprintf(c->what, sizeof c->what, "%.*s of %.3g m at %.3g m/s, %.3g rad/s, wall %s %.2g mm",
             (int)strcspn(geom, " "), geom, size, speed, spin, kinds[kind], 1e3 * thick);
}

static void write_bar(fast_case *c, const char *shape, double from, double to, double half,
                      double high, const char *post, double rate)
{
    begin(c, "");
    add(c, "<worldbody>%s<body><joint type='hinge' axis='0 0 1'/>", post);
    if (strcmp(shape, "box") == 0) {
        add(c, "<geom type='box' pos='%.17g 0 0' size='%.17g %.17g %.17g'/>", (from + to) / 2,
            (to - from) / 2, half, high);
    } else {
        add(c, "<geom type='%s' fromto='%.17g 0 0 %.17g 0 0' size='%.17g'/>", shape, from, to,
            half);
    }
    add(c, "</body></worldbody></mujoco>");
    c->bodies = 0;
    c->speeds = 1;
    c->speed[0] = rate;
}

static void draw_post(fast_case *c, dice *d)
{
    static const char *shapes[] = {"box", "capsule", "cylinder"};
    const char *shape = shapes[dice_int(d, 0, 2)], *kind = shapes[dice_int(d, 0, 2)];
    double half = dice_power(d, -3, -1.5), thick = dice_power(d, -3.3, -1.5);
    double back = dice_chance(d, 0.5) ? dice_between(d, 0.1, 1) : 0, to = dice_between(d, 0.3, 1);
    double radius = to * dice_between(d, 0.3, 0.95), angle = dice_between(d, 0.6, 2.6);
    double rate = dice_power(d, 0, 3);
    char post[400];
    /* the other end meets the post, too, or it does not: but not in between */
    back = fabs(back - radius) < 2 * (thick + half) ? 0 : back;
    int both = back > radius;
    if (strcmp(kind, "box") == 0) {
        snprintf(post, sizeof post,
                 "<geom type='box' pos='%.17g %.17g 0' size='%.17g %.17g .5' euler='0 0 %.17g'/>",
                 radius * cos(angle), radius * sin(angle), thick, thick, angle);
    } else {
        snprintf(post, sizeof post, "<geom type='%s' pos='%.17g %.17g 0' size='%.17g .5'/>", kind,
                 radius * cos(angle), radius * sin(angle), thick);
    }
    c->restitution = draw_restitution(d);
    write_bar(c, shape, -back, to, half, dice_between(d, 0.01, 0.3), post, rate);
    c->limit[0] = angle - (both ? pi : 2 * pi);
    c->limit[1] = angle;
    c->steps = steps_for(4 * pi / rate, c->step, 60);
    snprintf(c->what, sizeof c->what, "%s of %.2g mm at %.3g rad/s, post %s of %.2g mm", shape,
             1e3 * half, rate, kind, 1e3 * thick);
}

static void add_walls(fast_case *c, double size, double thick)
{
    for (int k = 0; k < 6; k++) {
        double at[3] = {0, 0, 0}, half[3] = {size + thick, size + thick, size + thick};
        at[k / 2] = (k % 2 ? -1 : 1) * (size + thick / 2);
        half[k / 2] = thick / 2;
        add(c, "<geom type='box' pos='%.17g %.17g %.17g' size='%.17g %.17g %.17g'/>", at[0], at[1],
            at[2], half[0], half[1], half[2]);
    }
}

static void draw_room(fast_case *c, dice *d)
{
    char geom[FAST_BODIES][2000], assets[3 * 3000] = "", one[3000];
    double size = dice_between(d, 0.4, 1), thick = dice_power(d, -3, -2), fastest = 0;
    c->restitution = draw_restitution(d);
    c->bodies = c->restitution > 0 ? 1 : dice_int(d, 1, FAST_BODIES);
    for (int k = 0; k < c->bodies; k++) {
        draw_shape(d, &c->body[k], dice_between(d, 0.02, 0.1), k, geom[k], sizeof geom[k], one,
                   sizeof one);
        strncat(assets, one, sizeof assets - strlen(assets) - 1);
    }
    begin(c, assets);
    add(c, "<worldbody>");
    add_walls(c, size, thick);
    for (int k = 0; k < c->bodies; k++) {
        double quat[4], speed = dice_power(d, 0, 3), spin = dice_power(d, 0, 3);
        double y = dice_between(d, -0.1, 0.1), z = dice_between(d, -0.1, 0.1);
        draw_quat(d, quat);
        add(c,
            "<body pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'><freejoint/><geom "
            "%s/></body>",
            0.25 * (k - 1), y, z, quat[0], quat[1], quat[2], quat[3], geom[k]);
        draw_free_speeds(d, c, 6 * k, speed, spin, 0);
        fastest = fmax(fastest, speed);
    }
    add(c, "</worldbody></mujoco>");
    c->speeds = 6 * c->bodies;
    c->limit[0] = size + thick / 2;
    c->steps = steps_for(10 * size / fastest, c->step, 20);
    snprintf(c->what, sizeof c->what, "%d bodies, fastest %.3g m/s, e %.2g, walls %.2g mm",
             c->bodies, fastest, c->restitution, 1e3 * thick);
}

static void draw_plate(fast_case *c, dice *d)
{
    char geom[2000], assets[3000];
    double size = dice_power(d, -2, -0.7), thick = dice_power(d, -3.3, -2), quat[4];
    double reach = draw_shape(d, &c->body[0], size, 0, geom, sizeof geom, assets, sizeof assets);
    double speed = dice_power(d, 0, 3), spin = dice_power(d, 0, 3),
           far = dice_between(d, 0.05, 0.5);
    double away = dice_between(d, -0.5, 0.3) * speed, turn = dice_between(d, 0, 0.2) * speed;
    c->restitution = draw_restitution(d);
    draw_quat(d, quat);
    begin(c, assets);
    add(c,
        "<worldbody><body pos='%.17g 0 0' quat='%.17g %.17g %.17g %.17g'><freejoint/><geom %s/>"
        "</body><body><freejoint/><geom type='box' size='%.17g 2 2' mass='%.17g'/></body>"
        "</worldbody></mujoco>",
        -far - reach - thick, quat[0], quat[1], quat[2], quat[3], geom, thick / 2,
        dice_power(d, -1, 2));
    c->bodies = 1;
    c->speeds = 12;
    draw_free_speeds(d, c, 0, speed, spin, 1);
    c->speed[6] = away;
    dice_direction(d, c->speed + 9);
    for (int k = 9; k < 12; k++) {
        c->speed[k] *= turn * 0.2;
    }
    c->limit[0] = 0;
    c->limit[1] = 1.9; /* of y and z: beyond that it may have gone round the plate */
    c->steps = steps_for(3 * far / (0.5 * speed) + 3 * c->step, c->step, 60);
    snprintf(c->what, sizeof c->what, "%.*s of %.3g m at %.3g m/s, %.3g rad/s, plate %.2g mm",
             (int)strcspn(geom, " "), geom, size, speed, spin, 1e3 * thick);
}

static void draw_chain(fast_case *c, dice *d)
{
    double thick = dice_power(d, -3.3, -2), x = dice_between(d, 0.2, 0.5), fastest = 0;
    int links = dice_int(d, 2, FAST_BODIES);
    c->restitution = 0;
    begin(c, "");
    add(c,
        "<worldbody><geom type='box' size='%.17g 5 5' contype='0' conaffinity='1'/><body "
        "pos='%.17g "
        "0 0'>",
        thick / 2, -x);
    for (int k = 0; k < links; k++) {
        double length = dice_between(d, 0.2, 0.5), half = dice_power(d, -2.7, -1.7);
        int box = dice_chance(d, 0.5);
        double rate = dice_sign(d, dice_power(d, 0, 3));
        add(c, "<joint type='hinge' axis='0 1 0'/>");
        c->body[k] = (fast_body){.radius = box ? 0 : half};
        if (box) {
            add(c,
                "<geom type='box' pos='%.17g 0 0' size='%.17g %.17g %.17g' contype='1' "
                "conaffinity='0'/>",
                -length / 2, length / 2, 2 * half, half);
            for (int i = 0; i < 8; i++) {
                put_corner(&c->body[k], i & 1 ? 0 : -length, i & 2 ? 2 * half : -2 * half,
                           i & 4 ? half : -half);
            }
        } else {
            add(c,
                "<geom type='capsule' fromto='0 0 0 %.17g 0 0' size='%.17g' contype='1' "
                "conaffinity='0'/>",
                -length, half);
            put_corner(&c->body[k], 0, 0, 0);
            put_corner(&c->body[k], -length, 0, 0);
        }
        c->speed[k] = rate;
        fastest = fmax(fastest, fabs(rate));
        if (k + 1 < links) {
            add(c, "<body pos='%.17g 0 0'>", -length);
        }
    }
    for (int k = 0; k < links; k++) {
        add(c, "</body>");
    }
    add(c, "</worldbody></mujoco>");
    c->bodies = links;
    c->speeds = links;
    c->limit[0] = 0;
    c->steps = steps_for(6 * pi / fastest, c->step, 40);
    snprintf(c->what, sizeof c->what, "%d links, fastest %.3g rad/s, wall %.2g mm", links, fastest,
             1e3 * thick);
}

void fast_draw(fast_case *c, fast_family family, uint64_t seed)
{
    dice d = dice_of(seed * FAST_FAMILIES + (uint64_t)family);
    *c = (fast_case){.family = family, .seed = seed, .step = 5e-4 * dice_power(&d, 0, 2)};
    void (*draw[])(fast_case *, dice *) = {draw_wall, draw_post, draw_room, draw_plate, draw_chain};
    draw[family](c, &d);
}

void fast_bar(fast_case *c, int middle, double rate, double step)
{
    char post[200];
    double angle = 2 * pi / 3;
    *c = (fast_case){.family = FAST_POST, .step = step};
    snprintf(post, sizeof post, "<geom type='cylinder' pos='%.17g %.17g 0' size='.005 .5'/>",
             0.4 * cos(angle), 0.4 * sin(angle));
    write_bar(c, "box", middle ? -0.5 : 0, middle ? 0.5 : 1, 0.01, 0.01, post, rate);
    c->limit[0] = angle - (middle ? pi : 2 * pi);
    c->limit[1] = angle;
    c->steps = steps_for(4 * pi / rate, step, 1000);
    snprintf(c->what, sizeof c->what, "bar at %g rad/s", rate);
}

void fast_bullet(fast_case *c, int rod, double speed, double step)
{
    *c = (fast_case){.family = FAST_WALL, .step = step};
    begin(c, "");
    add(c,
        "<worldbody><geom type='box' size='.0005 5 5'/><body pos='-.7 .01 .02' euler='0 %.17g 0'>"
        "<freejoint/><geom type='%s' size='%s'/></body></worldbody></mujoco>",
        rod ? 1.4 : 0, rod ? "capsule" : "sphere", rod ? ".01 .1" : ".01");
    c->body[0] = (fast_body){.corners = rod ? 2 : 1, .radius = 0.01};
    if (rod) {
        c->body[0].corner[0][2] = 0.1;
        c->body[0].corner[1][2] = -0.1;
    }
    c->bodies = 1;
    c->speeds = 6;
    c->speed[0] = speed;
    c->speed[4] = rod ? 50 : 0;
    c->steps = steps_for(3 / speed + 3 * step, step, 1000);
    snprintf(c->what, sizeof c->what, "%s at %g m/s", rod ? "rod" : "ball", speed);
}

/* ---- Which side ------------------------------------------------------------------------------ */

static void turn(const double q[4], const double x[3], double out[3])
{
    double t[3] = {2 * (q[2] * x[2] - q[3] * x[1]), 2 * (q[3] * x[0] - q[1] * x[2]),
                   2 * (q[1] * x[1] - q[2] * x[0])};
    out[0] = x[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1];
    out[1] = x[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2];
    out[2] = x[2] + q[0] * t[2] + q[1] * t[1] - q[2] * t[0];
}

static void corner_at(const fast_case *c, int body, int k, const double *q, double out[3])
{
    const double *x = c->body[body].corner[k], *p = q + 7 * body;
    turn(p + 3, x, out);
    for (int i = 0; i < 3; i++) {
        out[i] += p[i];
    }
}

/* The farthest x of a chain: links along -x of their frames, each turned about y. */
static double chain_x(const fast_case *c, const double *q, double root)
{
    double x = root, angle = 0, most = -INFINITY;
    for (int k = 0; k < c->bodies; k++) {
        double end = 0;
        angle += q[k];
        for (int i = 0; i < c->body[k].corners; i++) {
            const double *p = c->body[k].corner[i];
            most = fmax(most, x + p[0] * cos(angle) + p[2] * sin(angle) + c->body[k].radius);
            end = fmin(end, p[0]);
        }
        x += end * cos(angle);
    }
    return most;
}

/* By how much something is beyond its limits; negative: it is not. */
static double beyond(const fast_case *c, const double *q, double root)
{
    double most = -INFINITY;
    if (c->family == FAST_POST) {
        return fmax(q[0] - c->limit[1], c->limit[0] - q[0]);
    }
    if (c->family == FAST_CHAIN) {
        return chain_x(c, q, root) - c->limit[0];
    }
    for (int b = 0; b < c->bodies; b++) {
        for (int k = 0; k < c->body[b].corners; k++) {
            double x[3], r = c->body[b].radius;
            corner_at(c, b, k, q, x);
            if (c->family == FAST_PLATE) { /* in the frame of the plate */
                const double *plate = q + 7;
                double back[4] = {plate[3], -plate[4], -plate[5], -plate[6]};
                double to[3] = {x[0] - plate[0], x[1] - plate[1], x[2] - plate[2]};
                turn(back, to, x);
                if (fabs(x[1]) > c->limit[1] || fabs(x[2]) > c->limit[1]) {
                    return -INFINITY;
                }
            }
            for (int i = 0; i < (c->family == FAST_ROOM ? 3 : 1); i++) {
                double to = c->family == FAST_ROOM ? fabs(x[i]) : x[i];
                most = fmax(most, to + r - c->limit[0]);
            }
        }
    }
    return most;
}

static double computed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The hinge that a chain begins with. */
static double root_of(const fast_case *c)
{
    const char *at = c->family == FAST_CHAIN ? strstr(c->text, "<body pos='") : NULL;
    return at ? strtod(at + strlen("<body pos='"), NULL) : 0;
}

fast_report fast_run(const fast_case *c)
{
    fast_report r = {.result = FAST_ABORTED, .beyond = -INFINITY};
    zw_error error = {0};
    double root = root_of(c), start = computed();
    zw_model *model = zw_model_parse(c->text, "fast.xml", NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, &error) : NULL;
    zw_status status = state ? ZW_OK : error.status;
    if (state) {
        double *v = (double *)zw_field(system, state, work, ZW_FIELD_V).data;
        memcpy(v, c->speed, (size_t)c->speeds * sizeof *v);
    }
    for (r.at = 0; r.at < c->steps && status == ZW_OK; r.at++) {
        status = zw_step(system, state, work,
                         &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = c->step}, &error);
        const double *q = zw_field(system, state, work, ZW_FIELD_Q).data;
        double out = status == ZW_OK ? beyond(c, q, root) : -INFINITY;
        r.beyond = fmax(r.beyond, out);
        if (!(out <= 0) || (c->family == FAST_PLATE && out == -INFINITY)) {
            break;
        }
    }
    r.result = status != ZW_OK ? FAST_ABORTED : r.beyond > 0 ? FAST_THROUGH : FAST_FINE;
    snprintf(r.error, sizeof r.error, "%s", status != ZW_OK ? error.text : "");
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    r.clock = computed() - start;
    return r;
}

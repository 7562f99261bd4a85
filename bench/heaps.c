/* Heaps of free bodies, compared with other engines: spheres and mixed shapes fall into a bin,
 * towers of boxes stand, a ball hits a block of boxes.
 *
 *     heaps [WORD [ENGINE ...]]     tables, or those of scenes whose name has the word, and of
 * these engines; times are of this thread
 *
 * All engines have the same bodies, walls, friction (0.5), gravity and step, no restitution and no
 * sleeping. Each runs the steps of the scene, or as many as its share of time allows; the table
 * gives the time it reached. Everything but the rate is computed in the same way, from the poses
 * and speeds that an engine reports:
 *
 *   depth       the deepest overlap of two bodies, or of a body and a wall, at the end
 *   residual    how far the last step is from the laws of Signorini and Coulomb: below
 *   worst       our own certificate, the worst of all steps, by the forces that were found
 *
 * The residual. A step takes the speeds from v0 to v1, M (v1 - v0 - h g) = J' r with the bodies'
 * weights and gyroscopic moments in g; the law requires impulses r in their cones, y = J v1 + gap/h
 * + mu |w_T| e_N in the dual cone (a negative gap counts as zero: it need not be corrected within a
 * step), and r . y = 0 (De Saxce). Engines do not report r, so the most favourable one is computed:
 * the r in the cones that minimises
 *
 *     1/2 |J' r - M (v1 - v0 - h g)|^2 in M^-1 + r . y*,      y* the point of the dual cone nearest
 * y,
 *
 * which is zero for the exact solution and for no other; it is a convex problem of the kernel. The
 * residual is the certificate of v1 and that r. Contacts are those of our collision detection
 * between all bodies, at the beginning or the end of the step, whichever gives the smaller
 * residual: engines differ in where they evaluate them.
 *
 * MuJoCo has its default solver for boxes, and CG for the others: its Newton would factor a dense
 * matrix of all speeds; larger heaps it cannot hold. ODE: quickstep with its 20 iterations, and for
 * small scenes its exact solver too. Bullet: its default, sequential impulses, 10 iterations, in
 * single precision if that is how it was built. */
#include "engines.h"
#include "heaps_residual.h"

typedef struct figures {
    double rate, time, depth, residual, worst;
} figures;

static shown new_shown(int count)
{
    size_t n = (size_t)count;
    return (shown){allocate(3 * n, sizeof(double)), allocate(4 * n, sizeof(double)),
                   allocate(6 * n, sizeof(double))};
}

static void free_shown(shown *s)
{
    free(s->pos);
    free(s->quat);
    free(s->v);
}

static int run(const scene *s, const engine *e, figures *f)
{
    void *world = e->open(s);
    shown now = new_shown(s->count), before = new_shown(s->count);
    double used = 0;
    int done = 0, good = world != NULL, last = 0;
    *f = (figures){0};
    while (good && !last) {
        last = done + 1 >= s->steps || used > SHARE;
        if (last) {
            e->look(world, &before);
        }
        double start = seconds_computed();
        good = e->step(world, s->h);
        used += seconds_computed() - start;
        f->worst = good && e->certificate ? fmax(f->worst, e->certificate(world)) : f->worst;
        done++;
    }
    f->rate = (double)done / used;
    f->time = done * s->h;
    if (good) {
        e->look(world, &now);
        measure_residual(s, &before, &now, &f->depth, &f->residual);
    }
    if (world) {
        e->close(world);
    }
    free_shown(&now);
    free_shown(&before);
    return good;
}

static int is_asked(const scene *s, const char *word)
{
    return !word || strstr(s->name, word);
}

/* only: names of engines, up to NULL; none: all are asked. */
static int is_listed(const engine *e, char **only)
{
    int listed = !*only;
    for (; *only; only++) {
        listed |= strcmp(*only, e->name) == 0;
    }
    return listed;
}

static void compare(const scene *s, const char *word, char **only)
{
    figures f[ENGINES];
    int good[ENGINES], base = -1;
    for (int e = 0; e < ENGINES && is_asked(s, word); e++) {
        good[e] = s->count <= list[e].most && is_listed(&list[e], only) && run(s, &list[e], &f[e]);
        base = good[e] && strcmp(list[e].name, "Bullet") == 0 ? e : base;
    }
    for (int e = 0; e < ENGINES && is_asked(s, word); e++) {
        if (good[e]) {
            printf("| %s | %s | ", s->name, list[e].name);
            printf(base >= 0 ? "%.2f |" : " |", base >= 0 ? f[e].rate / f[base].rate : 0);
            printf(" %.4g | %.3g | %.1e | %.1e |", f[e].rate, f[e].time, f[e].depth, f[e].residual);
            printf(list[e].certificate ? " %.1e |\n" : " |\n", f[e].worst);
        }
    }
    fflush(stdout);
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

static thing *new_bodies(int count)
{
    thing *made = allocate((size_t)count, sizeof *made);
    for (int i = 0; i < count; i++) {
        made[i].quat[0] = 1;
    }
    return made;
}

/* In a bin that is slightly wider than the initial cube of bodies. */
static scene heap(const char *name, int count, int mixed)
{
    static const collide_shape shape[] = {{.kind = COLLIDE_SPHERE, .size = {0.05}},
                                          {.kind = COLLIDE_BOX, .size = {0.035, 0.03, 0.025}},
                                          {.kind = COLLIDE_CAPSULE, .size = {0.025, 0.025}},
                                          {.kind = COLLIDE_CYLINDER, .size = {0.03, 0.03}}};
    int side = (int)round(cbrt(count));
    double wide = 0.06 * side;
    scene s = {.name = name,
               .count = count,
               .body = new_bodies(count),
               .h = 0.005,
               .steps = 400,
               .planes = 5,
               .plane = {{0, 0, 1, 0},
                         {1, 0, 0, -wide},
                         {-1, 0, 0, -wide},
                         {0, 1, 0, -wide},
                         {0, -1, 0, -wide}}};
    dice d = dice_of(7);
    for (int i = 0; i < count; i++) {
        thing *it = &s.body[i];
        int place[3] = {i % side, i / side % side, i / side / side};
        it->shape = shape[mixed ? i % 4 : 0];
        it->mass = 0.5;
        for (int k = 0; k < 3; k++) {
            it->pos[k] = 0.11 * (place[k] - (k < 2 ? 0.5 * (side - 1) : -1));
            it->pos[k] += dice_between(&d, -0.004, 0.004);
        }
        double length = 0;
        for (int k = 0; k < 4; k++) {
            it->quat[k] = dice_between(&d, -1, 1) + (k == 0 ? 0.1 : 0);
            length += it->quat[k] * it->quat[k];
        }
        for (int k = 0; k < 4; k++) {
            it->quat[k] /= sqrt(length);
        }
    }
    return s;
}

static const thing brick = {
    .shape = {.kind = COLLIDE_BOX, .size = {0.1, 0.1, 0.1}}, .mass = 8, .quat = {1, 0, 0, 0}};

static scene tower(const char *name, int count)
{
    scene s = {.name = name,
               .count = count,
               .body = new_bodies(count),
               .h = 0.01,
               .steps = 200,
               .planes = 1,
               .plane = {{0, 0, 1, 0}}};
    for (int i = 0; i < count; i++) {
        s.body[i] = brick;
        s.body[i].pos[2] = 0.1 * (2 * i + 1);
    }
    return s;
}

/* side^3 boxes, and a ball that hits them. */
static scene wall(const char *name, int side)
{
    int count = side * side * side;
    scene s = tower(name, count + 1);
    s.h = 0.005;
    s.steps = 200;
    for (int i = 0; i < count; i++) {
        int place[3] = {i % side, i / side % side, i / side / side};
        for (int k = 0; k < 3; k++) {
            s.body[i].pos[k] = 0.2 * place[k] + (k == 2 ? 0.1 : 0);
        }
    }
    s.body[count] = (thing){.shape = {.kind = COLLIDE_SPHERE, .size = {0.3}},
                            .mass = 200,
                            .quat = {1, 0, 0, 0},
                            .pos = {-1, 0.1 * side, 0.1 * side},
                            .v = {10, 0, 1}};
    return s;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    char **only = argc > 2 ? argv + 2 : argv + argc;
    scene all[] = {tower("tower of 20", 20),        tower("tower of 50", 50),
                   tower("tower of 200", 200),      tower("tower of 1000", 1000),
                   heap("27 spheres", 27, 0),       heap("125 spheres", 125, 0),
                   heap("343 spheres", 343, 0),     heap("1000 spheres", 1000, 0),
                   heap("3000 spheres", 3000, 0),   heap("27 shapes", 27, 1),
                   heap("125 shapes", 125, 1),      heap("343 shapes", 343, 1),
                   heap("1000 shapes", 1000, 1),    wall("wall of 5 x 5 x 5", 5),
                   wall("wall of 10 x 10 x 10", 10)};
    int count = (int)(sizeof all / sizeof *all);
    printf("\n## Heaps, towers, walls\n\n"
           "| scene | engine | rate / Bullet's | steps/s | time reached [s] | depth [m] | residual "
           "| worst |\n|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < count; k++) {
        compare(&all[k], word, only);
    }
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        free(all[k].body);
    }
    return 0;
}

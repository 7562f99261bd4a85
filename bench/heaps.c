/* Free bodies on one another, beside other engines: 500 and 1000 spheres fall into a box, a tower
 * of twenty boxes stands.
 *
 *     heaps            tables; times are those of this thread
 *
 * All engines have the same bodies, walls, friction (0.5), gravity and step, no restitution, nobody
 * sleeps. Each runs as many steps as the scene asks for, or as many as its share of time allows;
 * the table says to what time it came. Everything beside the rate is measured alike, from the poses
 * and speeds that an engine shows, over the last tenth of its run:
 *
 *   depth        the deepest overlap of two bodies, or of a body and a wall
 *   speed        the fastest point of a body, as if at its radius
 *   unbalanced   the largest change of a speed in a step, over g h: 0 where forces are in balance
 *
 * MuJoCo has its default solver for the tower, and CG for the spheres: its Newton would factor a
 * dense matrix of all speeds; 1000 spheres it cannot hold: its buffer is limited to
 * 2^31 bytes, which is 2600 contacts then, and it drops the others. ODE: quickstep with its 20
 * iterations, and for the tower its exact solver too. Bullet: its default, sequential impulses, 10
 * iterations, in single precision if that is how it was built. */
#include "engines.h"

/* ---- The judge ------------------------------------------------------------------------------- */

static double depth_of(const scene *s, const shown *at)
{
    double worst = 0, size = s->half > 0 ? s->half : s->radius;
    collide_shape shape = {.kind = s->half > 0 ? COLLIDE_BOX : COLLIDE_SPHERE,
                           .size = {size, size, size}};
    collide_pose *pose = room((size_t)s->count, sizeof *pose);
    collide_point found[64];
    for (int i = 0; i < s->count; i++) {
        memcpy(pose[i].pos, at->pos + 3 * i, sizeof pose[i].pos);
        model_quat_matrix(at->quat + 4 * i, pose[i].R);
        for (int p = 0; p < s->planes; p++) {
            const double *plane = s->plane[p];
            double height = model_dot(plane, pose[i].pos) - plane[3], reach = s->radius;
            for (int k = 0; k < 3 && s->half > 0; k++) {
                const double *R = pose[i].R;
                double along = plane[0] * R[k] + plane[1] * R[3 + k] + plane[2] * R[6 + k];
                reach = (k > 0 ? reach : 0) + s->half * fabs(along);
            }
            worst = fmax(worst, reach - height);
        }
    }
    for (int i = 0; i < s->count; i++) {
        for (int j = i + 1; j < s->count; j++) {
            double x = pose[i].pos[0] - pose[j].pos[0], y = pose[i].pos[1] - pose[j].pos[1];
            double z = pose[i].pos[2] - pose[j].pos[2];
            if (x * x + y * y + z * z < 12 * size * size) {
                int count = collide_pair(&shape, &pose[i], &shape, &pose[j], 0, found, 64);
                for (int k = 0; k < count && k < 64; k++) {
                    worst = fmax(worst, -found[k].gap);
                }
            }
        }
    }
    free(pose);
    return worst;
}

typedef struct figures {
    double rate, time, depth, speed, unbalanced;
} figures;

static shown new_shown(int count)
{
    size_t n = (size_t)count;
    return (shown){room(3 * n, sizeof(double)), room(4 * n, sizeof(double)),
                   room(6 * n, sizeof(double))};
}

static void free_shown(shown *s)
{
    free(s->pos);
    free(s->quat);
    free(s->v);
}

static void judge(const scene *s, const shown *now, const shown *before, figures *f)
{
    double size = s->half > 0 ? sqrt(3) * s->half : s->radius;
    for (int i = 0; i < s->count; i++) {
        const double *v = now->v + 6 * i, *old = before->v + 6 * i;
        double change = 0;
        for (int k = 0; k < 3; k++) {
            change += (v[k] - old[k]) * (v[k] - old[k]);
        }
        f->speed = fmax(f->speed, sqrt(model_dot(v, v)) + size * sqrt(model_dot(v + 3, v + 3)));
        f->unbalanced = fmax(f->unbalanced, sqrt(change) / (G * s->h));
    }
}

static int run(const scene *s, const engine *e, figures *f)
{
    void *world = e->open(s);
    shown now = new_shown(s->count), before = new_shown(s->count);
    double used = 0;
    int done = 0, good = world != NULL, last = s->steps / 10;
    *f = (figures){0};
    while (good && done < s->steps) {
        double start = seconds_computed();
        good = e->step(world, s->h);
        used += seconds_computed() - start;
        done++;
        int left = s->steps - done;
        if (used > SHARE && left > last) { /* it will not come to the end: judge what is there */
            last = left;
        }
        if (left <= last) {
            e->look(world, &now);
            if (left < last) {
                judge(s, &now, &before, f);
            }
            if (left % 10 == 0 || used > 1.1 * SHARE) {
                f->depth = fmax(f->depth, depth_of(s, &now));
            }
            memcpy(before.v, now.v, 6 * (size_t)s->count * sizeof *now.v);
        }
        if (used > 1.1 * SHARE) {
            break;
        }
    }
    f->rate = (double)done / used;
    f->time = done * s->h;
    if (world) {
        e->close(world);
    }
    free_shown(&now);
    free_shown(&before);
    return good;
}

static void compare(const scene *s, int rounds)
{
    double ratio[ENGINES][5], rate[ENGINES][5];
    figures f[ENGINES];
    int good[ENGINES];
    for (int r = 0; r < rounds; r++) {
        for (int e = 0; e < ENGINES; e++) {
            good[e] = s->count <= list[e].most && run(s, &list[e], &f[e]);
            rate[e][r] = good[e] ? f[e].rate : 0;
            ratio[e][r] = good[0] ? rate[e][r] / rate[0][r] : 0;
        }
    }
    for (int e = 0; e < ENGINES; e++) {
        if (good[e]) {
            printf("| %s | %s | ", s->name, list[e].name);
            printf(good[0] ? "%.2f |" : " |", median(ratio[e], rounds));
            printf(" %.4g | %.3g | %.1e | %.1e | %.1e |\n", median(rate[e], rounds), f[e].time,
                   f[e].depth, f[e].speed, f[e].unbalanced);
        }
    }
    fflush(stdout);
}

int main(void)
{
    scene spheres = {
        .name = "1000 spheres",
        .count = 1000,
        .radius = 0.05,
        .mass = 0.5,
        .h = 0.005,
        .steps = 600,
        .planes = 5,
        .plane = {
            {0, 0, 1, 0}, {1, 0, 0, -0.6}, {-1, 0, 0, -0.6}, {0, 1, 0, -0.6}, {0, -1, 0, -0.6}}};
    scene tower = {.name = "tower of 20",
                   .count = 20,
                   .half = 0.1,
                   .mass = 8,
                   .h = 0.01,
                   .steps = 1000,
                   .planes = 1,
                   .plane = {{0, 0, 1, 0}}};
    dice d = dice_of(7);
    if (!xml_available()) {
        printf("Built without expat: no scenes.\n");
        return 0;
    }
    spheres.pos = room(3 * (size_t)spheres.count, sizeof(double));
    tower.pos = room(3 * (size_t)tower.count, sizeof(double));
    for (int i = 0; i < spheres.count; i++) {
        int place[3] = {i % 10, i / 10 % 10, i / 100};
        for (int k = 0; k < 3; k++) {
            spheres.pos[3 * i + k] =
                0.11 * (place[k] - (k < 2 ? 4.5 : -1)) + dice_between(&d, -0.004, 0.004);
        }
    }
    for (int i = 0; i < tower.count; i++) {
        tower.pos[3 * i + 2] = tower.half * (2 * i + 1);
    }
    printf("\n## Heaps and towers\n\n"
           "| scene | engine | rate / MuJoCo's | steps/s | time reached [s] | depth [m] | speed "
           "[m/s] | unbalanced [g] |\n|---|---|---|---|---|---|---|---|\n");
    compare(&tower, 5);
    spheres.count = 500;
    spheres.name = "500 spheres";
    compare(&spheres, 1);
    spheres.count = 1000;
    spheres.name = "1000 spheres";
    compare(&spheres, 1);
    free(spheres.pos);
    free(tower.pos);
    return 0;
}

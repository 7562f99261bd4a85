/* Poses that chance never gives, against laws that hold everywhere.
 *
 *     poses             200000 pairs of shapes, flush, touching, concentric, nearly so
 *     poses 5000 17     fewer, and with another seed
 *
 * For each pair, with the errors as parts of its size:
 *     plane     the gap is what the supports leave along the normal
 *     outside   the two surface points of every contact are of the shapes
 *     depth     no direction that a judge finds has less overlap
 *     moved     a shape that moves by s changes the gap by no more than s; along the normal by s
 *     flipped   the pair the other way round has the same gap, and with one normal the same points
 *     far       as far from the origin as 1e6 of its sizes it has the same gap
 *     time      of one call, in microseconds
 * Every line says the worst of a pair of kinds, and how many were worse than 1e-9. */
#include <stdio.h>

#include "collide/poses.h"
#include "measure.h"

enum { ROOM = 200 };
enum { PLANE, NEAREST, OUTSIDE, DEPTH, MOVED, FLIPPED, POINTS, FAR, TIME, LAWS };
static const char *const law_name[] = {"plane", "nearest",  "outside", "depth", "moved",
                                       "flipped", "points",  "far",   "time"};
static const char *const kind_name[] = {"plane", "sphere", "capsule", "ellipsoid", "cylinder",
                                        "box",   "cone",   "hull",    "field",     "mesh"};

typedef struct tally {
    double worst[LAWS];
    int bad[LAWS], pairs;
} tally;

static tally all[COLLIDE_KINDS][COLLIDE_KINDS];
static int told[LAWS], tell = 3;
static double limit = 1e-9;

static int ask(const couple *c, collide_point *p)
{
    return collide_pair(&c->a->shape, &c->at_a, &c->b->shape, &c->at_b, 4 * c->scale, p, ROOM);
}

static int least_of(const collide_point *p, int count)
{
    int least = 0;
    for (int i = 1; i < count; i++) {
        least = p[i].gap < p[least].gap ? i : least;
    }
    return least;
}

static void print_couple(const couple *c)
{
    for (int o = 0; o < 2; o++) {
        const figure *f = o ? c->b : c->a;
        const collide_pose *at = o ? &c->at_b : &c->at_a;
        printf("    %s (%g %g %g) at {%a, %a, %a}\n      {", f->name, f->shape.size[0],
               f->shape.size[1], f->shape.size[2], at->pos[0], at->pos[1], at->pos[2]);
        for (int i = 0; i < 9; i++) {
            printf("%a%s", at->R[i], i < 8 ? ", " : "}\n");
        }
    }
}

static void note(const couple *c, int law, double error, const char *what, long number)
{
    int i = (int)c->a->shape.kind, j = (int)c->b->shape.kind;
    tally *t = &all[i < j ? i : j][i < j ? j : i];
    double bound = law == TIME ? 1000 : limit;
    t->worst[law] = fmax(t->worst[law], isnan(error) ? INFINITY : error);
    if (!(error <= bound)) {
        t->bad[law]++;
        if (told[law]++ < tell) {
            printf("%s: %s - %s, pair %ld: %.3g %s\n", law_name[law], c->a->name, c->b->name,
                   number, error, what);
            print_couple(c);
        }
    }
}

/* How far the points nearest to contact reach, of p and of q: the same in all directions across n.
 * Sets may differ by points between others. */
static double apart(const collide_point *p, int np, const collide_point *q, int nq, const couple *c)
{
    double worst = 0, least = p[least_of(p, np)].gap;
    for (int k = 0; k < 26; k++) {
        double way[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}, far = -INFINITY, other = -INFINITY;
        double wide = -INFINITY;
        for (int i = 0; i < np; i++) {
            double d = p_dot(p[i].pos, way);
            far = p[i].gap <= least + 0.01 * c->scale ? fmax(far, d) : far;
        }
        for (int i = 0; i < nq; i++) { /* those just beyond may have been left out */
            double d = p_dot(q[i].pos, way);
            other = q[i].gap <= least + (0.01 + 1e-9) * c->scale ? fmax(other, d) : other;
            wide = q[i].gap <= least + (0.01 - 1e-9) * c->scale ? fmax(wide, d) : wide;
        }
        worst = fmax(worst, fmax(far - other, wide - far) / c->scale);
    }
    for (int i = 0; i < np; i++) { /* and no place twice */
        for (int j = 0; j < i; j++) {
            double d[3] = {p[i].pos[0] - p[j].pos[0], p[i].pos[1] - p[j].pos[1],
                           p[i].pos[2] - p[j].pos[2]};
            double near = fmin(extent(c->a), extent(c->b));
            worst = fmax(worst, p_dot(d, d) <= 1e-20 * near * near ? 1 : 0);
        }
    }
    return worst;
}

static void judge_points(const couple *c, const collide_point *p, int count, long number)
{
    int least = least_of(p, count);
    for (int i = 0; i < count; i++) {
        if (p[i].gap > p[least].gap + 0.01 * c->scale) {
            continue;
        }
        double x[3], y[3], s = c->scale;
        for (int k = 0; k < 3; k++) {
            x[k] = p[i].pos[k] - 0.5 * p[i].gap * p[i].normal[k];
            y[k] = p[i].pos[k] + 0.5 * p[i].gap * p[i].normal[k];
        }
        double off = fmax(figure_outside(c->a, &c->at_a, x), figure_outside(c->b, &c->at_b, y));
        note(c, i == least ? NEAREST : OUTSIDE, off / s, p[i].gap > 0 ? "apart" : "overlap", number);
        note(c, PLANE, fabs(p_dot(p[i].normal, p[i].normal) - 1), "normal", number);
    }
}

static void judge_moves(const couple *c, const collide_point *p, dice *d, long number)
{
    static const double step[4] = {1e-13, 1e-9, 1e-6, 1e-2};
    collide_point q[ROOM];
    for (int k = 0; k < 8; k++) {
        couple m = *c;
        double way[3], s = step[k & 3] * c->scale, moved = 0;
        dice_direction(d, way);
        for (int i = 0; i < 3; i++) {
            way[i] = k < 4 ? p->normal[i] : way[i];
            m.at_b.pos[i] += s * way[i];
            double by = m.at_b.pos[i] - c->at_b.pos[i];
            moved += by * by;
        }
        int count = ask(&m, q);
        double change = count > 0 ? q[least_of(q, count)].gap - p->gap : INFINITY;
        double error = k < 4 ? fabs(change - s) : fabs(change) - sqrt(moved);
        note(c, MOVED, error / c->scale, k < 4 ? "along the normal" : "anyhow", number);
    }
}

static void print_points(const collide_point *p, int count)
{
    for (int i = 0; getenv("ZW_POINTS") != NULL && i < count; i++) {
        printf("  %.9g: pos %.9g %.9g %.9g n %.9g %.9g %.9g %x\n", p[i].gap, p[i].pos[0],
               p[i].pos[1], p[i].pos[2], p[i].normal[0], p[i].normal[1], p[i].normal[2],
               p[i].feature);
    }
    printf(getenv("ZW_POINTS") != NULL ? "\n" : "");
}

static void judge(const couple *c, dice *d, long number)
{
    collide_point p[ROOM], q[ROOM];
    double from = seconds_computed();
    int count = ask(c, p);
    note(c, TIME, 1e6 * (seconds_computed() - from), "", number);
    all[c->a->shape.kind < c->b->shape.kind ? c->a->shape.kind : c->b->shape.kind]
       [c->a->shape.kind < c->b->shape.kind ? c->b->shape.kind : c->a->shape.kind]
           .pairs++;
    if (count < 1 || count > ROOM) {
        note(c, PLANE, INFINITY, count < 1 ? "nothing" : "too many", number);
        return;
    }
    print_points(p, count);
    const collide_point *at = &p[least_of(p, count)];
    note(c, PLANE, fabs(couple_gap(c, at->normal) - at->gap) / c->scale, "gap", number);
    judge_points(c, p, count, number);
    double n[3] = {0, 0, 0};
    note(c, DEPTH, (couple_judge(c, d, n) - at->gap) / c->scale, at->gap > 0 ? "apart" : at->gap > -0.1 * fmin(extent(c->a), extent(c->b)) ? "overlap" : "deep",
         number);
    judge_moves(c, at, d, number);
    couple o = {c->b, c->a, c->at_b, c->at_a, c->scale};
    int over = ask(&o, q);
    print_points(q, over);
    const collide_point *other = &q[least_of(q, over > 0 ? over : 1)];
    note(c, FLIPPED, over > 0 ? fabs(other->gap - at->gap) / c->scale : INFINITY, "", number);
    double turn = 0;
    for (int i = 0; i < 3; i++) {
        turn = fmax(turn, fabs(at->normal[i] + other->normal[i]));
    }
    if (turn < 1e-8) {
        note(c, POINTS, apart(p, count, q, over, c), "", number);
    }
    couple f = *c;
    double by = ldexp(1, 20 + (int)ceil(log2(c->scale)));
    for (int i = 0; i < 3; i++) {
        f.at_a.pos[i] += by;
        f.at_b.pos[i] += by;
        double error = (f.at_b.pos[i] - f.at_a.pos[i]) - (c->at_b.pos[i] - c->at_a.pos[i]);
        by += fabs(error) > 0 ? 0 : 0;
    }
    int far = ask(&f, q);
    note(c, FAR,
         far > 0 ? fabs(q[least_of(q, far)].gap - at->gap) / c->scale - 1e-9 * 1.5 : INFINITY, "",
         number);
}

static void run(zoo *z, long pairs, long seed, long only)
{
    static const double sizes[6] = {1, 1, 1, 0x1p-13, 0x1p13, 1.0 / 3};
    static const double ratios[8] = {1, 1, 1, 1, 0.5, 2, 0x1p-10, 0x1p-20};
    for (long k = 0; k < pairs; k++) {
        dice d = dice_of((uint64_t)(seed * 100000000 + k));
        if (only >= 0 && k != only) {
            continue;
        }
        double size = sizes[dice_int(&d, 0, 5)], ratio = ratios[dice_int(&d, 0, 7)];
        int ia = dice_int(&d, 0, z->count - 1), ib = dice_int(&d, 0, z->count - 1);
        figure a = size == 1 ? z->figure[ia] : figure_scaled(&z->figure[ia], size);
        figure b = size * ratio == 1 ? z->figure[ib] : figure_scaled(&z->figure[ib], size * ratio);
        couple c = {.a = &a, .b = &b, .scale = extent(&a) + extent(&b)};
        double least = fmin(extent(&a), extent(&b)), gap = 0;
        switch (dice_int(&d, 0, 5)) {
        case 0:
        case 1:
            gap = hair(&d) * c.scale;
            break;
        case 2:
            gap = -0.125 * least;
            break;
        case 3:
            gap = 0.25 * least;
            break;
        default:
            break;
        }
        couple_place(&c, &d, gap);
        if (dice_int(&d, 0, 9) == 0) { /* concentric */
            for (int i = 0; i < 3; i++) {
                c.at_b.pos[i] = hair(&d) * c.scale;
            }
        }
        judge(&c, &d, k);
        if (a.corner != z->figure[ia].corner || (a.corner == NULL && size != 1)) {
            figure_free(&a);
        }
        if (b.corner != z->figure[ib].corner || (b.corner == NULL && size * ratio != 1)) {
            figure_free(&b);
        }
    }
}

int main(int argc, char **argv)
{
    static zoo z;
    long pairs = argc > 1 ? atol(argv[1]) : 200000, seed = argc > 2 ? atol(argv[2]) : 1;
    long only = argc > 3 ? atol(argv[3]) : -1;
    tell = getenv("ZW_TELL") != NULL ? atoi(getenv("ZW_TELL")) : 3;
    zoo_open(&z);
    if (getenv("ZW_SKIP") != NULL) {
        int to = 0;
        for (int i = 0; i < z.count; i++) {
            if (strstr(getenv("ZW_SKIP"), z.figure[i].name) == NULL) {
                z.figure[to++] = z.figure[i];
            }
        }
        z.count = to;
    }
    if (getenv("ZW_ONLY") != NULL) {
        int to = 0;
        for (int i = 0; i < z.count; i++) {
            if (strstr(getenv("ZW_ONLY"), z.figure[i].name) != NULL) {
                z.figure[to++] = z.figure[i];
            }
        }
        z.count = to;
    }
    if (getenv("ZW_FLAT") != NULL) {
        zoo_flat(&z);
    }
    run(&z, pairs, seed, only);
    printf("%-20s %6s", "pair", "pairs");
    for (int l = 0; l < LAWS; l++) {
        printf(" %13s", law_name[l]);
    }
    printf("\n");
    for (int i = 0; i < COLLIDE_KINDS; i++) {
        for (int j = i; j < COLLIDE_KINDS; j++) {
            const tally *t = &all[i][j];
            if (t->pairs == 0) {
                continue;
            }
            printf("%-9s %-10s %6d", kind_name[i], kind_name[j], t->pairs);
            for (int l = 0; l < LAWS; l++) {
                printf(" %8.1e %4d", t->worst[l], t->bad[l]);
            }
            printf("\n");
        }
    }
    zoo_close(&z);
    return 0;
}

/* The cost and accuracy of collision detection for pairs of shapes, and the cost of many boxes.
 *
 *     collide           tables; times are those of this thread, the least of several runs; then
 *                       100000 random pairs of some kinds against the references of the tests
 *     collide 1000      the same with fewer pairs
 *
 * Pairs are random, and about half of them overlap; the margin is 0.01. "points" is the mean number
 * of points of a pair, "apart" the share of pairs without any. MuJoCo's routine, where available,
 * is applied to the same shapes in the same poses; its convex pairs have one point, and it does not
 * claim to be exact. Planes are not compared: MuJoCo requires them in the world body. */
#include <string.h>

#ifdef ZW_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

#include "collide/broad.h"
#include "collide/reference.h"
#include "math/elementary.h"
#include "measure.h"

enum { PAIRS = 2000, RUNS = 7, CAPACITY = 64 };

static const char *const kind_name[] = {"plane", "sphere", "capsule", "ellipsoid", "cylinder",
                                        "box",   "cone",   "hull",    "field",     "mesh"};

typedef struct scene {
    body a[PAIRS], b[PAIRS];
} scene;

static void throw_pairs(scene *s, collide_kind first, collide_kind second)
{
    dice d = dice_of(5);
    for (int k = 0; k < PAIRS; k++) {
        s->a[k] = body_of(&d, first);
        s->b[k] = body_of(&d, second);
        for (int i = 0; i < 3; i++) {
            s->b[k].at.pos[i] = s->a[k].at.pos[i] + 0.9 * (s->b[k].at.pos[i]);
        }
        place(&s->b[k]);
    }
}

static double ours(const scene *s, double *points, double *apart)
{
    double least = INFINITY;
    for (int run = 0; run < RUNS; run++) {
        int total = 0, none = 0;
        double from = seconds_computed();
        for (int k = 0; k < PAIRS; k++) {
            collide_point p[CAPACITY];
            int count = collide_pair(&s->a[k].shape, &s->a[k].at, &s->b[k].shape, &s->b[k].at, 0.01,
                                     p, CAPACITY);
            total += count;
            none += count == 0;
        }
        least = fmin(least, seconds_computed() - from);
        *points = (double)total / (PAIRS - none > 0 ? PAIRS - none : 1);
        *apart = (double)none / PAIRS;
    }
    return least / PAIRS * 1e9;
}

#ifdef ZW_HAVE_MUJOCO
static const char *const mujoco_name[] = {NULL,       "sphere", "capsule", "ellipsoid",
                                          "cylinder", "box",    NULL,      NULL};

/* A model of two shapes, whose sizes and poses are then overwritten. */
static double theirs(const scene *s)
{
    collide_kind first = s->a[0].shape.kind, second = s->b[0].shape.kind;
    if (mujoco_name[first] == NULL || mujoco_name[second] == NULL) {
        return NAN;
    }
    char text[600], error[200] = "";
    snprintf(text, sizeof text,
             "<mujoco><worldbody><body><freejoint/><geom type='%s' size='1 1 1'/></body>"
             "<body><freejoint/><geom type='%s' size='1 1 1'/></body></worldbody></mujoco>",
             mujoco_name[first], mujoco_name[second]);
    static mjVFS files;
    mj_defaultVFS(&files);
    mj_makeEmptyFileVFS(&files, "pair.xml", (int)strlen(text));
    memcpy(files.filedata[0], text, strlen(text));
    mjModel *m = mj_loadXML("pair.xml", &files, error, sizeof error);
    mj_deleteVFS(&files);
    if (m == NULL) {
        fprintf(stderr, "MuJoCo: %s\n", error);
        return NAN;
    }
    mjData *d = mj_makeData(m);
    mj_forward(m, d);
    mjfCollision rule = mjCOLLISIONFUNC[m->geom_type[0]][m->geom_type[1]];
    double least = INFINITY;
    for (int run = 0; run < RUNS && rule != NULL; run++) {
        double from = seconds_computed();
        for (int k = 0; k < PAIRS; k++) {
            const body *pair[2] = {&s->a[k], &s->b[k]};
            for (int o = 0; o < 2; o++) {
                memcpy(m->geom_size + 3 * o, pair[o]->shape.size, 3 * sizeof(double));
                memcpy(d->geom_xpos + 3 * o, pair[o]->at.pos, 3 * sizeof(double));
                memcpy(d->geom_xmat + 9 * o, pair[o]->at.R, 9 * sizeof(double));
                m->geom_rbound[o] = 10;
            }
            mjContact c[mjMAXCONPAIR];
            rule(m, d, c, 0, 1, 0.01);
        }
        least = fmin(least, seconds_computed() - from);
    }
    mj_deleteData(d);
    mj_deleteModel(m);
    return rule != NULL ? least / PAIRS * 1e9 : NAN;
}
#endif

static void pairs_table(void)
{
    static scene s;
    printf("pair                     ns   points  apart   MuJoCo ns\n");
    for (int i = COLLIDE_PLANE; i <= COLLIDE_HULL; i++) {
        for (int j = i > 0 ? i : 1; j <= COLLIDE_HULL; j++) {
            double points, apart, other = NAN;
            throw_pairs(&s, (collide_kind)i, (collide_kind)j);
            double ns = ours(&s, &points, &apart);
#ifdef ZW_HAVE_MUJOCO
            other = theirs(&s);
#endif
            printf("%-9s %-9s %7.0f %8.2f %6.2f", kind_name[i], kind_name[j], ns, points, apart);
            if (other > 0) {
                printf("  %10.0f", other);
            }
            printf("\n");
            for (int k = 0; k < PAIRS; k++) {
                body_free(&s.a[k]);
                body_free(&s.b[k]);
            }
        }
    }
}

/* Balls of one size in a cube, about six neighbours each, moving a little from call to call. */
static void broad_table(void)
{
    printf("\nboxes    ms per update   ns per box   pairs\n");
    for (int n = 1000; n <= 100000; n *= 10) {
        double *lower = allocate(3 * (size_t)n, sizeof *lower);
        double *upper = allocate(3 * (size_t)n, sizeof *upper);
        dice d = dice_of(1);
        double side = math_cbrt((double)n), least = INFINITY;
        const int *pair;
        int bad, found = 0;
        for (int i = 0; i < 3 * n; i++) {
            lower[i] = dice_between(&d, 0, side);
            upper[i] = lower[i] + 0.9;
        }
        collide_broad *broad = collide_broad_new();
        for (int run = 0; run < RUNS; run++) {
            for (int i = 0; i < 3 * n; i++) {
                double move = dice_between(&d, -0.01, 0.01);
                lower[i] += move;
                upper[i] += move;
            }
            double from = seconds_computed();
            collide_broad_update(broad, n, NULL, lower, upper, 1, &bad);
            least = fmin(least, seconds_computed() - from);
            found = collide_broad_pairs(broad, &pair);
        }
        printf("%6d %15.3f %12.1f %7d\n", n, 1e3 * least, 1e9 * least / n, found);
        collide_broad_free(broad);
        free(lower);
        free(upper);
    }
}

static void campaign(collide_kind first, collide_kind second, int pairs)
{
    dice d = dice_of(99);
    double depth = 0, away = 0, plane = 0;
    int overlap = 0, wrong = 0;
    for (int k = 0; k < pairs; k++) {
        body a = body_of(&d, first), b = body_of(&d, second);
        collide_point p[CAPACITY];
        int count = collide_pair(&a.shape, &a.at, &b.shape, &b.at, 10, p, CAPACITY), least = 0;
        for (int i = 1; i < count; i++) {
            least = p[i].gap < p[least].gap ? i : least;
        }
        const collide_point *c = &p[least];
        wrong += count < 1 || !(fabs(gap_along(&a, &b, c->normal) - c->gap) < 1e-8);
        plane = fmax(plane, fabs(gap_along(&a, &b, c->normal) - c->gap));
        if (c->gap > 0) {
            double x[3], y[3];
            for (int i = 0; i < 3; i++) {
                x[i] = c->pos[i] - 0.5 * c->gap * c->normal[i];
                y[i] = c->pos[i] + 0.5 * c->gap * c->normal[i];
            }
            double off = fmax(outside(&a, x), outside(&b, y));
            wrong += !(off < 1e-8);
            away = fmax(away, off);
        } else {
            overlap++;
            double best =
                a.corners > 0 && b.corners > 0 ? polytope_gap(&a, &b) : searched_gap(&a, &b, &d);
            wrong += !(best - c->gap < 1e-8);
            depth = fmax(depth, best - c->gap);
        }
        body_free(&a);
        body_free(&b);
    }
    printf("%-9s %-9s %7d pairs, %d overlap: depth beaten by %.1e, distance off by %.1e, "
           "gap(n) by %.1e; wrong by more than 1e-8: %d\n",
           kind_name[first], kind_name[second], pairs, overlap, depth, away, plane, wrong);
}

int main(int argc, char **argv)
{
    int pairs = argc > 1 ? atoi(argv[1]) : 100000;
    pairs_table();
    putchar('\n');
    broad_table();
    putchar('\n');
    campaign(COLLIDE_BOX, COLLIDE_BOX, pairs);
    campaign(COLLIDE_CYLINDER, COLLIDE_BOX, pairs);
    campaign(COLLIDE_HULL, COLLIDE_HULL, pairs);
    campaign(COLLIDE_CYLINDER, COLLIDE_CYLINDER, pairs);
    campaign(COLLIDE_BOX, COLLIDE_HULL, pairs);
    campaign(COLLIDE_CONE, COLLIDE_HULL, pairs);
    campaign(COLLIDE_ELLIPSOID, COLLIDE_ELLIPSOID, pairs);
    return 0;
}

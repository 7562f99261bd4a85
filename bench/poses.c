/* Special poses that random ones never hit, checked by laws that hold everywhere.
 *
 *     poses               100000 pairs of shapes, flush, touching, concentric, nearly so
 *     poses 5000 17       fewer, with another seed
 *     poses 5000 17 99    pair 99 of these alone, with its points
 *
 * Shapes are from 1e-4 to 1e4 in size and up to 1e6 times as large as the other. The laws are those
 * of test/collide/laws.h. Every line is a pair of kinds: the number of pairs, for each law the
 * largest error relative to the size and the number of errors above 1e-8, and the longest call in
 * microseconds. "deep" are pairs that overlap by more than a tenth of the smaller shape: for those
 * of hulls with very many corners the search for the least overlap is not exhaustive. */
#include "collide/laws.h"
#include "measure.h"

static const char *const kind_name[] = {"plane", "sphere", "capsule", "ellipsoid", "cylinder",
                                        "box",   "cone",   "hull",    "field",     "mesh"};

typedef struct tally {
    double worst[LAWS], slowest;
    int bad[LAWS], pairs;
} tally;

static tally all[2][COLLIDE_KINDS][COLLIDE_KINDS];

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
    collide_point p[LAW_CAPACITY];
    int count = couple_ask(c, p);
    for (int i = 0; i < count; i++) {
        printf("    gap %.9g at %.9g %.9g %.9g along %.9g %.9g %.9g, %x\n", p[i].gap, p[i].pos[0],
               p[i].pos[1], p[i].pos[2], p[i].normal[0], p[i].normal[1], p[i].normal[2],
               p[i].feature);
    }
}

static void check_pair(const couple *c, dice *d, long number, int verbose)
{
    collide_point p[LAW_CAPACITY];
    double error[LAWS], from = seconds_computed();
    couple_ask(c, p);
    double took = seconds_computed() - from;
    double gap = couple_laws(c, d, error);
    int deep = gap < -0.1 * fmin(extent(c->a), extent(c->b));
    int i = (int)c->a->shape.kind, j = (int)c->b->shape.kind;
    tally *t = &all[deep][i < j ? i : j][i < j ? j : i];
    t->pairs++;
    t->slowest = fmax(t->slowest, took);
    for (int l = 0; l < LAWS; l++) {
        t->worst[l] = fmax(t->worst[l], error[l]);
        t->bad[l] += !(error[l] <= 1e-8);
        if (verbose || (getenv("ZW_VERBOSE") != NULL && !(error[l] <= 1e-8))) {
            printf("%s: %s - %s, pair %ld: %.3g of %g, gap %g\n", law_name[l], c->a->name,
                   c->b->name, number, error[l], c->scale, gap);
        }
    }
    if (verbose) {
        print_couple(c);
    }
}

static void run(const zoo *z, long pairs, long seed, long only)
{
    for (long k = 0; k < pairs; k++) {
        dice d = dice_of((uint64_t)(seed * 100000000 + k));
        if (only < 0 || k == only) {
            couple c;
            couple_throw(&c, z, &d);
            check_pair(&c, &d, k, k == only);
            couple_free(&c);
        }
    }
}

int main(int argc, char **argv)
{
    static zoo z;
    long pairs = argc > 1 ? atol(argv[1]) : 100000, seed = argc > 2 ? atol(argv[2]) : 1;
    zoo_open(&z);
    zoo_large(&z);
    run(&z, pairs, seed, argc > 3 ? atol(argv[3]) : -1);
    printf("%-24s %6s", "pair", "pairs");
    for (int l = 0; l < LAWS; l++) {
        printf(" %12s", law_name[l]);
    }
    printf(" longest\n");
    for (int i = 0; i < 2 * COLLIDE_KINDS * COLLIDE_KINDS; i++) {
        int first = i / COLLIDE_KINDS % COLLIDE_KINDS, second = i % COLLIDE_KINDS;
        int deep = i / COLLIDE_KINDS / COLLIDE_KINDS;
        const tally *t = &all[deep][first][second];
        if (t->pairs > 0) {
            printf("%-9s %-9s %4s %6d", kind_name[first], kind_name[second], deep ? "deep" : "",
                   t->pairs);
            for (int l = 0; l < LAWS; l++) {
                printf(" %7.1e %4d", t->worst[l], t->bad[l]);
            }
            printf(" %7.0f\n", 1e6 * t->slowest);
        }
    }
    zoo_close(&z);
    return 0;
}

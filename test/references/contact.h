/* The numbers of the references on contact, and what it takes to compare with them. */
#ifndef ZW_TEST_REFERENCES_CONTACT_H
#define ZW_TEST_REFERENCES_CONTACT_H

#include "references/moving.h"

#include "gauss/reference_data.h"
#include "gauss/solved.h"
#include "scene/touch.h"

#define G 9.81
#define PRECISION 1e-13 /* of runs */
#define TOLERANCE 1e-10
#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

static struct {
    const char *id;
    int numbers, failures;
    double worst; /* error over what is allowed */
    char what[64];
} now;

static void compare(const char *what, double got, double expected)
{
    double ratio = fabs(got - expected) / (TOLERANCE * (1 + fabs(expected)));
    now.numbers++;
    if (!(ratio <= now.worst)) {
        now.worst = ratio;
        snprintf(now.what, sizeof now.what, "%s", what);
    }
    if (!(ratio <= 1)) {
        now.failures++;
        print_error("    %s: %s is %.16g, expected %.16g\n", now.id, what, got, expected);
    }
}

/* A threshold: below it one thing happens, above it another. */
static void decide(const char *what, int got, int expected)
{
    compare(what, got, expected);
}

/* ---- Equations ------------------------------------------------------------------------------ */

static void open_text(moving *m, const char *text, const zw_setting *setting, int count)
{
    const char *failed = moving_open(m, text, "reference.zw", setting, count);
    if (failed) {
        moving_complain(m, now.id, failed);
        fail();
    }
}

static void run_to(moving *m, double time)
{
    const char *failed = moving_run(m, time, PRECISION);
    if (failed) {
        moving_complain(m, now.id, failed);
        fail();
    }
}

static void look(moving *m)
{
    if (zw_forward(m->system, m->state, m->work, NULL, &m->error) != ZW_OK) {
        moving_complain(m, now.id, "look");
        fail();
    }
}

/* ---- Bodies --------------------------------------------------------------------------------- */

static const double steps[] = {0.01, 0.0025};

static touch open_bodies(const char *inner)
{
    static char text[4000];
    touch s;
    snprintf(text, sizeof text, "<mujoco><compiler angle='radian'/>%s</mujoco>", inner);
    if (touch_parse(&s, text, NULL) != ZW_OK) {
        fail_msg("%s: %s", now.id, s.error.text);
    }
    return s;
}

static void move_to(touch *s, double t, double h)
{
    zw_run_options options = {.time = t, .every = t, .step = h, .tolerance = 1e-12};
    if (zw_run(s->system, s->state, s->work, &options, NULL, &s->error) != ZW_OK) {
        fail_msg("%s: %s", now.id, s->error.text);
    }
}

/* Of all points together, on the second body: along the normal and across it. */
static void force_on(touch *s, double force[2])
{
    zw_contact list[16];
    zw_contact_sum sum = {0};
    int count = zw_contacts(s->system, s->state, s->work, list, 16, &s->error);
    assert_true(count > 0 && zw_contact_sums(list, count, &sum, 1) == 1);
    double size = 0;
    for (int i = 0; i < 3; i++) {
        size += sum.force[i] * sum.force[i];
    }
    force[0] = sum.normal;
    force[1] = sqrt(fmax(size - sum.normal * sum.normal, 0));
}

/* ---- Numbers: H01, H02, H04 (H03 and H06 are in gauss/reference_data.h) --------------------- */

#define BOUNCES 12
static const double impact_time[BOUNCES] = {
    0.638550856814101,  1.6602322277166623, 2.4775773244387116, 3.131453401816351,
    3.6545542637184623, 4.0730349532401515, 4.407819504857503,  4.675647146151384,
    4.8899092591864886, 5.061318949614573,  5.19844670195704,   5.308148903831014};
static const double speed_after[BOUNCES] = {
    5.011347124277064,  4.009077699421652,  3.207262159537321,  2.5658097276298566,
    2.0526477821038855, 1.6421182256831084, 1.3136945805464866, 1.0509556644371894,
    0.8407645315497515, 0.6726116252398012, 0.538089300191841,  0.4304714401534728};
static const double apex[BOUNCES] = {1.28,
                                     0.8192,
                                     0.524288,
                                     0.33554432,
                                     0.2147483648,
                                     0.137438953472,
                                     0.08796093022208,
                                     0.0562949953421312,
                                     0.03602879701896397,
                                     0.023058430092136938,
                                     0.014757395258967642,
                                     0.00944473296573929};
static const double ball[][3] = {{0.5, 0.77375, -4.905},
                                 {1, 1.1705310296233942, 1.465531029623394},
                                 {2, 0.7959117066442191, 0.6759558533221095},
                                 {3, 0.3368471368432455, -1.917704287718918},
                                 {4, 0.12375125272800769, -1.336174890817998},
                                 {5, 0.033111931328920804, -0.23922563583079234},
                                 {6, 0, 0}};
static const double zeno = 5.746957711326909;

typedef struct incline {
    double alpha, speed; /* down the slope */
    int sticks;
    double acceleration, friction, x1; /* from rest: with the place after a second */
    double stop_time, stop_x, x2, v2;  /* thrown: with place and speed after two */
} incline;

static const incline inclines[] = {
    {.alpha = 0.3, .sticks = 1, .friction = 2.8990532273477414},
    {.alpha = 0.3,
     .speed = 3,
     .sticks = 1,
     .stop_time = 3.530711249290204,
     .stop_x = 5.296066873935306,
     .x2 = 4.3006256880377265,
     .v2 = 1.3006256880377265},
    {.alpha = 0.5,
     .acceleration = 1.259530560849409,
     .friction = 3.4436339728578225,
     .x1 = 0.6297652804247045},
    {.alpha = 0.5,
     .speed = -3,
     .stop_time = 0.36824281312253715,
     .stop_x = -0.5523642196838058,
     .x2 = 1.124468664240911,
     .v2 = 2.0552480447578243},
    {.alpha = 0.3,
     .speed = -3,
     .sticks = 1,
     .stop_time = 0.45127754796446773,
     .stop_x = -0.6769163219467016,
     .x2 = -0.6769163219467016},
    {.alpha = 0.38, .sticks = 1, .friction = 3.63872980494136},
    {.alpha = 0.381,
     .acceleration = 0.005215467850279631,
     .friction = 3.6426227162829683,
     .x1 = 0.0026077339251398155},
};
static const double slope_limit = 0.3805063771123649;

typedef struct bowl {
    double v0, w0, t_roll, x_roll, v_final;
    double state[4][4]; /* t, x, v, omega */
} bowl;

static const bowl bowls[] = {
    {5.0,
     0.0,
     0.72811999417504,
     3.1205142607501717,
     3.5714285714285716,
     {{0.25, 1.1886875, 4.5095, 11.147727272727273},
      {0.5, 2.25475, 4.019, 22.295454545454547},
      {1, 4.0915142815536, 3.5714285714285716, 32.467532467532465},
      {2, 7.662942852982171, 3.5714285714285716, 32.467532467532465}}},
    {5.0,
     20.0,
     0.4077471967380224,
     1.8756371049949032,
     4.2,
     {{0.25, 1.1886875, 4.5095, 31.147727272727273},
      {0.5, 2.263098878695209, 4.2, 38.18181818181818},
      {1, 4.363098878695209, 4.2, 38.18181818181818},
      {2, 8.56309887869521, 4.2, 38.18181818181818}}},
    {5.0,
     -60.0,
     1.689238386486093,
     5.64688260625351,
     1.6857142857142857,
     {{0.25, 1.1886875, 4.5095, -48.85227272727273},
      {0.5, 2.25475, 4.019, -37.70454545454545},
      {1, 4.019, 3.038, -15.409090909090908},
      {2, 6.170737897605526, 1.6857142857142857, 15.324675324675324}}},
    {2.0,
     60.0,
     0.6698703946410368,
     1.779941334331898,
     3.3142857142857145,
     {{0.25, 0.5613125, 2.4905, 48.85227272727273},
      {0.5, 1.24525, 2.981, 37.70454545454545},
      {1, 2.87408516923589, 3.3142857142857145, 30.12987012987013},
      {2, 6.188370883521604, 3.3142857142857145, 30.12987012987013}}},
    {3.0,
     -100.0,
     2.038735983690112,
     2.038735983690112,
     -1.0,
     {{0.25, 0.6886875, 2.5095, -88.85227272727273},
      {0.5, 1.25475, 2.019, -77.70454545454545},
      {1, 2.019, 1.038, -55.40909090909091},
      {2, 2.076, -0.924, -10.818181818181818}}},
};

#endif

#include "look/sensitivity/number.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/bodies.h"
#include "system/bodies/bodies.h"

/* Steps between the systems, relative to the number. Equations are smooth functions of it, mostly
 * rational ones, on its own scale: at LONG the error of fourth order is 1e-14, and round-off, which
 * counts for as much as terms that cancel are larger than their sum, 1e-12. But shapes of another
 * size may touch with other parts, and the soft law has kinks where rows begin to push: slopes over
 * the inner and the outer places, which differ by 1e-7 where all is smooth, then differ by more
 * than SMOOTH, and SHORT is tried, which few kinks lie within, but which has 128 times the
 * round-off. */
#define LONG 0x1p-12
#define SHORT 0x1p-19
#define SMOOTH 1e-6
#define HERE 0x1p-11 /* of SHORT: nearer than this, 1e-9, a kink is here */

/* Do both have the same coordinates, rows, dry friction and parameters? */
static int is_alike(const zw_system *a, const zw_system *b)
{
    return a->n == b->n && a->nq == b->nq && a->m == b->m && a->shape.params == b->shape.params &&
           a->bodies->dry_count == b->bodies->dry_count;
}

static zw_status make_all(number_systems *to, zw_model *model, const zw_system *like,
                          const char *name, double value, zw_error *error)
{
    zw_status status = ZW_OK;
    for (int k = 0; k < NUMBER_SYSTEMS && status == ZW_OK; k++) {
        double place = to->inward ? to->inward * (k % 4) : number_place[k % 4];
        status = zw_model_set(model, name, value + place * to->step[k / 4], error);
        if (status == ZW_OK) {
            to->system[k] = zw_system_compile(model, NULL, error);
            status = to->system[k] ? ZW_OK : error->status;
        }
        if (status == ZW_OK && !is_alike(to->system[k], like)) {
            status = base_fail(error, ZW_BAD_INPUT,
                               "%.100s changes the structure of the model, not only its numbers%s",
                               name, value == 0 ? "; it may where it is not 0" : "");
        }
    }
    return status;
}

zw_status number_make(number_systems *to, zw_model *model, const zw_system *like, const char *name,
                      zw_error *error)
{
    static const int inward[] = {0, -1, 1}; /* the last one says what is wrong */
    double value = 0;
    *to = (number_systems){0};
    zw_status status = zw_model_get(model, name, &value, error);
    if (status != ZW_OK) {
        return status;
    }
    status = ZW_BAD_INPUT;
    for (int side = 0; side < 3 && status != ZW_OK && status != ZW_NO_MEMORY; side++) {
        number_free(to);
        to->inward = inward[side];
        to->step[0] = LONG * (value != 0 ? fabs(value) : 1);
        to->step[1] = SHORT / LONG * to->step[0];
        status = make_all(to, model, like, name, value, error);
    }
    zw_model_set(model, name, value, NULL);
    return status;
}

void number_free(number_systems *it)
{
    for (int k = 0; k < NUMBER_SYSTEMS; k++) {
        zw_system_free(it->system[k]);
    }
    *it = (number_systems){0};
}

/* ---- Along a way ------------------------------------------------------------------------------
 *
 * Steps are shortened by SHORTER until slopes agree: those over the inner and the outer points as
 * well as asked for, or those of one step and the next to AGREE. (For a smooth function the former
 * differ by the square of the step and the latter by its fourth power; for one with a kink in its
 * slope, such as the drag v |v|, both by the step itself.) Of two steps that agree the longer one
 * has less round-off, unless they differ by more than that, where it is known of each function; if
 * the shorter one is less consistent in itself, round-off dominates it.
 *
 * At a corner of the function right here these slopes agree, and are the mean of those of its
 * sides. What shows it are second differences, which then contain the jump J of the slope:
 *
 *     d(s) = (f(s) - 2 f(0) + f(-s))/s = J + s f2 + O(s^3),      J = 2 d(s) - d(2 s) + O(s^3).
 *
 * So if J is small for no step (of a corner right here, or so near that all of them reach it), or
 * if the function is not there on one side, each side is looked at by itself, by
 *
 *     (-25 f(0) + 48 f(s) - 36 f(2 s) + 16 f(3 s) - 3 f(4 s))/12 s,      error s^4 f5/5,
 *
 * with steps that are shortened as well. Two sides that differ make a kink, and the first one
 * counts; beside a corner it is the one without it. */

#define AGREE 1e-8
#define SWITCHES                                                                                   \
    1e-5          /* the square of a long step is 1e-6: if slopes differ by more, the              \
                     function switches within it, and shorter steps may avoid that */
#define JUMP 1e-7 /* of a slope: what differences can tell from round-off */
#define CLEARLY 8 /* times */
#define SHORTER 16.0
enum { LENGTHS = 4 }; /* of steps to one side */

/* Slopes that are small compared with the largest of all are compared leniently, and round-off does
 * not count. */
static double differs_by(double a, double b, double most, double noise)
{
    return fmax(0, fabs(a - b) - noise) / (fabs(a) + 1e-2 * most + 1e-300);
}

static double largest(size_t count, const double *a)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(a[i]));
    }
    return most;
}

static double difference(size_t count, const double *a, const double *b, double noise)
{
    double most = fmax(largest(count, a), largest(count, b)), off = 0;
    for (size_t i = 0; i < count; i++) {
        off = fmax(off, differs_by(a[i], b[i], most, noise));
    }
    return off;
}

/* Another step: its slopes replace those in `to` if they are better; *apart is the difference of
 * those in `to` (HUGE_VAL: none yet). 0: they are accurate enough. */
static int improve(const number_way *way, double *const y[4], double step, double *apart,
                   double *to)
{
    size_t count = way->count;
    double off = number_apart(count, y, step, way->noise, way->each), differs = 0;
    if (off > *apart) {
        return *apart > SWITCHES;
    }
    double most = *apart < HUGE_VAL ? largest(count, to) : 0;
    int clearly = 0;
    for (size_t i = 0; i < count && *apart < HUGE_VAL; i++) {
        const double f[4] = {y[0][i], y[1][i], y[2][i], y[3][i]};
        double slope = number_slope(f, step), noise = way->each ? way->each[i].noise : HUGE_VAL;
        differs = fmax(differs, differs_by(to[i], slope, most, 0));
        clearly |= fabs(to[i] - slope) > 2 * noise / step;
    }
    if (*apart < HUGE_VAL && differs < AGREE && !clearly) {
        return 0;
    }
    *apart = off;
    return number_slopes(count, y, step, to);
}

/* J, relative to the slopes. */
static double jump_of(size_t count, double *const y[4], const double *y0, double noise)
{
    double most = 0, jump = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fmax(fabs(y[2][i] - y0[i]), fabs(y[1][i] - y0[i])));
    }
    for (size_t i = 0; i < count; i++) {
        double right = y[2][i] - y0[i], left = y[1][i] - y0[i];
        double J = 2 * (right + left) - 0.5 * (y[3][i] - y0[i] + y[0][i] - y0[i]);
        double size = fabs(right) + fabs(left) + 1e-2 * most + 1e-300;
        jump = fmax(jump, fmax(0, fabs(J) - 4 * noise) / size);
    }
    return jump;
}

/* Slopes of one side with one step; y[count] is scratch. */
static int one_side(const number_way *way, double step, double *y, double *to)
{
    static const double of[5] = {-25, 48, -36, 16, -3};
    memset(to, 0, way->count * sizeof *to);
    for (int k = 1; k < 5; k++) {
        if (!way->look(way->user, k * step, y)) {
            return 0;
        }
        for (size_t i = 0; i < way->count; i++) {
            to[i] += of[k] * (y[i] - way->y0[i]) / (12 * step);
        }
    }
    return 1;
}

/* Slopes of a side: the longer one of two steps that agree best. Returns their difference. */
static double best_side(const number_way *way, double step, double *to)
{
    size_t count = way->count;
    double own = HUGE_VAL, *now = way->scratch + count, *last = now + count;
    int known = 0;
    for (int l = 0; l < LENGTHS; l++, step /= SHORTER) {
        double *swap = last;
        last = now;
        now = swap;
        int good = one_side(way, step, way->scratch, now);
        double off = good && known ? difference(count, last, now, 0) : HUGE_VAL;
        if (off < own) {
            own = off;
            memcpy(to, last, count * sizeof *to);
        }
        known = good;
    }
    return own;
}

/* off: what is wrong with the slopes in `to`. */
static int look_aside(const number_way *way, double apart, double off, double *to)
{
    size_t count = way->count;
    double *side[2] = {way->scratch + 3 * count, way->scratch + 4 * count}, own[2];
    for (int k = 0; k < 2; k++) {
        own[k] = best_side(way, k ? -0.5 * way->step : 0.5 * way->step, side[k]);
    }
    int first = own[0] <= CLEARLY * own[1] ? 0 : 1;
    double least = CLEARLY * own[first], noise = way->noise / way->step;
    if (!(least < off) ||
        (apart < HUGE_VAL && difference(count, to, side[first], noise) <= least)) {
        return apart < HUGE_VAL;
    }
    memcpy(to, side[first], count * sizeof *to);
    return own[1 - first] < HUGE_VAL &&
                   difference(count, side[0], side[1], noise) <= fmax(JUMP, least)
               ? 1
               : 2;
}

int number_along(const number_way *way, double *to)
{
    double apart = HUGE_VAL, jump = HUGE_VAL, step = way->step, *y[4];
    int done = 0;
    if (way->inward) {
        return best_side(way, 0.5 * way->inward * way->step, to) < HUGE_VAL;
    }
    for (int tries = 0; tries < way->tries && apart > way->enough && step > 0 && !done;
         tries++, step /= SHORTER) {
        int good = 1;
        for (int k = 0; k < 4 && good; k++) {
            y[k] = way->scratch + (size_t)k * way->count;
            good = way->look(way->user, way->shift + number_place[k] * step, y[k]);
        }
        if (good) {
            jump = way->y0 ? fmin(jump, jump_of(way->count, y, way->y0, way->noise)) : 0;
            done = !improve(way, y, step, &apart, to);
        }
    }
    if (!way->y0 || way->shift != 0 || (apart < HUGE_VAL && jump <= JUMP)) {
        return apart < HUGE_VAL;
    }
    return look_aside(way, apart, fmax(apart, jump), to);
}

static int jumps(size_t count, double *y, const double *y0, double noise)
{
    double *const at[4] = {y, y + count, y + 2 * count, y + 3 * count};
    return jump_of(count, at, y0, noise) > JUMP;
}

/* The value at x of the cubic through f[0] at 0, f[1] at s, f[2] at h, f[3] at 2 h, and its slope
 * at 0. */
static double cubic(double s, double h, const double f[4], double x, double *slope)
{
    const double at[3] = {s, h, 2 * h};
    double value = f[0];
    *slope = 0;
    for (int k = 0; k < 3; k++) {
        double one = at[(k + 1) % 3], two = at[(k + 2) % 3];
        double by = (f[k + 1] - f[0]) / (at[k] * (at[k] - one) * (at[k] - two));
        value += by * x * (x - one) * (x - two);
        *slope += by * one * two;
    }
    return value;
}

/* The slopes to one side, from the cubics. Returns how much these miss the fifth value, which is at
 * twice the short step: round-off, or there is a kink on this side. HUGE_VAL: they are not there.
 */
static double aside(const number_systems *it, int sign, size_t count, number_look *look, void *user,
                    const double *y0, double *y, double *to)
{
    static const int place[2][4] = {{5, 1, 0, 4}, {6, 2, 3, 7}};
    double s = sign * it->step[1], h = sign * it->step[0], missed = 0;
    for (int k = 0; k < 4; k++) {
        if (!look(user, place[sign > 0][k], y + (size_t)k * count)) {
            return HUGE_VAL;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const double f[4] = {y0[i], y[i], y[count + i], y[2 * count + i]};
        missed = fmax(missed, fabs(cubic(s, h, f, 2 * s, &to[i]) - y[3 * count + i]));
    }
    return missed;
}

/* Where the long step meets a kink: slopes to the side that is smooth, which are those of both
 * sides unless the kink is right here, and the other side, which is as smooth, has others. */
static int differ_aside(const number_systems *it, size_t count, number_look *look, void *user,
                        const double *y0, double noise, double *scratch, double *to)
{
    double up = aside(it, 1, count, look, user, y0, scratch, to), off = 0;
    double down = aside(it, -1, count, look, user, y0, scratch, scratch);
    for (size_t i = 0; i < count; i++) {
        off = fmax(off, fabs(to[i] - scratch[i]) * it->step[1]);
    }
    double some = 4 * noise; /* of f(2 s) - 2 f(s) + f(0), which is what all compare */
    double most = fmax(some, HERE * off);
    if (fmax(up, down) <= most) {
        return off <= some ? 1 : 2;
    }
    if (!(up <= most) && down <= most) {
        memcpy(to, scratch, count * sizeof *to);
    }
    return fmin(up, down) <= most;
}

/* At the end of what the number may be. */
static int differ_inward(const number_systems *it, size_t count, number_look *look, void *user,
                         double *scratch, double *to)
{
    static const double weight[4] = {-11, 18, -9, 2}; /* error h^3 f4/4 */
    memset(to, 0, count * sizeof *to);
    for (int k = 0; k < 4; k++) {
        if (!look(user, k, scratch)) {
            return 0;
        }
        for (size_t i = 0; i < count; i++) {
            to[i] += weight[k] * scratch[i] / (6 * it->inward * it->step[0]);
        }
    }
    return 1;
}

/* With the long step or the short one: slopes, if they are less apart than those in `to`. */
static void differ_about(const number_systems *it, int l, size_t count, number_look *look,
                         void *user, double noise, double *scratch, double *apart, double *to)
{
    double *y[4];
    for (int k = 0; k < 4; k++) {
        y[k] = scratch + (size_t)k * count;
        if (!look(user, 4 * l + k, y[k])) {
            return;
        }
    }
    double off = number_apart(count, y, it->step[l], noise, NULL);
    if (off < *apart) {
        *apart = off;
        number_slopes(count, y, it->step[l], to);
    }
}

int number_differ(const number_systems *it, size_t count, number_look *look, void *user,
                  const double *y0, double noise, double *scratch, double *to)
{
    double apart = HUGE_VAL;
    if (it->inward) {
        return differ_inward(it, count, look, user, scratch, to);
    }
    differ_about(it, 0, count, look, user, 0, scratch, &apart, to);
    if (apart <= SMOOTH && !(y0 && jumps(count, scratch, y0, noise))) {
        return 1;
    }
    int kinks = y0 ? differ_aside(it, count, look, user, y0, noise, scratch, to) : 0;
    if (kinks) {
        return kinks;
    }
    apart = y0 ? HUGE_VAL : apart; /* the slopes of the long step are not there any more */
    differ_about(it, 1, count, look, user, noise, scratch, &apart, to);
    if (y0 && apart < HUGE_VAL && (apart > SMOOTH || jumps(count, scratch, y0, noise))) {
        for (size_t i = 0; i < count; i++) { /* kinks on both sides: with a bit more of it */
            to[i] = (scratch[2 * count + i] - y0[i]) / it->step[1];
        }
        return 2;
    }
    return apart < HUGE_VAL;
}

/* Impedance and reference of a soft row, and the law of two geoms.
 *
 * Impedance. imp = (d0, d1, width, middle, power): d goes from d0 at r = 0 to d1 at |r| = width,
 * along y(x) of x = |r|/width, which consists of two powers that join at the middle with the same
 * slope:
 *
 *     y = x^p / m^(p-1)                x <= m
 *     y = 1 - (1-x)^p / (1-m)^(p-1)    x >= m
 *
 * Spring. ref = (tau, zeta) > 0 are the time constant and damping ratio of the row at full
 * impedance d1: B = 2/(d1 tau), K = 1/(d1 tau zeta)^2, so that where d = d1 the row has r'' + 2/tau
 * r' + r/(tau zeta)^2 = 0 after its force has been scaled by d. Negative numbers are the stiffness
 * and damping themselves: K = -ref0/d1^2, B = -ref1/d1. */
#include "system/soft/soft.h"

#include <math.h>

#include "math/elementary.h"

static double between(double low, double x, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Impedances of 0 and 1 are excluded: R would be infinite, or the row rigid. */
static double clamp_impedance(double d)
{
    return between(0.0001, d, 0.9999);
}

double soft_impedance(const double imp[5], double r)
{
    double d0 = clamp_impedance(imp[0]), d1 = clamp_impedance(imp[1]),
           middle = clamp_impedance(imp[3]);
    double power = fmax(1, imp[4]), y;
    if (d0 == d1 || !(imp[2] > SOFT_LEAST)) {
        return 0.5 * (d0 + d1);
    }
    double x = fabs(r) / imp[2];
    if (x >= 1 || x <= 0) {
        return x >= 1 ? d1 : d0;
    }
    if (power == 1) {
        y = x;
    } else if (power == 2) { /* the default */
        y = x <= middle ? x * x / middle : 1 - (1 - x) * (1 - x) / (1 - middle);
    } else if (x <= middle) {
        y = math_pow(x, power) / math_pow(middle, power - 1);
    } else {
        y = 1 - math_pow(1 - x, power) / math_pow(1 - middle, power - 1);
    }
    return d0 + y * (d1 - d0);
}

double soft_impedance_slope(const double imp[5], double r)
{
    double d0 = clamp_impedance(imp[0]), d1 = clamp_impedance(imp[1]),
           middle = clamp_impedance(imp[3]);
    double power = fmax(1, imp[4]), x = fabs(r) / imp[2];
    if (d0 == d1 || !(imp[2] > SOFT_LEAST) || x >= 1 || r == 0) {
        return 0;
    }
    double y = power == 1    ? 1
               : x <= middle ? power * math_pow(x / middle, power - 1)
                             : power * math_pow((1 - x) / (1 - middle), power - 1);
    return (r > 0 ? 1 : -1) * y * (d1 - d0) / imp[2];
}

soft_spring soft_spring_of(const zw_soft *law, double h)
{
    double d1 = clamp_impedance(law->imp[1]), tau = law->ref[0], zeta = law->ref[1];
    tau = tau > 0 ? fmax(tau, 2 * h) : tau;
    return (soft_spring){
        .K = tau > 0 ? 1 / fmax(SOFT_LEAST, d1 * d1 * tau * tau * zeta * zeta)
                     : -tau / fmax(SOFT_LEAST, d1 * d1),
        .B = zeta > 0 ? 2 / fmax(SOFT_LEAST, d1 * tau) : -zeta / fmax(SOFT_LEAST, d1),
    };
}

zw_soft soft_mix(const zw_geom_def *a, const zw_geom_def *b)
{
    zw_soft law;
    if (a->priority != b->priority) {
        return a->priority > b->priority ? a->soft : b->soft;
    }
    double part = 0.5;
    if (a->solmix >= SOFT_LEAST || b->solmix >= SOFT_LEAST) {
        part = a->solmix < SOFT_LEAST   ? 0
               : b->solmix < SOFT_LEAST ? 1
                                        : a->solmix / (a->solmix + b->solmix);
    }
    int times = a->soft.ref[0] > 0 && b->soft.ref[0] > 0;
    for (int k = 0; k < 2; k++) {
        double x = a->soft.ref[k], y = b->soft.ref[k];
        law.ref[k] = times ? part * x + (1 - part) * y : fmin(x, y);
    }
    for (int k = 0; k < 5; k++) {
        law.imp[k] = part * a->soft.imp[k] + (1 - part) * b->soft.imp[k];
    }
    return law;
}

/* Functions of time whose derivatives can take arbitrary values at the samples, with no further
 * freedom than a constant.
 *
 * B-splines of even degree d with knots at the samples: the derivative is a spline of odd degree d
 * - 1 with knots at the samples, for which interpolation is well posed (for even degree it is not:
 * with coefficients of alternating sign the spline vanishes at all knots). The d - 2 knots next to
 * the ends are left out ("not a knot"), so that there is one function more than there are samples:
 * one for each derivative, and a constant. d = 8 leaves an error of (step / period)^8 or so in the
 * derivative of a wave: 1e-16 at a hundred samples for a period, 1e-10 at twenty.
 *
 * Samples much closer together than their neighbours (an event between two frames) do not all
 * become knots, since splines on such knots oscillate. A few samples alone are interpolated by one
 * polynomial. */
#include "path/fit/spline.h"

long spline_knots(long samples)
{
    return samples + 2 * SPLINE_DEGREE + 2;
}

enum { NEAR = 4 }; /* samples on each side that define the usual distance */

/* Is sample i far enough from the last knot? At least a quarter of the usual distance here. */
static int is_knot(long samples, const double *t, long i, double last)
{
    long from = i > NEAR ? i - NEAR : 0, to = i + NEAR < samples ? i + NEAR : samples - 1;
    return (t[i] - last) * (double)(to - from) > 0.25 * (t[to] - t[from]);
}

void spline_make(path_spline *spline, int degree, long samples, const double *t)
{
    int few = samples < degree;
    degree = few ? (int)samples : degree;
    long skip = degree > 1 ? (degree - 2) / 2 : 0, count = 0;
    double last = t[0], length = t[samples - 1] - t[0];
    length = length > 0 ? length : 1;
    for (int k = 0; k <= degree; k++) {
        spline->knot[count++] = 0;
    }
    for (long i = 1 + skip; !few && i < samples - 1 - skip; i++) {
        if (is_knot(samples, t, i, last)) {
            spline->knot[count++] = t[i] - t[0];
            last = t[i];
        }
    }
    for (int k = 0; k <= degree; k++) {
        spline->knot[count++] = length;
    }
    spline->degree = degree;
    spline->samples = samples;
    spline->size = count - degree - 1;
    spline->start = t[0];
    long span = degree;
    for (long i = 0; i < samples; i++) {
        while (span + 1 < spline->size && spline->knot[span + 1] <= t[i] - t[0]) {
            span++;
        }
        spline->first[i] = span - degree;
    }
}

/* De Boor's recurrence over the degrees; the last step gives the derivatives too. */
void spline_at(const path_spline *spline, long i, double t, double value[SPLINE_DEGREE + 1],
               double rate[SPLINE_DEGREE + 1])
{
    int degree = spline->degree;
    const double *knot = spline->knot + spline->first[i] + degree; /* of the span */
    double x = t - spline->start;
    value[0] = 1;
    for (int d = 1; d <= degree; d++) {
        double carry = 0, slope = 0;
        for (int k = 0; k < d; k++) {
            double right = knot[k + 1], left = knot[k + 1 - d];
            double share = value[k] / (right - left);
            value[k] = carry + (right - x) * share;
            carry = (x - left) * share;
            rate[k] = d * (slope - share);
            slope = share;
        }
        value[d] = carry;
        rate[d] = d * slope;
    }
}

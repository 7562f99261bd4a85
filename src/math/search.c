#include "math/search.h"

#include <math.h>

enum { LIMIT = 30 };

bracket bracket_start(double f0)
{
    return (bracket){.t = 1.0, .start = f0, .at_low = f0};
}

int bracket_next(bracket *b, double f)
{
    if (fabs(f) <= 0.05 * fabs(b->start) || ++b->tries >= LIMIT) {
        return 0;
    }
    if (f < 0.0) {
        b->low = b->t;
        b->at_low = f;
    } else {
        b->high = b->t;
        b->at_high = f;
    }
    if (b->high == 0.0) {
        b->t *= 2.0;
        return 1;
    }
    /* the secant, kept off the ends so that the bracket shrinks from both sides */
    double middle = b->low + (b->high - b->low) * b->at_low / (b->at_low - b->at_high);
    double edge = 0.1 * (b->high - b->low);
    b->t = fmin(fmax(middle, b->low + edge), b->high - edge);
    return 1;
}

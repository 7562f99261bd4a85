#include "record/axis.h"

#include "record/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond these sizes differences would overflow or steps underflow. */
#define AXIS_LARGE 1e300
#define AXIS_SMALL 1e-290

static double tame(double value)
{
    return value > AXIS_LARGE         ? AXIS_LARGE
           : value < -AXIS_LARGE      ? -AXIS_LARGE
           : fabs(value) < AXIS_SMALL ? 0
                                      : value;
}

/* 1, 2 or 5 times a power of ten, at least `least`. */
static double nice_step(double least)
{
    double power = pow(10, floor(log10(least)));
    double digit = least / power;
    return power * (digit <= 1.000001 ? 1 : digit <= 2.000001 ? 2 : digit <= 5.000001 ? 5 : 10);
}

/* Ticks at multiples of the step; their labels share a power of ten if they are large or small. */
static void set_ticks(record_axis *axis, int wanted)
{
    double length = axis->high - axis->low;
    axis->step = nice_step(length / wanted);
    if (axis->log && axis->step < 1) {
        axis->step = 1;
    }
    double first = ceil(axis->low / axis->step - 1e-9);
    axis->tick_count = 0;
    for (int i = 0; i < RECORD_TICKS; i++) {
        double tick = (first + i) * axis->step;
        if (!(tick <= axis->high + 1e-9 * length)) {
            break;
        }
        axis->tick[axis->tick_count++] = tick;
    }
    double size = fmax(fabs(axis->low), fabs(axis->high));
    int exponent = (int)floor(log10(size));
    axis->factor = !axis->log && (exponent >= 5 || exponent < -2) ? exponent : 0;
}

static void log_range(record_axis *axis, double low, double high)
{
    /* Data that are all zero have no decade of their own; 1e-16 is about the size of round-off. */
    axis->zero = !(high > 0);
    high = axis->zero ? 1e-16 : high;
    low = low > 0 && low < high ? low : high;
    axis->high = ceil(log10(high) - 1e-9);
    axis->low = fmax(floor(log10(low) + 1e-9), axis->high - 20);
    if (axis->high - axis->low < 2) {
        axis->low = axis->high - 2;
    }
}

void record_axis_make(record_axis *axis, double low, double high, bool log, double margin,
                      int wanted)
{
    memset(axis, 0, sizeof *axis);
    axis->log = log;
    const bool zeros = log && high == 0; /* there are data, but all are zero */
    if (!(low <= high) && !zeros) {
        low = log ? 1e-16 : 0;
        high = 1;
    }
    low = tame(low);
    high = tame(high);
    if (log) {
        log_range(axis, low, high);
    } else {
        /* Values that differ only by round-off are drawn as a constant. */
        double size = fmax(fabs(low), fabs(high));
        if (high - low <= 1e-12 * size) {
            double border = size > 0 ? 0.1 * size : 1;
            low -= border;
            high += border;
        }
        axis->low = low - margin * (high - low);
        axis->high = high + margin * (high - low);
    }
    set_ticks(axis, wanted);
}

void record_axis_equalise(record_axis *x, record_axis *y, double width, double height, int wanted)
{
    double unit = fmax((x->high - x->low) / width, (y->high - y->low) / height);
    double half_x = unit * width / 2, half_y = unit * height / 2;
    double middle_x = (x->low + x->high) / 2, middle_y = (y->low + y->high) / 2;
    x->low = middle_x - half_x;
    x->high = middle_x + half_x;
    y->low = middle_y - half_y;
    y->high = middle_y + half_y;
    set_ticks(x, wanted);
    set_ticks(y, wanted);
}

double record_axis_place(const record_axis *axis, double value)
{
    if (!isfinite(value)) {
        return NAN;
    }
    if (axis->log && value == 0) {
        return axis->zero ? 0 : (double)NAN;
    }
    if (axis->log) {
        value = fmax(log10(fabs(value)), axis->low);
    } else {
        value = tame(value);
    }
    return (value - axis->low) / (axis->high - axis->low);
}

static void superscript(char *text, size_t room, int number)
{
    static const char *digit[] = {"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",
                                  "\xe2\x81\xb4", "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7",
                                  "\xe2\x81\xb8", "\xe2\x81\xb9"};
    char plain[16];
    snprintf(plain, sizeof plain, "%d", number);
    text[0] = '\0';
    for (const char *c = plain; *c != '\0'; c++) {
        const char *piece = *c == '-' ? "\xe2\x81\xbb" : digit[*c - '0'];
        if (strlen(text) + strlen(piece) < room) {
            strcat(text, piece);
        }
    }
}

void record_axis_label(const record_axis *axis, double tick, char *text, size_t room)
{
    char piece[48];
    if (axis->log) {
        superscript(piece, sizeof piece, (int)tick);
        snprintf(text, room, "10%s", piece);
        return;
    }
    /* As many decimals as are needed to distinguish neighbouring ticks. */
    int decimals = axis->factor - (int)floor(log10(axis->step * 1.000001));
    decimals = decimals < 0 ? 0 : decimals > 15 ? 15 : decimals;
    double value = fabs(tick) < 1e-9 * axis->step ? 0 : tick / pow(10, axis->factor);
    record_fixed_text(piece, sizeof piece, value, decimals);
    const char *number = piece[0] == '-' ? piece + 1 : piece;
    snprintf(text, room, "%s%s", piece[0] == '-' ? "\xe2\x88\x92" : "", number);
}

void record_axis_factor_text(const record_axis *axis, char *text, size_t room)
{
    char piece[48];
    text[0] = '\0';
    if (axis->factor != 0) {
        superscript(piece, sizeof piece, axis->factor);
        snprintf(text, room,
                 "\xc3\x97"
                 "10%s",
                 piece);
    }
}

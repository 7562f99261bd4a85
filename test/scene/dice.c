#include "dice.h"

#include <math.h>

static uint64_t split(uint64_t *x)
{
    *x += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *x;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

dice dice_of(uint64_t seed)
{
    dice d;
    for (int i = 0; i < 4; i++)
        d.state[i] = split(&seed);
    return d;
}

uint64_t dice_bits(dice *d)
{
    uint64_t *s = d->state;
    uint64_t bits = rotate(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return bits;
}

static double unit(dice *d)
{
    return (double)(dice_bits(d) >> 11) / 9007199254740992.0; /* 2^53 */
}

double dice_between(dice *d, double low, double high)
{
    return low + (high - low) * unit(d);
}

int dice_int(dice *d, int low, int high)
{
    if (high <= low)
        return low;
    int x = low + (int)((double)(high - low + 1) * unit(d));
    return x > high ? high : x;
}

int dice_chance(dice *d, double probability)
{
    return unit(d) < probability;
}

/* The sum of twelve uniform numbers less six: near enough to a normal one, and without a log. */
double dice_bell(dice *d)
{
    double sum = -6.0;
    for (int i = 0; i < 6; i++) {
        uint64_t bits = dice_bits(d);
        sum += (double)(bits >> 32) / 4294967296.0 + (double)(bits & 0xFFFFFFFFu) / 4294967296.0;
    }
    return sum;
}

/* 10^x by its binary fraction: 10^(1/2), 10^(1/4), ... are square roots of each other. */
double power_of_ten(double x)
{
    double y = x < 0 ? -x : x, power = 1.0, root = 10.0, weight = 1.0;
    while (y >= 1.0) {
        power *= 10.0;
        y -= 1.0;
    }
    for (int bit = 0; bit < 24; bit++) {
        root = sqrt(root);
        weight /= 2;
        if (y >= weight) {
            power *= root;
            y -= weight;
        }
    }
    return x < 0 ? 1.0 / power : power;
}

double dice_power(dice *d, double low, double high)
{
    return power_of_ten(dice_between(d, low, high));
}

double dice_sign(dice *d, double x)
{
    return dice_bits(d) >> 63 ? x : -x;
}

void dice_direction(dice *d, double v[3])
{
    double length = 0;
    while (length < 0.1 || length > 1.0) {
        length = 0;
        for (int i = 0; i < 3; i++) {
            v[i] = dice_between(d, -1, 1);
            length += v[i] * v[i];
        }
        length = sqrt(length);
    }
    for (int i = 0; i < 3; i++)
        v[i] /= length;
}

/* A small seeded generator of numbers (xoshiro256** started by splitmix64): the same bits on every
 * machine, because it needs nothing but integers, + - * / and sqrt. C leaves the order of calls in
 * one expression open: ask the dice once in each. */
#ifndef ZWANG_TEST_SCENE_DICE_H
#define ZWANG_TEST_SCENE_DICE_H

#include <stdint.h>

typedef struct dice {
    uint64_t state[4];
} dice;

dice dice_of(uint64_t seed);
uint64_t dice_bits(dice *d);
double dice_between(dice *d, double low, double high); /* uniform in [low, high) */
int dice_int(dice *d, int low, int high);              /* uniform in low .. high, both included */
int dice_chance(dice *d, double probability);          /* 1 with this probability */
double dice_bell(dice *d);                             /* mean 0, variance 1, bounded by 6 */
double dice_power(dice *d, double low, double high);   /* 10^x, x uniform in [low, high) */
double dice_sign(dice *d, double x);                   /* x or -x */
void dice_direction(dice *d, double v[3]);             /* a random unit vector */

double power_of_ten(double x);

#endif

/* The constants of elementary.lane.h, made by tools/elementary-coefficients. The error of a
 * polynomial is relative to the function that it serves. */

#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define LOG2_E 0x1.71547652b82fep+0
#define HALF_PI_1 0x1.921fb54400000p+0
#define HALF_PI_2 0x1.0b4611a626331p-34
#define PI_4_1 0x1.921fb54442d18p-1
#define PI_4_2 0x1.1a62633145c07p-55
#define LN2_1 0x1.62e42fefa3800p-1
#define LN2_2 0x1.ef35793c76730p-45
#define TWO_THIRDS_1 0x1.5555555555555p-1
#define TWO_THIRDS_2 0x1.5555555555555p-55
#define LOG_LOW_1 -0x1.269621134e000p-2
#define LOG_LOW_2 0x1.1b61f10522625p-44
#define LOG_HIGH_1 0x1.1675cababa000p-2
#define LOG_HIGH_2 0x1.8380e731f55c4p-44
#define CBRT_2 0x1.428a2f98d728bp+0
#define CBRT_HALF 0x1.965fea53d6e3dp-1

/* error 2^-57.3 */
static const double SIN[7] = {-0x1.5555555555555p-3, 0x1.1111111111110p-7,   -0x1.a01a01a01992fp-13,
                              0x1.71de3a545f836p-19, -0x1.ae645410e937bp-26, 0x1.61217d9252c03p-33,
                              -0x1.ab16f5caa198ap-41};

/* error 2^-59.6 */
static const double COS[6] = {0x1.5555555555555p-5,  -0x1.6c16c16c16963p-10,
                              0x1.a01a019f4ddfdp-16, -0x1.27e4fa16cc2d1p-22,
                              0x1.1eeb67d026ec6p-29, -0x1.907cd8ff5ede7p-37};

/* error 2^-58.8 */
static const double SINH[5] = {0x1.5555555555556p-3, 0x1.11111111109adp-7, 0x1.a01a01a7c8d41p-13,
                               0x1.71de0d9c15d41p-19, 0x1.af38d534dc1c4p-26};

/* error 2^-64.1 */
static const double COSH[5] = {0x1.5555555555555p-5, 0x1.6c16c16c167dep-10, 0x1.a01a01a47db6bp-16,
                               0x1.27e4e1ea1029ep-22, 0x1.1f66f85bfcfc3p-29};

/* error 2^-60.7 */
static const double LOG[8] = {0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476cccp-2,
                              0x1.c71c720159177p-3, 0x1.745cf9048dd95p-3, 0x1.3b1c355a8f7a2p-3,
                              0x1.0fbe95d716020p-3, 0x1.0c039c49989c6p-3};

/* error 2^-71.1 */
static const double LOG_TAIL[6] = {0x1.999999999999ap-2, 0x1.2492492492654p-2,
                                   0x1.c71c71c55a69ep-3, 0x1.745d1c6c22a65p-3,
                                   0x1.3b0ce0d5abc40p-3, 0x1.15372d42a9486p-3};

/* error 2^-58.6 */
static const double ASIN[14] = {0x1.5555555555555p-3,  0x1.3333333333388p-4, 0x1.6db6db6dac1e0p-5,
                                0x1.f1c71c7a52ba3p-6,  0x1.6e8ba123e494cp-6, 0x1.1c4efce23019fp-6,
                                0x1.c990ad3d8fdcap-7,  0x1.7b027ee1dd585p-7, 0x1.3b49de7121487p-7,
                                0x1.31622469ce5adp-7,  0x1.8f193743418ffp-9, 0x1.406192d124629p-6,
                                -0x1.3b416bb7d9257p-6, 0x1.e529c6fce9bb4p-6};

/* error 2^-58.3 */
static const double ATAN[12] = {-0x1.5555555555555p-2, 0x1.9999999999952p-3,  -0x1.249249248d739p-3,
                                0x1.c71c71c2fc236p-4,  -0x1.745d165c497f3p-4, 0x1.3b1392a9c2d8bp-4,
                                -0x1.110e84aa36d9dp-4, 0x1.e199c62156609p-5,  -0x1.ac7858539e493p-5,
                                0x1.74d3a7b43351ap-5,  -0x1.1b1992aa413c9p-5, 0x1.0a997ba33c1dbp-6};

/* error 2^-16.3 */
static const double CBRT[5] = {0x1.d093b879adecep-2, 0x1.cb216702c91b8p-1, -0x1.0c2b25ead282dp-1,
                               0x1.acbd9f5c005f9p-3, -0x1.26e9dff4b8569p-5};

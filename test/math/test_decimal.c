/* Decimal numbers: the bits that strtod gives, in every locale. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/decimal.h"
#include "scene/dice.h"

static void same_as_strtod(const char *text)
{
    double value = NAN, wanted = strtod(text, NULL);
    int used = math_decimal(text, text + strlen(text), &value);
    if (used != (int)strlen(text) || memcmp(&value, &wanted, sizeof value) != 0) {
        print_error("%s: %.17g, not %.17g\n", text, value, wanted);
    }
    assert_int_equal(used, strlen(text));
    assert_memory_equal(&value, &wanted, sizeof value);
}

/* strtod rounds rightly, and so must we: at all sizes, with all lengths, halfway between doubles.
 */
static void numbers_have_the_bits_of_strtod(void **state)
{
    (void)state;
    static const char *const odd[] = {"0",
                                      "-0",
                                      "+1",
                                      ".5",
                                      "5.",
                                      "00012",
                                      "1e5",
                                      "1E-5",
                                      "1e+05",
                                      "9007199254740993",
                                      "9007199254740992.5",
                                      "9007199254740993.0000000000000000001",
                                      "18446744073709551615",
                                      "9999999999999999999e27",
                                      "9999999999999999999e-27",
                                      "1e22",
                                      "1e23",
                                      "4503599627370497.5",
                                      "1e-27",
                                      "1e-28",
                                      "1.7976931348623157e308",
                                      "4.9e-324",
                                      "2.2250738585072011e-308",
                                      "0.000000000000000000000000000000000000000000000000000001",
                                      "100000000000000000000000000000000000000000000000000000",
                                      "inf",
                                      "-Infinity"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        same_as_strtod(odd[i]);
    }
    dice d = dice_of(1);
    for (int i = 0; i < 300000; i++) {
        char text[64];
        uint64_t bits = dice_bits(&d);
        double any;
        memcpy(&any, &bits, sizeof any);
        if (!isfinite(any)) {
            continue;
        }
        double usual = ldexp((double)(int64_t)bits, -60);
        snprintf(text, sizeof text, "%.*g", i % 21 + 1, i % 2 ? any : usual);
        same_as_strtod(text);
        unsigned long long m = (bits >> 11 | (uint64_t)1 << 52) * 2 + 1; /* halfway */
        snprintf(text, sizeof text, "%llu", m);
        same_as_strtod(text);
        snprintf(text, sizeof text, "%llu.%s", m / 2, i % 2 ? "5" : "25");
        same_as_strtod(text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)bits, i % 60 - 30);
        same_as_strtod(text);
    }
}

/* All digits of what lies halfway between two doubles, and a little to either side. */
static void halfway_to_the_last_digit(void **state)
{
    (void)state;
    dice d = dice_of(2);
    for (int i = 0; i < 3000; i++) {
        char text[1200];
        int power = i % 3 == 0 ? -1074 + i % 60 : (int)(dice_bits(&d) % 1900) - 960;
        long double half = (long double)(dice_bits(&d) >> (i % 3 == 0 ? 20 + i % 43 : 11)) + 0.5L;
        snprintf(text, sizeof text, "%.*Le", 380, ldexpl(half, power));
        same_as_strtod(text);
        text[100 + i % 250] ^= 1; /* another digit */
        same_as_strtod(text);
    }
    same_as_strtod("2.4703282292062327208e-324"); /* half of the least, and more */
    same_as_strtod("2.4703282292062327e-324");
    same_as_strtod("1.7976931348623158079e308");
    same_as_strtod("1.7976931348623158080e308");
    same_as_strtod("1e99999999999");
    same_as_strtod("1e-99999999999");
}

static void what_is_no_number(void **state)
{
    (void)state;
    static const char *const none[] = {"", "-", ".", "e5", "+-1", "x", "--1", "na", "-e", "."};
    double value;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(math_decimal(none[i], none[i] + strlen(none[i]), &value), 0);
    }
    const char *text = "1.5e+x";
    assert_int_equal(math_decimal(text, text + 6, &value), 3);
    assert_int_equal(math_decimal(text, text + 2, &value), 2); /* no byte beyond the end */
    assert_true(value == 1);
}

/* A program may have set the locale of a country with decimal commas. */
static void the_locale_does_not_matter(void **state)
{
    (void)state;
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    int found = 0;
    for (size_t i = 0; i < sizeof comma / sizeof *comma && !found; i++) {
        found = setlocale(LC_NUMERIC, comma[i]) != NULL;
    }
    double value = 0;
    const char *text = "1.5e-200";
    assert_int_equal(math_decimal(text, text + 8, &value), 8);
    setlocale(LC_NUMERIC, "C");
    assert_true(value == 1.5e-200);
    if (!found) {
        print_message("no locale with a decimal comma is installed\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_the_bits_of_strtod),
        cmocka_unit_test(halfway_to_the_last_digit),
        cmocka_unit_test(what_is_no_number),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Decimal numbers as text: the same in every locale. */
#ifndef ZW_MATH_DECIMAL_H
#define ZW_MATH_DECIMAL_H

enum { MATH_DECIMAL_LONGEST = 400 };

/* The number at the beginning of the text, correctly rounded, and how many characters it has: a
 * sign, digits with a point among them, an exponent; or inf, infinity, nan in any case. 0: there is
 * none, or one of more than 400 characters that needs all of them. */
int math_decimal(const char *text, const char *end, double *value);

#endif

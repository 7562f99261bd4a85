/* Grey pictures in PNG files: heights. */
#ifndef ZW_READ_PNG_H
#define ZW_READ_PNG_H

#include <stddef.h>

/* Does this begin like a PNG file? */
int read_png_is(const char *bytes, size_t length);

/* How many columns and rows it says it has. 0: it does not, and why. */
int read_png_size(const char *bytes, size_t length, long long *columns, long long *rows,
                  char why[200]);

/* The greys, from 0 to 2^bits - 1, row by row from the top; all of them, however many bits they
 * have. Of colours the red is taken, as MuJoCo does. 1; 0: why not; -1: no memory. */
int read_png_grey(const char *bytes, size_t length, double *grey, char why[200]);

#endif

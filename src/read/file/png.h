/* Greyscale images in PNG files, for height fields. */
#ifndef ZW_READ_PNG_H
#define ZW_READ_PNG_H

#include <stddef.h>

/* Does it start with the signature of a PNG file? */
int read_png_is(const char *bytes, size_t length);

/* The numbers of columns and rows in the header. 0: it is damaged, with the reason. */
int read_png_size(const char *bytes, size_t length, long long *columns, long long *rows,
                  char why[200]);

/* The grey values, from 0 to 2^bits - 1 with all their bits, row by row from the top. Of colours
 * the red component is used, as in MuJoCo. 1: read; 0: not, with the reason; -1: no memory. */
int read_png_grey(const char *bytes, size_t length, double *grey, char why[200]);

#endif

/* The numbers of augment_newton.c, where they are explained, for one world and for eight. */
#ifndef ZW_GAUSS_AUGMENT_NUMBERS_H
#define ZW_GAUSS_AUGMENT_NUMBERS_H

enum { SWEEPS = 10 };                    /* before the first step */
enum { TRIES = 4, AGAIN = 100 };         /* beginning again: how often, and sweeps before it */
enum { MOST = 48, CALM = 12, TURN = 6 }; /* steps: at most; all by z; by a mean, or by z again */
#define MEAN 0.6                         /* of z and the one before: the share of z */
#define STIFF 1e3                        /* rho G while modes change, */
#define STIFFEST 1e6                     /* and where they do not, */
#define SLOWLY 10.0                      /* or so much stiffer each time */
#define CLOSE 1e-10 /* residual of the law relative to the largest speed of a row, */
#define FAIR 1e-6   /* or where more steps do not reduce it */

#endif

/* What augment.h has for one width of lanes. */

/* A point of contact or a limit, in those worlds that have it. */
typedef struct LANE(augment_block) {
    int width; /* rows: 1, or 3 with friction */
    int columns;
    const int *column; /* rising */
    const zw_real *J;  /* [width][columns] */
    int is_straight;   /* all columns are on one way to the root */
    double mu;
    zw_real b;  /* of the normal row */
    zw_mask on; /* worlds that have it */

    /* The solver's */
    int any, slips;         /* it pushes, slides in some world */
    zw_real G, natural;     /* speed by a unit impulse, about; 1/G */
    zw_real w0[3], w[3];    /* J v0, J (u - v0) */
    zw_real lambda[3];      /* multipliers after a step */
    zw_real then[3];        /* in the law */
    zw_real z[3];           /* by which modes were decided */
    zw_real found[3];       /* the answer */
    zw_real t[2], turn;     /* of what slides: where it is pushed to, and how that turns */
    zw_real C[9], rest[3];  /* multipliers are rest - C w near w */
    zw_mask closed, slides; /* modes at w */
} LANE(augment_block);

typedef struct LANE(augment) {
    int n;
    const paths_shape *straight; /* the pattern of H: the ways of the tree */
    const zw_real *H;            /* in that shape; without friction and contacts */
    const zw_real *r, *v0;       /* [n] */
    double falling;              /* m/s: what weight gives in a step */
    zw_mask good;                /* worlds that there are; in the end those that are solved */

    int blocks;
    LANE(augment_block) * block;
    int actives, *active; /* [blocks] those that some world on its way has */

    zw_real *x;             /* [n] u - v0 */
    zw_real *to;            /* [n] of the next iterate */
    zw_real *lower, *upper; /* [n (n + 1)/2 + 4 n] */
    paths_shape shape;
    int *parent, *depth, *start, *run; /* [n], [n], [n], [n + 1] of shape, where it is bent */
    int *level;                        /* [n] */

    int iterations;
    zw_mask live;         /* worlds on their way */
    zw_real fastest;      /* |w0|, the largest of all rows */
    zw_real stiff;        /* rho G, */
    zw_mask careful;      /* which grows slowly */
    zw_real before, best; /* what is left of the law: of the last step, and of x */
    zw_real certificate;
} LANE(augment);

/* u - v0 in x, and the multipliers: these three in turn, the second with 0, or with some that are
 * left for later. */
void LANE(augment_begin)(LANE(augment) * s);
void LANE(augment_go_on)(LANE(augment) * s, int few);
void LANE(augment_end)(LANE(augment) * s);

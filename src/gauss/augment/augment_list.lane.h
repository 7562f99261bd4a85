/* The types of augment.h for one width of lanes. */

/* A contact point or a limit, in those worlds that have it. */
typedef struct LANE(augment_block) {
    int width; /* rows: 1, or 3 with friction */
    int columns;
    const int *column; /* ascending */
    const zw_real *J;  /* [width][columns] */
    int is_straight;   /* all columns are on one path to the root */
    double mu;
    zw_real b;  /* of the normal row */
    zw_mask on; /* worlds that have it */

    /* Used by the solver */
    int any, slips;         /* it is closed, slides in some world */
    zw_real G, natural;     /* approximate speed by a unit impulse; 1/G */
    zw_real w0[3], w[3];    /* J v0, J (u - v0) */
    zw_real lambda[3];      /* multipliers after a step */
    zw_real then[3];        /* projected onto the law */
    zw_real z[3];           /* by which modes were decided */
    zw_real found[3];       /* the solution */
    zw_real t[2], turn;     /* for sliding: direction of friction, and how it turns */
    zw_real C[9], rest[3];  /* multipliers are rest - C w near w */
    zw_mask closed, slides; /* modes at w */
} LANE(augment_block);

typedef struct LANE(augment) {
    int n;
    const paths_shape *straight; /* the pattern of H: the paths of the tree */
    const zw_real *H;            /* in that pattern; without friction and contacts */
    const zw_real *r, *v0;       /* [n] */
    double falling;              /* m/s: the speed that gravity gives in a step */
    zw_mask good;                /* existing worlds; in the end those that are solved */

    int blocks;
    LANE(augment_block) * block;
    int actives, *active; /* [blocks] those of some unsolved world */

    zw_real *x;             /* [n] u - v0 */
    zw_real *to;            /* [n] of the next iterate */
    zw_real *lower, *upper; /* [n (n + 1)/2 + 4 n] */
    paths_shape shape;
    int *parent, *depth, *start, *run; /* [n], [n], [n], [n + 1] of shape, where it is bent */
    int *level;                        /* [n] */

    int iterations;
    zw_mask live;         /* unsolved worlds */
    zw_real fastest;      /* |w0|, the largest of all rows */
    zw_real stiff;        /* rho G, */
    zw_mask careful;      /* which grows slowly */
    zw_real before, best; /* residual of the law: of the last step, and of x */
    zw_real certificate;
} LANE(augment);

/* u - v0 in x, and the multipliers: these three in turn, the second until 0 worlds are unsolved, or
 * a few that are left for later. */
void LANE(augment_begin)(LANE(augment) * s);
void LANE(augment_go_on)(LANE(augment) * s, int few);
void LANE(augment_end)(LANE(augment) * s);

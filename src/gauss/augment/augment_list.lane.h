/* The types of augment.h for one width of lanes. */

/* A contact point or a limit, in those worlds that have it. */
typedef struct LANE(augment_block) {
    int width; /* rows: 1, or 3 with friction */
    int columns;
    const int *column; /* ascending */
    const zw_real *J;  /* [width][columns] */
    double mu;
    zw_real b;           /* of the normal row */
    zw_mask on;          /* worlds that have it */
    const double *guess; /* one world alone: its multipliers, roughly; NULL: unknown */
    zw_real found[3];    /* the solution */

    /* Used by the solver */
    zw_mask in, fresh;       /* worlds in which it takes part; that it has just entered */
    int is_fresh;            /* in some world */
    int slot[AUGMENT_LANES]; /* its place in the problems of these, */
    int place;               /* and where that is the same in all of them; -1: it is not */
    zw_real lambda[3];       /* present multipliers */
    int supports, *support; /* its columns and their ancestors, ascending; 0: not yet known, like */
    zw_real *y;             /* L' \ J' there, [supports][room_of(width)], */
    zw_real free[3];        /* and J (v0 + H \ r) */
} LANE(augment_block);

typedef struct LANE(augment) {
    int n;
    const paths_shape *straight; /* the pattern of H: the paths of the tree */
    const zw_real *H;            /* in that pattern; without friction and contacts */
    const zw_real *r, *v0;       /* [n] */
    zw_mask good;                /* existing worlds; in the end those that are solved */

    int blocks;
    LANE(augment_block) * block;

    zw_real *x;     /* [n] u - v0 */
    zw_real *u;     /* [n] v0 + x, of the last look at blocks */
    zw_real *lower; /* L and 1/D of H */
    zw_real *eased; /* [n] L' \ r */
    zw_real *y;     /* [AUGMENT_HALVES][n] of blocks, */
    int *support;   /* as much, */
    int halves;     /* and how much of that is used */
    int *at;        /* [n] places of dofs in a support */
    int *in, ins;   /* [AUGMENT_HALVES] blocks that take part in some world */

    /* Called with every motion x of these worlds, after the first, by which blocks may enter; may
     * be NULL */
    void (*look)(void *user, const zw_mask *asked);
    void *user;

    augment_problem *problem;          /* [AUGMENT_LANES] */
    struct augment_together *together; /* for their rows */
    long steps;                        /* of Newton's method, of all worlds */
    zw_real certificate;
} LANE(augment);

/* Memory for n unknowns, as base_arena has it; `block` is not part of it. */
void LANE(augment_lay_out)(LANE(augment) * s, int n, base_arena *arena);
/* Before blocks are there: factors H, and x without contacts. */
void LANE(augment_begin)(LANE(augment) * s);
/* Then u - v0 in x, and the multipliers. */
void LANE(augment_solve)(LANE(augment) * s);

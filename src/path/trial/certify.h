/* Interface between the source files of a trial: see certify.c. */
#ifndef ZW_PATH_CERTIFY_H
#define ZW_PATH_CERTIFY_H

#include "path/fit/fit.h"
#include "path/trial/trial.h"
#include "system/work.h"

/* A trial in progress. The trial's q, v, a are first those of the fit, then improved ones. */
typedef struct path_certifier {
    const zw_system *system;
    const zw_path *path;
    const zw_certify_options *options;
    zw_trial *trial;
    zw_work *work;
    int n, m, constraints;
    long count;

    int pieces; /* smooth pieces of the positions, */
    long *start;
    int parts; /* and of what remains of them after subtracting the model's motion: at least as many
                */
    long *part;
    unsigned char *gap; /* [count] nothing is known about the time before this sample */

    path_fit fit;     /* of the positions */
    path_fit rest;    /* of what remains */
    double *noise;    /* [n] least noise of the recorded positions */
    double *accuracy; /* [n] structure of this size may come from the recorder */
    double *scale;    /* [n] their range, */
    double *size;     /* [n] and how large they and the speeds are */
    double *swift;    /* [n] */
    double *model;    /* [count * n] accelerations of the system */
    double *react;    /* [count * n] and the forces of its constraints */
    double *speed;    /* [count * n] integral of model */
    double *place;    /* [count * n] and of the speed */
    double *remain;   /* [count * n] positions minus place */
    double *blur[3];  /* [count * n] errors of q, v, a */
    double *apart;    /* [count * n] a - model */
    double *rough;    /* [count * n] error of its integration, as an acceleration */
    double *probe[3]; /* [count * n] scratch: q, v, a */
    double *square;   /* [count] |R|^2 in the metric */
    double *away;   /* [count] |a - model| minus the part of the extra force: the part that violates
                       the constraints */
    double *energy; /* [count] */
    double *forces; /* [count] |M a|^2: what the extra force is compared with */
    double *carried;    /* [count * carried] multipliers that the law carries, */
    double *rate;       /* [count * carried] and their rates */
    double *grid_error; /* [count] discretisation error of the extra force in Theorem 2 */
    double
        *wide[2]; /* [n + carried] speeds followed by them, accelerations followed by their rates */
    double *modes;       /* [constraints] of one sample */
    unsigned char *mode; /* [count * constraints] system_mode */
    double *scratch[4];  /* [n * (n + 1) + m] */
    void *memory;

    struct path_lanes *lanes; /* or NULL: samples are evaluated one by one */
    double *factor;           /* [n * n] of the metric given, or NULL */
    system_solver *other;     /* the projection in that metric, */
    int *other_mode;          /* for these modes */
    system_solver *bare;      /* the metric alone, for large systems */

    double off;                         /* largest violation in units of the tolerance */
    double jump, jump_time, jump_error; /* the largest jump that nothing explains */
    double jump_force, jump_ratio;
    int jump_coord;
    double unknown; /* fraction of the samples about which nothing is known */
    long clash;     /* the sample and coordinate with the largest contradiction between speeds and
                       positions; -1: none */
    int clash_coord;
} path_certifier;

/* certify_model.c: accelerations of the system at (q, v), for the samples 0, every, 2 every ...; if
 * `all`, also mode, lambda, react and power. */
zw_status certify_model(path_certifier *certifier, const double *q, const double *v, double *a,
                        long every, zw_error *error);
/* The acceleration that the system would have at sample i in the state (q, v). */
zw_status certify_sample(path_certifier *certifier, long i, const double *q, const double *v,
                         double *a, zw_error *error);
zw_status certify_polled(path_certifier *certifier, long sample, zw_error *error);

/* certify_lanes.c: eight samples at a time, for systems without rows. */
int certify_lanes_fit(const zw_system *system);
struct path_lanes *certify_lanes_create(const zw_system *system, const double *param);
void certify_lanes_free(struct path_lanes *lanes);
zw_status certify_lanes_model(path_certifier *certifier, const double *q, const double *v,
                              double *a, long every, zw_error *error);
zw_status certify_lanes_split(path_certifier *certifier, zw_error *error);

/* certify_split.c: extra, lambda, square, away, energy, the errors and violations, at the trial's q
 * and v. */
zw_status certify_split(path_certifier *certifier, zw_error *error);
/* y = M x; and x with A x = 0 and B x = force + A' lambda, for the rows of the work's modes. All at
 * the terms in the work. */
void certify_weigh(const path_certifier *certifier, const double *x, double *y);
zw_status certify_project(path_certifier *certifier, double t, const double *force, double *x,
                          double *lambda, zw_error *error);
/* x = metric \ x, at the state whose terms are in the work. */
zw_status certify_metric_solve(path_certifier *certifier, double t, double *x, zw_error *error);

/* certify_jump.c: pieces end where a time is given twice and at gaps. */
void certify_divide(path_certifier *certifier);
/* Where pieces meet. */
zw_status certify_jumps(path_certifier *certifier, zw_error *error);

/* certify_name.c: the coordinate to name for the extra force at this sample. */
zw_status certify_name(path_certifier *certifier, long worst, int *coord, zw_error *error);

/* certify_law.c: must lambda(t) be found along the whole path (Theorem 2)? */
int certify_law_varies(const path_certifier *certifier);
/* If so, finds it for the trial's q and v and these accelerations, and fills extra, its size, apart
 * and square. */
zw_status certify_law_find(path_certifier *certifier, const double *a, zw_error *error);
/* v[n] of sample i, followed by the multipliers that the law carries. */
zw_status certify_law_speeds(path_certifier *certifier, long i, const double *q, const double *v,
                             const double **wide, zw_error *error);

/* certify_speed.c: do recorded speeds agree with the positions? */
void certify_speeds(path_certifier *certifier);

/* certify_report.c */
zw_status certify_report(path_certifier *certifier, zw_error *error);

#endif

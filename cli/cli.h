/* Declarations shared by the parts of the command line. */
#ifndef ZW_CLI_CLI_H
#define ZW_CLI_CLI_H

#include <limits.h>
#include <stdio.h>

#include "zwang/bodies.h"
#include "zwang/fit.h"
#include "zwang/inverse.h"
#include "zwang/look.h"
#include "zwang/modes.h"
#include "zwang/path.h"
#include "zwang/sweep.h"
#include "zwang/verdict.h"
#include "zwang/zwang.h"

/* Exit codes, as documented in the manual. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1,    /* the motion could not be computed, or a check did not hold */
    CLI_USAGE = 2,     /* the command line is invalid */
    CLI_MODEL = 3,     /* the model has a mistake, or no consistent initial state */
    CLI_FILE = 4,      /* a file cannot be read or written */
    CLI_NO_MOTION = 5, /* certify: the recording is not a motion of the system */
    CLI_INTERRUPTED =
        130 /* by Ctrl-C, after the results so far were written; 128 + the number of the signal */
};

enum {
    CLI_SETTINGS = 256,
    CLI_OUTPUTS = 16,
    CLI_COLUMNS = 256,
    CLI_PACKAGES = 64,
    CLI_FRAMES = 64,
    CLI_OVERS = 32,
    CLI_MORE = 31
};

typedef struct cli_arguments {
    const char *file;
    zw_setting setting[CLI_SETTINGS];
    int setting_count;
    zw_run_options run;
    double at;                  /* explain: the time */
    double from, to;            /* limit: N; 0: by default */
    double period;              /* modes: the period of the forcing; 0: none */
    const char *recording;      /* certify, inverse, fit: the path */
    const char *more[CLI_MORE]; /* fit: other recordings */
    int more_count;
    const char *target; /* export: the path */
    zw_path_column column[CLI_COLUMNS];
    int column_count;
    double noise;
    const char *metric;   /* as written, or NULL */
    const char *key;      /* robots: the keyframe to start from, or NULL */
    zw_impact_law impact; /* DEFAULT: that of the file */
    const char
        *contacts; /* pairs whose columns are recorded: "all", "none"; NULL: all if they are few */
    const char *begin; /* run: the initial state, or NULL */
    const char *save;  /* run: where to save the final state, or NULL */
    zw_base base;      /* URDF: DEFAULT if not given */
    zw_package package[CLI_PACKAGES];
    int package_count;
    const char *frame[CLI_FRAMES]; /* look: the requested names; inverse: what is driven; fit: what
                                      varies */
    int frame_count;
    const char
        *over[CLI_OVERS]; /* sweep: what varies, what is kept, after which time; fit: noise */
    int over_count;
    const char *keep, *after;
    int samples, threads;
    int port; /* view: 0: any free port */
    double seed;
    int balance; /* robots: replace moments of inertia that no body can have */
    int maximal; /* robots: maximal coordinates */
    int sleep;   /* run: bodies at rest fall asleep */
    zw_law law;  /* name: NULL if none was given */
    const char *output[CLI_OUTPUTS];
    int output_count;
    int json;
    int all;
    int hash;
    int plain;  /* run: CSV without comments and names of events */
    int digits; /* run: estimate the error of the final state */
    int quiet;
    int help;
} cli_arguments;

/* Everything that a command works on. */
typedef struct cli_world {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
    zw_assembly assembly;
} cli_world;

/* args.c: fills the arguments of a command; a result other than CLI_OK is an exit code, and the
 * reason has been printed. */
int cli_parse(const char *command, int count, char **word, cli_arguments *arguments);

/* suggest.c: the entry of a list that `word` was probably meant to be, or NULL. */
const char *cli_suggest(const char *word, const char *const *list, int count);

/* help.c */
extern const char *const cli_command_name[];
enum { CLI_COMMANDS = 15 };
int cli_help(const char *command, FILE *to); /* NULL: for zwang itself */

/* load.c: reads, compiles, assembles; returns an exit code and fills the error. */
int cli_load(const cli_arguments *arguments, cli_world *world, zw_error *error);
int cli_load_model(const cli_arguments *arguments, cli_world *world, zw_error *error);
int cli_load_system(const cli_arguments *arguments, cli_world *world,
                    zw_error *error); /* only the system */
/* Applies the options about the model other than settings: --key, --maximal, ... 0: see
 * the error. */
int cli_adjust_model(const cli_arguments *arguments, zw_model *model, zw_error *error);
int cli_model_code(zw_status status);
int cli_check_file(const char *path, zw_error *error); /* does it exist, and is it a file? */
void cli_unload(cli_world *world);
int cli_code_of(zw_status status);
/* A recording; `some`: some of the coordinates and speeds suffice. NULL: see *code; the reason was
 * printed. */
zw_path *cli_read_path(const cli_arguments *arguments, const zw_system *system, const char *file,
                       int some, int *code);
/* Prints the error, as JSON too if --json was given, and returns the code. */
int cli_fail(const cli_arguments *arguments, const zw_error *error, int code);

/* text.c: output to a terminal. Labels are padded to one column and bold on a terminal. */
void cli_show_error(const zw_error *error);
void cli_label(FILE *to, const char *label);
void cli_head(FILE *to, const char *title);           /* of a table, after an empty line */
void cli_show_keys(FILE *to, const cli_world *world); /* the values of --key, if there are any */
void cli_show_assembly(FILE *to, const cli_world *world);
void cli_show_notes(FILE *to, const cli_world *world);
/* "'" where a speed is named as its coordinate, else "". */
const char *cli_prime(const cli_world *world, int speed);
void cli_show_time(FILE *to, double seconds);
/* "3 rods", "1 rod" */
void cli_show_count(FILE *to, long count, const char *one, const char *many);
double cli_clock(void);

/* output.c: the files of a command. */
/* `piped`: the numbers go to a pipe, without anything else. */
typedef zw_status cli_writer(void *user, const char *path, int piped, zw_error *error);
/* Where a file is written: the target, if the path is a link. */
const char *cli_output_place(const char *path, char place[PATH_MAX]);
int cli_outputs_possible(const cli_arguments *arguments);
int cli_outputs_use_stdout(const cli_arguments *arguments);
int cli_outputs_write(const cli_arguments *arguments, cli_writer *write, void *user,
                      const char *note, FILE *talk);

/* json.c: JSON that is valid for any names and numbers. */
typedef struct cli_json {
    FILE *to;
    int depth;
    int first; /* nothing has been written in this bracket yet */
} cli_json;
void cli_json_open(cli_json *json, const char *key, char bracket); /* key NULL: in a list */
void cli_json_close(cli_json *json, char bracket);
void cli_json_number(cli_json *json, const char *key, double value); /* not finite: null */
void cli_json_int(cli_json *json, const char *key, long value);
void cli_json_bool(cli_json *json, const char *key, int value);
void cli_json_text(cli_json *json, const char *key, const char *value);
void cli_json_error(cli_json *json, const zw_error *error); /* "error": {...} */

/* run.c, explain.c, look.c, check.c, certify.c, limit.c: the commands; they return the
 * exit code. */
int cli_run(const cli_arguments *arguments);
int cli_explain(const cli_arguments *arguments);
int cli_look(const cli_arguments *arguments);
int cli_check(const cli_arguments *arguments);
int cli_certify(const cli_arguments *arguments);
int cli_limit(const cli_arguments *arguments);
int cli_export(const cli_arguments *arguments);
int cli_inverse(const cli_arguments *arguments);
int cli_fit(const cli_arguments *arguments);
int cli_optimise(const cli_arguments *arguments);
int cli_rest(const cli_arguments *arguments);
int cli_modes(const cli_arguments *arguments);
int cli_sweep(const cli_arguments *arguments);

/* ranks.c: processes started by mpirun. 0: there is only this one. */
int cli_ranks_begin(zw_sweep_ranks *ranks);
int cli_ranks_agree(int good); /* is it good for all ranks? */
int cli_ranks_end(int code);   /* with the exit code of rank 0 */
int cli_view(const cli_arguments *arguments);

/* run_json.c: a run as JSON. */
typedef struct cli_outcome {
    const cli_arguments *arguments;
    const cli_world *world;
    const zw_run_summary *summary;
    const zw_digits *digits; /* or NULL */
    const zw_run_verdict *verdict;
    const long *happened; /* [events] how often each occurred */
    zw_status status;
    const zw_error *error;
    double wall;
} cli_outcome;
void cli_run_json(const cli_outcome *outcome);

/* explain.c: a table with one line for each item of a kind; very long ones are shortened. */
typedef struct cli_table {
    int width; /* of the names */
    int count, shown;
} cli_table;
/* Runs the motion up to --at. */
zw_status cli_go_there(const cli_arguments *arguments, cli_world *world, zw_error *error);
cli_table cli_table_of(const cli_arguments *arguments, const cli_world *world, zw_kind kind);
void cli_show_left_out(const cli_table *table);
double cli_tidy(double x, double size);

/* explain_bodies.c: forces in joints and loop closures of robots; nothing for equations. */
void cli_explain_bodies(const cli_arguments *arguments, const cli_world *world);
void cli_explain_json_bodies(cli_json *json, const cli_world *world);

/* touch.c: the contacts at the state of a world; the caller frees `list`. */
typedef struct cli_touching {
    int capacity; /* 0: contacts are impossible */
    int count;    /* -1: see error */
    zw_contact *list;
    zw_error error;
} cli_touching;
cli_touching cli_touching_of(const cli_world *world);
void cli_show_touching(FILE *to, const cli_world *world); /* in one line */
/* Reports that a method does not compute contacts, if there could be any. */
void cli_show_untouched(FILE *to, const cli_world *world, zw_method method);
void cli_explain_touching(const cli_arguments *arguments, const cli_world *world);
void cli_explain_json_touching(cli_json *json, const cli_world *world);

#define CLI_NEARLY_SINGULAR 1e-6 /* what remains of a row after projection onto the others */
/* advise.c: advice about this robot. */
void cli_advise(const cli_arguments *arguments, const cli_world *world);

/* explain_json.c: the same as JSON. */
void cli_explain_json(const cli_arguments *arguments, const cli_world *world,
                      const zw_constraint *constraint);
void cli_explain_json_error(const cli_arguments *arguments, const zw_error *error);

/* progress.c: a bar on a terminal, nothing otherwise. */
void cli_progress_start(double from, double to);
void cli_progress_runs(int done, int runs); /* the same for runs of a sweep */
void cli_progress_show(double now);
void cli_progress_end(void);
void cli_catch_interrupt(void);
int cli_interrupted(void);

#endif

/* From the text of a .zw file to a model; for the files read/zw*.c.
 *
 * Files of this reader:
 *   zw_file        bytes to tokens, through all includes
 *   zw_statement   tokens to statements, with zw_parse; zw_words is the table of words
 *   zw_declare     names (zw_names) and members of families; parameters become numbers
 *   zw_define      values of `let` and `point`, in the order of their dependencies
 *   zw_mechanics   coordinates, masses, energies, forces; then zw_constraint, zw_event, zw_show:
 *                  what each statement adds to the model
 * and used by all of them
 *   zw_value       formulas to nodes of the graph, with zw_operator and zw_call
 *   zw_fail        error messages: what is wrong, where, and suggestions
 *
 * Invariants:
 *   1. A function that returns 0 has set its message in reader->status and the error, or has set
 *      `pending` or `late` (see zw_define.c); its caller returns 0 too.
 *   2. Syntax trees are bounded in height (expr/parser.h), so value_of may recurse; recursion
 * through definitions is bounded by `depth` and continued from a list.
 *   3. Every node of the graph has the place in the text that it was made for. */
#ifndef ZW_READ_ZW_H
#define ZW_READ_ZW_H

#include "expr/functions.h"
#include "expr/parser.h"
#include "model/bodies.h"
#include "model/model.h"

enum { READ_MOST_INDICES = 3, READ_MOST_SCOPE = 32, READ_MOST_DEEP = 500, READ_MOST_FILES = 64 };

/* Limits for one file. */
typedef struct read_limits {
    double members; /* of one family, of one range */
    double work;    /* visits of syntax tree nodes: a bound on time */
    double nodes;   /* of the graph that formulas become: a bound on memory */
    int includes;   /* may other files be read? */
} read_limits;

typedef enum read_kind {
    READ_PARAM,
    READ_COORD,
    READ_LET,
    READ_POINT,
    READ_IMBED,
    READ_CONSTRAINT,
    READ_EVENT,
    READ_ROBOT
} read_kind;

/* A scalar (n = 1) or a vector of two or three components. */
typedef struct read_value {
    int n;
    expr_id c[MODEL_DIMENSION];
} read_value;

typedef enum read_state {
    READ_NEW,
    READ_BUSY,    /* being evaluated */
    READ_WAITING, /* to be tried again when its dependencies are done */
    READ_LATE,    /* needs multipliers or the energy, which follow from the mechanics */
    READ_DONE
} read_state;

/* What a name stands for: the name itself, or a member of a family. */
typedef struct read_member {
    int name;
    int index[READ_MOST_INDICES];
    int at[READ_MOST_INDICES]; /* the values of its statement's indices */
    int statement, item;       /* that define it */
    int token;
    int number; /* in the model's list: parameters, coordinates, constraints, events */
    int row;    /* constraints: its first row among all */
    int rows;   /* of an element such as `wheel`, whose number is that of an equality; else 0 */
    unsigned char state;
    read_value value;
    read_value rate; /* n = 0: not computed yet */
} read_member;

typedef struct read_name {
    read_kind kind;
    int symbol;
    int token; /* where it was first declared */
    int indices;
    int count;                  /* of members */
    int member;                 /* the first one */
    int low[READ_MOST_INDICES]; /* smallest and largest index */
    int high[READ_MOST_INDICES];
} read_name;

typedef struct read_item {
    int target;  /* tree of the name it defines or changes, -1: none */
    int part[6]; /* trees, -1: none; their meaning depends on the word */
    int option;
    int from, to;   /* tokens: what the user wrote */
    int from2, to2; /* ... of a second part */
} read_item;

typedef struct read_word read_word;

typedef struct read_statement {
    const read_word *word;
    int token;
    int item, item_count;
    int range, range_count; /* in trees.range */
    int option;
    int label;  /* token of a text, -1: none */
    int colour; /* token of a word, -1: none */
} read_statement;

/* Leaves that are not allowed in an expression, and the name of the context for messages. */
typedef struct read_context {
    int forbidden;     /* EXPR_ON_... */
    const char *where; /* "a kinetic energy" */
    int numeric;       /* parameters are their values */
    int sizes;         /* ... and have determined a size of the model */
} read_context;

typedef enum read_stage { READ_STAGE_DEFINE, READ_STAGE_MECHANICS, READ_STAGE_SHOW } read_stage;

typedef struct read_scope {
    int symbol;
    int value;
} read_scope;

typedef struct reader {
    zw_model *model;
    zw_error *error;
    zw_status status;
    read_limits limits;
    const zw_read_options *options; /* where files are; NULL: the usual ones */
    const zw_setting *setting;
    int setting_count;

    expr_symbols symbols;
    expr_tokens tokens;
    expr_trees trees;
    int *place_of;                   /* token -> place + 1, once all tokens are there */
    int file_start[READ_MOST_FILES]; /* first token of each file */
    int more;                        /* the file of lines that the caller adds; 0: none */
    int file_open[READ_MOST_FILES];  /* being read: including it again would be circular */

    int statement_count, statement_capacity;
    read_statement *statement;
    int item_count, item_capacity;
    read_item *item;

    int name_count, name_capacity;
    read_name *name;
    int symbol_count; /* of name_of */
    int *name_of;     /* symbol -> name + 1 */
    int member_count, member_capacity;
    read_member *member;
    int slot_count;
    int *slot; /* hash of (name, index) -> member + 1 */

    double *param_value; /* of all parameters, once they are evaluated */
    read_stage stage;
    read_context context;
    int scope_count;
    read_scope scope[READ_MOST_SCOPE];
    int depth;   /* of value_of */
    double work; /* visits so far */
    int pending; /* member that must be evaluated first, -1: none */
    int late;
    int path_count; /* members being evaluated, outermost first */
    int path[READ_MOST_DEEP + 1];
    int wait_count, wait_capacity;
    int *wait;

    int gravity_count; /* components; 0: none */
    int gravity_token;
    read_value gravity;
    int weighed; /* there is a mass that gravity acts on */
    int has_mass;
    int *event_tree; /* [model's events] their functions */
    int event_tree_capacity;
    int massless_token; /* of a statement for systems without masses, -1: none */
    int energy_ready;
    expr_id energy;
    int plot_statement; /* token of the statement of the last plot */
    int curve_capacity; /* of that plot */
    int rows;           /* of all constraints, once they are known */

    int robot_token; /* of the import, -1: none */
    int robot_name;  /* token of the name after `as`, -1: none */
} reader;

/* Whether a word may be used with an imported robot, or only with one. The latter are keywords only
 * at the start of a line, and may be names as well. */
typedef enum read_fit { READ_FITS, READ_NOT_BESIDE_ROBOTS, READ_ROBOTS_ONLY } read_fit;

/* The syntax of a keyword (`parse`: tokens to items) and its meaning (`make`, called for each item
 * and each member of the statement's ranges). */
struct read_word {
    const char *text;
    int (*parse)(reader *r, expr_parser *p, read_statement *statement);
    int (*make)(reader *r, const read_statement *statement, const read_item *item);
    int stage;  /* 0: nothing to make; else the stage in which the statement is made */
    int option; /* read_kind of definitions, ... */
    int whole;  /* make is called for the first item only, and handles the others */
    const char *usage;
    read_fit fit;
};

/* ---- zw_fail.c: messages --------------------------------------------------------------------- */

int read_fail(reader *r, int token, const char *format, ...) __attribute__((format(printf, 3, 4)));
int read_fail_tree(reader *r, int tree, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int read_fail_fault(reader *r, const expr_fault *fault);
int read_no_memory(reader *r);
int read_place(reader *r, int tree); /* of a tree's token, in the model; -1: no memory */
int read_place_token(reader *r, int token);
int read_place_whole(reader *r, int tree); /* from its first to its last token, if on one line */

/* " (line 3)", with the file if it differs from the token's: the place of an earlier definition. */
enum { READ_SHOWN = 96 };
typedef struct read_shown {
    char text[READ_SHOWN];
} read_shown;
read_shown read_show_place(const reader *r, int token, int from);
read_shown read_show_symbol(const reader *r, int symbol);
read_shown read_show_tokens(const reader *r, int from, int to); /* as written, without blanks */
read_shown read_show_member(const reader *r, int member);
read_shown read_show_index(const reader *r, int name, const int *index);
read_shown read_show_value(const read_value *value); /* "a scalar", "a vector of 2" */

/* "; did you mean 'x'?" or "": the most similar of the names offered. */
typedef struct read_guess {
    const char *text;
    int length;
    int distance;
    char best[40];
} read_guess;
read_guess read_guess_start(const char *text, int length);
void read_guess_offer(read_guess *guess, const char *text, int length);
read_shown read_guess_show(const read_guess *guess);
/* similar.c: the same for a file that is missing, among those in its folder. */
read_shown read_similar_file(const zw_read_options *options, const char *path);
read_guess read_guess_name(const reader *r,
                           int symbol); /* among all names that a formula may use */

/* ---- zw_file.c ------------------------------------------------------------------------------ */

int read_file_open(reader *r, const char *path, int token); /* token of the include, -1: none */
int read_file_text(reader *r, const char *name, const char *text);
int read_title(reader *r); /* from the first comment */

/* ---- zw_statement.c, zw_words.c ------------------------------------------------------------- */

int read_statements(reader *r, int file);
const read_word *read_word_find(const reader *r, int symbol);
int read_is_word(const reader *r, int symbol); /* which cannot be a name */
const read_word *read_word_at(int index);      /* NULL after the last */

/* Parts shared by several keywords; the syntax of each is in zw_words.c. */
read_item *read_item_add(reader *r, read_statement *s, int target);
int read_expression(reader *r, expr_parser *p); /* a tree, -1: failed */
int read_target(reader *r, expr_parser *p);     /* likewise */
int read_ranges(reader *r, expr_parser *p, read_statement *s);
int read_fail_expected(reader *r, const expr_parser *p, const read_statement *s, const char *what);
int read_take_word(expr_parser *p, const char *word); /* skips it if it is there */
int read_take(expr_parser *p, expr_token_kind kind);
int read_at_end(const expr_parser *p);         /* of the statement */
int read_is_target(const reader *r, int tree); /* a name or a member */

int read_parse_definitions(reader *r, expr_parser *p, read_statement *s);
int read_parse_expression(reader *r, expr_parser *p, read_statement *s);
int read_parse_at(reader *r, expr_parser *p, read_statement *s);
int read_parse_force(reader *r, expr_parser *p, read_statement *s);
int read_parse_spring(reader *r, expr_parser *p, read_statement *s);
int read_parse_constraint(reader *r, expr_parser *p, read_statement *s);
int read_parse_friction(reader *r, expr_parser *p, read_statement *s);
int read_parse_labelled(reader *r, expr_parser *p, read_statement *s);
int read_parse_prefer(reader *r, expr_parser *p, read_statement *s);
int read_parse_law(reader *r, expr_parser *p, read_statement *s);
int read_parse_reach(reader *r, expr_parser *p, read_statement *s);
int read_parse_event(reader *r, expr_parser *p, read_statement *s);
int read_parse_stop(reader *r, expr_parser *p, read_statement *s);
int read_parse_check(reader *r, expr_parser *p, read_statement *s);
int read_parse_cost(reader *r, expr_parser *p, read_statement *s);
int read_parse_vary(reader *r, expr_parser *p, read_statement *s);
int read_parse_plot(reader *r, expr_parser *p, read_statement *s);
int read_parse_draw(reader *r, expr_parser *p, read_statement *s);
int read_parse_run(reader *r, expr_parser *p, read_statement *s);
int read_parse_impact(reader *r, expr_parser *p, read_statement *s);
int read_parse_title(reader *r, expr_parser *p, read_statement *s);
int read_parse_include(reader *r, expr_parser *p, read_statement *s);
int read_parse_import(reader *r, expr_parser *p, read_statement *s);

/* ---- zw_names.c ----------------------------------------------------------------------------- */

int read_name_find(const reader *r, int symbol); /* -1: none */
int read_member_find(const reader *r, int name, const int *index);
int read_name_robot(reader *r, int token); /* declare it */
int read_member_add(reader *r, read_kind kind, const read_statement *statement,
                    const read_item *item, int target);
int read_member_of(reader *r, int tree);       /* of a NAME or INDEX tree; -1: failed */
char *read_member_name(reader *r, int member); /* a copy; NULL: no memory, and failed */
int read_is_constant(const char *text, int length);

/* ---- zw_declare.c --------------------------------------------------------------------------- */

typedef int read_visit(reader *r, const read_statement *statement, const read_item *item);
/* Calls `visit` for every item of the statement and every value of its indices, which are in
 * scope. */
int read_each(reader *r, const read_statement *statement, read_visit *visit);
int read_declare(reader *r);
int read_settings(reader *r);
int read_integer(reader *r, int tree, const char *what, int *value);

/* ---- zw_define.c ---------------------------------------------------------------------------- */

int read_need(reader *r, int member);
int read_settle(reader *r, int member);
int read_settle_all(reader *r);
int read_keep_points(reader *r);
int read_param_values(reader *r);

/* ---- zw_value.c, zw_operator.c, zw_call.c
 * ------------------------------------------------------------------ */

int read_value_of(reader *r, int tree, read_value *value);
int read_call(reader *r, int tree, read_value *value);
int read_operator(reader *r, int tree, read_value *value);
int read_join_dot(reader *r, int token, read_value *a, const read_value *b);
int read_join_cross(reader *r, int token, read_value *a, const read_value *b);
int read_scalar_of(reader *r, int tree, expr_id *id, const char *what);
/* The value in a context: which leaves are forbidden, and the name of the context. */
int read_value_in(reader *r, int tree, int forbidden, const char *where, read_value *value);
int read_scalar_in(reader *r, int tree, int forbidden, const char *where, expr_id *id);
/* A number, from parameters and indices. */
int read_number(reader *r, int tree, int sizes, const char *where, double *value);
int read_allowed(reader *r, int tree, expr_id id, const char *what);
int read_rate(reader *r, int tree, const read_value *value, read_value *rate);
int read_ranges_each(reader *r, int range, int count, int (*visit)(reader *r, void *user),
                     void *user);
int read_symbol_is(const reader *r, int symbol, const char *text);

/* Scalars and vectors. */
expr_id read_dot(reader *r, const read_value *a, const read_value *b);
expr_id read_norm(reader *r, const read_value *a);
void read_at(reader *r, int tree); /* sets the place of new nodes to that of this tree */
void read_at_token(reader *r, int token);
int read_depends(const reader *r, const read_value *value);

/* ---- Statements ----------------------------------------------------------------------------- */

int read_coordinate(reader *r, int tree); /* number of the coordinate it names; -1: failed */
/* Tokens as the user wrote them, after the text `before`; indices of families as numbers. */
char *read_label(reader *r, int from, int to, const char *before);
int read_initial(reader *r, int tree, const char *what, expr_id *id); /* on parameters, finite */
int read_make_coord(reader *r, const read_statement *s, const read_item *item);
int read_make_speed(reader *r, const read_statement *s, const read_item *item);
int read_make_gravity(reader *r, const read_statement *s, const read_item *item);
int read_make_mass(reader *r, const read_statement *s, const read_item *item);
int read_make_inertia(reader *r, const read_statement *s, const read_item *item);
int read_make_energy(reader *r, const read_statement *s, const read_item *item);
int read_make_force(reader *r, const read_statement *s, const read_item *item);
int read_make_spring(reader *r, const read_statement *s, const read_item *item);
int read_make_damper(reader *r, const read_statement *s, const read_item *item);
int read_make_metric(reader *r, const read_statement *s, const read_item *item);
int read_make_prefer(reader *r, const read_statement *s, const read_item *item);
int read_make_constraint(reader *r, const read_statement *s, const read_item *item);
int read_make_friction(reader *r, const read_statement *s, const read_item *item);
int read_make_nonideal(reader *r, const read_statement *s, const read_item *item);
int read_make_law(reader *r, const read_statement *s, const read_item *item);
int read_make_reach(reader *r, const read_statement *s, const read_item *item);
int read_reach_complete(reader *r); /* after the run is known */
int read_make_event(reader *r, const read_statement *s, const read_item *item);
int read_check_events(reader *r); /* after all have been made */
int read_make_cost(reader *r, const read_statement *s, const read_item *item);
int read_make_vary(reader *r, const read_statement *s, const read_item *item);
int read_make_check(reader *r, const read_statement *s, const read_item *item);
int read_make_plot(reader *r, const read_statement *s, const read_item *item);
int read_make_draw(reader *r, const read_statement *s, const read_item *item);
int read_make_run(reader *r, const read_statement *s, const read_item *item);
int read_make_impact(reader *r, const read_statement *s, const read_item *item);
int read_make_title(reader *r, const read_statement *s, const read_item *item);
int read_energy(reader *r, int token, expr_id *energy);
int read_count_rows(reader *r);

/* ---- zw_robot.c, zw_rolling.c: an imported robot -------------------------------------------- */

/* A reference to a part of the robot: a name, and the fields after it. */
typedef struct read_path {
    int part; /* tree of the name */
    int count;
    int field[2]; /* trees */
} read_path;
int read_robot_path(reader *r, int tree, read_path *path); /* 0: it is none */
int read_robot_has_part(const reader *r, int symbol);      /* a joint, body or site? */
int read_robot_has(const reader *r, int symbol);           /* is it the name of any part? */
void read_robot_guess(const reader *r, read_guess *guess);
int read_robot_value(reader *r, int tree, const read_path *path, read_value *value);
int read_robot_coordinate(reader *r, int tree); /* number of the coordinate; -1: failed */
/* The part of this kind with this name (characters not allowed in names are written _); -1:
 * none. */
int read_robot_find(const reader *r, zw_kind kind, int symbol);
/* The frame that a path names; 0: failed. */
int read_robot_frame(reader *r, int tree, model_seen *seen);
int read_robot_energy(reader *r, model_seen_kind kind, expr_id *id);
int read_robot_energy_in(reader *r, const read_value *value);
int read_robot_torque(reader *r, int tree, const read_value *torque);
int read_robot_fits(reader *r); /* are all statements allowed with a robot? */
int read_robot_setting(reader *r, const zw_setting *setting); /* 1: it sets a motor; -1: failed */
int read_make_start(reader *r, const read_statement *s, const read_item *item);
int read_make_motor(reader *r, const read_statement *s, const read_item *item);
int read_parse_ground(reader *r, expr_parser *p, read_statement *s);
int read_make_ground(reader *r, const read_statement *s, const read_item *item);
int read_parse_rolling(reader *r, expr_parser *p, read_statement *s);
int read_make_rolling(reader *r, const read_statement *s, const read_item *item);
int read_rolling_rows(reader *r); /* after those of the constraints */

/* The same as zw_model_parse, with other limits; `path` as there. */
zw_model *read_zw_text(const char *text, const char *name, const zw_setting *settings,
                       int setting_count, const read_limits *limits, zw_error *error);

#endif

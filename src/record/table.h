/* A recording: named columns of numbers, a row for each sample, and how to present them.
 *
 * The table knows nothing of mechanics. The code that runs a system first adds columns, plots and
 * draws, then a row for each sample; the writers of write.h write the table to a file.
 *
 * 1. All texts and lists that are passed in are copied.
 * 2. Columns are added before rows, or after all rows once room has been reserved; names are unique
 *    and not empty; at most one column is the time.
 * 3. Plots and draws refer to columns that exist already.
 * 4. A call that fails leaves the table as it was. */
#ifndef ZW_RECORD_TABLE_H
#define ZW_RECORD_TABLE_H

#include "zwang/status.h"

#include <stdbool.h>
#include <stddef.h>

/* The meaning of a column, and its name in files. */
#define RECORD_ROLE_TABLE(X)                                                                       \
    X(RECORD_ROLE_TIME, "time")                                                                    \
    X(RECORD_ROLE_COORD, "coord")                                                                  \
    X(RECORD_ROLE_SPEED, "speed")                                                                  \
    X(RECORD_ROLE_ENERGY, "energy") /* the first such column is the total: its drift is shown */   \
    X(RECORD_ROLE_VIOLATION, "violation")   /* of constraints; sizes, shown on a log scale */      \
    X(RECORD_ROLE_MULTIPLIER, "multiplier") /* the force of a named constraint */                  \
    X(RECORD_ROLE_PLOT, "plot")             /* an expression of some plot */                       \
    X(RECORD_ROLE_DRAW, "draw") /* of some drawn shape: for pictures, not in files of numbers */   \
    X(RECORD_ROLE_CERTIFICATE, "certificate") /* sizes, shown on a log scale */                    \
    X(RECORD_ROLE_CONTACT, "contact")         /* forces of bodies that touch */                    \
    X(RECORD_ROLE_JOINT, "joint") /* forces transmitted by joints; only for pictures */            \
    X(RECORD_ROLE_OTHER, "other")

typedef enum record_role {
#define RECORD_ROLE_CODE(code, text) code,
    RECORD_ROLE_TABLE(RECORD_ROLE_CODE)
#undef RECORD_ROLE_CODE
} record_role;

const char *record_role_text(record_role role); /* "coord"; never NULL */

typedef enum record_text {
    RECORD_TEXT_TITLE,
    RECORD_TEXT_FILE,   /* name of the model's file */
    RECORD_TEXT_SOURCE, /* the model itself */
    RECORD_TEXT_COUNT
} record_text;

typedef struct record_column {
    char *name; /* "t", "x", "x'", "lambda(rod)" */
    record_role role;
} record_column;

/* ---- Plots ---------------------------------------------------------------------------------- */

typedef enum record_plot_kind {
    RECORD_PLOT_TIME,  /* curves over the time column */
    RECORD_PLOT_PHASE, /* a curve traced by a point; the axes have different units */
    RECORD_PLOT_XY,    /* the same in space: both axes have one scale */
    RECORD_PLOT_DOTS   /* rows as dots, without a line between them */
} record_plot_kind;

/* Axes without a label are named after their columns. */
typedef struct record_plot {
    record_plot_kind kind;
    const char *title;   /* or NULL */
    int x;               /* column; a TIME plot ignores it and takes the time */
    int y_count;         /* curves */
    const int *y;        /* columns */
    const char *x_label; /* or NULL */
    const char *y_label; /* or NULL */
    bool log_y;          /* sizes on a log scale */
    int color; /* DOTS of one y: 1 + the column of the colour; 0: none. With a colour the dots are
                  the fields of a map with this many across and up: */
    int fields[2];
} record_plot;

/* ---- Draws ---------------------------------------------------------------------------------- */

typedef enum record_draw_kind {
    RECORD_DRAW_POINT,   /* each of the points as a dot */
    RECORD_DRAW_LINE,    /* through 2 or more points */
    RECORD_DRAW_CIRCLE,  /* around 1 point, with a radius */
    RECORD_DRAW_TRAIL,   /* the path of 1 point in the last `seconds`; 0: since the start */
    RECORD_DRAW_SPRING,  /* between 2 points */
    RECORD_DRAW_POLYGON, /* filled, 3 or more points */
    RECORD_DRAW_TEXT,    /* `text` beside 1 point */
    RECORD_DRAW_BOX,     /* in space: a corner and its 3 neighbours, right-handed */
    RECORD_DRAW_ARROW,   /* a force: from 1 point to another, drawn on top of everything */
    RECORD_DRAW_SOLID,   /* in space: faces, in the frame of an origin and 3 points */
    RECORD_DRAW_PLANE    /* in space: infinite, through an origin and points on 2 axes */
} record_draw_kind;

/* A coordinate is a column, or where column < 0 a constant: (0, y) = {{-1, 3}, {0, 0}}. */
typedef struct record_point {
    int column[3];
    double fixed[3];
} record_point;

typedef struct record_draw {
    record_draw_kind kind;
    int dimension; /* of the points: 2 or 3 (x to the right, y up; in 3-D z is up) */
    int point_count;
    const record_point *point;
    double radius;     /* of a circle; for a line: drawn as a rod of this radius with round ends */
    int radius_column; /* used where the radius is 0 */
    double seconds;    /* of a trail */
    double width;      /* of strokes and dots in pixels; 0: default of the kind */
    const char *color; /* "red", "#3377cc"; NULL: chosen automatically */
    const char *text;  /* or NULL; a TEXT has one, other kinds may be labelled with it */
    int vertex_count, face_length; /* of a solid */
    const double *vertex; /* 3 each: fractions of the vectors from the origin to the points */
    const int *face; /* for each face the number of its corners, then the corners, anticlockwise */
} record_draw;

/* ---- The table ------------------------------------------------------------------------------ */

typedef struct record_mark {
    double time;
    char *label;
} record_mark;

typedef struct record_summary {
    char *label; /* "energy drift"; may be empty */
    char *text;  /* "3.1e-12 of 19.62" */
} record_summary;

typedef struct record_label {
    size_t row;
    char *text; /* the event: its name, or "impact" */
} record_label;

/* Members may be read directly, but must be changed only by the functions below. */
typedef struct record_table {
    char *text[RECORD_TEXT_COUNT]; /* never NULL */

    int column_count, column_capacity;
    record_column *column;
    int slot_count, *slot; /* a hash table of names: 1 + column, 0 for a free slot */
    int time; /* the column with RECORD_ROLE_TIME, or -1: then the row number is the time */

    size_t row_count, row_capacity;
    int late_capacity; /* columns for which room is reserved after the others */
    double *value;     /* column after column, row_capacity apart: see record_table_column */

    int summary_count, summary_capacity;
    record_summary *summary;
    int note_count, note_capacity;
    record_summary *note;    /* the origin of the numbers; written to every file of numbers */
    bool plain;              /* but not to a CSV file that shall contain only numbers */
    const char *label_title; /* of the column of labels in a CSV file; NULL: "event". Static. */
    int mark_count, mark_capacity;
    record_mark *mark;
    int label_count, label_capacity;
    record_label *label; /* by rows */
    int plot_count, plot_capacity;
    record_plot *plot;
    int draw_count, draw_room;
    record_draw *draw;
} record_table;

record_table *record_table_create(zw_error *error); /* NULL: no memory */
void record_table_free(record_table *table);        /* `table` may be NULL */

zw_status record_table_set_text(record_table *table, record_text which, const char *text,
                                zw_error *error);
zw_status record_table_add_column(record_table *table, const char *name, record_role role,
                                  int *index, zw_error *error); /* index may be NULL */
/* Reserves memory for this many rows, before the first one. A failure is not an error: the table is
 * unchanged. */
bool record_table_expect(record_table *table, double rows);
zw_status record_table_add_row(record_table *table, const double *row, zw_error *error);
zw_status record_table_add_plot(record_table *table, const record_plot *plot, zw_error *error);
zw_status record_table_add_draw(record_table *table, const record_draw *draw, zw_error *error);
zw_status record_table_add_mark(record_table *table, double time, const char *label,
                                zw_error *error);
zw_status record_table_add_summary(record_table *table, const char *label, const char *text,
                                   zw_error *error);

/* Labels are unique. */
zw_status record_table_add_note(record_table *table, const char *label, const char *text,
                                zw_error *error);
/* Labels the row that is added next. */
zw_status record_table_label_row(record_table *table, const char *text, zw_error *error);

/* Columns that are known only after the rows: reserves room for `more` columns; then each is added
 * by name, with the same value in all rows. */
zw_status record_table_widen(record_table *table, int more, zw_error *error);
zw_status record_table_add_late(record_table *table, const char *name, record_role role,
                                double value, zw_error *error);
double *record_table_cell(record_table *table, int column, size_t row);

/* The row_count numbers of a column, valid until the next row. */
const double *record_table_column(const record_table *table, int column);
/* Is the column written to files of numbers? Columns that only pictures need are not. */
bool record_is_number(const record_table *table, int column);
int record_table_find(const record_table *table, const char *name); /* -1: no such column */

#endif

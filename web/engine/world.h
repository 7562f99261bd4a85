/* What the engine holds. */
#ifndef STUDIO_WORLD_H
#define STUDIO_WORLD_H

#include "engine.h"
#include "zwang/look.h"
#include "zwang/show.h"

enum { STUDIO_SETTINGS = 256, STUDIO_LEFT_OUT = 64 };
enum { STUDIO_HEAD = 12, STUDIO_CONTACT = 14, STUDIO_SUBJECT = 12 };
#define STUDIO_FAIR 0.1 /* accuracy of contact forces with "linear" */

typedef struct studio_world {
    zw_file *file;
    int file_count, file_room;
    zw_setting setting[STUDIO_SETTINGS];
    int setting_count;
    int key;                 /* of the next studio_open; -1: none */
    zw_law law;              /* of the next studio_open; name NULL: the file's */
    zw_contact_law contacts; /* likewise */
    int linear;              /* likewise: one linearisation a step */
    int left_out[STUDIO_LEFT_OUT], left_out_count;

    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state, *first; /* now, and the start */
    zw_probe *probe;
    zw_frame *frame; /* [bodies], or [points] of equations */
    zw_frame_motion *motion;
    zw_contact *contact;
    int frame_count, contact_room;
    zw_run_options step, plan;
    int selected;

    int held;        /* a pull is part of the model now, */
    int grip;        /* and this is the first of its three controls, as a parameter */
    int hidden;      /* parameters at the end of their list for pulling by the pointer */
    double *kept[5]; /* of studio_snapshot */
    int kept_count[5];

    double *problem; /* of studio_problem and studio_unexplained */
    size_t problem_room;
    double *number;
    int number_count, number_room;
    char *text;
    size_t text_used, text_room;
    char hash[24];
    zw_error error;
} studio_world;

extern studio_world studio;

int studio_fail(zw_status status, const char *text); /* returns 0 */

/* world.c: work, state and room for the system; 0: failed. The other takes them away, but for the
 * system itself. */
int studio_furnish(void);
void studio_unfurnish(void);
/* look.c: the frame of what is selected: of a body at its centre of mass. 0: nothing is. */
int studio_selected_frame(zw_frame *frame);

#endif

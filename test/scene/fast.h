/* Fast and thin bodies, drawn at random from a seed, and whether one of them has gone through
 * something. The side on which a body is follows from where its corners are, by code that knows
 * nothing of collisions:
 *
 *     wall    a body flies at a wall: all its corners are on the side that it came from
 *     post    a bar turns about a hinge towards a post: its angle never reaches that of the post
 *     room    bodies fly about in a closed room of thin walls: all their corners are inside
 *     plate   a body flies at a plate that moves and turns as well: it stays on its side
 *     chain   links on hinges swing at a wall */
#ifndef ZWANG_TEST_SCENE_FAST_H
#define ZWANG_TEST_SCENE_FAST_H

#include <stdint.h>

#include "zwang/status.h"

typedef enum fast_family {
    FAST_WALL,
    FAST_POST,
    FAST_ROOM,
    FAST_PLATE,
    FAST_CHAIN,
    FAST_FAMILIES
} fast_family;

typedef enum fast_result { FAST_FINE, FAST_THROUGH, FAST_ABORTED } fast_result;

enum { FAST_BODIES = 3, FAST_CORNERS = 24, FAST_SPEEDS = 18 };

typedef struct fast_body {
    int corners;
    double corner[FAST_CORNERS][3], radius; /* corners are rounded by the radius */
} fast_body;

typedef struct fast_case {
    fast_family family;
    uint64_t seed;
    char what[200]; /* in words */
    char text[12000];
    double step, restitution;
    int steps, bodies, speeds;
    fast_body body[FAST_BODIES];
    double speed[FAST_SPEEDS];
    double limit[2]; /* wall, plate, chain: of x; room: of all coordinates; post: of the angle */
} fast_case;

typedef struct fast_report {
    fast_result result;
    int at;        /* the step in which it happened */
    double beyond; /* by how much */
    double clock;  /* seconds of computing */
    char error[1024];
} fast_report;

const char *fast_name(fast_family family);
void fast_draw(fast_case *c, fast_family family, uint64_t seed);
/* A bar of 1 m on a hinge at its end (or in its middle), turning at `rate` against a post of the
 * radius 5 mm, a third of a turn ahead. */
void fast_bar(fast_case *c, int middle, double rate, double step);
/* A ball, or a rod end on, at this speed against a wall of 1 mm. */
void fast_bullet(fast_case *c, int rod, double speed, double step);
fast_report fast_run(const fast_case *c);

#endif

/* The families of contact scenes by name. */
#include <stdio.h>

#include "stage.h"

const char *scene_family_name(scene_family family)
{
    static const char *const names[] = {"isostatic", "stack",    "stack-tall",     "wedge",
                                        "gripper",   "arch",     "heavy-on-light", "many-on-few",
                                        "impact",    "painleve", "rolling",        "pile",
                                        "robot",     "jointed",  "elliptic",       "wedge-closing"};
    return (unsigned)family < sizeof names / sizeof *names ? names[family] : "unknown";
}

static void build_elliptic(stage *st)
{
    st->elliptic = 1;
    if (dice_chance(&st->dice, 0.5))
        stage_stack(st, 1, 6);
    else
        stage_many_on_few(st, 0);
}

static void build(stage *st, scene_family family)
{
    switch (family) {
    case SCENE_STACK:
        stage_stack(st, 1, 10);
        break;
    case SCENE_STACK_TALL:
        stage_stack(st, 11, STAGE_SOLIDS);
        break;
    case SCENE_WEDGE:
        stage_wedge(st);
        break;
    case SCENE_GRIPPER:
        stage_gripper(st);
        break;
    case SCENE_ARCH:
        stage_arch(st);
        break;
    case SCENE_HEAVY_ON_LIGHT:
        stage_heavy_on_light(st);
        break;
    case SCENE_MANY_ON_FEW:
        stage_many_on_few(st, 1);
        break;
    case SCENE_IMPACT:
        stage_impact(st);
        break;
    case SCENE_PAINLEVE:
        stage_painleve(st);
        break;
    case SCENE_ROLLING:
        stage_rolling(st);
        break;
    case SCENE_PILE:
        stage_pile(st);
        break;
    case SCENE_JOINTED:
        stage_jointed(st);
        break;
    case SCENE_ELLIPTIC:
        build_elliptic(st);
        break;
    case SCENE_WEDGE_CLOSING:
        stage_closing(st);
        break;
    case SCENE_ISOSTATIC:
    case SCENE_ROBOT: /* not made of free bodies: see robot.c */
        stage_isostatic(st);
        break;
    }
}

scene *scene_contact(scene_family family, uint64_t seed)
{
    char name[64];
    uint64_t own = seed * 1000003 + (uint64_t)family;
    snprintf(name, sizeof name, "%s-%llu", scene_family_name(family), (unsigned long long)seed);
    if (family == SCENE_ROBOT)
        return robot_scene(own, name);

    stage st;
    stage_start(&st, own);
    build(&st, family);
    return stage_finish(&st, name);
}

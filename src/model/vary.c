/* Numbers of bodies by name: "thigh.mass", "floor.friction", "knee.damping", "gravity".
 *
 * A name is PART.NUMBER, with the part's own name, or its default one ("geom3"), and
 * before it the kind where several kinds share the name: "geom:thigh.mass". A change is one of the
 * definition, before anything is computed from it: so the model is that of a file in which the
 * number was edited. Numbers that readers of files have converted already are not in the table
 * (angles in degrees, orientations), and ambiguous or absent ones are refused:
 *   - the mass of a body whose mass comes from several shapes: which?
 *   - a limit of an unlimited joint; a gain that the actuator does not have. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/bodies.h"

enum { MOST_LISTED = 12 };

/* Numbers that are members of a definition. */
static const struct plain {
    zw_kind kind;
    const char *word;
    size_t at;
} plain[] = {
    {ZW_KIND_BODY, "gravcomp", offsetof(zw_body_def, gravcomp)},
    {ZW_KIND_BODY, "inertia.x", offsetof(zw_body_def, inertia[0])},
    {ZW_KIND_BODY, "inertia.y", offsetof(zw_body_def, inertia[1])},
    {ZW_KIND_BODY, "inertia.z", offsetof(zw_body_def, inertia[2])},
    {ZW_KIND_BODY, "com.x", offsetof(zw_body_def, com[0])},
    {ZW_KIND_BODY, "com.y", offsetof(zw_body_def, com[1])},
    {ZW_KIND_BODY, "com.z", offsetof(zw_body_def, com[2])},
    {ZW_KIND_JOINT, "damping", offsetof(zw_joint_def, damping)},
    {ZW_KIND_JOINT, "stiffness", offsetof(zw_joint_def, stiffness)},
    {ZW_KIND_JOINT, "springref", offsetof(zw_joint_def, springref)},
    {ZW_KIND_JOINT, "armature", offsetof(zw_joint_def, armature)},
    {ZW_KIND_JOINT, "frictionloss", offsetof(zw_joint_def, frictionloss)},
    {ZW_KIND_GEOM, "mass", offsetof(zw_geom_def, mass)},
    {ZW_KIND_GEOM, "density", offsetof(zw_geom_def, density)},
    {ZW_KIND_GEOM, "friction", offsetof(zw_geom_def, friction[0])},
    {ZW_KIND_GEOM, "friction.spin", offsetof(zw_geom_def, friction[1])},
    {ZW_KIND_GEOM, "friction.roll", offsetof(zw_geom_def, friction[2])},
    {ZW_KIND_GEOM, "restitution", offsetof(zw_geom_def, restitution)},
    {ZW_KIND_GEOM, "margin", offsetof(zw_geom_def, margin)},
    {ZW_KIND_GEOM, "size.x", offsetof(zw_geom_def, size[0])},
    {ZW_KIND_GEOM, "size.y", offsetof(zw_geom_def, size[1])},
    {ZW_KIND_GEOM, "size.z", offsetof(zw_geom_def, size[2])},
    {ZW_KIND_GEOM, "radius", offsetof(zw_geom_def, size[0])},
    {ZW_KIND_TENDON, "damping", offsetof(zw_tendon_def, damping)},
    {ZW_KIND_TENDON, "stiffness", offsetof(zw_tendon_def, stiffness)},
    {ZW_KIND_TENDON, "armature", offsetof(zw_tendon_def, armature)},
    {ZW_KIND_TENDON, "frictionloss", offsetof(zw_tendon_def, frictionloss)},
    {ZW_KIND_ACTUATOR, "gear", offsetof(zw_actuator_def, gear[0])},
    {ZW_KIND_PAIR, "friction", offsetof(zw_pair_def, friction[0])},
};
enum { PLAIN = sizeof plain / sizeof *plain };

/* Numbers that need special treatment. */
static const struct special {
    zw_kind kind;
    const char *word;
} special[] = {{ZW_KIND_BODY, "mass"},    {ZW_KIND_JOINT, "lower"},  {ZW_KIND_JOINT, "upper"},
               {ZW_KIND_TENDON, "lower"}, {ZW_KIND_TENDON, "upper"}, {ZW_KIND_ACTUATOR, "kp"},
               {ZW_KIND_ACTUATOR, "kv"},  {ZW_KIND_ACTUATOR, "gain"}};
enum { SPECIAL = sizeof special / sizeof *special };

typedef union any_def {
    zw_body_def body;
    zw_joint_def joint;
    zw_geom_def geom;
    zw_tendon_def tendon;
    zw_actuator_def actuator;
    zw_pair_def pair;
} any_def;

/* What a name means. */
typedef struct target {
    zw_kind kind;
    int index;
    const char *word; /* in the tables */
    int at;           /* in `plain`, -1: special */
} target;

/* ---- Finding --------------------------------------------------------------------------------- */

/* A decimal number below `count`, else -1. */
static int number_below(const char *digits, int count)
{
    int number = *digits ? 0 : -1;
    for (; number >= 0 && *digits; digits++) {
        int digit = *digits >= '0' && *digits <= '9' ? *digits - '0' : count;
        number = 10LL * number + digit < count ? 10 * number + digit : -1;
    }
    return number;
}

static int find_part(const model_bodies *bodies, zw_kind kind, const char *name)
{
    int index = model_find_part(bodies, kind, name), number;
    size_t length = strlen(model_part_word(kind));
    if (index < 0 && !strncmp(name, model_part_word(kind), length) &&
        (number = number_below(name + length, bodies->count[kind])) >= 0 &&
        !*model_part_name(model_part_at(bodies, kind, number))) {
        index = number;
    }
    return index;
}

/* All possible meanings of PART "name", NUMBER "word"; `only`: a kind, or -1. */
static int find_all(const model_bodies *bodies, int only, const char *name, const char *word,
                    target *found, int capacity)
{
    int count = 0;
    for (int i = 0; i < PLAIN + SPECIAL && count < capacity; i++) {
        zw_kind kind = i < PLAIN ? plain[i].kind : special[i - PLAIN].kind;
        const char *known = i < PLAIN ? plain[i].word : special[i - PLAIN].word;
        int index = (only < 0 || only == (int)kind) && !strcmp(known, word)
                        ? find_part(bodies, kind, name)
                        : -1;
        if (index >= 0) {
            found[count++] = (target){kind, index, known, i < PLAIN ? i : -1};
        }
    }
    return count;
}

/* "geom:" before a name. */
static int kind_before(const char **name)
{
    for (int kind = 0; kind < MODEL_KINDS; kind++) {
        size_t length = strlen(model_part_word((zw_kind)kind));
        if (!strncmp(*name, model_part_word((zw_kind)kind), length) && (*name)[length] == ':') {
            *name += length + 1;
            return kind;
        }
    }
    return -1;
}

/* Names and words may contain dots: the last dot is tried first. */
static int find_targets(const model_bodies *bodies, const char *name, target *found, int capacity)
{
    char part[256];
    int only = kind_before(&name), count = 0;
    size_t length = strlen(name);
    for (size_t dot = length; dot-- > 1 && count == 0 && length < sizeof part;) {
        if (name[dot] == '.') {
            memcpy(part, name, dot);
            part[dot] = 0;
            count = find_all(bodies, only, part, name + dot + 1, found, capacity);
        }
    }
    return count;
}

/* ---- Changing -------------------------------------------------------------------------------- */

static zw_status refuse(zw_error *error, const char *name, const char *why)
{
    return base_fail(error, ZW_BAD_INPUT, "%.100s cannot be set: %s", name, why);
}

/* The mass of a body: its own, or that of its only shape with mass. */
static zw_status set_body_mass(zw_model *model, int body, const char *name, double value,
                               zw_error *error)
{
    const model_bodies *bodies = model->bodies;
    const zw_world_def *world = &bodies->world;
    int shapes = 0, last = -1;
    if (bodies->body[body].inertial && world->from_geoms != 1) {
        zw_body_def def = bodies->body[body];
        def.mass = value;
        return zw_model_change(model, ZW_KIND_BODY, body, &def, error);
    }
    for (int i = 0; i < bodies->count[ZW_KIND_GEOM]; i++) {
        const zw_geom_def *geom = &bodies->geom[i];
        if (geom->body == body && geom->mass != 0 && !(geom->mass < 0 && geom->density == 0) &&
            geom->group >= world->group_range[0] && geom->group <= world->group_range[1]) {
            shapes++;
            last = i;
        }
    }
    if (shapes != 1) {
        return refuse(error, name,
                      shapes ? "the mass is the sum of several shapes; set theirs "
                               "(geom:NAME.mass), or their density"
                             : "it has no shape that weighs");
    }
    zw_geom_def def = bodies->geom[last];
    def.mass = value;
    return zw_model_change(model, ZW_KIND_GEOM, last, &def, error);
}

static zw_status set_limit(int limited, double range[2], const target *it, const char *name,
                           double value, zw_error *error)
{
    if (!limited) {
        return refuse(error, name, "it has no limits");
    }
    range[!strcmp(it->word, "upper")] = value;
    return ZW_OK;
}

/* Servos: position, force = kp (u - length) - kv velocity; velocity, force = kv (u - velocity). */
static zw_status set_gain(zw_actuator_def *def, const target *it, const char *name, double value,
                          zw_error *error)
{
    int affine = def->gain_law == ZW_ACTUATOR_CONSTANT && def->bias_law == ZW_ACTUATOR_AFFINE;
    int position = affine && def->bias_prm[1] == -def->gain_prm[0];
    int velocity = affine && def->bias_prm[1] == 0 && def->bias_prm[2] == -def->gain_prm[0];
    if (!strcmp(it->word, "gain")) {
        if (def->gain_law != ZW_ACTUATOR_CONSTANT || affine) {
            return refuse(error, name, "its force is not a gain times its control");
        }
        def->gain_prm[0] = value;
    } else if (!strcmp(it->word, "kp") && position) {
        def->gain_prm[0] = value;
        def->bias_prm[1] = -value;
    } else if (!strcmp(it->word, "kv") && velocity) {
        def->gain_prm[0] = value;
        def->bias_prm[2] = -value;
    } else if (!strcmp(it->word, "kv") && position && def->damp_ratio == 0) {
        def->bias_prm[2] = -value;
    } else {
        return refuse(error, name, "this actuator is not a servo with such a gain");
    }
    return ZW_OK;
}

static zw_status set_special(zw_model *model, const target *it, const char *name, double value,
                             zw_error *error)
{
    any_def def;
    zw_status status = ZW_OK;
    if (it->kind == ZW_KIND_BODY) {
        return set_body_mass(model, it->index, name, value, error);
    }
    memcpy(&def, zw_model_def(model, it->kind, it->index), model_part_size(it->kind));
    if (it->kind == ZW_KIND_JOINT) {
        status = set_limit(def.joint.limited, def.joint.range, it, name, value, error);
    } else if (it->kind == ZW_KIND_TENDON) {
        status = set_limit(def.tendon.limited, def.tendon.range, it, name, value, error);
    } else {
        status = set_gain(&def.actuator, it, name, value, error);
    }
    return status == ZW_OK ? zw_model_change(model, it->kind, it->index, &def, error) : status;
}

/* Moments and centre of mass of a body, if they are computed from its shapes. */
static int is_from_shapes(const model_bodies *bodies, const target *it)
{
    return it->kind == ZW_KIND_BODY && strcmp(it->word, "gravcomp") != 0 &&
           (!bodies->body[it->index].inertial || bodies->world.from_geoms == 1);
}

static zw_status set_target(zw_model *model, const target *it, const char *name, double value,
                            zw_error *error)
{
    any_def def;
    if (it->at < 0) {
        return set_special(model, it, name, value, error);
    }
    if (is_from_shapes(model->bodies, it)) {
        return refuse(error, name, "it comes from the shapes; set their masses and sizes");
    }
    memcpy(&def, zw_model_def(model, it->kind, it->index), model_part_size(it->kind));
    memcpy((char *)&def + plain[it->at].at, &value, sizeof value);
    if (it->kind == ZW_KIND_PAIR) {
        if (!(def.pair.given & 2)) {
            return refuse(error, name, "this pair takes the friction of its shapes");
        }
        def.pair.friction[1] = value; /* equal in both tangential directions */
    }
    if (it->kind == ZW_KIND_JOINT && def.joint.springdamper[0] > 0 &&
        (!strcmp(it->word, "damping") || !strcmp(it->word, "stiffness"))) {
        return refuse(error, name, "springdamper says it");
    }
    return zw_model_change(model, it->kind, it->index, &def, error);
}

/* ---- The world ------------------------------------------------------------------------------- */

/* "gravity": its magnitude; the direction is unchanged. */
static void set_gravity(double *gravity, double value)
{
    int last = -1, parts = 0;
    double size = 0;
    for (int k = 0; k < 3; k++) {
        parts += gravity[k] != 0;
        last = gravity[k] != 0 ? k : last;
        size += gravity[k] * gravity[k];
    }
    if (parts <= 1) { /* along one axis: without round-off */
        last = last < 0 ? 2 : last;
        gravity[last] = gravity[last] > 0 ? value : -value;
        return;
    }
    for (int k = 0; k < 3; k++) {
        gravity[k] *= value / sqrt(size);
    }
}

static const char *const world_word[] = {"gravity.x", "gravity.y", "gravity.z",
                                         "density",   "viscosity", "wind.x",
                                         "wind.y",    "wind.z",    "gravity"};
enum { WORLD = sizeof world_word / sizeof *world_word };

/* 1: set; 0: not a number of the world; -1: refused. */
static int set_world(zw_model *model, const char *name, double value, zw_error *error)
{
    zw_world_def def = model->bodies->world;
    double *const number[] = {&def.gravity[0], &def.gravity[1], &def.gravity[2], &def.density,
                              &def.viscosity,  &def.wind[0],    &def.wind[1],    &def.wind[2]};
    int known = !strcmp(name, "gravity");
    if (known) {
        set_gravity(def.gravity, value);
    }
    for (int i = 0; i < 8 && !known; i++) {
        if (!strcmp(name, world_word[i])) {
            *number[i] = value;
            known = 1;
        }
    }
    return !known ? 0 : zw_model_set_world(model, &def, error) == ZW_OK ? 1 : -1;
}

static zw_status unknown(const model_bodies *bodies, const char *name, zw_error *error);

/* ---- Looking --------------------------------------------------------------------------------- */

static double number_of_body(const model_bodies *bodies, int body)
{
    const zw_body_def *def = &bodies->body[body];
    double mass = -1;
    for (int i = 0; i < bodies->count[ZW_KIND_GEOM]; i++) { /* several: zw_model_set reports it */
        mass =
            bodies->geom[i].body == body && bodies->geom[i].mass != 0 ? bodies->geom[i].mass : mass;
    }
    return def->inertial && bodies->world.from_geoms != 1 ? def->mass : mass;
}

static double special_number(const zw_model *model, const target *it)
{
    any_def def;
    if (it->kind == ZW_KIND_BODY) {
        return number_of_body(model->bodies, it->index);
    }
    memcpy(&def, zw_model_def(model, it->kind, it->index), model_part_size(it->kind));
    int upper = !strcmp(it->word, "upper");
    return it->kind == ZW_KIND_JOINT    ? def.joint.range[upper]
           : it->kind == ZW_KIND_TENDON ? def.tendon.range[upper]
           : !strcmp(it->word, "kv")    ? -def.actuator.bias_prm[2]
                                        : def.actuator.gain_prm[0];
}

static int world_number(const model_bodies *bodies, const char *name, double *value)
{
    const zw_world_def *def = &bodies->world;
    const double number[] = {def->gravity[0], def->gravity[1], def->gravity[2], def->density,
                             def->viscosity,  def->wind[0],    def->wind[1],    def->wind[2]};
    for (int i = 0; i < 8; i++) {
        if (!strcmp(name, world_word[i])) {
            *value = number[i];
            return 1;
        }
    }
    *value = sqrt(number[0] * number[0] + number[1] * number[1] + number[2] * number[2]);
    return !strcmp(name, "gravity");
}

zw_status zw_model_get(const zw_model *model, const char *name, double *value, zw_error *error)
{
    target found[2];
    if (!model || !model->bodies) {
        return base_fail(error, ZW_BAD_INPUT, "this model has no bodies, whose numbers have names");
    }
    if (world_number(model->bodies, name, value)) {
        return ZW_OK;
    }
    int count = find_targets(model->bodies, name, found, 2);
    if (count != 1) {
        return count == 0
                   ? unknown(model->bodies, name, error)
                   : base_fail(error, ZW_BAD_INPUT,
                               "'%.100s' is ambiguous: give the kind, as in geom:NAME", name);
    }
    if (found->at >= 0 && is_from_shapes(model->bodies, found)) {
        return refuse(error, name, "it comes from the shapes; set their masses and sizes");
    }
    if (found->at < 0) {
        *value = special_number(model, found);
    } else {
        const char *def = zw_model_def(model, found->kind, found->index);
        memcpy(value, def + plain[found->at].at, sizeof *value);
    }
    int weight = !strcmp(found->word, "mass");
    return weight && !(*value >= 0)
               ? refuse(error, name, "its mass is not given as a number; its shape has a density")
               : ZW_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Lists what can be set of the parts with this name. */
static zw_status unknown(const model_bodies *bodies, const char *name, zw_error *error)
{
    char part[256] = "";
    const char *rest = name;
    int only = kind_before(&rest), listed = 0;
    const char *dot = strrchr(rest, '.');
    snprintf(part, sizeof part, "%.*s", dot ? (int)(dot - rest) : 0, rest);
    base_fail(error, ZW_BAD_INPUT, "there is no '%.100s' to set", name);
    for (int i = 0; i < PLAIN + SPECIAL && listed < MOST_LISTED; i++) {
        zw_kind kind = i < PLAIN ? plain[i].kind : special[i - PLAIN].kind;
        const char *word = i < PLAIN ? plain[i].word : special[i - PLAIN].word;
        int wanted = part[0] && (only < 0 || only == (int)kind);
        const target it = {kind, wanted ? find_part(bodies, kind, part) : -1, word, i};
        if (it.index >= 0 && !(i < PLAIN && is_from_shapes(bodies, &it))) {
            base_fail_more(error, "%s %s", listed++ ? "," : "; this has", word);
        }
    }
    return ZW_BAD_INPUT;
}

void model_settable(const model_bodies *bodies, model_offer *offer, void *user)
{
    for (int i = 0; i < PLAIN + SPECIAL; i++) {
        zw_kind kind = i < PLAIN ? plain[i].kind : special[i - PLAIN].kind;
        const char *word = i < PLAIN ? plain[i].word : special[i - PLAIN].word;
        for (int k = 0; k < bodies->count[kind]; k++) {
            const char *name = *model_part_name(model_part_at(bodies, kind, k));
            const target it = {kind, k, word, i};
            if (name && !(i < PLAIN && is_from_shapes(bodies, &it))) {
                offer(user, name, word);
            }
        }
    }
    for (int i = 0; i < WORLD; i++) {
        offer(user, "", world_word[i]);
    }
}

zw_status zw_model_set(zw_model *model, const char *name, double value, zw_error *error)
{
    enum { CAPACITY = 4 };
    target found[CAPACITY];
    if (!model->bodies) {
        return base_fail(error, ZW_BAD_INPUT,
                         "this model has no bodies whose numbers could be set");
    }
    if (!isfinite(value)) {
        return base_fail(error, ZW_BAD_INPUT, "%.100s cannot be set to a number that is not finite",
                         name);
    }
    int world = set_world(model, name, value, error);
    if (world != 0) {
        return world > 0 ? ZW_OK : ZW_BAD_INPUT;
    }
    int count = find_targets(model->bodies, name, found, CAPACITY);
    if (count == 0) {
        return unknown(model->bodies, name, error);
    }
    if (count > 1) {
        return base_fail(error, ZW_BAD_INPUT, "'%.100s' is ambiguous: write %s:%.100s or %s:%.100s",
                         name, model_part_word(found[0].kind), name, model_part_word(found[1].kind),
                         name);
    }
    return set_target(model, &found[0], name, value, error);
}

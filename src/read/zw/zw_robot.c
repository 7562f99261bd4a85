/* import "robot.xml" as cart: formulas over the parts of a robot.
 *
 *     cart.elbow             the coordinate of a hinge or slide
 *     cart.hand              position of a body or site, a vector; cart.hand.x a component of it
 *     cart.hand.p .v .w      position, velocity, angular velocity
 *     cart.hand.ex .ey .ez   its axes
 *     cart.arm.com           the centre of mass of a body
 *
 * all along the axes of the world. Each scalar that a formula uses becomes a coordinate of the
 * model (model_seen), or its speed. Without `as` the names have no prefix: elbow, hand.x. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "read/file/file.h"
#include "read/robot/robot.h"
#include "read/zw/zw.h"

/* ---- The statement -------------------------------------------------------------------------- */

static int import_file(reader *r, int token)
{
    const expr_token *t = &r->tokens.token[token];
    const char *home = r->model->file[t->file].name;
    int place = read_place_token(r, token);
    char *path = read_path_join(home, read_path_folder(home), t->text + 1, (size_t)t->length - 2);
    if (path == NULL || place < 0) {
        base_free(path);
        return read_no_memory(r);
    }
    if (!robot_is(path, NULL)) {
        base_free(path);
        return read_fail(r, token,
                         "robots are imported from .xml, .mjcf and .urdf files; another .zw file "
                         "is read with include");
    }
    r->status = robot_import(r->model, path, place, r->options, r->error);
    base_free(path);
    if (r->status != ZW_OK) {
        return 0;
    }
    r->model->imported = 1;
    r->model->robot_equalities = r->model->bodies->count[ZW_KIND_EQUALITY];
    return 1;
}

/* "robot.xml" as cart */
int read_parse_import(reader *r, expr_parser *p, read_statement *s)
{
    int file = p->next;
    if (!read_take(p, EXPR_TOKEN_STRING)) {
        return read_fail_expected(r, p, s, "the name of a file between \" and \"");
    }
    if (!r->limits.includes) {
        return read_fail(r, file, "other files cannot be imported here");
    }
    if (r->robot_token >= 0) {
        return read_fail(r, s->token, "a robot is already imported (%s); only one is allowed",
                         read_show_place(r, r->robot_token, s->token).text);
    }
    r->robot_token = s->token;
    if (read_take_word(p, "as")) {
        r->robot_name = p->next;
        if (!read_take(p, EXPR_TOKEN_NAME)) {
            return read_fail_expected(r, p, s, "a name for the robot");
        }
        const expr_token *t = &p->token[r->robot_name];
        r->model->robot = model_text_copy(t->text, (size_t)t->length);
        if (r->model->robot == NULL) {
            return read_no_memory(r);
        }
    }
    return import_file(r, file);
}

int read_robot_fits(reader *r)
{
    for (int i = 0; i < r->statement_count; i++) {
        const read_statement *s = &r->statement[i];
        if (s->word->fit == READ_NOT_BESIDE_ROBOTS && r->robot_token >= 0) {
            int moves = s->word->stage <= 4; /* coordinates and masses; else laws and friction */
            return read_fail(r, s->token, "'%s' cannot be used with an imported robot (%s)%s",
                             s->word->text, read_show_place(r, r->robot_token, s->token).text,
                             moves ? ": the robot's file has the coordinates and masses" : " yet");
        }
        if (s->word->fit == READ_ROBOTS_ONLY && r->robot_token < 0) {
            return read_fail(r, s->token,
                             "'%s' is for robots, and none is imported: import \"robot.xml\"",
                             s->word->text);
        }
    }
    return 1;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static int same_character(char own, char written)
{
    int plain = (own >= 'a' && own <= 'z') || (own >= 'A' && own <= 'Z') ||
                (own >= '0' && own <= '9') || (unsigned char)own >= 0x80;
    return own == written || (!plain && written == '_');
}

int read_robot_find(const reader *r, zw_kind kind, int symbol)
{
    const model_bodies *bodies = r->model->bodies;
    const expr_symbol *s = &r->symbols.symbol[symbol];
    int found = -1;
    for (int i = 0; bodies != NULL && i < bodies->count[kind]; i++) {
        const char *name = *model_part_name(model_part_at(bodies, kind, i));
        int k = 0;
        while (name != NULL && k < s->length && name[k] != 0 &&
               same_character(name[k], s->text[k])) {
            k++;
        }
        if (name == NULL || k < s->length || name[k] != 0) {
            continue;
        }
        if (memcmp(name, s->text, (size_t)k) == 0) {
            return i; /* an exact match */
        }
        found = found < 0 ? i : found;
    }
    return found;
}

int read_robot_has_part(const reader *r, int symbol)
{
    return read_robot_find(r, ZW_KIND_JOINT, symbol) >= 0 ||
           read_robot_find(r, ZW_KIND_BODY, symbol) >= 0 ||
           read_robot_find(r, ZW_KIND_SITE, symbol) >= 0;
}

int read_robot_has(const reader *r, int symbol)
{
    return read_robot_has_part(r, symbol) || read_robot_find(r, ZW_KIND_EQUALITY, symbol) >= 0 ||
           read_robot_find(r, ZW_KIND_ACTUATOR, symbol) >= 0;
}

static void offer(const reader *r, zw_kind kind, read_guess *guess)
{
    const model_bodies *bodies = r->model->bodies;
    for (int i = 0; bodies != NULL && i < bodies->count[kind]; i++) {
        const char *name = *model_part_name(model_part_at(bodies, kind, i));
        if (name != NULL) {
            read_guess_offer(guess, name, (int)strlen(name));
        }
    }
}

void read_robot_guess(const reader *r, read_guess *guess)
{
    offer(r, ZW_KIND_JOINT, guess);
    offer(r, ZW_KIND_BODY, guess);
    offer(r, ZW_KIND_SITE, guess);
}

/* Is this the name of the robot, or of one of its parts? */
static int is_root(reader *r, int symbol, int fields)
{
    int name = read_name_find(r, symbol);
    for (int i = 0; i < r->scope_count; i++) {
        if (r->scope[i].symbol == symbol) {
            return 0;
        }
    }
    if (r->robot_name >= 0) {
        return name >= 0 && r->name[name].kind == READ_ROBOT && fields > 0;
    }
    return r->robot_token >= 0 && name < 0 && read_robot_has_part(r, symbol);
}

int read_robot_path(reader *r, int tree, read_path *path)
{
    int chain[4], count = 0;
    while (r->trees.tree[tree].kind == EXPR_TREE_FIELD && count < 4) {
        chain[count++] = tree;
        tree = r->trees.tree[tree].first;
    }
    const expr_tree *root = &r->trees.tree[tree];
    if (root->kind != EXPR_TREE_NAME || r->robot_token < 0 || !is_root(r, root->symbol, count)) {
        return 0;
    }
    int skip = r->robot_name >= 0;
    if (count - skip > 2) {
        return 0; /* a component of a value: handled by value_field */
    }
    *path = (read_path){.part = skip ? chain[count - 1] : tree, .count = count - skip};
    for (int i = 0; i < path->count; i++) {
        path->field[i] = chain[path->count - 1 - i];
    }
    return 1;
}

static int fail_part(reader *r, const read_path *path, const char *kinds, const zw_kind *kind,
                     int count)
{
    const expr_tree *node = &r->trees.tree[path->part];
    const expr_symbol *s = &r->symbols.symbol[node->symbol];
    read_guess guess = read_guess_start(s->text, s->length);
    for (int i = 0; i < count; i++) {
        offer(r, kind[i], &guess);
    }
    return read_fail(r, node->token, "the robot has no %s '%s'%s", kinds,
                     read_show_symbol(r, node->symbol).text, read_guess_show(&guess).text);
}

/* ---- Quantities ----------------------------------------------------------------------------- */

static int same_seen(const model_seen *x, const model_seen *y)
{
    return x->kind == y->kind && x->joint == y->joint && x->body == y->body && x->site == y->site &&
           x->centre == y->centre && x->axis == y->axis && x->component == y->component;
}

/* The coordinate of the model for this quantity; -1: no memory. */
static int coordinate_of(reader *r, const model_seen *seen, const char *name, int place)
{
    zw_model *model = r->model;
    for (int i = 0; i < model->coord_count; i++) {
        if (same_seen(&model->coord[i].seen, seen)) {
            return i;
        }
    }
    model_coord *coord = model_add_coord(model);
    if (coord == NULL || (coord->name = model_text_copy(name, strlen(name))) == NULL) {
        read_no_memory(r);
        return -1;
    }
    coord->place = place;
    coord->start = EXPR_NONE;
    coord->seen = *seen;
    return model->coord_count - 1;
}

/* A 3-vector, or one component of it, as coordinates or speeds. */
static int see(reader *r, int tree, model_seen seen, int component, expr_op leaf, read_value *value)
{
    read_shown dots = {""};
    snprintf(dots.text, sizeof dots.text, "%s",
             read_show_tokens(r, r->trees.tree[tree].from, r->trees.tree[tree].token + 1).text);
    read_at(r, tree);
    value->n = component < 0 ? 3 : 1;
    for (int i = 0; i < value->n; i++) {
        char name[READ_SHOWN + 8], quoted[READ_SHOWN + 8];
        seen.component = component < 0 ? i : component;
        snprintf(name, sizeof name, component < 0 ? "%s.%c" : "%s", dots.text, "xyz"[i]);
        snprintf(quoted, sizeof quoted, "'%s'", dots.text);
        int k = coordinate_of(r, &seen, name, read_place(r, tree));
        if (k < 0) {
            return 0;
        }
        value->c[i] = expr_leaf(r->model->graph, leaf, k);
        if (!read_allowed(r, tree, value->c[i], quoted)) {
            return 0;
        }
    }
    return 1;
}

static int component_of(const reader *r, int tree)
{
    const expr_symbol *s = &r->symbols.symbol[r->trees.tree[tree].symbol];
    const char *at = s->length == 1 ? strchr("xyz", *s->text) : NULL;
    return at == NULL ? -1 : (int)(at - "xyz");
}

/* .p .v .w .ex .ey .ez .com */
static int read_part(reader *r, int tree, model_seen *seen, expr_op *leaf)
{
    static const struct {
        const char *text;
        model_seen_kind kind;
        int axis, centre;
        expr_op leaf;
    } part[] = {
        {"p", MODEL_SEEN_POINT, 0, 0, EXPR_COORD},  {"v", MODEL_SEEN_POINT, 0, 0, EXPR_SPEED},
        {"w", MODEL_SEEN_TURN, 0, 0, EXPR_SPEED},   {"ex", MODEL_SEEN_AXIS, 0, 0, EXPR_COORD},
        {"ey", MODEL_SEEN_AXIS, 1, 0, EXPR_COORD},  {"ez", MODEL_SEEN_AXIS, 2, 0, EXPR_COORD},
        {"com", MODEL_SEEN_POINT, 0, 1, EXPR_COORD}};
    const expr_tree *node = &r->trees.tree[tree];
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (!read_symbol_is(r, node->symbol, part[i].text)) {
            continue;
        }
        if (part[i].centre && seen->site >= 0) {
            return read_fail(r, node->token, "a site has no centre of mass");
        }
        seen->kind = part[i].kind;
        seen->axis = part[i].axis;
        seen->centre = part[i].centre;
        *leaf = part[i].leaf;
        return 1;
    }
    return read_fail(
        r, node->token,
        "a body or site has .x .y .z or .p (its position), .v (velocity), .w (angular velocity), "
        ".ex .ey .ez (its axes) and of a body .com (its centre of mass), not .%s",
        read_show_symbol(r, node->symbol).text);
}

/* The frame of a body or site; 0: failed. */
static int frame_of(reader *r, const read_path *path, model_seen *seen)
{
    static const zw_kind kind[] = {ZW_KIND_BODY, ZW_KIND_SITE};
    int symbol = r->trees.tree[path->part].symbol;
    int body = read_robot_find(r, ZW_KIND_BODY, symbol);
    int site = body >= 0 ? -1 : read_robot_find(r, ZW_KIND_SITE, symbol);
    *seen = (model_seen){.kind = MODEL_SEEN_POINT, .body = body >= 0 ? body : 0, .site = site};
    if (body >= 0 || site >= 0) {
        return 1;
    }
    if (read_robot_find(r, ZW_KIND_JOINT, symbol) >= 0) {
        return read_fail(r, r->trees.tree[path->part].token,
                         "'%s' is a joint, and no body or site has its name",
                         read_show_symbol(r, symbol).text);
    }
    return fail_part(r, path, "body or site", kind, 2);
}

/* The joint that the path names, if it has a single coordinate; else -1. */
static int joint_of(const reader *r, const read_path *path)
{
    int joint = read_robot_find(r, ZW_KIND_JOINT, r->trees.tree[path->part].symbol);
    int kind = joint < 0 ? -1 : r->model->bodies->joint[joint].kind;
    return path->count == 0 && (kind == ZW_JOINT_HINGE || kind == ZW_JOINT_SLIDE) ? joint : -1;
}

static int check_part(reader *r, const read_path *path)
{
    static const zw_kind kind[] = {ZW_KIND_JOINT, ZW_KIND_BODY, ZW_KIND_SITE};
    int symbol = r->trees.tree[path->part].symbol;
    if (!read_robot_has_part(r, symbol)) {
        return fail_part(r, path, "joint, body or site", kind, 3);
    }
    int only_joint = read_robot_find(r, ZW_KIND_BODY, symbol) < 0 &&
                     read_robot_find(r, ZW_KIND_SITE, symbol) < 0;
    if (only_joint && path->count == 0) {
        return read_fail(r, r->trees.tree[path->part].token,
                         "'%s' is a ball or free joint and has no single coordinate; use the "
                         "position and the axes of its body",
                         read_show_symbol(r, symbol).text);
    }
    return 1;
}

int read_robot_value(reader *r, int tree, const read_path *path, read_value *value)
{
    int joint = joint_of(r, path);
    model_seen seen = {.kind = MODEL_SEEN_JOINT, .joint = joint, .site = -1};
    if (r->context.numeric) {
        return read_fail_tree(r, tree,
                              "this is something of a robot; %s is made of parameters only",
                              r->context.where);
    }
    if (joint >= 0) {
        return see(r, tree, seen, 0, EXPR_COORD, value);
    }
    expr_op leaf = EXPR_COORD;
    int component = path->count > 0 ? component_of(r, path->field[0]) : -1;
    if (!check_part(r, path) || !frame_of(r, path, &seen)) {
        return 0;
    }
    if (path->count == 0 || (component >= 0 && path->count == 1)) {
        return see(r, tree, seen, component, leaf, value);
    }
    if (component >= 0) {
        return read_fail(r, r->trees.tree[path->field[1]].token, "a scalar has no components");
    }
    if (!read_part(r, path->field[0], &seen, &leaf)) {
        return 0;
    }
    if (path->count == 2 && (component = component_of(r, path->field[1])) < 0) {
        return read_fail(r, r->trees.tree[path->field[1]].token,
                         "a component is .x, .y or .z, not .%s",
                         read_show_symbol(r, r->trees.tree[path->field[1]].symbol).text);
    }
    return see(r, tree, seen, component, leaf, value);
}

int read_robot_frame(reader *r, int tree, model_seen *seen)
{
    read_path path;
    if (!read_robot_path(r, tree, &path) || path.count > 0) {
        return read_fail_tree(r, tree, "expected a body or site of the robot");
    }
    return frame_of(r, &path, seen);
}

int read_robot_coordinate(reader *r, int tree)
{
    read_value value;
    r->context = (read_context){0};
    if (!read_value_of(r, tree, &value)) {
        return -1;
    }
    const expr_node *node = expr_graph_node(r->model->graph, value.c[0]);
    if (value.n != 1 || node->op != EXPR_COORD) {
        read_fail_tree(r, tree, "expected a joint, or .x, .y or .z of a body");
        return -1;
    }
    return node->index;
}

/* ---- Energies ------------------------------------------------------------------------------- */

int read_robot_energy(reader *r, model_seen_kind kind, expr_id *id)
{
    const model_seen seen = {.kind = kind, .site = -1};
    int k = coordinate_of(r, &seen, kind == MODEL_SEEN_KINETIC ? "kinetic" : "potential", -1);
    if (k < 0) {
        return 0;
    }
    *id = expr_leaf(r->model->graph, EXPR_COORD, k);
    if (kind == MODEL_SEEN_POTENTIAL) {
        *id = expr_binary(r->model->graph, EXPR_ADD, *id, r->model->potential);
    }
    return 1;
}

int read_robot_energy_in(reader *r, const read_value *value)
{
    expr_terms terms = {0};
    int any = 0;
    for (int i = 0; i < value->n && r->robot_token >= 0; i++) {
        if (expr_support(r->model->graph, value->c[i], EXPR_COORD, &terms) != ZW_OK) {
            break; /* reported by the graph's status */
        }
        for (int k = 0; k < terms.count; k++) {
            any |= r->model->coord[terms.term[k].index].seen.kind >= MODEL_SEEN_KINETIC;
        }
    }
    expr_terms_free(&terms);
    return any;
}

/* ---- Statements ----------------------------------------------------------------------------- */

int read_robot_torque(reader *r, int tree, const read_value *torque)
{
    model_seen seen;
    read_value turn;
    if (!read_robot_frame(r, tree, &seen)) {
        return 0;
    }
    seen.kind = MODEL_SEEN_TURN;
    r->context = (read_context){0};
    if (!see(r, tree, seen, -1, EXPR_SPEED, &turn)) {
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        int k = expr_graph_node(r->model->graph, turn.c[i])->index;
        expr_id *force = &r->model->coord[k].force;
        *force = expr_binary(r->model->graph, EXPR_ADD, *force, torque->c[i]);
    }
    return 1;
}

int read_make_start(reader *r, const read_statement *s, const read_item *item)
{
    (void)s;
    expr_id start;
    if (r->trees.tree[item->target].kind == EXPR_TREE_PRIME) {
        return read_fail_tree(r, item->target, "an initial speed is given with: speed %s",
                              "robot.hinge' = 1");
    }
    int i = read_coordinate(r, item->target);
    if (i < 0 || !read_initial(r, item->part[0], "a start value", &start)) {
        return 0;
    }
    if (r->model->coord[i].start != EXPR_NONE) {
        return read_fail_tree(r, item->target, "its start is given twice");
    }
    r->model->coord[i].start = start;
    return 1;
}

/* The actuator of this name; -1: failed. */
static int motor_of(reader *r, int tree)
{
    static const zw_kind kind[] = {ZW_KIND_ACTUATOR};
    const expr_tree *node = &r->trees.tree[tree];
    int named = r->robot_name >= 0;
    int name = node->kind == EXPR_TREE_FIELD ? node->first : -1;
    int inner = name >= 0 && r->trees.tree[name].kind == EXPR_TREE_NAME
                    ? read_name_find(r, r->trees.tree[name].symbol)
                    : -1;
    int well =
        named ? inner >= 0 && r->name[inner].kind == READ_ROBOT : node->kind == EXPR_TREE_NAME;
    if (!well) {
        read_fail_tree(r, tree, "expected a motor of the robot, such as %s",
                       named ? "robot.elbow" : "elbow");
        return -1;
    }
    int index = read_robot_find(r, ZW_KIND_ACTUATOR, node->symbol);
    if (index < 0) {
        fail_part(r, &(read_path){.part = tree}, "motor", kind, 1);
    }
    return index;
}

int read_make_motor(reader *r, const read_statement *s, const read_item *item)
{
    (void)s;
    expr_id control;
    int actuator = motor_of(r, item->target);
    if (actuator < 0 || !read_scalar_in(r, item->part[0], EXPR_ON_ACCEL | EXPR_ON_LAMBDA,
                                        "the control of a motor", &control)) {
        return 0;
    }
    for (int i = 0; i < r->model->motor_count; i++) {
        if (r->model->motor[i].actuator == actuator) {
            return read_fail_tree(r, item->target, "this motor has its control already");
        }
    }
    if (r->model->bodies->actuator[actuator].ctrl_given) {
        return read_fail_tree(r, item->target,
                              "this motor is set both by --set or a program and by a formula");
    }
    model_motor *motor = model_add_motor(r->model);
    if (motor == NULL) {
        return read_no_memory(r);
    }
    *motor = (model_motor){
        .actuator = actuator, .control = control, .place = read_place(r, item->target)};
    return 1;
}

int read_robot_setting(reader *r, const zw_setting *setting)
{
    const char *name = setting->name != NULL ? setting->name : "";
    size_t prefix = r->model->robot != NULL ? strlen(r->model->robot) : 0;
    if (prefix > 0) {
        if (strncmp(name, r->model->robot, prefix) != 0 || name[prefix] != '.') {
            return 0;
        }
        name += prefix + 1;
    }
    int index = model_find_part(r->model->bodies, ZW_KIND_ACTUATOR, name);
    if (index < 0) {
        if (strchr(name, '.') == NULL && strncmp(name, "gravity", 7) != 0) {
            return 0;
        }
        r->status = zw_model_set(r->model, name, setting->value, r->error);
        return r->status == ZW_OK ? 1 : -1;
    }
    zw_actuator_def def = r->model->bodies->actuator[index];
    def.ctrl_given = 1;
    def.ctrl = setting->value;
    r->status = zw_model_change(r->model, ZW_KIND_ACTUATOR, index, &def, r->error);
    return r->status == ZW_OK ? 1 : -1;
}

/* Coordinates, masses, energies and forces.
 *
 *     mass m at p        K += m/2 |p'|^2,   V -= m g . p           where g is the gravity
 *     inertia J of th    K += J/2 th'^2
 *     spring k           V += k/2 (|p - q| - l)^2, and k/2 |p - q|^2 (no root) without a length
 *     damper c           R += c/2 (d|p - q|/dt)^2
 *     force F at p       Q_i += dp/dq_i . F            (virtual work, Fan et al. 2005, eq. (35))
 */
#include <math.h>

#include "expr/derive.h"
#include "read/zw/zw.h"

enum {
    NO_RATES = EXPR_ON_SPEED | EXPR_ON_ACCEL | EXPR_ON_LAMBDA,
    NO_ACCEL = EXPR_ON_ACCEL | EXPR_ON_LAMBDA,
    ONLY_PARAMS = NO_RATES | EXPR_ON_COORD | EXPR_ON_TIME
};

static expr_id half(expr_graph *g, expr_id a)
{
    return expr_binary(g, EXPR_MUL, expr_const(g, 0.5), a);
}

static void add_to(expr_graph *g, expr_id *sum, expr_id term)
{
    *sum = expr_binary(g, EXPR_ADD, *sum, term);
}

/* ---- Coordinates -------------------------------------------------------------------------- */

/* The coordinate with this name; -1: failed. */
int read_coordinate(reader *r, int tree)
{
    read_path path;
    if (read_robot_path(r, tree, &path)) {
        return read_robot_coordinate(r, tree);
    }
    int member = read_member_of(r, tree);
    if (member < 0) {
        return -1;
    }
    if (r->name[r->member[member].name].kind != READ_COORD) {
        read_fail(r, r->trees.tree[tree].token, "'%s' is not a coordinate",
                  read_show_member(r, member).text);
        return -1;
    }
    return r->member[member].number;
}

/* A value that depends on parameters only can be checked now. */
int read_initial(reader *r, int tree, const char *what, expr_id *id)
{
    if (!read_scalar_in(r, tree, ONLY_PARAMS, what, id)) {
        return 0;
    }
    expr_inputs inputs = {.param = r->param_value};
    double value;
    if (expr_value(r->model->graph, *id, &inputs, &value) != ZW_OK) {
        return read_no_memory(r);
    }
    return isfinite(value) || read_fail_tree(r, tree, "%s must be a finite number", what);
}

int read_make_coord(reader *r, const read_statement *s, const read_item *item)
{
    (void)s;
    expr_id start = EXPR_ZERO;
    int i = read_coordinate(r, item->target);
    if (i < 0 || (item->part[0] >= 0 && !read_initial(r, item->part[0], "a start value", &start))) {
        return 0;
    }
    r->model->coord[i].start = start;
    return 1;
}

int read_make_speed(reader *r, const read_statement *s, const read_item *item)
{
    (void)s;
    const expr_tree *target = &r->trees.tree[item->target];
    int token = target->token;
    if (target->kind != EXPR_TREE_PRIME || target->count != 1) {
        return read_fail_tree(r, item->target,
                              "an initial speed is given with one prime, as in: "
                              "speed x' = 1");
    }
    expr_id speed;
    int i = read_coordinate(r, target->first);
    if (i < 0 || !read_initial(r, item->part[0], "an initial speed", &speed)) {
        return 0;
    }
    if (r->model->coord[i].speed != EXPR_NONE) {
        return read_fail(r, token, "the speed of '%.60s' is given twice", r->model->coord[i].name);
    }
    r->model->coord[i].speed = speed;
    return 1;
}

/* ---- Masses ------------------------------------------------------------------------------- */

int read_make_gravity(reader *r, const read_statement *s, const read_item *item)
{
    read_value g;
    if (r->gravity_count > 0) {
        return read_fail(r, s->token, "gravity is given twice, first in %s",
                         read_show_place(r, r->gravity_token, s->token).text);
    }
    if (!read_value_in(r, item->part[0], NO_RATES | EXPR_ON_COORD, "gravity", &g)) {
        return 0;
    }
    if (g.n == 1) {
        return read_fail_tree(r, item->part[0], "gravity is a vector, such as (0, -9.81)");
    }
    r->gravity = g;
    r->gravity_count = g.n;
    r->gravity_token = s->token;
    return 1;
}

static int add_weight(reader *r, const read_item *item, expr_id m, const read_value *p)
{
    expr_graph *g = r->model->graph;
    if (p->n != r->gravity_count) {
        return read_fail_tree(
            r, item->part[1], "gravity (%s) has %d components, and this point %d",
            read_show_place(r, r->gravity_token, r->trees.tree[item->part[1]].token).text,
            r->gravity_count, p->n);
    }
    expr_id weight = expr_binary(g, EXPR_MUL, m, read_dot(r, &r->gravity, p));
    r->model->potential = expr_binary(g, EXPR_SUB, r->model->potential, weight);
    r->weighed = 1;
    return 1;
}

static int add_inertia(reader *r, expr_id m, int tree, const read_value *p)
{
    read_value rate;
    expr_graph *g = r->model->graph;
    r->context = (read_context){.forbidden = NO_ACCEL, .where = "the kinetic energy of a mass"};
    if (!read_rate(r, tree, p, &rate)) {
        return 0;
    }
    expr_id square = read_dot(r, &rate, &rate);
    add_to(g, &r->model->kinetic, expr_binary(g, EXPR_MUL, half(g, m), square));
    r->has_mass = 1;
    return 1;
}

/* Stores the position of a mass: contacts without a point slide there. */
static int note_place(reader *r, int tree, const read_value *p)
{
    model_mass *mass = model_add_mass(r->model);
    if (mass == NULL) {
        return read_no_memory(r);
    }
    mass->dimension = p->n;
    mass->place = read_place_whole(r, tree);
    for (int i = 0; i < p->n; i++) {
        mass->point[i] = p->c[i];
    }
    return mass->place >= 0;
}

int read_make_mass(reader *r, const read_statement *s, const read_item *item)
{
    (void)s;
    expr_id m;
    read_value p;
    if (!read_scalar_in(r, item->part[0], NO_RATES, "a mass", &m) ||
        !read_value_in(r, item->part[1], NO_RATES, "the position of a mass", &p)) {
        return 0;
    }
    read_at_token(r, s->token);
    if (!add_inertia(r, m, item->part[1], &p) || !note_place(r, item->part[1], &p)) {
        return 0;
    }
    return r->gravity_count == 0 || p.n == 1 || add_weight(r, item, m, &p);
}

int read_make_inertia(reader *r, const read_statement *s, const read_item *item)
{
    read_value angle = {.n = 1};
    expr_id J;
    if (!read_scalar_in(r, item->part[0], NO_RATES, "an inertia", &J) ||
        !read_scalar_in(r, item->part[1], NO_RATES, "an angle", &angle.c[0])) {
        return 0;
    }
    read_at_token(r, s->token);
    r->model->more_kinetic = 1;
    return add_inertia(r, J, item->part[1], &angle);
}

/* ---- Energies ----------------------------------------------------------------------------- */

int read_make_energy(reader *r, const read_statement *s, const read_item *item)
{
    static const char *const where[] = {"a kinetic energy", "a potential", "a Lagrangian",
                                        "a Rayleigh function"};
    expr_id *const sum[] = {&r->model->kinetic, &r->model->potential, &r->model->lagrangian,
                            &r->model->rayleigh};
    int k = s->word->option;
    expr_id term;
    if (!read_scalar_in(r, item->part[0], k == 1 ? NO_RATES : NO_ACCEL, where[k], &term)) {
        return 0;
    }
    read_at_token(r, s->token);
    add_to(r->model->graph, sum[k], term);
    r->has_mass |= k == 0 || k == 2;
    r->model->more_kinetic |= k == 0 || k == 2;
    return 1;
}

int read_make_metric(reader *r, const read_statement *s, const read_item *item)
{
    expr_id term;
    if (!read_scalar_in(r, item->part[0], NO_ACCEL, "a metric", &term)) {
        return 0;
    }
    read_at_token(r, s->token);
    if (r->model->metric == EXPR_NONE) {
        r->model->metric = EXPR_ZERO;
    }
    add_to(r->model->graph, &r->model->metric, term);
    r->massless_token = s->token;
    return 1;
}

/* E = sum v dL/dv - L with L = K - V + the `lagrangian` lines (Cardin-Zanzotto 1989, eq. (3.14)).
 */
int read_energy(reader *r, int token, expr_id *energy)
{
    zw_model *m = r->model;
    if (r->robot_token >= 0) {
        expr_id kinetic;
        return read_robot_energy(r, MODEL_SEEN_KINETIC, &kinetic) &&
               read_robot_energy(r, MODEL_SEEN_POTENTIAL, energy) &&
               (*energy = expr_binary(m->graph, EXPR_ADD, kinetic, *energy)) >= 0;
    }
    if (!r->has_mass) {
        return read_fail(r, token, "this system has no masses, so it has no energy");
    }
    if (!r->energy_ready) {
        expr_graph *g = m->graph;
        expr_terms terms = {0};
        expr_id L = expr_binary(g, EXPR_ADD, expr_binary(g, EXPR_SUB, m->kinetic, m->potential),
                                m->lagrangian);
        if (expr_gradient(g, L, EXPR_SPEED, &terms) != ZW_OK) {
            expr_terms_free(&terms);
            return read_no_memory(r);
        }
        expr_id sum = expr_unary(g, EXPR_NEG, L);
        for (int i = 0; i < terms.count; i++) {
            expr_id v = expr_leaf(g, EXPR_SPEED, terms.term[i].index);
            add_to(g, &sum, expr_binary(g, EXPR_MUL, v, terms.term[i].id));
        }
        expr_terms_free(&terms);
        r->energy = sum;
        r->energy_ready = 1;
    }
    *energy = r->energy;
    return 1;
}

/* ---- Forces ------------------------------------------------------------------------------- */

/* Q_i += sum_k dp_k/dq_i F_k */
static int add_work(reader *r, const read_value *p, const read_value *F)
{
    expr_graph *g = r->model->graph;
    expr_terms terms = {0};
    for (int k = 0; k < p->n; k++) {
        if (expr_gradient(g, p->c[k], EXPR_COORD, &terms) != ZW_OK) {
            expr_terms_free(&terms);
            return read_no_memory(r);
        }
        for (int i = 0; i < terms.count; i++) {
            add_to(g, &r->model->coord[terms.term[i].index].force,
                   expr_binary(g, EXPR_MUL, terms.term[i].id, F->c[k]));
        }
    }
    expr_terms_free(&terms);
    return 1;
}

int read_make_force(reader *r, const read_statement *s, const read_item *item)
{
    const char *where = s->word->option == 0 ? "a force" : "a torque";
    int place = item->target >= 0 ? item->target : item->part[1];
    read_value p, F;
    read_path path;
    if (!read_value_in(r, item->part[0], NO_ACCEL, where, &F)) {
        return 0;
    }
    if (s->word->option == 1 && item->target < 0 && F.n == 3 && read_robot_path(r, place, &path)) {
        return read_robot_torque(r, place, &F);
    }
    if (!read_value_in(r, place, NO_RATES, "the position of a force", &p)) {
        return 0;
    }
    if (p.n != F.n) {
        return read_fail_tree(r, item->part[0], "the force is %s, and acts on %s",
                              read_show_value(&F).text, read_show_value(&p).text);
    }
    if (!(read_depends(r, &p) & EXPR_ON_COORD)) {
        return read_fail_tree(r, place, "a force on a fixed point does nothing");
    }
    read_at_token(r, s->token);
    return add_work(r, &p, &F);
}

/* p - q, checked. */
static int difference(reader *r, const read_item *item, read_value *d)
{
    read_value q;
    if (!read_value_in(r, item->part[1], NO_RATES, "the end of a spring", d) ||
        !read_value_in(r, item->part[2], NO_RATES, "the end of a spring", &q)) {
        return 0;
    }
    if (d->n != q.n) {
        return read_fail_tree(r, item->part[2], "one end is %s, the other %s",
                              read_show_value(d).text, read_show_value(&q).text);
    }
    read_at(r, item->part[1]);
    for (int i = 0; i < d->n; i++) {
        d->c[i] = expr_binary(r->model->graph, EXPR_SUB, d->c[i], q.c[i]);
    }
    return 1;
}

int read_make_spring(reader *r, const read_statement *s, const read_item *item)
{
    expr_graph *g = r->model->graph;
    read_value d;
    expr_id k, length, square;
    if (!read_scalar_in(r, item->part[0], NO_RATES, "a stiffness", &k) ||
        !difference(r, item, &d)) {
        return 0;
    }
    if (item->part[3] < 0) {
        read_at_token(r, s->token);
        square = read_dot(r, &d, &d);
    } else {
        if (!read_scalar_in(r, item->part[3], NO_RATES, "the length of a spring", &length)) {
            return 0;
        }
        read_at_token(r, s->token);
        expr_id stretch = expr_binary(g, EXPR_SUB, read_norm(r, &d), length);
        square = expr_powi(g, stretch, 2);
    }
    add_to(g, &r->model->potential, expr_binary(g, EXPR_MUL, half(g, k), square));
    return 1;
}

/* For scalars |p - q|' = +-(p' - q'): the square needs no sign, and is smooth at zero. */
int read_make_damper(reader *r, const read_statement *s, const read_item *item)
{
    expr_graph *g = r->model->graph;
    read_value d, rate;
    expr_id c;
    if (!read_scalar_in(r, item->part[0], NO_ACCEL, "a damping", &c) || !difference(r, item, &d)) {
        return 0;
    }
    read_at_token(r, s->token);
    read_value distance = {.n = 1, .c = {d.n == 1 ? d.c[0] : read_norm(r, &d)}};
    r->context = (read_context){0};
    if (!read_rate(r, item->part[1], &distance, &rate)) {
        return 0;
    }
    add_to(g, &r->model->rayleigh,
           expr_binary(g, EXPR_MUL, half(g, c), expr_powi(g, rate.c[0], 2)));
    return 1;
}

/* ---- Systems without masses (Fan et al. 2005, section 6)
 * ------------------------------------------ */

static int set_prefer(reader *r, const read_statement *s, int i, int tree)
{
    model_coord *coord = &r->model->coord[i];
    expr_id *slot = s->word->option == 0 ? &coord->prefer : &coord->free;
    expr_id value;
    if (!read_scalar_in(r, tree, NO_ACCEL, s->word->option == 0 ? "a preference" : "a free part",
                        &value)) {
        return 0;
    }
    if (*slot != EXPR_ZERO) {
        return read_fail_tree(r, tree, "%s is given twice for '%.60s'", s->word->text, coord->name);
    }
    *slot = value;
    return 1;
}

int read_make_prefer(reader *r, const read_statement *s, const read_item *item)
{
    r->massless_token = s->token;
    if (item->target >= 0) {
        int i = read_coordinate(r, item->target);
        return i >= 0 && set_prefer(r, s, i, item->part[0]);
    }
    const expr_tree *node = &r->trees.tree[item->part[0]];
    int vector = node->kind == EXPR_TREE_VECTOR;
    int count = vector ? node->count : 1;
    if (count != r->model->coord_count) {
        return read_fail_tree(r, item->part[0],
                              "%s takes one component for each coordinate: %d, "
                              "not %d",
                              s->word->text, r->model->coord_count, count);
    }
    int tree = vector ? node->first : item->part[0];
    for (int i = 0; i < count; i++) {
        if (!set_prefer(r, s, i, tree)) {
            return 0;
        }
        tree = r->trees.tree[tree].next;
    }
    return 1;
}

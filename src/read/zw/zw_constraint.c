/* Constraints, their friction and non-ideal forces, and the law they follow. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "read/zw/zw.h"

enum { NO_ACCEL = EXPR_ON_ACCEL | EXPR_ON_LAMBDA };

/* ---- Constraints -------------------------------------------------------------------------- */

static int residuals(reader *r, const read_item *item, read_value *residual)
{
    read_value left, right;
    if (!read_value_in(r, item->part[0], NO_ACCEL, "a constraint", &left) ||
        !read_value_in(r, item->part[1], NO_ACCEL, "a constraint", &right)) {
        return 0;
    }
    if (left.n != right.n) {
        return read_fail_tree(r, item->part[1], "the left side is %s, the right side %s",
                              read_show_value(&left).text, read_show_value(&right).text);
    }
    if (left.n > 1 && item->option != 0) {
        return read_fail_tree(r, item->part[0],
                              "vectors cannot be compared; write one line for "
                              "each component");
    }
    read_at(r, item->part[1]);
    residual->n = left.n;
    for (int i = 0; i < left.n; i++) {
        expr_id a = item->option == 2 ? right.c[i] : left.c[i];
        expr_id b = item->option == 2 ? left.c[i] : right.c[i];
        residual->c[i] = expr_binary(r->model->graph, EXPR_SUB, a, b);
        int on = expr_graph_node(r->model->graph, residual->c[i])->depends;
        if (!(on & (EXPR_ON_COORD | EXPR_ON_SPEED))) {
            return read_fail_tree(r, item->part[0],
                                  "there is no coordinate in this%s: it constrains nothing",
                                  left.n > 1 ? " component" : "");
        }
    }
    return 1;
}

static char *constraint_name(reader *r, const read_item *item, int *member)
{
    *member = -1;
    if (item->target >= 0) {
        *member = read_member_of(r, item->target);
        return *member >= 0 ? read_member_name(r, *member) : NULL;
    }
    char text[40];
    int length = snprintf(text, sizeof text, "constraint %d", r->model->constraint_count + 1);
    char *name = model_text_copy(text, (size_t)length);
    if (name == NULL) {
        read_no_memory(r);
    }
    return name;
}

/* The slip velocity: linear in the speeds, in one or two directions. */
static int slip_speed(reader *r, int tree, read_value *slip)
{
    expr_graph *g = r->model->graph;
    expr_terms terms = {0};
    if (!read_value_in(r, tree, NO_ACCEL, "a slip", slip)) {
        return 0;
    }
    int ok = slip->n <= 2 || read_fail_tree(r, tree, "a surface has two directions to slip in");
    for (int i = 0; i < slip->n && ok; i++) {
        ok = expr_gradient(g, slip->c[i], EXPR_SPEED, &terms) == ZW_OK || read_no_memory(r);
        if (ok && terms.count == 0) {
            ok = read_fail_tree(r, tree, "a slip is a speed, such as x' - r*th'");
        }
        for (int k = 0; k < terms.count && ok; k++) {
            int bent = expr_graph_node(g, terms.term[k].id)->depends & EXPR_ON_SPEED;
            ok = !bent || read_fail_tree(r, tree, "a slip is linear in the speeds");
        }
    }
    expr_terms_free(&terms);
    return ok;
}

/* mu at p   or   mu slip e: the friction of a constraint. The trees of p and e are parts 4 and 5 of
 * item.
 */
static int read_friction(reader *r, int mu, const read_item *item, model_constraint *c)
{
    read_value contact = {0}, slip = {0};
    if (!read_scalar_in(r, mu, NO_ACCEL, "a friction", &c->friction) ||
        (item->part[4] >= 0 &&
         !read_value_in(r, item->part[4], NO_ACCEL | EXPR_ON_SPEED, "a contact point", &contact)) ||
        (item->part[5] >= 0 && !slip_speed(r, item->part[5], &slip))) {
        return 0;
    }
    c->friction_place = read_place_whole(r, mu);
    c->contact_count = contact.n;
    memcpy(c->contact, contact.c, sizeof c->contact);
    c->slip_count = slip.n;
    memcpy(c->slip, slip.c, sizeof c->slip);
    return c->friction_place >= 0;
}

int read_make_constraint(reader *r, const read_statement *s, const read_item *item)
{
    read_value residual;
    model_constraint made = {.restitution = EXPR_NONE, .friction = EXPR_NONE};
    if (!residuals(r, item, &residual) ||
        (item->part[2] >= 0 &&
         !read_scalar_in(r, item->part[2], NO_ACCEL, "a restitution", &made.restitution)) ||
        (item->part[3] >= 0 && !read_friction(r, item->part[3], item, &made))) {
        return 0;
    }
    int member;
    char *name = constraint_name(r, item, &member);
    if (name == NULL) {
        return 0;
    }
    model_constraint *c = model_add_constraint(r->model);
    if (c == NULL) {
        base_free(name);
        return read_no_memory(r);
    }
    *c = made;
    c->name = name;
    c->place =
        read_place_token(r, item->target >= 0 ? r->trees.tree[item->target].token : s->token);
    c->relation = item->option == 0 ? MODEL_EQUAL : MODEL_AT_LEAST;
    c->rows = residual.n;
    memcpy(c->residual, residual.c, sizeof c->residual);
    if (member >= 0) {
        r->member[member].number = r->model->constraint_count - 1;
    }
    return c->place >= 0;
}

/* Rows are counted through the constraints in order. */
int read_count_rows(reader *r)
{
    int count = r->model->constraint_count;
    int *start = base_alloc((size_t)(count + 1) * sizeof *start);
    if (start == NULL) {
        return read_no_memory(r);
    }
    for (int i = 0; i < count; i++) {
        start[i + 1] = start[i] + r->model->constraint[i].rows;
    }
    for (int i = 0; i < r->member_count; i++) {
        read_member *m = &r->member[i];
        if (r->name[m->name].kind == READ_CONSTRAINT && m->number >= 0 && m->rows == 0) {
            m->row = start[m->number];
        }
    }
    r->rows = start[count];
    base_free(start);
    return read_rolling_rows(r);
}

/* The constraint of this name; NULL: failed. */
static model_constraint *named(reader *r, int tree)
{
    const expr_tree *node = &r->trees.tree[tree];
    int name = node->kind == EXPR_TREE_PRIME ? -1 : read_name_find(r, node->symbol);
    if (name < 0 || r->name[name].kind != READ_CONSTRAINT) {
        read_guess guess = read_guess_start("", 0);
        if (node->kind != EXPR_TREE_PRIME) {
            const expr_symbol *s = &r->symbols.symbol[node->symbol];
            guess = read_guess_start(s->text, s->length);
        }
        for (int i = 0; i < r->name_count; i++) {
            const expr_symbol *s = &r->symbols.symbol[r->name[i].symbol];
            if (r->name[i].kind == READ_CONSTRAINT) {
                read_guess_offer(&guess, s->text, s->length);
            }
        }
        read_fail_tree(r, tree, "there is no constraint of this name%s",
                       read_guess_show(&guess).text);
        return NULL;
    }
    int member = read_member_of(r, tree);
    if (member >= 0 && r->member[member].rows > 0) {
        read_fail_tree(r, tree, "'%s' does not slip, and has no friction",
                       read_show_member(r, member).text);
        return NULL;
    }
    return member < 0 ? NULL : &r->model->constraint[r->member[member].number];
}

/* ---- Friction and non-ideal forces -------------------------------------------------------- */

int read_make_friction(reader *r, const read_statement *s, const read_item *item)
{
    model_constraint *c[2] = {NULL, NULL};
    if (s->item_count > 2) {
        return read_fail_tree(r, item[2].target,
                              "a point slides on one constraint, or along the curve of two");
    }
    for (int i = 0; i < s->item_count; i++) {
        c[i] = named(r, item[i].target);
        if (c[i] == NULL) {
            return 0;
        }
        if (c[i]->friction != EXPR_NONE || c[i]->friction_with > 0 || c[i] == c[1 - i]) {
            return read_fail_tree(r, item[i].target, "the friction of '%.60s' is given twice",
                                  c[i]->name);
        }
        if (s->item_count > 1 && (c[i]->relation != MODEL_EQUAL || c[i]->rows != 1)) {
            return read_fail_tree(r, item[i].target,
                                  "two constraints are one curve if each is one equation with "
                                  "'='; '%.60s' is not, and has a friction line of its own",
                                  c[i]->name);
        }
    }
    if (c[1] != NULL) {
        c[0]->partner = 1 + (int)(c[1] - r->model->constraint);
        c[1]->friction_with = 1 + (int)(c[0] - r->model->constraint);
    }
    return read_friction(r, item->part[0], item, c[0]);
}

/* The coordinates that a constraint depends on, by number. */
static int involved(reader *r, const model_constraint *c, expr_terms *terms)
{
    expr_graph *g = r->model->graph;
    expr_id all = EXPR_ZERO;
    expr_terms speeds = {0};
    for (int i = 0; i < c->rows; i++) { /* only their leaves matter */
        all = expr_binary(g, EXPR_HYPOT, all, c->residual[i]);
    }
    if (expr_support(g, all, EXPR_COORD, terms) != ZW_OK ||
        expr_support(g, all, EXPR_SPEED, &speeds) != ZW_OK) {
        expr_terms_free(&speeds);
        return read_no_memory(r);
    }

    /* Merge both lists, each in order. */
    expr_terms merged = {0};
    merged.term = base_alloc((size_t)(terms->count + speeds.count) * sizeof *merged.term);
    int ok = merged.term != NULL;
    merged.capacity = terms->count + speeds.count;
    for (int i = 0, k = 0; ok && (i < terms->count || k < speeds.count);) {
        int a = i < terms->count ? terms->term[i].index : speeds.term[k].index;
        int b = k < speeds.count ? speeds.term[k].index : a;
        int least = a < b ? a : b;
        i += i < terms->count && terms->term[i].index == least;
        k += k < speeds.count && speeds.term[k].index == least;
        merged.term[merged.count++].index = least;
    }
    expr_terms_free(&speeds);
    expr_terms_free(terms);
    *terms = merged;
    return ok ? 1 : read_no_memory(r);
}

static int nonideal_reserve(reader *r, model_constraint *c, int count)
{
    c->nonideal_coord = base_alloc((size_t)count * sizeof *c->nonideal_coord);
    c->nonideal = base_alloc((size_t)count * sizeof *c->nonideal);
    return c->nonideal_coord != NULL && c->nonideal != NULL ? 1 : read_no_memory(r);
}

static int nonideal_put(reader *r, int constraint, int coord, int tree)
{
    expr_id value;
    if (!read_scalar_in(r, tree, NO_ACCEL, "a non-ideal force", &value)) {
        return 0;
    }
    model_constraint *c = &r->model->constraint[constraint];
    for (int i = 0; i < c->nonideal_count; i++) {
        if (c->nonideal_coord[i] == coord) {
            return read_fail_tree(r, tree, "'%.60s' has its component already",
                                  r->model->coord[coord].name);
        }
    }
    c->nonideal_coord[c->nonideal_count] = coord;
    c->nonideal[c->nonideal_count++] = value;
    return 1;
}

/* (c1, c2, ...): one component for each coordinate that the constraint depends on. */
static int nonideal_vector(reader *r, int constraint, int tree)
{
    model_constraint *c = &r->model->constraint[constraint];
    const expr_tree *node = &r->trees.tree[tree];
    int vector = node->kind == EXPR_TREE_VECTOR;
    int count = vector ? node->count : 1;
    int child = vector ? node->first : tree;
    expr_terms terms = {0};
    int ok = involved(r, c, &terms);
    if (ok && terms.count != count) {
        char list[160];
        size_t used = 0;
        for (int i = 0; i < terms.count && used < sizeof list - 60; i++) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.40s", i ? ", " : "",
                                     r->model->coord[terms.term[i].index].name);
        }
        ok = read_fail_tree(r, tree, "'%.60s' involves %d %s (%s%s), and this has %d %s", c->name,
                            terms.count, terms.count == 1 ? "coordinate" : "coordinates", list,
                            used < sizeof list - 60 ? "" : ", ...", count,
                            count == 1 ? "component" : "components");
    }
    ok = ok && nonideal_reserve(r, c, count);
    for (int i = 0; ok && i < count; i++) {
        ok = nonideal_put(r, constraint, terms.term[i].index, child);
        child = r->trees.tree[child].next;
    }
    expr_terms_free(&terms);
    return ok;
}

int read_make_nonideal(reader *r, const read_statement *s, const read_item *item)
{
    model_constraint *c = named(r, item->target);
    if (c == NULL) {
        return 0;
    }
    int constraint = (int)(c - r->model->constraint);
    if (c->nonideal != NULL) {
        return read_fail_tree(r, item->target, "the non-ideal force of '%.60s' is given twice",
                              c->name);
    }
    if (item[1].target < 0) {
        return nonideal_vector(r, constraint, item[1].part[0]);
    }
    if (!nonideal_reserve(r, c, s->item_count - 1)) {
        return 0;
    }
    for (int i = 1; i < s->item_count; i++) {
        int coord = item[i].target < 0 ? -1 : read_coordinate(r, item[i].target);
        if (item[i].target < 0) {
            return read_fail_tree(r, item[i].part[0],
                                  "expected a coordinate and ':'; the syntax is: %s",
                                  s->word->usage);
        }
        if (coord < 0 || !nonideal_put(r, constraint, coord, item[i].part[0])) {
            return 0;
        }
    }
    return 1;
}

/* ---- Laws (Kozlov 2000) ---------------------------------------------------------------------- */

static int law_multipliers(reader *r, const read_item *item)
{
    model_constraint *c = named(r, item->target);
    if (c == NULL) {
        return 0;
    }
    if (!(expr_graph_node(r->model->graph, c->residual[0])->depends & EXPR_ON_SPEED)) {
        return read_fail_tree(r, item->target,
                              "'%.60s' has no speeds: it is the same under all laws, and its "
                              "multiplier has no initial value",
                              c->name);
    }
    int member = read_member_of(r, item->target);
    const expr_tree *node = &r->trees.tree[item->part[0]];
    int vector = node->kind == EXPR_TREE_VECTOR;
    int count = vector ? node->count : 1;
    if (count != c->rows) {
        return read_fail_tree(r, item->part[0], "'%.60s' has %d %s, and this has %d components",
                              c->name, c->rows, c->rows == 1 ? "row" : "rows", count);
    }
    int tree = vector ? node->first : item->part[0];
    for (int i = 0; i < count; i++) {
        if (!read_number(r, tree, 0, "an initial multiplier",
                         &r->model->law.lambda[r->member[member].row + i])) {
            return 0;
        }
        r->model->law.given[r->member[member].row + i] = 1;
        tree = r->trees.tree[tree].next;
    }
    return 1;
}

/* alpha, beta, N: 1 if this item is one of them, 0 if not, -1 if it is wrong. */
static int law_number(reader *r, const read_item *item)
{
    model_law *law = &r->model->law;
    const struct {
        const char *name;
        int zero; /* may be zero */
        int mixed;
        double *value;
    } known[] = {{"alpha", 1, 1, &law->alpha}, {"beta", 1, 1, &law->beta}, {"N", 0, 0, &law->N}};
    const expr_tree *target = &r->trees.tree[item->target];
    for (int i = 0; i < 3 && law->kind != MODEL_LAW_VAKONOMIC; i++) {
        if ((law->kind == MODEL_LAW_MIXED && !known[i].mixed) || target->kind != EXPR_TREE_NAME ||
            !read_symbol_is(r, target->symbol, known[i].name)) {
            continue;
        }
        double *value = known[i].value;
        if (!read_number(r, item->part[0], 0, "a number of a law", value)) {
            return -1;
        }
        if (!(*value > 0 || (known[i].zero && *value == 0))) {
            read_fail_tree(r, item->part[0], "%s must %s", known[i].name,
                           known[i].zero ? "not be negative" : "be positive");
            return -1;
        }
        return 1;
    }
    return 0;
}

static int names_constraint(reader *r, const read_item *item)
{
    const expr_tree *node = &r->trees.tree[item->target];
    int name = node->kind == EXPR_TREE_PRIME ? -1 : read_name_find(r, node->symbol);
    return name >= 0 && r->name[name].kind == READ_CONSTRAINT;
}

/* Are the numbers that a law needs given and consistent? */
static int law_complete(reader *r, const read_statement *s)
{
    const model_law *law = &r->model->law;
    if (law->kind == MODEL_LAW_MIXED && !(law->alpha >= 0 && law->beta >= 0)) {
        return read_fail(r, s->token, "a mixed law has both numbers: law mixed alpha=1 beta=10");
    }
    if (law->kind == MODEL_LAW_PENALTY && !(law->N > 0)) {
        return read_fail(r, s->token, "a penalty law has its number: law penalty N=1e4");
    }
    if (law->kind != MODEL_LAW_VAKONOMIC && law->alpha == 0 && law->beta == 0) {
        return read_fail(r, s->token,
                         "alpha and beta are both zero: nothing holds the constraints");
    }
    return law->place >= 0;
}

int read_make_impact(reader *r, const read_statement *s, const read_item *item)
{
    (void)item;
    if (r->model->impact != ZW_IMPACT_DEFAULT) {
        return read_fail(r, s->token,
                         "there is one law of impact for a system; this is the second");
    }
    r->model->impact = (zw_impact_law)s->option;
    return 1;
}

int read_make_law(reader *r, const read_statement *s, const read_item *item)
{
    model_law *law = &r->model->law;
    if (law->place >= 0) {
        return read_fail(r, s->token, "there is one law for a system; this is the second");
    }
    law->kind = (model_law_kind)s->option;
    law->place = read_place_token(r, s->token);
    law->alpha = law->kind == MODEL_LAW_PENALTY ? 1 : -1;
    law->beta = law->kind == MODEL_LAW_PENALTY ? 0 : -1;
    if (law->kind == MODEL_LAW_NONHOLONOMIC) {
        return law->place >= 0;
    }
    law->lambda = base_alloc(((size_t)r->rows + 1) * sizeof *law->lambda);
    law->given = base_alloc(((size_t)r->rows + 1) * sizeof *law->given);
    if (law->lambda == NULL || law->given == NULL) {
        return read_no_memory(r);
    }
    for (int i = 0; i < s->item_count; i++) {
        int number = item[i].target < 0 ? 1 : law_number(r, &item[i]);
        if (number == 0 && law->kind != MODEL_LAW_VAKONOMIC && !names_constraint(r, &item[i])) {
            return read_fail_tree(
                r, item[i].target,
                "this law has no such number, nor is there such a constraint; the syntax is: %s",
                s->word->usage);
        }
        if (number < 0 || (number == 0 && !law_multipliers(r, &item[i]))) {
            return 0;
        }
    }
    return law_complete(r, s);
}

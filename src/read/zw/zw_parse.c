/* Syntax of the statements for constraints, laws, events, plots and drawings. */
#include <stdio.h>
#include <string.h>

#include "read/zw/zw.h"

/* A name before a colon, or -1 if there is none; *ok = 0: failed. */
static int parse_label(reader *r, expr_parser *p, int *ok)
{
    *ok = 1;
    if (p->token[p->next].kind != EXPR_TOKEN_NAME) {
        return -1;
    }
    int start = p->next; /* look for name: or name[...]: */
    int colon = start + 1;
    if (p->token[colon].kind == EXPR_TOKEN_OPEN_SQUARE) {
        int depth = 0;
        do {
            int kind = p->token[colon].kind;
            depth += kind == EXPR_TOKEN_OPEN_SQUARE;
            depth -= kind == EXPR_TOKEN_CLOSE_SQUARE;
            colon++;
        } while (depth > 0); /* the lexer has checked that brackets are balanced */
    }
    if (p->token[colon].kind != EXPR_TOKEN_COLON) {
        return -1;
    }
    int target = read_target(r, p);
    *ok = target >= 0;
    read_take(p, EXPR_TOKEN_COLON);
    return target;
}

/* ---- Constraints -------------------------------------------------------------------------- */

/* lhs = rhs, or a comparison that has been read as one tree. */
static int parse_relation(reader *r, expr_parser *p, read_statement *s, int part[2], int *option)
{
    int tree = read_expression(r, p);
    if (tree < 0) {
        return 0;
    }
    if (read_take(p, EXPR_TOKEN_EQUAL)) {
        part[0] = tree;
        part[1] = read_expression(r, p);
        *option = 0;
        return part[1] >= 0;
    }
    const expr_tree *node = &r->trees.tree[tree];
    if (node->kind != EXPR_TREE_COMPARE) {
        return read_fail_expected(r, p, s, "'=', '>=' or '<='");
    }
    part[0] = node->first;
    part[1] = r->trees.tree[node->first].next;
    switch (r->trees.tree[part[1]].joint) {
    case EXPR_JOINT_GREATER_EQUAL:
        *option = 1;
        return 1;
    case EXPR_JOINT_LESS_EQUAL:
        *option = 2;
        return 1;
    case EXPR_JOINT_EQUAL:
        return read_fail(r, node->token, "'==' compares; an equation is written with '='");
    case EXPR_JOINT_NOT_EQUAL:
        return read_fail(r, node->token, "a constraint is an equation with '=', or '>=' or '<='");
    default:
        return read_fail(r, node->token, "write '%s': a constraint includes its boundary",
                         r->trees.tree[part[1]].joint == EXPR_JOINT_LESS ? "<=" : ">=");
    }
}

/* at p   or   slip e   or nothing, after a coefficient of friction */
static int parse_where(reader *r, expr_parser *p, int *part)
{
    int where = read_take_word(p, "at") ? 4 : read_take_word(p, "slip") ? 5 : 0;
    if (where > 0) {
        part[where] = read_expression(r, p);
    }
    return where == 0 || part[where] >= 0;
}

/* [name:] lhs = rhs   or   lhs >= rhs, restitution e, friction mu at p (or: slip e) */
int read_parse_constraint(reader *r, expr_parser *p, read_statement *s)
{
    int ok, part[6] = {-1, -1, -1, -1, -1, -1}, option = 0;
    int target = parse_label(r, p, &ok);
    if (!ok || !parse_relation(r, p, s, part, &option)) {
        return 0;
    }
    while (read_take(p, EXPR_TOKEN_COMMA)) {
        int k = read_take_word(p, "restitution") ? 2 : read_take_word(p, "friction") ? 3 : 0;
        if (k == 0) {
            return read_fail_expected(r, p, s, "restitution or friction");
        }
        if (part[k] >= 0) {
            return read_fail(r, p->next - 1, "the %s is given twice",
                             k == 2 ? "restitution" : "friction");
        }
        if (k == 2 && option == 0) {
            return read_fail(r, p->next - 1,
                             "restitution is not for equations, only for "
                             "'>=' and '<='");
        }
        part[k] = read_expression(r, p);
        if (part[k] < 0) {
            return 0;
        }
        if (k == 3 && !parse_where(r, p, part)) {
            return 0;
        }
    }
    read_item *item = read_item_add(r, s, target);
    if (item == NULL) {
        return 0;
    }
    memcpy(item->part, part, sizeof part);
    item->option = option;
    return 1;
}

/* name = expression */
static int parse_assignment(reader *r, expr_parser *p, read_statement *s)
{
    int target = read_target(r, p);
    if (target < 0) {
        return 0;
    }
    if (!read_take(p, EXPR_TOKEN_EQUAL)) {
        return read_fail_expected(r, p, s, "'='");
    }
    int value = read_expression(r, p);
    read_item *item = value < 0 ? NULL : read_item_add(r, s, target);
    if (item != NULL) {
        item->part[0] = value;
    }
    return item != NULL;
}

/* x: e, y: e after `first`, which has been read; or only `first`. */
static int parse_coordinates(reader *r, expr_parser *p, read_statement *s, int first)
{
    int tree = first;
    for (;;) {
        int on_coordinate = read_is_target(r, tree) && read_take(p, EXPR_TOKEN_COLON);
        int value = on_coordinate ? read_expression(r, p) : tree;
        read_item *item = value < 0 ? NULL : read_item_add(r, s, on_coordinate ? tree : -1);
        if (item == NULL) {
            return 0;
        }
        item->part[0] = value;
        if (!on_coordinate || !read_take(p, EXPR_TOKEN_COMMA)) {
            return 1;
        }
        tree = read_expression(r, p);
        if (tree < 0) {
            return 0;
        }
    }
}

/* name: mu at p   or   name, name: mu slip e.  An item for each name; the first has the rest. */
int read_parse_friction(reader *r, expr_parser *p, read_statement *s)
{
    do {
        if (p->token[p->next].kind != EXPR_TOKEN_NAME) {
            return read_fail_expected(r, p, s, "the name of a constraint and ':'");
        }
        int target = read_target(r, p);
        if (target < 0 || read_item_add(r, s, target) == NULL) {
            return 0;
        }
    } while (read_take(p, EXPR_TOKEN_COMMA));
    if (!read_take(p, EXPR_TOKEN_COLON)) {
        return read_fail_expected(r, p, s, "':' and the coefficient of friction");
    }
    int part[6] = {-1, -1, -1, -1, -1, -1};
    part[0] = read_expression(r, p);
    if (part[0] < 0 || !parse_where(r, p, part)) {
        return 0;
    }
    memcpy(r->item[s->item].part, part, sizeof part);
    return 1;
}

/* name: (c1, c2)   and   name: x: c1, y: c2.  The name is the first item. */
int read_parse_labelled(reader *r, expr_parser *p, read_statement *s)
{
    int ok;
    int target = parse_label(r, p, &ok);
    if (ok && target < 0) {
        return read_fail_expected(r, p, s, "the name of a constraint and ':'");
    }
    if (!ok || read_item_add(r, s, target) == NULL) {
        return 0;
    }
    int tree = read_expression(r, p);
    return tree >= 0 && parse_coordinates(r, p, s, tree);
}

int read_parse_prefer(reader *r, expr_parser *p, read_statement *s)
{
    int tree = read_expression(r, p);
    return tree >= 0 && parse_coordinates(r, p, s, tree);
}

/* vakonomic name = 0.5   mixed alpha=1 beta=10   penalty N=1e4   nonholonomic */
int read_parse_law(reader *r, expr_parser *p, read_statement *s)
{
    static const char *const laws[] = {"nonholonomic", "vakonomic", "mixed", "penalty"};
    s->option = -1;
    for (int i = 0; i < 4 && s->option < 0; i++) {
        s->option = read_take_word(p, laws[i]) ? i : -1;
    }
    if (s->option < 0) {
        return read_fail_expected(r, p, s, "nonholonomic, vakonomic, mixed or penalty");
    }
    int law = p->next - 1;
    while (!read_at_end(p)) {
        if (!parse_assignment(r, p, s)) {
            return 0;
        }
        read_take(p, EXPR_TOKEN_COMMA);
    }
    if (s->item_count > 0 && s->option == MODEL_LAW_NONHOLONOMIC) {
        return read_fail(r, law, "the nonholonomic law has no parameters");
    }
    return s->item_count > 0 || read_item_add(r, s, -1) != NULL;
}

int read_parse_impact(reader *r, expr_parser *p, read_statement *s)
{
    s->option = read_take_word(p, "sequential")     ? ZW_IMPACT_SEQUENTIAL
                : read_take_word(p, "simultaneous") ? ZW_IMPACT_SIMULTANEOUS
                                                    : -1;
    if (s->option < 0) {
        return read_fail_expected(r, p, s, "sequential or simultaneous");
    }
    return read_item_add(r, s, -1) != NULL;
}

/* ---- Events ------------------------------------------------------------------------------- */

static int parse_sets(reader *r, expr_parser *p, read_statement *s)
{
    while (read_take(p, EXPR_TOKEN_COMMA)) {
        if (read_take_word(p, "stop")) {
            s->option = 1;
            continue;
        }
        if (!read_take_word(p, "set")) {
            return read_fail_expected(r, p, s, "set or stop");
        }
        if (!parse_assignment(r, p, s)) {
            return 0;
        }
    }
    return 1;
}

/* name: lhs = rhs rising, set x' = 0   or   name: when x > 0, set ... */
int read_parse_event(reader *r, expr_parser *p, read_statement *s)
{
    int ok;
    int target = parse_label(r, p, &ok);
    if (ok && target < 0) {
        return read_fail_expected(r, p, s, "the name of the event and ':'");
    }
    read_item *item = ok ? read_item_add(r, s, target) : NULL;
    if (item == NULL) {
        return 0;
    }
    int head = r->item_count - 1;
    int when = read_take_word(p, "when");
    int left = read_expression(r, p);
    if (left < 0) {
        return 0;
    }
    r->item[head].part[0] = left;
    r->item[head].option = when;
    if (!when) {
        if (!read_take(p, EXPR_TOKEN_EQUAL)) {
            return read_fail_expected(r, p, s, "'=' (or when, with a condition)");
        }
        int right = read_expression(r, p);
        if (right < 0) {
            return 0;
        }
        r->item[head].part[1] = right;
        r->item[head].option = read_take_word(p, "rising")    ? 1
                               : read_take_word(p, "falling") ? -1
                                                              : 0;
    }
    return parse_sets(r, p, s);
}

int read_parse_stop(reader *r, expr_parser *p, read_statement *s)
{
    if (!read_take_word(p, "when")) {
        return read_fail_expected(r, p, s, "when");
    }
    int from = p->next;
    int condition = read_expression(r, p);
    read_item *item = condition < 0 ? NULL : read_item_add(r, s, -1);
    if (item == NULL) {
        return 0;
    }
    *item = (read_item){.target = -1,
                        .part = {condition, -1, -1, -1, -1},
                        .option = 1,
                        .from = from,
                        .to = p->next};
    return 1;
}

/* energy within 1e-9   or   name: expression within 1e-9 */
int read_parse_check(reader *r, expr_parser *p, read_statement *s)
{
    int ok;
    int target = parse_label(r, p, &ok);
    int from = p->next;
    int value = ok ? read_expression(r, p) : -1;
    int to = p->next;
    int tolerance = -1;
    if (value >= 0 && read_take_word(p, "within")) {
        tolerance = read_expression(r, p);
        if (tolerance < 0) {
            return 0;
        }
    }
    read_item *item = value < 0 ? NULL : read_item_add(r, s, target);
    if (item == NULL) {
        return 0;
    }
    item->part[0] = value;
    item->part[1] = tolerance;
    item->from = from;
    item->to = to;
    return 1;
}

/* ---- Pictures ----------------------------------------------------------------------------- */

/* time a, b   phase x x', y y'   xy a, b */
int read_parse_plot(reader *r, expr_parser *p, read_statement *s)
{
    int phase = read_take_word(p, "phase");
    int xy = !phase && read_take_word(p, "xy");
    if (!phase && !xy) {
        read_take_word(p, "time");
    }
    s->option = phase ? MODEL_PLOT_PHASE : xy ? MODEL_PLOT_XY : MODEL_PLOT_TIME;
    do {
        read_item item = {.target = -1, .part = {-1, -1, -1, -1, -1}, .from = p->next};
        item.part[0] = read_expression(r, p);
        if (item.part[0] < 0) {
            return 0;
        }
        item.to = p->next;
        if (phase || xy) {
            read_take(p, EXPR_TOKEN_COMMA);
            if (!read_at_end(p) && !expr_parser_at_word(p, "for")) {
                item.from2 = p->next;
                item.part[1] = read_expression(r, p);
                if (item.part[1] < 0) {
                    return 0;
                }
            }
            item.to2 = p->next;
        }
        read_item *kept = read_item_add(r, s, -1);
        if (kept == NULL) {
            return 0;
        }
        *kept = item;
    } while (read_take(p, EXPR_TOKEN_COMMA));
    return 1;
}

static int at_option(const expr_parser *p)
{
    return read_at_end(p) || expr_parser_at_word(p, "radius") || expr_parser_at_word(p, "colour") ||
           expr_parser_at_word(p, "color") || expr_parser_at_word(p, "for");
}

static int parse_shape(reader *r, expr_parser *p, read_statement *s)
{
    static const char *const shapes[] = {"point",  "line",    "circle", "trail",
                                         "spring", "polygon", "text"};
    for (int i = 0; i < 7; i++) {
        if (read_take_word(p, shapes[i])) {
            s->option = i;
            return 1;
        }
    }
    const expr_token *t = &p->token[p->next];
    read_guess guess = read_guess_start(t->text, t->kind == EXPR_TOKEN_NAME ? t->length : 0);
    for (int i = 0; i < 7; i++) {
        read_guess_offer(&guess, shapes[i], (int)strlen(shapes[i]));
    }
    return read_fail(r, p->next,
                     "expected a shape (point, line, circle, trail, spring, polygon or "
                     "text)%s",
                     read_guess_show(&guess).text);
}

static int parse_points(reader *r, expr_parser *p, read_statement *s)
{
    do {
        int tree = read_expression(r, p);
        read_item *item = tree < 0 ? NULL : read_item_add(r, s, -1);
        if (item == NULL) {
            return 0;
        }
        item->part[0] = tree;
        read_take(p, EXPR_TOKEN_COMMA);
    } while (!at_option(p));
    return 1;
}

/* line p q r colour red;  circle p radius r;  text "label" at p */
int read_parse_draw(reader *r, expr_parser *p, read_statement *s)
{
    if (!parse_shape(r, p, s)) {
        return 0;
    }
    if (s->option == MODEL_DRAW_TEXT) {
        s->label = p->next;
        if (!read_take(p, EXPR_TOKEN_STRING)) {
            return read_fail_expected(r, p, s, "a text between \" and \"");
        }
        if (!read_take_word(p, "at")) {
            return read_fail_expected(r, p, s, "at");
        }
    }
    if (!parse_points(r, p, s)) {
        return 0;
    }
    for (;;) {
        if (read_take_word(p, "radius")) {
            if (s->option != MODEL_DRAW_CIRCLE) {
                return read_fail(r, p->next - 1, "only a circle has a radius");
            }
            int tree = read_expression(r, p);
            if (tree < 0) {
                return 0;
            }
            r->item[s->item].part[1] = tree;
        } else if (read_take_word(p, "colour") || read_take_word(p, "color")) {
            s->colour = p->next;
            if (!read_take(p, EXPR_TOKEN_NAME) && !read_take(p, EXPR_TOKEN_STRING)) {
                return read_fail_expected(r, p, s, "the name of a colour");
            }
        } else {
            return 1;
        }
    }
}

/* ---- The run and the rest ----------------------------------------------------------------- */

/* time 10, step 0.01, tol 1e-12, every 0.02, method impulse, contact convex */
int read_parse_run(reader *r, expr_parser *p, read_statement *s)
{
    static const char *const words[] = {"time",   "step",    "tol",      "every",
                                        "method", "contact", "tolerance"};
    do {
        int k = -1;
        for (int i = 0; i < 7 && k < 0; i++) {
            k = read_take_word(p, words[i]) ? i : -1;
        }
        if (k < 0) {
            return read_fail_expected(r, p, s, "time, step, tol, every, method or contact");
        }
        int token = p->next - 1;
        int value = -1;
        if (k == 4 || k == 5) { /* followed by a word */
            if (!read_take(p, EXPR_TOKEN_NAME)) {
                return read_fail_expected(
                    r, p, s, k == 4 ? "the name of a method" : "coulomb, convex or soft");
            }
        } else {
            value = read_expression(r, p);
            if (value < 0) {
                return 0;
            }
        }
        read_item *item = read_item_add(r, s, -1);
        if (item == NULL) {
            return 0;
        }
        item->part[0] = value;
        item->option = k == 6 ? 2 : k;
        item->from = token;
    } while (read_take(p, EXPR_TOKEN_COMMA));
    return 1;
}

int read_parse_title(reader *r, expr_parser *p, read_statement *s)
{
    s->label = p->next;
    if (!read_take(p, EXPR_TOKEN_STRING)) {
        return read_fail_expected(r, p, s, "a text between \" and \"");
    }
    return read_item_add(r, s, -1) != NULL;
}

int read_parse_include(reader *r, expr_parser *p, read_statement *s)
{
    const expr_token *t = &p->token[p->next];
    if (!read_take(p, EXPR_TOKEN_STRING)) {
        return read_fail_expected(r, p, s, "the name of a file between \" and \"");
    }
    return t->symbol < 0 || read_statements(r, t->symbol);
}

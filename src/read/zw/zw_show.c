/* Plots, drawings, the run and the title. */
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "read/zw/zw.h"

/* ---- What the user wrote ------------------------------------------------------------------ */

static int scope_value(const reader *r, const expr_token *t, int *value)
{
    for (int i = r->scope_count - 1; i >= 0 && t->kind == EXPR_TOKEN_NAME; i--) {
        if (r->scope[i].symbol == t->symbol) {
            *value = r->scope[i].value;
            return 1;
        }
    }
    return 0;
}

/* [i-1] as a number: tokens from the bracket on. Returns the closing bracket, 0: not that
 * simple. */
static int bracket_value(const reader *r, int token, int to, long *value)
{
    long sign = 1;
    *value = 0;
    for (int i = token + 1; i < to; i++) {
        const expr_token *t = &r->tokens.token[i];
        int index;
        if (t->kind == EXPR_TOKEN_CLOSE_SQUARE) {
            return i;
        }
        if (t->kind == EXPR_TOKEN_PLUS || t->kind == EXPR_TOKEN_MINUS) {
            sign = t->kind == EXPR_TOKEN_PLUS ? 1 : -1;
        } else if (scope_value(r, t, &index)) {
            *value += sign * index;
        } else if (t->kind == EXPR_TOKEN_NUMBER && t->number < 1e9) {
            *value += sign * (long)t->number;
        } else {
            return 0;
        }
    }
    return 0;
}

/* Tokens as written, blanks and line ends as one blank, indices of families as numbers. */
char *read_label(reader *r, int from, int to, const char *before)
{
    size_t capacity = strlen(before) + 1;
    for (int i = from; i < to; i++) {
        capacity += (size_t)r->tokens.token[i].length + 16;
    }
    char *text = base_alloc(capacity);
    if (text == NULL) {
        read_no_memory(r);
        return NULL;
    }
    size_t used = strlen(before);
    memcpy(text, before, used);
    for (int i = from; i < to; i++) {
        const expr_token *t = &r->tokens.token[i];
        int value, close;
        long index;
        if (i > from && t->blank_before) {
            text[used++] = ' ';
        }
        if (r->scope_count > 0 && t->kind == EXPR_TOKEN_OPEN_SQUARE &&
            (close = bracket_value(r, i, to, &index)) > 0) {
            used += (size_t)snprintf(text + used, capacity - used, "[%ld]", index);
            i = close;
        } else if (scope_value(r, t, &value)) {
            used += (size_t)snprintf(text + used, capacity - used, "%d", value);
        } else {
            memcpy(text + used, t->text, (size_t)t->length);
            used += (size_t)t->length;
        }
    }
    text[used] = 0;
    return text;
}

/* ---- Plots -------------------------------------------------------------------------------- */

/* The curve's expressions: y over time, or y over x; `plot xy p` uses the components of a point. */
static int curve_values(reader *r, const read_statement *s, const read_item *item,
                        model_curve *curve)
{
    *curve = (model_curve){.x = EXPR_NONE};
    if (s->option == MODEL_PLOT_TIME) {
        return read_scalar_in(r, item->part[0], 0, "a curve", &curve->y);
    }
    if (item->part[1] >= 0) {
        return read_scalar_in(r, item->part[0], 0, "a curve", &curve->x) &&
               read_scalar_in(r, item->part[1], 0, "a curve", &curve->y);
    }
    read_value p;
    if (!read_value_in(r, item->part[0], 0, "a curve", &p)) {
        return 0;
    }
    if (p.n != 2 || s->option != MODEL_PLOT_XY) {
        return read_fail_tree(r, item->part[0], "this plot takes two expressions, across and up");
    }
    curve->x = p.c[0];
    curve->y = p.c[1];
    return 1;
}

/* p is plotted as p.x and p.y, (a, b) as a and b. */
static int point_labels(reader *r, const read_item *item, model_curve *curve)
{
    const expr_tree *node = &r->trees.tree[item->part[0]];
    char *label[2];
    if (node->kind == EXPR_TREE_VECTOR) {
        const expr_tree *across = &r->trees.tree[node->first];
        const expr_tree *up = &r->trees.tree[across->next];
        label[0] = read_label(r, across->from, across->to, "");
        label[1] = read_label(r, up->from, up->to, "");
    } else {
        for (int i = 0; i < 2; i++) {
            label[i] = read_label(r, item->from, item->to, "");
            if (label[i] != NULL) { /* read_label allocates enough for the suffix */
                strcat(label[i], i == 0 ? ".x" : ".y");
            }
        }
    }
    curve->x_label = label[0];
    curve->label = label[1];
    return label[0] != NULL && label[1] != NULL;
}

static int curve_labels(reader *r, const read_statement *s, const read_item *item,
                        model_curve *curve)
{
    if (s->option != MODEL_PLOT_TIME && item->part[1] < 0) {
        return point_labels(r, item, curve);
    }
    curve->label = item->part[1] >= 0 ? read_label(r, item->from2, item->to2, "")
                                      : read_label(r, item->from, item->to, "");
    if (curve->label == NULL) {
        return 0;
    }
    if (s->option == MODEL_PLOT_TIME) {
        curve->x_label = model_text_copy("t", 1);
        return curve->x_label != NULL || read_no_memory(r);
    }
    curve->x_label = read_label(r, item->from, item->to, "");
    return curve->x_label != NULL;
}

int read_make_plot(reader *r, const read_statement *s, const read_item *item)
{
    if (r->plot_statement != s->token) {
        model_plot *plot = model_add_plot(r->model);
        if (plot == NULL) {
            return read_no_memory(r);
        }
        *plot = (model_plot){.kind = (model_plot_kind)s->option,
                             .place = read_place_token(r, s->token)};
        r->plot_statement = s->token;
        r->curve_capacity = 0;
    }
    model_curve curve;
    if (!curve_values(r, s, item, &curve)) {
        return 0;
    }
    model_plot *plot = &r->model->plot[r->model->plot_count - 1];
    if (!base_list_reserve(&plot->curve, &r->curve_capacity, plot->curve_count, sizeof curve)) {
        return read_no_memory(r);
    }
    plot->curve[plot->curve_count] =
        curve; /* owned by the model from now on, even if a label fails */
    return curve_labels(r, s, item, &plot->curve[plot->curve_count++]);
}

/* ---- Drawings ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int least, most;
} shape[] = {{"a point", 1, 100000}, {"a line", 2, 100000}, {"a circle", 1, 1},
             {"a trail", 1, 1},      {"a spring", 2, 2},    {"a polygon", 3, 100000},
             {"a text", 1, 1}};

static int check_points(reader *r, const read_statement *s)
{
    int least = shape[s->option].least, most = shape[s->option].most;
    if (s->item_count >= least && s->item_count <= most) {
        return s->option != MODEL_DRAW_CIRCLE || r->item[s->item].part[1] >= 0 ||
               read_fail(r, s->token + 1, "a circle has a radius: draw circle p radius r");
    }
    return read_fail(r, s->token + 1, "%s has %s%d %s, not %d", shape[s->option].name,
                     most > least ? "at least " : "", least, least == 1 ? "point" : "points",
                     s->item_count);
}

static int draw_points(reader *r, const read_statement *s, const read_item *item, int draw)
{
    for (int i = 0; i < s->item_count; i++) {
        read_value p;
        if (!read_value_in(r, item[i].part[0], 0, "a drawing", &p)) {
            return 0;
        }
        model_draw *d = &r->model->draw[draw];
        if (p.n == 1) {
            return read_fail_tree(r, item[i].part[0],
                                  "a point is drawn at (x, y) or (x, y, z), "
                                  "and this is a scalar");
        }
        if (i == 0) {
            d->dimension = p.n;
            d->point_count = s->item_count;
            d->point = base_alloc((size_t)(p.n * s->item_count) * sizeof *d->point);
            if (d->point == NULL) {
                return read_no_memory(r);
            }
        }
        if (p.n != d->dimension) {
            return read_fail_tree(r, item[i].part[0], "one point has %d components, another %d",
                                  d->dimension, p.n);
        }
        memcpy(d->point + i * p.n, p.c, (size_t)p.n * sizeof *p.c);
    }
    return 1;
}

/* A text without its quotes, or a word. */
static char *token_copy(reader *r, int token)
{
    const expr_token *t = &r->tokens.token[token];
    int quotes = t->kind == EXPR_TOKEN_STRING;
    char *text = model_text_copy(t->text + quotes, (size_t)(t->length - 2 * quotes));
    if (text == NULL) {
        read_no_memory(r);
    }
    return text;
}

int read_make_draw(reader *r, const read_statement *s, const read_item *item)
{
    if (!check_points(r, s)) {
        return 0;
    }
    expr_id radius = EXPR_NONE;
    if (item->part[1] >= 0 && !read_scalar_in(r, item->part[1], 0, "a radius", &radius)) {
        return 0;
    }
    model_draw *draw = model_add_draw(r->model);
    if (draw == NULL) {
        return read_no_memory(r);
    }
    draw->shape = (model_shape)s->option;
    draw->place = read_place_token(r, s->token);
    draw->radius = radius;
    if (s->label >= 0 && (draw->text = token_copy(r, s->label)) == NULL) {
        return 0;
    }
    if (s->colour >= 0 && (draw->colour = token_copy(r, s->colour)) == NULL) {
        return 0;
    }
    return draw_points(r, s, item, r->model->draw_count - 1);
}

/* ---- The run and the title ---------------------------------------------------------------- */

static int read_contact_law(reader *r, const read_item *item)
{
    zw_contact_law *contact = &r->model->run.contact;
    if (*contact != ZW_CONTACT_DEFAULT) {
        return read_fail(r, item->from, "the law of contact is given twice");
    }
    char *word = token_copy(r, item->from + 1);
    int known = word != NULL && zw_contact_law_find(word, contact) == ZW_OK;
    if (word != NULL && !known) {
        read_fail(r, item->from + 1,
                  "there is no contact law %s; the laws are coulomb, convex, soft", word);
    }
    base_free(word);
    return known;
}

int read_make_run(reader *r, const read_statement *s, const read_item *item)
{
    (void)s;
    model_run *run = &r->model->run;
    static const char *const name[] = {"time", "step", "tolerance", "interval"};
    double *const slot[] = {&run->time, &run->step, &run->tolerance, &run->every};
    if (item->option == 4) {
        if (run->method != NULL) {
            return read_fail(r, item->from, "the method is given twice");
        }
        run->method = token_copy(r, item->from + 1);
        return run->method != NULL;
    }
    if (item->option == 5) {
        return read_contact_law(r, item);
    }
    double value;
    if (!read_number(r, item->part[0], 0, "a number of a run", &value)) {
        return 0;
    }
    if (!(value > 0)) {
        return read_fail_tree(r, item->part[0], "the %s of a run must be positive, not %.10g",
                              name[item->option], value);
    }
    if (*slot[item->option] != 0) {
        return read_fail(r, item->from, "the %s is given twice", name[item->option]);
    }
    *slot[item->option] = value;
    return 1;
}

/* Included files may have titles too; that of the main file is used. */
int read_make_title(reader *r, const read_statement *s, const read_item *item)
{
    (void)item;
    if (r->tokens.token[s->token].file != 0) {
        return 1;
    }
    if (r->model->title != NULL) {
        return read_fail(r, s->token, "the title is given twice");
    }
    r->model->title = token_copy(r, s->label);
    return r->model->title != NULL;
}

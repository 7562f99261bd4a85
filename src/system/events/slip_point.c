/* The contact point of a constraint whose friction line gives none.
 *
 * Friction needs the sliding velocity in metres per second and the normal force in newtons, and
 * therefore a point in metres relative to the surface it slides on. Without a given point there is
 * an unambiguous one only if
 *
 *   1. all kinetic energy is that of point masses: a rotating body may touch away from its centre;
 *   2. exactly one of these masses is moved by all coordinates of the constraint;
 *   3. these, and the others that move that mass, move no other: else it might slide on that one;
 *   4. neither the mass nor the constraint depends on time: the surface does not move.
 *
 * In all other cases the file is refused, and the line to write is in the message. So are two
 * constraints with frictions of their own on one mass in space: they are a curve, which presses
 * with one force, |F1 + F2|, or two surfaces, which press with |F1| + |F2|. */
#include <stdio.h>
#include <string.h>

#include "expr/derive.h"
#include "system/events/slip.h"

typedef struct search {
    const zw_model *model;
    const model_constraint *constraint;
    const system_list *own; /* the coordinates of its rows */
    expr_terms terms;
    int failed; /* no memory */
} search;

typedef struct text {
    char line[200];
} text;

/* The source text at a place. */
static text quote(const zw_model *model, int place)
{
    text shown = {{0}};
    const model_place *at = &model->place[place];
    const char *from = model->file[at->file].text;
    for (int line = 1; line < at->line && *from; from++) {
        line += *from == '\n';
    }
    size_t before = (size_t)(at->column - 1), length = (size_t)at->length;
    if (strlen(from) >= before + length && length < sizeof shown.line) {
        memcpy(shown.line, from + before, length);
    }
    return shown;
}

/* The line that would give constraint c a point, or the curve of c and another. */
static text line_for(const search *s, const char *names, const char *point)
{
    text shown, mu = quote(s->model, s->constraint->friction_place);
    int nameless = strchr(names, ' ') != NULL && strchr(names, ',') == NULL;
    snprintf(shown.line, sizeof shown.line, "%s%.60s%s%.40s%s%.80s",
             nameless ? "constraint ..., friction" : "friction ", nameless ? "" : names,
             nameless ? " " : ": ", mu.line, *point ? " at " : "", point);
    return shown;
}

/* How many of the coordinates of the constraint move this mass. */
static int reached(search *s, const model_mass *mass)
{
    int found = 0;
    expr_id all = EXPR_ZERO;
    for (int i = 0; i < mass->dimension; i++) { /* only its leaves matter */
        all = expr_binary(s->model->graph, EXPR_HYPOT, all, mass->point[i]);
    }
    s->failed |= expr_support(s->model->graph, all, EXPR_COORD, &s->terms) != ZW_OK;
    for (int i = 0; i < s->terms.count && !s->failed; i++) {
        for (int k = 0; k < s->own->count; k++) {
            found += s->own->item[k] == s->terms.term[i].index;
        }
    }
    return found;
}

static int same_place(const model_mass *a, const model_mass *b)
{
    return a->dimension == b->dimension &&
           memcmp(a->point, b->point, (size_t)a->dimension * sizeof(expr_id)) == 0;
}

/* A coordinate that moves this mass and another; -1: none. */
static int shared_coordinate(search *s, const model_mass *mass)
{
    expr_terms own = {0};
    int shared = -1;
    reached(s, mass);
    own = s->terms;
    s->terms = (expr_terms){0};
    for (int i = 0; i < s->model->mass_count && !s->failed && shared < 0; i++) {
        if (same_place(&s->model->mass[i], mass)) {
            continue;
        }
        reached(s, &s->model->mass[i]);
        for (int k = 0; k < s->terms.count && !s->failed; k++) {
            for (int l = 0; l < own.count; l++) {
                shared = own.term[l].index == s->terms.term[k].index ? own.term[l].index : shared;
            }
        }
    }
    expr_terms_free(&own);
    return shared;
}

static int depends_on_time(const zw_model *model, const expr_id *id, int count)
{
    int on = 0;
    for (int i = 0; i < count; i++) {
        on |= expr_graph_node(model->graph, id[i])->depends & EXPR_ON_TIME;
    }
    return on;
}

/* Two masses that together, but not alone, are moved by all coordinates of the constraint: a block
 * and the body it slides on. The position of the first relative to the second. */
static text relative_point(search *s)
{
    text shown = {"p"};
    const model_mass *pair[2] = {NULL, NULL};
    int count = 0, covered = 0;
    for (int i = 0; i < s->model->mass_count && !s->failed; i++) {
        int found = reached(s, &s->model->mass[i]);
        if (found > 0 && count < 2) {
            pair[count] = &s->model->mass[i];
        }
        count += found > 0;
        covered += found;
    }
    if (count == 2 && covered == s->own->count && pair[0]->dimension == pair[1]->dimension) {
        text of = quote(s->model, pair[1]->place), from = quote(s->model, pair[0]->place);
        snprintf(shown.line, sizeof shown.line, "%.60s - %.60s", of.line, from.line);
    }
    return shown;
}

/* The mass that the constraint acts on; NULL: it is ambiguous, and `why` says why. */
static const model_mass *find(search *s, char *why, size_t capacity, text *point)
{
    const zw_model *model = s->model;
    const model_mass *found = NULL;
    int several = 0, shared;
    for (int i = 0; i < model->mass_count && !s->failed; i++) {
        const model_mass *mass = &model->mass[i];
        if (reached(s, mass) == s->own->count) {
            several |= found && !same_place(mass, found);
            found = mass;
        }
    }
    if (!found || several) {
        *point = several ? (text){"p"} : relative_point(s);
        snprintf(why, capacity, "%s can touch",
                 several ? "several masses" : "no `mass ... at` point alone");
        return NULL;
    }
    *point = quote(model, found->place);
    if (model->more_kinetic) {
        snprintf(why, capacity,
                 "there are more than point masses, and what turns may touch elsewhere");
    } else if (depends_on_time(model, found->point, found->dimension) ||
               depends_on_time(model, s->constraint->residual, s->constraint->rows) ||
               (s->constraint->partner > 0 &&
                depends_on_time(model, model->constraint[s->constraint->partner - 1].residual,
                                1))) {
        snprintf(why, capacity, "the time takes part, so that what it slides on may move");
    } else if ((shared = shared_coordinate(s, found)) >= 0) {
        snprintf(why, capacity, "%.40s moves another mass as well, on which it may slide",
                 model->coord[shared].name);
    } else {
        return found;
    }
    return NULL;
}

/* Two constraints in space, each with its own friction, act on one mass. */
static zw_status ask_which(const search *s, const model_constraint *other, const char *point,
                           zw_error *error)
{
    char both[130];
    snprintf(both, sizeof both, "%.60s, %.60s", other->name, s->constraint->name);
    text curve = line_for(s, both, ""), one = line_for(s, s->constraint->name, point);
    return model_fail(s->model, error, ZW_BAD_INPUT, s->constraint->friction_place,
                      "constraints %.60s and %.60s both rub on %.60s. If they are a curve, which "
                      "presses with one force, write `%s` instead of both lines; if they are two "
                      "surfaces, each with a friction of its own, write `%s`, and the same "
                      "for %.60s",
                      other->name, s->constraint->name, point, curve.line, one.line, other->name);
}

zw_status slip_find_point(const zw_model *model, const slip_where *where, expr_id *point, int *size,
                          zw_error *error)
{
    char why[120] = "";
    text at = {{0}};
    search s = {
        .model = model, .constraint = &model->constraint[where->constraint], .own = where->own};
    const model_mass *mass = find(&s, why, sizeof why, &at);
    expr_terms_free(&s.terms);
    if (s.failed) {
        return ZW_NO_MEMORY;
    }
    if (!mass) {
        return model_fail(model, error, ZW_BAD_INPUT, s.constraint->friction_place,
                          "where does constraint %s rub? %s; write `%s` with the point that "
                          "touches as it is seen from what it slides on, or `slip e` instead of "
                          "`at` with the speed e of sliding",
                          s.constraint->name, why, line_for(&s, s.constraint->name, at.line).line);
    }
    int alone = s.constraint->relation == MODEL_EQUAL && s.constraint->rows == 1 &&
                s.constraint->partner == 0 && mass->dimension == MODEL_DIMENSION;
    int *before = &where->friction_at[mass - model->mass];
    if (alone && *before > 0) {
        return ask_which(&s, &model->constraint[*before - 1], at.line, error);
    }
    *before = alone ? 1 + where->constraint : *before;
    *size = mass->dimension;
    memcpy(point, mass->point, sizeof mass->point);
    return ZW_OK;
}

/* The goal of a motion: reach x = 1, y = 0 at 2. */
#include <math.h>

#include "read/zw/zw.h"

enum {
    ONLY_PARAMS = EXPR_ON_SPEED | EXPR_ON_ACCEL | EXPR_ON_LAMBDA | EXPR_ON_COORD | EXPR_ON_TIME
};

/* x = 1, y = 0 at 2; the time may be given in one of several such lines, or in a `run` line. */
int read_parse_reach(reader *r, expr_parser *p, read_statement *s)
{
    if (!read_parse_definitions(r, p, s)) {
        return 0;
    }
    if (read_take_word(p, "at")) {
        int at = read_expression(r, p);
        if (at < 0) {
            return 0;
        }
        for (int i = 0; i < s->item_count; i++) {
            r->item[s->item + i].part[1] = at;
        }
    }
    return 1;
}

static int reach_time(reader *r, int tree)
{
    model_reach *reach = &r->model->reach;
    double time;
    if (!read_number(r, tree, 0, "the time of arrival", &time)) {
        return 0;
    }
    if (!(time > 0 && isfinite(time))) {
        return read_fail_tree(r, tree, "the time of arrival must be positive, not %.10g", time);
    }
    if (reach->time != 0 && reach->time != time) {
        return read_fail_tree(
            r, tree,
            "all coordinates arrive at the same time; this is %.10g, the earlier one %.10g", time,
            reach->time);
    }
    reach->time = time;
    return 1;
}

int read_make_reach(reader *r, const read_statement *s, const read_item *item)
{
    model_reach *reach = &r->model->reach;
    const expr_tree *target = &r->trees.tree[item->target];
    if (target->kind == EXPR_TREE_PRIME) {
        return read_fail_tree(r, item->target,
                              "the goal is given by coordinates; the speeds follow");
    }
    int i = read_coordinate(r, item->target);
    expr_id value;
    if (i < 0 || !read_scalar_in(r, item->part[0], ONLY_PARAMS, "the place of arrival", &value) ||
        (item->part[1] >= 0 && !reach_time(r, item->part[1]))) {
        return 0;
    }
    if (r->model->coord[i].reach != EXPR_NONE) {
        return read_fail_tree(r, item->target, "where '%.60s' arrives is given twice",
                              r->model->coord[i].name);
    }
    r->model->coord[i].reach = value;
    if (reach->place < 0) {
        reach->place = read_place_token(r, s->token);
    }
    return reach->place >= 0;
}

/* The time of arrival and the end of the run are equal; one may be omitted. */
int read_reach_complete(reader *r)
{
    model_reach *reach = &r->model->reach;
    model_run *run = &r->model->run;
    if (reach->place < 0) {
        return 1;
    }
    if (reach->time == 0 && run->time == 0) {
        for (int i = 0; i < r->statement_count; i++) {
            if (r->statement[i].word->make == read_make_reach) {
                return read_fail(r, r->statement[i].token, "when? the syntax is: %s",
                                 r->statement[i].word->usage);
            }
        }
    }
    reach->time = reach->time > 0 ? reach->time : run->time;
    run->time = run->time > 0 ? run->time : reach->time;
    return 1;
}

/* Sliding speed and normal force of a constraint with friction.
 *
 *   at u      u(q, t) is the position of the contact point, in metres, relative to the surface it
 *             slides on: p on fixed ground, p - c where the ground moves with c, and the components
 *             of p - c in the ground's own axes where it rotates as well. Then its rate
 *             u' = J v + u_t, J = du/dq, is the sliding velocity, and the force nu lambda of a row
 *             on the point and its reaction on the ground together are J' nu lambda on the
 *             coordinates: action = reaction, whatever the coordinates mean. That is the force
 *             A' lambda of the row, so nu = (J J') \ (J A'), and |nu lambda| is the normal force in
 *             newtons however the row is scaled. It exists only if the constraint depends on u
 *             alone: for every motion psi = nu . u', that is A = J' nu and psi - A v = nu . u_t.
 *             `miss` is the sum of the squares of both differences, relative to their sizes;
 *             state.c refuses a point that misses. So moving ground cannot be forgotten in u,
 *             unless it moves along itself.
 *   slip e    The sliding velocity itself, linear in v. The residual of the constraint is taken as
 *             a distance: the normal force is |lambda|.
 *   neither   u is the position of the mass that the constraint acts on: slip_point.c.
 *
 * The normal force may come from one row, two rows of one constraint, or one each of two
 * constraints that define a curve (`friction a, b: mu`); it is the length of the sum of nu lambda.
 *
 * The sliding velocity is the part of s = u' perpendicular to the directions nu:
 *
 *     one in the plane      e = (nu_y s_x - nu_x s_y) / |nu|
 *     two in space          e = s . (nu1 x nu2) / |nu1 x nu2|
 *     one in space          e = s - n (n . s),  n = nu / |nu|: three components of rank two
 *
 * All become formulas e with T = de/dv and the bias D e, so that sticking, e = 0, is T a = -D e
 * however the surface moves; friction acts on the coordinates with -mu |sum nu lambda| T' e/|e|. */
#include "system/events/slip.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { SPACE = MODEL_DIMENSION };

/* One constraint while its formulas are derived. */
typedef struct contact_formulas {
    zw_system *system;
    expr_graph *graph;
    const model_constraint *constraint;
    slip_rows A;
    int index;               /* of the constraint */
    int rows, row[SPACE];    /* the rows of the system with the normal force */
    expr_id residual[SPACE]; /* of these */
    int size;                /* components of the point */
    expr_id point[SPACE];
    expr_id s[SPACE];         /* its speed */
    expr_id nu[SPACE][SPACE]; /* by row */
    expr_id miss;
    int width;
    expr_id e[SPACE];
    expr_terms terms;
    system_list own; /* the coordinates of its rows, in order */
} contact_formulas;

/* ---- Small algebra in the graph ------------------------------------------------------------- */

static expr_id multiply(expr_graph *g, expr_id a, expr_id b)
{
    return expr_binary(g, EXPR_MUL, a, b);
}

static expr_id minus(expr_graph *g, expr_id a, expr_id b)
{
    return expr_binary(g, EXPR_SUB, a, b);
}

static expr_id over(expr_graph *g, expr_id a, expr_id b)
{
    return a == EXPR_ZERO ? EXPR_ZERO : expr_binary(g, EXPR_DIV, a, b);
}

static expr_id dot(expr_graph *g, int n, const expr_id *a, const expr_id *b)
{
    expr_id sum = EXPR_ZERO;
    for (int i = 0; i < n; i++) {
        sum = expr_binary(g, EXPR_ADD, sum, multiply(g, a[i], b[i]));
    }
    return sum;
}

static expr_id norm(expr_graph *g, int n, const expr_id *a)
{
    return expr_unary(g, EXPR_SQRT, dot(g, n, a, a));
}

/* x = G \ x by elimination; G is symmetric and positive. */
static void solve(expr_graph *g, int n, expr_id G[SPACE][SPACE], expr_id *x)
{
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            expr_id factor = over(g, G[i][k], G[k][k]);
            for (int j = k + 1; j < n; j++) {
                G[i][j] = minus(g, G[i][j], multiply(g, factor, G[k][j]));
            }
            x[i] = minus(g, x[i], multiply(g, factor, x[k]));
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            x[k] = minus(g, x[k], multiply(g, G[k][j], x[j]));
        }
        x[k] = over(g, x[k], G[k][k]);
    }
}

/* ---- The point ------------------------------------------------------------------------------ */

static expr_id entry_of(const contact_formulas *b, int row, int coord)
{
    const zw_system *system = b->system;
    int r = b->row[row];
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        if (b->A.column[k] == coord) {
            return b->A.node[k];
        }
    }
    return EXPR_ZERO;
}

/* Inserts a coordinate into an ordered list. */
static void involve(system_list *list, int coord)
{
    int at = 0;
    while (at < list->count && list->item[at] < coord) {
        at++;
    }
    if (at < list->count && list->item[at] == coord) {
        return;
    }
    system_list_add(list, coord);
    for (int k = list->count - 1; k > at && !list->failed; k--) {
        list->item[k] = list->item[k - 1];
        list->item[k - 1] = coord;
    }
}

/* J over the coordinates `list`, [size * list->count], to be freed; NULL: no memory. */
static expr_id *gradients(contact_formulas *b, system_list *list)
{
    zw_status status = ZW_OK;
    for (int k = 0; k < b->own.count; k++) {
        system_list_add(list, b->own.item[k]);
    }
    for (int i = 0; i < b->size && status == ZW_OK; i++) {
        status = expr_support(b->graph, b->point[i], EXPR_COORD, &b->terms);
        for (int k = 0; k < b->terms.count && status == ZW_OK; k++) {
            involve(list, b->terms.term[k].index);
        }
    }
    int n = list->count;
    expr_id *J = status != ZW_OK || list->failed
                     ? NULL
                     : base_alloc(((size_t)b->size * (size_t)n + 1) * sizeof(expr_id));
    for (int i = 0; i < b->size && J && status == ZW_OK; i++) {
        status = expr_gradient(b->graph, b->point[i], EXPR_COORD, &b->terms);
        for (int k = 0, at = 0; k < b->terms.count && status == ZW_OK; k++) {
            while (list->item[at] != b->terms.term[k].index) {
                at++;
            }
            J[i * n + at] = b->terms.term[k].id;
        }
    }
    if (status != ZW_OK) {
        base_free(J);
    }
    return status == ZW_OK ? J : NULL;
}

static void cross(expr_graph *g, const expr_id *a, const expr_id *b, expr_id *c)
{
    for (int i = 0; i < SPACE; i++) {
        int j = (i + 1) % SPACE, k = (i + 2) % SPACE;
        c[i] = minus(g, multiply(g, a[j], b[k]), multiply(g, a[k], b[j]));
    }
}

/* J' nu = A where J is square, by Cramer's rule: near a singularity of the coordinates, such as r =
 * 0 of polar ones, J J' loses twice the digits of J, and intervals widen accordingly. */
static void solve_square(expr_graph *g, int n, const expr_id *A, const expr_id *J, expr_id *nu)
{
    for (int i = 0; i < n; i++) {
        const expr_id *next = J + (i + 1) % n * n;
        expr_id beside[SPACE] = {next[1 % n], EXPR_ZERO, EXPR_ZERO};
        if (n == 2) {
            beside[1] = minus(g, EXPR_ZERO, next[0]);
        } else if (n == SPACE) {
            cross(g, next, J + (i + 2) % n * n, beside);
        } else {
            beside[0] = EXPR_ONE;
        }
        nu[i] = over(g, dot(g, n, beside, A), dot(g, n, beside, J + i * n));
    }
}

/* nu = (J J') \ (J A') for row r, and its contribution to `miss`; A and J have n entries. */
static void push_of_row(contact_formulas *b, int r, int n, const expr_id *A, const expr_id *J)
{
    expr_graph *g = b->graph;
    expr_id G[SPACE][SPACE], *nu = b->nu[r], missed = EXPR_ZERO;
    for (int i = 0; i < b->size && n != b->size; i++) {
        nu[i] = dot(g, n, J + i * n, A);
        for (int j = 0; j < b->size; j++) {
            G[i][j] = dot(g, n, J + i * n, J + j * n);
        }
    }
    if (n == b->size) {
        solve_square(g, n, A, J, nu);
    } else {
        solve(g, b->size, G, nu);
    }
    for (int k = 0; k < n; k++) {
        expr_id rest = A[k];
        for (int i = 0; i < b->size; i++) {
            rest = minus(g, rest, multiply(g, J[i * n + k], nu[i]));
        }
        missed = expr_binary(g, EXPR_ADD, missed, multiply(g, rest, rest));
    }
    missed = over(g, missed, dot(g, n, A, A));
    b->miss = expr_binary(g, EXPR_ADD, b->miss, missed);
}

/* psi - A v of row r: the rate of its residual while nothing moves; and the square of the
 * subtracted term. */
static zw_status rate_at_rest(contact_formulas *b, int r, expr_id *rate, expr_id *square)
{
    expr_graph *g = b->graph;
    *rate = *square = EXPR_ZERO;
    if (expr_graph_node(g, b->residual[r])->depends & EXPR_ON_SPEED) {
        *rate = b->residual[r];
        for (int k = 0; k < b->own.count; k++) {
            expr_id v = expr_leaf(g, EXPR_SPEED, b->own.item[k]);
            expr_id part = multiply(g, entry_of(b, r, b->own.item[k]), v);
            *rate = minus(g, *rate, part);
            *square = expr_binary(g, EXPR_ADD, *square, multiply(g, part, part));
        }
        return ZW_OK;
    }
    zw_status status = expr_gradient(g, b->residual[r], EXPR_TIME, &b->terms);
    if (status == ZW_OK && b->terms.count > 0) {
        *rate = b->terms.term[0].id;
    }
    return status;
}

/* Adds the difference of nu . u_t and psi - A v to `miss`. */
static zw_status compare_rates(contact_formulas *b)
{
    expr_graph *g = b->graph;
    expr_id u_t[SPACE];
    zw_status status = ZW_OK;
    for (int i = 0; i < b->size && status == ZW_OK; i++) {
        status = expr_gradient(g, b->point[i], EXPR_TIME, &b->terms);
        u_t[i] = status == ZW_OK && b->terms.count > 0 ? b->terms.term[0].id : EXPR_ZERO;
    }
    for (int r = 0; r < b->rows && status == ZW_OK; r++) {
        expr_id rate, square;
        status = rate_at_rest(b, r, &rate, &square);
        if (status == ZW_OK) {
            expr_id seen = dot(g, b->size, b->nu[r], u_t), rest = minus(g, seen, rate);
            expr_id size = expr_binary(
                g, EXPR_ADD, multiply(g, rate, rate),
                multiply(g, dot(g, b->size, u_t, u_t), dot(g, b->size, b->nu[r], b->nu[r])));
            /* nothing moves at this instant: no difference */
            expr_id part = rest == EXPR_ZERO
                               ? EXPR_ZERO
                               : expr_select(g, expr_binary(g, EXPR_EQUAL, size, EXPR_ZERO),
                                             EXPR_ZERO, over(g, multiply(g, rest, rest), size));
            b->miss = expr_binary(g, EXPR_ADD, b->miss, part);
        }
    }
    return status;
}

static zw_status push_of(contact_formulas *b)
{
    system_list list = {0};
    expr_id *J = gradients(b, &list);
    expr_id *A = J ? base_alloc(((size_t)list.count + 1) * sizeof(expr_id)) : NULL;
    for (int r = 0; r < b->rows && A; r++) {
        for (int k = 0; k < list.count; k++) {
            A[k] = entry_of(b, r, list.item[k]);
        }
        push_of_row(b, r, list.count, A, J);
    }
    zw_status status =
        A ? expr_rate(b->graph, b->point, b->size, EXPR_RATE_BIAS, b->s) : ZW_NO_MEMORY;
    base_free(J);
    base_free(A);
    system_list_free(&list);
    return status == ZW_OK ? compare_rates(b) : status;
}

/* ---- The slip ------------------------------------------------------------------------------- */

static zw_status slip_of_point(contact_formulas *b, zw_error *error)
{
    expr_graph *g = b->graph;
    const expr_id *nu = b->nu[0], *mu = b->nu[1], *s = b->s;
    if (b->size == 2 && b->rows == 1) {
        expr_id along = minus(g, multiply(g, nu[1], s[0]), multiply(g, nu[0], s[1]));
        b->e[0] = over(g, along, norm(g, 2, nu));
        b->width = 1;
    } else if (b->size == 3 && b->rows == 2) {
        expr_id c[SPACE];
        cross(g, nu, mu, c);
        b->e[0] = over(g, dot(g, SPACE, c, s), norm(g, SPACE, c));
        b->width = 1;
    } else if (b->size == 3 && b->rows == 1) {
        expr_id along = over(g, dot(g, SPACE, nu, s), dot(g, SPACE, nu, nu));
        for (int i = 0; i < SPACE; i++) {
            b->e[i] = minus(g, s[i], multiply(g, along, nu[i]));
        }
        b->width = SPACE;
    } else {
        return model_fail(b->system->model, error, ZW_BAD_INPUT, b->constraint->friction_place,
                          "a point of %d components that %d equations hold has no direction to "
                          "slide in: friction acts along a curve in the plane (one equation), or "
                          "on a surface (one) or along a curve (two) in space%s",
                          b->size, b->rows,
                          b->size == SPACE && b->rows == 1 + (b->constraint->partner > 0)
                              ? "; `friction a, b: mu at p` makes one curve of two equations"
                              : "");
    }
    return ZW_OK;
}

static zw_status describe(contact_formulas *b, int *friction_at, zw_error *error)
{
    const model_constraint *constraint = b->constraint;
    zw_status status = ZW_OK;
    if (constraint->slip_count > 0) {
        b->width = constraint->slip_count;
        b->size = b->rows;
        memcpy(b->e, constraint->slip, sizeof b->e);
        for (int r = 0; r < b->rows; r++) {
            b->nu[r][r] = EXPR_ONE;
        }
        return ZW_OK;
    }
    b->size = constraint->contact_count;
    memcpy(b->point, constraint->contact, sizeof b->point);
    if (b->size == 0) {
        const slip_where where = {
            .constraint = b->index, .own = &b->own, .friction_at = friction_at};
        status = slip_find_point(b->system->model, &where, b->point, &b->size, error);
    }
    status = status == ZW_OK ? push_of(b) : status;
    return status == ZW_OK ? slip_of_point(b, error) : status;
}

/* Columns of T, and all formulas in the order of system_slip. */
static zw_status write(contact_formulas *b, system_slip *slip, system_list *columns,
                       system_list *out)
{
    expr_graph *g = b->graph;
    expr_id bias[SPACE], all = EXPR_ZERO;
    zw_status status = expr_rate(g, b->e, b->width, EXPR_RATE_BIAS, bias);
    for (int i = 0; i < b->width; i++) { /* only its leaves matter */
        all = expr_binary(g, EXPR_HYPOT, all, b->e[i]);
    }
    status = status == ZW_OK ? expr_support(g, all, EXPR_SPEED, &b->terms) : status;
    *slip = (system_slip){.width = b->width,
                          .rank = b->width == SPACE ? 2 : b->width,
                          .rows = b->rows,
                          .size = b->size,
                          .columns = b->terms.count,
                          .first_column = columns->count,
                          .at = out->count};
    memcpy(slip->row, b->row, sizeof slip->row);
    for (int k = 0; k < b->terms.count; k++) {
        system_list_add(columns, b->terms.term[k].index);
    }
    for (int i = 0; i < b->width; i++) {
        system_list_add(out, b->e[i]);
    }
    for (int i = 0; i < b->width; i++) {
        system_list_add(out, bias[i]);
    }
    for (int i = 0; i < b->width && status == ZW_OK && !columns->failed; i++) {
        status = expr_gradient(g, b->e[i], EXPR_SPEED, &b->terms);
        for (int k = 0, from = 0; k < slip->columns; k++) {
            int column = columns->item[slip->first_column + k];
            int here = from < b->terms.count && b->terms.term[from].index == column;
            system_list_add(out, here ? b->terms.term[from].id : EXPR_ZERO);
            from += here;
        }
    }
    for (int r = 0; r < b->rows; r++) {
        for (int i = 0; i < b->size; i++) {
            system_list_add(out, b->nu[r][i]);
        }
    }
    system_list_add(out, b->miss);
    return status;
}

/* The rows of the normal force, and the coordinates in them. */
static void take_rows(contact_formulas *b)
{
    const zw_system *system = b->system;
    const int of[2] = {b->index, b->constraint->partner - 1};
    for (int i = 0; i < (b->constraint->partner > 0 ? 2 : 1); i++) {
        const model_constraint *constraint = &system->model->constraint[of[i]];
        for (int r = 0; r < constraint->rows; r++) {
            int row = system->first_row[of[i]] + r;
            b->residual[b->rows] = constraint->residual[r];
            b->row[b->rows++] = row;
            for (int k = system->A_start[row]; k < system->A_start[row + 1]; k++) {
                involve(&b->own, b->A.column[k]);
            }
        }
    }
}

zw_status slip_derive(zw_system *system, slip_rows A, system_list *out, zw_error *error)
{
    const zw_model *model = system->model;
    system_list columns = {0};
    zw_status status = ZW_OK;
    int *friction_at = base_alloc(((size_t)model->mass_count + 1) * sizeof *friction_at);
    system->slip = base_alloc(((size_t)model->constraint_count + 1) * sizeof(system_slip));
    if (!system->slip || !friction_at) {
        base_free(friction_at);
        return ZW_NO_MEMORY;
    }
    for (int c = 0; c < model->constraint_count && status == ZW_OK; c++) {
        contact_formulas b = {.system = system,
                              .graph = model->graph,
                              .constraint = &model->constraint[c],
                              .A = A,
                              .index = c};
        if (b.constraint->friction == EXPR_NONE) {
            continue;
        }
        expr_graph_at(b.graph, b.constraint->place);
        take_rows(&b);
        status = b.own.failed ? ZW_NO_MEMORY : describe(&b, friction_at, error);
        status = status == ZW_OK ? write(&b, &system->slip[c], &columns, out) : status;
        expr_terms_free(&b.terms);
        system_list_free(&b.own);
    }
    base_free(friction_at);
    system->slip_column = columns.item;
    return status == ZW_OK && (columns.failed || out->failed) ? ZW_NO_MEMORY : status;
}

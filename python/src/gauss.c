/* zwang.gauss.solve: Gauss's problem given by matrices, solved and certified. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A problem given from Python: numbers are copied, names are borrowed from the blocks. */
typedef struct problem {
    zw_gauss gauss;
    zw_gauss_options options;
    numbers M, free, force, A, b, compliance, guess;
    int *M_start, *M_row, *A_start, *A_column;
    zw_block *block;
    int m;
} problem;

static void release(problem *p)
{
    numbers *all[] = {&p->M, &p->free, &p->force, &p->A, &p->b, &p->compliance, &p->guess};
    for (int k = 0; k < (int)(sizeof all / sizeof *all); k++) {
        PyMem_Free(all[k]->data);
    }
    free(p->M_start);
    free(p->M_row);
    free(p->A_start);
    free(p->A_column);
    free(p->block);
}

/* None or an array of numbers; `count` -1: of any length. */
static int optional(PyObject *from, Py_ssize_t count, const char *what, numbers *to)
{
    return !from || from == Py_None || numbers_get(from, count, what, to);
}

/* A buffer of C ints. NULL: an exception is set. */
static int *integers(PyObject *from, Py_ssize_t *count)
{
    Py_buffer view;
    int *copy = NULL;
    if (PyObject_GetBuffer(from, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        return NULL;
    }
    if (!view.format || strcmp(view.format, "i") != 0) {
        PyErr_SetString(PyExc_TypeError, "indices are C ints");
    } else if ((copy = malloc((size_t)view.len + 1)) != NULL) {
        memcpy(copy, view.buf, (size_t)view.len);
        *count = view.len / (Py_ssize_t)sizeof *copy;
    } else {
        PyErr_NoMemory();
    }
    PyBuffer_Release(&view);
    return copy;
}

/* Is this the pattern of a compressed matrix of `lines` lines with indices 0 to limit - 1? */
static int is_pattern(const int *start, Py_ssize_t starts, const int *index, Py_ssize_t indices,
                      Py_ssize_t values, int lines, int limit)
{
    int fine = starts == (Py_ssize_t)lines + 1 && indices == values && start[0] == 0 &&
               start[lines] == indices;
    for (int i = 0; fine && i < lines; i++) {
        fine = start[i] <= start[i + 1];
    }
    for (Py_ssize_t k = 0; fine && k < indices; k++) {
        fine = index[k] >= 0 && index[k] < limit;
    }
    if (!fine) {
        PyErr_SetString(PyExc_ValueError, "a sparse matrix has the wrong shape");
    }
    return fine;
}

/* (start, index, value) of a compressed matrix. */
static int get_sparse(PyObject *from, int lines, int limit, int **start, int **index,
                      numbers *value)
{
    PyObject *part[3];
    Py_ssize_t starts = 0, indices = 0;
    return PyArg_ParseTuple(from, "OOO", &part[0], &part[1], &part[2]) &&
           (*start = integers(part[0], &starts)) && (*index = integers(part[1], &indices)) &&
           numbers_get(part[2], -1, "a sparse matrix", value) &&
           is_pattern(*start, starts, *index, indices, value->count, lines, limit);
}

static int get_metric(problem *p, PyObject *M)
{
    zw_metric *metric = &p->gauss.metric;
    Py_ssize_t n = p->gauss.n;
    if (M == Py_None) {
        metric->kind = ZW_METRIC_IDENTITY;
        return 1;
    }
    if (PyTuple_Check(M)) {
        metric->kind = ZW_METRIC_SPARSE;
        if (!get_sparse(M, (int)n, (int)n, &p->M_start, &p->M_row, &p->M)) {
            return 0;
        }
        metric->start = p->M_start;
        metric->row = p->M_row;
    } else {
        if (!numbers_get(M, -1, "M", &p->M)) {
            return 0;
        }
        if (p->M.count != n && p->M.count != n * n) {
            PyErr_Format(PyExc_ValueError, "M has %zd numbers, for %zd unknowns", p->M.count, n);
            return 0;
        }
        metric->kind = p->M.count == n * n && n > 1 ? ZW_METRIC_DENSE : ZW_METRIC_DIAGONAL;
    }
    metric->value = p->M.data;
    return 1;
}

/* (name, kind, rows, friction, lower, upper) */
static int get_block(PyObject *from, zw_block *to)
{
    PyObject *friction;
    int kind;
    numbers mu;
    if (!PyArg_ParseTuple(from, "siiOdd", &to->name, &kind, &to->rows, &friction, &to->limit[0],
                          &to->limit[1]) ||
        !numbers_get(friction, -1, "friction", &mu)) {
        return 0;
    }
    int fine = kind >= ZW_EQUALITY && kind <= ZW_BOX && mu.count < ZW_CONE_ROWS;
    to->kind = (zw_block_kind)kind;
    if (fine) {
        memcpy(to->friction, mu.data, (size_t)mu.count * sizeof(double));
    } else {
        PyErr_SetString(PyExc_ValueError, "a block has an unknown kind, or too many coefficients");
    }
    PyMem_Free(mu.data);
    return fine;
}

static int get_blocks(problem *p, PyObject *blocks)
{
    Py_ssize_t count = PyTuple_Check(blocks) ? PyTuple_Size(blocks) : -1;
    if (count < 0 || count > INT_MAX / 8) {
        PyErr_SetString(PyExc_TypeError, "blocks are a tuple");
        return 0;
    }
    p->block = calloc((size_t)count + 1, sizeof *p->block);
    if (!p->block) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        zw_block *block = &p->block[i];
        if (!get_block(PyTuple_GetItem(blocks, i), block)) {
            return 0;
        }
        if (block->rows < 0 || block->rows > INT_MAX - p->m) {
            PyErr_SetString(PyExc_ValueError, "a block has an impossible number of rows");
            return 0;
        }
        p->m += block->rows;
    }
    p->gauss.block = p->block;
    p->gauss.block_count = (int)count;
    return 1;
}

static int get_rows(problem *p, PyObject *A)
{
    if (PyTuple_Check(A)) {
        if (!get_sparse(A, p->m, p->gauss.n, &p->A_start, &p->A_column, &p->A)) {
            return 0;
        }
        p->gauss.A = (zw_rows){NULL, p->A_start, p->A_column, p->A.data};
        return 1;
    }
    if (!numbers_get(A, (Py_ssize_t)p->m * p->gauss.n, "A", &p->A)) {
        return 0;
    }
    p->gauss.A.dense = p->A.data;
    return 1;
}

static int get_problem(problem *p, PyObject *arguments, PyObject *names)
{
    static char *words[] = {"n", "M",          "blocks", "A",      "free",      "force",
                            "b", "compliance", "guess",  "convex", "tolerance", "least_squares",
                            NULL};
    PyObject *M, *blocks, *A, *free_ = NULL, *force = NULL, *b = NULL, *soft = NULL, *guess = NULL;
    int convex = 0;
    zw_gauss *g = &p->gauss;
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "iOOO|OOOOOpdp", words, &g->n, &M, &blocks,
                                     &A, &free_, &force, &b, &soft, &guess, &convex,
                                     &p->options.tolerance, &p->options.least_squares)) {
        return 0;
    }
    if (g->n < 1 || g->n > 100000000) {
        PyErr_SetString(PyExc_ValueError, "there must be at least one unknown");
        return 0;
    }
    if (!get_metric(p, M) || !get_blocks(p, blocks) || !get_rows(p, A) ||
        !optional(free_, g->n, "free", &p->free) || !optional(force, g->n, "force", &p->force) ||
        !optional(b, p->m, "b", &p->b) || !optional(soft, p->m, "compliance", &p->compliance) ||
        !optional(guess, p->m, "guess", &p->guess)) {
        return 0;
    }
    g->free = p->free.data;
    g->force = p->force.data;
    g->b = p->b.data;
    g->compliance = p->compliance.data;
    p->options.guess = p->guess.data;
    p->options.contact = convex ? ZW_CONTACT_CONVEX : ZW_CONTACT_COULOMB;
    return 1;
}

/* ---- The answer ------------------------------------------------------------------------------ */

static PyObject *copied(core_state *core, const double *from, int count)
{
    PyObject *memory = memory_doubles(core, count);
    if (memory && from && count > 0) {
        memcpy(memory_data(memory), from, (size_t)count * sizeof(double));
    }
    return memory;
}

static PyObject *listed(const int *from, int count)
{
    PyObject *list = PyTuple_New(count);
    for (int i = 0; list && i < count; i++) {
        PyTuple_SetItem(list, i, PyLong_FromLong(from[i]));
    }
    return list;
}

static PyObject *answer(core_state *core, const zw_motion *m, zw_status status)
{
    const zw_certificate *c = &m->certificate;
    return Py_BuildValue(
        "{s:N,s:N,s:N,s:N,s:N,s:N,s:d,s:i,s:N,s:N,s:N,s:s,s:i,s:i,s:s,s:d,s:d,s:d,s:d,s:d,s:d}",
        "a", copied(core, m->a, m->n), "multipliers", copied(core, m->lambda, m->m), "residual",
        copied(core, m->residual, m->m), "F_N", copied(core, m->F_N, m->n), "F_L",
        copied(core, m->F_L, m->n), "F_C", copied(core, m->F_C, m->n), "Z", m->Z, "rank", m->rank,
        "redundant", listed(m->redundant, m->redundant_count), "conflict",
        listed(m->conflict, m->conflict_count), "undetermined",
        listed(m->undetermined, m->undetermined_count), "method", m->method ? m->method : "",
        "iterations", m->iterations, "factorizations", m->factorizations, "status",
        zw_status_text(status), "certificate", c->worst, "stationarity", c->stationarity,
        "feasibility", c->feasibility, "membership", c->membership, "complementarity",
        c->complementarity, "natural", c->natural);
}

PyObject *gauss_solve(PyObject *module, PyObject *arguments, PyObject *names)
{
    core_state *core = PyModule_GetState(module);
    problem p = {0};
    zw_error error = {.status = ZW_OK};
    zw_gauss_work *work = NULL;
    zw_motion motion = {0};
    PyObject *made = NULL;
    if (get_problem(&p, arguments, names)) {
        zw_status status = ZW_NO_MEMORY;
        Py_BEGIN_ALLOW_THREADS;
        work = zw_gauss_work_create(&p.gauss, &p.options, &error);
        if (work) {
            status = zw_gauss_solve(&p.gauss, &p.options, work, &motion, &error);
        }
        Py_END_ALLOW_THREADS;
        /* a solution outside the tolerance is still returned, with its certificate */
        if (work && (status == ZW_OK || status == ZW_INACCURATE)) {
            made = answer(core, &motion, status);
        } else {
            core_raise(core, &error);
        }
    }
    zw_gauss_work_free(work);
    release(&p);
    return made;
}

/* The quantities of bodies that formulas use ("seen"), at an instant.
 *
 * With w, alpha the angular velocity and acceleration of a frame, v, a those of its origin, u_k the
 * unit vectors of the world:
 *
 *     seen            y         y' = c . (w, v)              y''
 *     position        p_k       v_k,  c = (0, u_k)           a_k
 *     axis e          e_k       (w x e)_k,  c = (e x u_k, 0) (alpha x e + w x (w x e))_k
 *     rotation        -         w_k,  c = (u_k, 0)           alpha_k
 *     joint           q         v                            a
 *
 * For a = 0, y'' is the J' v of bodies.h. */
#include <string.h>

#include "base/memory.h"
#include "model/pose.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

enum { MOVING = sizeof(bodies_moving) / sizeof(double) };

/* The arrays of formulas in work->rows. */
typedef struct places {
    double *y, *rate, *accel, *out;
    bodies_moving *frame;
} places;

size_t bodies_formula_scratch(const bodies_formulas *formulas)
{
    return formulas ? 3 * (size_t)formulas->count + MOVING * (size_t)formulas->frame_count +
                          (size_t)formulas->most
                    : 0;
}

static places find(const zw_system *system, const zw_work *work)
{
    const bodies_formulas *formulas = system->bodies->formulas;
    double *from = work->rows + bodies_scratch(system) - bodies_formula_scratch(formulas);
    places p = {.frame = (bodies_moving *)from};
    p.y = from + MOVING * (size_t)formulas->frame_count;
    p.rate = p.y + formulas->count;
    p.accel = p.rate + formulas->count;
    p.out = p.accel + formulas->count;
    return p;
}

const double *bodies_formula_outputs(const zw_system *system, const zw_work *work)
{
    return find(system, work).out;
}

/* ---- Looking -------------------------------------------------------------------------------- */

static void see_axis(const bodies_moving *frame, const bodies_seen *it, double now[3])
{
    const double *e = frame->axis[it->axis];
    double turn[3], swing[3], pull[3];
    model_cross(turn, frame->V, e);
    model_cross(swing, frame->A, e);
    model_cross(pull, frame->V, turn);
    now[0] = e[it->component];
    now[1] = turn[it->component];
    now[2] = swing[it->component] + pull[it->component];
}

/* y, y', y'' */
static void see(const zw_system *system, const zw_work *work, const bodies_seen *it,
                const bodies_moving *frame, const expr_inputs *in, double now[3])
{
    double energy[2];
    now[0] = now[1] = now[2] = 0;
    switch (it->kind) {
    case MODEL_SEEN_JOINT:
        now[0] = in->q[it->q];
        now[1] = in->v[it->dof];
        now[2] = in->a ? in->a[it->dof] : 0;
        break;
    case MODEL_SEEN_POINT:
        now[0] = frame[it->frame].place[it->component];
        now[1] = frame[it->frame].V[3 + it->component];
        now[2] = frame[it->frame].A[3 + it->component];
        break;
    case MODEL_SEEN_AXIS:
        see_axis(&frame[it->frame], it, now);
        break;
    case MODEL_SEEN_TURN:
        now[1] = frame[it->frame].V[it->component];
        now[2] = frame[it->frame].A[it->component];
        break;
    case MODEL_SEEN_KINETIC:
    case MODEL_SEEN_POTENTIAL:
        tree_energies(system->tree, in->q, in->v, work->sweeps, energy);
        energy[0] += bodies_armature_energy(system, work, in->q, in->v);
        energy[1] += bodies_add_springs(system, (zw_work *)work, in->q, NULL);
        now[0] = energy[it->kind == MODEL_SEEN_POTENTIAL];
        break;
    default:
        break;
    }
}

static expr_inputs look(const zw_system *system, zw_work *work, const expr_inputs *in)
{
    const bodies_formulas *formulas = system->bodies->formulas;
    places p = find(system, work);
    tree_accelerations(system->tree, in->a, work->sweeps);
    for (int f = 0; f < formulas->frame_count; f++) {
        p.frame[f] = bodies_look(system, work, &formulas->frame[f]);
    }
    for (int k = 0; k < formulas->count; k++) {
        double now[3];
        see(system, work, &formulas->seen[k], p.frame, in, now);
        p.y[k] = now[0];
        p.rate[k] = now[1];
        p.accel[k] = now[2];
    }
    return (expr_inputs){
        .t = in->t, .param = in->param, .q = p.y, .v = p.rate, .a = p.accel, .lambda = in->lambda};
}

expr_inputs bodies_look_all(const zw_system *system, zw_work *work, const expr_inputs *in)
{
    tree_kinematics(system->tree, in->q, work->sweeps);
    tree_velocities(system->tree, in->v, work->sweeps);
    return look(system, work, in);
}

const double *bodies_run_formulas(const zw_system *system, zw_work *work, system_part part,
                                  const expr_inputs *in)
{
    if (!system->bodies->formulas) {
        return NULL;
    }
    const expr_inputs leaves = look(system, work, in);
    double *out = find(system, work).out;
    expr_tape_run(system->tape[part].code, &leaves, work->registers[part], out);
    return out;
}

/* ---- Rows and forces ------------------------------------------------------------------------ */

/* c += factor * the coefficients of a seen quantity. */
static void add_coefficients(const bodies_seen *it, const bodies_moving *frame, double factor,
                             double c[6])
{
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double across[3];
    switch (it->kind) {
    case MODEL_SEEN_POINT:
        c[3 + it->component] += factor;
        break;
    case MODEL_SEEN_AXIS:
        model_cross(across, frame->axis[it->axis], unit[it->component]);
        for (int k = 0; k < 3; k++) {
            c[k] += factor * across[k];
        }
        break;
    case MODEL_SEEN_TURN:
        c[it->component] += factor;
        break;
    default:
        break;
    }
}

int bodies_gather(const zw_system *system, const zw_work *work, int frame, const int *list,
                  const double *x, int count, double c[6], const double **place)
{
    const bodies_formulas *formulas = system->bodies->formulas;
    const bodies_moving *moving = &find(system, work).frame[frame];
    int any = 0;
    memset(c, 0, 6 * sizeof *c);
    for (int k = 0; k < count; k++) {
        const bodies_seen *it = &formulas->seen[list[k]];
        if (it->frame == frame) {
            add_coefficients(it, moving, x[k], c);
            any = 1;
        }
    }
    *place = moving->place;
    return any;
}

int bodies_seen_row(const zw_system *system, zw_work *work, int index, int *dof, double *coef)
{
    const bodies_formulas *formulas = system->bodies->formulas;
    const bodies_seen *it = &formulas->seen[index];
    const double one = 1, *place;
    double c[6];
    if (it->kind == MODEL_SEEN_JOINT) {
        dof[0] = it->dof;
        coef[0] = 1;
        return 1;
    }
    if (it->frame < 0 || !bodies_gather(system, work, it->frame, &index, &one, 1, c, &place)) {
        return 0;
    }
    int body = formulas->frame[it->frame].body, count = tree_chain(system->tree, body, dof);
    tree_jacobian(system->tree, body, place, work->sweeps, work->jacobian);
    for (int k = 0; k < count; k++) {
        coef[k] = bodies_entry(c, work->jacobian + 6 * k);
    }
    return count;
}

double bodies_accelerated(const zw_system *system, const zw_work *work, const int *list,
                          const double *x, int count)
{
    const double *accel = find(system, work).accel;
    double sum = 0;
    for (int k = 0; k < count; k++) {
        sum += x[k] * accel[list[k]];
    }
    return sum;
}

void bodies_formula_rows(const zw_system *system, zw_work *work, const double *entries, double *A)
{
    const bodies_formulas *formulas = system->bodies->formulas;
    if (!formulas) {
        return;
    }
    memset(A, 0, (size_t)system->A_start[formulas->rows] * sizeof *A);
    for (int r = 0; r < formulas->rows; r++) {
        for (int k = formulas->start[r]; k < formulas->start[r + 1]; k++) {
            if (formulas->column[k] >= 0) {
                A[system->A_start[r] + formulas->column[k]] += entries[k];
            }
        }
    }
    for (int i = 0; i < formulas->piece_count; i++) {
        const bodies_piece *piece = &formulas->piece[i];
        int start = formulas->start[piece->row], end = formulas->start[piece->row + 1];
        double c[6], *row = A + system->A_start[piece->row];
        const double *place;
        bodies_gather(system, work, piece->frame, formulas->entry + start, entries + start,
                      end - start, c, &place);
        tree_jacobian(system->tree, formulas->frame[piece->frame].body, place, work->sweeps,
                      work->jacobian);
        for (int d = 0; d < piece->chain; d++) {
            row[piece->column[d]] += bodies_entry(c, work->jacobian + 6 * d);
        }
    }
}

void bodies_formula_bias(const zw_system *system, zw_work *work, double *b)
{
    const bodies_formulas *formulas = system->bodies->formulas;
    if (!formulas) {
        return;
    }
    places p = find(system, work);
    for (int r = 0; r < formulas->rows; r++) {
        int start = formulas->start[r], end = formulas->start[r + 1];
        b[r] =
            -p.out[formulas->at_bias + r] -
            bodies_accelerated(system, work, formulas->entry + start, p.out + start, end - start);
    }
}

/* Frame by frame: all forces on a frame are one wrench. */
void bodies_formula_forces(const zw_system *system, zw_work *work, int potential, double *force)
{
    const bodies_formulas *formulas = system->bodies->formulas;
    if (!formulas) {
        return;
    }
    places p = find(system, work);
    int count = potential ? formulas->potential_count : formulas->force_count;
    const int *list = potential ? formulas->potential : formulas->force;
    const double *size = p.out + (potential ? formulas->at_potential : formulas->at_force);
    for (int k = 0; k < count; k++) {
        const bodies_seen *it = &formulas->seen[list[k]];
        if (it->kind == MODEL_SEEN_JOINT) {
            force[it->dof] += size[k];
        }
    }
    for (int f = 0; f < formulas->frame_count && count > 0; f++) {
        double wrench[6];
        const double *place;
        if (bodies_gather(system, work, f, list, size, count, wrench, &place)) {
            bodies_push(system, work, formulas->frame[f].body, place, wrench, force);
        }
    }
}

int bodies_formula_wrench(const zw_system *system, const zw_work *work, int f, const double *push,
                          double place[3], double wrench[6])
{
    const bodies_formulas *formulas = system->bodies->formulas;
    places p = find(system, work);
    const bodies_moving *frame = &p.frame[f];
    int any = 0;
    memcpy(place, frame->place, sizeof frame->place);
    memset(wrench, 0, 6 * sizeof *wrench);
    for (int potential = 0; potential < 2; potential++) {
        int count = potential ? formulas->potential_count : formulas->force_count;
        const int *list = potential ? formulas->potential : formulas->force;
        const double *size = p.out + (potential ? formulas->at_potential : formulas->at_force);
        for (int k = 0; k < count; k++) {
            if (formulas->seen[list[k]].frame == f) {
                add_coefficients(&formulas->seen[list[k]], frame, size[k], wrench);
                any = 1;
            }
        }
    }
    for (int r = 0; r < formulas->rows; r++) {
        for (int k = formulas->start[r]; k < formulas->start[r + 1]; k++) {
            if (formulas->seen[formulas->entry[k]].frame == f) {
                add_coefficients(&formulas->seen[formulas->entry[k]], frame, push[r] * p.out[k],
                                 wrench);
                any = 1;
            }
        }
    }
    return any;
}

void bodies_formulas_free(bodies_formulas *formulas)
{
    if (!formulas) {
        return;
    }
    for (int i = 0; i < formulas->piece_count; i++) {
        base_free(formulas->piece[i].column);
    }
    for (int part = 0; part < PART_COUNT; part++) {
        base_free(formulas->out[part]);
    }
    void *list[] = {formulas->seen,  formulas->frame,  formulas->kind,      formulas->start,
                    formulas->entry, formulas->column, formulas->piece,     formulas->potential,
                    formulas->force, formulas->slip,   formulas->slip_seen, formulas->begin,
                    formulas->slope};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        base_free(list[i]);
    }
    base_free(formulas);
}

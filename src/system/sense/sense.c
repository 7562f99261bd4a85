/* Sensor readings from the exact motion: positions, speeds, the accelerations of Gauss's principle
 * and the loads of bodies/bodies_load.c. Conventions are MuJoCo's, so that programs get the same
 * numbers. With p, R, v, w, a, alpha the position, axes and motion of the frame of a sensor, and
 * p1, R1, ... those of the frame it is relative to (else the world), r = p - p1, g gravity:
 *
 *     accelerometer    R' (a - g)               velocimeter  R' v           gyro  R' w
 *     force, torque    what the parent of the site's body exerts on it, about p, along R
 *     touch            normal forces of contacts within the site: touch.c
 *     contact          of chosen contacts: touch.c      insidesite  1 where p is in it
 *     rangefinder      distance along z of the site: ray.c
 *     magnetometer     R' B
 *     framepos         R1' r                    framequat    q1* q          axes  R1' x
 *     framelinvel      R1' (v - v1 - w1 x r)    frameangvel  R1' (w - w1)
 *     framelinacc      a - g, frameangacc  alpha; relative: the rates of framelinvel, frameangvel,
 *                          R1' (a - a1 - alpha1 x r - w1 x (w1 x r) - 2 w1 x u),
 *                          R1' (alpha - alpha1 - w1 x (w - w1)),  u = v - v1 - w1 x r
 *     subtree          centre of mass, its velocity, angular momentum about it, including all
 *                      descendants
 *     limits           gap - margin, its rate and force, while active or closer than the margin;
 *                      else 0
 *
 * A cutoff clips each number to [-cutoff, cutoff]. */
#include <math.h>
#include <string.h>

#include "model/pose.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

/* A frame in the world, and how it moves. */
typedef struct seen {
    double place[3], quat[4], R[9]; /* R to the world, row by row */
    double V[6], A[6];              /* angular part first */
} seen;

static seen look(const zw_system *system, const zw_work *work, const bodies_frame *frame)
{
    const tree_mechanism *tree = system->tree;
    seen s;
    tree_point(tree, frame->body, frame->pos, work->sweeps, s.place);
    tree_point_velocity(tree, frame->body, s.place, work->sweeps, s.V);
    tree_point_acceleration(tree, frame->body, s.place, work->sweeps, s.A);
    model_quat_multiply(s.quat, work->sweeps + tree->at.quat + 4 * frame->body, frame->quat);
    model_quat_matrix(s.quat, s.R);
    return s;
}

/* out = R' x */
static void along(const double R[9], const double x[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = R[k] * x[0] + R[3 + k] * x[1] + R[6 + k] * x[2];
    }
}

static void minus(const double *x, const double *y, double *out)
{
    for (int k = 0; k < 3; k++) {
        out[k] = x[k] - y[k];
    }
}

/* out -= factor x cross y */
static void minus_cross(double *out, double factor, const double *x, const double *y)
{
    double c[3];
    model_cross(c, x, y);
    for (int k = 0; k < 3; k++) {
        out[k] -= factor * c[k];
    }
}

/* ---- On sites ------------------------------------------------------------------------------- */

/* The wrench of the parent on the site's body, about the site: force, moment. */
static void load_at(const zw_system *system, const zw_work *work, int part, const seen *s,
                    double force[3], double moment[3])
{
    const double *load = work->load + 6 * part;
    double centre[3], arm[3];
    bodies_part_centre(system, work, part, centre);
    minus(s->place, centre, arm);
    memcpy(force, load + 3, 3 * sizeof *force);
    memcpy(moment, load, 3 * sizeof *moment);
    minus_cross(moment, 1, arm, force);
}

static void read_site(const zw_system *system, const zw_work *work, const bodies_sensor *sensor,
                      double *out)
{
    seen s = look(system, work, &sensor->frame);
    double x[3], y[3];
    switch (sensor->kind) {
    case ZW_SENSOR_ACCELEROMETER:
        minus(s.A + 3, system->tree->gravity, x);
        along(s.R, x, out);
        break;
    case ZW_SENSOR_VELOCIMETER:
        along(s.R, s.V + 3, out);
        break;
    case ZW_SENSOR_GYRO:
        along(s.R, s.V, out);
        break;
    case ZW_SENSOR_MAGNETOMETER:
        along(s.R, system->bodies->magnetic, out);
        break;
    case ZW_SENSOR_TOUCH:
        *out = bodies_touch(work, sensor, s.place, s.R);
        break;
    default:
        load_at(system, work, sensor->frame.part, &s, x, y);
        along(s.R, sensor->kind == ZW_SENSOR_FORCE ? x : y, out);
        break;
    }
}

/* ---- Frames --------------------------------------------------------------------------------- */

static seen still(void)
{
    return (seen){.quat = {1, 0, 0, 0}, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

/* The motion of s relative to the frame o, along the world's axes. */
static void relative_motion(const seen *s, const seen *o, int turning, int second, double out[3])
{
    double r[3], u[3], w[3], c[3];
    minus(s->place, o->place, r);
    minus(s->V, o->V, w);
    minus(s->V + 3, o->V + 3, u);
    minus_cross(u, 1, o->V, r);
    if (!second) {
        memcpy(out, turning ? w : u, 3 * sizeof *out);
    } else if (turning) {
        minus(s->A, o->A, out);
        minus_cross(out, 1, o->V, w);
    } else {
        minus(s->A + 3, o->A + 3, out);
        minus_cross(out, 1, o->A, r);
        model_cross(c, o->V, r);
        minus_cross(out, 1, o->V, c);
        minus_cross(out, 2, o->V, u);
    }
}

static void read_frame(const zw_system *system, const zw_work *work, const bodies_sensor *sensor,
                       double *out)
{
    seen s = look(system, work, &sensor->frame);
    seen o = sensor->relative ? look(system, work, &sensor->ref) : still();
    double x[3], back[4] = {o.quat[0], -o.quat[1], -o.quat[2], -o.quat[3]};
    int axis = (int)sensor->kind - (int)ZW_SENSOR_FRAMEXAXIS;
    switch (sensor->kind) {
    case ZW_SENSOR_FRAMEPOS:
        minus(s.place, o.place, x);
        break;
    case ZW_SENSOR_FRAMEQUAT:
        model_quat_multiply(out, back, s.quat);
        return;
    case ZW_SENSOR_FRAMEXAXIS:
    case ZW_SENSOR_FRAMEYAXIS:
    case ZW_SENSOR_FRAMEZAXIS:
        for (int k = 0; k < 3; k++) {
            x[k] = s.R[3 * k + axis];
        }
        break;
    default:
        relative_motion(
            &s, &o, sensor->kind == ZW_SENSOR_FRAMEANGVEL || sensor->kind == ZW_SENSOR_FRAMEANGACC,
            sensor->kind == ZW_SENSOR_FRAMELINACC || sensor->kind == ZW_SENSOR_FRAMEANGACC, x);
        if (sensor->kind == ZW_SENSOR_FRAMELINACC && !sensor->relative) {
            minus(x, system->tree->gravity, x); /* as an accelerometer measures it */
        }
        break;
    }
    along(o.R, x, out);
}

/* ---- Subtrees ------------------------------------------------------------------------------- */

static void velocity_of(const zw_system *system, const zw_work *work, int part,
                        const double centre[3], double V[6])
{
    tree_point_velocity(system->tree, system->bodies->part[part].frame.body, centre, work->sweeps,
                        V);
}

/* Angular momentum of the marked parts about `about`. */
static void spin_about(const zw_system *system, const zw_work *work, int first,
                       const double about[3], double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (int i = first; i < system->bodies->part_count; i++) {
        double c[3], V[6], own[3], arm[3];
        if (work->inside[i] == 0) {
            continue;
        }
        bodies_part_centre(system, work, i, c);
        velocity_of(system, work, i, c, V);
        bodies_part_inertia(system, work, i, V, own);
        minus(c, about, arm);
        minus_cross(own, -system->bodies->part[i].mass, arm, V + 3);
        for (int k = 0; k < 3; k++) {
            out[k] += own[k];
        }
    }
}

static void read_subtree(const zw_system *system, zw_work *work, const bodies_sensor *sensor,
                         double *out)
{
    const struct system_bodies *bodies = system->bodies;
    double mass = 0, moment[3] = {0}, momentum[3] = {0}, c[3], V[6];
    memset(work->inside, 0, (size_t)bodies->part_count * sizeof *work->inside);
    work->inside[sensor->target] = 1;
    for (int i = sensor->target; i < bodies->part_count; i++) {
        if (i > sensor->target) {
            work->inside[i] = work->inside[bodies->part[i].parent];
        }
        double m = work->inside[i] != 0 ? bodies->part[i].mass : 0;
        bodies_part_centre(system, work, i, c);
        velocity_of(system, work, i, c, V);
        mass += m;
        for (int k = 0; k < 3; k++) {
            moment[k] += m * c[k];
            momentum[k] += m * V[3 + k];
        }
    }
    bodies_part_centre(system, work, sensor->target, c); /* without mass: its own centre */
    velocity_of(system, work, sensor->target, c, V);
    for (int k = 0; k < 3; k++) {
        c[k] = mass > 0 ? moment[k] / mass : c[k];
        out[k] = sensor->kind == ZW_SENSOR_SUBTREECOM ? c[k]
                 : mass > 0                           ? momentum[k] / mass
                                                      : V[3 + k];
    }
    if (sensor->kind == ZW_SENSOR_SUBTREEANGMOM) {
        spin_about(system, work, sensor->target, c, out);
    }
}

/* ---- Joints, tendons, motors ---------------------------------------------------------------- */

/* The limit that has a force, or else the nearest one within the margin; positions and speeds of
 * the rows have been computed. */
static double read_limit(const zw_system *system, const zw_work *work, const bodies_sensor *sensor)
{
    const double *phi = work->out[PART_POSITION], *psi = work->out[PART_VELOCITY];
    int best = -1;
    for (int c = sensor->constraint; c >= 0 && c < sensor->constraint + sensor->constraints; c++) {
        int row = system->bodies->constraint[c].row;
        double gap = phi[row];
        int acts = work->push[row] != 0 || gap < sensor->margin;
        if (acts && (best < 0 || gap < phi[system->bodies->constraint[best].row])) {
            best = c;
        }
    }
    if (best < 0) {
        return 0;
    }
    int r = system->bodies->constraint[best].row;
    switch (sensor->kind) {
    case ZW_SENSOR_JOINTLIMITPOS:
    case ZW_SENSOR_TENDONLIMITPOS:
        return phi[r] - sensor->margin;
    case ZW_SENSOR_JOINTLIMITVEL:
    case ZW_SENSOR_TENDONLIMITVEL:
        return psi[r];
    default:
        return work->push[r];
    }
}

/* Gravity compensation by motors is added with the springs; here it is part of the motor's
 * force. */
static double lifted_by_motor(const zw_system *system, const zw_work *work, int joint, int dof)
{
    const struct system_bodies *bodies = system->bodies;
    return bodies->motor_lifts && bodies->length[joint].lifts ? work->lifted[dof] : 0;
}

/* The forces of all motors on a tendon, without their gears, scaled by a common limit. */
static double read_tendon_force(const zw_system *system, zw_work *work, zw_state *state,
                                const double *pulled, int length)
{
    double sum = 0, geared = 0;
    for (int k = 0; k < system->bodies->motor_count; k++) {
        const bodies_motor *motor = &system->bodies->motor[k];
        if (motor->kind == MOTOR_LENGTH && motor->length == length) {
            double f = bodies_motor_look(system, work, k, state_q(state), state_v(state)).force;
            sum += f;
            geared += motor->gear[0] * f;
        }
    }
    return geared != 0 ? sum * (pulled[system->n + length] / geared) : sum;
}

/* `pulled`: motor forces on speeds, followed by those along lengths. */
static void read_joint(const zw_system *system, zw_work *work, zw_state *state,
                       const double *pulled, const bodies_sensor *sensor, double *out)
{
    const double *q = state_q(state), *v = state_v(state);
    switch (sensor->kind) {
    case ZW_SENSOR_JOINTPOS:
        *out = q[sensor->q];
        break;
    case ZW_SENSOR_JOINTVEL:
        *out = v[sensor->dof];
        break;
    case ZW_SENSOR_JOINTACTUATORFRC:
        *out = pulled[sensor->dof] + lifted_by_motor(system, work, sensor->target, sensor->dof);
        break;
    case ZW_SENSOR_BALLQUAT:
        memcpy(out, q + sensor->q, 4 * sizeof *out);
        model_quat_unit(out);
        break;
    case ZW_SENSOR_BALLANGVEL:
        memcpy(out, v + sensor->dof, 3 * sizeof *out);
        break;
    case ZW_SENSOR_TENDONPOS:
        *out = bodies_length_of(system, work, sensor->target, q);
        break;
    case ZW_SENSOR_TENDONVEL:
        *out = bodies_rate_of(system, work, sensor->target, q, v);
        break;
    case ZW_SENSOR_TENDONACTUATORFRC:
        *out = read_tendon_force(system, work, state, pulled, sensor->target);
        break;
    default:
        *out = read_limit(system, work, sensor);
        break;
    }
}

static void read_motor(const zw_system *system, zw_work *work, zw_state *state,
                       const bodies_sensor *sensor, double *out)
{
    bodies_pull now =
        bodies_motor_look(system, work, sensor->target, state_q(state), state_v(state));
    *out = sensor->kind == ZW_SENSOR_ACTUATORPOS   ? now.length
           : sensor->kind == ZW_SENSOR_ACTUATORVEL ? now.rate
                                                   : now.force;
}

/* ---- All ------------------------------------------------------------------------------------ */

static void read_one(const zw_system *system, zw_work *work, zw_state *state, const double *pulled,
                     const bodies_sensor *sensor, double *out)
{
    if (sensor->kind <= ZW_SENSOR_MAGNETOMETER) {
        read_site(system, work, sensor, out);
    } else if (sensor->kind <= ZW_SENSOR_TENDONLIMITFRC) {
        read_joint(system, work, state, pulled, sensor, out);
    } else if (sensor->kind <= ZW_SENSOR_ACTUATORFRC) {
        read_motor(system, work, state, sensor, out);
    } else if (sensor->kind <= ZW_SENSOR_FRAMEANGACC) {
        read_frame(system, work, sensor, out);
    } else if (sensor->kind <= ZW_SENSOR_SUBTREEANGMOM) {
        read_subtree(system, work, sensor, out);
    } else if (sensor->kind >= ZW_SENSOR_INSIDESITE) {
        seen s = sensor->kind == ZW_SENSOR_CONTACT && sensor->side[0] != ZW_FRAME_SITE
                     ? still()
                     : look(system, work, &sensor->frame);
        if (sensor->kind == ZW_SENSOR_INSIDESITE) {
            seen it = look(system, work, &sensor->ref);
            *out = bodies_is_inside(sensor, s.place, s.R, it.place);
        } else if (sensor->kind == ZW_SENSOR_RANGEFINDER) {
            bodies_sense_ray(system, work, sensor, s.place, s.R, out);
        } else {
            bodies_sense_contacts(system, work, sensor, s.place, s.R, out);
        }
    } else {
        *out = sensor->kind == ZW_SENSOR_CLOCK     ? state->t
               : sensor->kind == ZW_SENSOR_KINETIC ? work->out[PART_ENERGY][1]
                                                   : work->out[PART_ENERGY][2];
    }
    for (int k = 0; k < sensor->size && sensor->cutoff > 0; k++) {
        out[k] = fmin(fmax(out[k], -sensor->cutoff), sensor->cutoff);
    }
}

zw_status bodies_sense(const zw_system *system, zw_work *work, zw_state *state, zw_error *error)
{
    static const system_part parts[] = {PART_POSITION, PART_VELOCITY, PART_ENERGY};
    const double *q = state_q(state), *v = state_v(state);
    double *pulled = work->rows + 2 * system->m; /* [n], followed by the lengths */
    zw_status status = ZW_OK;
    system_bind(system, work, state_param(state));
    for (int i = 0; i < 3 && status == ZW_OK; i++) {
        status = system_evaluate(system, work, parts[i], state->t, q, v, NULL, NULL, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    bodies_load(system, work, state);
    memset(pulled, 0, (size_t)system->n * sizeof *pulled);
    bodies_add_motors(system, work, q, v, pulled + system->n, pulled);
    for (int i = 0; i < system->bodies->sensor_count; i++) {
        const bodies_sensor *sensor = &system->bodies->sensor[i];
        read_one(system, work, state, pulled, sensor, work->reading + sensor->at);
    }
    return ZW_OK;
}

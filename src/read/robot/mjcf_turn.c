/* Orientations. MJCF has five ways to give them; an element may use at most one, which overrides
 * that of its class. (In MuJoCo euler and the like of a class override quat of an element; a note
 * says where that makes a difference.) */
#include <math.h>
#include <string.h>

#include "read/robot/mjcf.h"

#define PI 3.14159265358979323846

static const char *const ways[] = {"quat", "axisangle", "euler", "xyaxes", "zaxis"};
enum { WAYS = 5 };

int mjcf_apply(mjcf *m, int element, const form_row *rows, void *target, uint64_t *given)
{
    uint64_t own = 0, inherited = *given;
    if (!form_apply(&m->xml, element, rows, target, &own)) {
        return 0;
    }
    int way = -1;
    for (int i = 0; i < WAYS; i++) {
        if ((own & form_bit(rows, ways[i])) == 0) {
            continue;
        }
        if (way >= 0) {
            return form_fail(&m->xml, element, ways[i],
                             "its orientation is given twice: by %s and %s", ways[way], ways[i]);
        }
        way = i;
    }
    int overruled = 0;
    for (int i = 0; i < WAYS && way >= 0; i++) {
        uint64_t bit = i != way ? form_bit(rows, ways[i]) : 0;
        overruled |= way == 0 && (inherited & bit) != 0;
        inherited &= ~bit;
    }
    *given = inherited | own;
    return !overruled ||
           mjcf_difference(m, element, "orientation of its class: MuJoCo takes it, not quat");
}

static int bad_axis(mjcf *m, int element, const char *way)
{
    return form_fail(&m->xml, element, way, "a direction is zero");
}

static int turn_euler(mjcf *m, const double angle[3], double quat[4])
{
    const char *seq = m->compiler.eulerseq;
    double total[4] = {1, 0, 0, 0};
    for (int i = 0; i < 3; i++) {
        int fixed = seq[i] < 'a'; /* X, Y, Z: axes of the parent */
        double axis[3] = {0, 0, 0}, one[4];
        axis[seq[i] - (fixed ? 'X' : 'x')] = 1;
        model_quat_axis(one, axis, m->compiler.degree ? angle[i] * PI / 180 : angle[i]);
        if (fixed) {
            model_quat_multiply(total, one, total);
        } else {
            model_quat_multiply(total, total, one);
        }
    }
    memcpy(quat, total, sizeof total);
    return 1;
}

/* x as given, y orthogonalised to it, z = x x y. */
static int turn_xyaxes(mjcf *m, int element, const double xy[6], double quat[4])
{
    double x[3] = {xy[0], xy[1], xy[2]}, y[3] = {xy[3], xy[4], xy[5]}, z[3];
    if (!(model_unit(x) > 0)) {
        return bad_axis(m, element, "xyaxes");
    }
    double along = model_dot(x, y);
    for (int i = 0; i < 3; i++) {
        y[i] -= along * x[i];
    }
    if (!(model_unit(y) > 1e-12)) {
        return form_fail(&m->xml, element, "xyaxes", "the two directions are the same");
    }
    model_cross(z, x, y);
    double R[9] = {x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]};
    model_quat_of_matrix(quat, R);
    return 1;
}

int mjcf_turn_quat(mjcf *m, int element, const form_row *rows, uint64_t given,
                   const mjcf_turn *turn, double quat[4])
{
    if (given & form_bit(rows, "axisangle")) {
        double axis[3] = {turn->axisangle[0], turn->axisangle[1], turn->axisangle[2]};
        double angle = turn->axisangle[3];
        if (!(model_unit(axis) > 0)) {
            return bad_axis(m, element, "axisangle");
        }
        model_quat_axis(quat, axis, m->compiler.degree ? angle * PI / 180 : angle);
    } else if (given & form_bit(rows, "euler")) {
        return turn_euler(m, turn->euler, quat);
    } else if (given & form_bit(rows, "xyaxes")) {
        return turn_xyaxes(m, element, turn->xyaxes, quat);
    } else if (given & form_bit(rows, "zaxis")) {
        double z[3] = {turn->zaxis[0], turn->zaxis[1], turn->zaxis[2]};
        if (!(model_unit(z) > 0)) {
            return bad_axis(m, element, "zaxis");
        }
        model_quat_z_to(quat, z);
    } else if (given & form_bit(rows, "quat")) {
        memcpy(quat, turn->quat, sizeof turn->quat);
        if (!model_quat_unit(quat)) {
            return form_fail(&m->xml, element, "quat", "a quaternion cannot be all zeros");
        }
    } else {
        quat[0] = 1;
        quat[1] = quat[2] = quat[3] = 0;
    }
    return 1;
}

/* Fluid forces: MuJoCo's two models, with its numbers.
 *
 * A body (or one of its shapes) moves through a fluid of density rho and viscosity mu that itself
 * moves with the velocity `wind`. With w and v the angular velocity and the velocity relative to
 * the fluid, in the axes and at the centre of the body or shape:
 *
 * Box. The box of uniform density with sides b that has the body's mass and principal moments; axes
 * are the principal ones, at the centre of mass. With d the mean of the sides,
 *
 *     f_i = -(3 pi d mu + rho/2 b_j b_k |v_i|) v_i
 *     t_i = -(pi d^3 mu + rho/64 b_i (b_j^4 + b_k^4) |w_i|) w_i
 *
 * Ellipsoid. Each shape with fluidshape="ellipsoid", as an ellipsoid with half axes s in the frame
 * of the shape (Todorov et al., MuJoCo's documentation, "Fluid forces"). Its coefficients are those
 * of blunt, slender and angular drag, Kutta lift and Magnus lift: c_b, c_s, c_w, c_K, c_M. With a_i
 * = (s_j s_k)^2, n = a * v, m = a * a * v by components, N = n.v, P = m.v:
 *
 *     A = pi sqrt(P/N)                                          area seen along v
 *     f = -(6 pi mu mean(s) + rho |v| (c_b A + c_s (A_max - A))) v       drag
 *         + c_K rho (N/(|v| P)) A (N v - |v|^2 n)               lift of a circulation
 *         + c_M rho volume w x v + p x w                        spin; mass of the fluid
 *     t = -(pi D^3 mu + rho |k * w|) w + p x v + l x w          D = 2 mean(s)
 *
 * where k_i = c_w I_i + c_s (I_max - I_i), I_i = 8/15 pi s_i max(s_j, s_k)^4, and p = rho M v, l =
 * rho J w are the momenta of the added mass (Lamb 1932, 114, 115; kappa below). Its inertia is not
 * added to that of the body, as in MuJoCo.
 *
 * B = d(t, f)/d(w, v) are the derivatives. (Before its release 3.14 MuJoCo kept denominators above
 * 1e-15, so that shapes below a centimetre had less lift.) */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/elementary.h"
#include "model/pose.h"
#include "system/bodies/bodies_build.h"
#include "system/soft/tolerances.h"
#include "tree/sweeps.h"

static const double PI = 3.14159265358979323846;

static double square(double x)
{
    return x * x;
}

/* 1/x, or 0: nothing moves. */
static double inverse(double x)
{
    return x > 0 ? 1 / x : 0;
}

/* out += factor x cross y */
static void add_cross(double *out, double factor, const double *x, const double *y)
{
    double c[3];
    model_cross(c, x, y);
    for (int k = 0; k < 3; k++) {
        out[k] += factor * c[k];
    }
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* kappa = s0 s1 s2 times the integral of dl / sqrt((s0^2 + l)^3 (s1^2 + l) (s2^2 + l)) over l > 0.
 * As in MuJoCo it is integrated by one Gauss-Kronrod rule of 15 points whose nodes and weights have
 * 8 digits, with l = x^3/(1 - x)^2. */
static double kappa(double s0, double s1, double s2)
{
    static const double node[8] = {0.00427231, 0.02544604, 0.06756779, 0.12923441,
                                   0.20695638, 0.29707742, 0.39610752, 0.5};
    static const double weight[8] = {0.01146766, 0.03154605, 0.05239501, 0.07032663,
                                     0.08450236, 0.09517529, 0.10221647, 0.10474107};
    double scale = math_exp(0.4 * math_log(s0 * s0 * s0 * s1 * s2)), sum = 0;
    double by[3] = {scale / (s0 * s0), scale / (s1 * s1), scale / (s2 * s2)};
    for (int i = 0; i < 15; i++) {
        double x = i < 8 ? node[i] : 1 - node[14 - i];
        double l = x * x * x / square(1 - x), rate = x * x * (3 - x) / ((1 - x) * square(1 - x));
        double first = 1 + l * by[0];
        sum += rate * weight[i < 8 ? i : 14 - i] /
               (first * sqrt(first * (1 + l * by[1]) * (1 + l * by[2])));
    }
    return sum * by[0];
}

/* Added mass and moments of the fluid, for density 1. */
static void find_added(bodies_fluid *it)
{
    static const double eps = 1e-14; /* MuJoCo's mjEPS */
    const double *s = it->size;
    double volume = 4.0 / 3 * PI * s[0] * s[1] * s[2], k[3];
    for (int i = 0; i < 3; i++) {
        k[i] = kappa(s[i], s[(i + 1) % 3], s[(i + 2) % 3]);
        it->added_mass[i] = volume * k[i] / fmax(eps, 2 - k[i]);
    }
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        double less = s[a] * s[a] - s[b] * s[b], both = s[a] * s[a] + s[b] * s[b];
        it->added_moment[i] = volume / 5 * less * less * fabs(k[b] - k[a]) /
                              fmax(eps, fabs(2 * less + both * (k[a] - k[b])));
    }
}

/* The bounding box of a mesh, centred in its inertial frame, and that frame in the body's. 0: it
 * has no volume, -1: no memory. */
static int mesh_box(const zw_mesh_def *mesh, const zw_geom_def *geom, double s[3], model_pose *own)
{
    zw_inertia in;
    model_pose frame;
    double back[4], x[3], y[3];
    int weighed = model_mesh_inertia(mesh, geom->shell, &in);
    for (int i = 0; i < mesh->vertex_count && weighed > 0; i++) {
        for (int k = 0; k < 3; k++) {
            x[k] = mesh->vertex[3 * i + k] - in.com[k];
            back[k + 1] = -in.quat[k + 1];
        }
        back[0] = in.quat[0];
        model_rotate(back, x, y);
        for (int k = 0; k < 3; k++) {
            s[k] = fmax(i == 0 ? 0 : s[k], fabs(y[k]));
        }
    }
    if (weighed > 0) {
        memcpy(frame.pos, in.com, sizeof frame.pos);
        memcpy(frame.quat, in.quat, sizeof frame.quat);
        *own = model_pose_chain(own, &frame);
    }
    return weighed;
}

/* A shape as an ellipsoid. 0: it has no extent, -1: no memory. */
static int half_axes(const bodies_builder *b, const zw_geom_def *geom, double s[3], model_pose *own)
{
    memcpy(own->pos, geom->pos, sizeof own->pos);
    memcpy(own->quat, geom->quat, sizeof own->quat);
    memcpy(s, geom->size, 3 * sizeof *s);
    switch ((zw_shape)geom->shape) {
    case ZW_SHAPE_SPHERE:
        s[1] = s[2] = s[0];
        break;
    case ZW_SHAPE_CAPSULE:
        s[2] = s[1] + s[0];
        s[1] = s[0];
        break;
    case ZW_SHAPE_CYLINDER:
    case ZW_SHAPE_CONE:
        s[2] = s[1];
        s[1] = s[0];
        break;
    case ZW_SHAPE_MESH:
        return mesh_box(&b->from->mesh[geom->mesh], geom, s, own);
    case ZW_SHAPE_PLANE:
    case ZW_SHAPE_HFIELD:
        return 0;
    default:
        break;
    }
    return s[0] > 0 && s[1] > 0 && s[2] > 0;
}

static void add_box(bodies_builder *b, int body)
{
    const zw_inertia *in = &b->inertia[body];
    bodies_fluid *it = &b->to->fluid[b->to->fluid_count++];
    it->frame = bodies_frame_on(b, body, in->com, in->quat);
    for (int i = 0; i < 3; i++) {
        double over = in->moment[(i + 1) % 3] + in->moment[(i + 2) % 3] - in->moment[i];
        it->size[i] = sqrt(6 * fmax(SOFT_LEAST, over) / in->mass);
    }
}

/* Adds the shapes of a body as ellipsoids; returns their number, or -1: no memory. */
static int add_ellipsoids(bodies_builder *b, int body)
{
    int count = 0;
    for (int g = 0; g < b->from->count[ZW_KIND_GEOM]; g++) {
        const zw_geom_def *geom = &b->from->geom[g];
        double s[3];
        model_pose own;
        if (geom->body != body || !geom->fluid) {
            continue;
        }
        int extent = half_axes(b, geom, s, &own);
        if (extent < 0) {
            return -1;
        }
        count++;
        if (extent > 0) {
            bodies_fluid *it = &b->to->fluid[b->to->fluid_count++];
            it->ellipsoid = 1;
            it->frame = bodies_frame_on(b, body, own.pos, own.quat);
            memcpy(it->size, s, sizeof it->size);
            memcpy(it->coef, geom->fluid_coef, sizeof it->coef);
            find_added(it);
        }
    }
    return count;
}

zw_status bodies_make_fluid(bodies_builder *b, zw_error *error)
{
    const zw_world_def *world = &b->from->world;
    size_t most = (size_t)b->from->count[ZW_KIND_BODY] + (size_t)b->from->count[ZW_KIND_GEOM];
    int passive = ZW_WITHOUT_SPRING | ZW_WITHOUT_DAMPER;
    if ((world->density == 0 && world->viscosity == 0) || (world->without & passive) == passive) {
        return ZW_OK;
    }
    b->to->fluid = base_alloc((most + 1) * sizeof *b->to->fluid);
    if (!b->to->fluid) {
        return base_no_memory(error);
    }
    b->to->density = world->density;
    b->to->viscosity = world->viscosity;
    memcpy(b->to->wind, world->wind, sizeof b->to->wind);
    for (int i = 1; i < b->from->count[ZW_KIND_BODY]; i++) {
        static const double origin[3] = {0, 0, 0}, upright[4] = {1, 0, 0, 0};
        int carrier = bodies_frame_on(b, i, origin, upright).body;
        int moves = tree_chain(b->system->tree, carrier, NULL) > 0;
        int count = moves && b->inertia[i].mass >= SOFT_LEAST ? add_ellipsoids(b, i) : 1;
        if (count < 0) {
            return base_no_memory(error);
        }
        if (count == 0) {
            add_box(b, i);
        }
    }
    return ZW_OK;
}

/* ---- The box --------------------------------------------------------------------------------- */

/* F = (t, f) of V = (w, v), and B[6][6] unless it is NULL. */
static void box_force(const struct system_bodies *bodies, const bodies_fluid *it, const double *V,
                      double *F, double *B)
{
    const double *b = it->size;
    double d = (b[0] + b[1] + b[2]) / 3;
    for (int i = 0; i < 3; i++) {
        double p = b[(i + 1) % 3], q = b[(i + 2) % 3];
        double turn = bodies->density * b[i] * (square(p * p) + square(q * q)) / 64;
        double area = 0.5 * bodies->density * p * q;
        double slow = PI * d * d * d * bodies->viscosity, drag = 3 * PI * d * bodies->viscosity;
        F[i] = -(slow + turn * fabs(V[i])) * V[i];
        F[3 + i] = -(drag + area * fabs(V[3 + i])) * V[3 + i];
        if (B) {
            B[7 * i] = -(slow + 2 * turn * fabs(V[i]));
            B[7 * (3 + i)] = -(drag + 2 * area * fabs(V[3 + i]));
        }
    }
}

/* ---- The ellipsoid --------------------------------------------------------------------------- */

/* Block (row, column) of B += factor [x], so that [x] y = x cross y, times diag(scale). */
static void add_skew(double *B, int row, int column, double factor, const double *x,
                     const double *scale)
{
    for (int i = 0; B && i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        double *line = B + 6 * (3 * row + i) + 3 * column;
        line[a] -= factor * x[b] * (scale ? scale[a] : 1);
        line[b] += factor * x[a] * (scale ? scale[b] : 1);
    }
}

/* Momenta p and l of the added mass: p x w, and p x v + l x w. */
static void add_momenta(double density, const bodies_fluid *it, const double *V, double *F,
                        double *B)
{
    double p[3], l[3], M[3], J[3];
    for (int i = 0; i < 3; i++) {
        M[i] = density * it->added_mass[i];
        J[i] = density * it->added_moment[i];
        p[i] = M[i] * V[3 + i];
        l[i] = J[i] * V[i];
    }
    add_cross(F + 3, 1, p, V);
    add_cross(F, 1, p, V + 3);
    add_cross(F, 1, l, V);
    add_skew(B, 1, 0, 1, p, NULL); /* x cross y = [x] y = -[y] x */
    add_skew(B, 1, 1, -1, V, M);
    add_skew(B, 0, 1, 1, p, NULL);
    add_skew(B, 0, 1, -1, V + 3, M);
    add_skew(B, 0, 0, 1, l, NULL);
    add_skew(B, 0, 0, -1, V, J);
}

/* Angular drag: -(slow + density |k * w|) w. */
static void add_turning(const struct system_bodies *bodies, const bodies_fluid *it, double d_mid,
                        double d_max, const double *w, double *F, double *B)
{
    const double *s = it->size, most = 8.0 / 15 * PI * d_mid * square(d_max * d_max);
    double D = 2.0 / 3 * (s[0] + s[1] + s[2]), slow = PI * D * D * D * bodies->viscosity;
    double k[3], norm = 0;
    for (int i = 0; i < 3; i++) {
        double wide = fmax(s[(i + 1) % 3], s[(i + 2) % 3]);
        double own = 8.0 / 15 * PI * s[i] * square(wide * wide);
        k[i] = it->coef[2] * own + it->coef[1] * (most - own);
        norm += square(k[i] * w[i]);
    }
    norm = sqrt(norm);
    double by = bodies->density * inverse(norm);
    for (int i = 0; i < 3; i++) {
        F[i] -= (slow + bodies->density * norm) * w[i];
        for (int j = 0; B && j < 3; j++) {
            B[6 * i + j] -= by * w[i] * k[j] * k[j] * w[j];
        }
        if (B) {
            B[7 * i] -= slow + by * norm * norm;
        }
    }
}

/* Drag and lift of translation. */
static void add_drag(const struct system_bodies *bodies, const bodies_fluid *it, double A_max,
                     const double *v, double *f, double *B)
{
    const double *s = it->size, rho = bodies->density, *c = it->coef;
    double a[3], n[3], m[3], N = 0, P = 0, vv = model_dot(v, v), speed = sqrt(vv);
    for (int i = 0; i < 3; i++) {
        a[i] = square(s[(i + 1) % 3] * s[(i + 2) % 3]);
        n[i] = a[i] * v[i];
        m[i] = a[i] * n[i];
        N += n[i] * v[i];
        P += m[i] * v[i];
    }
    double A = PI * sqrt(P * inverse(N)), slow = 2 * PI * (s[0] + s[1] + s[2]);
    double lift = c[3] * rho * N * inverse(speed * P) * A;
    double seen = rho * (c[0] * A + c[1] * (A_max - A));
    slow *= bodies->viscosity;
    for (int i = 0; i < 3; i++) {
        f[i] += lift * (N * v[i] - vv * n[i]) - (slow + speed * seen) * v[i];
    }
    if (!B) {
        return;
    }
    double wider = P > 0 ? PI / sqrt(N * N * N * P) * rho * speed * (c[0] - c[1]) : 0;
    double by = PI * c[3] * rho * inverse(sqrt(P * N * vv)); /* lift = by N */
    for (int i = 0; i < 3; i++) {
        double across = N - a[i] * vv; /* the lift is by N times this times v_i */
        for (int j = 0; j < 3; j++) {
            double less = a[j] - a[j] * a[j] * N * inverse(P) - N * inverse(vv);
            double *at = &B[6 * (3 + i) + 3 + j];
            *at -= seen * inverse(speed) * (v[i] * v[j] + (i == j ? vv : 0));
            *at -= v[i] * wider * (m[j] * N - n[j] * P);
            *at += by * v[i] * v[j] * (2 * N * (a[j] - a[i]) + across * less);
            *at += i == j ? by * across * N - slow : 0;
        }
    }
}

static void ellipsoid_force(const struct system_bodies *bodies, const bodies_fluid *it,
                            const double *V, double *F, double *B)
{
    const double *s = it->size;
    double d_max = fmax(fmax(s[0], s[1]), s[2]), d_min = fmin(fmin(s[0], s[1]), s[2]);
    double d_mid = s[0] + s[1] + s[2] - d_max - d_min;
    double spin = it->coef[4] * bodies->density * 4.0 / 3 * PI * s[0] * s[1] * s[2];
    memset(F, 0, 6 * sizeof *F);
    add_momenta(bodies->density, it, V, F, B);
    add_turning(bodies, it, d_mid, d_max, V, F, B);
    add_drag(bodies, it, PI * d_max * d_mid, V + 3, F + 3, B);
    add_cross(F + 3, spin, V, V + 3);
    add_skew(B, 1, 0, -spin, V + 3, NULL);
    add_skew(B, 1, 1, spin, V, NULL);
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* y = R' x */
static void turn_back(const double R[9], double *x)
{
    double y[3];
    for (int k = 0; k < 3; k++) {
        y[k] = R[k] * x[0] + R[3 + k] * x[1] + R[6 + k] * x[2];
    }
    memcpy(x, y, sizeof y);
}

bodies_flow bodies_fluid_look(const zw_system *system, zw_work *work, int index, const double *v,
                              double *B)
{
    const tree_mechanism *tree = system->tree;
    const struct system_bodies *bodies = system->bodies;
    const bodies_fluid *it = &bodies->fluid[index];
    bodies_flow now;
    double quat[4], wind[3], V[6] = {0};
    tree_point(tree, it->frame.body, it->frame.pos, work->sweeps, now.place);
    model_quat_multiply(quat, work->sweeps + tree->at.quat + 4 * it->frame.body, it->frame.quat);
    model_quat_matrix(quat, now.R);
    tree_jacobian(tree, it->frame.body, now.place, work->sweeps, work->jacobian);
    now.count = tree_chain(tree, it->frame.body, work->aim_dof);
    for (int k = 0; k < now.count; k++) {
        double *J = work->jacobian + 6 * k;
        turn_back(now.R, J);
        turn_back(now.R, J + 3);
        for (int i = 0; i < 6; i++) {
            V[i] += J[i] * v[work->aim_dof[k]];
        }
    }
    memcpy(wind, bodies->wind, sizeof wind);
    turn_back(now.R, wind);
    for (int i = 0; i < 3; i++) {
        V[3 + i] -= wind[i];
    }
    if (B) {
        memset(B, 0, 36 * sizeof *B);
    }
    (it->ellipsoid ? ellipsoid_force : box_force)(bodies, it, V, now.force, B);
    return now;
}

void bodies_add_fluid(const zw_system *system, zw_work *work, const double *v, double *force)
{
    for (int k = 0; k < system->bodies->fluid_count; k++) {
        bodies_flow now = bodies_fluid_look(system, work, k, v, NULL);
        for (int i = 0; i < now.count; i++) {
            const double *J = work->jacobian + 6 * i;
            force[work->aim_dof[i]] += model_dot(J, now.force) + model_dot(J + 3, now.force + 3);
        }
    }
}

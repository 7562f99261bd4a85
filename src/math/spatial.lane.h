/* Rotations and spatial vectors over lanes: values in, values out, all inlined.
 *
 * A file that includes this has defined zw_real. `double *` arguments are constants of the
 * mechanism, the same for all lanes.
 *
 * A spatial vector is a pair of 3-vectors, angular part first, about a point of space:
 *
 *     motion (w, v)   v the velocity of the matter that is at the point now
 *     force  (n, f)   n the moment about the point
 *
 * Their product n.w + f.v is a power and does not depend on the point. With r from the old point to
 * the new one,
 *
 *     motion: v + w x r        force: n - r x f
 *
 * Rate of a motion vector m that is carried along by a body moving with (w, v):
 *
 *     (w, v) x m = (w x m.w,  v x m.w + w x m.v)                                               */

#define PART static inline __attribute__((always_inline, unused))

/* Large ones that are called in two places: where size counts, there is one of them. */
#undef WHOLE_PART
#ifdef ZW_SMALL
#define WHOLE_PART static __attribute__((noinline, unused))
#else
#define WHOLE_PART PART
#endif

typedef struct vec3 {
    zw_real x, y, z;
} vec3;

typedef struct quat {
    zw_real w, x, y, z;
} quat;

typedef struct mat3 {
    vec3 x, y, z; /* rows */
} mat3;

typedef struct sym3 {
    zw_real xx, yy, zz, xy, xz, yz;
} sym3;

typedef struct spatial {
    vec3 ang, lin;
} spatial;

/* ---- Vectors --------------------------------------------------------------------------------- */

PART vec3 load3(const zw_real *a)
{
    return (vec3){a[0], a[1], a[2]};
}

PART void store3(zw_real *a, vec3 u)
{
    a[0] = u.x;
    a[1] = u.y;
    a[2] = u.z;
}

PART vec3 const3(const double *c)
{
    return (vec3){lane_fill(c[0]), lane_fill(c[1]), lane_fill(c[2])};
}

PART vec3 add3(vec3 u, vec3 v)
{
    return (vec3){u.x + v.x, u.y + v.y, u.z + v.z};
}

PART vec3 sub3(vec3 u, vec3 v)
{
    return (vec3){u.x - v.x, u.y - v.y, u.z - v.z};
}

PART vec3 scale3(zw_real s, vec3 u)
{
    return (vec3){s * u.x, s * u.y, s * u.z};
}

PART zw_real dot3(vec3 u, vec3 v)
{
    return u.x * v.x + u.y * v.y + u.z * v.z;
}

PART vec3 cross3(vec3 u, vec3 v)
{
    return (vec3){u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
}

/* ---- Rotations ------------------------------------------------------------------------------- */

PART quat load_quat(const zw_real *a)
{
    return (quat){a[0], a[1], a[2], a[3]};
}

PART void store_quat(zw_real *a, quat q)
{
    a[0] = q.w;
    a[1] = q.x;
    a[2] = q.y;
    a[3] = q.z;
}

PART quat quat_product(quat p, quat q)
{
    return (quat){p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z,
                  p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y,
                  p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x,
                  p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w};
}

PART quat quat_unit(quat q)
{
    zw_real s = 1.0 / lane_sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return (quat){s * q.w, s * q.x, s * q.y, s * q.z};
}

/* The rotation of a unit quaternion: u + 2 e x (w u + e x u), e its vector part. */
PART vec3 quat_turn(quat q, vec3 u)
{
    vec3 e = {q.x, q.y, q.z}, t = cross3(e, u);
    t = add3(t, t);
    return add3(u, add3(scale3(q.w, t), cross3(e, t)));
}

PART mat3 quat_matrix(quat q)
{
    zw_real x = q.x + q.x, y = q.y + q.y, z = q.z + q.z;
    zw_real xx = q.x * x, yy = q.y * y, zz = q.z * z, xy = q.x * y, xz = q.x * z, yz = q.y * z;
    zw_real wx = q.w * x, wy = q.w * y, wz = q.w * z;
    return (mat3){{1.0 - (yy + zz), xy - wz, xz + wy},
                  {xy + wz, 1.0 - (xx + zz), yz - wx},
                  {xz - wy, yz + wx, 1.0 - (xx + yy)}};
}

PART mat3 load_mat3(const zw_real *a)
{
    return (mat3){load3(a), load3(a + 3), load3(a + 6)};
}

PART void store_mat3(zw_real *a, mat3 R)
{
    store3(a, R.x);
    store3(a + 3, R.y);
    store3(a + 6, R.z);
}

/* R c */
PART vec3 turn_const(mat3 R, const double *c)
{
    zw_scalar x = (zw_scalar)c[0], y = (zw_scalar)c[1], z = (zw_scalar)c[2];
    return (vec3){R.x.x * x + R.x.y * y + R.x.z * z, R.y.x * x + R.y.y * y + R.y.z * z,
                  R.z.x * x + R.z.y * y + R.z.z * z};
}

/* u' I */
PART vec3 row_const(vec3 u, const zw_scalar *I)
{
    return (vec3){u.x * I[0] + u.y * I[3] + u.z * I[4], u.x * I[3] + u.y * I[1] + u.z * I[5],
                  u.x * I[4] + u.y * I[5] + u.z * I[2]};
}

/* R I R' for I = xx yy zz xy xz yz */
PART sym3 turn_inertia(mat3 R, const double *inertia)
{
    zw_scalar I[6];
    for (int k = 0; k < 6; k++) {
        I[k] = (zw_scalar)inertia[k];
    }
    vec3 x = row_const(R.x, I), y = row_const(R.y, I), z = row_const(R.z, I);
    return (sym3){dot3(x, R.x), dot3(y, R.y), dot3(z, R.z),
                  dot3(x, R.y), dot3(x, R.z), dot3(y, R.z)};
}

PART sym3 load_sym3(const zw_real *a)
{
    return (sym3){a[0], a[1], a[2], a[3], a[4], a[5]};
}

PART void store_sym3(zw_real *a, sym3 I)
{
    a[0] = I.xx;
    a[1] = I.yy;
    a[2] = I.zz;
    a[3] = I.xy;
    a[4] = I.xz;
    a[5] = I.yz;
}

PART sym3 add_sym3(sym3 I, sym3 J)
{
    return (sym3){I.xx + J.xx, I.yy + J.yy, I.zz + J.zz, I.xy + J.xy, I.xz + J.xz, I.yz + J.yz};
}

PART vec3 mul_sym3(sym3 I, vec3 u)
{
    return (vec3){I.xx * u.x + I.xy * u.y + I.xz * u.z, I.xy * u.x + I.yy * u.y + I.yz * u.z,
                  I.xz * u.x + I.yz * u.y + I.zz * u.z};
}

/* ---- Spatial vectors ------------------------------------------------------------------------- */

PART spatial load6(const zw_real *a)
{
    return (spatial){load3(a), load3(a + 3)};
}

PART void store6(zw_real *a, spatial m)
{
    store3(a, m.ang);
    store3(a + 3, m.lin);
}

PART spatial zero6(void)
{
    const vec3 zero = {lane_fill(0.0), lane_fill(0.0), lane_fill(0.0)};
    return (spatial){zero, zero};
}

PART spatial add6(spatial m, spatial n)
{
    return (spatial){add3(m.ang, n.ang), add3(m.lin, n.lin)};
}

PART spatial sub6(spatial m, spatial n)
{
    return (spatial){sub3(m.ang, n.ang), sub3(m.lin, n.lin)};
}

PART spatial scale6(zw_real s, spatial m)
{
    return (spatial){scale3(s, m.ang), scale3(s, m.lin)};
}

PART zw_real dot6(spatial f, spatial m)
{
    return dot3(f.ang, m.ang) + dot3(f.lin, m.lin);
}

/* A motion about a point at r from its own. */
PART spatial motion_at(spatial m, vec3 r)
{
    return (spatial){m.ang, add3(m.lin, cross3(m.ang, r))};
}

/* A force about the point from which its own is at r. */
PART spatial force_from(spatial f, vec3 r)
{
    return (spatial){add3(f.ang, cross3(r, f.lin)), f.lin};
}

/* The rate of m, carried along by a body that moves with V. */
PART spatial carried(spatial V, spatial m)
{
    return (spatial){cross3(V.ang, m.ang), add3(cross3(V.lin, m.ang), cross3(V.ang, m.lin))};
}

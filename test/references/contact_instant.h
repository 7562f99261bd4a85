/* The references on contact that are instants, as bodies: what zw_forward says of a rod whose end
 * is a corner on the floor. */
#ifndef ZW_TEST_REFERENCES_CONTACT_INSTANT_H
#define ZW_TEST_REFERENCES_CONTACT_INSTANT_H

#include "references/contact.h"

/* A uniform rod (m = 1, half its length l) at an angle above the floor, its lower end at the left.
 * There it has a cube, which stands on the edge that is this end, with faces at 45 degrees. */
static touch open_rod_body(double l, double angle, double rate, double mu, double slip)
{
    char text[1000];
    const double c = cos(angle), s = sin(angle), I = l * l / 3, side = 0.1 * l;
    snprintf(text, sizeof text,
             "<default><geom friction='%.17g 0 0'/></default><worldbody>"
             "<geom type='plane' size='0 0 1'/><body><joint type='slide' axis='1 0 0'/>"
             "<joint type='slide' axis='0 0 1'/><joint type='hinge' axis='0 -1 0'/>"
             "<inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g %.17g'/>"
             "<geom type='box' size='%.17g %.17g %.17g' pos='%.17g 0 %.17g' euler='0 %.17g 0'/>"
             "</body></worldbody>",
             mu, I, I, I, side, side, side, sqrt(2) * side * s - l, sqrt(2) * side * c,
             angle - atan(1));
    touch rod = open_bodies(text);
    double *q = touch_field(&rod, ZW_FIELD_Q), *v = touch_field(&rod, ZW_FIELD_V);
    q[1] = l * s;
    q[2] = angle;
    v[0] = -slip - l * s * rate;
    v[1] = l * c * rate;
    v[2] = rate;
    return rod;
}

/* Normal and horizontal force on the rod; ZW_OK, or why there are none. */
static zw_status rod_forces(touch *rod, double *N, double *F)
{
    zw_contact list[8];
    zw_contact_sum sum = {0};
    zw_status status = zw_forward(rod->system, rod->state, rod->work, NULL, &rod->error);
    int count =
        status == ZW_OK ? zw_contacts(rod->system, rod->state, rod->work, list, 8, &rod->error) : 0;
    if (status == ZW_OK) {
        assert_int_equal(count, 2);
        assert_int_equal(zw_contact_sums(list, count, &sum, 1), 1);
        *N = sum.force[2];
        *F = sum.force[0];
    }
    return status;
}

static void H03_as_bodies(void)
{
    for (int i = 0; i < COUNT(reference_H03); i++) {
        const reference_rod *c = &reference_H03[i];
        touch rod = open_rod_body(1, c->theta, c->theta_dot, c->mu, 1);
        double N = 0, F = 0;
        int none = c->kind == ROD_INCONSISTENT;
        zw_status status = rod_forces(&rod, &N, &F);
        decide("body: status", (int)status, none ? (int)ZW_NO_SOLUTION : (int)ZW_OK);
        if (c->kind == ROD_INDETERMINATE) {
            /* Either of two. What slides is a cone shifted by 100 times the accelerations, and the
             * kernel's answer is good to a part of that (contact_now.c: the error of N is
             * proportional to PUSH, here 3e-8); where friction is weak it ends in round-off. */
            decide("body: lifts or slides", N == 0 || fabs(N - c->N) < 1e-7, 1);
        } else {
            compare("body: N", N, none ? 0 : c->N);
        }
        compare("body: friction", F, c->mu * N);
        touch_close(&rod);
    }
}

static void H10_as_bodies(double angle, double N_wanted, double F_wanted)
{
    touch rod = open_rod_body(0.5, acos(0) - angle, -sqrt(3 * G * (1 - cos(angle))), 1000, 0);
    double N = 0, F = 0;
    decide("body: status", (int)rod_forces(&rod, &N, &F), (int)ZW_OK);
    compare("body: N", N / G, N_wanted);
    compare("body: F", F / G, F_wanted);
    touch_close(&rod);
}

#endif

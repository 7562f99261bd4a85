/* zwang explain: the principle at one instant, in numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { SHOWN = 12 };

cli_table cli_table_of(const cli_arguments *arguments, const cli_world *world, zw_kind kind)
{
    cli_table t = {.width = 10, .count = zw_count(world->system, kind)};
    t.shown = arguments->all || t.count <= SHOWN + 1 ? t.count : SHOWN;
    for (int i = 0; i < t.shown; i++) {
        int length = (int)strlen(zw_name(world->system, kind, i));
        t.width = length > t.width ? length : t.width;
    }
    return t;
}

void cli_show_left_out(const cli_table *t)
{
    if (t->shown < t->count) {
        printf("  and %d more; --all shows them\n", t->count - t->shown);
    }
}

/* Round-off relative to numbers of this size is shown as 0; --json shows it in full. */
double cli_tidy(double x, double size)
{
    return fabs(x) <= 1e-14 * size ? 0 : x;
}

static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    }
    return most;
}

/* ---- Coordinates ---------------------------------------------------------------------------- */

/* With quaternions there are more coordinates than speeds: then coordinates have a
 * separate table. */
static int is_paired(const cli_world *world)
{
    return zw_count(world->system, ZW_KIND_COORD) == zw_count(world->system, ZW_KIND_SPEED);
}

static void show_positions(const cli_arguments *arguments, const cli_world *world)
{
    cli_table t = cli_table_of(arguments, world, ZW_KIND_COORD);
    const double *q = zw_field(world->system, world->state, world->work, ZW_FIELD_Q).data;
    cli_head(stdout, "Positions");
    for (int i = 0; i < t.shown; i++) {
        printf("  %-*s %14.6g\n", t.width, zw_name(world->system, ZW_KIND_COORD, i), q[i]);
    }
    cli_show_left_out(&t);
}

static void show_motion(const cli_arguments *arguments, const cli_world *world)
{
    int paired = is_paired(world);
    cli_table t = cli_table_of(arguments, world, paired ? ZW_KIND_COORD : ZW_KIND_SPEED);
    const double *q = zw_field(world->system, world->state, world->work, ZW_FIELD_Q).data;
    const double *v = zw_field(world->system, world->state, world->work, ZW_FIELD_V).data;
    const double *a_free = zw_field(world->system, world->state, world->work, ZW_FIELD_A_FREE).data;
    const zw_motion *motion = zw_work_motion(world->work);
    double size = largest(motion->a, motion->n) + largest(a_free, motion->n);
    if (paired) {
        cli_head(stdout, "Motion: position q, speed q', free and actual acceleration q''");
        printf("  %-*s %14s %14s %14s %14s\n", t.width, "", "q", "q'", "q'' free", "q'' actual");
    } else {
        show_positions(arguments, world);
        cli_head(stdout, "Motion: speed, free and actual acceleration");
        printf("  %-*s %14s %14s %14s\n", t.width, "", "speed", "free", "actual");
    }
    for (int i = 0; i < t.shown; i++) {
        printf("  %-*s ", t.width,
               zw_name(world->system, paired ? ZW_KIND_COORD : ZW_KIND_SPEED, i));
        if (paired) {
            printf("%14.6g ", q[i]);
        }
        printf("%14.6g ", v[i]);
        if (isfinite(a_free[i])) {
            printf("%14.6g", cli_tidy(a_free[i], size));
        } else {
            printf("%14s", "none");
        }
        printf(" %14.6g\n", cli_tidy(motion->a[i], size));
    }
    cli_show_left_out(&t);
}

static void show_forces(const cli_arguments *arguments, const cli_world *world)
{
    zw_kind kind = is_paired(world) ? ZW_KIND_COORD : ZW_KIND_SPEED;
    cli_table t = cli_table_of(arguments, world, kind);
    const zw_motion *motion = zw_work_motion(world->work);
    double size = largest(motion->F_N, motion->n) + largest(motion->F_L, motion->n) +
                  largest(motion->F_C, motion->n);
    cli_head(stdout, "Forces: applied F^N, ideal constraint force F^L, non-ideal F^C");
    printf("  %-*s %14s %14s %14s %14s\n", t.width, "", "F^N", "F^L", "F^C", "sum = M q''");
    for (int i = 0; i < t.shown; i++) {
        double N = motion->F_N[i], L = motion->F_L[i], C = motion->F_C[i];
        printf("  %-*s %14.6g %14.6g %14.6g %14.6g\n", t.width, zw_name(world->system, kind, i),
               cli_tidy(N, size), cli_tidy(L, size), cli_tidy(C, size), cli_tidy(N + L + C, size));
    }
    cli_show_left_out(&t);
}

/* ---- Constraints ---------------------------------------------------------------------------- */

static void show_constraints(const cli_arguments *arguments, const cli_world *world,
                             const zw_constraint *list)
{
    static const char *const kind[] = {"holonomic", "nonholonomic", "one-sided"};
    static const char *const mode[] = {"open", "closed", "sliding", "stuck"};
    cli_table t = cli_table_of(arguments, world, ZW_KIND_CONSTRAINT);
    const double *lambda = zw_field(world->system, world->state, world->work, ZW_FIELD_LAMBDA).data;
    if (t.count == 0) {
        return;
    }
    zw_law law = zw_law_of(world->system);
    int carries = zw_field(world->system, world->state, world->work, ZW_FIELD_CARRIED).count > 0;
    cli_head(stdout, carries ? "Constraints: size of their force, violation, multipliers lambda"
                             : "Constraints: size of their force |A' lambda|, violation, "
                               "multipliers lambda");
    if (law.alpha > 0 || isfinite(law.N)) {
        printf("  those with speeds follow the %s law: alpha = %g, beta = %g, N = %g\n", law.name,
               law.alpha, law.beta, law.N);
    }
    printf("  %-*s %-12s %-7s %11s %9s %9s  %s\n", t.width, "", "kind", "state", "force",
           "position", "velocity", "multiplier");
    for (int c = 0; c < t.shown; c++) {
        const zw_constraint *it = &list[c];
        printf("  %-*s %-12s %-7s %11.6g ", t.width, zw_name(world->system, ZW_KIND_CONSTRAINT, c),
               it->rows == 0 ? "dry friction" : kind[it->kind], mode[it->mode], it->force);
        if (it->kind == ZW_NONHOLONOMIC) {
            printf("%9s", "-");
        } else {
            printf("%9.2g", it->position);
        }
        printf(" %9.2g  ", it->velocity);
        for (int r = 0; r < it->rows; r++) {
            printf("%s%.6g", r ? ", " : "", lambda[it->first_row + r] + 0.0);
        }
        printf("\n");
    }
    cli_show_left_out(&t);
}

/* ---- The principle -------------------------------------------------------------------------- */

static int show_soft(const zw_motion *motion)
{
    if (strcmp(motion->method ? motion->method : "", "soft") != 0) {
        return 0;
    }
    printf(
        "\nContacts and constraints give way by the soft law (MuJoCo's); F^L is what they exert. "
        "Of all\naccelerations this one makes the sum of Z and of what they cost least;\n"
        "Z = 1/2 (a - a_free)'M(a - a_free) = %.9g of it. What is left of its slope, beside\n"
        "its parts, is %.2g.\n",
        motion->Z, motion->certificate.worst);
    return 1;
}

static void show_sentence(const cli_world *world, zw_contact_law contact)
{
    const zw_motion *motion = zw_work_motion(world->work);
    int convex = contact == ZW_CONTACT_CONVEX && zw_contact_capacity(world->system) > 0;
    if (convex) {
        printf("\nContacts push by the convex law, with the mean forces of a first step from here; "
               "these are\namong the applied forces F^N.\n");
    }
    if (show_soft(motion) || (convex && motion->m == 0)) {
        return;
    }
    int *coord = calloc((size_t)motion->n + 1, sizeof *coord);
    int singular = coord && zw_massless(world->work, coord) > 0, nonideal = 0;
    free(coord);
    for (int i = 0; i < motion->n; i++) {
        nonideal |= motion->C[i] != 0;
    }
    printf("\n");
    if (motion->m == 0) {
        printf("No constraint holds at this instant: the motion is free, Z = 0.\n");
        return;
    }
    if (singular) {
        printf("The masses alone do not determine a free motion. Of all accelerations that the "
               "constraints\nadmit, this one makes 1/2 a'Ma - a'F least: %.9g.\n",
               motion->Z);
    } else if (largest(motion->F_L, motion->n) + largest(motion->F_C, motion->n) == 0) {
        printf("The free motion already meets the constraints; nothing pulls it away: Z = 0.\n");
    } else {
        printf("Of all accelerations that the constraints admit, this one is the nearest to the "
               "free motion\n%sin the metric of the masses:\n"
               "Z = 1/2 (a - a_free)'M(a - a_free) = %.9g.\n",
               nonideal ? "(as the non-ideal forces bend it) " : "", motion->Z);
    }
    printf("The certificate, computed from the data alone, shows it to within %.2g.\n",
           motion->certificate.worst);
}

static void show_principle(const cli_world *world)
{
    const zw_motion *motion = zw_work_motion(world->work);
    const zw_certificate *proof = &motion->certificate;
    const double *energy = zw_field(world->system, world->state, world->work, ZW_FIELD_ENERGY).data;
    cli_head(stdout, "Principle");
    printf("  Z            %.9g\n", motion->Z);
    printf("  rank         %d of %d %s, ", motion->rank, motion->m,
           motion->m == 1 ? "row" : "rows");
    cli_show_count(stdout, motion->n - motion->rank, "degree of freedom\n", "degrees of freedom\n");
    printf("  redundant    %s", motion->redundant_count ? "" : "none");
    for (int i = 0; i < motion->redundant_count && i < SHOWN; i++) {
        printf("%s%s", i ? ", " : "", zw_work_block_name(world->work, motion->redundant[i]));
    }
    if (motion->redundant_count > SHOWN) {
        printf(" and %d more", motion->redundant_count - SHOWN);
    }
    printf("\n  energy       %.10g, kinetic %.10g, potential %.10g, power %.6g\n", energy[0],
           energy[1], energy[2], cli_tidy(energy[3], 1 + fabs(energy[1]) + fabs(energy[2])));
    printf("  certificate  %.2g at worst", proof->worst);
    if (proof->worst_block >= 0 && proof->worst > 0) {
        printf(", by %s", zw_work_block_name(world->work, proof->worst_block));
    }
    printf("\n               stationarity %.2g, feasibility %.2g, membership %.2g\n"
           "               complementarity %.2g, natural %.2g, gap %.2g\n",
           proof->stationarity, proof->feasibility, proof->membership, proof->complementarity,
           proof->natural, proof->gap);
}

/* ---- The command ---------------------------------------------------------------------------- */

static int poll(void *user, double time)
{
    (void)user;
    cli_progress_show(time);
    return 0;
}

/* Solves the principle, with the contact law that was requested. */
static zw_status look(const cli_arguments *arguments, cli_world *world, zw_contact_law *contact,
                      zw_error *error)
{
    const zw_run_options *run = &arguments->run;
    int meant = run->method == ZW_METHOD_SOFT || run->method == ZW_METHOD_IMPULSE;
    double now = zw_field(world->system, world->state, world->work, ZW_FIELD_TIME).data[0];
    zw_run_options plan, requested = {.time = now + 1,
                                      .every = 1,
                                      .step = run->step,
                                      .tolerance = meant ? run->tolerance : 0,
                                      .method = meant ? run->method : ZW_METHOD_DEFAULT,
                                      .contact = run->contact};
    if (run->contact == ZW_CONTACT_DEFAULT && zw_contact_capacity(world->system) == 0 && !meant) {
        return zw_forward(world->system, world->state, world->work, NULL, error);
    }
    zw_status status = zw_run_plan(world->system, world->state, &requested, &plan, error);
    *contact = status == ZW_OK ? plan.contact : ZW_CONTACT_DEFAULT;
    return status == ZW_OK ? zw_forward(world->system, world->state, world->work, &requested, error)
                           : status;
}

/* Runs the motion up to the instant. */
zw_status cli_go_there(const cli_arguments *arguments, cli_world *world, zw_error *error)
{
    zw_run_options options = arguments->run;
    zw_run_summary summary;
    if (zw_reach_asked(world->system)) { /* the motion is the one that reaches the goal */
        zw_status found = zw_reach(world->system, world->state, world->work, NULL, NULL, error);
        if (found != ZW_OK) {
            return found;
        }
    }
    if (!(arguments->at > 0)) {
        return ZW_OK;
    }
    options.time = options.every = arguments->at;
    options.poll = poll;
    cli_progress_start(0, arguments->at);
    zw_status status = zw_run(world->system, world->state, world->work, &options, &summary, error);
    cli_progress_end();
    if (status == ZW_OK && summary.stopped_by >= 0 && summary.end < arguments->at) {
        fprintf(stderr, "zwang: the motion ends before, at t = %.9g, by %s\n", summary.end,
                zw_name(world->system, ZW_KIND_EVENT, summary.stopped_by));
    }
    return status;
}

static void show(const cli_arguments *arguments, const cli_world *world, const zw_constraint *list,
                 zw_contact_law contact)
{
    printf("%s at t = %.9g\n", arguments->file,
           zw_field(world->system, world->state, world->work, ZW_FIELD_TIME).data[0]);
    show_motion(arguments, world);
    show_forces(arguments, world);
    show_constraints(arguments, world, list);
    cli_explain_bodies(arguments, world);
    show_principle(world);
    show_sentence(world, contact);
}

int cli_explain(const cli_arguments *arguments)
{
    cli_world world;
    zw_error error = {0};
    zw_constraint *list = NULL;
    zw_contact_law contact = ZW_CONTACT_DEFAULT;
    zw_status status = ZW_OK;
    int code = cli_load(arguments, &world, &error);
    if (code == CLI_OK) {
        list = calloc((size_t)zw_count(world.system, ZW_KIND_CONSTRAINT) + 1, sizeof *list);
        status = list ? cli_go_there(arguments, &world, &error) : ZW_NO_MEMORY;
        if (status == ZW_OK) {
            status = look(arguments, &world, &contact, &error);
        }
        if (status == ZW_OK) {
            status = zw_constraints_look(world.system, world.state, world.work, list, &error);
        }
        error.status = error.status ? error.status : status;
        code = cli_code_of(status);
    }
    if (code != CLI_OK) {
        if (arguments->json) {
            cli_explain_json_error(arguments, &error);
        }
        cli_show_error(&error);
    } else if (arguments->json) {
        cli_explain_json(arguments, &world, list);
    } else {
        cli_show_assembly(stdout, &world);
        show(arguments, &world, list, contact);
    }
    free(list);
    cli_unload(&world);
    return code;
}

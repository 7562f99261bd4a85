/* zwang explain --json: everything, under stable names. */
#include <stdlib.h>

#include "cli.h"

static void put_coordinates(cli_json *json, const cli_world *world)
{
    const zw_motion *motion = zw_work_motion(world->work);
    const double *q = zw_field(world->system, world->state, world->work, ZW_FIELD_Q).data;
    const double *v = zw_field(world->system, world->state, world->work, ZW_FIELD_V).data;
    const double *a_free = zw_field(world->system, world->state, world->work, ZW_FIELD_A_FREE).data;
    int n = zw_count(world->system, ZW_KIND_COORD), paired = n == motion->n;
    cli_json_open(json, "coordinates", '[');
    for (int i = 0; i < n && !paired; i++) { /* quaternions: more coordinates than speeds */
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", zw_name(world->system, ZW_KIND_COORD, i));
        cli_json_number(json, "position", q[i]);
        cli_json_close(json, '}');
    }
    if (!paired) {
        cli_json_close(json, ']');
        cli_json_open(json, "speeds", '[');
    }
    for (int i = 0; i < motion->n; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name",
                      zw_name(world->system, paired ? ZW_KIND_COORD : ZW_KIND_SPEED, i));
        if (paired) {
            cli_json_number(json, "position", q[i]);
        }
        cli_json_number(json, "speed", v[i]);
        cli_json_number(json, "acceleration_free", a_free[i]);
        cli_json_number(json, "acceleration", motion->a[i]);
        cli_json_number(json, "F_N", motion->F_N[i]);
        cli_json_number(json, "F_L", motion->F_L[i]);
        cli_json_number(json, "F_C", motion->F_C[i]);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void put_force(cli_json *json, const cli_world *world, int c, double *scratch)
{
    int n = zw_count(world->system, ZW_KIND_SPEED),
        paired = n == zw_count(world->system, ZW_KIND_COORD);
    cli_json_open(json, "force_on", '{');
    if (scratch && zw_constraint_force(world->system, world->work, c, scratch) == ZW_OK) {
        for (int i = 0; i < n; i++) {
            if (scratch[i] != 0) {
                cli_json_number(json,
                                zw_name(world->system, paired ? ZW_KIND_COORD : ZW_KIND_SPEED, i),
                                scratch[i]);
            }
        }
    }
    cli_json_close(json, '}');
}

static void put_constraints(cli_json *json, const cli_world *world, const zw_constraint *list)
{
    static const char *const kind[] = {"holonomic", "nonholonomic", "one-sided"};
    static const char *const mode[] = {"open", "closed", "sliding", "stuck"};
    const double *lambda = zw_field(world->system, world->state, world->work, ZW_FIELD_LAMBDA).data;
    double *scratch = calloc((size_t)zw_count(world->system, ZW_KIND_COORD) + 1, sizeof *scratch);
    cli_json_open(json, "constraints", '[');
    for (int c = 0; c < zw_count(world->system, ZW_KIND_CONSTRAINT); c++) {
        const zw_constraint *it = &list[c];
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", zw_name(world->system, ZW_KIND_CONSTRAINT, c));
        cli_json_text(json, "kind", it->rows == 0 ? "dry friction" : kind[it->kind]);
        cli_json_text(json, "state", mode[it->mode]);
        cli_json_open(json, "multipliers", '[');
        for (int r = 0; r < it->rows; r++) {
            cli_json_number(json, NULL, lambda[it->first_row + r]);
        }
        cli_json_close(json, ']');
        cli_json_number(json, "force", it->force);
        put_force(json, world, c, scratch);
        cli_json_number(json, "position", it->position);
        cli_json_number(json, "velocity", it->velocity);
        cli_json_number(json, "friction", it->friction);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    free(scratch);
}

static void put_certificate(cli_json *json, const cli_world *world)
{
    const zw_certificate *proof = &zw_work_motion(world->work)->certificate;
    cli_json_open(json, "certificate", '{');
    cli_json_number(json, "worst", proof->worst);
    cli_json_text(json, "worst_constraint", zw_work_block_name(world->work, proof->worst_block));
    cli_json_number(json, "stationarity", proof->stationarity);
    cli_json_number(json, "feasibility", proof->feasibility);
    cli_json_number(json, "membership", proof->membership);
    cli_json_number(json, "complementarity", proof->complementarity);
    cli_json_number(json, "natural", proof->natural);
    cli_json_number(json, "gap", proof->gap);
    cli_json_close(json, '}');
}

static void put_principle(cli_json *json, const cli_world *world)
{
    const zw_motion *motion = zw_work_motion(world->work);
    cli_json_number(json, "Z", motion->Z);
    cli_json_int(json, "rank", motion->rank);
    cli_json_int(json, "degrees_of_freedom", motion->n - motion->rank);
    cli_json_number(json, "independence", motion->independence);
    cli_json_open(json, "redundant", '[');
    for (int i = 0; i < motion->redundant_count; i++) {
        cli_json_text(json, NULL, zw_work_block_name(world->work, motion->redundant[i]));
    }
    cli_json_close(json, ']');
    int *coord = calloc((size_t)motion->n + 1, sizeof *coord);
    int count = coord ? zw_massless(world->work, coord) : 0;
    cli_json_open(json, "massless", '[');
    for (int i = 0; i < count; i++) {
        cli_json_text(json, NULL, zw_name(world->system, ZW_KIND_COORD, coord[i]));
    }
    cli_json_close(json, ']');
    free(coord);
}

static void put_energy(cli_json *json, const cli_world *world)
{
    const double *energy = zw_field(world->system, world->state, world->work, ZW_FIELD_ENERGY).data;
    cli_json_open(json, "energy", '{');
    cli_json_number(json, "total", energy[0]);
    cli_json_number(json, "kinetic", energy[1]);
    cli_json_number(json, "potential", energy[2]);
    cli_json_number(json, "power", energy[3]);
    cli_json_close(json, '}');
}

static void put_assembly(cli_json *json, const cli_world *world)
{
    const zw_assembly *assembly = &world->assembly;
    cli_json_open(json, "assembly", '{');
    cli_json_number(json, "violation_before", assembly->violation_before);
    cli_json_number(json, "violation_after", assembly->violation_after);
    cli_json_number(json, "position_change", assembly->position_change);
    cli_json_text(json, "position_coordinate",
                  zw_name(world->system, ZW_KIND_COORD, assembly->position_coord));
    cli_json_number(json, "speed_change", assembly->speed_change);
    cli_json_text(json, "speed_coordinate",
                  zw_name(world->system, ZW_KIND_COORD, assembly->speed_coord));
    cli_json_number(json, "impacts", assembly->impacts);
    cli_json_number(json, "impact_loss", assembly->impact_loss);
    cli_json_text(json, "impact_speed",
                  zw_name(world->system, ZW_KIND_SPEED, assembly->impact_speed));
    cli_json_number(json, "impact_before", assembly->impact_before);
    cli_json_number(json, "impact_after", assembly->impact_after);
    cli_json_close(json, '}');
}

static void put_parameters(cli_json *json, const cli_world *world)
{
    zw_view param = zw_field(world->system, world->state, world->work, ZW_FIELD_PARAM);
    cli_json_open(json, "parameters", '{');
    for (int i = 0; i < param.count; i++) {
        cli_json_number(json, zw_name(world->system, ZW_KIND_PARAM, i), param.data[i]);
    }
    cli_json_close(json, '}');
}

void cli_explain_json(const cli_arguments *arguments, const cli_world *world,
                      const zw_constraint *constraint)
{
    cli_json json = {.to = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "zwang", zw_version());
    cli_json_text(&json, "file", arguments->file);
    cli_json_bool(&json, "ok", 1);
    cli_json_number(&json, "time",
                    zw_field(world->system, world->state, world->work, ZW_FIELD_TIME).data[0]);
    put_parameters(&json, world);
    put_assembly(&json, world);
    put_coordinates(&json, world);
    put_constraints(&json, world, constraint);
    cli_explain_json_bodies(&json, world);
    put_principle(&json, world);
    put_energy(&json, world);
    put_certificate(&json, world);
    cli_json_close(&json, '}');
}

void cli_explain_json_error(const cli_arguments *arguments, const zw_error *error)
{
    cli_json json = {.to = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "zwang", zw_version());
    cli_json_text(&json, "file", arguments->file);
    cli_json_bool(&json, "ok", 0);
    cli_json_error(&json, error);
    cli_json_close(&json, '}');
}

/* zwang export: a robot as an MJCF file. */
#include "cli.h"

int cli_export(const cli_arguments *arguments)
{
    cli_world world = {0};
    zw_error error = {0};
    int code = cli_load_model(arguments, &world, &error);
    if (code == CLI_OK) {
        zw_status status = zw_model_write(world.model, arguments->target, &error);
        code = status == ZW_OK ? CLI_OK : status == ZW_BAD_INPUT ? CLI_MODEL : cli_code_of(status);
    }
    if (code != CLI_OK) {
        cli_show_error(&error);
    } else if (!arguments->quiet) {
        cli_label(stdout, "written");
        printf("%s: ", arguments->target);
        cli_show_count(stdout, zw_model_count(world.model, ZW_KIND_BODY) - 1, "body", "bodies");
        printf(", ");
        cli_show_count(stdout, zw_model_count(world.model, ZW_KIND_JOINT), "joint", "joints");
        printf(", ");
        cli_show_count(stdout, zw_model_count(world.model, ZW_KIND_GEOM), "shape", "shapes");
        printf("\n");
        cli_show_notes(stdout, &world);
    }
    cli_unload(&world);
    return code;
}

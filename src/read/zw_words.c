/* The words of the language. The number is the order in which statements are made: speeds after
 * coordinates, masses after gravity, friction after constraints, what is shown at the end. */
#include "read/zw.h"

static const read_word words[] = {
    {"param", read_parse_definitions, NULL, 0, READ_PARAM, 0, "param m = 1, g = 9.81"},
    {"coord", read_parse_definitions, read_make_coord, 1, READ_COORD, 0, "coord x = 1, y = 0"},
    {"speed", read_parse_definitions, read_make_speed, 2, READ_COORD, 0, "speed x' = 1, y' = 0"},
    {"let", read_parse_definitions, NULL, 0, READ_LET, 0, "let r = |p - q|"},
    {"point", read_parse_definitions, NULL, 0, READ_POINT, 0, "point p = (x, y)"},
    {"imbed", read_parse_definitions, NULL, 0, READ_IMBED, 0,
     "imbed x = l*sin(th), y = -l*cos(th)"},
    {"gravity", read_parse_expression, read_make_gravity, 3, 0, 0, "gravity (0, -9.81)"},
    {"mass", read_parse_at, read_make_mass, 4, 0, 0, "mass m at p"},
    {"inertia", read_parse_at, read_make_inertia, 4, 0, 0, "inertia J of th"},
    {"kinetic", read_parse_expression, read_make_energy, 4, 0, 0, "kinetic m/2*x'^2"},
    {"potential", read_parse_expression, read_make_energy, 4, 1, 0, "potential m*g*y"},
    {"lagrangian", read_parse_expression, read_make_energy, 4, 2, 0, "lagrangian m/2*x'^2 - m*g*x"},
    {"rayleigh", read_parse_expression, read_make_energy, 4, 3, 0, "rayleigh c/2*x'^2"},
    {"force", read_parse_force, read_make_force, 4, 0, 0, "force x: -k*x, or: force (fx, fy) at p"},
    {"torque", read_parse_force, read_make_force, 4, 1, 0, "torque th: -k*th"},
    {"spring", read_parse_spring, read_make_spring, 4, 0, 0, "spring k from p to q length l"},
    {"damper", read_parse_spring, read_make_damper, 4, 0, 0, "damper c from p to q"},
    {"constraint", read_parse_constraint, read_make_constraint, 5, 0, 0,
     "constraint name: x^2 + y^2 = l^2, or: constraint name: y >= 0, restitution 0.8, friction "
     "0.3"},
    {"relation", read_parse_constraint, read_make_constraint, 5, 0, 0,
     "relation name: x1' + x2' = 1"},
    {"friction", read_parse_labelled, read_make_friction, 6, 0, 1, "friction wire: 0.2"},
    {"nonideal", read_parse_labelled, read_make_nonideal, 6, 0, 1,
     "nonideal wire: (-c*x', -c*z'), or: nonideal wire: x: -c*x', z: -c*z'"},
    {"metric", read_parse_expression, read_make_metric, 4, 0, 0, "metric (x1'^2 + x2'^2)/2"},
    {"prefer", read_parse_prefer, read_make_prefer, 4, 0, 0, "prefer (0, -x2), or: prefer x2: -x2"},
    {"free", read_parse_prefer, read_make_prefer, 4, 1, 0, "free (0, 0.1), or: free x2: 0.1"},
    {"law", read_parse_law, read_make_law, 6, 0, 1,
     "law nonholonomic, law vakonomic name = 0.5, law mixed alpha=1 beta=10, or law penalty N=1e4"},
    {"reach", read_parse_reach, read_make_reach, 6, 0, 0, "reach x = 1, y = 0 at 2"},
    {"event", read_parse_event, read_make_event, 7, 0, 1,
     "event hit: y = 0 falling, set y' = -y', or: event hit: when y < 0, set y' = -y'"},
    {"stop", read_parse_stop, read_make_event, 7, 1, 1, "stop when t > 10"},
    {"check", read_parse_check, read_make_check, 7, 0, 0,
     "check energy within 1e-9, or: check name: expression within 1e-9"},
    {"plot", read_parse_plot, read_make_plot, 7, 0, 0,
     "plot time a, b, or: plot phase x x', or: plot xy a, b"},
    {"draw", read_parse_draw, read_make_draw, 7, 0, 1,
     "draw line p q, circle p radius r, text \"label\" at p"},
    {"run", read_parse_run, read_make_run, 7, 0, 0,
     "run time 10, step 0.01, tol 1e-12, every 0.02, method dop853"},
    {"title", read_parse_title, read_make_title, 7, 0, 0, "title \"a pendulum\""},
    {"include", read_parse_include, NULL, 0, 0, 0, "include \"file.zw\""},
    {"import", read_parse_import, NULL, 0, 0, 0, "import \"robot.xml\""},
};

const read_word *read_word_at(int index)
{
    return index < (int)(sizeof words / sizeof *words) ? &words[index] : NULL;
}

const read_word *read_word_find(const reader *r, int symbol)
{
    for (int i = 0; read_word_at(i) != NULL; i++) {
        if (read_symbol_is(r, symbol, words[i].text)) {
            return &words[i];
        }
    }
    return NULL;
}

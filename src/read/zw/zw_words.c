/* The keywords of the language. The number is the stage in which statements are made: speeds after
 * coordinates, masses after gravity, friction after constraints, plots and drawings at the end. */
#include "read/zw/zw.h"

static const read_word words[] = {
    {"param", read_parse_definitions, NULL, 0, READ_PARAM, 0, "param m = 1, g = 9.81", READ_FITS},
    {"coord", read_parse_definitions, read_make_coord, 1, READ_COORD, 0, "coord x = 1, y = 0",
     READ_NOT_BESIDE_ROBOTS},
    {"speed", read_parse_definitions, read_make_speed, 2, READ_COORD, 0, "speed x' = 1, y' = 0",
     READ_FITS},
    {"let", read_parse_definitions, NULL, 0, READ_LET, 0, "let r = |p - q|", READ_FITS},
    {"point", read_parse_definitions, NULL, 0, READ_POINT, 0, "point p = (x, y)", READ_FITS},
    {"imbed", read_parse_definitions, NULL, 0, READ_IMBED, 0, "imbed x = l*sin(th), y = -l*cos(th)",
     READ_FITS},
    {"gravity", read_parse_expression, read_make_gravity, 3, 0, 0, "gravity (0, -9.81)",
     READ_NOT_BESIDE_ROBOTS},
    {"mass", read_parse_at, read_make_mass, 4, 0, 0, "mass m at p", READ_NOT_BESIDE_ROBOTS},
    {"inertia", read_parse_at, read_make_inertia, 4, 0, 0, "inertia J of th",
     READ_NOT_BESIDE_ROBOTS},
    {"kinetic", read_parse_expression, read_make_energy, 4, 0, 0, "kinetic m/2*x'^2",
     READ_NOT_BESIDE_ROBOTS},
    {"potential", read_parse_expression, read_make_energy, 4, 1, 0, "potential m*g*y", READ_FITS},
    {"lagrangian", read_parse_expression, read_make_energy, 4, 2, 0, "lagrangian m/2*x'^2 - m*g*x",
     READ_NOT_BESIDE_ROBOTS},
    {"rayleigh", read_parse_expression, read_make_energy, 4, 3, 0, "rayleigh c/2*x'^2", READ_FITS},
    {"force", read_parse_force, read_make_force, 4, 0, 0, "force x: -k*x, or: force (fx, fy) at p",
     READ_FITS},
    {"torque", read_parse_force, read_make_force, 4, 1, 0, "torque th: -k*th", READ_FITS},
    {"spring", read_parse_spring, read_make_spring, 4, 0, 0, "spring k from p to q length l",
     READ_FITS},
    {"damper", read_parse_spring, read_make_damper, 4, 0, 0, "damper c from p to q", READ_FITS},
    {"constraint", read_parse_constraint, read_make_constraint, 5, 0, 0,
     "constraint name: x^2 + y^2 = l^2, or: constraint name: y >= 0, restitution 0.8, friction "
     "0.3",
     READ_FITS},
    {"relation", read_parse_constraint, read_make_constraint, 5, 0, 0,
     "relation name: x1' + x2' = 1", READ_NOT_BESIDE_ROBOTS},
    {"friction", read_parse_friction, read_make_friction, 6, 0, 1,
     "friction wire: 0.2, or: friction wire: 0.2 at p, or: friction a, b: 0.2 at p", READ_FITS},
    {"nonideal", read_parse_labelled, read_make_nonideal, 6, 0, 1,
     "nonideal wire: (-c*x', -c*z'), or: nonideal wire: x: -c*x', z: -c*z'",
     READ_NOT_BESIDE_ROBOTS},
    {"metric", read_parse_expression, read_make_metric, 4, 0, 0, "metric (x1'^2 + x2'^2)/2",
     READ_NOT_BESIDE_ROBOTS},
    {"prefer", read_parse_prefer, read_make_prefer, 4, 0, 0, "prefer (0, -x2), or: prefer x2: -x2",
     READ_NOT_BESIDE_ROBOTS},
    {"free", read_parse_prefer, read_make_prefer, 4, 1, 0, "free (0, 0.1), or: free x2: 0.1",
     READ_NOT_BESIDE_ROBOTS},
    {"law", read_parse_law, read_make_law, 6, 0, 1,
     "law nonholonomic, law vakonomic name = 0.5, law mixed alpha=1 beta=10, or law penalty N=1e4",
     READ_NOT_BESIDE_ROBOTS},
    {"impact", read_parse_impact, read_make_impact, 6, 0, 0,
     "impact sequential, or: impact simultaneous", READ_FITS},
    {"reach", read_parse_reach, read_make_reach, 6, 0, 0, "reach x = 1, y = 0 at 2",
     READ_NOT_BESIDE_ROBOTS},
    {"event", read_parse_event, read_make_event, 7, 0, 1,
     "event hit: y = 0 falling, set y' = -y', or: event hit: when y < 0, set y' = -y'", READ_FITS},
    {"stop", read_parse_stop, read_make_event, 7, 1, 1, "stop when t > 10", READ_FITS},
    {"check", read_parse_check, read_make_check, 7, 0, 0,
     "check energy within 1e-9, or: check name: expression within 1e-9", READ_FITS},
    {"cost", read_parse_cost, read_make_cost, 7, 0, 0, "cost (x - 1)^2, or: cost over u^2",
     READ_FITS},
    {"vary", read_parse_vary, read_make_vary, 7, 0, 0,
     "vary m, mu = 0..1, x(0), F(t) = -1..1 in 20", READ_FITS},
    {"plot", read_parse_plot, read_make_plot, 7, 0, 0,
     "plot time a, b, or: plot phase x x', or: plot xy a, b", READ_FITS},
    {"draw", read_parse_draw, read_make_draw, 7, 0, 1,
     "draw line p q, circle p radius r, text \"label\" at p", READ_FITS},
    {"run", read_parse_run, read_make_run, 7, 0, 0,
     "run time 10, step 0.01, tol 1e-12, every 0.02, method dop853, contact coulomb", READ_FITS},
    {"title", read_parse_title, read_make_title, 7, 0, 0, "title \"a pendulum\"", READ_FITS},
    {"include", read_parse_include, NULL, 0, 0, 0, "include \"file.zw\"", READ_FITS},
    {"import", read_parse_import, NULL, 0, 0, 0, "import \"robot.xml\" as robot", READ_FITS},
    {"start", read_parse_definitions, read_make_start, 1, READ_COORD, 0, "start robot.hinge = 0.3",
     READ_ROBOTS_ONLY},
    {"motor", read_parse_definitions, read_make_motor, 4, READ_COORD, 0,
     "motor robot.elbow = -10*robot.hinge", READ_ROBOTS_ONLY},
    {"ground", read_parse_ground, read_make_ground, 1, 0, 0, "ground z = 0, friction 0.8",
     READ_ROBOTS_ONLY},
    {"wheel", read_parse_rolling, read_make_rolling, 5, ZW_EQUALITY_WHEEL, 0,
     "wheel name: robot.wheel radius 0.3 on z = 0", READ_ROBOTS_ONLY},
    {"mecanum", read_parse_rolling, read_make_rolling, 5, ZW_EQUALITY_MECANUM, 0,
     "mecanum name: robot.wheel radius 0.1 rollers 45*deg on z = 0", READ_ROBOTS_ONLY},
    {"roll", read_parse_rolling, read_make_rolling, 5, ZW_EQUALITY_ROLL, 0,
     "roll name: robot.ball radius 0.1 on z = 0", READ_ROBOTS_ONLY},
    {"blade", read_parse_rolling, read_make_rolling, 5, ZW_EQUALITY_BLADE, 0,
     "blade name: robot.runner along x on z = 0", READ_ROBOTS_ONLY},
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

int read_is_word(const reader *r, int symbol)
{
    const read_word *word = read_word_find(r, symbol);
    return word != NULL && word->fit != READ_ROBOTS_ONLY;
}

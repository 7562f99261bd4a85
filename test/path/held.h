/* Models of Kozlov (2000) that both tests of laws along a path use. */
#ifndef ZW_TEST_PATH_HELD_H
#define ZW_TEST_PATH_HELD_H

#define HEISENBERG                                                                                 \
    "coord x = 0.1, y = -0.5, z = 0.2\nspeed x' = 1.3416407864998738, y' = 0.8\n"                  \
    "kinetic (x'^2 + y'^2 + z'^2)/2\nconstraint plane: z' = y*x'\n"

/* Appell and Hamel's: not linear in the speeds. */
#define HAMEL                                                                                      \
    "coord x = 0, y = 0, z = 2\nspeed x' = 1, y' = 0.5, z' = -1.118\n"                             \
    "kinetic (x'^2 + y'^2 + z'^2)/2\npotential 1*z + 0.3*x^2\n"                                    \
    "constraint cone: z'^2 = x'^2 + y'^2\n"

/* Two rows with speeds and a holonomic one; n - m = 2. */
#define CART                                                                                       \
    "coord x = 0, y = 0.2, phi = 0.3, u = 0.1, w = 0.4\nspeed x' = 1, phi' = 0.5, u' = 0.3\n"      \
    "kinetic x'^2 + y'^2 + 0.2*phi'^2 + 0.5*u'^2 + 0.3*w'^2 + 0.05*u'*phi'\n"                      \
    "potential -2*x + y^2/2 + u^2\n"                                                               \
    "constraint edge: x'*sin(phi) = y'*cos(phi)\n"                                                 \
    "constraint roll: u' = x'*cos(phi) + y'*sin(phi) - 0.2*phi'\n"                                 \
    "constraint rod: w = 0.4 + sin(u - 0.1)/2\n"

#endif

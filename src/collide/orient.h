/* Which side of a plane a point is on, decided exactly. */
#ifndef ZW_COLLIDE_ORIENT_H
#define ZW_COLLIDE_ORIENT_H

/* The sign of ((b - a) x (c - a)) . (p - a): positive if p is outside the triangle a, b, c, whose
 * corners are counterclockwise seen from outside; zero if and only if the four points lie in a
 * plane. Exact for numbers between 1e-60 and 1e60 in size, zeros included. */
int collide_side(const double a[3], const double b[3], const double c[3], const double p[3]);

#endif

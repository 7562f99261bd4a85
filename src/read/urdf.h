/* URDF to a model. */
#ifndef ZW_READ_URDF_H
#define ZW_READ_URDF_H

#include "read/form.h"
#include "read/robot.h"

/* Fill the model of the tree with bodies. */
int urdf_read(xml_tree *xml, int root, const robot_limits *limits);

extern const form_element urdf_form; /* urdf_table.c */

#endif

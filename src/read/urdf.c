#include "read/urdf.h"

int urdf_read(xml_tree *xml, int root, const robot_limits *limits)
{
    (void)limits;
    return xml_fail(xml, xml_place(xml, root), "URDF cannot be read yet");
}

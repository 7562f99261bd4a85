/* Forces along a recording: see inverse_path.c. */
#ifndef ZW_LOOK_INVERSE_PATH_H
#define ZW_LOOK_INVERSE_PATH_H

#include "system/system.h"
#include "zwang/inverse.h"

struct zw_inverse_path {
    const zw_system *system;
    long count;
    int columns;
    char **name;   /* [columns] */
    double *value; /* [columns][count] */
    zw_inverse_report report;
};

#endif

#include "zwang/zwang.h"

#ifndef ZW_VERSION
#define ZW_VERSION "0.3.0"
#endif

const char *zw_version(void)
{
    return ZW_VERSION;
}

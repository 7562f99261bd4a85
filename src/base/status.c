#include "zwang/status.h"

const char *zw_status_text(zw_status status)
{
    switch (status) {
#define ZW_STATUS_CASE(code, text)                                                                 \
    case code:                                                                                     \
        return text;
        ZW_STATUS_TABLE(ZW_STATUS_CASE)
#undef ZW_STATUS_CASE
    }
    return "unknown status";
}

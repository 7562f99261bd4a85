/* How much a random campaign does: a tenth with ZW_CAMPAIGN=small in the environment, as under the
 * sanitizers. */
#ifndef ZW_TEST_SCENE_CAMPAIGN_H
#define ZW_TEST_SCENE_CAMPAIGN_H

#include <stdlib.h>
#include <string.h>

static inline int campaign_is_small(void)
{
    const char *size = getenv("ZW_CAMPAIGN");
    return size != NULL && strcmp(size, "small") == 0;
}

static inline int campaign(int usual)
{
    return campaign_is_small() ? usual / 10 : usual;
}

#endif

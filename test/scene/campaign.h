/* How much a campaign does with ZW_CAMPAIGN=small in the environment: a tenth of what is drawn at
 * random, and of a list every n-th. The sanitizers use it, as they look for other faults than
 * wrong numbers, and clang, whose numbers are those of gcc (bench/bits); gcc's tests do all. */
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
    return campaign_is_small() ? (usual + 9) / 10 : usual;
}

/* The step through a list, or through seeds. */
static inline int campaign_stride(int when_small)
{
    return campaign_is_small() ? when_small : 1;
}

#endif

/* What 32 threads of a GPU do (device/cuda/threads.h), turn by turn. */
#define CREW_SIZE 32
#define CREW_MEET() ((void)0)
#define CREW_FOR(i, count) for (int i = 0; i < (count); i++)
#define CREW_FOR_IF(apart, i, count) for (int i = ((void)(apart), 0); i < (count); i++)
#define CREW_ONE()
#define CREW_ANY(own) (own)
#define CREW_ALL8(mask) (mask)
#define CREW_TOGETHER() ((void)0)
#define CREW_ANY_OF_ALL(own) (own)
#define CREW_EACH(i, count, test, of)                                                              \
    for (int i = 0; i < (count); i++)                                                              \
        if (test(of, i))

/* Crews: threads of a GPU that work on one world together (device/cuda/crew.h). On a processor a
 * crew is one thread, and all of this is an ordinary loop.
 *
 * Every thread of a crew runs the whole of the code. What is not of arrays, each has for itself,
 * and the same in all; of what is in arrays each computes a part, and they meet before it is read.
 * Every number is computed by one thread, in the order of the loop for one: so it has its bits. */
#ifndef ZW_MATH_CREW_H
#define ZW_MATH_CREW_H

#ifndef CREW_SIZE
#define CREW_SIZE 1
/* Each turn by one of the crew. */
#define CREW_FOR(i, count) for (int i = 0; i < (count); i++)
/* The same if turns do not disturb each other (`apart`), else all of them by one, in their order.
 */
#define CREW_FOR_IF(apart, i, count) for (int i = ((void)(apart), 0); i < (count); i++)
/* All turns by all, but those that test(of, i) says have nothing to do. */
#define CREW_EACH(i, count, test, of) for (int i = 0; i < (count); i++)
/* By one of them. */
#define CREW_ONE()
/* What was written is seen by all from here on. */
#define CREW_MEET() ((void)0)
/* For some of them, for all of them. */
#define CREW_ANY(own) (own)
#define CREW_ALL8(mask) (mask)
#define CREW_ANY_OF_ALL(own) (own)
#endif

/* All warps of a multiprocessor wait for each other, so that they run the same code at the same
 * time. In rounds: all take part until none needs another (`own` is 0 in all of them), and within a
 * round they are together, but for those that need no more. */
#ifndef CREW_TOGETHER
#define CREW_TOGETHER() ((void)0)
#endif
#ifndef CREW_ROUND
#define CREW_ROUND(own) (own)
#define CREW_IN_ROUND() ((void)0)
#endif

#endif

/* Threads that wait for work. Each has a number, and thread 0 is the caller. */
#ifndef ZW_BATCH_POOL_H
#define ZW_BATCH_POOL_H

typedef struct batch_pool batch_pool;

batch_pool *pool_create(int threads); /* NULL: no memory, or the system gives no threads */
void pool_free(batch_pool *pool);
/* work(user, thread) in all threads at once; returns when all are through. watch(user), or NULL:
 * what the caller's thread does some twenty times a second while it waits for the others. */
void pool_run(batch_pool *pool, void (*work)(void *user, int thread), void (*watch)(void *user),
              void *user);

#endif

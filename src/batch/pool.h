/* Threads that wait for work. Each has a number, and thread 0 is the caller. */
#ifndef ZW_BATCH_POOL_H
#define ZW_BATCH_POOL_H

typedef struct batch_pool batch_pool;

batch_pool *pool_create(int threads); /* NULL: no memory, or no threads available */
void pool_free(batch_pool *pool);
/* Calls work(user, thread) in all threads at once; returns when all are done. watch(user),
 * unless NULL, is called in the caller's thread about twenty times a second while it waits for
 * the others. */
void pool_run(batch_pool *pool, void (*work)(void *user, int thread), void (*watch)(void *user),
              void *user);

#endif

#define _POSIX_C_SOURCE 200809L
#include "batch/pool.h"

#include <pthread.h>
#include <time.h>

#include "base/memory.h"

typedef struct pool_member {
    batch_pool *pool;
    pthread_t thread;
    int number;
} pool_member;

struct batch_pool {
    int members; /* threads that were started, not counting the caller */
    pool_member *member;
    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t begun, ended;
    unsigned long turn; /* number of jobs so far */
    int busy;           /* members still working */
    int over;
    void (*work)(void *user, int thread);
    void *user;
};

static void *member_main(void *given)
{
    pool_member *member = given;
    batch_pool *pool = member->pool;
    unsigned long turn = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->over && pool->turn == turn) {
            pthread_cond_wait(&pool->begun, &pool->lock);
        }
        if (pool->over) {
            break;
        }
        turn = pool->turn;
        pthread_mutex_unlock(&pool->lock);
        pool->work(pool->user, member->number);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0) {
            pthread_cond_signal(&pool->ended);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

batch_pool *pool_create(int threads)
{
    batch_pool *pool = base_alloc(sizeof *pool);
    if (!pool) {
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begun, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    pool->member = base_alloc((size_t)threads * sizeof *pool->member);
    for (int k = 1; pool->member && k < threads; k++) {
        pool_member *member = &pool->member[k - 1];
        *member = (pool_member){.pool = pool, .number = k};
        if (pthread_create(&member->thread, NULL, member_main, member) != 0) {
            break;
        }
        pool->members++;
    }
    if (pool->members < threads - 1) {
        pool_free(pool);
        return NULL;
    }
    return pool;
}

void pool_free(batch_pool *pool)
{
    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->over = 1;
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->lock);
    for (int k = 0; k < pool->members; k++) {
        pthread_join(pool->member[k].thread, NULL);
    }
    pthread_cond_destroy(&pool->begun);
    pthread_cond_destroy(&pool->ended);
    pthread_mutex_destroy(&pool->lock);
    base_free(pool->member);
    base_free(pool);
}

/* With the lock held: waits until the others are done, at most a twentieth of a second. */
static void wait_a_while(batch_pool *pool)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 50000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&pool->ended, &pool->lock, &until);
}

void pool_run(batch_pool *pool, void (*work)(void *user, int thread), void (*watch)(void *user),
              void *user)
{
    pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->user = user;
    pool->busy = pool->members;
    pool->turn++;
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->lock);
    work(user, 0);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0 && watch) {
        wait_a_while(pool);
        if (pool->busy > 0) {
            pthread_mutex_unlock(&pool->lock);
            watch(user);
            pthread_mutex_lock(&pool->lock);
        }
    }
    while (pool->busy > 0) {
        pthread_cond_wait(&pool->ended, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

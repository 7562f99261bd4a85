/* Sweeps under mpirun: messages between ranks by MPI. A program that was not started by mpirun
 * never initialises MPI. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef ZW_HAVE_MPI
#include <mpi.h>

enum { TO_FIRST = 1, FROM_FIRST = 2 };

static char *message; /* the last one that rank 0 received */
static int message_capacity;

static const char *receive(void *user, int *from)
{
    MPI_Status status;
    int there = 0, length = 0;
    (void)user;
    MPI_Iprobe(MPI_ANY_SOURCE, TO_FIRST, MPI_COMM_WORLD, &there, &status);
    if (!there) { /* the other threads of this process are working */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        MPI_Iprobe(MPI_ANY_SOURCE, TO_FIRST, MPI_COMM_WORLD, &there, &status);
    }
    if (!there) {
        return NULL;
    }
    MPI_Get_count(&status, MPI_CHAR, &length);
    if (length + 1 > message_capacity) {
        free(message);
        message_capacity = 2 * length + 256;
        message = malloc((size_t)message_capacity);
        if (!message) {
            fputs("zwang: out of memory\n", stderr);
            MPI_Abort(MPI_COMM_WORLD, 1);
            return NULL;
        }
    }
    *from = status.MPI_SOURCE;
    MPI_Recv(message, length, MPI_CHAR, *from, TO_FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    message[length] = 0;
    return message;
}

static void answer(void *user, int to, int number)
{
    (void)user;
    MPI_Send(&number, 1, MPI_INT, to, FROM_FIRST, MPI_COMM_WORLD);
}

static int ask(void *user, const char *text)
{
    int number = -1;
    (void)user;
    MPI_Send(text, (int)strlen(text), MPI_CHAR, 0, TO_FIRST, MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_INT, 0, FROM_FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return number;
}

/* The environment variables that Open MPI, MPICH, Intel MPI and Slurm set. */
static int is_started(void)
{
    static const char *const words[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK",
                                        "PMI_RANK"};
    int found = 0;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        found |= getenv(words[k]) != NULL;
    }
    return found;
}

int cli_ranks_begin(zw_sweep_ranks *ranks)
{
    int provided = 0;
    *ranks = (zw_sweep_ranks){.count = 1};
    if (!is_started() || MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != 0) {
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->count);
    ranks->receive = receive;
    ranks->answer = answer;
    ranks->ask = ask;
    return 1;
}

int cli_ranks_agree(int good)
{
    int all = good;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

int cli_ranks_end(int code)
{
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    free(message);
    message = NULL;
    message_capacity = 0;
    return code;
}
#else
int cli_ranks_begin(zw_sweep_ranks *ranks)
{
    *ranks = (zw_sweep_ranks){.count = 1};
    return 0;
}
int cli_ranks_agree(int good)
{
    return good;
}
int cli_ranks_end(int code)
{
    return code;
}
#endif

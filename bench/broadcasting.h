/* What programs share that broadcast again and again: what they are asked for, one call that is checked, and when each
 * began and had ended everywhere. */
#ifndef MUTIRAO_BENCH_BROADCASTING_H
#define MUTIRAO_BENCH_BROADCASTING_H

#include "measuring.h"

struct broadcasts {
    int length, root, count;
    int every_ms; /* 0: a call begins when the one before is complete everywhere */
    unsigned char *data, *expected;
    double* begin_ms; /* one for each counted call; this rank's */
    double* end_ms;   /* this rank's; at the root, in the end, the latest of all ranks */
    double* other_ms; /* of another rank, to gather */
};

/* Those that all these programs know. */
enum { common_options = 4 };
static inline void common_options_of(struct broadcasts* all, struct option options[common_options]) {
    options[0] = (struct option){"--bytes", 0, INT32_MAX, &all->length, NULL, NULL};
    options[1] = (struct option){"--root", 0, size - 1, &all->root, NULL, NULL};
    options[2] = (struct option){"--count", 0, 3600000, &all->count, NULL, NULL};
    options[3] = (struct option){"--every-ms", 0, 3600000, &all->every_ms, NULL, NULL};
}

static inline void make_room(struct broadcasts* all) {
    all->data = room_for((size_t)all->length);
    all->expected = room_for((size_t)all->length);
    all->begin_ms = room_for(3 * (size_t)all->count * sizeof(double));
    all->end_ms = all->begin_ms + all->count;
    all->other_ms = all->end_ms + all->count;
}

static inline void free_room(struct broadcasts* all) {
    free(all->data);
    free(all->expected);
    free(all->begin_ms);
}

/* `call` gives the message its content. */
static inline void broadcast(const struct broadcasts* all, int call, double* begin_ms, double* end_ms) {
    fill(all->expected, all->length, (unsigned)call);
    if (rank == all->root) {
        memcpy(all->data, all->expected, (size_t)all->length);
    } else {
        memset(all->data, 0, (size_t)all->length);
    }
    *begin_ms = now_ms();
    MPI_Bcast(all->data, all->length, MPI_BYTE, all->root, MPI_COMM_WORLD);
    *end_ms = now_ms();
    check_bytes(all->data, all->expected, (size_t)all->length, all->root);
}

/* Each rank's end of each call goes to the root when all is over, so that measuring sends nothing. */
static inline void gather_ends(struct broadcasts* all) {
    if (rank != all->root) {
        MPI_Send(all->end_ms, all->count, MPI_DOUBLE, all->root, result_tag, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < size; ++i) {
        MPI_Recv(all->other_ms, all->count, MPI_DOUBLE, MPI_ANY_SOURCE, result_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int call = 0; call < all->count; ++call) {
            all->end_ms[call] = all->other_ms[call] > all->end_ms[call] ? all->other_ms[call] : all->end_ms[call];
        }
    }
}

/* For a root that keeps its own pace. */
static inline void pause_root_until(const struct broadcasts* all, double time_ms) {
    if (rank == all->root && time_ms > now_ms()) {
        pause_ms(time_ms - now_ms());
    }
}

/* Begins counted from `start`, and completions. */
static inline void print_calls(const struct broadcasts* all, double start) {
    for (int call = 0; call < all->count; ++call) {
        all->end_ms[call] -= all->begin_ms[call];
        all->begin_ms[call] -= start;
    }
    printf(",\"begin_ms\":");
    print_numbers(all->begin_ms, all->count, 1);
    printf(",\"completion_ms\":");
    print_numbers(all->end_ms, all->count, 1);
}

#endif

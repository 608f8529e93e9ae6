/* What the program that measures collectives is asked for. */
#ifndef MUTIRAO_BENCH_COLLECTIVE_OPTIONS_H
#define MUTIRAO_BENCH_COLLECTIVE_OPTIONS_H

#include "collectives.h"

const char program_usage[] = "NAME [--bytes N,...] [--roots R,...] [--repeat N]"
                             " [--consecutive N,...] [--settle-calls N] [--settle-ms N]"
                             " [--pause-ms N] [--cold 0|1] [--beside-native 0|1] [--late-us N] [--late-changes 0|1]"
                             " [--poll-us N] [--then ...]";

enum { most_consecutive = 1000000 };

/* Of one rank at each call. */
struct lateness {
    double ms;
    int changes; /* each rank's in turn; otherwise the last one's */
};

struct options {
    int lengths[most_values];
    int length_count;
    int roots[most_values];
    int root_count;
    int consecutives[most_values];
    int consecutive_count;
    int settle_calls;
    int settle_ms;
    int repeat;
    int pause_ms;
    int cold;
    int beside_native;
    struct lateness late;
    double poll_ms;
};

static struct options defaults_of(const struct collective* collective) {
    const struct options options = {.lengths = {collective->gives == nothing ? 0 : 24},
                                    .length_count = 1,
                                    .root_count = 1,
                                    .consecutives = {1},
                                    .consecutive_count = 1,
                                    .repeat = 5};
    return options;
}

static int most_bytes_of(const struct collective* collective) {
    return collective->gives == nothing ? 0 : in_blocks(collective) ? INT32_MAX / size : INT32_MAX;
}

/* Reads options from argv[from] up to --then or the end, and returns where the next ones begin. */
static int parse(int from, int argc, char** argv, const struct collective* collective,
                 struct options* options) {
    int i = from;
    for (; i < argc && strcmp(argv[i], "--then") != 0; i += 2) {
        const char* const value = value_behind(argv + i);
        if (strcmp(argv[i], "--bytes") == 0) {
            options->length_count =
                parse_list(value, 0, most_bytes_of(collective), options->lengths);
        } else if (strcmp(argv[i], "--roots") == 0) {
            options->root_count =
                parse_list(value, 0, collective->rooted ? size - 1 : 0, options->roots);
        } else if (strcmp(argv[i], "--repeat") == 0) {
            options->repeat = parse_one(value, 1, 1000000);
        } else if (strcmp(argv[i], "--pause-ms") == 0) {
            options->pause_ms = parse_one(value, 0, 1000000);
        } else if (strcmp(argv[i], "--cold") == 0) {
            options->cold = parse_one(value, 0, 1);
        } else if (strcmp(argv[i], "--beside-native") == 0) {
            options->beside_native = parse_one(value, 0, 1);
        } else if (strcmp(argv[i], "--late-us") == 0) {
            options->late.ms = parse_one(value, 0, 1000000000) / 1e3;
        } else if (strcmp(argv[i], "--late-changes") == 0) {
            options->late.changes = parse_one(value, 0, 1);
        } else if (strcmp(argv[i], "--poll-us") == 0) {
            options->poll_ms = parse_one(value, 0, 1000000) / 1e3;
        } else if (strcmp(argv[i], "--consecutive") == 0) {
            options->consecutive_count = parse_list(value, 0, most_consecutive, options->consecutives);
        } else if (strcmp(argv[i], "--settle-calls") == 0) {
            options->settle_calls = parse_one(value, 0, 1000000000);
        } else if (strcmp(argv[i], "--settle-ms") == 0) {
            options->settle_ms = parse_one(value, 0, 1000000000);
        } else {
            fail("unknown option", argv[i]);
        }
    }
    return i + 1;
}

#endif

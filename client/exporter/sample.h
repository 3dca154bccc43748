/* The service's three answers at one time. They are never changed. */
#ifndef SYCLD_EXPORTER_SAMPLE_H
#define SYCLD_EXPORTER_SAMPLE_H

#include "connection.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SAMPLE_PROBLEM_BYTES = 512 };

struct sample {
	uint64_t asked_ns, took_ns;         /* CLOCK_MONOTONIC */
	uint64_t asked_unix_ms;             /* only for display */
	bool is_up;                         /* all three answers arrived */
	char problem[SAMPLE_PROBLEM_BYTES]; /* set unless is_up */
	struct answer status;
	struct answer by_user;    /* accounts, for each user and device */
	struct answer by_session; /* accounts, for each session and device */
};

/* Requests the three answers. Blocks for seconds at most. NULL: no memory. The caller releases the
 * sample. */
struct sample *sample_take(const char *runtime_directory);
/* Accepts NULL. Returns NULL. */
struct sample *sample_free(struct sample *sample);

#endif

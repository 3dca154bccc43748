/* What the service said at one time: three answers, which are never changed. */
#ifndef SYCLD_EXPORTER_SAMPLE_H
#define SYCLD_EXPORTER_SAMPLE_H

#include "connection.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SAMPLE_PROBLEM_BYTES = 512 };

struct sample {
	_Atomic unsigned holders;
	uint64_t asked_ns, took_ns;         /* CLOCK_MONOTONIC */
	uint64_t asked_unix_ms;             /* for people only */
	bool is_up;                         /* all three are there */
	char problem[SAMPLE_PROBLEM_BYTES]; /* unless is_up */
	struct answer status;
	struct answer by_user;    /* accounts, for each user and device */
	struct answer by_session; /* accounts, for each session and device */
};

/* Ask. Blocks for seconds at most. NULL: no memory. The caller's to release. */
struct sample *sample_take(const char *runtime_directory);
struct sample *sample_hold(struct sample *sample);
/* Accepts NULL. Returns NULL. */
struct sample *sample_free(struct sample *sample);

#endif

/* The use of devices, in two rings of fixed size, and the last faults. One ring has the last hour
 * in points of five seconds, by user and device. The other has each sample of the last minute, by
 * session and device. */
#ifndef SYCLD_EXPORTER_HISTORY_H
#define SYCLD_EXPORTER_HISTORY_H

#include "fault_list.h"
#include "sample.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	HISTORY_POINTS = 720,
	HISTORY_ROWS = 64, /* rows of one point; further users and devices have no row */
	TIMELINE_SAMPLES = 90,
	TIMELINE_ROWS = 64,
	USES_MOST = 1024, /* counters that are followed from sample to sample */
	PROGRAM_BYTES = 64,
};

#define HISTORY_STEP_NS 5000000000ull

struct history_row {
	uint32_t uid, backend, index;
	uint64_t busy_ns; /* device time in the point */
};

struct history_point {
	uint64_t length_ns; /* 0: no data */
	uint64_t end_unix_ms;
	uint32_t sessions; /* number of all users' sessions at the point's end */
	unsigned count;
	struct history_row rows[HISTORY_ROWS];
};

struct timeline_row {
	uint64_t session;
	uint32_t uid, backend, index;
	uint64_t busy_ns;
	char program[PROGRAM_BYTES]; /* name of the session's program; "": not known */
};

struct timeline_sample {
	uint64_t begin_unix_ms, length_ns;
	unsigned count;
	struct timeline_row rows[TIMELINE_ROWS];
};

/* A counter of the device time of a user, or of a session, on one device. */
struct history_counter {
	uint64_t session; /* 0: a user's */
	uint32_t uid, backend, index;
	uint64_t device_ns;
	char program[PROGRAM_BYTES]; /* as in a row of the timeline; "" for a user's */
};

struct history {
	struct fault_list faults;
	uint64_t next_point, next_sample; /* both count up; modulo the rings' sizes */
	struct history_point *points;
	struct timeline_sample *samples;
	struct history_point open; /* the point that is being filled */
	struct history_counter *counters;
	unsigned counter_count;
	bool users_full, sessions_full; /* the last sample may have had counters without room */
	uint32_t service_pid;           /* 0: no sample before */
	uint64_t last_ns, last_unix_ms;
};

int history_init(struct history *history); /* 0 or -ENOMEM */
void history_fini(struct history *history);
/* Adds a sample. Samples come in the order of their times. */
void history_add(struct history *history, const struct sample *sample);

/* Returns the point, or sample, of that age: 0 is the latest. NULL: there is none. */
const struct history_point *history_point_at(const struct history *history, unsigned age);
const struct timeline_sample *history_sample_at(const struct history *history, unsigned age);

#endif

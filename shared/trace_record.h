/*
 * An engine's record of a command group while a trace is taken. It goes from the engine by way of
 * the supervisor to 'syclctl trace' (control.proto: EngineTrace; admin.proto: TraceChunk). It is an
 * engine's claim: every reader checks it.
 */
#ifndef SYCL_SHARED_TRACE_RECORD_H
#define SYCL_SHARED_TRACE_RECORD_H

#include <assert.h>
#include <stdint.h>

#define TRACE_RECORDS_PART                                                                         \
	1100u /* records in one message: the most that leave a datagram room for the rest */
#define TRACE_RECORDS_POLL 4400u /* records of one engine at one time */
#define TRACE_RECORDS_KEPT                                                                         \
	65536u /* kept in an engine until they are requested: 3.5 MiB, while a trace is taken */

/* The source of takes_ns. */
enum trace_known {
	TRACE_MEASURED, /* the device timed the group */
	/* The device did not time the group: the time is from other groups of the shape
	 * (fair_queue/estimate.h). */
	TRACE_ESTIMATED,
	TRACE_SEEN, /* only the time from outside is known */
	TRACE_KNOWN_WAYS
};

struct trace_record {
	uint64_t session;
	/* CLOCK_MONOTONIC, as the next two. From this time on, no other work of the session delayed
	 * the group. */
	uint64_t at_ns;
	uint64_t start_ns, end_ns; /* begin and end on the device */
	uint64_t takes_ns;         /* device time of the group */
	/* Equal for groups of a session that take about equally long; 0: not known. */
	uint64_t shape;
	uint16_t weight;
	uint8_t session_class; /* enum fair_queue_class */
	uint8_t lane;
	uint8_t known; /* enum trace_known */
	uint8_t reserved[3];
};

static_assert(sizeof(struct trace_record) == 56, "it travels as it is");
static_assert(TRACE_RECORDS_PART * sizeof(struct trace_record) < 62000,
	      "a datagram has room for them");

#endif

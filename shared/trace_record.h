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
	1100u /* in one message; the largest that leaves a datagram room for the rest */
#define TRACE_RECORDS_POLL 4400u /* of one engine, at one time */
#define TRACE_RECORDS_KEPT                                                                         \
	65536u /* kept in an engine until they are requested: 3.5 MiB, while a trace is taken */

/* How takes_ns is known. */
enum trace_known {
	TRACE_MEASURED,  /* the device timed it */
	TRACE_ESTIMATED, /* it did not: by others of its shape (fair_queue/estimate.h) */
	TRACE_SEEN,      /* nothing better is known than how long it seemed to take from outside */
	TRACE_KNOWN_WAYS
};

struct trace_record {
	uint64_t session;
	uint64_t at_ns; /* CLOCK_MONOTONIC, as the next two: nothing of its own session's was in its
			   way any more */
	uint64_t start_ns, end_ns; /* on the device */
	uint64_t takes_ns;         /* of its time */
	uint64_t shape; /* what those of one session have in common that take about as long; 0: not
			   known */
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

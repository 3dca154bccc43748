/*
 * An engine's record of a command group, of a move of contents, or of a copy of spilled memory,
 * while a trace is taken. It goes
 * from the engine by way of the supervisor to 'syclctl trace' (control.proto: EngineTrace;
 * admin.proto: TraceChunk). It is an engine's claim: every reader checks it.
 */
#ifndef SYCL_SHARED_TRACE_RECORD_H
#define SYCL_SHARED_TRACE_RECORD_H

#include <assert.h>
#include <stdint.h>

#define TRACE_RECORDS_PART                                                                         \
	420u /* records in one message: the most that leave a datagram room for the rest */
#define TRACE_RECORDS_POLL 4400u /* records of one engine at one time */
#define TRACE_RECORDS_KEPT                                                                         \
	65536u /* kept in an engine until they are requested: 10 MiB, while a trace is taken */
#define TRACE_AFTER_MOST 3u /* predecessors of a group that have their number in its record */
#define TRACE_NAME_BYTES 32u
#define TRACE_NOTE_BYTES 256u /* a sentence about the times of an engine's records, with its 0 */

/* How an engine gets the times of a trace's commands. */
enum trace_times {
	TRACE_TIMES_USUAL, /* as without a trace: most are estimates */
	/* Each command is sent alone, between two events of the driver. */
	TRACE_TIMES_EVENTS,
	/* The same, and single launches by a library of the vendor's for tools. */
	TRACE_TIMES_PROFILED,
	TRACE_TIMES_WAYS
};

/* The source of takes_ns. */
enum trace_known {
	TRACE_MEASURED, /* the device timed the group */
	/* The device did not time the group: the time is from other groups of the shape
	 * (fair_queue/estimate.h). */
	TRACE_ESTIMATED,
	TRACE_SEEN,     /* only the time from outside is known */
	TRACE_PROFILED, /* a library of the vendor's for tools reported the kernel */
	TRACE_KNOWN_WAYS
};

struct trace_record {
	uint64_t session;
	/* CLOCK_MONOTONIC, as the next two. From this time on, no other work of the session delayed
	 * the group. */
	uint64_t at_ns;
	uint64_t start_ns, end_ns; /* begin and end on the device */
	uint64_t takes_ns;         /* device time of the group */
	union {
		/* Equal for groups of a session that take about equally long; 0: not known. */
		uint64_t shape;
		uint64_t bytes; /* TRACE_FLAG_SPILL, TRACE_FLAG_RETURN: of the memory */
	};
	uint16_t weight;
	uint8_t session_class; /* enum fair_queue_class */
	uint8_t lane;
	uint8_t known;       /* enum trace_known */
	uint8_t flags;       /* TRACE_FLAG_... */
	uint8_t after_count; /* groups and moves that it had to wait for; 255: as many or more */
	uint8_t launches;    /* launches that were taken as this one group */
	uint64_t task;       /* its number in its engine, in the order of submission */
	/* Numbers of the session's; 0: not known. Of a spill `group` is the number of the memory in
	 * its engine. */
	uint64_t queue, group;
	uint64_t sent_ns;                 /* when the engine sent it to its lane; 0: not known */
	uint64_t after[TRACE_AFTER_MOST]; /* `task` of the predecessors that ended last; 0: none */
	char what[TRACE_NAME_BYTES]; /* kernel's name, "copy" and so on; cut off, zero at the end */
};

#define TRACE_FLAG_MOVE   1u /* contents of a buffer that the engine moved by itself for a group */
#define TRACE_FLAG_FAILED 2u /* it ran, and failed */
/* Its command was set aside until the device had room for the memory, or behind one that was. */
#define TRACE_FLAG_SET_ASIDE 4u
/* Device memory that was copied to the host because the device was full, or came back. Of these,
 * at_ns is start_ns, and there are no predecessors. The time is the engine's: TRACE_SEEN. */
#define TRACE_FLAG_SPILL  8u
#define TRACE_FLAG_RETURN 16u
#define TRACE_FLAGS_ALL   31u

static_assert(sizeof(struct trace_record) == 144, "it travels as it is");
static_assert(TRACE_RECORDS_PART * sizeof(struct trace_record) < 62000,
	      "a datagram has room for them");

#endif

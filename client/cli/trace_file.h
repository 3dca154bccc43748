/*
 * A trace, from engines' records to the text that 'syclbench sched --trace' reads (docs/traces.md).
 * The records are claims: invalid ones are left out and counted.
 */
#ifndef SYCLCTL_TRACE_FILE_H
#define SYCLCTL_TRACE_FILE_H

#include "trace_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* As many as the reader takes. */
enum { TRACE_SESSIONS_MOST = 4096, TRACE_GROUPS_MOST = 4000000, TRACE_COMMAND_BYTES = 64 };

struct trace_session {
	uint64_t session;
	uint32_t uid, pid;                 /* pid 0: it had ended before the service named it */
	char command[TRACE_COMMAND_BYTES]; /* printable */
	uint64_t groups;
	uint16_t weight;       /* weight of its first group, and */
	uint8_t session_class; /* its class */
	bool is_chosen;        /* the trace has a place for it */
};

/* The user whose engine a record came from. */
struct trace_source {
	uint32_t uid, engine_pid;
};

struct trace_data {
	const char *device, *service_version; /* as "cuda:0" */
	char since[32];                       /* UTC */
	uint64_t begun_ns, ended_ns;          /* CLOCK_MONOTONIC */
	struct trace_group *groups;
	uint32_t group_count, group_room;
	struct trace_session *sessions;
	uint32_t session_count, session_room;
	struct trace_table *session_table;
	uint64_t known[TRACE_KNOWN_WAYS]; /* groups by how their time is known */
	uint64_t changed; /* groups whose session had another class or weight by then */
	uint64_t
		lost; /* recorded but missing: no room in an engine, or its answer did not arrive */
	uint64_t open;                  /* groups that were not over when the trace ended */
	uint64_t wrong;                 /* invalid ones */
	uint64_t too_many;              /* more groups, or sessions, than a trace may have */
	uint32_t engines, engines_gone; /* engines that sent anything; and of those, the ones that
					   did not answer to the end */
	bool is_cut;                    /* the service ended it */
};

/* -ENOMEM. */
int trace_data_init(struct trace_data *data);
void trace_data_fini(struct trace_data *data);
/* Names a session's process. -ENOMEM. */
int trace_data_name(struct trace_data *data, uint32_t uid, uint64_t session, uint32_t pid,
		    const char *command);
/* The bytes of an engine's records, which need not be aligned. A rest that is no whole record is
 * counted as invalid. -ENOMEM. */
int trace_data_add(struct trace_data *data, const struct trace_source *source, const void *bytes,
		   size_t count);
/* Orders the trace and writes it. 0, -ENOMEM, or the error of the write. */
int trace_data_write(struct trace_data *data, FILE *file);
/* Sessions that have a group. */
uint32_t trace_data_sessions(const struct trace_data *data);

#endif

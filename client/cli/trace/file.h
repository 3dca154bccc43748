/* Turns engines' records into the text that 'syclbench sched --trace' reads (docs/traces.md).
 * Records are untrusted: invalid ones are left out and counted. */
#ifndef SYCLCTL_TRACE_FILE_H
#define SYCLCTL_TRACE_FILE_H

#include "trace_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The reader's limits. */
enum { TRACE_SESSIONS_MOST = 4096, TRACE_GROUPS_MOST = 4000000, TRACE_COMMAND_BYTES = 64 };

struct trace_session {
	uint64_t session;
	uint32_t uid, pid; /* pid 0: the session ended before the service named it */
	char command[TRACE_COMMAND_BYTES]; /* printable */
	uint64_t groups;
	uint16_t weight;       /* of its first group */
	uint8_t session_class; /* of its first group */
	bool is_chosen;        /* the session is within the limit of a trace */
};

/* A valid record of a group, a move or a spill. */
struct trace_group {
	struct trace_record record;
	uint32_t session, source; /* the session's index; the engine's process */
	uint32_t shape, lane, width;
};

/* The user whose engine sent a record. */
struct trace_source {
	uint32_t uid, engine_pid;
};

struct trace_data {
	const char *device, *service_version; /* as "cuda:0" */
	char since[32];                       /* UTC */
	uint64_t begun_ns, ended_ns;          /* CLOCK_MONOTONIC */
	bool wants_moves; /* moves and spills are kept, too, as a timeline shows them */
	bool is_exact;    /* exact times were requested */
	/* Number of engines by their source of times, and the latest sentence about each source. */
	uint32_t times[TRACE_TIMES_WAYS];
	char times_notes[TRACE_TIMES_WAYS][TRACE_NOTE_BYTES];
	struct trace_group *groups;
	uint32_t group_count, group_room;
	/* Moves and copies of spilled memory among the groups, once the trace is sorted. */
	uint32_t move_count, spill_count;
	struct trace_session *sessions;
	uint32_t session_count, session_room;
	struct trace_table *session_table;
	uint64_t known[TRACE_KNOWN_WAYS]; /* number of groups by the source of their time */
	uint64_t changed;                 /* groups whose session had changed its class or weight */
	/* Records that are missing: an engine had no room for them, or its answer did not arrive.
	 */
	uint64_t lost;
	uint64_t open;     /* groups that were not complete when the trace ended */
	uint64_t wrong;    /* invalid records */
	uint64_t too_many; /* groups and sessions above the limits of a trace */
	/* Engines that sent records, and those of them that did not answer until the end. */
	uint32_t engines, engines_gone;
	bool is_cut; /* the service ended the trace */
};

/* -ENOMEM. */
int trace_data_init(struct trace_data *data);
void trace_data_fini(struct trace_data *data);
/* Names a session's process. -ENOMEM. */
int trace_data_name(struct trace_data *data, uint32_t uid, uint64_t session, uint32_t pid,
		    const char *command);
/* Adds the bytes of an engine's records, which need not be aligned. An incomplete record at the end
 * counts as invalid. -ENOMEM. */
int trace_data_add(struct trace_data *data, const struct trace_source *source, const void *bytes,
		   size_t count);
/* Notes an engine's source of times. `before`: as it was noted last; TRACE_TIMES_USUAL: never. */
void trace_data_note_times(struct trace_data *data, uint32_t before, uint32_t times,
			   const char *note);
/* The name of a source of times. */
const char *trace_times_name(enum trace_times times);
/* Sorts the trace, and leaves out what it has no room for. -ENOMEM. */
int trace_data_prepare(struct trace_data *data);
/* Sorts the trace and writes it as text. 0, -ENOMEM, or the error of the write. */
int trace_data_write(struct trace_data *data, FILE *file);
/* Returns the number of sessions that have a group. */
uint32_t trace_data_sessions(const struct trace_data *data);
/* Returns the number of command groups, once the trace is sorted. */
uint32_t trace_data_groups(const struct trace_data *data);

/* True for a copy of spilled memory, in either direction. */
static inline bool trace_is_spill(const struct trace_record *record)
{
	return (record->flags & (TRACE_FLAG_SPILL | TRACE_FLAG_RETURN)) != 0;
}

#endif

#include "trace/file.h"

#include "trace/table.h"
#include "trace/width.h"

#include "cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	CLASS_LATENCY,
	CLASSES = 3,
	WEIGHT_MOST = 1000,
	LANES_NOTED = 64,
	LANES = 32,
	LANES_LATENCY = 8,
	SESSIONS_CLAIMED = 16 * TRACE_SESSIONS_MOST,
	SESSIONS_NOTED = 2 * SESSIONS_CLAIMED
};

#define TAKES_MOST_NS 1000000000000000ull /* eleven days: the reader's limit */

int trace_data_init(struct trace_data *data)
{
	*data = (struct trace_data){.session_table = trace_table_new()};
	return data->session_table ? 0 : -ENOMEM;
}

void trace_data_fini(struct trace_data *data)
{
	free(data->groups);
	free(data->sessions);
	(void)trace_table_free(data->session_table);
	*data = (struct trace_data){.device = NULL};
}

/* Grows the array if it has no room for one more item. */
static int array_grow(void **array, uint32_t count, uint32_t *room, size_t size)
{
	if (count < *room)
		return 0;
	uint32_t more = *room ? 2 * *room : 64;
	void *larger = realloc(*array, more * size);
	if (!larger)
		return -ENOMEM;
	*array = larger;
	*room = more;
	return 0;
}

/* Returns the session's index. -ENOMEM, or -E2BIG: there are too many sessions. */
static int trace_find_session(struct trace_data *data, uint32_t uid, uint64_t session,
			      uint32_t most, uint32_t *place_out)
{
	/* `most` exceeds the limit of a trace, because only the end shows which sessions have
	 * groups. */
	if (data->session_count >= most && !trace_table_has(data->session_table, uid, session))
		return -E2BIG;
	int r = array_grow((void **)&data->sessions, data->session_count, &data->session_room,
			   sizeof(*data->sessions));
	if (r == 0)
		r = trace_table_number(data->session_table, uid, session, data->session_count,
				       place_out);
	if (r < 0 || *place_out < data->session_count)
		return r;
	data->sessions[data->session_count++] =
		(struct trace_session){.session = session, .uid = uid};
	return 0;
}

int trace_data_name(struct trace_data *data, uint32_t uid, uint64_t session, uint32_t pid,
		    const char *command)
{
	uint32_t place;
	int r = trace_find_session(data, uid, session, SESSIONS_NOTED, &place);
	if (r < 0)
		return r == -E2BIG ? 0 : r;
	struct trace_session *entry = &data->sessions[place];
	entry->pid = pid;
	(void)snprintf(entry->command, sizeof(entry->command), "%s", command);
	for (char *at = entry->command; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return 0;
}

static bool record_is_valid(const struct trace_data *data, const struct trace_record *record)
{
	return record->at_ns >= data->begun_ns && record->at_ns <= INT64_MAX &&
	       record->start_ns <= INT64_MAX && record->end_ns <= INT64_MAX &&
	       record->takes_ns <= TAKES_MOST_NS && record->weight >= 1 &&
	       record->weight <= WEIGHT_MOST && record->session_class < CLASSES &&
	       record->lane < LANES_NOTED && record->known < TRACE_KNOWN_WAYS &&
	       record->flags <= TRACE_FLAGS_ALL &&
	       (!trace_is_spill(record) || (record->flags & TRACE_FLAG_MOVE) == 0);
}

/* The index of a source, which is its number. */
static int trace_add_group(struct trace_data *data, const struct trace_source *source,
			   const struct trace_record *record)
{
	uint32_t place = 0;
	if (!record_is_valid(data, record)) {
		data->wrong++;
		return 0;
	}
	if (!data->wants_moves && (record->flags & TRACE_FLAG_MOVE || trace_is_spill(record)))
		return 0;
	int r = -E2BIG;
	if (data->group_count < TRACE_GROUPS_MOST)
		r = trace_find_session(data, source->uid, record->session, SESSIONS_CLAIMED,
				       &place);
	if (r == 0)
		r = array_grow((void **)&data->groups, data->group_count, &data->group_room,
			       sizeof(*data->groups));
	if (r == -E2BIG)
		data->too_many++;
	if (r < 0)
		return r == -E2BIG ? 0 : r;
	data->groups[data->group_count++] = (struct trace_group){
		.record = *record, .session = place, .source = source->engine_pid};
	return 0;
}

int trace_data_add(struct trace_data *data, const struct trace_source *source, const void *bytes,
		   size_t count)
{
	const uint8_t *at = bytes;
	int r = 0;
	for (; count >= sizeof(struct trace_record) && r == 0;
	     count -= sizeof(struct trace_record)) {
		struct trace_record record;
		memcpy(&record, at, sizeof(record));
		at += sizeof(record);
		r = trace_add_group(data, source, &record);
	}
	if (r == 0 && count > 0)
		data->wrong++;
	return r;
}

void trace_data_note_times(struct trace_data *data, uint32_t before, uint32_t times,
			   const char *note)
{
	if (before == times || times >= TRACE_TIMES_WAYS)
		return;
	if (before != TRACE_TIMES_USUAL && before < TRACE_TIMES_WAYS)
		data->times[before]--;
	data->times[times]++;
	char *kept = data->times_notes[times];
	(void)snprintf(kept, TRACE_NOTE_BYTES, "%s", note);
	for (char *at = kept; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

const char *trace_times_name(enum trace_times times)
{
	static const char *const names[TRACE_TIMES_WAYS] = {
		[TRACE_TIMES_USUAL] = "usual",
		[TRACE_TIMES_EVENTS] = "events",
		[TRACE_TIMES_PROFILED] = "cupti",
	};
	return names[times];
}

/* --------------------------------------- in order --------------------------------------- */

static int compare_by_time(const void *left, const void *right)
{
	const struct trace_record *a = &((const struct trace_group *)left)->record,
				  *b = &((const struct trace_group *)right)->record;
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* Numbers sessions in the order of their first groups, as many as the trace has room for. Returns
 * how many have a number now. */
static uint32_t number_in_order(struct trace_data *data, bool named, uint32_t chosen)
{
	for (uint32_t i = 0; i < data->group_count && chosen < TRACE_SESSIONS_MOST; i++) {
		struct trace_session *session = &data->sessions[data->groups[i].session];
		if (session->is_chosen || (session->pid != 0) != named)
			continue;
		session->is_chosen = true;
		chosen++;
	}
	return chosen;
}

/* Leaves out sessions beyond the limit of a trace. Sessions that the service has named come first,
 * because an engine can invent any number of others at any time. */
static void number_sessions(struct trace_data *data)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < data->session_count; i++) {
		data->sessions[i].groups = 0;
		data->sessions[i].is_chosen = false;
	}
	(void)number_in_order(data, false, number_in_order(data, true, 0));
	for (uint32_t i = 0; i < data->group_count; i++) {
		struct trace_session *session = &data->sessions[data->groups[i].session];
		const struct trace_record *record = &data->groups[i].record;
		if (!session->is_chosen) {
			data->too_many++;
			continue;
		}
		data->groups[kept++] = data->groups[i];
		if (trace_is_spill(record)) {
			data->spill_count++;
			continue;
		}
		if (session->groups++ == 0) {
			session->weight = record->weight;
			session->session_class = record->session_class;
		}
		data->changed += session->weight != record->weight ||
				 session->session_class != record->session_class;
		data->known[record->known]++;
		data->move_count += record->flags & TRACE_FLAG_MOVE;
	}
	data->group_count = kept;
}

static int set_widths(struct trace_data *data)
{
	CLEANUP(free_pointer)
	struct trace_span *spans = malloc((data->group_count + (size_t)1) * sizeof(*spans));
	if (!spans)
		return -ENOMEM;
	for (uint32_t i = 0; i < data->group_count; i++)
		spans[i] = (struct trace_span){data->groups[i].record.start_ns,
					       data->groups[i].record.end_ns, 0};
	int r = trace_widths(spans, data->group_count);
	for (uint32_t i = 0; i < data->group_count && r == 0; i++)
		data->groups[i].width = spans[i].width;
	return r;
}

/* Numbers shapes anew, from 1 on, because an engine's own numbers would reveal parts of its memory.
 * Numbers lanes anew for each engine; those of the latency class come first. */
static int trace_set_numbers(struct trace_data *data, struct trace_table *shapes,
			     struct trace_table *lanes)
{
	uint32_t next_shape = 1, next_lane[2] = {0, 0};
	int r = 0;
	for (uint32_t i = 0; i < data->group_count && r == 0; i++) {
		struct trace_group *group = &data->groups[i];
		const bool is_latency =
			data->sessions[group->session].session_class == CLASS_LATENCY;
		const uint64_t lane = (uint64_t)group->record.lane << 1 | is_latency;
		if (trace_is_spill(&group->record)) /* it has no shape and no lane */
			continue;
		if (group->record.shape != 0)
			r = trace_table_number(shapes, group->session, group->record.shape,
					       next_shape, &group->shape);
		next_shape += group->shape == next_shape;
		if (r == 0)
			r = trace_table_number(lanes, group->source, lane, next_lane[is_latency],
					       &group->lane);
		next_lane[is_latency] += group->lane == next_lane[is_latency];
		group->lane = is_latency ? group->lane % LANES_LATENCY
					 : LANES_LATENCY + group->lane % (LANES - LANES_LATENCY);
	}
	return r;
}

/*
 * Leaves out groups sent after the trace's end, because the reader refuses a file with such a line.
 */
static void leave_out_later(struct trace_data *data)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < data->group_count; i++) {
		if (data->groups[i].record.at_ns <= data->ended_ns)
			data->groups[kept++] = data->groups[i];
		else
			data->wrong++;
	}
	data->group_count = kept;
}

int trace_data_prepare(struct trace_data *data)
{
	struct trace_table *shapes = trace_table_new(), *lanes = trace_table_new();
	leave_out_later(data);
	if (data->group_count > 0)
		qsort(data->groups, data->group_count, sizeof(*data->groups), compare_by_time);
	number_sessions(data);
	int r = shapes && lanes ? set_widths(data) : -ENOMEM;
	if (r == 0)
		r = trace_set_numbers(data, shapes, lanes);
	(void)trace_table_free(shapes);
	(void)trace_table_free(lanes);
	return r;
}

uint32_t trace_data_groups(const struct trace_data *data)
{
	return data->group_count - data->move_count - data->spill_count;
}

uint32_t trace_data_sessions(const struct trace_data *data)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < data->session_count; i++)
		count += data->sessions[i].groups > 0;
	return count;
}

/* --------------------------------------- the text --------------------------------------- */

static void write_missing(FILE *file, uint64_t count, const char *what)
{
	if (count > 0)
		(void)fprintf(file, "# not here: %" PRIu64 " %s\n", count, what);
}

static void write_sources(const struct trace_data *data, FILE *file)
{
	for (uint32_t way = TRACE_TIMES_USUAL + 1; way < TRACE_TIMES_WAYS; way++)
		if (data->times[way] > 0)
			(void)fprintf(file, "# exact times: %" PRIu32 " engines by %s: %s\n",
				      data->times[way], trace_times_name(way),
				      data->times_notes[way]);
}

static void trace_write_head(const struct trace_data *data, FILE *file)
{
	(void)fprintf(
		file,
		"sycl-trace 1\n# syclctl trace: what all sessions of sycld %s sent to %s from %s on, %.3f s%s\n",
		data->service_version, data->device, data->since,
		(double)(data->ended_ns - data->begun_ns) / 1e9,
		data->is_cut ? "; the service ended it early" : "");
	(void)fputs(
		"# at: when nothing of its own session's was in its way any more; several launches that were taken as one are one group\n",
		file);
	(void)fprintf(file,
		      "# takes: %" PRIu64 " as the device timed them, %" PRIu64
		      " by the estimate for their shape, %" PRIu64 " as measured by the engine\n",
		      data->known[TRACE_MEASURED] + data->known[TRACE_PROFILED],
		      data->known[TRACE_ESTIMATED], data->known[TRACE_SEEN]);
	write_sources(data, file);
	(void)fputs(
		"# width: less than all of the device where others' commands of this trace ran at the same time, an equal part each\n"
		"# memory: not known of a group\n",
		file);
	write_missing(file, data->lost, "that engines had no room for, or whose answer was lost");
	write_missing(file, data->open, "that were not complete at the end");
	write_missing(file, data->too_many, "beyond the groups and sessions that a trace may have");
	write_missing(file, data->wrong, "that were inconsistent");
	if (data->engines_gone > 0)
		(void)fprintf(file,
			      "# %" PRIu32 " of %" PRIu32
			      " engines did not answer to the end: their last groups are missing\n",
			      data->engines_gone, data->engines);
	if (data->changed > 0)
		(void)fprintf(
			file,
			"# %" PRIu64
			" groups came when their session had another class or weight than at its first\n",
			data->changed);
	(void)fprintf(file, "device length=%" PRIu64 "\n",
		      (data->ended_ns - data->begun_ns + 999) / 1000);
}

static void trace_write_name(const struct trace_session *session, FILE *file)
{
	(void)fprintf(file, "u%" PRIu32 "-s%" PRIu64, session->uid, session->session);
}

static void write_session(const struct trace_session *session, FILE *file)
{
	static const char *const classes[CLASSES] = {"latency", "normal", "best-effort"};
	(void)fputs("session ", file);
	trace_write_name(session, file);
	(void)fprintf(file, " class=%s weight=%u # uid %" PRIu32, classes[session->session_class],
		      session->weight, session->uid);
	if (session->pid)
		(void)fprintf(file, ", pid %" PRIu32 ", %s", session->pid, session->command);
	(void)fputc('\n', file);
}

static void write_time(const char *key, uint64_t ns, FILE *file)
{
	(void)fprintf(file, " %s=%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

static void trace_write_group(const struct trace_data *data, const struct trace_group *group,
			      FILE *file)
{
	(void)fputs("group ", file);
	trace_write_name(&data->sessions[group->session], file);
	write_time("at", group->record.at_ns - data->begun_ns, file);
	write_time("takes", group->record.takes_ns ? group->record.takes_ns : 1, file);
	if (group->shape)
		(void)fprintf(file, " shape=%" PRIu32, group->shape);
	(void)fprintf(file, " lane=%" PRIu32, group->lane);
	if (group->width < TRACE_WIDTH_WHOLE)
		(void)fprintf(file, " width=%" PRIu32, group->width);
	(void)fputc('\n', file);
}

int trace_data_write(struct trace_data *data, FILE *file)
{
	int r = trace_data_prepare(data);
	if (r < 0)
		return r;
	trace_write_head(data, file);
	for (uint32_t i = 0; i < data->session_count; i++)
		if (data->sessions[i].groups > 0)
			write_session(&data->sessions[i], file);
	for (uint32_t i = 0; i < data->group_count; i++)
		trace_write_group(data, &data->groups[i], file);
	errno = 0;
	return fflush(file) == 0 && !ferror(file) ? 0 : (errno ? -errno : -EIO);
}

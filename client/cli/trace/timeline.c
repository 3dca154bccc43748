#include "trace/timeline.h"

#include "object_id.h"
#include "trace/rows.h"
#include "trace/table.h"
#include "users.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE           UINT32_MAX
#define DEVICE_PROCESS 1u
#define EXACT_MOST     (1ull << 53)
#define NAME_BYTES     256
#define MEMORY_TRACK   256u /* beyond the numbers of lanes */

/* The parts of one group in the timeline, in the order of time. */
enum item_kind { ITEM_READY, ITEM_RUNS, ITEM_FAILED };

struct item {
	uint64_t at_ns;
	uint32_t group;
	enum item_kind kind;
};

/* From a group to one that had to wait for it: the next arrows of these two. */
struct arrow {
	uint32_t next_from, next_to;
};

/* Rows of a group: one of its lane, and one of its queue. */
struct place {
	uint32_t lane, queue;          /* NONE: it has no slice. A spill has no queue */
	uint32_t first_from, first_to; /* arrows from this group, and to it */
};

struct timeline {
	const struct trace_data *data;
	FILE *file;
	struct place *places; /* one for each group */
	struct item *items;
	uint32_t item_count;
	struct arrow *arrows;
	uint32_t arrow_count;
	struct trace_rows *rows;
	uint64_t without_times, without_rows, without_arrow; /* what is left out */
	bool has_events;
};

/* --------------------------------------- JSON -------------------------------------------- */

/* Names come from programs and user databases: other characters than ASCII's printable ones become
 * question marks. A backslash is written by its number, because Perfetto v52 takes the second of
 * two backslashes before a quote for the escape of that quote. */
static void write_string(const char *text, size_t most, FILE *file)
{
	(void)fputc('"', file);
	for (size_t i = 0; i < most && text[i]; i++) {
		if (text[i] == '\\')
			(void)fputs("\\u005c", file);
		else if (text[i] == '"')
			(void)fputs("\\\"", file);
		else
			(void)fputc(text[i] < ' ' || text[i] > '~' ? '?' : text[i], file);
	}
	(void)fputc('"', file);
}

static void timeline_write_us(const char *key, uint64_t ns, FILE *file)
{
	(void)fprintf(file, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

/* An engine may claim any number; JSON's readers take those that a double has exactly. */
static void write_number(const char *key, uint64_t number, FILE *file)
{
	const char *quote = number > EXACT_MOST ? "\"" : "";
	(void)fprintf(file, ",\"%s\":%s%" PRIu64 "%s", key, quote, number, quote);
}

static void event_begin(struct timeline *timeline, const char *phase, uint32_t process,
			uint32_t row)
{
	(void)fprintf(timeline->file, "%s{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32,
		      timeline->has_events ? ",\n" : "", phase, process, row);
	timeline->has_events = true;
}

static uint32_t process_of(const struct trace_group *group)
{
	return DEVICE_PROCESS + 1 + group->session;
}

/* ------------------------------------- rows and names ------------------------------------ */

static void write_row_name(struct timeline *timeline, uint32_t process, uint32_t row,
			   const char *name)
{
	event_begin(timeline, "M", process, row);
	(void)fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", timeline->file);
	write_string(name, strlen(name), timeline->file);
	(void)fputs("}}", timeline->file);
	event_begin(timeline, "M", process, row);
	(void)fprintf(timeline->file,
		      ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
		      row);
}

/* A row of the device's memory, one for each direction of each engine. */
static int find_memory_row(struct timeline *timeline, uint32_t index)
{
	const struct trace_group *group = &timeline->data->groups[index];
	const struct trace_record *record = &group->record;
	const bool returns = (record->flags & TRACE_FLAG_RETURN) != 0;
	struct place *place = &timeline->places[index];
	char name[NAME_BYTES], user[USER_TEXT_BYTES];
	bool is_new = false;
	int r = trace_rows_take(timeline->rows, group->source, MEMORY_TRACK + returns,
				record->start_ns, record->end_ns, &place->lane, &is_new);
	if (r == 0 && is_new) {
		(void)snprintf(name, sizeof(name), "memory %s, %s's engine %" PRIu32,
			       returns ? "from the host" : "to the host",
			       user_text(timeline->data->sessions[group->session].uid, user),
			       group->source);
		write_row_name(timeline, DEVICE_PROCESS, place->lane, name);
	}
	if (r != -E2BIG)
		return r;
	place->lane = NONE;
	timeline->without_rows++;
	return 0;
}

/* An id's index is a small number. A later queue of the same index has another generation. */
static void queue_name_format(uint64_t id, char name[NAME_BYTES])
{
	if (object_id_generation(id) <= 1)
		(void)snprintf(name, NAME_BYTES, "queue %" PRIu32, object_id_index(id));
	else
		(void)snprintf(name, NAME_BYTES, "queue %" PRIu32 ".%" PRIu32, object_id_index(id),
			       object_id_generation(id));
}

static int find_rows(struct timeline *timeline, uint32_t index)
{
	const struct trace_group *group = &timeline->data->groups[index];
	const struct trace_record *record = &group->record;
	const struct trace_session *session = &timeline->data->sessions[group->session];
	struct place *place = &timeline->places[index];
	char name[NAME_BYTES], user[USER_TEXT_BYTES];
	bool is_new = false;
	int r = trace_rows_take(timeline->rows, group->source, record->lane, record->start_ns,
				record->end_ns, &place->lane, &is_new);
	if (r == 0 && is_new) {
		(void)snprintf(name, sizeof(name), "lane %u of %s's engine %" PRIu32, record->lane,
			       user_text(session->uid, user), group->source);
		write_row_name(timeline, DEVICE_PROCESS, place->lane, name);
	}
	if (r == 0)
		r = trace_rows_take(timeline->rows, (uint64_t)process_of(group) << 32,
				    record->queue, record->start_ns, record->end_ns, &place->queue,
				    &is_new);
	if (r == 0 && is_new) {
		queue_name_format(record->queue, name);
		write_row_name(timeline, process_of(group), place->queue, name);
	}
	if (r != -E2BIG)
		return r;
	place->lane = place->queue = NONE;
	timeline->without_rows++;
	return 0;
}

static int find_row_or_rows(struct timeline *timeline, uint32_t index)
{
	return trace_is_spill(&timeline->data->groups[index].record)
		       ? find_memory_row(timeline, index)
		       : find_rows(timeline, index);
}

static void write_process_name(struct timeline *timeline, uint32_t process, const char *name)
{
	event_begin(timeline, "M", process, 0);
	(void)fputs(",\"name\":\"process_name\",\"args\":{\"name\":", timeline->file);
	write_string(name, strlen(name), timeline->file);
	(void)fputs("}}", timeline->file);
}

static void write_process_names(struct timeline *timeline)
{
	const struct trace_data *data = timeline->data;
	char name[NAME_BYTES], user[USER_TEXT_BYTES];
	(void)snprintf(name, sizeof(name), "device %s", data->device);
	write_process_name(timeline, DEVICE_PROCESS, name);
	for (uint32_t i = 0; i < data->session_count; i++) {
		const struct trace_session *session = &data->sessions[i];
		if (session->groups == 0)
			continue;
		int length = snprintf(name, sizeof(name), "session %" PRIu64 " of %s",
				      session->session, user_text(session->uid, user));
		if (session->pid)
			(void)snprintf(name + length, sizeof(name) - (size_t)length,
				       ": %s (pid %" PRIu32 ")", session->command, session->pid);
		write_process_name(timeline, DEVICE_PROCESS + 1 + i, name);
	}
}

/* ---------------------------------- items and arrows -------------------------------------- */

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return a->group < b->group ? -1 : a->group > b->group;
}

/* Equal times: the device did not report when the group ran. */
static bool has_times(const struct trace_record *record)
{
	return record->start_ns >= record->at_ns && record->end_ns > record->start_ns;
}

static void timeline_add_item(struct timeline *timeline, uint32_t group, uint64_t at_ns,
			      enum item_kind kind)
{
	timeline->items[timeline->item_count++] = (struct item){at_ns, group, kind};
}

static void find_items(struct timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->data->group_count; i++) {
		const struct trace_record *record = &timeline->data->groups[i].record;
		timeline->places[i] = (struct place){NONE, NONE, NONE, NONE};
		if (!has_times(record)) {
			timeline->without_times++;
			continue;
		}
		if (record->sent_ns > record->at_ns && record->sent_ns <= record->start_ns)
			timeline_add_item(timeline, i, record->at_ns, ITEM_READY);
		timeline_add_item(timeline, i, record->start_ns, ITEM_RUNS);
		if (record->flags & TRACE_FLAG_FAILED && !trace_is_spill(record))
			timeline_add_item(timeline, i, record->end_ns, ITEM_FAILED);
	}
	if (timeline->item_count > 0)
		qsort(timeline->items, timeline->item_count, sizeof(*timeline->items),
		      compare_items);
}

static void add_arrow(struct timeline *timeline, uint32_t from, uint32_t to)
{
	struct place *begin = &timeline->places[from], *end = &timeline->places[to];
	const struct trace_group *groups = timeline->data->groups;
	if (begin->lane == NONE || end->lane == NONE ||
	    groups[from].record.start_ns >= groups[to].record.start_ns) {
		timeline->without_arrow++;
		return;
	}
	timeline->arrows[timeline->arrow_count] = (struct arrow){begin->first_from, end->first_to};
	begin->first_from = end->first_to = timeline->arrow_count++;
}

static int find_all_rows(struct timeline *timeline)
{
	int r = 0;
	for (uint32_t i = 0; i < timeline->item_count && r == 0; i++)
		if (timeline->items[i].kind == ITEM_RUNS)
			r = find_row_or_rows(timeline, timeline->items[i].group);
	return r;
}

/* Numbers of tasks are an engine's own, so its process is a part of the key. */
static int find_arrows(struct timeline *timeline, struct trace_table *tasks)
{
	const struct trace_group *groups = timeline->data->groups;
	uint32_t found;
	int r = 0;
	for (uint32_t i = 0; i < timeline->data->group_count && r == 0; i++)
		if (!trace_is_spill(&groups[i].record))
			r = trace_table_number(tasks, groups[i].source, groups[i].record.task, i,
					       &found);
	for (uint32_t i = 0; i < timeline->data->group_count && r == 0; i++)
		for (uint32_t k = 0; k < TRACE_AFTER_MOST && r == 0; k++) {
			const struct trace_record *record = &groups[i].record;
			if (record->after[k] == 0 || trace_is_spill(record) ||
			    !trace_table_has(tasks, groups[i].source, record->after[k]))
				continue;
			r = trace_table_number(tasks, groups[i].source, record->after[k], 0,
					       &found);
			if (r == 0)
				add_arrow(timeline, found, i);
		}
	return r;
}

/* -------------------------------------- events -------------------------------------------- */

static void write_spill_arguments(const struct timeline *timeline, const struct trace_group *group)
{
	const struct trace_record *record = &group->record;
	FILE *file = timeline->file;
	(void)fprintf(file, ",\"args\":{\"user\":%" PRIu32,
		      timeline->data->sessions[group->session].uid);
	write_number("session", record->session, file);
	write_number("memory", record->group, file);
	write_number("bytes", record->bytes, file);
	if (record->flags & TRACE_FLAG_FAILED)
		(void)fputs(",\"failed\":true", file);
	(void)fputs("}}", file);
}

static void write_arguments(const struct timeline *timeline, const struct trace_group *group)
{
	static const char *const ways[TRACE_KNOWN_WAYS] = {"device", "estimate", "engine", "cupti"};
	const struct trace_record *record = &group->record;
	FILE *file = timeline->file;
	(void)fprintf(file,
		      ",\"args\":{\"user\":%" PRIu32
		      ",\"launches\":%u,\"lane\":%u,\"waited_for\":%u,\"timed_by\":\"%s\"",
		      timeline->data->sessions[group->session].uid, record->launches, record->lane,
		      record->after_count, ways[record->known]);
	write_number("session", record->session, file);
	write_number("queue", record->queue, file);
	write_number("group", record->group, file);
	timeline_write_us("takes_us", record->takes_ns, file);
	timeline_write_us("from_ready_to_begin_us", record->start_ns - record->at_ns, file);
	if (record->flags & TRACE_FLAG_SET_ASIDE)
		(void)fputs(",\"waited_for_memory\":true", file);
	if (record->flags & TRACE_FLAG_FAILED)
		(void)fputs(",\"failed\":true", file);
	(void)fputs("}}", file);
}

static void timeline_write_name(const struct trace_record *record, FILE *file)
{
	(void)fputs(",\"name\":", file);
	if (record->what[0])
		write_string(record->what, sizeof(record->what), file);
	else
		(void)fputs("\"command\"", file);
	(void)fprintf(file, ",\"cat\":\"%s\"",
		      trace_is_spill(record)
			      ? "spill"
			      : (record->flags & TRACE_FLAG_MOVE ? "move" : "group"));
}

static void write_slice(struct timeline *timeline, uint32_t process, uint32_t row,
			const struct trace_group *group)
{
	const struct trace_record *record = &group->record;
	event_begin(timeline, "X", process, row);
	timeline_write_name(record, timeline->file);
	timeline_write_us("ts", record->start_ns - timeline->data->begun_ns, timeline->file);
	timeline_write_us("dur", record->end_ns - record->start_ns, timeline->file);
	if (trace_is_spill(record))
		write_spill_arguments(timeline, group);
	else
		write_arguments(timeline, group);
}

/* An instant on the row of the group's queue. */
static void write_instant(struct timeline *timeline, uint32_t row, const struct trace_group *group,
			  const char *name, uint64_t at_ns)
{
	event_begin(timeline, "i", process_of(group), row);
	(void)fprintf(timeline->file, ",\"s\":\"t\",\"cat\":\"%s\",\"name\":\"%s\"", name, name);
	timeline_write_us("ts", at_ns - timeline->data->begun_ns, timeline->file);
	write_arguments(timeline, group);
}

/* A viewer binds each end of an arrow to the slice that is open at that time on that row. */
static void write_arrow_end(struct timeline *timeline, const char *phase, uint32_t number,
			    uint32_t group)
{
	event_begin(timeline, phase, DEVICE_PROCESS, timeline->places[group].lane);
	(void)fprintf(timeline->file,
		      ",\"cat\":\"dependency\",\"name\":\"dependency\",\"id\":%" PRIu32 "%s",
		      number + 1, *phase == 'f' ? ",\"bp\":\"e\"" : "");
	timeline_write_us("ts",
			  timeline->data->groups[group].record.start_ns - timeline->data->begun_ns,
			  timeline->file);
	(void)fputc('}', timeline->file);
}

static void timeline_write_group(struct timeline *timeline, uint32_t index)
{
	const struct place *place = &timeline->places[index];
	const struct trace_group *group = &timeline->data->groups[index];
	write_slice(timeline, DEVICE_PROCESS, place->lane, group);
	if (trace_is_spill(&group->record))
		return;
	write_slice(timeline, process_of(group), place->queue, group);
	for (uint32_t i = place->first_from; i != NONE; i = timeline->arrows[i].next_from)
		write_arrow_end(timeline, "s", i, index);
	for (uint32_t i = place->first_to; i != NONE; i = timeline->arrows[i].next_to)
		write_arrow_end(timeline, "f", i, index);
}

static void write_items(struct timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->item_count; i++) {
		const struct item *item = &timeline->items[i];
		const struct place *place = &timeline->places[item->group];
		const struct trace_group *group = &timeline->data->groups[item->group];
		if (place->lane == NONE)
			continue;
		if (item->kind == ITEM_RUNS)
			timeline_write_group(timeline, item->group);
		else
			write_instant(timeline, place->queue, group,
				      item->kind == ITEM_READY ? "ready" : "failed", item->at_ns);
	}
}

/* The source of the times, as the engines have reported it. */
static void write_times(const struct timeline *timeline)
{
	const struct trace_data *data = timeline->data;
	FILE *file = timeline->file;
	const char *comma = "";
	(void)fprintf(file, ",\"exact\":%s,\"times\":[", data->is_exact ? "true" : "false");
	for (uint32_t way = TRACE_TIMES_USUAL + 1; way < TRACE_TIMES_WAYS; way++) {
		if (data->times[way] == 0)
			continue;
		(void)fprintf(file, "%s{\"source\":\"%s\",\"engines\":%" PRIu32 ",\"note\":", comma,
			      trace_times_name(way), data->times[way]);
		write_string(data->times_notes[way], TRACE_NOTE_BYTES, file);
		(void)fputc('}', file);
		comma = ",";
	}
	(void)fputc(']', file);
}

static void write_facts(const struct timeline *timeline)
{
	const struct trace_data *data = timeline->data;
	FILE *file = timeline->file;
	(void)fputs(
		"\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"made_by\":\"syclctl trace\"",
		file);
	(void)fprintf(file, ",\"version\":\"%s\",\"device\":\"%s\",\"since\":\"%s\"",
		      data->service_version, data->device, data->since);
	(void)fprintf(file,
		      ",\"seconds\":%.6f,\"groups\":%" PRIu32 ",\"moves\":%" PRIu32
		      ",\"spills\":%" PRIu32,
		      (double)(data->ended_ns - data->begun_ns) / 1e9, trace_data_groups(data),
		      data->move_count, data->spill_count);
	(void)fprintf(file,
		      ",\"lost\":%" PRIu64 ",\"not_over\":%" PRIu64 ",\"left_out\":%" PRIu64
		      ",\"without_times\":%" PRIu64 ",\"dependencies_without_arrow\":%" PRIu64,
		      data->lost, data->open, data->too_many + data->wrong + timeline->without_rows,
		      timeline->without_times, timeline->without_arrow);
	write_times(timeline);
	(void)fprintf(file, ",\"ended_early\":%s}}\n", data->is_cut ? "true" : "false");
}

static int timeline_begin(struct timeline *timeline)
{
	const size_t count = timeline->data->group_count + (size_t)1;
	timeline->places = calloc(count, sizeof(*timeline->places));
	timeline->items = calloc(3 * count, sizeof(*timeline->items));
	timeline->arrows = calloc(TRACE_AFTER_MOST * count, sizeof(*timeline->arrows));
	timeline->rows = trace_rows_new();
	return timeline->places && timeline->items && timeline->arrows && timeline->rows ? 0
											 : -ENOMEM;
}

static void timeline_end(struct timeline *timeline)
{
	free(timeline->places);
	free(timeline->items);
	free(timeline->arrows);
	(void)trace_rows_free(timeline->rows);
}

static int timeline_write_items(struct timeline *timeline, struct trace_table *tasks)
{
	(void)fputs("{\"traceEvents\":[\n", timeline->file);
	write_process_names(timeline);
	find_items(timeline);
	int r = find_all_rows(timeline);
	if (r == 0)
		r = find_arrows(timeline, tasks);
	if (r < 0)
		return r;
	write_items(timeline);
	write_facts(timeline);
	errno = 0;
	return fflush(timeline->file) == 0 && !ferror(timeline->file) ? 0 : (errno ? -errno : -EIO);
}

int trace_timeline_write(struct trace_data *data, FILE *file)
{
	struct timeline timeline = {.data = data, .file = file};
	int r = trace_data_prepare(data);
	if (r < 0)
		return r;
	struct trace_table *tasks = trace_table_new();
	r = timeline_begin(&timeline);
	if (r == 0)
		r = tasks ? timeline_write_items(&timeline, tasks) : -ENOMEM;
	(void)trace_table_free(tasks);
	timeline_end(&timeline);
	return r;
}

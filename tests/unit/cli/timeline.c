/*
 * The timeline of 'syclctl trace --format chrome': what engines have noted becomes events that
 * viewers take, whatever it is that engines claim. No time is in it that no record has.
 */
#include "object_id.h"
#include "timeline_check.h"
#include "trace/rows.h"
#include "trace/timeline.h"
#include "users.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cli_timeline, .timeout = 60);

#define BEGUN 5000000000ull
#define US    1000ull

static struct trace_data data;
static const struct trace_source source = {1000, 42};
static char *text;
static json_t *json;

static const char *name_of_user(uint32_t uid)
{
	return uid == 1000 ? "LAB\\alice" : NULL; /* as winbind names users of a domain */
}

static void cli_timeline_begin(void)
{
	user_names_from(name_of_user);
	cr_assert(zero(int, trace_data_init(&data)));
	data.device = "fake:0";
	data.service_version = "1";
	data.begun_ns = BEGUN;
	data.ended_ns = BEGUN + 1000000 * US;
	data.wants_moves = true;
}

/* A group that was ready at `at_us`, and ran from `start_us` to `end_us`. */
static struct trace_record record_of(uint64_t task, uint64_t at_us, uint64_t start_us,
				     uint64_t end_us)
{
	return (struct trace_record){.session = 7,
				     .at_ns = BEGUN + at_us * US,
				     .sent_ns = BEGUN + at_us * US,
				     .start_ns = BEGUN + start_us * US,
				     .end_ns = BEGUN + end_us * US,
				     .takes_ns = (end_us - start_us) * US,
				     .weight = 100,
				     .session_class = 1,
				     .lane = 1,
				     .launches = 1,
				     .task = task,
				     .queue = 3,
				     .group = task,
				     .what = "kernel"};
}

static void add(struct trace_record record)
{
	cr_assert(zero(int, trace_data_add(&data, &source, &record, sizeof(record))));
}

static struct timeline_counts written(void)
{
	struct timeline_counts counts;
	char error[TIMELINE_ERROR_BYTES] = "";
	size_t size;
	FILE *file = open_memstream(&text, &size);
	cr_assert(ne(ptr, file, NULL));
	cr_assert(zero(int, trace_timeline_write(&data, file)));
	(void)fclose(file);
	cr_assert(zero(int, timeline_check(text, &json, &counts, error)), "%s in\n%.4000s", error,
		  text);
	return counts;
}

static void cli_timeline_end(void)
{
	json_decref(json);
	trace_data_fini(&data);
	free(text);
}

static json_int_t fact(const char *key)
{
	return json_integer_value(json_object_get(json_object_get(json, "otherData"), key));
}

#define EXPECT_SAID(words)                                                                         \
	cr_expect(strstr(text, words) != NULL, "'%s' is missing in\n%.4000s", words, text)

/* Not by its id, a number of eighteen digits. */
Test(cli_timeline, a_queue_is_named_by_its_place_in_the_session)
{
	cli_timeline_begin();
	struct trace_record record = record_of(1, 100, 150, 400);
	record.queue = object_id_make(OBJECT_QUEUE, 1, 5);
	add(record);
	record = record_of(2, 500, 550, 600);
	record.queue = object_id_make(OBJECT_QUEUE, 2, 5);
	add(record);
	(void)written();
	EXPECT_SAID("\"name\":\"queue 5\"");
	EXPECT_SAID("\"name\":\"queue 5.2\"");
}

Test(cli_timeline, a_group_is_a_slice_of_its_lane_and_of_its_queue)
{
	cli_timeline_begin();
	struct trace_record record = record_of(1, 100, 150, 400);
	record.launches = 5;
	add(record);
	cr_assert(zero(int, trace_data_name(&data, 1000, 7, 4242, "a\"b\\c")));
	struct timeline_counts counts = written();
	cr_expect(eq(uint, counts.slices, 2));
	cr_expect(eq(uint, counts.rows, 2 + 0));
	cr_expect(eq(uint, counts.processes, 2));
	cr_expect(eq(uint, counts.arrows, 0));
	cr_expect(eq(uint, counts.instants, 0));
	EXPECT_SAID("\"name\":\"device fake:0\"");
	EXPECT_SAID("session 7 of LAB\\u005calice(1000): a\\\"b\\u005cc (pid 4242)");
	EXPECT_SAID("\"name\":\"queue 3\"");
	EXPECT_SAID("lane 1 of LAB\\u005calice(1000)'s engine 42");
	EXPECT_SAID("\"ts\":150.000,\"dur\":250.000");
	EXPECT_SAID("\"from_ready_to_begin_us\":50.000");
	EXPECT_SAID("\"launches\":5");
	cr_expect(eq(i64, fact("groups"), 1));
	cli_timeline_end();
}

Test(cli_timeline, the_source_of_exact_times_is_told)
{
	cli_timeline_begin();
	add(record_of(1, 100, 150, 400));
	data.is_exact = true;
	trace_data_note_times(&data, TRACE_TIMES_USUAL, TRACE_TIMES_EVENTS, "with \"events\"\n");
	trace_data_note_times(&data, TRACE_TIMES_EVENTS, TRACE_TIMES_EVENTS, "once only");
	trace_data_note_times(&data, TRACE_TIMES_USUAL, TRACE_TIMES_WAYS, "no such source");
	(void)written();
	EXPECT_SAID("\"exact\":true,\"times\":[{\"source\":\"events\",\"engines\":1,"
		    "\"note\":\"with \\\"events\\\"?\"}]");
	cli_timeline_end();
}

Test(cli_timeline, arrows_go_from_what_a_group_waited_for)
{
	cli_timeline_begin();
	struct trace_record first = record_of(11, 0, 10, 20), move = record_of(12, 5, 20, 30),
			    last = record_of(13, 6, 40, 50);
	move.flags = TRACE_FLAG_MOVE;
	move.lane = 2;
	move.after[0] = 11;
	move.after_count = 1;
	last.after[0] = 12;
	last.after[1] = 11;
	last.after[2] = 9; /* before the trace began */
	last.after_count = 9;
	add(first);
	add(move);
	add(last);
	struct timeline_counts counts = written();
	cr_expect(eq(uint, counts.arrows, 3));
	EXPECT_SAID("\"cat\":\"move\"");
	EXPECT_SAID("\"waited_for\":9");
	cr_expect(eq(i64, fact("groups"), 2));
	cr_expect(eq(i64, fact("moves"), 1));
	cli_timeline_end();
}

Test(cli_timeline, waits_and_failures_are_instants)
{
	cli_timeline_begin();
	struct trace_record record = record_of(1, 100, 150, 400);
	record.sent_ns += 20 * US;
	record.flags = TRACE_FLAG_FAILED | TRACE_FLAG_SET_ASIDE;
	add(record);
	struct timeline_counts counts = written();
	cr_expect(eq(uint, counts.instants, 2));
	EXPECT_SAID("\"name\":\"ready\",\"ts\":100.000");
	EXPECT_SAID("\"name\":\"failed\",\"ts\":400.000");
	EXPECT_SAID("\"waited_for_memory\":true");
	cli_timeline_end();
}

/* Commands of one lane may be reported as if they had run at one time. */
Test(cli_timeline, what_ran_at_one_time_has_rows_of_its_own)
{
	cli_timeline_begin();
	for (uint64_t i = 0; i < 5; i++)
		add(record_of(i + 1, 0, 10 + i, 100));
	add(record_of(9, 0, 100, 110));
	struct timeline_counts counts = written();
	cr_expect(eq(uint, counts.slices, 12));
	cr_expect(eq(uint, counts.rows, 10));
	cli_timeline_end();
}

Test(cli_timeline, no_time_is_made_up)
{
	cli_timeline_begin();
	struct trace_record unknown = record_of(1, 100, 150, 400),
			    early = record_of(2, 100, 50, 60);
	unknown.end_ns = unknown.start_ns;
	add(unknown);
	add(early); /* it claims to have begun before it was ready */
	add(record_of(3, 100, 150, 400));
	struct timeline_counts counts = written();
	cr_expect(eq(uint, counts.slices, 2));
	cr_expect(eq(i64, fact("without_times"), 2));
	cli_timeline_end();
}

/* Claims of an engine: numbers that repeat, circles, names with any bytes, more at one time than
 * there are rows. */
Test(cli_timeline, whatever_an_engine_claims_can_be_read)
{
	cli_timeline_begin();
	for (uint64_t i = 0; i < 200; i++) {
		struct trace_record record = record_of(i % 7, 0, 10 + i, 100000);
		for (int k = 0; k < (int)sizeof(record.what); k++)
			record.what[k] = (char)(i * 31 + (uint64_t)k * 7 + 1);
		record.after[0] = (i + 1) % 7;
		record.after[1] = i % 7;
		record.queue = UINT64_MAX;
		add(record);
	}
	struct trace_record wrong = record_of(1, 0, 1, 2);
	wrong.flags = TRACE_FLAGS_ALL + 1;
	add(wrong);
	struct timeline_counts counts = written();
	cr_expect(eq(uint, counts.slices, 2 * TRACE_ROWS_MOST));
	cr_expect(eq(i64, fact("left_out"), 200 - TRACE_ROWS_MOST + 1));
	cli_timeline_end();
}

/* Memory 5 leaves, and comes back. */
static void add_spills(void)
{
	struct trace_record spill = record_of(0, 0, 100, 150);
	spill.at_ns = spill.start_ns;
	spill.flags = TRACE_FLAG_SPILL;
	spill.bytes = 1 << 20;
	spill.group = 5;
	(void)snprintf(spill.what, sizeof(spill.what), "spill");
	add(spill);
	spill.flags = TRACE_FLAG_RETURN;
	spill.start_ns += 200 * US;
	spill.end_ns += 200 * US;
	spill.at_ns = spill.start_ns;
	(void)snprintf(spill.what, sizeof(spill.what), "return");
	add(spill);
	spill.flags = TRACE_FLAG_SPILL | TRACE_FLAG_FAILED;
	spill.session = 8; /* it has no group, so it is no process of the timeline */
	(void)snprintf(spill.what, sizeof(spill.what), "spill");
	add(spill);
}

Test(cli_timeline, TG15_spills_are_slices_of_the_devices_memory)
{
	cli_timeline_begin();
	add(record_of(1, 90, 95, 400));
	add_spills();
	struct timeline_counts counts = written();
	cr_expect(eq(uint, counts.slices, 2 + 3));
	cr_expect(eq(uint, counts.instants, 0));
	cr_expect(eq(uint, counts.processes, 2));
	EXPECT_SAID("memory to the host, LAB\\u005calice(1000)'s engine 42");
	EXPECT_SAID("memory from the host, LAB\\u005calice(1000)'s engine 42");
	EXPECT_SAID("\"name\":\"spill\",\"cat\":\"spill\",\"ts\":100.000,\"dur\":50.000,\"args\":"
		    "{\"user\":1000,\"session\":7,\"memory\":5,\"bytes\":1048576}");
	EXPECT_SAID("\"name\":\"return\",\"cat\":\"spill\",\"ts\":300.000");
	EXPECT_SAID("\"session\":8,\"memory\":5,\"bytes\":1048576,\"failed\":true");
	cr_expect(eq(i64, fact("groups"), 1));
	cr_expect(eq(i64, fact("spills"), 3));
	cr_expect(eq(u64, data.known[TRACE_MEASURED], 1));
	cli_timeline_end();
}

/* Moves and spills are in a timeline only. */
Test(cli_timeline, the_text_has_no_moves)
{
	cli_timeline_begin();
	data.wants_moves = false;
	struct trace_record move = record_of(1, 0, 10, 20);
	move.flags = TRACE_FLAG_MOVE;
	add(move);
	add_spills();
	add(record_of(2, 0, 20, 30));
	cr_expect(eq(u32, data.group_count, 1));
	trace_data_fini(&data);
}

/* The check itself: what is wrong is found. */
Test(cli_timeline, the_check_finds_what_is_wrong)
{
	static const char *const rules[][2] = {
		{"an arrow has an end and no begin", "{'ph':'f','id':1,'bp':'e','ts':1}"},
		{"an arrow has a begin and no end", "{'ph':'s','id':1,'ts':1}"},
		{"two arrows have one id", "{'ph':'s','id':1,'ts':1},{'ph':'s','id':1,'ts':1}"},
		{"two slices of one row overlap at 2000 ns", "{'ph':'X','ts':2,'dur':1,'args':{}}"},
		{"times of a row go back", "{'ph':'X','ts':0,'dur':1,'args':{}}"},
		{"a slice has no length", "{'ph':'X','ts':9,'args':{}}"},
		{"an instant has no scope", "{'ph':'i','ts':9}"},
		{"an event has no time", "{'ph':'i','s':'t'}"},
		{"phase B", "{'ph':'B','ts':9}"},
		{"an arrow ends in no slice", "{'ph':'s','id':1,'ts':8}"},
	};
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		char bytes[1024], error[TIMELINE_ERROR_BYTES] = "";
		struct timeline_counts counts;
		json_t *made = NULL;
		size_t length = 0;
		(void)snprintf(bytes, sizeof(bytes),
			       "{'displayTimeUnit':'ns','traceEvents':["
			       "{'ph':'M','name':'process_name','args':{'name':'p'}},"
			       "{'ph':'M','name':'thread_name','args':{'name':'r'}},"
			       "{'ph':'X','ts':1,'dur':5,'args':{}},%s]}",
			       rules[i][1]);
		char *whole = NULL;
		FILE *file = open_memstream(&whole, &length);
		cr_assert(ne(ptr, file, NULL));
		for (const char *at = bytes; *at; at++) {
			(void)fputc(*at == '\'' ? '"' : *at, file);
			/* What every event has. */
			if (strncmp(at, "{'ph':", 6) == 0)
				(void)fprintf(file, "\"pid\":1,\"tid\":1,\"cat\":\"c\",%s",
					      strncmp(at, "{'ph':'M'", 9) ? "\"name\":\"n\"," : "");
		}
		(void)fclose(file);
		cr_expect(eq(int, timeline_check(whole, &made, &counts, error), -1), "%s", whole);
		cr_expect(eq(str, error, (char *)(uintptr_t)rules[i][0]), "%s", whole);
		json_decref(made);
		free(whole);
	}
}

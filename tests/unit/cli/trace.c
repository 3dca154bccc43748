/*
 * The file of 'syclctl trace'. The records of engines become a trace that the simulator reads and
 * replays, whatever engines claim.
 */
#include "simulator/run.h"
#include "trace/file.h"
#include "trace/table.h"
#include "trace/width.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

TestSuite(cli_trace, .timeout = 60);

#define BEGUN 5000000000ull
#define US    1000ull

static struct trace_data data;
static char *text;
static const struct trace_source source = {1000, 42};

static void begin_trace_data(void)
{
	cr_assert(eq(int, trace_data_init(&data), 0));
	data.device = "fake:0";
	data.service_version = "1";
	data.begun_ns = BEGUN;
	data.ended_ns = BEGUN + 1000000 * US;
}

static struct trace_record record_at(uint64_t session, uint64_t at_us, uint64_t takes_us)
{
	return (struct trace_record){.session = session,
				     .at_ns = BEGUN + at_us * US,
				     .start_ns = BEGUN + at_us * US,
				     .end_ns = BEGUN + (at_us + takes_us) * US,
				     .takes_ns = takes_us * US,
				     .shape = 77,
				     .weight = 100,
				     .session_class = FAIR_QUEUE_NORMAL};
}

static void add_from(const struct trace_source *from, struct trace_record record)
{
	cr_assert(eq(int, trace_data_add(&data, from, &record, sizeof(record)), 0));
}

static void add_trace_record(struct trace_record record)
{
	add_from(&source, record);
}

/* Writes the added records and reads them again. */
static void read_back(struct sim_trace *trace_out)
{
	char error[SIM_ERROR_BYTES];
	size_t size;
	FILE *file = open_memstream(&text, &size);
	cr_assert(ne(ptr, file, NULL));
	cr_assert(eq(int, trace_data_write(&data, file), 0));
	(void)fclose(file);
	cr_assert(eq(int, sim_trace_parse(text, trace_out, error), 0), "%s in\n%.2000s", error,
		  text);
}

static void end_trace(struct sim_trace *trace)
{
	sim_trace_end(trace);
	trace_data_fini(&data);
	free(text);
}

#define EXPECT_SAID(words)                                                                         \
	cr_expect(strstr(text, words) != NULL, "'%s' is missing in\n%.2000s", words, text)

Test(cli_trace, sessions_and_groups_are_what_was_noted_in_the_order_of_their_coming)
{
	struct sim_trace trace;
	begin_trace_data();
	struct trace_record late = record_at(7, 300, 20), early = record_at(8, 100, 50);
	early.session_class = FAIR_QUEUE_LATENCY;
	early.weight = 300;
	early.known = TRACE_ESTIMATED;
	add_trace_record(late);
	add_trace_record(early);
	cr_assert(eq(int, trace_data_name(&data, 1000, 8, 4242, "a\nsession evil # b"), 0));
	cr_assert(eq(int, trace_data_name(&data, 1000, 9, 1, "has no groups"), 0));
	read_back(&trace);
	cr_assert(eq(u32, trace.kind_count, 2));
	cr_assert(eq(u32, trace.group_count, 2));
	cr_expect(eq(u64, trace.length_ns, 1000000 * US));
	const struct sim_group *groups = trace.groups;
	cr_expect(eq(u64, groups[0].at_ns, 100 * US));
	cr_expect(eq(u64, groups[0].takes_ns, 50 * US));
	cr_expect(lt(u32, groups[0].lane, SIM_LANES_LATENCY));
	cr_expect(eq(u64, groups[1].at_ns, 300 * US));
	cr_expect(eq(u64, groups[1].takes_ns, 20 * US));
	cr_expect(ge(u32, groups[1].lane, SIM_LANES_LATENCY));
	const struct sim_kind *quick = &trace.kinds[groups[0].kind],
			      *plain = &trace.kinds[groups[1].kind];
	cr_expect(eq(str, (char *)(uintptr_t)quick->name, "u1000-s8"));
	cr_expect(eq(int, quick->class, FAIR_QUEUE_LATENCY));
	cr_expect(eq(u32, quick->weight, 300));
	cr_expect(eq(str, (char *)(uintptr_t)plain->name, "u1000-s7"));
	cr_expect(eq(int, plain->class, FAIR_QUEUE_NORMAL));
	EXPECT_SAID("# uid 1000, pid 4242, a?session evil # b\n");
	EXPECT_SAID(
		"takes: 1 as the device timed them, 1 by the estimate for their shape, 0 as measured");
	cr_expect(eq(u32, trace_data_sessions(&data), 2));
	end_trace(&trace);
}

/* Two engines may use the same names; addresses are not written. */
Test(cli_trace, shapes_and_lanes_are_numbered_anew)
{
	const struct trace_source other = {1001, 43};
	struct sim_trace trace;
	begin_trace_data();
	for (uint64_t i = 0; i < 3; i++) {
		struct trace_record one = record_at(1, 10 * i, 5);
		one.shape = i == 1 ? 0xffffffff12345678ull : 0xffffffff87654321ull;
		add_trace_record(one);
		one.session = 2;
		add_from(&other, one);
	}
	struct trace_record unknown = record_at(1, 100, 5);
	unknown.shape = 0;
	add_trace_record(unknown);
	read_back(&trace);
	cr_assert(eq(u32, trace.group_count, 7));
	const struct sim_group *groups = trace.groups;
	cr_expect(eq(u64, groups[0].shape, groups[4].shape));
	cr_expect(ne(u64, groups[0].shape, groups[2].shape));
	cr_expect(ne(u32, groups[0].lane, groups[1].lane), "two engines' lanes are not one");
	cr_expect(eq(u32, groups[0].lane, groups[4].lane));
	for (uint32_t i = 0; i < 6; i++) {
		cr_expect(ge(u64, groups[i].shape, 1));
		cr_expect(le(u64, groups[i].shape, 4));
	}
	cr_expect(eq(u64, groups[6].shape, 0));
	cr_expect(eq(ptr, strstr(text, "ffffffff"), NULL));
	end_trace(&trace);
}

Test(cli_trace, groups_that_ran_at_one_time_had_a_part_of_the_device_each)
{
	struct trace_span spans[] = {{0, 100, 0}, {50, 150, 0},  {200, 300, 0}, {300, 400, 0},
				     {7, 7, 0},   {500, 501, 0}, {500, 1500, 0}};
	static const uint32_t widths[] = {75, 75, 100, 100, 100, 50, 100};
	cr_assert(eq(int, trace_widths(spans, 7), 0));
	for (int i = 0; i < 7; i++)
		cr_expect(eq(u32, spans[i].width, widths[i]), "span %d", i);
	struct trace_span crowd[500];
	for (uint64_t i = 0; i < 500; i++)
		crowd[i] = (struct trace_span){10, 20, 0};
	cr_assert(eq(int, trace_widths(crowd, 500), 0));
	for (int i = 0; i < 500; i++)
		cr_assert(eq(u32, crowd[i].width, 1));
	cr_assert(eq(int, trace_widths(NULL, 0), 0));
}

Test(cli_trace, what_makes_no_sense_is_left_out_and_told)
{
	struct sim_trace trace;
	begin_trace_data();
	add_trace_record(record_at(1, 10, 5));
	struct trace_record bad[9];
	for (int i = 0; i < 9; i++)
		bad[i] = record_at(1, 20, 5);
	bad[0].weight = 0;
	bad[1].weight = 1001;
	bad[2].session_class = 3;
	bad[3].lane = 64;
	bad[4].known = TRACE_KNOWN_WAYS;
	bad[5].at_ns = BEGUN - 1;
	bad[6].at_ns = UINT64_MAX;
	bad[7].takes_ns = UINT64_MAX;
	bad[8].end_ns = UINT64_MAX;
	/* Unaligned bytes, and a size that is not a whole number of records. */
	char bytes[sizeof(bad) + 1];
	memcpy(bytes + 1, bad, sizeof(bad));
	cr_assert(eq(int, trace_data_add(&data, &source, bytes + 1, sizeof(bad)), 0));
	cr_assert(eq(int, trace_data_add(&data, &source, bytes + 1, 55), 0));
	struct trace_record odd = record_at(UINT64_MAX, 30, 0);
	odd.start_ns = odd.end_ns +
		       1000; /* ends before it starts, and took no time: that can be written */
	add_from(&(struct trace_source){UINT32_MAX, 1}, odd);
	data.lost = 12;
	data.open = 3;
	read_back(&trace);
	cr_expect(eq(u32, trace.group_count, 2));
	cr_expect(eq(u64, trace.groups[1].takes_ns, 1));
	EXPECT_SAID("# not here: 10 that were inconsistent\n");
	EXPECT_SAID("# not here: 12 that engines had no room for");
	EXPECT_SAID("# not here: 3 that were not complete at the end\n");
	EXPECT_SAID("session u4294967295-s18446744073709551615 ");
	end_trace(&trace);
}

Test(cli_trace, a_session_is_what_it_was_at_first)
{
	struct sim_trace trace;
	begin_trace_data();
	struct trace_record later = record_at(1, 20, 5);
	later.weight = 5;
	add_trace_record(later);
	add_trace_record(record_at(1, 10, 5));
	read_back(&trace);
	cr_expect(eq(u32, trace.kinds[0].weight, 100));
	EXPECT_SAID("# 1 groups came when their session had another class or weight");
	end_trace(&trace);
}

/* No more sessions than the reader accepts, and it accepts that many. */
Test(cli_trace, more_sessions_than_a_trace_may_have_are_left_out)
{
	struct sim_trace trace;
	struct sim_result result;
	begin_trace_data();
	for (uint64_t i = 0; i < TRACE_SESSIONS_MOST + 3; i++)
		add_trace_record(record_at(i + 1, 10 * i, 5));
	add_trace_record(record_at(1, 900000, 5));
	read_back(&trace);
	cr_expect(eq(u32, trace.kind_count, SIM_KINDS_MAX));
	cr_expect(eq(u32, trace.group_count, SIM_KINDS_MAX + 1));
	EXPECT_SAID("# not here: 3 beyond the groups and sessions");
	for (int policy = 0; policy < SIM_POLICIES; policy++) {
		cr_assert(eq(int, sim_run(&trace, (enum sim_policy)policy, SIM_EVERYBODY, &result),
			     0));
		cr_expect(eq(u64, result.ended, SIM_KINDS_MAX + 1));
		sim_result_end(&result);
	}
	end_trace(&trace);
}

Test(cli_trace, sessions_without_end_take_no_memory_without_end)
{
	begin_trace_data();
	for (uint64_t i = 0; i < 100000; i++)
		add_trace_record(record_at(i + 1, 10, 5));
	cr_expect(eq(u32, data.session_count, 16 * TRACE_SESSIONS_MOST));
	cr_expect(eq(u64, data.too_many, 100000 - 16 * TRACE_SESSIONS_MOST));
	add_trace_record(record_at(1, 20, 5));
	cr_expect(eq(u32, data.group_count, 16 * TRACE_SESSIONS_MOST + 1), "who is known goes on");
	trace_data_fini(&data);
}

Test(cli_trace, a_pair_has_the_number_that_it_got_first)
{
	struct trace_table *table = trace_table_new();
	uint32_t number;
	cr_assert(ne(ptr, table, NULL));
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 5000; i++) {
			cr_expect(eq(int, trace_table_has(table, i % 70, i), round));
			cr_assert(
				eq(int,
				   trace_table_number(table, i % 70, i, round ? 9999 : i, &number),
				   0));
			cr_assert(eq(u32, number, i));
		}
	cr_expect(eq(ptr, trace_table_free(table), NULL));
}

/* An engine chooses its shapes. If their hash could be calculated in advance, these would all have
 * one place, and this would take very long. */
Test(cli_trace, numbers_that_are_chosen_to_meet_do_not)
{
	enum { COUNT = 1 << 20 };
	const uint64_t factor = 0x9e3779b97f4a7c15u;
	uint64_t inverse = factor;
	struct trace_table *table = trace_table_new();
	uint32_t number;
	cr_assert(ne(ptr, table, NULL));
	for (int i = 0; i < 6; i++)
		inverse *= 2 - factor * inverse;
	cr_assert(eq(u64, factor * inverse, 1));
	for (uint32_t i = 0; i < COUNT; i++) {
		cr_assert(eq(int,
			     trace_table_number(table, 1,
						factor ^ (inverse * (0x1234567800000000u | i)), i,
						&number),
			     0));
		cr_assert(eq(u32, number, i));
	}
	cr_expect(eq(ptr, trace_table_free(table), NULL));
}

/* Invented sessions do not replace those that the service has named. */
Test(cli_trace, sessions_that_an_engine_makes_up_take_no_place_of_others)
{
	const struct trace_source other = {1001, 43};
	struct sim_trace trace;
	begin_trace_data();
	for (uint64_t i = 0; i < 100000; i++)
		add_trace_record(record_at(i + 1, 0, 5));
	cr_assert(eq(int, trace_data_name(&data, 1001, 7, 4242, "honest"), 0));
	add_from(&other, record_at(7, 500, 5));
	read_back(&trace);
	cr_expect(eq(u32, trace.kind_count, SIM_KINDS_MAX));
	EXPECT_SAID("\ngroup u1001-s7 at=500.000 ");
	EXPECT_SAID(", pid 4242, honest\n");
	end_trace(&trace);
}

Test(cli_trace, what_would_come_after_the_end_makes_no_file_unreadable)
{
	struct sim_trace trace;
	begin_trace_data();
	struct trace_record late = record_at(1, 0, 5), far = late;
	late.at_ns = data.ended_ns + 1;
	far.at_ns = INT64_MAX;
	add_trace_record(late);
	add_trace_record(record_at(1, 1000000, 5));
	add_trace_record(far);
	read_back(&trace);
	cr_expect(eq(u32, trace.group_count, 1));
	EXPECT_SAID("# not here: 2 that were inconsistent\n");
	end_trace(&trace);
}

/* The simulator of syclbench sched. Bad traces are reported with line and reason, nothing is lost,
 * and the same input has the same result. */
#include "simulator/run.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

TestSuite(sim, .timeout = 20);

#define HEAD "sycl-trace 1\n"

static const struct {
	const char *text, *error;
} bad[] = {
	{"", "no session and no client uses the device"},
	{"# only this\n", "no session and no client uses the device"},
	{"clients a takes=1 depth=1\n", "line 1: the first line must be 'sycl-trace 1'"},
	{"sycl-trace 2\n", "line 1: the first line must be 'sycl-trace 1'"},
	{HEAD, "no session and no client uses the device"},
	{HEAD "client a takes=1 depth=1\n", "line 2: a line cannot begin with 'client'"},
	{HEAD "clients takes=1 depth=1\n",
	 "line 2: a line cannot begin with 'clients', or its name is missing"},
	{HEAD "clients A takes=1 depth=1\n", "lower-case letters"},
	{HEAD "clients a-very-long-name-that-nobody-reads takes=1 depth=1\n", "lower-case letters"},
	{HEAD "clients a takes=1 depth=1 depht=2\n", "line 2: this line cannot have the key depht"},
	{HEAD "clients a takes=1 depth=1 depth=2\n", "line 2: the key depth occurs twice"},
	{HEAD "clients a takes=1 depth=0\n",
	 "line 2: depth must be a whole number from 1 to 4096, not '0'"},
	{HEAD "clients a takes=1 depth=-1\n", "not '-1'"},
	{HEAD "clients a takes=1 depth=99999999999999999999\n", "whole number"},
	{HEAD "clients a takes=1 depth=1 rate=5\n",
	 "line 2: the line must have exactly one of depth, rate and every"},
	{HEAD "clients a takes=1\n",
	 "line 2: the line must have exactly one of depth, rate and every"},
	{HEAD "clients a depth=1\n", "line 2: the key takes is missing"},
	{HEAD "clients a depth=1 takes=0\n",
	 "line 2: takes must be a time in microseconds, not '0'"},
	{HEAD "clients a depth=1 takes=1.2345\n", "not '1.2345'"},
	{HEAD "clients a depth=1 takes=.5\n", "not '.5'"},
	{HEAD "clients a depth=1 takes=5.\n", "not '5.'"},
	{HEAD "clients a depth=1 takes=5 class=first\n",
	 "latency, normal or best-effort, not 'first'"},
	{HEAD "clients a depth=1 takes=5 weight=1001\n", "weight must be"},
	{HEAD "clients a depth=1 takes=5 width=101\n", "width must be"},
	{HEAD "clients a depth=1 takes=5 =3\n", "line 2: '=3' is not of the form KEY=VALUE"},
	{HEAD "clients a depth=1 b takes=5\n", "line 2: 'b' is not of the form KEY=VALUE"},
	{HEAD "clients a depth=1 takes=5 count=60000\nclients b depth=1 takes=5 count=60000\n",
	 "line 3: there may be at most 100000 clients"},
	{HEAD "clients a depth=1 takes=5\nsession a\n", "line 3: the name 'a' is used already"},
	{HEAD "session a depth=1\n", "line 2: this line cannot have the key depth"},
	{HEAD "group a at=1 takes=1\n", "line 2: no line above has a session 'a'"},
	{HEAD "clients a depth=1 takes=5\ngroup a at=1 takes=1\n",
	 "line 3: no line above has a session 'a'"},
	{HEAD "session a\ngroup a takes=1\n", "line 3: the key at is missing"},
	{HEAD "session a\ngroup a at=1\n", "line 3: the key takes is missing"},
	{HEAD "session a\ngroup a at=5 takes=1\ngroup a at=4.9 takes=1\n",
	 "line 4: the group comes before"},
	{HEAD "session a\ngroup a at=5 takes=1 lane=32\n", "lane must be"},
	{HEAD "session a\ndevice memory=5\n", "line 3: the device must come before"},
	{HEAD "device memory=100\nsession a\ngroup a at=1 takes=1 memory=101\n",
	 "line 4: memory must be"},
	{HEAD "device memory=0\n", "memory must be"},
	{HEAD "device length=0\n", "length must be"},
};

Test(sim, errors_name_the_line_and_the_reason)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct sim_trace trace = {.kind_count = 77};
		char error[SIM_ERROR_BYTES] = "";
		cr_expect(eq(int, sim_trace_parse(bad[i].text, &trace, error), -EINVAL), "%s",
			  bad[i].text);
		cr_expect(ne(ptr, strstr(error, bad[i].error), NULL), "'%s' for %s", error,
			  bad[i].text);
		cr_expect(eq(u32, trace.kind_count, 77), "untouched");
	}
}

Test(sim, a_line_that_is_too_long_is_refused)
{
	char text[2000] = HEAD "clients a depth=1 takes=5", error[SIM_ERROR_BYTES];
	struct sim_trace trace;
	memset(text + strlen(text), ' ', 1500);
	cr_expect(eq(int, sim_trace_parse(text, &trace, error), -EINVAL));
	cr_expect(ne(ptr, strstr(error, "a line may have at most"), NULL), "%s", error);
}

static const char whole[] = HEAD
	"# all that there is\n"
	"device memory=1000 length=30000 notice=2.5 seed=7\n"
	"\n"
	"session old class=latency weight=7 # and a comment\n"
	"clients deep class=best-effort count=3 depth=8 takes=10.25 spread=50 width=30 lanes=4 memory=100\n"
	"clients seldom count=20 rate=300 takes=40 from=1000 until=20000\n"
	"clients clock every=700 takes=5 weight=250\n"
	"group old at=0 takes=100 shape=3 lane=2 width=50 memory=900\n"
	"group old at=0.001 takes=100\n"
	"group old at=29000 takes=100 shape=3\n";

/* The values of each line, and the defaults for missing ones. */
static const struct sim_kind kinds[] = {
	{.name = "old",
	 .class = FAIR_QUEUE_LATENCY,
	 .weight = 7,
	 .count = 1,
	 .manner = SIM_RECORDED},
	{.name = "deep",
	 .class = FAIR_QUEUE_BEST_EFFORT,
	 .weight = 100,
	 .count = 3,
	 .lanes = 4,
	 .manner = SIM_DEPTH,
	 .depth = 8,
	 .takes_ns = 10250,
	 .spread = 50,
	 .width = 30,
	 .memory_bytes = 100,
	 .until_ns = UINT64_MAX,
	 .first_client = 1},
	{.name = "seldom",
	 .class = FAIR_QUEUE_NORMAL,
	 .weight = 100,
	 .count = 20,
	 .lanes = 1,
	 .manner = SIM_RATE,
	 .every_ns = 3333333,
	 .takes_ns = 40000,
	 .width = 100,
	 .from_ns = 1000000,
	 .until_ns = 20000000,
	 .first_client = 4},
	{.name = "clock",
	 .class = FAIR_QUEUE_NORMAL,
	 .weight = 250,
	 .count = 1,
	 .lanes = 1,
	 .manner = SIM_EVERY,
	 .every_ns = 700000,
	 .takes_ns = 5000,
	 .width = 100,
	 .until_ns = UINT64_MAX,
	 .first_client = 24},
};

static const struct sim_group groups[] = {
	{.shape = 3, .lane = 2, .width = 50, .at_ns = 0, .takes_ns = 100000, .memory_bytes = 900},
	{.width = 100, .at_ns = 1, .takes_ns = 100000},
	{.shape = 3, .width = 100, .at_ns = 29000000, .takes_ns = 100000},
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds), GROUPS = sizeof(groups) / sizeof(*groups) };

static void expect_kind(const struct sim_kind *kind, const struct sim_kind *wanted)
{
	cr_expect(eq(str, (char *)(uintptr_t)kind->name, (char *)(uintptr_t)wanted->name));
	cr_expect(eq(int, (int)kind->class, (int)wanted->class), "%s", wanted->name);
	cr_expect(eq(u32, kind->weight, wanted->weight), "%s", wanted->name);
	cr_expect(eq(u32, kind->count, wanted->count), "%s", wanted->name);
	cr_expect(eq(u32, kind->first_client, wanted->first_client), "%s", wanted->name);
	cr_expect(eq(int, (int)kind->manner, (int)wanted->manner), "%s", wanted->name);
	if (wanted->manner == SIM_RECORDED)
		return;
	cr_expect(eq(u32, kind->lanes, wanted->lanes), "%s", wanted->name);
	cr_expect(eq(u32, kind->depth, wanted->depth), "%s", wanted->name);
	cr_expect(eq(u64, kind->every_ns, wanted->every_ns), "%s", wanted->name);
	cr_expect(eq(u64, kind->takes_ns, wanted->takes_ns), "%s", wanted->name);
	cr_expect(eq(u32, kind->spread, wanted->spread), "%s", wanted->name);
	cr_expect(eq(u32, kind->width, wanted->width), "%s", wanted->name);
	cr_expect(eq(u64, kind->memory_bytes, wanted->memory_bytes), "%s", wanted->name);
	cr_expect(eq(u64, kind->from_ns, wanted->from_ns), "%s", wanted->name);
	cr_expect(eq(u64, kind->until_ns, wanted->until_ns), "%s", wanted->name);
}

Test(sim, what_stands_in_a_trace_is_what_is_read)
{
	struct sim_trace trace;
	char error[SIM_ERROR_BYTES];
	cr_assert(eq(int, sim_trace_parse(whole, &trace, error), 0), "%s", error);
	cr_expect(eq(u64, trace.memory_bytes, 1000));
	cr_expect(eq(u64, trace.length_ns, 30000000));
	cr_expect(eq(u64, trace.notice_ns, 2500));
	cr_expect(eq(u64, trace.seed, 7));
	cr_expect(eq(u32, trace.client_count, 25));
	cr_assert(eq(u32, trace.kind_count, KINDS));
	for (int i = 0; i < KINDS; i++)
		expect_kind(&trace.kinds[i], &kinds[i]);
	cr_assert(eq(u32, trace.group_count, GROUPS));
	for (int i = 0; i < GROUPS; i++) {
		cr_expect(eq(u32, trace.groups[i].kind, 0), "%d", i);
		cr_expect(eq(u32, trace.groups[i].lane, groups[i].lane), "%d", i);
		cr_expect(eq(u32, trace.groups[i].width, groups[i].width), "%d", i);
		cr_expect(eq(u64, trace.groups[i].at_ns, groups[i].at_ns), "%d", i);
		cr_expect(eq(u64, trace.groups[i].takes_ns, groups[i].takes_ns), "%d", i);
		cr_expect(eq(u64, trace.groups[i].shape, groups[i].shape), "%d", i);
		cr_expect(eq(u64, trace.groups[i].memory_bytes, groups[i].memory_bytes), "%d", i);
	}
	sim_trace_end(&trace);
}

Test(sim, nothing_is_lost_and_the_same_is_the_same)
{
	struct sim_trace trace;
	char error[SIM_ERROR_BYTES];
	cr_assert(eq(int, sim_trace_parse(whole, &trace, error), 0), "%s", error);
	for (int policy = 0; policy < SIM_POLICIES; policy++) {
		static struct sim_result one, two;
		cr_assert(
			eq(int, sim_run(&trace, (enum sim_policy)policy, SIM_EVERYBODY, &one), 0));
		cr_assert(
			eq(int, sim_run(&trace, (enum sim_policy)policy, SIM_EVERYBODY, &two), 0));
		uint64_t asked = 0;
		for (uint32_t i = 0; i < trace.kind_count; i++) {
			asked += one.kinds[i].asked;
			cr_expect(eq(u64, one.kinds[i].ended, two.kinds[i].ended));
			cr_expect(eq(u64, one.kinds[i].latency_count, one.kinds[i].ended));
			cr_expect(gt(u64, one.kinds[i].ended, 0));
			cr_expect(eq(u64, one.kinds[i].refused, 0));
		}
		cr_expect(eq(u64, asked, one.ended + one.never_ended));
		cr_expect(eq(u64, one.kinds[0].ended, 3));
		sim_result_end(&one);
		sim_result_end(&two);
	}
	sim_trace_end(&trace);
}

Test(sim, a_client_alone_does_not_wait)
{
	struct sim_trace trace;
	char error[SIM_ERROR_BYTES];
	cr_assert(eq(
		int,
		sim_trace_parse(
			HEAD
			"device notice=0\nclients one every=100 takes=30\nclients two depth=9 takes=50\n",
			&trace, error),
		0));
	for (int policy = 0; policy < SIM_POLICIES; policy++) {
		static struct sim_result result;
		cr_assert(eq(int, sim_run(&trace, (enum sim_policy)policy, 0, &result), 0));
		cr_expect(ge(u64, result.kinds[0].ended, 19990));
		cr_expect(eq(u64, result.kinds[1].asked, 0));
		for (uint64_t i = 0; i < result.kinds[0].latency_count; i++)
			cr_assert(eq(dbl, result.kinds[0].latency_us[i], 30));
		sim_result_end(&result);
	}
	sim_trace_end(&trace);
}

Test(sim, who_asks_too_much_is_refused_and_not_kept)
{
	struct sim_trace trace;
	char error[SIM_ERROR_BYTES];
	cr_assert(
		eq(int,
		   sim_trace_parse(HEAD "device length=100000\nclients a rate=1000000 takes=100\n",
				   &trace, error),
		   0));
	static struct sim_result result;
	cr_assert(eq(int, sim_run(&trace, SIM_GATE, SIM_EVERYBODY, &result), 0));
	cr_expect(gt(u64, result.kinds[0].refused, 90000));
	cr_expect(eq(u64, result.never_ended, 4096));
	sim_result_end(&result);
	sim_trace_end(&trace);
}

Test(sim, side_by_side_is_what_fits)
{
	struct sim_trace trace;
	char error[SIM_ERROR_BYTES];
	cr_assert(eq(int,
		     sim_trace_parse(
			     HEAD "device notice=0\nclients a count=4 depth=4 takes=100 width=33\n",
			     &trace, error),
		     0));
	static struct sim_result result;
	cr_assert(eq(int, sim_run(&trace, SIM_FIFO, SIM_EVERYBODY, &result), 0));
	/* Three at a time, for two seconds. */
	cr_expect(ge(u64, result.kinds[0].ended, 59990));
	cr_expect(le(u64, result.kinds[0].ended, 60000));
	sim_result_end(&result);
	sim_trace_end(&trace);
}

/* Makes a session with one group, that many times. */
static char *crowd(uint32_t sessions)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	cr_assert(ne(ptr, file, NULL));
	(void)fputs(HEAD, file);
	for (uint32_t i = 0; i < sessions; i++)
		(void)fprintf(file, "session u4294967295-s%020u\n", i);
	for (uint32_t i = 0; i < sessions; i++)
		(void)fprintf(file, "group u4294967295-s%020u at=%u takes=10\n", sessions - 1 - i,
			      20 * i);
	(void)fclose(file);
	return text;
}

Test(sim, there_may_be_as_many_sessions_as_a_service_has)
{
	struct sim_trace trace;
	struct sim_result result;
	char error[SIM_ERROR_BYTES];
	char *text = crowd(SIM_KINDS_MAX);
	cr_assert(eq(int, sim_trace_parse(text, &trace, error), 0), "%s", error);
	cr_assert(eq(u32, trace.kind_count, SIM_KINDS_MAX));
	for (uint32_t i = 0; i < SIM_KINDS_MAX; i++)
		cr_assert(eq(u32, trace.groups[i].kind, SIM_KINDS_MAX - 1 - i));
	cr_assert(eq(int, sim_run(&trace, SIM_GATE, SIM_EVERYBODY, &result), 0));
	cr_expect(eq(u64, result.ended, SIM_KINDS_MAX));
	sim_result_end(&result);
	sim_trace_end(&trace);
	free(text);
	text = crowd(SIM_KINDS_MAX + 1);
	cr_expect(eq(int, sim_trace_parse(text, &trace, error), -EINVAL));
	cr_expect(ne(ptr, strstr(error, "there may be at most 4096 kinds"), NULL), "%s", error);
	free(text);
}

/* Refusals are for clients that continue to request. Recorded work was already taken. */
Test(sim, a_recorded_session_may_have_any_number_of_groups_open)
{
	enum { MANY = 10000 };
	char *text, error[SIM_ERROR_BYTES];
	size_t size;
	struct sim_trace trace;
	FILE *file = open_memstream(&text, &size);
	cr_assert(ne(ptr, file, NULL));
	(void)fputs(HEAD "session a\n", file);
	for (int i = 0; i < MANY; i++)
		(void)fputs("group a at=5 takes=10 shape=1\n", file);
	(void)fclose(file);
	cr_assert(eq(int, sim_trace_parse(text, &trace, error), 0), "%s", error);
	for (int policy = 0; policy < SIM_POLICIES; policy++) {
		struct sim_result result;
		cr_assert(eq(int, sim_run(&trace, (enum sim_policy)policy, SIM_EVERYBODY, &result),
			     0));
		cr_expect(eq(u64, result.kinds[0].asked, MANY));
		cr_expect(eq(u64, result.kinds[0].refused, 0));
		cr_expect(eq(u64, result.ended, MANY));
		sim_result_end(&result);
	}
	sim_trace_end(&trace);
	free(text);
}

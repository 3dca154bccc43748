/* Atomics, fences and barriers of the portable form: every type, in global and local memory, with
 * orders and scopes. */
#include "cuda/kernels_run.h"
#include "portable/number.h"

#include <stdio.h>

TestSuite(portable_atomics, .timeout = 240);

enum { ITEMS = 96, GROUP = 32, RESULTS = 6 };

/*
 * Every operation on a separate word, by all work-items. The words are in global memory, or (LOCAL)
 * in each group's memory. In that case results go to that group's part of the output. It is
 * launched with one dimension. For two and three it is compiled, but ends at once, so that PoCL
 * makes no code that never runs.
 */
static const char operations_source[] =
	"#define A(word, p, v) sycl_atomic_##word##_explicit(p, v, ORDER, SCOPE)\n"
	"SYCL_KERNEL void operations(SYCL_GLOBAL(T) g, SYCL_LOCAL(T) l) {\n"
	"  if (SYCL_DIMENSIONS != 1) return;\n"
	"  uint i = (uint)sycl_global_id(0), k = (uint)sycl_local_id(0);\n"
	"#ifdef LOCAL\n"
	"  if (k < 6) l[k] = k == 5 ? (T)1 : (T)0;\n"
	"  sycl_group_barrier();\n"
	"#define P(n) (l + (n))\n"
	"#else\n"
	"#define P(n) (g + (n))\n"
	"#endif\n"
	"  A(add, P(0), (T)(i % 32 + 1)); A(sub, P(1), 2); A(min, P(2), (T)0 - (T)(SIGNED ? i % 32 : 0));\n"
	"  A(max, P(3), (T)(i % 32));\n"
	"  for (T old = sycl_atomic_load_explicit(P(4), LOADS, SCOPE);;) {\n"
	"    T seen = sycl_atomic_compare_exchange_explicit(P(4), old, old + 3, ORDER, SCOPE);\n"
	"    if (seen == old) break;\n"
	"    old = seen;\n"
	"  }\n"
	"  T was = A(exchange, P(5), (T)1);\n"
	"  if (was != (T)1) A(store, P(5), (T)99);\n"
	"#ifdef LOCAL\n"
	"  sycl_group_barrier();\n"
	"  if (k < 6) g[sycl_group_id(0) * 6 + k] = l[k];\n"
	"#endif\n"
	"}\n";

static void check_operations(struct run *run, const char *type, size_t size, bool local,
			     const char *order, const char *loads, const char *scope)
{
	unsigned char bytes[8 * RESULTS * (ITEMS / GROUP)] = {0};
	const uint64_t global = ITEMS;
	const bool is_unsigned = type[0] == 'u';
	char options[256];

	(void)snprintf(
		options, sizeof(options),
		"-DT=%s -DSIGNED=%d -DORDER=SYCL_MEMORY_ORDER_%s -DLOADS=SYCL_MEMORY_ORDER_%s "
		"-DSCOPE=SYCL_MEMORY_SCOPE_%s%s",
		type, !is_unsigned, order, loads, scope, local ? " -DLOCAL" : "");
	run_program(run, BACKEND_SOURCE_PORTABLE, operations_source, options, "operations");
	if (!local) { /* the word for the exchange begins as 1 */
		const float f = 1;
		const double d = 1;
		const uint64_t u = 1;
		memcpy(bytes + 5 * size,
		       strcmp(type, "float") == 0    ? (const void *)&f
		       : strcmp(type, "double") == 0 ? (const void *)&d
						     : &u,
		       size);
	}
	struct backend_memory *memory = run_memory(run, bytes, sizeof(bytes));
	const struct backend_argument arguments[] = {
		global_argument(memory),
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 8 * RESULTS}};
	struct backend_command command = launch_command(run->kernel, 1, &global, arguments, 2);
	command.launch.local[0] = GROUP;
	run_command(run, &command);
	fixture_read(&run->fixture, memory, 0, bytes, sizeof(bytes));
	for (int group = 0; group < (local ? ITEMS / GROUP : 1); group++) {
		const double items = local ? GROUP : ITEMS, passes = local ? 1 : ITEMS / GROUP;
		const double wrap = size == 4 ? 4294967296.0 : 18446744073709551616.0;
		const double subtracted = is_unsigned && size == 4 ? wrap - 2 * items : -2 * items;
		const double expected[RESULTS] = {passes * (GROUP * (GROUP + 1) / 2),
						  subtracted,
						  is_unsigned ? 0 : -(GROUP - 1),
						  GROUP - 1,
						  3 * items,
						  1};
		for (int i = 0; i < RESULTS; i++) {
			double got = portable_number_at(type, bytes, (size_t)(group * RESULTS + i));
			cr_assert_eq(got, expected[i], "%s %s %s, %s memory, %d: %g, not %g", type,
				     order, scope, local ? "local" : "global", i, got, expected[i]);
		}
	}
	run->fixture.ops->memory_free(memory);
}

Test(portable_atomics, G7_G15_ints_and_longs_in_global_memory)
{
	struct run run;

	run_open_device(&run);
	check_operations(&run, "int", 4, false, "RELAXED", "RELAXED", "DEVICE");
	check_operations(&run, "ulong", 8, false, "ACQ_REL", "ACQUIRE", "DEVICE");
	run_close(&run);
}

Test(portable_atomics, G8_unsigned_and_long_with_the_scope_of_the_system)
{
	struct run run;

	run_open_device(&run);
	check_operations(&run, "uint", 4, false, "RELEASE", "ACQUIRE", "SYSTEM");
	check_operations(&run, "long", 8, false, "RELAXED", "RELAXED", "SYSTEM");
	run_close(&run);
}

Test(portable_atomics, G7_floats_and_doubles_add_and_find_extremes)
{
	struct run run;

	run_open_device(&run);
	check_operations(&run, "float", 4, false, "ACQUIRE", "ACQUIRE", "DEVICE");
	check_operations(&run, "double", 8, false, "RELAXED", "RELAXED", "DEVICE");
	run_close(&run);
}

/* There the wider scope has the effect of the work-group's. */
Test(portable_atomics, G11_a_device_scope_on_local_memory)
{
	struct run run;

	run_open_device(&run);
	check_operations(&run, "int", 4, true, "ACQ_REL", "ACQUIRE", "DEVICE");
	check_operations(&run, "ulong", 8, true, "RELAXED", "RELAXED", "SYSTEM");
	run_close(&run);
}

Test(portable_atomics, G8_the_work_groups_scope_on_local_memory)
{
	struct run run;

	run_open_device(&run);
	check_operations(&run, "float", 4, true, "RELAXED", "RELAXED", "WORK_GROUP");
	check_operations(&run, "uint", 4, true, "ACQ_REL", "ACQUIRE", "SUB_GROUP");
	run_close(&run);
}

/*
 * Each group stores a sum and takes a ticket; the group with the last one adds up all sums. No
 * group waits, so no guarantee of progress (E18) is needed. But a group that reads the ticket must
 * also read the sums.
 */
static const char last_source[] =
	"SYCL_KERNEL void last(SYCL_GLOBAL(const int) in, SYCL_GLOBAL(int) sums, SYCL_GLOBAL(uint) ticket,\n"
	"                      SYCL_GLOBAL(int) out) {\n"
	"  SYCL_LOCAL_ARRAY(int, part, 32);\n"
	"  SYCL_LOCAL_ARRAY(uint, mine, 1);\n"
	"  if (SYCL_DIMENSIONS != 1) return;\n"
	"  uint k = (uint)sycl_local_id(0);\n"
	"  part[k] = in[sycl_global_id(0)];\n"
	"  sycl_group_barrier();\n"
	"  if (k == 0) {\n"
	"    int sum = 0;\n"
	"    for (int i = 0; i < 32; i++) sum += part[i];\n"
	"    sums[sycl_group_id(0)] = sum;\n"
	"#ifdef FENCES\n"
	"    sycl_atomic_fence(SYCL_MEMORY_ORDER_RELEASE, SYCL_MEMORY_SCOPE_DEVICE);\n"
	"    mine[0] = sycl_atomic_add(ticket, 1);\n"
	"    sycl_atomic_fence(SYCL_MEMORY_ORDER_ACQUIRE, SYCL_MEMORY_SCOPE_DEVICE);\n"
	"#else\n"
	"    mine[0] = sycl_atomic_add_explicit(ticket, 1, SYCL_MEMORY_ORDER_ACQ_REL, SYCL_MEMORY_SCOPE_DEVICE);\n"
	"#endif\n"
	"  }\n"
	"  sycl_group_barrier_scope(SYCL_MEMORY_SCOPE_DEVICE);\n"
	"  if (mine[0] == sycl_group_range(0) - 1 && k == 0) {\n"
	"    int sum = 0;\n"
	"    for (uint g = 0; g < sycl_group_range(0); g++) sum += sums[g];\n"
	"    out[0] = sum;\n"
	"  }\n"
	"}\n";

static void check_last(const char *options, int launches)
{
	enum { GROUPS = 64, COUNT = GROUPS * 32 };
	static int32_t in[COUNT];
	const uint64_t global = COUNT;
	int32_t expected = 0, got = 0, zero = 0;
	struct run run;

	for (int i = 0; i < COUNT; i++) {
		in[i] = i * 7 % 1000;
		expected += in[i];
	}
	run_open(&run, BACKEND_SOURCE_PORTABLE, last_source, options, "last");
	struct backend_memory *memories[] = {run_memory(&run, in, sizeof(in)),
					     run_memory(&run, NULL, 4 * GROUPS),
					     run_memory(&run, NULL, 4), run_memory(&run, NULL, 4)};
	const struct backend_argument arguments[] = {
		global_argument(memories[0]), global_argument(memories[1]),
		global_argument(memories[2]), global_argument(memories[3])};
	struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 4);
	command.launch.local[0] = 32;
	for (int i = 0; i < launches; i++) {
		fixture_write(&run.fixture, memories[2], 0, &zero, 4);
		fixture_write(&run.fixture, memories[3], 0, &zero, 4);
		run_command(&run, &command);
		fixture_read(&run.fixture, memories[3], 0, &got, 4);
		cr_assert_eq(got, expected, "launch %d: %d, not %d", i, got, expected);
	}
	for (int i = 0; i < 4; i++)
		run.fixture.ops->memory_free(memories[i]);
	run_close(&run);
}

Test(portable_atomics, E12_G9_fences_publish_what_was_written_before)
{
	check_last("-DFENCES", 5);
}

Test(portable_atomics, E12_G7_an_order_publishes_what_was_written_before)
{
	check_last("", 5);
}

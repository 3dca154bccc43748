/* The checking mode: races within a work-group, and local memory. */
#include "library/checking.h"

#include <stdio.h>
#include <string.h>

enum { N = 64, GROUP = 16 };

static sycl_buffer x;
static sycl_handler handler;

static void open_races(void)
{
	int zeros[N] = {0};
	checking_open(1);
	MUST(sycl_buffer_create(checking_platform, zeros, sizeof(zeros), SYCL_HOST_CONST, &x));
}

static void close_races(void)
{
	MUST(sycl_buffer_release(x));
	checking_close();
}

TestSuite(client_checking_races, .timeout = 300, .init = open_races, .fini = close_races);

/* Each kernel that begins with `right` is like the one before it, but without the fault. */
static const char source[] =
	/* 1 */ "SYCL_KERNEL void turn(SYCL_GLOBAL(int) x, SYCL_LOCAL(int) tile)\n"
		/* 2 */ "{\n"
		/* 3 */ "	int i = (int)sycl_local_id(0), n = (int)sycl_local_range(0);\n"
		/* 4 */ "	tile[i] = x[sycl_global_id(0)];\n"
		/* 5 */ "	x[sycl_global_id(0)] = tile[n - 1 - i];\n"
		/* 6 */ "}\n"
		/* 7 */ "SYCL_KERNEL void right_turn(SYCL_GLOBAL(int) x, SYCL_LOCAL(int) tile)\n"
		/* 8 */ "{\n"
		/* 9 */ "	int i = (int)sycl_local_id(0), n = (int)sycl_local_range(0);\n"
		/* 10 */ "	for (int k = 0; k < 3; k++) {\n"
		/* 11 */ "		tile[i] = x[sycl_global_id(0)];\n"
		/* 12 */ "		sycl_group_barrier();\n"
		/* 13 */ "		x[sycl_global_id(0)] = tile[n - 1 - i];\n"
		/* 14 */ "		sycl_group_barrier_scope(SYCL_MEMORY_SCOPE_WORK_GROUP);\n"
		/* 15 */ "	}\n"
		/* 16 */ "}\n"
		/* 17 */ "SYCL_KERNEL void sum(SYCL_GLOBAL(int) x)\n"
		/* 18 */ "{\n"
		/* 19 */ "	x[0] += 1;\n"
		/* 20 */ "}\n"
		/* 21 */ "SYCL_KERNEL void right_sum(SYCL_GLOBAL(int) x)\n"
		/* 22 */ "{\n"
		/* 23 */ "	SYCL_LOCAL_ARRAY(int, total, 1);\n"
		/* 24 */ "	if (sycl_local_id(0) == 0)\n"
		/* 25 */ "		total[0] = 0;\n"
		/* 26 */ "	sycl_group_barrier();\n"
		/* 27 */ "	sycl_atomic_add(&total[0], 1);\n"
		/* 28 */ "	sycl_group_barrier();\n"
		/* 29 */ "	if (sycl_local_id(0) == 0)\n"
		/* 30 */ "		sycl_atomic_add(&x[0], total[0]);\n"
		/* 31 */ "}\n"
		/* 32 */ "SYCL_KERNEL void mixed(SYCL_GLOBAL(int) x)\n"
		/* 33 */ "{\n"
		/* 34 */ "	SYCL_LOCAL_ARRAY(int, total, 1);\n"
		/* 35 */ "	if (sycl_local_id(0) == 0)\n"
		/* 36 */ "		total[0] = 0;\n"
		/* 37 */ "	sycl_atomic_add(&total[0], 1);\n"
		/* 38 */ "}\n"
		/* 39 */ "SYCL_KERNEL void late(SYCL_GLOBAL(int) x)\n"
		/* 40 */ "{\n"
		/* 41 */ "	SYCL_LOCAL_ARRAY(int, first, 1);\n"
		/* 42 */ "	int i = (int)sycl_local_id(0), other = first[0];\n"
		/* 43 */ "	if (i == 2)\n"
		/* 44 */ "		first[0] = other;\n"
		/* 45 */ "}\n"
		/* 46 */ "SYCL_KERNEL void beyond(SYCL_GLOBAL(int) x, SYCL_LOCAL(int) tile)\n"
		/* 47 */ "{\n"
		/* 48 */ "	SYCL_LOCAL_ARRAY(int, own, 16);\n"
		/* 49 */ "	own[sycl_local_id(0) + (ulong)x[0]] = 1;\n"
		/* 50 */ "	tile[sycl_local_id(0) + 1] = 1;\n"
		/* 51 */ "}\n";

/* Apart from the others, as it takes PoCL long to compile. */
static const char values[] =
	/* 1 */ "SYCL_KERNEL void right_values(SYCL_GLOBAL(int) x)\n"
		/* 2 */ "{\n"
		/* 3 */ "	SYCL_LOCAL_ARRAY(int, first, 1); SYCL_GROUP_SCRATCH;\n"
		/* 4 */ "	if (sycl_local_id(0) == 0)\n"
		/* 5 */ "		first[0] = 7;\n"
		/* 6 */ "	int sum = sycl_group_reduce_add(x[sycl_global_id(0)]);\n"
		/* 7 */ "	if (sycl_group_any(first[0] == sum))\n"
		/* 8 */ "		sum += first[0];\n"
		/* 9 */ "	sum += sycl_group_broadcast(sum, (uint)first[0]);\n"
		/* 10 */ "	if (sycl_local_id(0) == 1)\n"
		/* 11 */ "		first[0] = sum;\n"
		/* 12 */ "}\n";

/* Runs groups of GROUP work-items and expects one of these errors; NULL: none. */
static void checking_races_ends_with(const char *text, const char *name, bool has_local,
				     const char *expected)
{
	sycl_kernel kernel = NULL;

	MUST(sycl_kernel_from_source(checking_queue, text, name, &kernel));
	MUST(sycl_handler_begin(checking_queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, x, SYCL_ACCESS_READ_WRITE));
	if (has_local)
		MUST(sycl_handler_set_local(handler, 1, GROUP * sizeof(int)));
	MUST(sycl_handler_parallel_for_nd(handler, kernel, sycl_range1(N), sycl_range1(GROUP)));
	MUST(sycl_handler_submit(handler, NULL));
	sycl_result result = sycl_queue_wait(checking_queue);
	cr_assert(eq(int, result, expected ? SYCL_ERROR_KERNEL : SYCL_SUCCESS), "%s",
		  sycl_get_last_error_text());
	if (expected)
		cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), expected), NULL), "%s",
			  sycl_get_last_error_text());
	MUST(sycl_kernel_release(kernel));
}

/* Which work-items meet first, and which of them is the second one, depends on the device. */
Test(client_checking_races, a_race_in_local_memory_is_reported_with_lines_and_items)
{
	int line = 0, first = 0, element = 0, second = 0, other_line = 0;
	char how[16] = "", role[16] = "", end[16] = "";

	checking_races_ends_with(source, "turn", true, "kernel turn, line ");
	const char *text = sycl_get_last_error_text();
	cr_assert(eq(int,
		     /* NOLINTNEXTLINE(cert-err34-c): the engine wrote the numbers */
		     sscanf(text,
			    "kernel turn, line %d, work-item %d: tile[%d] is %15[a-z], and "
			    "work-item %d %15[a-z] it in line %d without a %15s",
			    &line, &first, &element, how, &second, role, &other_line, end),
		     8),
		  "%s", text);
	const bool reads = line == 5;
	cr_assert(eq(int, line + other_line, 4 + 5), "%s", text);
	cr_assert(eq(str, how, reads ? "read" : "written"));
	cr_assert(eq(str, role, reads ? "writes" : "reads"));
	cr_assert(eq(str, end, "barrier"));
	cr_assert(eq(int, first / GROUP, second / GROUP));
	cr_assert(eq(int, first % GROUP + second % GROUP, GROUP - 1));
	cr_assert(eq(int, element, (reads ? second : first) % GROUP));
}

Test(client_checking_races, the_same_kernel_with_barriers_has_no_race)
{
	checking_races_ends_with(source, "right_turn", true, NULL);
}

Test(client_checking_races, a_race_in_a_buffer_is_reported)
{
	checking_races_ends_with(source, "sum", false, "x[0] is written, and work-item ");
	cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), "writes it in line 19 without"), NULL),
		  "%s", sycl_get_last_error_text());
}

Test(client_checking_races, atomic_accesses_do_not_race_with_each_other)
{
	checking_races_ends_with(source, "right_sum", false, NULL);
}

Test(client_checking_races, an_atomic_access_races_with_another_one)
{
	checking_races_ends_with(source, "mixed", false, "total[0] is ");
}

/* Of the work-items that read, the last one need not be the one that does not write. */
Test(client_checking_races, a_write_after_reads_is_reported)
{
	checking_races_ends_with(source, "late", false, "first[0] is ");
}

Test(client_checking_races, functions_of_the_group_are_barriers)
{
	checking_races_ends_with(values, "right_values", false, NULL);
}

Test(client_checking_races, an_access_outside_of_local_memory_is_reported)
{
	checking_races_ends_with(source, "beyond", true,
				 "tile[16] is outside of the local memory's 16 elements");
}

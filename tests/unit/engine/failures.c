#include "base/failure_list.h"
#include "base/fault.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(failures, .timeout = 20);

static void add_failure(struct failure_list *list, uint64_t group, int32_t status, const char *text)
{
	struct backend_fault fault;
	(void)fault_set(&fault, status, "%s", text);
	cr_assert(eq(int, failure_list_add(list, group, &fault), 0));
}

Test(failures, M9_remembers_exactly_which_groups_failed)
{
	enum { GROUPS = 2000 };
	static bool failed[GROUPS + 1];
	struct failure_list list = {.count = 0};
	uint32_t seed = 7;
	for (int i = 0; i < 900; i++) {
		seed = seed * 1664525u + 1013904223u;
		uint32_t group = 1 + (seed >> 8) % GROUPS;
		if (!failed[group])
			add_failure(&list, group, group % 5 ? STATUS_KERNEL : STATUS_RUNTIME,
				    "broken");
		failed[group] = true;
	}
	for (uint64_t group = 1; group <= GROUPS; group++) {
		struct backend_fault cause;
		cr_assert(eq(int, failure_list_find(&list, group, &cause), failed[group]),
			  "group %lu", group);
		if (failed[group])
			cr_assert(
				eq(i32, cause.status, group % 5 ? STATUS_KERNEL : STATUS_RUNTIME));
	}
	failure_list_fini(&list);
}

Test(failures, neighbours_with_one_cause_are_one_run)
{
	struct failure_list list = {.count = 0};
	add_failure(&list, 5, STATUS_KERNEL, "first");
	add_failure(&list, 7, STATUS_KERNEL, "third");
	add_failure(&list, 6, STATUS_KERNEL, "second");
	cr_assert(eq(u32, list.count, 1));
	struct backend_fault cause;
	cr_assert(failure_list_find(&list, 7, &cause));
	cr_assert(eq(str, cause.text, "first"));
	add_failure(&list, 8, STATUS_DEPENDENCY_FAILED, "other");
	add_failure(&list, 4, STATUS_KERNEL, "zeroth");
	cr_assert(eq(u32, list.count, 2));
	cr_assert(not(failure_list_find(&list, 3, &cause)));
	cr_assert(not(failure_list_find(&list, 9, &cause)));
	failure_list_fini(&list);
}

Test(failures, past_the_bound_the_queue_takes_no_more_and_later_numbers_count_as_failed)
{
	struct failure_list list = {.count = 0};
	for (uint64_t i = 0; i < FAILURE_RUNS_MAX; i++) {
		cr_assert(failure_list_open(&list, 2 * i + 1));
		add_failure(&list, 2 * i + 1, STATUS_KERNEL, "broken");
	}
	cr_assert(not(failure_list_open(&list, 9001)));
	cr_assert(not(failure_list_open(&list, 9002)));
	struct backend_fault cause;
	cr_assert(not(failure_list_find(&list, 9000, &cause)));
	cr_assert(failure_list_find(&list, 9001, &cause));
	cr_assert(eq(i32, cause.status, STATUS_QUOTA));
	cr_assert(failure_list_find(&list, 1, &cause));
	cr_assert(eq(str, cause.text, "broken"));
	cr_assert(failure_list_find(&list, 2 * FAILURE_RUNS_MAX - 1, &cause),
		  "without its sentence");
	cr_assert(ne(ptr, strstr(cause.text, "KERNEL"), NULL));
	cr_assert(not(failure_list_find(&list, 2, &cause)));
	failure_list_fini(&list);
}

/* Variables of programs (R1): found by their names, then USM of their device. */
#include "library/usm.h"

#include <string.h>

TestSuite(usm_variables, .timeout = 120, .init = usm_test_begin, .fini = usm_test_end);

enum { ITEMS = 16, TABLE_BYTES = ITEMS * (int)sizeof(uint32_t) };

struct program {
	sycl_kernel_bundle bundle;
	sycl_kernel apply; /* NULL: the engine has none */
	uint32_t *table, *factor;
};

/* False: no device of the engine has variables. */
static bool build_program(struct program *program)
{
	void *table = NULL, *factor = NULL;
	uint64_t table_bytes = 0, factor_bytes = 0;
	program->bundle = usm_engine_variables(queue, &program->apply);
	if (!program->bundle)
		return false;
	MUST(sycl_kernel_bundle_get_variable(program->bundle, device, "table", &table,
					     &table_bytes));
	MUST(sycl_kernel_bundle_get_variable(program->bundle, NULL, "factor", &factor,
					     &factor_bytes));
	cr_assert(eq(u64, table_bytes, TABLE_BYTES));
	cr_assert(eq(u64, factor_bytes, sizeof(uint32_t)));
	program->table = table;
	program->factor = factor;
	return true;
}

static void drop(struct program *program)
{
	if (program->apply)
		MUST(sycl_kernel_release(program->apply));
	MUST(sycl_kernel_bundle_release(program->bundle));
}

/* Behind `after`, which is released here, or NULL. */
static sycl_event submit_copy(void *to, const void *from, uint64_t size_bytes, sycl_event after)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	if (after)
		MUST(sycl_handler_depends_on(handler, after));
	MUST(sycl_handler_memcpy(handler, to, from, size_bytes));
	MUST(sycl_handler_submit(handler, &event));
	if (after)
		MUST(sycl_event_release(after));
	return event;
}

static void usm_variables_wait_and_release(sycl_event event)
{
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
}

static sycl_event apply(const struct program *program, uint32_t *to, sycl_event after)
{
	sycl_event event = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_depends_on(handler, after));
	MUST(sycl_handler_set_usm(handler, 0, to));
	MUST(sycl_handler_parallel_for(handler, program->apply, sycl_range1(ITEMS)));
	MUST(sycl_handler_submit(handler, &event));
	MUST(sycl_event_release(after));
	return event;
}

Test(usm_variables, R1_a_variable_is_written_and_read_in_order)
{
	uint32_t words[ITEMS], back[ITEMS] = {0}, factor = 0;
	struct program program;
	if (!build_program(&program))
		return;
	for (uint32_t i = 0; i < ITEMS; i++)
		words[i] = 100 + i;
	if (program.apply) {
		usm_variables_wait_and_release(
			submit_copy(&factor, program.factor, sizeof(factor), NULL));
		cr_assert(eq(u32, factor, 3), "what the source says is in it at first");
	}
	factor = 7;
	sycl_event event = submit_copy(program.table, words, sizeof(words), NULL);
	event = submit_copy(program.factor, &factor, sizeof(factor), event);
	if (program.apply) {
		uint32_t *to = usm_bytes(SYCL_USM_DEVICE, TABLE_BYTES);
		event = apply(&program, to, event);
		usm_variables_wait_and_release(submit_copy(back, to, sizeof(back), event));
		for (uint32_t i = 0; i < ITEMS; i++)
			cr_assert(eq(u32, back[i], (100 + i) * 7), "%u", i);
		usm_give(to);
		event = NULL;
	}
	usm_variables_wait_and_release(submit_copy(back, program.table, sizeof(back), event));
	for (uint32_t i = 0; i < ITEMS; i++)
		cr_assert(eq(u32, back[i], 100 + i + (program.apply ? 1 : 0)), "%u", i);
	/* A part of it. */
	words[0] = 4711;
	event = submit_copy(program.table + 5, words, sizeof(words[0]), NULL);
	usm_variables_wait_and_release(
		submit_copy(back, program.table + 4, 3 * sizeof(words[0]), event));
	cr_assert(eq(u32, back[1], 4711));
	cr_assert(ne(u32, back[0], 4711));
	cr_assert(ne(u32, back[2], 4711));
	drop(&program);
}

Test(usm_variables, R1_each_bundle_has_one_of_its_own)
{
	struct program first, second;
	uint32_t one = 1, two = 2, back = 0;
	void *again = NULL;
	if (!build_program(&first))
		return;
	cr_assert(build_program(&second));
	cr_assert(ne(ptr, first.table, second.table));
	MUST(sycl_kernel_bundle_get_variable(first.bundle, device, "table", &again, NULL));
	cr_assert(eq(ptr, again, first.table), "asked again it is the same");
	usm_variables_wait_and_release(submit_copy(first.factor, &one, sizeof(one), NULL));
	usm_variables_wait_and_release(submit_copy(second.factor, &two, sizeof(two), NULL));
	usm_variables_wait_and_release(submit_copy(&back, first.factor, sizeof(back), NULL));
	cr_assert(eq(u32, back, 1));
	drop(&first);
	usm_variables_wait_and_release(submit_copy(&back, second.factor, sizeof(back), NULL));
	cr_assert(eq(u32, back, 2));
	drop(&second);
}

/* A variable stays valid after the handle of its bundle is released, as long as a kernel of it
 * exists. */
Test(usm_variables, R1_a_variable_lives_as_long_as_its_program)
{
	struct program program;
	sycl_usm_kind kind = SYCL_USM_UNKNOWN;
	if (!build_program(&program))
		return;
	MUST(sycl_usm_get_pointer_type(context, program.table, &kind));
	cr_assert(eq(int, (int)kind, SYCL_USM_DEVICE));
	MUST(sycl_kernel_bundle_release(program.bundle));
	if (program.apply) {
		MUST(sycl_usm_get_pointer_type(context, program.table, &kind));
		cr_assert(eq(int, (int)kind, SYCL_USM_DEVICE));
		MUST(sycl_kernel_release(program.apply));
	}
	MUST(sycl_usm_get_pointer_type(context, program.table, &kind));
	cr_assert(eq(int, (int)kind, SYCL_USM_UNKNOWN));
}

Test(usm_variables, R1_what_is_no_variable_is_refused)
{
	struct program program;
	char long_name[300];
	void *pointer = NULL;
	uint32_t words[ITEMS + 1] = {0};
	sycl_handler handler = NULL;
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	if (!build_program(&program))
		return;
	const char *const names[] = {"no_such", "apply", "fill_u32", "", long_name, NULL};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		REFUSED(sycl_kernel_bundle_get_variable(program.bundle, device, names[i], &pointer,
							NULL),
			SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_get_variable(program.bundle, device, "table", NULL, NULL),
		SYCL_ERROR_INVALID);
	cr_assert(eq(ptr, pointer, NULL));
	REFUSED(sycl_usm_free(context, program.table), SYCL_ERROR_INVALID);
	REFUSED(sycl_free(queue, program.table), SYCL_ERROR_INVALID);
	MUST(sycl_handler_begin(queue, &handler));
	REFUSED(sycl_handler_memcpy(handler, program.table, words, sizeof(words)),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_memcpy(handler, words, program.table + 1, TABLE_BYTES),
		SYCL_ERROR_INVALID);
	MUST(sycl_handler_discard(handler));
	drop(&program);
}

Test(usm_variables, R1_a_device_that_finds_no_variables_says_so)
{
	uint32_t backend = 0;
	void *pointer = NULL;
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = usm_engine_kernel(queue, "sum_list_u32");
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend,
				  NULL));
	MUST(sycl_kernel_get_bundle(kernel, &bundle));
	/* Portable sources have only constants. */
	REFUSED(sycl_kernel_bundle_get_variable(bundle, NULL, "table", &pointer, NULL),
		backend == SYCL_BACKEND_KIND_OPENCL ? SYCL_ERROR_FEATURE_NOT_SUPPORTED
						    : SYCL_ERROR_INVALID);
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_kernel_release(kernel));
}

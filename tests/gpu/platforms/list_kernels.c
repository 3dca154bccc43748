/* The list's first half: kernels, their ranges and their memory. */
#include "platforms/list.h"

#include <stddef.h>

/* The common part of every check here: one buffer, one kernel, one launch. */
struct launch {
	const char *kernel;
	uint64_t words;           /* of the buffer */
	uint32_t before;          /* each word */
	sycl_range global, local; /* local without dimensions: a basic range */
	uint64_t local_bytes;     /* argument 1, if not 0 */
	uint32_t value;           /* argument 1, if not 0 */
};

static bool set_up(struct list *list, const struct launch *launch, sycl_kernel kernel,
		   sycl_buffer buffer, sycl_event *event_out)
{
	sycl_handler handler;
	bool good = list_begin(list, list->queue, &handler) &&
		    list_accessor(list, handler, 0, buffer, SYCL_ACCESS_READ_WRITE);
	if (good && launch->local_bytes)
		good = list_good(list, sycl_handler_set_local(handler, 1, launch->local_bytes),
				 "sycl_handler_set_local");
	if (good && launch->value)
		good = list_value(list, handler, 1, launch->value);
	sycl_result r = !good ? SYCL_ERROR_RUNTIME
			: launch->local.dimensions
				? sycl_handler_parallel_for_nd(handler, kernel, launch->global,
							       launch->local)
				: sycl_handler_parallel_for(handler, kernel, launch->global);
	return good && list_good(list, r, "the range") &&
	       list_good(list, sycl_handler_submit(handler, event_out), "sycl_handler_submit");
}

/* Launches and waits. The caller releases the buffer, which is NULL if anything failed. */
static sycl_buffer launch_and_wait(struct list *list, const struct launch *launch)
{
	sycl_event event = NULL;
	sycl_kernel kernel = list_kernel(list, launch->kernel);
	sycl_buffer buffer = kernel ? list_buffer(list, launch->words, launch->before) : NULL;
	bool good = buffer && set_up(list, launch, kernel, buffer, &event) &&
		    list_good(list, sycl_event_wait(event), "sycl_event_wait");
	if (event)
		(void)sycl_event_release(event);
	if (kernel)
		(void)sycl_kernel_release(kernel);
	if (good || !buffer)
		return buffer;
	(void)sycl_buffer_release(buffer);
	return NULL;
}

static bool launch_gives(struct list *list, const struct launch *how, uint32_t first, uint32_t step)
{
	sycl_buffer buffer = launch_and_wait(list, how);
	bool good = buffer && list_words_are(list, buffer, how->words, first, step);
	if (buffer)
		(void)sycl_buffer_release(buffer);
	return good;
}

static bool ids_in_one_dimension(struct list *list)
{
	return launch_gives(list,
			    &(struct launch){.kernel = "set_id",
					     .words = 4096,
					     .global = sycl_range1(4096),
					     .local = sycl_range1(64)},
			    0, 1);
}

static bool ids_in_two_dimensions(struct list *list)
{
	return launch_gives(list,
			    &(struct launch){.kernel = "set_id",
					     .words = 24 * 32,
					     .global = sycl_range2(24, 32),
					     .local = sycl_range2(4, 8)},
			    0, 1);
}

static bool ids_in_three_dimensions(struct list *list)
{
	return launch_gives(list,
			    &(struct launch){.kernel = "set_id",
					     .words = 6 * 10 * 32,
					     .global = sycl_range3(6, 10, 32),
					     .local = sycl_range3(2, 5, 8)},
			    0, 1);
}

/* A row of one: the last dimension's id is the linear one. */
static bool the_last_dimension_is_the_fastest(struct list *list)
{
	return launch_gives(list,
			    &(struct launch){.kernel = "last_id",
					     .words = 256,
					     .global = sycl_range3(1, 1, 256),
					     .local = sycl_range3(1, 1, 32)},
			    0, 1);
}

/* The range divides nothing and is smaller than the buffer: the words behind it do not change. */
static bool a_prime_range_touches_its_items_only(struct list *list)
{
	enum { ITEMS = 10007, WORDS = ITEMS + 64 };
	sycl_buffer buffer = launch_and_wait(list, &(struct launch){.kernel = "add",
								    .words = WORDS,
								    .before = 3,
								    .global = sycl_range1(ITEMS),
								    .value = 4});
	sycl_host_accessor accessor;
	void *pointer = NULL;
	bool good = buffer &&
		    list_good(list, sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor),
			      "accessor");
	if (good) {
		good = list_good(list, sycl_host_accessor_get_pointer(accessor, &pointer),
				 "its pointer");
		const uint32_t *words = pointer;
		for (uint32_t i = 0; i < WORDS && good; i++)
			good = list_holds(list, words[i] == (i < ITEMS ? 7u : 3u), "word %u is %u",
					  i, words[i]);
		(void)sycl_host_accessor_release(accessor);
	}
	if (buffer)
		(void)sycl_buffer_release(buffer);
	return good;
}

/* These are larger than some devices support in dimensions that are not the fastest. */
static bool long_slow_dimensions(struct list *list)
{
	return launch_gives(list,
			    &(struct launch){.kernel = "set_id",
					     .words = 70000 * 2,
					     .global = sycl_range3(70000, 1, 2)},
			    0, 1) &&
	       launch_gives(list,
			    &(struct launch){.kernel = "set_id",
					     .words = 70000 * 2,
					     .global = sycl_range3(1, 70000, 2)},
			    0, 1);
}

static bool an_empty_range_runs_nothing(struct list *list)
{
	return launch_gives(list,
			    &(struct launch){.kernel = "add",
					     .words = 64,
					     .before = 5,
					     .global = sycl_range3(8, 0, 8),
					     .value = 1},
			    5, 0);
}

static bool local_memory_and_barriers(struct list *list)
{
	enum { WORDS = 64 };
	sycl_buffer buffer = list_buffer(list, WORDS, 0);
	sycl_kernel ids = list_kernel(list, "set_id"), rotate = list_kernel(list, "rotate_group");
	sycl_handler handler;
	bool good = buffer && ids && rotate && list_begin(list, list->in_order, &handler) &&
		    list_accessor(list, handler, 0, buffer, SYCL_ACCESS_WRITE) &&
		    list_good(list, sycl_handler_parallel_for(handler, ids, sycl_range1(WORDS)),
			      "range") &&
		    list_good(list, sycl_handler_submit(handler, NULL), "submit");
	/* Once around: one group of all items, which rotates them by one each time. */
	for (int turn = 0; turn < WORDS && good; turn++)
		good = list_begin(list, list->in_order, &handler) &&
		       list_accessor(list, handler, 0, buffer, SYCL_ACCESS_READ_WRITE) &&
		       list_good(list, sycl_handler_set_local(handler, 1, WORDS * 4),
				 "local memory") &&
		       list_good(list,
				 sycl_handler_parallel_for_nd(handler, rotate, sycl_range1(WORDS),
							      sycl_range1(WORDS)),
				 "range") &&
		       list_good(list, sycl_handler_submit(handler, NULL), "submit");
	good = good && list_words_are(list, buffer, WORDS, 0, 1);
	if (ids)
		(void)sycl_kernel_release(ids);
	if (rotate)
		(void)sycl_kernel_release(rotate);
	if (buffer)
		(void)sycl_buffer_release(buffer);
	return good;
}

static bool atomics_count_every_item(struct list *list)
{
	return launch_gives(
		list,
		&(struct launch){.kernel = "count_up", .words = 1, .global = sycl_range1(100000)},
		100000, 0);
}

const struct list_entry list_kernels[] = {
	{"ids in one dimension", ids_in_one_dimension},
	{"ids in two dimensions", ids_in_two_dimensions},
	{"ids in three dimensions", ids_in_three_dimensions},
	{"the last dimension is the fastest", the_last_dimension_is_the_fastest},
	{"a prime range touches its items only", a_prime_range_touches_its_items_only},
	{"long slow dimensions", long_slow_dimensions},
	{"an empty range runs nothing", an_empty_range_runs_nothing},
	{"local memory and barriers", local_memory_and_barriers},
	{"atomics count every item", atomics_count_every_item},
	{NULL, NULL},
};

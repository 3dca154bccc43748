/*
 * Launches that may be sent in parts, `count` times each of several ranges. Every result is
 * checked: it must not depend on whether they were.
 */
#include "processes/programs/worker.h"

#include <stdlib.h>

enum { FAKE_ITEMS = 65536, FAKE_NS = 2000000 };

static sycl_handler begin_splittable(struct worker *worker, sycl_buffer buffer)
{
	sycl_handler h;
	worker_must(sycl_handler_begin(worker->queue, &h), "sycl_handler_begin");
	worker_must(sycl_handler_set_splittable(h), "sycl_handler_set_splittable");
	worker_must(sycl_handler_set_accessor(h, 0, buffer, SYCL_ACCESS_READ_WRITE), "accessor");
	return h;
}

static void check_times(sycl_event event)
{
	uint64_t submit = 0, start = 0, end = 0;
	worker_must(sycl_event_wait(event), "sycl_event_wait");
	worker_must(sycl_event_get_profiling(event, SYCL_PROFILING_SUBMIT, &submit), "submit");
	worker_must(sycl_event_get_profiling(event, SYCL_PROFILING_START, &start), "start");
	worker_must(sycl_event_get_profiling(event, SYCL_PROFILING_END, &end), "end");
	worker_check(submit <= start && start < end, "times are not in order");
	worker_must(sycl_event_release(event), "sycl_event_release");
}

/* On a fake device each launch takes two milliseconds. */
int worker_split(struct worker *worker)
{
	const uint32_t ns = FAKE_NS;
	uint32_t *words = calloc(FAKE_ITEMS, sizeof(*words));
	sycl_buffer buffer = NULL;
	if (!words)
		return 1;
	worker_connect_fake(worker, SYCL_QUEUE_IN_ORDER | SYCL_QUEUE_ENABLE_PROFILING);
	sycl_kernel kernel = worker_kernel(worker, "take_increment_u32", "take_increment_u32");
	worker_must(sycl_buffer_create(worker->platform, words, FAKE_ITEMS * sizeof(*words),
				       SYCL_HOST_BORROWED, &buffer),
		    "sycl_buffer_create");
	for (uint64_t i = 0; i < worker->count; i++) {
		sycl_event event = NULL;
		sycl_handler h = begin_splittable(worker, buffer);
		worker_must(sycl_handler_set_value(h, 1, sizeof(ns), &ns), "value");
		worker_must(sycl_handler_parallel_for(h, kernel, sycl_range2(FAKE_ITEMS / 16, 16)),
			    "parallel_for");
		worker_must(sycl_handler_submit(h, &event), "sycl_handler_submit");
		check_times(event);
	}
	worker_must(sycl_buffer_release(buffer), "sycl_buffer_release");
	for (uint32_t i = 0; i < FAKE_ITEMS; i++)
		worker_check(words[i] == worker->count, "an item was lost, or came twice");
	worker_must(sycl_kernel_release(kernel), "sycl_kernel_release");
	worker_disconnect(worker);
	free(words);
	worker_say("ok");
	return 0;
}

/* Every queried value is added to the sum. The sum also goes to a neighbour through local
 * memory. */
static const char source[] =
	"ulong place(void) {\n"
	"  ulong sum = 0;\n"
	"  for (uint d = 0; d < sycl_dimensions(); d++)\n"
	"    sum = sum * 3 + sycl_global_id(d) + 5 * sycl_global_range(d) + 7 * sycl_global_offset(d);\n"
	"  return sum;\n"
	"}\n"
	"SYCL_KERNEL void basic(SYCL_GLOBAL(ulong) out)\n"
	"{ out[sycl_global_linear_id()] += place(); }\n"
	"SYCL_KERNEL void grouped(SYCL_GLOBAL(ulong) out, SYCL_LOCAL(ulong) tile) {\n"
	"  ulong mine = sycl_local_linear_id(), items = 1, sum = place();\n"
	"  for (uint d = 0; d < sycl_dimensions(); d++) {\n"
	"    items *= sycl_local_range(d);\n"
	"    sum = sum * 11 + sycl_group_id(d) + 13 * sycl_group_range(d);\n"
	"  }\n"
	"  tile[mine] = sum + sycl_group_linear_id();\n"
	"  sycl_group_barrier();\n"
	"  out[sycl_global_linear_id()] += tile[items - 1 - mine];\n"
	"}\n";

struct space {
	uint32_t dimensions;
	uint64_t global[3], local[3], offset[3];
};

/* The ids of the work-item at these places in its range; `local` is its place in the group. */
static uint64_t expected_of(const struct space *space, const uint64_t place[3])
{
	uint64_t sum = 0, linear = 0;
	for (uint32_t d = 0; d < space->dimensions; d++)
		sum = sum * 3 + place[d] + space->offset[d] + 5 * space->global[d] +
		      7 * space->offset[d];
	for (uint32_t d = 0; space->local[0] && d < space->dimensions; d++) {
		uint64_t groups = space->global[d] / space->local[d],
			 group = place[d] / space->local[d];
		linear = linear * groups + group;
		sum = sum * 11 + group + 13 * groups;
	}
	return sum + linear;
}

static void check_all(const struct space *space, const uint64_t *words, uint64_t items,
		      uint64_t times)
{
	for (uint64_t item = 0; item < items; item++) {
		uint64_t place[3] = {0}, rest = item;
		for (uint32_t d = space->dimensions; d-- > 0; rest /= space->global[d])
			place[d] = rest % space->global[d];
		/* The value that the neighbour on the other side of the group has put there. */
		for (uint32_t d = 0; space->local[0] && d < space->dimensions; d++) {
			uint64_t within = place[d] % space->local[d];
			place[d] += space->local[d] - 1 - within - within;
		}
		worker_check(words[item] == times * expected_of(space, place),
			     "an item saw another range than there is");
	}
}

static sycl_range range_of(uint32_t dimensions, const uint64_t sizes[3])
{
	sycl_range range = {dimensions, 0, {sizes[0], sizes[1], sizes[2]}};
	return range;
}

static void run_space(struct worker *worker, sycl_kernel kernel, const struct space *space)
{
	uint64_t items = 1, group = 1;
	for (uint32_t d = 0; d < space->dimensions; d++) {
		items *= space->global[d];
		group *= space->local[d];
	}
	uint64_t *words = calloc(items, sizeof(*words));
	sycl_buffer buffer = NULL;
	if (!words)
		abort();
	worker_must(sycl_buffer_create(worker->platform, words, items * sizeof(*words),
				       SYCL_HOST_BORROWED, &buffer),
		    "sycl_buffer_create");
	for (uint64_t i = 0; i < worker->count; i++) {
		sycl_handler h = begin_splittable(worker, buffer);
		worker_must(sycl_handler_set_offset(h, range_of(space->dimensions, space->offset)),
			    "offset");
		if (group) {
			worker_must(sycl_handler_set_local(h, 1, group * sizeof(uint64_t)),
				    "local");
			worker_must(sycl_handler_parallel_for_nd(
					    h, kernel, range_of(space->dimensions, space->global),
					    range_of(space->dimensions, space->local)),
				    "parallel_for_nd");
		} else {
			worker_must(sycl_handler_parallel_for(
					    h, kernel, range_of(space->dimensions, space->global)),
				    "parallel_for");
		}
		worker_must(sycl_handler_submit(h, NULL), "sycl_handler_submit");
		worker_must(sycl_queue_wait(worker->queue), "sycl_queue_wait");
	}
	worker_must(sycl_buffer_release(buffer), "sycl_buffer_release");
	check_all(space, words, items, worker->count);
	free(words);
}

/* On the default device: ranges of 1 to 3 dimensions with prime sizes and offsets, in groups with
 * local memory. */
int worker_split_portable(struct worker *worker)
{
	static const struct space basics[] = {{1, {10007, 0, 0}, {0}, {5, 0, 0}},
					      {2, {1009, 11, 0}, {0}, {0, 70, 0}},
					      {3, {131, 7, 13}, {0}, {1, 2, 3}}},
				  nds[] = {{1, {8192, 0, 0}, {64, 0, 0}, {9, 0, 0}},
					   {2, {206, 48, 0}, {2, 16, 0}, {1, 1, 0}},
					   {3, {37, 16, 16}, {1, 4, 8}, {0, 0, 1000}}};
	worker_connect(worker);
	sycl_kernel basic = worker_kernel(worker, source, "basic"),
		    grouped = worker_kernel(worker, source, "grouped");
	for (size_t i = 0; i < sizeof(basics) / sizeof(*basics); i++)
		run_space(worker, basic, &basics[i]);
	for (size_t i = 0; i < sizeof(nds) / sizeof(*nds); i++)
		run_space(worker, grouped, &nds[i]);
	worker_must(sycl_kernel_release(basic), "sycl_kernel_release");
	worker_must(sycl_kernel_release(grouped), "sycl_kernel_release");
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}

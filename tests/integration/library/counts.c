/*
 * A layer between the loader and the driver counts the driver's objects. Whatever a program does,
 * the engine gives back each reference once when the program has released its own (N1).
 */
#include "opencl_counter.h"
#include "syclclient.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_counts, .timeout = 120);

enum { ITEMS = 1024, BYTES = ITEMS * 4 };

#define MUST(call)                                                                                 \
	do {                                                                                       \
		sycl_result must_ = (call);                                                        \
		cr_assert(eq(int, must_, 0), "%s: %s: %s\n%s", #call, sycl_result_name(must_),     \
			  sycl_get_last_error_text(), sycl_get_build_log());                       \
	} while (0)

static const char source[] =
	"SYCL_KERNEL void increment(SYCL_GLOBAL(uint) to) { to[sycl_global_id(0)] += 1; }\n"
	"SYCL_KERNEL void copy(SYCL_GLOBAL(uint) to, SYCL_GLOBAL(const uint) from)\n"
	"{ to[sycl_global_id(0)] = from[sycl_global_id(0)]; }\n";

static sycl_kernel_bundle bundle_of(sycl_queue queue)
{
	sycl_kernel_bundle bundle = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, NULL, &bundle));
	return bundle;
}

static void launches(sycl_queue queue, sycl_kernel_bundle bundle, sycl_buffer to, sycl_buffer from)
{
	sycl_kernel increment = NULL, copy = NULL;
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_kernel_create(bundle, "increment", &increment));
	MUST(sycl_kernel_create(bundle, "copy", &copy));
	for (int i = 0; i < 50; i++) {
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_accessor(handler, 0, from, SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(ITEMS)));
		MUST(sycl_handler_submit(handler, i == 49 ? &event : NULL));
	}
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, to, SYCL_ACCESS_WRITE_NO_INIT));
	/* This argument is a part: it begins inside of the buffer's memory. */
	MUST(sycl_handler_set_ranged_accessor(handler, 1, from, SYCL_ACCESS_READ, BYTES / 2,
					      BYTES / 2));
	MUST(sycl_handler_depends_on(handler, event));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(ITEMS / 2)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_event_release(event));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_kernel_release(copy));
}

/* A failed call also gives back its references. */
static void failures(sycl_queue queue, sycl_kernel_bundle bundle)
{
	sycl_kernel kernel = NULL;
	cr_assert(ne(int, sycl_kernel_create(bundle, "nothing", &kernel), 0));
	cr_assert(ne(int, sycl_kernel_from_source(queue, "SYCL_KERNEL void x(", "x", &kernel), 0));
}

static void run_counted_work(void)
{
	uint32_t host[ITEMS] = {0};
	sycl_platform platform = NULL;
	sycl_device device = NULL;
	sycl_queue queues[2] = {NULL, NULL};
	sycl_buffer from = NULL, to = NULL;
	MUST(sycl_platform_open("embedded:", &platform));
	MUST(sycl_device_select(platform, sycl_cpu_selector, NULL, &device));
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_IN_ORDER | SYCL_QUEUE_ENABLE_PROFILING;
	MUST(sycl_queue_create(NULL, device, NULL, &queues[0]));
	MUST(sycl_queue_create(NULL, device, &options, &queues[1]));
	MUST(sycl_device_release(device));
	MUST(sycl_buffer_create(platform, host, sizeof(host), SYCL_HOST_BORROWED, &from));
	MUST(sycl_buffer_create(platform, NULL, sizeof(host), SYCL_HOST_NONE, &to));
	for (int i = 0; i < 2; i++) {
		sycl_kernel_bundle bundle = bundle_of(queues[i]);
		launches(queues[i], bundle, to, from);
		failures(queues[i], bundle);
		MUST(sycl_queue_fill(queues[i], to, 0, 63, "abc", 3, NULL));
		MUST(sycl_queue_fill(queues[i], to, 64, 64, "abcd", 4, NULL));
		MUST(sycl_queue_copy(queues[i], to, 0, to, BYTES / 2, 512, NULL));
		MUST(sycl_queue_update_host(queues[i], to, NULL));
		MUST(sycl_kernel_bundle_release(bundle));
	}
	/* All of them are released at once, while work still uses them. */
	MUST(sycl_buffer_release(to));
	MUST(sycl_queue_release(queues[0]));
	MUST(sycl_queue_release(queues[1]));
	MUST(sycl_buffer_release(from));
	MUST(sycl_platform_release(platform));
	cr_assert(eq(u32, host[0], 100));
}

static void use_layer(void)
{
	(void)setenv("OPENCL_LAYERS", COUNTER_LIBRARY, 1);
	(void)setenv("XDG_CACHE_HOME", TEST_CACHE, 1);
}

static void read_layer_counts(struct opencl_counts *counts_out)
{
	void *layer = dlopen(COUNTER_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
	cr_assert(ne(ptr, layer, NULL), "the loader has not loaded the layer");
	opencl_counts_function *ask = (opencl_counts_function *)dlsym(layer, "opencl_counts");
	cr_assert(ask != NULL);
	ask(counts_out);
	(void)dlclose(layer);
}

Test(client_counts, N1_every_object_of_the_driver_that_was_made_is_released)
{
	static const char *const names[OPENCL_COUNTED] = {
		"contexts", "queues", "memories", "programs",
		"kernels",  "events", "samplers", "svm",
	};
	struct opencl_counts counts;
	use_layer();
	run_counted_work();
	run_counted_work();
	read_layer_counts(&counts);
	for (int i = 0; i < OPENCL_COUNTED; i++)
		cr_expect(eq(u64, counts.given[i], counts.taken[i]), "%s", names[i]);
	for (int i = OPENCL_CONTEXTS; i <= OPENCL_EVENTS; i++)
		cr_expect(gt(u64, counts.taken[i], 0), "no %s were made: nothing was shown",
			  names[i]);
	cr_expect(gt(u64, counts.taken[OPENCL_EVENTS], 100));
}

/* Returns how many of the driver's programs there are once `kernel` is made, because its program is
 * loaded then. */
static uint64_t programs_with(sycl_queue queue, const char *text, const char *name,
			      sycl_kernel *kernel_out)
{
	sycl_kernel_bundle bundle = NULL;
	struct opencl_counts counts;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, text, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, name, kernel_out));
	MUST(sycl_kernel_bundle_release(bundle));
	uint32_t arguments = 0;
	MUST(sycl_kernel_get_info(*kernel_out, SYCL_KERNEL_INFO_NUM_ARGS, sizeof(arguments),
				  &arguments, NULL));
	cr_assert(eq(u32, arguments, 1));
	read_layer_counts(&counts);
	return counts.taken[OPENCL_PROGRAMS] - counts.given[OPENCL_PROGRAMS];
}

static void counts_submit_increment(sycl_queue queue, sycl_kernel kernel, sycl_buffer buffer)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(ITEMS)));
	MUST(sycl_handler_submit(handler, NULL));
}

/* The cost of a thousand clients of one program depends on this. The object lasts until the last
 * client has released it. */
Test(client_counts, N1_equal_programs_are_one_of_the_drivers)
{
	/* No other test builds this source. So the second build takes the first one's binary from
	 * the cache. */
	static const char equal[] =
		"SYCL_KERNEL void count_up(SYCL_GLOBAL(uint) to) { to[sycl_global_id(0)] += 1; }\n";
	static const char other[] = "SYCL_KERNEL void other(SYCL_GLOBAL(uint) to) { to[0] = 7; }\n";
	sycl_platform platform = NULL;
	sycl_device device = NULL;
	sycl_queue queue = NULL;
	sycl_buffer buffer = NULL;
	sycl_kernel first = NULL, second = NULL, third = NULL;
	uint32_t host[ITEMS] = {0};
	use_layer();
	/* Without the folder nothing is cached, and PoCL's binaries of one text differ. */
	(void)mkdir(TEST_CACHE, 0700);
	MUST(sycl_platform_open("embedded:", &platform));
	MUST(sycl_device_select(platform, sycl_cpu_selector, NULL, &device));
	MUST(sycl_queue_create(NULL, device, NULL, &queue));
	MUST(sycl_device_release(device));
	MUST(sycl_buffer_create(platform, host, sizeof(host), SYCL_HOST_BORROWED, &buffer));
	uint64_t one = programs_with(queue, equal, "count_up", &first);
	cr_expect(gt(u64, one, 0));
	cr_expect(eq(u64, programs_with(queue, equal, "count_up", &second), one),
		  "the same text is loaded twice");
	cr_expect(gt(u64, programs_with(queue, other, "other", &third), one),
		  "another text is not loaded");
	counts_submit_increment(queue, first, buffer);
	MUST(sycl_kernel_release(first));
	MUST(sycl_queue_wait(queue));
	counts_submit_increment(queue, second, buffer);
	MUST(sycl_kernel_release(second));
	MUST(sycl_kernel_release(third));
	MUST(sycl_queue_release(queue));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_platform_release(platform));
	cr_expect(eq(u32, host[ITEMS - 1], 2));
	struct opencl_counts counts;
	read_layer_counts(&counts);
	cr_expect(eq(u64, counts.given[OPENCL_PROGRAMS], counts.taken[OPENCL_PROGRAMS]));
}

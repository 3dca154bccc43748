/*
 * Moves between host and devices, by the session's own counters, on any device. Fake devices count
 * more of them (residency.c). Real devices have memories of their own (B24, C5, C6, C7).
 */
#include "library/portable.h"

TestSuite(moves, .timeout = 120, .init = portable_begin, .fini = portable_end);

enum { DEVICES = 2, HALF = WORDS / 2 };

struct moved {
	uint64_t to_device, to_host;
};

/* Returns the bytes that this connection has moved since the last call. Work that was waited for is
 * counted. */
static struct moved moved(void)
{
	static struct moved before;
	struct sycl_usage usage = SYCL_USAGE_INIT;
	MUST(sycl_platform_get_usage(platform, &usage));
	const struct moved since = {usage.bytes_to_device - before.to_device,
				    usage.bytes_to_host - before.to_host};
	before = (struct moved){usage.bytes_to_device, usage.bytes_to_host};
	return since;
}

/* Returns the count of one move of these bytes. It is 0 if the device uses the host's memory,
 * because nothing ever moves then. */
static uint64_t unit(uint64_t bytes)
{
	sycl_device device = NULL;
	uint32_t unified = 0;
	MUST(sycl_queue_get_device(queue, &device));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_HOST_UNIFIED_MEMORY, sizeof(unified),
				  &unified, NULL));
	MUST(sycl_device_release(device));
	return unified ? 0 : bytes;
}

/* Opens a queue on each of two devices, or both on the only one. Returns the number of devices. */
static uint64_t open_queues(sycl_queue on[DEVICES])
{
	sycl_device devices[DEVICES];
	for (uint32_t i = 0; i < DEVICES; i++) {
		on[i] = portable_queue(platform, i, 0);
		MUST(sycl_queue_get_device(on[i], &devices[i]));
	}
	const uint64_t count = devices[0] == devices[1] ? 1 : 2;
	for (uint32_t i = 0; i < DEVICES; i++)
		MUST(sycl_device_release(devices[i]));
	return count;
}

static void close_queues(sycl_queue on[DEVICES])
{
	for (uint32_t i = 0; i < DEVICES; i++)
		MUST(sycl_queue_release(on[i]));
}

/* Runs copy_u32 and waits for it. */
static void run_copy(sycl_queue on, sycl_kernel copy, sycl_buffer to, sycl_buffer from)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, to, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_accessor(handler, 1, from, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, &event));
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
}

Test(moves, B24_each_reading_device_gets_one_copy_and_nothing_comes_back)
{
	sycl_queue on[DEVICES];
	const uint64_t devices = open_queues(on);
	sycl_buffer buffer = words_buffer(platform, 3), copies[DEVICES];
	(void)moved();
	for (uint32_t i = 0; i < DEVICES; i++) {
		sycl_kernel copy = portable_kernel(on[i], "copy_u32");
		MUST(sycl_buffer_create(platform, NULL, WORDS_BYTES, SYCL_HOST_NONE, &copies[i]));
		for (int again = 0; again < 3; again++)
			run_copy(on[i], copy, copies[i], buffer);
		MUST(sycl_kernel_release(copy));
	}
	struct moved since = moved();
	cr_assert(eq(u64, since.to_device, unit(devices * WORDS_BYTES)));
	cr_assert(eq(u64, since.to_host, 0));
	/* The first device still has its copy. */
	sycl_kernel copy = portable_kernel(on[0], "copy_u32");
	run_copy(on[0], copy, copies[0], buffer);
	since = moved();
	cr_assert(eq(u64, since.to_device, 0));
	cr_assert(eq(u64, since.to_host, 0));
	/* And so does the host. */
	cr_assert(words_are(buffer, 3));
	since = moved();
	cr_assert(eq(u64, since.to_host, 0));
	for (uint32_t i = 0; i < DEVICES; i++) {
		cr_assert(words_are(copies[i], 3));
		MUST(sycl_buffer_release(copies[i]));
	}
	since = moved();
	cr_assert(eq(u64, since.to_host, unit(DEVICES * WORDS_BYTES)),
		  "these the devices alone have had");
	MUST(sycl_kernel_release(copy));
	MUST(sycl_buffer_release(buffer));
	close_queues(on);
}

static void moves_fill_words(sycl_queue on, sycl_kernel fill, sycl_buffer buffer, uint32_t first,
			     uint32_t count, uint32_t value)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_ranged_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE_NO_INIT,
					      first * 4ull, count * 4ull));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(count)));
	MUST(sycl_handler_submit(handler, &event));
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
}

static void must_have(sycl_buffer buffer, uint32_t low, uint32_t high)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	for (uint32_t i = 0; i < WORDS; i++)
		cr_assert(eq(u32, ((const uint32_t *)pointer)[i], i < HALF ? low : high), "word %u",
			  i);
	MUST(sycl_host_accessor_release(accessor));
}

/* One kernel writes the whole buffer and another one half of it, on a device that never had it.
 * Nothing moves there, and only the written bytes move back. */
Test(moves, C6_C7_without_its_contents_nothing_moves_in_and_the_rest_stays)
{
	sycl_queue on[DEVICES];
	const uint64_t devices = open_queues(on);
	sycl_kernel fill[DEVICES];
	sycl_buffer buffer = words_buffer(platform, 1);
	for (uint32_t i = 0; i < DEVICES; i++)
		fill[i] = portable_kernel(on[i], "fill_u32");
	(void)moved();
	moves_fill_words(on[0], fill[0], buffer, 0, WORDS, 7);
	struct moved since = moved();
	cr_assert(eq(u64, since.to_device, 0));
	cr_assert(eq(u64, since.to_host, 0));
	must_have(buffer, 7, 7);
	since = moved();
	cr_assert(eq(u64, since.to_host, unit(WORDS_BYTES)));
	/* The other device writes only the second half. The first half is still valid on the first
	 * device and on the host. */
	moves_fill_words(on[1], fill[1], buffer, HALF, HALF, 8);
	since = moved();
	cr_assert(eq(u64, since.to_device, 0));
	cr_assert(eq(u64, since.to_host, 0));
	must_have(buffer, 7, 8);
	since = moved();
	cr_assert(eq(u64, since.to_host, unit(WORDS_BYTES / 2)),
		  "what it has written, and no more");
	/* The first device lacks that half now. Only that half moves there. */
	sycl_kernel copy = portable_kernel(on[0], "copy_u32");
	sycl_buffer result = words_buffer(platform, 0);
	run_copy(on[0], copy, result, buffer);
	since = moved();
	cr_assert(eq(u64, since.to_device, devices == 2 ? unit(WORDS_BYTES / 2) : 0));
	must_have(result, 7, 8);
	for (uint32_t i = 0; i < DEVICES; i++)
		MUST(sycl_kernel_release(fill[i]));
	MUST(sycl_kernel_release(copy));
	MUST(sycl_buffer_release(result));
	MUST(sycl_buffer_release(buffer));
	close_queues(on);
}

/* The device writes and the host only reads. The host's bytes do not change until they are
 * requested. */
Test(moves, C5_only_what_was_written_is_updated)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 1);
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	(void)moved();
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_require_target(handler, buffer, SYCL_ACCESS_READ, SYCL_TARGET_HOST_TASK));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, &event));
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
	struct moved since = moved();
	cr_assert(eq(u64, since.to_device, unit(WORDS_BYTES)));
	cr_assert(eq(u64, since.to_host, 0), "nobody has asked for it");
	cr_assert(words_are(buffer, 2));
	since = moved();
	cr_assert(eq(u64, since.to_host, unit(WORDS_BYTES)));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}

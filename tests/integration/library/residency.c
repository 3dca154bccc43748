/* The moves of bytes, counted by the fake devices, whose memories are separate and begin poisoned.
 * Also moves that fail. */
#include "library/test.h"

#include <string.h>

TestSuite(client_residency, .timeout = 60, .init = with_service, .fini = without_service);

enum { PARTS = 4, PART = 1024, ROOM = PARTS * PART, PART_WORDS = PART / 4, ROOM_WORDS = ROOM / 4 };

static uint32_t host[ROOM_WORDS];

static void set_host(uint32_t value)
{
	for (int i = 0; i < ROOM_WORDS; i++)
		host[i] = value;
}

static sycl_buffer make_buffer_of_kind(sycl_host_memory kind, uint32_t value)
{
	sycl_buffer buffer = NULL;
	set_host(value);
	MUST(sycl_buffer_create(platform, kind == SYCL_HOST_NONE ? NULL : host, ROOM, kind,
				&buffer));
	return buffer;
}

static sycl_queue queue_on(uint32_t which)
{
	sycl_queue made = NULL;
	sycl_device device = fake_device(platform, which);
	MUST(sycl_queue_create(NULL, device, NULL, &made));
	MUST(sycl_device_release(device));
	return made;
}

static sycl_buffer part_of(sycl_buffer buffer, uint64_t first, uint64_t count)
{
	sycl_buffer part = NULL;
	MUST(sycl_buffer_create_sub(buffer, first * PART, count * PART, &part));
	return part;
}

/* The bytes that were moved since the last call. */
static struct fake_counters moved(void)
{
	static struct fake_counters before;
	struct fake_counters now, since = {.launches = 0};
	fake_counters(FAKE_ANY_DEVICE, &now);
	since.bytes_written = now.bytes_written - before.bytes_written;
	since.bytes_read = now.bytes_read - before.bytes_read;
	since.writes = now.writes - before.writes;
	since.reads = now.reads - before.reads;
	since.copies = now.copies - before.copies;
	since.bytes_copied = now.bytes_copied - before.bytes_copied;
	before = now;
	return since;
}

static void increment_words(sycl_queue on, sycl_kernel increment, sycl_buffer buffer,
			    uint64_t count)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(count)));
	MUST(sycl_handler_submit(handler, NULL));
}

static void must_be(sycl_buffer buffer, uint64_t first, uint64_t count, uint32_t value)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create_ranged(buffer, SYCL_ACCESS_READ, first * 4, count * 4,
					      SYCL_FOREVER_NS, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	for (uint64_t i = 0; i < count; i++)
		cr_assert(eq(u32, ((const uint32_t *)pointer)[i], value), "word %d",
			  (int)(first + i));
	MUST(sycl_host_accessor_release(accessor));
}

Test(client_residency, C6_C7_no_init_moves_nothing_and_only_the_stale_part_moves)
{
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = make_buffer_of_kind(SYCL_HOST_CONST, 1);
	(void)moved();
	for (int whole = 1; whole >= 0; whole--) {
		sycl_handler handler = NULL;
		uint32_t value = 7;
		sycl_event event = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_ranged_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE_NO_INIT,
						      whole ? 0 : PART, whole ? ROOM : 2 * PART));
		MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
		MUST(sycl_handler_parallel_for(handler, fill,
					       sycl_range1(whole ? ROOM_WORDS : 2 * PART_WORDS)));
		MUST(sycl_handler_submit(handler, &event));
		MUST(sycl_event_wait_for(event, LONG_NS));
		MUST(sycl_event_release(event));
		struct fake_counters since = moved();
		cr_assert(eq(u64, since.bytes_written, 0), "nothing was needed (C6)");
		cr_assert(eq(u64, since.bytes_read, 0), "nothing was needed (C6)");
		must_be(buffer, 0, ROOM_WORDS, 7);
		since = moved();
		cr_assert(eq(u64, since.bytes_read, whole ? ROOM : 2 * PART),
			  "what the device alone has");
	}
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}

Test(client_residency, B24_two_readers_on_two_devices_move_in_twice_and_nothing_back)
{
	sycl_buffer buffer = make_buffer_of_kind(SYCL_HOST_CONST, 3), sums[2];
	sycl_queue on[2] = {queue_on(1), queue_on(2)};
	(void)moved();
	for (int i = 0; i < 2; i++) {
		sycl_kernel copy = fake_kernel(on[i], "copy_u32");
		sycl_handler handler = NULL;
		sums[i] = make_buffer_of_kind(SYCL_HOST_NONE, 0);
		for (int again = 0; again < 3; again++) {
			MUST(sycl_handler_begin(on[i], &handler));
			MUST(sycl_handler_set_accessor(handler, 0, sums[i],
						       SYCL_ACCESS_WRITE_NO_INIT));
			MUST(sycl_handler_set_accessor(handler, 1, buffer, SYCL_ACCESS_READ));
			MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(ROOM_WORDS)));
			MUST(sycl_handler_submit(handler, NULL));
		}
		MUST(sycl_queue_wait_for(on[i], LONG_NS));
		MUST(sycl_kernel_release(copy));
	}
	struct fake_counters since = moved();
	cr_assert(eq(u64, since.writes, 2));
	cr_assert(eq(u64, since.bytes_written, 2 * ROOM));
	cr_assert(eq(u64, since.reads, 0));
	for (int i = 0; i < 2; i++) {
		must_be(sums[i], 0, ROOM_WORDS, 3);
		MUST(sycl_buffer_release(sums[i]));
		MUST(sycl_queue_release(on[i]));
	}
	MUST(sycl_buffer_release(buffer));
}

/* Two devices have parts, which the host reads. Each byte moves once, and a read of one part moves
 * only that part. */
Test(client_residency, C12_D7_parts_move_by_themselves)
{
	sycl_queue other = queue_on(1);
	sycl_kernel first = fake_kernel(queue, "increment_u32"),
		    second = fake_kernel(other, "increment_u32");
	sycl_buffer buffer = make_buffer_of_kind(SYCL_HOST_CONST, 10), low = part_of(buffer, 0, 2),
		    high = part_of(buffer, 2, 2);
	(void)moved();
	for (int i = 0; i < 3; i++) {
		increment_words(queue, first, low, 2 * PART_WORDS);
		increment_words(other, second, high, 2 * PART_WORDS);
	}
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	MUST(sycl_queue_wait_for(other, LONG_NS));
	struct fake_counters since = moved();
	cr_assert(eq(u64, since.bytes_written, ROOM), "no part drags the other along");
	cr_assert(eq(u64, since.bytes_read, 0), "no part drags the other along");
	must_be(high, 0, 2 * PART_WORDS, 13);
	since = moved();
	cr_assert(eq(u64, since.bytes_read, 2 * PART));
	cr_assert(eq(u64, since.bytes_written, 0));
	must_be(buffer, 0, ROOM_WORDS, 13);
	since = moved();
	cr_assert(eq(u64, since.bytes_read, 2 * PART), "the other half only");
	/* If the host writes in a part of a part, only that goes to the device. */
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create_ranged(low, SYCL_ACCESS_WRITE, PART, 256, SYCL_FOREVER_NS,
					      &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	for (int i = 0; i < 64; i++)
		((uint32_t *)pointer)[i] = 100;
	MUST(sycl_host_accessor_release(accessor));
	increment_words(queue, first, low, 2 * PART_WORDS);
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	since = moved();
	cr_assert(eq(u64, since.bytes_written, 256));
	must_be(low, 0, PART_WORDS, 14);
	must_be(low, PART_WORDS, 64, 101);
	must_be(low, PART_WORDS + 64, PART_WORDS - 64, 14);
	MUST(sycl_buffer_release(low));
	MUST(sycl_buffer_release(high));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(first));
	MUST(sycl_kernel_release(second));
	MUST(sycl_queue_release(other));
}

/* A ranged accessor orders like the whole buffer, but only its range moves (C21). */
Test(client_residency, C21_D20_ranges_serve_residency)
{
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = make_buffer_of_kind(SYCL_HOST_CONST, 1);
	sycl_host_accessor accessor = NULL;
	sycl_handler handler = NULL;
	submit_fill(queue, fill, buffer, 5, ROOM_WORDS, NULL);
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	(void)moved();
	MUST(sycl_host_accessor_create_ranged(buffer, SYCL_ACCESS_READ, PART, PART, SYCL_FOREVER_NS,
					      &accessor));
	MUST(sycl_host_accessor_release(accessor));
	struct fake_counters since = moved();
	cr_assert(eq(u64, since.bytes_read, PART));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_update_host_part(handler, buffer, 0, 3 * PART));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	since = moved();
	cr_assert(eq(u64, since.bytes_read, 2 * PART), "one of the three is there");
	must_be(buffer, 0, ROOM_WORDS, 5);
	since = moved();
	cr_assert(eq(u64, since.bytes_read, PART));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}

/* A copy that overwrites a range without gaps moves nothing of it. One with gaps moves what is
 * between them. */
Test(client_residency, C6_D20_copies_move_what_they_need)
{
	sycl_buffer source = make_buffer_of_kind(SYCL_HOST_CONST, 1),
		    target = make_buffer_of_kind(SYCL_HOST_CONST, 2);
	struct sycl_copy_rect rect = SYCL_COPY_RECT_INIT;
	(void)moved();
	MUST(sycl_queue_copy(queue, source, 0, target, PART, PART, NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	struct fake_counters since = moved();
	cr_assert(eq(u64, since.bytes_written, PART));
	cr_assert(eq(u64, since.copies, 1));
	cr_assert(eq(u64, since.bytes_copied, PART));
	rect.width_bytes = 8;
	rect.rows = 4;
	rect.source_row_pitch_bytes = 16;
	rect.destination_row_pitch_bytes = 32;
	rect.destination_offset_bytes = 2 * PART;
	MUST(sycl_queue_copy_rect(queue, source, target, &rect, NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	since = moved();
	cr_assert(eq(u64, since.bytes_written, 3 * 32 + 8));
	cr_assert(eq(u64, since.copies, 1));
	cr_assert(eq(u64, since.bytes_copied, 32));
	/* One write moves the bytes from the program directly to the device. */
	MUST(sycl_queue_copy_from_host(queue, host, target, 0, PART, NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	since = moved();
	cr_assert(eq(u64, since.writes, 1));
	cr_assert(eq(u64, since.bytes_written, PART));
	MUST(sycl_buffer_release(source));
	MUST(sycl_buffer_release(target));
}

Test(client_residency, G13_constant_memory_is_read_and_has_a_limit)
{
	enum { LIMIT = 65536 }; /* of a fake device */
	sycl_kernel copy = fake_kernel(queue, "copy_u32");
	sycl_buffer large = NULL, table = make_buffer_of_kind(SYCL_HOST_CONST, 6),
		    out = make_buffer_of_kind(SYCL_HOST_NONE, 0);
	sycl_handler handler = NULL;
	MUST(sycl_buffer_create(platform, NULL, LIMIT + 1, SYCL_HOST_NONE, &large));
	MUST(sycl_handler_begin(queue, &handler));
	cr_assert(eq(int, sycl_handler_set_constant_accessor(handler, 1, large, 0, SYCL_REST_BYTES),
		     SYCL_ERROR_KERNEL_ARGUMENT));
	cr_assert(eq(int, sycl_handler_set_constant_accessor(handler, 1, large, 2, LIMIT),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_handler_set_constant_accessor(handler, 1024, table, 0, 4),
		     SYCL_ERROR_KERNEL_ARGUMENT));
	MUST(sycl_handler_set_constant_accessor(handler, 1, large, 1, SYCL_REST_BYTES));
	MUST(sycl_handler_set_constant_accessor(handler, 1, table, PART, SYCL_REST_BYTES));
	MUST(sycl_handler_set_accessor(handler, 0, out, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(3 * PART_WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	must_be(out, 0, 3 * PART_WORDS, 6);
	MUST(sycl_buffer_release(out));
	MUST(sycl_buffer_release(table));
	MUST(sycl_buffer_release(large));
	MUST(sycl_kernel_release(copy));
}

/* The device writes and the host only reads. The host's bytes do not change until they are
 * requested. */
Test(client_residency, C5_only_what_was_written_is_updated)
{
	sycl_kernel increment = fake_kernel(queue, "increment_u32");
	sycl_buffer buffer = make_buffer_of_kind(SYCL_HOST_CONST, 1);
	sycl_host_accessor accessor = NULL;
	sycl_handler handler = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_require_target(handler, buffer, SYCL_ACCESS_READ, SYCL_TARGET_HOST_TASK));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(ROOM_WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	/* No program may read there now. The test does, because there is no other way to check. */
	for (int i = 0; i < ROOM_WORDS; i++)
		cr_assert(eq(u32, ((const uint32_t *)pointer)[i], 1));
	must_be(buffer, 0, ROOM_WORDS, 2);
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}

/* C14 holds for every queue that gets the group: on the first device parts begin at 128 bytes, on
 * the second at 512. */
TestSuite(client_residency_own, .timeout = 60);

Test(client_residency_own, C14_a_part_must_fit_the_other_queue_too)
{
	fake_reset();
	fake_device_options(1, (struct fake_device_options){.base_align_bits = 4096});
	client_service_start(&service, NULL);
	MUST(sycl_platform_open(service.endpoint, &platform));
	sycl_device devices[2] = {fake_device(platform, 0), fake_device(platform, 1)};
	sycl_context context = NULL;
	sycl_queue first = NULL, second = NULL;
	sycl_buffer buffer = make_buffer_of_kind(SYCL_HOST_CONST, 1), part = NULL, good = NULL;
	MUST(sycl_context_create(2, devices, &context));
	MUST(sycl_queue_create(context, devices[0], NULL, &first));
	MUST(sycl_queue_create(context, devices[1], NULL, &second));
	MUST(sycl_buffer_create_sub(buffer, 128, 128, &part));
	MUST(sycl_buffer_create_sub(buffer, 512, 128, &good));
	for (int i = 0; i < 2; i++) {
		sycl_handler handler = NULL;
		sycl_command_group group = NULL;
		MUST(sycl_handler_begin(first, &handler));
		MUST(sycl_handler_fill(handler, i ? good : part, 0, 128, "abcd", 4));
		MUST(sycl_handler_freeze(handler, &group));
		MUST(sycl_queue_submit_group(first, group, NULL));
		sycl_result result = sycl_queue_submit_group(second, group, NULL);
		cr_assert(eq(int, result, i ? SYCL_SUCCESS : SYCL_ERROR_INVALID));
		if (!i)
			cr_assert(ne(ptr, (void *)strstr(sycl_get_last_error_text(), "512 bytes"),
				     NULL));
		MUST(sycl_command_group_release(group));
	}
	MUST(sycl_queue_wait(first));
	MUST(sycl_queue_wait(second));
	MUST(sycl_buffer_release(good));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(first));
	MUST(sycl_queue_release(second));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(devices[0]));
	MUST(sycl_device_release(devices[1]));
	MUST(sycl_platform_release(platform));
	client_service_stop(&service);
}

struct errors {
	uint32_t calls, count;
	sycl_result first;
};

static void note_errors(uint32_t count, const struct sycl_async_error *errors, void *user_data)
{
	struct errors *seen = user_data;
	seen->calls++;
	seen->count += count;
	seen->first = errors[0].result;
	for (uint32_t i = 0; i < count; i++) {
		cr_assert(eq(u64, errors[i].group, 0), "of no queue");
		cr_assert(ne(ptr, (void *)strstr(errors[i].text, "the cable"), NULL), "%s",
			  errors[i].text);
	}
}

/* The move back fails. The release reports it, the list has it once, and the program's memory is
 * unchanged. */
Test(client_residency, D17_what_fails_at_the_end_goes_to_the_list)
{
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	struct errors seen = {.calls = 0};
	MUST(sycl_platform_throw_asynchronous(platform, note_errors, &seen));
	cr_assert(eq(u32, seen.calls, 0));
	cr_assert(eq(int, sycl_platform_throw_asynchronous(platform, NULL, NULL),
		     SYCL_ERROR_INVALID));
	for (int i = 0; i < 2; i++) {
		sycl_buffer buffer = make_buffer_of_kind(SYCL_HOST_BORROWED, 1);
		uint64_t size = 0;
		submit_fill(queue, fill, buffer, 9, ROOM_WORDS, NULL);
		MUST(sycl_queue_wait_for(queue, LONG_NS));
		cr_assert(eq(int,
			     fake_fail(FAKE_COMPLETION, FAKE_ANY_DEVICE, 0, 1, SYCL_ERROR_RUNTIME,
				       false, "the cable is out"),
			     0));
		sycl_result result = sycl_buffer_release(buffer);
		cr_assert(ne(int, result, SYCL_SUCCESS));
		cr_assert(ne(ptr, (void *)strstr(sycl_get_last_error_text(), "the cable"), NULL));
		cr_assert(eq(int, sycl_buffer_get_size(buffer, &size), SYCL_ERROR_INVALID_HANDLE),
			  "it is released");
		for (int k = 0; k < ROOM_WORDS; k++)
			cr_assert(eq(u32, host[k], 1));
	}
	MUST(sycl_queue_wait_for(queue, LONG_NS)); /* it belongs to no queue */
	MUST(sycl_platform_throw_asynchronous(platform, note_errors, &seen));
	cr_assert(eq(u32, seen.calls, 1));
	cr_assert(eq(u32, seen.count, 2));
	cr_assert(ne(int, seen.first, 0));
	MUST(sycl_platform_throw_asynchronous(platform, note_errors, &seen));
	cr_assert(eq(u32, seen.calls, 1), "once");
	MUST(sycl_kernel_release(fill));
}

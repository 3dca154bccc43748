/* Host accessors of all kinds: of ranges and parts, with a time-out, and those that are requested
 * and waited for later. */
#include "library/portable.h"

#include <string.h>

TestSuite(access, .timeout = 120, .init = portable_begin, .fini = portable_end);

enum { PART = WORDS_BYTES / 4, PART_WORDS = PART / 4 };

static uint32_t *pointer_of(sycl_host_accessor accessor)
{
	void *pointer = NULL;
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	return pointer;
}

static uint32_t is_ready(sycl_host_accessor accessor)
{
	uint32_t ready = 2;
	MUST(sycl_host_accessor_is_ready(accessor, &ready));
	return ready;
}

struct gated {
	sycl_platform helped;
	sycl_queue on;
	sycl_buffer buffer;
	struct gate gate;
};

/* A host task uses the buffer and does not end until the gate opens. */
static void gated_begin(struct gated *gated, sycl_access_mode mode, uint64_t offset, uint64_t size)
{
	*gated = (struct gated){.gate = GATE_INIT};
	gated->helped = portable_open(1);
	gated->on = portable_queue(gated->helped, 0, 0);
	gated->buffer = words_buffer(gated->helped, 1);
	sycl_buffer part = NULL;
	MUST(sycl_buffer_create_sub(gated->buffer, offset, size, &part));
	run_task(gated->on, gate_task, &gated->gate, part, mode, NULL, NULL);
	gate_await(&gated->gate, 1);
	MUST(sycl_buffer_release(part));
}

static void gated_end(struct gated *gated)
{
	gate_open(&gated->gate);
	MUST(sycl_queue_wait_for(gated->on, LONG_NS));
	MUST(sycl_buffer_release(gated->buffer));
	MUST(sycl_queue_release(gated->on));
	MUST(sycl_platform_release(gated->helped));
}

Test(access, D1_D3_asked_for_now_and_waited_for_later)
{
	struct gated gated;
	sycl_host_accessor accessor = NULL;
	sycl_event event = NULL;
	void *pointer = NULL;
	gated_begin(&gated, SYCL_ACCESS_READ_WRITE, 0, WORDS_BYTES);
	MUST(sycl_host_accessor_create_async(gated.buffer, SYCL_ACCESS_READ_WRITE, 0,
					     SYCL_REST_BYTES, &accessor));
	/* Its place in the order is taken: this group comes behind it. */
	MUST(sycl_queue_fill(gated.on, gated.buffer, 0, WORDS_BYTES, "\x07\0\0\0", 4, &event));
	cr_assert(eq(u32, is_ready(accessor), 0));
	REFUSED(sycl_host_accessor_get_pointer(accessor, &pointer), SYCL_ERROR_INVALID);
	REFUSED(sycl_host_accessor_wait_for(accessor, 0), SYCL_ERROR_TIMEOUT);
	REFUSED(sycl_host_accessor_wait_for(accessor, SHORT_NS), SYCL_ERROR_TIMEOUT);
	gate_open(&gated.gate);
	MUST(sycl_host_accessor_wait(accessor));
	MUST(sycl_host_accessor_wait_for(accessor, 0));
	cr_assert(eq(u32, is_ready(accessor), 1));
	cr_assert(eq(u32, pointer_of(accessor)[WORDS - 1], 1), "before the fill");
	pointer_of(accessor)[0] = 100;
	REFUSED(sycl_event_wait_for(event, SHORT_NS), SYCL_ERROR_TIMEOUT);
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_event_wait_for(event, LONG_NS));
	cr_assert(words_are(gated.buffer, 7));
	MUST(sycl_event_release(event));
	gated_end(&gated);
}

/* The accessor writes, so readers wait. It also reads and keeps, so the old contents must be
 * there. */
Test(access, C3_the_atomic_mode_is_read_write)
{
	struct gated gated;
	sycl_host_accessor accessor = NULL;
	gated_begin(&gated, SYCL_ACCESS_ATOMIC, 0, WORDS_BYTES);
	MUST(sycl_host_accessor_create_async(gated.buffer, SYCL_ACCESS_READ, 0, SYCL_REST_BYTES,
					     &accessor));
	REFUSED(sycl_host_accessor_wait_for(accessor, SHORT_NS), SYCL_ERROR_TIMEOUT);
	gate_open(&gated.gate);
	MUST(sycl_host_accessor_wait(accessor));
	cr_assert(eq(u32, pointer_of(accessor)[0], 1));
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_host_accessor_create(gated.buffer, SYCL_ACCESS_ATOMIC, &accessor));
	cr_assert(eq(u32, pointer_of(accessor)[WORDS - 1], 1));
	for (uint32_t i = 0; i < WORDS; i++)
		pointer_of(accessor)[i]++;
	MUST(sycl_host_accessor_release(accessor));
	cr_assert(words_are(gated.buffer, 2));
	gated_end(&gated);
}

Test(access, D3_withdrawn_before_its_turn_it_holds_nobody_up)
{
	struct gated gated;
	sycl_host_accessor accessor = NULL;
	gated_begin(&gated, SYCL_ACCESS_READ, 0, WORDS_BYTES);
	/* This one needs no contents. If it dropped them, nothing would be left of them. */
	MUST(sycl_host_accessor_create_async(gated.buffer, SYCL_ACCESS_WRITE_NO_INIT, 0,
					     SYCL_REST_BYTES, &accessor));
	MUST(sycl_host_accessor_release(accessor));
	gate_open(&gated.gate);
	cr_assert(words_are(gated.buffer, 1));
	gated_end(&gated);
}

Test(access, D1_of_what_nobody_uses_it_is_ready_soon)
{
	sycl_buffer buffer = words_buffer(platform, 3);
	sycl_host_accessor accessor = NULL, reader = NULL;
	MUST(sycl_host_accessor_create_async(buffer, SYCL_ACCESS_READ, PART, PART, &accessor));
	MUST(sycl_host_accessor_create_async(buffer, SYCL_ACCESS_READ, 0, SYCL_REST_BYTES,
					     &reader));
	MUST(sycl_host_accessor_wait(reader));
	MUST(sycl_host_accessor_wait(accessor));
	while (!is_ready(accessor)) { /* it is: a query is enough */
	}
	cr_assert(eq(ptr, pointer_of(accessor), pointer_of(reader) + PART_WORDS),
		  "its part's first byte");
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_host_accessor_release(reader));
	MUST(sycl_buffer_release(buffer));
}

/* A group that needs two buffers waits for the accessor on the one and for the task on the other.
 */
Test(access, D4_a_group_on_two_buffers_waits_for_both)
{
	struct gated gated;
	sycl_host_accessor accessor = NULL;
	sycl_event event = NULL;
	gated_begin(&gated, SYCL_ACCESS_READ_WRITE, 0, WORDS_BYTES);
	for (int accessor_first = 0; accessor_first < 2; accessor_first++) {
		sycl_buffer held = words_buffer(gated.helped, 6);
		if (accessor_first)
			run_task(gated.on, gate_task, &gated.gate, gated.buffer,
				 SYCL_ACCESS_READ_WRITE, NULL, NULL);
		MUST(sycl_host_accessor_create(held, SYCL_ACCESS_READ_WRITE, &accessor));
		MUST(sycl_queue_copy(gated.on, held, 0, gated.buffer, 0, WORDS_BYTES, &event));
		REFUSED(sycl_event_wait_for(event, SHORT_NS), SYCL_ERROR_TIMEOUT);
		if (accessor_first)
			MUST(sycl_host_accessor_release(accessor));
		else
			gate_open(&gated.gate);
		REFUSED(sycl_event_wait_for(event, SHORT_NS), SYCL_ERROR_TIMEOUT);
		if (accessor_first)
			gate_open(&gated.gate);
		else
			MUST(sycl_host_accessor_release(accessor));
		MUST(sycl_event_wait_for(event, LONG_NS));
		cr_assert(words_are(gated.buffer, 6));
		MUST(sycl_event_release(event));
		MUST(sycl_buffer_release(held));
		gated.gate.open = false; /* no task waits there now */
	}
	gated_end(&gated);
}

/* C9 for the host: another part is free. */
Test(access, C9_D2_a_part_waits_for_its_own_bytes_alone)
{
	struct gated gated;
	sycl_host_accessor accessor = NULL;
	sycl_buffer first = NULL, second = NULL;
	gated_begin(&gated, SYCL_ACCESS_READ_WRITE, 0, PART);
	MUST(sycl_buffer_create_sub(gated.buffer, 0, 2 * PART, &first));
	MUST(sycl_buffer_create_sub(gated.buffer, PART, PART, &second));
	MUST(sycl_host_accessor_create_for(second, SYCL_ACCESS_READ_WRITE, LONG_NS, &accessor));
	pointer_of(accessor)[0] = 50;
	MUST(sycl_host_accessor_release(accessor));
	REFUSED(sycl_host_accessor_create_for(first, SYCL_ACCESS_READ, SHORT_NS, &accessor),
		SYCL_ERROR_TIMEOUT);
	/* The range itself is free. But it waits like the buffer or part that it belongs to
	 * (C21). */
	REFUSED(sycl_host_accessor_create_ranged(gated.buffer, SYCL_ACCESS_READ, PART, PART,
						 SHORT_NS, &accessor),
		SYCL_ERROR_TIMEOUT);
	REFUSED(sycl_host_accessor_create_ranged(first, SYCL_ACCESS_READ, PART, PART, SHORT_NS,
						 &accessor),
		SYCL_ERROR_TIMEOUT);
	REFUSED(sycl_host_accessor_create_ranged(second, SYCL_ACCESS_READ, PART - 4, 8, 0,
						 &accessor),
		SYCL_ERROR_INVALID);
	gate_open(&gated.gate);
	MUST(sycl_host_accessor_create_ranged(first, SYCL_ACCESS_READ, PART, 8, SYCL_FOREVER_NS,
					      &accessor));
	cr_assert(eq(u32, pointer_of(accessor)[0], 50));
	cr_assert(eq(u32, pointer_of(accessor)[1], 1));
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_buffer_release(first));
	MUST(sycl_buffer_release(second));
	gated_end(&gated);
}

/* The other way round: an accessor of a part delays the groups that need that part, and no
 * others. */
Test(access, D3_D6_C9_a_held_part_holds_up_what_overlaps)
{
	sycl_buffer buffer = words_buffer(platform, 1), part = NULL, beside = NULL;
	sycl_host_accessor accessor = NULL;
	sycl_event waits = NULL, goes = NULL, whole = NULL;
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	MUST(sycl_buffer_create_sub(buffer, PART, PART, &part));
	MUST(sycl_buffer_create_sub(buffer, 2 * PART, PART, &beside));
	MUST(sycl_host_accessor_create(part, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_queue_fill(queue, beside, 0, PART, "\x02\0\0\0", 4, &goes));
	MUST(sycl_queue_fill(queue, part, 0, 4, "\x03\0\0\0", 4, &waits));
	run_fill(queue, fill, buffer, 4, &whole);
	MUST(sycl_event_wait_for(goes, LONG_NS));
	REFUSED(sycl_event_wait_for(waits, SHORT_NS), SYCL_ERROR_TIMEOUT);
	REFUSED(sycl_event_wait_for(whole, SHORT_NS), SYCL_ERROR_TIMEOUT);
	cr_assert(eq(u32, pointer_of(accessor)[0], 1));
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_event_wait_for(waits, LONG_NS));
	MUST(sycl_event_wait_for(whole, LONG_NS));
	cr_assert(words_are(buffer, 4));
	sycl_event events[] = {waits, goes, whole};
	for (int i = 0; i < 3; i++)
		MUST(sycl_event_release(events[i]));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(beside));
	MUST(sycl_buffer_release(buffer));
}

Test(access, D7_what_is_written_through_parts_and_ranges_is_seen)
{
	sycl_buffer buffer = words_buffer(platform, 1), part = NULL,
		    copied = words_buffer(platform, 0);
	sycl_kernel copy = portable_kernel(queue, "copy_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_host_accessor accessor = NULL;
	MUST(sycl_buffer_create_sub(buffer, PART, 2 * PART, &part));
	run_increment(queue, increment, buffer, NULL); /* the device has the contents */
	MUST(sycl_host_accessor_create_ranged(part, SYCL_ACCESS_WRITE, 4, 8, SYCL_FOREVER_NS,
					      &accessor));
	pointer_of(accessor)[0] = 70;
	pointer_of(accessor)[1] = 71;
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_host_accessor_create_ranged(buffer, SYCL_ACCESS_WRITE_NO_INIT, WORDS_BYTES - 4,
					      SYCL_REST_BYTES, SYCL_FOREVER_NS, &accessor));
	pointer_of(accessor)[0] = 72;
	MUST(sycl_host_accessor_release(accessor));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, copied, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_accessor(handler, 1, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_host_accessor_create(copied, SYCL_ACCESS_READ, &accessor));
	for (uint32_t i = 0; i < WORDS; i++) {
		uint32_t wanted = i == PART_WORDS + 1   ? 70
				  : i == PART_WORDS + 2 ? 71
				  : i == WORDS - 1      ? 72
							: 2;
		cr_assert(eq(u32, pointer_of(accessor)[i], wanted), "word %u", i);
	}
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_kernel_release(copy));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_buffer_release(copied));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(buffer));
}

Test(access, wrong_accessors_are_refused)
{
	sycl_buffer buffer = words_buffer(platform, 1);
	sycl_host_accessor accessor = NULL;
	REFUSED(sycl_host_accessor_create_async(buffer, (sycl_access_mode)4, 0, 4, &accessor),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_host_accessor_create_async(buffer, SYCL_ACCESS_READ, WORDS_BYTES + 1,
						SYCL_REST_BYTES, &accessor),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_host_accessor_create_async(buffer, SYCL_ACCESS_READ, 4, WORDS_BYTES,
						&accessor),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_host_accessor_create_async(buffer, SYCL_ACCESS_READ, UINT64_MAX, 1, &accessor),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_host_accessor_create_async(buffer, SYCL_ACCESS_READ, 0, 4, NULL),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_host_accessor_create_ranged(buffer, SYCL_ACCESS_READ, 4, UINT64_MAX - 1, 0,
						 &accessor),
		SYCL_ERROR_INVALID);
	cr_assert(eq(ptr, accessor, NULL));
	/* The access was withdrawn each time: nothing waits. */
	MUST(sycl_host_accessor_create_for(buffer, SYCL_ACCESS_WRITE, LONG_NS, &accessor));
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_buffer_release(buffer));
}

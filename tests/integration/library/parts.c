/* Sub-buffers and views: order by ranges, coherence, lifetimes, what is refused. */
#include "library/portable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(parts, .timeout = 120, .init = portable_begin, .fini = portable_end);

enum { PART = WORDS_BYTES / 4, PART_WORDS = PART / 4 };

static sycl_buffer sub(sycl_buffer of, uint64_t offset, uint64_t size)
{
	sycl_buffer part = NULL;
	MUST(sycl_buffer_create_sub(of, offset, size, &part));
	return part;
}

/* Fills a buffer, or a part of one, by a kernel. */
static void parts_fill_words(sycl_queue on, sycl_kernel fill, sycl_buffer buffer, uint32_t value,
			     uint64_t count, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(count)));
	MUST(sycl_handler_submit(handler, event_out));
}

static bool part_is(sycl_buffer buffer, uint32_t value)
{
	uint64_t bytes = 0;
	MUST(sycl_buffer_get_size(buffer, &bytes));
	uint32_t *words = malloc(bytes + 1);
	bool equal = words != NULL;
	sycl_event event = NULL;
	MUST(sycl_queue_copy_to_host(queue, buffer, 0, words, bytes, &event));
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
	for (uint64_t i = 0; equal && i < bytes / sizeof(*words); i++)
		equal = words[i] == value;
	free(words);
	return equal;
}

Test(parts, C13_parts_of_parts_and_outside_are_refused)
{
	sycl_buffer buffer = words_buffer(platform, 1), part = sub(buffer, PART, PART), none = NULL;
	uint64_t size = 0;
	REFUSED(sycl_buffer_create_sub(part, 0, 4, &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_create_sub(buffer, 0, WORDS_BYTES + 1, &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_create_sub(buffer, WORDS_BYTES, 1, &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_create_sub(buffer, UINT64_MAX, 2, &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_create_sub(buffer, 2, UINT64_MAX, &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_create_sub(buffer, 0, 4, NULL), SYCL_ERROR_INVALID);
	cr_assert(eq(ptr, none, NULL));
	MUST(sycl_buffer_get_size(part, &size));
	cr_assert(eq(u64, size, PART));
	REFUSED(sycl_buffer_set_write_back(part, 0), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_set_final_data(part, &size), SYCL_ERROR_INVALID);
	MUST(sycl_buffer_release(part));
	REFUSED(sycl_buffer_get_size(part, &size), SYCL_ERROR_INVALID_HANDLE);
	MUST(sycl_buffer_release(buffer));
}

Test(parts, C14_an_origin_that_does_not_fit_the_device_is_refused_at_use)
{
	sycl_buffer buffer = words_buffer(platform, 1), part = sub(buffer, 4, 64);
	sycl_device device = portable_device(platform, 0);
	sycl_handler handler = NULL;
	sycl_host_accessor accessor = NULL;
	uint32_t bits = 0;
	char number[24];
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_MEM_BASE_ADDR_ALIGN_BITS, sizeof(bits),
				  &bits, NULL));
	cr_assert(gt(u32, bits, 32), "4 bytes are no place to begin");
	(void)snprintf(number, sizeof(number), " %u bytes", bits / 8);
	MUST(sycl_handler_begin(queue, &handler));
	REFUSED(sycl_handler_set_accessor(handler, 0, part, SYCL_ACCESS_READ), SYCL_ERROR_INVALID);
	cr_assert(ne(ptr, (void *)strstr(sycl_get_last_error_text(), number), NULL), "%s",
		  sycl_get_last_error_text());
	REFUSED(sycl_handler_fill(handler, part, 0, 4, "abcd", 4), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy(handler, part, 0, buffer, 256, 4), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy(handler, buffer, 256, part, 0, 4), SYCL_ERROR_INVALID);
	MUST(sycl_handler_discard(handler));
	/* The host has no such alignment rule. */
	MUST(sycl_host_accessor_create(part, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_buffer_release(part));
	part = sub(buffer, bits / 8, 64);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, part, SYCL_ACCESS_READ));
	MUST(sycl_handler_discard(handler));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_device_release(device));
}

/* A gate holds the first half. Groups on parts that overlap it wait; others run. */
Test(parts, C8_C9_C10_C11_only_what_overlaps_waits)
{
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, 0), other = portable_beside(on, 0);
	sycl_kernel fill = portable_kernel(on, "fill_u32"),
		    beside = portable_kernel(other, "fill_u32");
	sycl_buffer buffer = words_buffer(helped, 1), half = sub(buffer, 0, 2 * PART);
	struct gate gate = GATE_INIT;
	run_task(on, gate_task, &gate, half, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	gate_await(&gate, 1);
	const struct {
		uint64_t offset, size;
		bool waits;
	} cases[] = {
		{2 * PART, PART, false},                   /* touching */
		{3 * PART, PART, false}, {PART, 0, false}, /* an empty part in the middle of it */
		{0, 0, false},           {0, 2 * PART, true}, /* equal */
		{PART, PART, true},                           /* contained */
		{PART, 2 * PART, true},                       /* across the end */
		{0, 4 * PART, true},                          /* containing */
	};
	enum { CASES = (int)(sizeof(cases) / sizeof(*cases)) };
	sycl_buffer pieces[CASES];
	sycl_event events[CASES];
	for (int i = 0; i < CASES; i++) {
		pieces[i] = sub(buffer, cases[i].offset, cases[i].size);
		parts_fill_words(i % 2 ? on : other, i % 2 ? fill : beside, pieces[i], 7,
				 cases[i].size / 4, &events[i]);
	}
	sycl_event whole = NULL;
	parts_fill_words(other, beside, buffer, 9, WORDS,
			 &whole); /* the buffer itself overlaps all of them (C11) */
	for (int i = 0; i < CASES; i++) {
		if (cases[i].waits)
			REFUSED(sycl_event_wait_for(events[i], SHORT_NS / 4), SYCL_ERROR_TIMEOUT);
		else
			MUST(sycl_event_wait_for(events[i], LONG_NS));
	}
	REFUSED(sycl_event_wait_for(whole, SHORT_NS), SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	MUST(sycl_event_wait_for(whole, LONG_NS));
	for (int i = 0; i < CASES; i++) {
		MUST(sycl_event_wait_for(events[i], LONG_NS));
		MUST(sycl_event_release(events[i]));
		MUST(sycl_buffer_release(pieces[i]));
	}
	cr_assert(words_are(buffer, 9), "the last one in the order was the whole");
	MUST(sycl_event_release(whole));
	MUST(sycl_buffer_release(half));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(beside));
	MUST(sycl_queue_release(other));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

Test(parts, C21_ranges_of_one_buffer_order_though_they_are_disjoint)
{
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, 0);
	sycl_buffer buffer = words_buffer(helped, 1);
	struct gate gate = GATE_INIT;
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_ranged_host_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE, 0,
						   PART));
	MUST(sycl_handler_host_task(handler, gate_task, &gate, NULL));
	MUST(sycl_handler_submit(handler, NULL));
	gate_await(&gate, 1);
	MUST(sycl_queue_fill(on, buffer, 2 * PART, PART, "abcd", 4, &event));
	REFUSED(sycl_event_wait_for(event, SHORT_NS), SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

/* Each part is used on another device, repeatedly. Then all of the buffer is used on a device that
 * had none of them. */
Test(parts, C12_D7_parts_on_several_devices_are_one_buffer)
{
	enum { DEVICES = 3 };
	sycl_queue on[DEVICES];
	sycl_kernel increment[DEVICES], copy;
	sycl_buffer buffer = words_buffer(platform, 100), parts[4],
		    copied = words_buffer(platform, 0);
	for (uint32_t i = 0; i < DEVICES; i++) {
		on[i] = portable_queue(platform, i, 0);
		increment[i] = portable_kernel(on[i], "increment_u32");
	}
	copy = portable_kernel(on[2], "copy_u32");
	for (uint64_t i = 0; i < 4; i++)
		parts[i] = sub(buffer, i * PART, PART);
	for (uint32_t round = 0; round < 12; round++) {
		uint32_t part = round % 4, device = round % DEVICES;
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(on[device], &handler));
		MUST(sycl_handler_set_accessor(handler, 0, parts[part], SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_parallel_for(handler, increment[device],
					       sycl_range1(PART_WORDS)));
		MUST(sycl_handler_submit(handler, NULL));
	}
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on[2], &handler));
	MUST(sycl_handler_set_accessor(handler, 0, copied, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_accessor(handler, 1, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	cr_assert(words_are(copied, 103));
	cr_assert(words_are(buffer, 103));
	for (uint32_t i = 0; i < 4; i++) {
		cr_assert(part_is(parts[i], 103));
		MUST(sycl_buffer_release(parts[i]));
	}
	for (uint32_t i = 0; i < DEVICES; i++) {
		MUST(sycl_kernel_release(increment[i]));
		MUST(sycl_queue_release(on[i]));
	}
	MUST(sycl_kernel_release(copy));
	MUST(sycl_buffer_release(copied));
	MUST(sycl_buffer_release(buffer));
}

Test(parts, C1_C8_several_parts_in_one_group)
{
	sycl_kernel copy = portable_kernel(queue, "copy_u32");
	sycl_buffer buffer = words_buffer(platform, 5), first = sub(buffer, 0, PART),
		    last = sub(buffer, 3 * PART, PART);
	sycl_handler handler = NULL;
	MUST(sycl_queue_fill(queue, first, 0, PART, "\x07\0\0\0", 4, NULL));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, last, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_accessor(handler, 1, first, SYCL_ACCESS_READ));
	MUST(sycl_handler_require(handler, buffer,
				  SYCL_ACCESS_READ)); /* and all of it, which overlaps both */
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(PART_WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	cr_assert(part_is(first, 7));
	cr_assert(part_is(last, 7));
	sycl_buffer middle = sub(buffer, PART, 2 * PART);
	cr_assert(part_is(middle, 5));
	MUST(sycl_buffer_release(middle));
	MUST(sycl_buffer_release(last));
	MUST(sycl_buffer_release(first));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(copy));
}

/* Two ranges are written without their contents. The words between them must stay. */
Test(parts, C7_what_lies_between_two_ranges_stays)
{
	sycl_kernel copy = portable_kernel(queue, "copy_u32");
	for (int whole = 0; whole < 2; whole++) {
		sycl_buffer buffer = words_buffer(platform, 5), other = words_buffer(platform, 6);
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_ranged_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE_NO_INIT,
						      0, PART));
		MUST(sycl_handler_set_ranged_accessor(handler, 1, other, SYCL_ACCESS_READ, 0,
						      PART));
		sycl_buffer required =
			whole ? other : buffer; /* the first time, a second range of the buffer */
		MUST(sycl_handler_set_ranged_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE_NO_INIT,
						      3 * PART, PART));
		MUST(sycl_handler_set_ranged_accessor(handler, 1, required, SYCL_ACCESS_READ,
						      3 * PART, PART));
		MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(PART_WORDS)));
		MUST(sycl_handler_submit(handler, NULL));
		sycl_buffer middle = sub(buffer, PART, 2 * PART);
		cr_assert(part_is(middle, 5));
		MUST(sycl_buffer_release(middle));
		MUST(sycl_buffer_release(buffer));
		MUST(sycl_buffer_release(other));
	}
	MUST(sycl_kernel_release(copy));
}

Test(parts, C7_an_empty_range_without_contents_loses_nothing)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = words_buffer(platform, 5), part = sub(buffer, PART, PART);
	sycl_buffer both[] = {buffer, part};
	for (int i = 0; i < 2; i++) {
		sycl_handler handler = NULL;
		uint32_t value = 9;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_ranged_accessor(handler, 0, both[i],
						      SYCL_ACCESS_WRITE_NO_INIT, 0, 0));
		MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
		MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(0)));
		MUST(sycl_handler_submit(handler, NULL));
		sycl_host_accessor accessor = NULL;
		MUST(sycl_host_accessor_create_ranged(both[i], SYCL_ACCESS_WRITE_NO_INIT, 0, 0,
						      SYCL_FOREVER_NS, &accessor));
		MUST(sycl_host_accessor_release(accessor));
		cr_assert(words_are(buffer, 5));
	}
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}

/* The bytes may be named in any way, and in any order. */
Test(parts, C4_one_target_may_write_where_parts_overlap)
{
	sycl_buffer buffer = words_buffer(platform, 1);
	sycl_buffer low = sub(buffer, 0, WORDS_BYTES / 2),
		    middle = sub(buffer, WORDS_BYTES / 4, WORDS_BYTES / 2),
		    high = sub(buffer, WORDS_BYTES / 2, WORDS_BYTES / 2);
	const struct {
		sycl_buffer first, second;
		bool good;
	} cases[] = {{buffer, low, false},  {low, buffer, false},  {low, middle, false},
		     {middle, high, false}, {high, buffer, false}, {low, high, true},
		     {high, low, true}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_require_target(handler, cases[i].first, SYCL_ACCESS_READ_WRITE,
						 SYCL_TARGET_DEVICE));
		/* Reading is always allowed, and so is writing by the same target. */
		MUST(sycl_handler_require_target(handler, cases[i].second, SYCL_ACCESS_READ,
						 SYCL_TARGET_HOST_TASK));
		MUST(sycl_handler_require_target(handler, cases[i].second, SYCL_ACCESS_WRITE,
						 SYCL_TARGET_DEVICE));
		MUST(sycl_handler_discard(handler));
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_require_target(handler, cases[i].first, SYCL_ACCESS_READ_WRITE,
						 SYCL_TARGET_DEVICE));
		sycl_result result = sycl_handler_require_target(
			handler, cases[i].second, SYCL_ACCESS_WRITE, SYCL_TARGET_HOST_TASK);
		cr_assert(eq(int, result, cases[i].good ? 0 : SYCL_ERROR_INVALID), "case %zu", i);
		MUST(sycl_handler_discard(handler));
	}
	MUST(sycl_buffer_release(high));
	MUST(sycl_buffer_release(middle));
	MUST(sycl_buffer_release(low));
	MUST(sycl_buffer_release(buffer));
}

Test(parts, C4_one_target_may_write)
{
	sycl_buffer buffer = words_buffer(platform, 1), part = sub(buffer, 0, WORDS_BYTES);
	const struct {
		sycl_target first, second;
		sycl_access_mode one, two;
		bool good;
	} cases[] = {
		{SYCL_TARGET_DEVICE, SYCL_TARGET_HOST_TASK, SYCL_ACCESS_READ_WRITE,
		 SYCL_ACCESS_READ, true},
		{SYCL_TARGET_DEVICE, SYCL_TARGET_HOST_TASK, SYCL_ACCESS_READ_WRITE,
		 SYCL_ACCESS_READ_WRITE, false},
		{SYCL_TARGET_DEVICE, SYCL_TARGET_CONSTANT_BUFFER, SYCL_ACCESS_WRITE,
		 SYCL_ACCESS_READ_WRITE, false},
		{SYCL_TARGET_DEVICE, SYCL_TARGET_CONSTANT_BUFFER, SYCL_ACCESS_READ,
		 SYCL_ACCESS_READ, true},
		{SYCL_TARGET_CONSTANT_BUFFER, SYCL_TARGET_HOST_TASK, SYCL_ACCESS_READ,
		 SYCL_ACCESS_WRITE_NO_INIT, true},
		{SYCL_TARGET_HOST_TASK, SYCL_TARGET_DEVICE, SYCL_ACCESS_WRITE_NO_INIT,
		 SYCL_ACCESS_WRITE, false},
		{SYCL_TARGET_DEVICE, SYCL_TARGET_DEVICE, SYCL_ACCESS_WRITE, SYCL_ACCESS_READ_WRITE,
		 true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_require_target(handler, buffer, cases[i].one, cases[i].first));
		/* A sub-buffer of the whole buffer is the same object. */
		sycl_result result = sycl_handler_require_target(handler, i % 2 ? part : buffer,
								 cases[i].two, cases[i].second);
		cr_assert(eq(int, result, cases[i].good ? 0 : SYCL_ERROR_INVALID), "case %zu", i);
		if (cases[i].good) {
			MUST(sycl_handler_submit(handler, NULL));
		} else {
			/* A refused call has changed nothing: reading is still allowed. */
			MUST(sycl_handler_require_target(handler, buffer, SYCL_ACCESS_READ,
							 cases[i].second));
			MUST(sycl_handler_discard(handler));
		}
	}
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	REFUSED(sycl_handler_require_target(handler, buffer, SYCL_ACCESS_READ, (sycl_target)3),
		SYCL_ERROR_INVALID);
	MUST(sycl_handler_discard(handler));
	MUST(sycl_queue_wait(queue));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(buffer));
}

Test(parts, C15_views_keep_the_bytes)
{
	static uint32_t host[24];
	sycl_buffer buffer = NULL, view = NULL, again = NULL, none = NULL, part = NULL,
		    of_part = NULL;
	uint64_t element = 0, size = 0;
	sycl_range range;
	for (uint32_t i = 0; i < 24; i++)
		host[i] = i;
	MUST(sycl_buffer_create(platform, host, sizeof(host), SYCL_HOST_BORROWED, &buffer));
	REFUSED(sycl_buffer_reinterpret(buffer, 4, sycl_range1(23), &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_reinterpret(buffer, 4, sycl_range1(25), &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_reinterpret(buffer, 0, sycl_range1(24), &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_reinterpret(buffer, 5, sycl_range1(19), &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_reinterpret(buffer, 1, sycl_range3(0, 1, 1), &none),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_reinterpret(buffer, 2, sycl_range2(UINT64_MAX, UINT64_MAX), &none),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_reinterpret(buffer, 1ull << 63, sycl_range2(2, 1), &none),
		SYCL_ERROR_INVALID);
	cr_assert(eq(ptr, none, NULL));
	MUST(sycl_buffer_get_shape(buffer, &element, &range));
	cr_assert(eq(u64, element, 1));
	cr_assert(eq(u32, range.dimensions, 1));
	cr_assert(eq(u64, range.size[0], sizeof(host)));
	MUST(sycl_buffer_reinterpret(buffer, 4, sycl_range3(2, 3, 4), &view));
	MUST(sycl_buffer_reinterpret(view, 8, sycl_range2(3, 4), &again));
	MUST(sycl_buffer_get_shape(again, &element, NULL));
	MUST(sycl_buffer_get_shape(view, NULL, &range));
	MUST(sycl_buffer_get_size(again, &size));
	cr_assert(eq(u64, element, 8));
	cr_assert(eq(u64, range.size[2], 4));
	cr_assert(eq(u64, size, sizeof(host)));
	/* The view is the buffer: a group has one requirement for both, and both have the same
	 * contents. */
	MUST(sycl_queue_fill(queue, view, 0, 4, "\x63\0\0\0", 4, NULL));
	MUST(sycl_queue_fill(queue, again, sizeof(host) - 4, 4, "\x64\0\0\0", 4, NULL));
	/* A part of a view is one of the buffer; a view of a part is a part. */
	MUST(sycl_buffer_create_sub(view, 0, 8, &part));
	MUST(sycl_buffer_reinterpret(part, 2, sycl_range1(4), &of_part));
	REFUSED(sycl_buffer_create_sub(of_part, 0, 4, &none), SYCL_ERROR_INVALID);
	MUST(sycl_queue_fill(queue, of_part, 4, 4, "\x65\0\0\0", 4, NULL));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(again));
	MUST(sycl_buffer_release(view));
	cr_assert(eq(u32, host[0], 0), "a part still holds it");
	MUST(sycl_buffer_release(of_part));
	cr_assert(eq(u32, host[0], 99));
	cr_assert(eq(u32, host[1], 101));
	cr_assert(eq(u32, host[2], 2));
	cr_assert(eq(u32, host[23], 100));
}

Test(parts, C16_C17_parts_and_views_of_nothing)
{
	sycl_buffer empty = NULL, part = NULL, view = NULL, buffer = words_buffer(platform, 3),
		    nothing = NULL, more = NULL;
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_buffer_create(platform, NULL, 0, SYCL_HOST_NONE, &empty));
	MUST(sycl_buffer_create_sub(empty, 0, 0, &part));
	MUST(sycl_buffer_reinterpret(empty, 4, sycl_range3(7, 0, 1ull << 62), &view));
	MUST(sycl_buffer_create_sub(
		buffer, 4, 0,
		&nothing)); /* at an offset where no sub-buffer can begin on a device */
	MUST(sycl_buffer_reinterpret(nothing, 4, sycl_range1(0), &more));
	sycl_buffer all[] = {empty, part, view, more};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		sycl_event event = NULL;
		MUST(sycl_queue_fill(queue, all[i], 0, 0, "x", 1, &event));
		MUST(sycl_event_wait_for(event, LONG_NS));
		MUST(sycl_event_release(event));
		MUST(sycl_host_accessor_create(all[i], SYCL_ACCESS_READ_WRITE, &accessor));
		MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
		cr_assert(ne(ptr, pointer, NULL));
		MUST(sycl_host_accessor_release(accessor));
	}
	uint64_t id[3] = {0, 0, 0};
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_copy_elements(handler, view, id, view, id,
					sycl_range3(7, 0, 1ull << 62)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	MUST(sycl_buffer_release(more));
	MUST(sycl_buffer_release(nothing));
	MUST(sycl_buffer_release(view));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(empty));
	MUST(sycl_buffer_release(buffer));
}

static void increment_words(sycl_queue on, sycl_kernel increment, sycl_buffer part, uint32_t *model,
			    uint32_t count)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, part, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(count)));
	MUST(sycl_handler_submit(handler, NULL));
	for (uint32_t i = 0; i < count; i++)
		model[i]++;
}

/* On the host, each word is first compared with the model. */
static void add_on_host(sycl_buffer part, uint32_t *model, uint32_t count, int step)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(part, SYCL_ACCESS_READ_WRITE, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	for (uint32_t i = 0; i < count; i++) {
		cr_assert(eq(u32, ((uint32_t *)pointer)[i], model[i]), "step %d", step);
		((uint32_t *)pointer)[i] += 1000;
		model[i] += 1000;
	}
	MUST(sycl_host_accessor_release(accessor));
}

/* Several queues use one buffer by its parts in any order. A model in memory has the expected
 * contents. */
Test(parts, B25_C12_random_use_of_parts_equals_a_serial_model)
{
	enum { QUEUES = 3, CUTS = 6, STEPS = 150 };
	static uint32_t model[WORDS], got[WORDS];
	sycl_queue on[QUEUES];
	sycl_kernel increment[QUEUES];
	sycl_buffer buffer = words_buffer(platform, 0), parts[CUTS];
	static const uint64_t offsets[CUTS] = {0, 0, 1, 2, 1, 3},
			      lengths[CUTS] = {4, 1, 2, 2, 3, 1};
	uint32_t seed = 20240613;
	for (uint32_t i = 0; i < QUEUES; i++) {
		on[i] = portable_queue(platform, i, i == 1 ? SYCL_QUEUE_IN_ORDER : 0);
		increment[i] = portable_kernel(on[i], "increment_u32");
	}
	for (int i = 0; i < CUTS; i++)
		parts[i] = i == 0 ? buffer : sub(buffer, offsets[i] * PART, lengths[i] * PART);
	for (int step = 0; step < STEPS; step++) {
		seed = seed * 1664525u + 1013904223u;
		uint32_t q = (seed >> 8) % QUEUES, p = (seed >> 16) % CUTS, what = (seed >> 24) % 4;
		uint32_t first = (uint32_t)offsets[p] * PART_WORDS,
			 count = (uint32_t)lengths[p] * PART_WORDS;
		if (what == 0) {
			uint8_t bytes[4] = {(uint8_t)step, 1, 0, 0};
			MUST(sycl_queue_fill(on[q], parts[p], 0, count * 4ull, bytes, 4, NULL));
			for (uint32_t i = 0; i < count; i++)
				model[first + i] = 256u + (uint8_t)step;
		} else if (what == 1) {
			add_on_host(parts[p], model + first, count, step);
		} else {
			increment_words(on[q], increment[q], parts[p], model + first, count);
		}
	}
	MUST(sycl_queue_copy_to_host(on[0], buffer, 0, got, sizeof(got), NULL));
	MUST(sycl_queue_wait_for(on[0], LONG_NS));
	cr_assert_arr_eq(got, model, sizeof(got));
	for (uint32_t i = 0; i < QUEUES; i++) {
		MUST(sycl_kernel_release(increment[i]));
		MUST(sycl_queue_release(on[i]));
	}
	for (int i = 1; i < CUTS; i++)
		MUST(sycl_buffer_release(parts[i]));
	MUST(sycl_buffer_release(buffer));
}

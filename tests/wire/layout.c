/* Sizes and offsets of memory that two processes map. A change needs a new layout number, not other
 * figures here. */
#include "flight_page.h"
#include "share_page.h"
#include "protocol_limits.h"
#include "resubmit.h"
#include "ring_layout.h"
#include "trace_record.h"

#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(layout, .timeout = 10);

#define AT(type, member, offset, bytes)                                                            \
	do {                                                                                       \
		cr_assert(eq(sz, offsetof(struct type, member), (offset)), #type "." #member);     \
		cr_assert(eq(sz, sizeof(((struct type *)0)->member), (bytes)), #type "." #member); \
	} while (0)

Test(layout, of_the_ring_memory_s_header)
{
	cr_assert(eq(uint, RING_LAYOUT, 1));
	AT(ring_header, magic, 0, 8);
	AT(ring_header, layout, 8, 4);
	AT(ring_header, header_bytes, 12, 4);
	AT(ring_header, features, 16, 8);
	AT(ring_header, total_bytes, 24, 8);
	AT(ring_header, submit_offset, 32, 8);
	AT(ring_header, submit_bytes, 40, 8);
	AT(ring_header, reply_offset, 48, 8);
	AT(ring_header, reply_bytes, 56, 8);
	AT(ring_header, slots_offset, 64, 8);
	AT(ring_header, slot_count, 72, 8);
	AT(ring_header, limit_buffer_bytes, 80, 8);
	AT(ring_header, limit_source_bytes, 88, 8);
	AT(ring_header, limit_objects, 96, 4);
	AT(ring_header, limit_groups_in_flight, 100, 4);
	AT(ring_header, limit_arena_bytes, 104, 8);
	AT(ring_header, limit_arenas, 112, 4);
	AT(ring_header, reserved, 116, 12);
	AT(ring_header, submit_head, 128, 8);
	AT(ring_header, submit_tail, 192, 8);
	AT(ring_header, reply_head, 256, 8);
	AT(ring_header, reply_tail, 320, 8);
	AT(ring_header, engine_sleeps, 384, 4);
	AT(ring_header, client_spin_ns, 388, 4);
	AT(ring_header, client_sleeps, 448, 4);
	AT(ring_header, client_awaits, 456, 8);
	AT(ring_header, client_wants_room, 512, 4);
	AT(ring_header, engine_wants_room, 576, 4);
	cr_assert(eq(sz, sizeof(struct ring_header), 640));
}

Test(layout, of_a_record_and_of_a_slot)
{
	AT(ring_record, payload_bytes, 0, 4);
	AT(ring_record, kind, 4, 2);
	AT(ring_record, reserved, 6, 2);
	cr_assert(eq(sz, sizeof(struct ring_record), 8));
	AT(completion_slot, sequence, 0, 4);
	AT(completion_slot, status, 4, 4);
	cr_assert(eq(sz, sizeof(struct completion_slot), 8));
	cr_assert(eq(int, RING_RECORD_PAD, 0));
	cr_assert(eq(int, RING_RECORD_MESSAGE, 1));
	cr_assert(eq(int, RING_RECORD_RESUBMIT, 2));
}

Test(layout, of_a_group_that_comes_again_by_its_shape)
{
	AT(resubmit_record, shape, 0, 4);
	AT(resubmit_record, generation, 4, 4);
	AT(resubmit_record, group, 8, 8);
	AT(resubmit_record, flags, 16, 4);
	AT(resubmit_record, slot, 20, 4);
	AT(resubmit_record, slot_value, 24, 4);
	AT(resubmit_record, rest_bytes, 28, 4);
	AT(resubmit_event, queue, 0, 8);
	AT(resubmit_event, group, 8, 8);
	cr_assert(eq(sz, sizeof(struct resubmit_record), 32));
	cr_assert(eq(sz, sizeof(struct resubmit_event), 16));
	cr_assert(eq(uint, RESUBMIT_WANTS_SLOT, 1));
	cr_assert(eq(uint, RESUBMIT_HAS_EVENT, 2));
	cr_assert(eq(uint, FEATURE_RESUBMIT, 1));
	/* A client of an older service, or an older client of this one, depends on these. */
	cr_assert(eq(uint, SHAPES_MAX, 128));
	cr_assert(eq(uint, SHAPE_REQUIREMENTS_MAX, 16));
	cr_assert(eq(uint, SHAPE_EVENTS_MAX, 16));
	cr_assert(eq(uint, SHAPE_ARGUMENTS_MAX, 32));
	cr_assert(eq(uint, SHAPE_VALUE_BYTES_MAX, 1024));
}

Test(layout, of_the_pages_by_which_devices_are_divided)
{
	AT(share_grants, magic, 0, 8);
	AT(share_grants, layout, 8, 4);
	AT(share_grants, slot_count, 12, 4);
	AT(share_grants, watch, 16, 4);
	AT(share_grants, beat_ns, 24, 8);
	AT(share_grants, granted, 64, 128 * 4);
	AT(share_claim, used_ns, 0, 8);
	AT(share_claim, busy_ns, 8, 8);
	AT(share_claim, busy_since_ns, 16, 8);
	AT(share_claim, running, 24, 4);
	AT(share_claims, beat, 0, 8);
	AT(share_claims, devices, 8, 16);
	AT(share_claims, slots, 64, 128 * 32);
	uint64_t magic = SHARE_MAGIC;
	cr_assert(eq(int, memcmp(&magic, "syshares", 8), 0));
	cr_expect(eq(u32, share_slot(3, 31), SHARE_SLOTS - 1));
	cr_expect(eq(u32, share_slot(4, 0), SHARE_SLOTS));
	cr_expect(eq(u32, share_slot(0, 32), SHARE_SLOTS));
}

/* These are in the bytes of EngineTrace and TraceChunk. */
Test(layout, of_what_is_noted_of_a_command_group)
{
	cr_assert(eq(sz, sizeof(struct trace_record), 144));
	AT(trace_record, session, 0, 8);
	AT(trace_record, at_ns, 8, 8);
	AT(trace_record, start_ns, 16, 8);
	AT(trace_record, end_ns, 24, 8);
	AT(trace_record, takes_ns, 32, 8);
	AT(trace_record, shape, 40, 8);
	AT(trace_record, weight, 48, 2);
	AT(trace_record, session_class, 50, 1);
	AT(trace_record, lane, 51, 1);
	AT(trace_record, known, 52, 1);
	AT(trace_record, flags, 53, 1);
	AT(trace_record, after_count, 54, 1);
	AT(trace_record, launches, 55, 1);
	AT(trace_record, task, 56, 8);
	AT(trace_record, queue, 64, 8);
	AT(trace_record, group, 72, 8);
	AT(trace_record, sent_ns, 80, 8);
	AT(trace_record, after, 88, 24);
	AT(trace_record, what, 112, 32);
	cr_expect(eq(int, TRACE_MEASURED, 0));
	cr_expect(eq(int, TRACE_ESTIMATED, 1));
	cr_expect(eq(int, TRACE_SEEN, 2));
}

Test(layout, of_the_flight_page)
{
	cr_assert(eq(uint, FLIGHT_LAYOUT, 1));
	AT(flight_entry, session, 0, 8);
	AT(flight_entry, queue, 8, 8);
	AT(flight_entry, group, 16, 8);
	AT(flight_entry, what, 24, 40);
	AT(flight_fault, known, 0, 4);
	AT(flight_fault, backend, 4, 4);
	AT(flight_fault, native_code, 8, 4);
	AT(flight_fault, text, 12, 212);
	AT(flight_page, magic, 0, 8);
	AT(flight_page, layout, 8, 4);
	AT(flight_page, entry_count, 12, 4);
	AT(flight_page, more, 16, 8);
	AT(flight_page, fault, 24, 224);
	AT(flight_page, open_devices, 248, 8);
	AT(flight_page, entries, 256, 1020 * 64);
	cr_assert(eq(sz, sizeof(struct flight_page), 65536));
}

Test(layout, the_magic_numbers_are_words_in_memory)
{
	uint64_t ring = RING_MAGIC, flight = FLIGHT_MAGIC;
	cr_assert(eq(int, memcmp(&ring, "syclring", 8), 0));
	cr_assert(eq(int, memcmp(&flight, "syflight", 8), 0));
}

Test(layout, the_words_are_single_machine_words_without_a_lock)
{
	_Atomic uint64_t wide = 0;
	_Atomic uint32_t narrow = 0;
	cr_assert(atomic_is_lock_free(&wide));
	cr_assert(atomic_is_lock_free(&narrow));
}

Test(layout, sizes_that_both_sides_count_on)
{
	cr_assert(eq(uint, PROTOCOL_VERSION, 0x10000));
	cr_assert(eq(uint, PACKET_BYTES_MAX, 65536));
	cr_assert(eq(uint, PACKET_DESCRIPTORS_MAX, 8));
	cr_assert(eq(uint, SUBMIT_RING_BYTES & (SUBMIT_RING_BYTES - 1), 0));
	cr_assert(eq(uint, REPLY_RING_BYTES & (REPLY_RING_BYTES - 1), 0));
	/* A record of the largest size fits, whatever precedes it. */
	cr_assert(ge(uint, REPLY_RING_BYTES / 2, PACKET_BYTES_MAX + 8));
}

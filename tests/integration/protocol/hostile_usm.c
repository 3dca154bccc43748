/* USM of a client that sends wrong addresses: it can access no memory of the engine or of a
 * neighbour. */
#include "access_mode.h"
#include "fake_control.h"
#include "protocol/hostile_fixture.h"
#include "usm_window.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { ARENA = 1, FIRST = 20, PIECE = 65536, GATE = 3 };
#define PLACE       (USM_WINDOW_BEGIN + (1ull << 40))
#define PLACE_BYTES USM_PLACE_BYTES

/* Devices with USM that need host memory to be registered, as GPUs do. */
static void start_usm_with(const struct engine_options *options)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = FAKE_FEATURES_ALL});
	hostile_start_with_objects(options);
}

static void start_usm(void)
{
	start_usm_with(NULL);
}

static uint64_t usm_id(uint32_t index)
{
	return raw_id(OBJECT_USM, FIRST + index);
}

static Sycl__V1__UsmAllocate allocation(uint32_t index, uint32_t kind, uint64_t address,
					uint64_t size)
{
	Sycl__V1__UsmAllocate message = SYCL__V1__USM_ALLOCATE__INIT;
	message.allocation = usm_id(index);
	message.context = raw_id(OBJECT_CONTEXT, CONTEXT);
	message.device = device;
	message.kind = (Sycl__V1__UsmKind)kind;
	message.size_bytes = size;
	message.address = address;
	message.arena = ARENA;
	return message;
}

static uint64_t send_allocate(struct raw_client *client, Sycl__V1__UsmAllocate *message)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_USM_ALLOCATE;
	command.usm_allocate = message;
	return raw_send(client, &command);
}

/* Expects an allocation and returns its address. */
static uint64_t expect_allocated(struct raw_client *client, uint64_t number)
{
	const Sycl__V1__Reply *reply = raw_reply_to(client, number);
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", client->error_text);
	cr_assert(eq(ptr, reply->status, NULL), "%s", reply->status ? reply->status->text : "");
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_USM_ALLOCATED));
	return reply->usm_allocated->address;
}

static uint64_t allocate_accepted(uint32_t index, uint32_t kind, uint64_t address, uint64_t size)
{
	Sycl__V1__UsmAllocate message = allocation(index, kind, address, size);
	return expect_allocated(hostile, send_allocate(hostile, &message));
}

static void refuse(uint32_t index, uint32_t kind, uint64_t address, uint64_t size, int32_t code,
		   const char *words)
{
	Sycl__V1__UsmAllocate message = allocation(index, kind, address, size);
	hostile_expect_answer(send_allocate(hostile, &message), code, words);
}

static void hostile_usm_free_usm(uint64_t id)
{
	Sycl__V1__UsmFree message = SYCL__V1__USM_FREE__INIT;
	message.allocation = id;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_USM_FREE;
	command.usm_free = &message;
	(void)raw_send(hostile, &command);
}

static void expect_released(uint64_t id)
{
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", hostile->error_text);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_RELEASED));
	cr_assert(eq(u64, reply->released->object, id));
}

/* A command group is refused with this sentence. */
static void expect_group_refused(Sycl__V1__CommandGroup *group, uint64_t number, const char *words)
{
	(void)hostile_group(group, number);
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", hostile->error_text);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED),
		  "group %u: not refused", (unsigned)number);
	cr_assert(eq(i32, reply->status->code, STATUS_INVALID), "%s", reply->status->text);
	cr_assert(ne(ptr, strstr(reply->status->text, words), NULL), "said: %s",
		  reply->status->text);
}

static void expect_group_done(Sycl__V1__CommandGroup *group, uint64_t number)
{
	(void)hostile_group(group, number);
	(void)raw_wait_slot(hostile, 0, (uint32_t)number);
}

Test(hostile, usm_arenas_lie_where_nothing_of_the_engine_does)
{
	static const uint64_t wrong[] = {
		4096,
		0x10000,
		USM_WINDOW_BEGIN - USM_PLACE_BYTES,
		USM_WINDOW_END,
		UINT64_MAX - 4095,
		USM_WINDOW_BEGIN + 4096,
		0x7f0000000000ull,
		1,
	};
	start_usm();
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		raw_arena_at(hostile, ARENA, PLACE_BYTES, wrong[i]);
		cr_assert(eq(i32, hostile->grant_code, STATUS_INVALID), "%llx",
			  (unsigned long long)wrong[i]);
	}
	/* The engine itself uses these addresses: they are in its stack and its code. */
	raw_arena_at(hostile, ARENA, PLACE_BYTES, (uintptr_t)&fixture & ~(USM_PLACE_BYTES - 1));
	cr_assert(eq(i32, hostile->grant_code, STATUS_INVALID));
	/* Beyond the window's end. */
	raw_arena_at(hostile, ARENA, 2 * PLACE_BYTES, USM_WINDOW_END - PLACE_BYTES);
	cr_assert(eq(i32, hostile->grant_code, STATUS_INVALID));
	hostile_expect_alive();
}

Test(hostile, two_usm_arenas_are_never_at_one_place)
{
	start_usm();
	raw_arena_at(hostile, ARENA, 2 * PLACE_BYTES, PLACE);
	cr_assert(eq(i32, hostile->grant_code, STATUS_SUCCESS));
	memset(hostile->arenas[ARENA]->address, 0x5a, PLACE_BYTES);
	raw_arena_at(hostile, ARENA + 1, PLACE_BYTES, PLACE);
	cr_assert(eq(i32, hostile->grant_code, STATUS_INVALID));
	raw_arena_at(hostile, ARENA + 1, PLACE_BYTES, PLACE + PLACE_BYTES);
	cr_assert(eq(i32, hostile->grant_code, STATUS_INVALID));
	/* Nor can it have a neighbour's address. */
	raw_arena_at(&fixture.clients[1], 3, PLACE_BYTES, PLACE);
	cr_assert(eq(i32, fixture.clients[1].grant_code, STATUS_INVALID));
	/* The allocation is at the requested address, with the bytes that the client has
	 * written. */
	cr_assert(eq(u8, *(const uint8_t *)(uintptr_t)PLACE, 0x5a));
	raw_arena_at(hostile, ARENA + 1, PLACE_BYTES, PLACE + 2 * PLACE_BYTES);
	cr_assert(eq(i32, hostile->grant_code, STATUS_SUCCESS));
	hostile_expect_alive();
}

Test(hostile, usm_arenas_count_to_the_limits)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.arena_bytes = 65536 + PLACE_BYTES;
	options.limits.buffer_bytes = 4096 + PIECE;
	start_usm_with(&options);
	raw_arena_at(hostile, ARENA, 2 * PLACE_BYTES, PLACE);
	cr_assert(eq(i32, hostile->grant_code, STATUS_QUOTA));
	raw_arena_at(hostile, ARENA, PLACE_BYTES, PLACE);
	cr_assert(eq(i32, hostile->grant_code, STATUS_SUCCESS));
	/* Buffers and USM share one limit. */
	refuse(0, 2, PLACE, PIECE + 1, STATUS_QUOTA, "together");
	refuse(1, 1, 0, PIECE + 1, STATUS_QUOTA, "together");
	refuse(2, 1, 0, UINT64_MAX, STATUS_QUOTA, "together");
	(void)allocate_accepted(3, 2, PLACE, PIECE);
	refuse(4, 1, 0, 1, STATUS_QUOTA, "together");
	hostile_usm_free_usm(usm_id(3));
	expect_released(usm_id(3));
	(void)allocate_accepted(5, 1, 0, PIECE);
	hostile_expect_alive();
}

Test(hostile, usm_that_cannot_be_is_refused)
{
	start_usm();
	raw_arena_at(hostile, ARENA, PLACE_BYTES, PLACE);
	refuse(0, 0, 0, PIECE, STATUS_INVALID, "no kind");
	refuse(1, 4, 0, PIECE, STATUS_INVALID, "no kind");
	refuse(2, 1, 0, 0, STATUS_INVALID, "at least one byte");
	refuse(3, 1, PLACE, PIECE, STATUS_INVALID, "cannot choose the address");
	refuse(4, 2, PLACE - 1, PIECE, STATUS_INVALID, "not inside");
	refuse(5, 2, PLACE + PLACE_BYTES - 10, 11, STATUS_INVALID, "not inside");
	refuse(6, 3, UINT64_MAX - 10, 11, STATUS_INVALID, "not inside");
	refuse(7, 3, 0x1000, 4096, STATUS_INVALID, "not inside");
	Sycl__V1__UsmAllocate message = allocation(8, 2, PLACE, PIECE);
	message.arena = 0; /* a plain one */
	hostile_expect_answer(send_allocate(hostile, &message), STATUS_INVALID,
			      "no arena 0 for USM");
	message = allocation(9, 2, PLACE, PIECE);
	message.arena = UINT32_MAX;
	hostile_expect_answer(send_allocate(hostile, &message), STATUS_INVALID, "no arena");
	message = allocation(10, 2, PLACE, PIECE);
	message.alignment_bytes = 3;
	hostile_expect_answer(send_allocate(hostile, &message), STATUS_INVALID, "aligned");
	message = allocation(11, 2, PLACE + 64, PIECE);
	message.alignment_bytes = 128;
	hostile_expect_answer(send_allocate(hostile, &message), STATUS_INVALID, "not a multiple");
	message = allocation(12, 1, 0, PIECE);
	message.device = 4711;
	hostile_expect_answer(send_allocate(hostile, &message), STATUS_INVALID,
			      "not one of the context");
	/* Two that overlap. */
	(void)allocate_accepted(13, 2, PLACE + 4096, PIECE);
	refuse(14, 3, PLACE + 4096 + PIECE - 1, 10, STATUS_INVALID, "overlap");
	refuse(15, 3, PLACE, 4097, STATUS_INVALID, "overlap");
	(void)allocate_accepted(16, 3, PLACE, 4096);
	hostile_expect_alive();
}

Test(hostile, usm_needs_a_context_that_is_there)
{
	start_usm();
	Sycl__V1__UsmAllocate message = allocation(0, 1, 0, PIECE);
	message.context = raw_id(OBJECT_CONTEXT, 999);
	(void)send_allocate(hostile, &message);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no context");
}

Test(hostile, usm_is_freed_once_and_by_its_id)
{
	start_usm();
	(void)allocate_accepted(0, 1, 0, PIECE);
	hostile_usm_free_usm(usm_id(0));
	expect_released(usm_id(0));
	hostile_usm_free_usm(usm_id(0));
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no USM");
}

Test(hostile, what_is_no_usm_is_not_freed_so)
{
	start_usm();
	hostile_usm_free_usm(hostile_buffer());
	hostile_expect_closed(STATUS_CONNECTION_LOST, "no USM allocation's id");
}

static void copy_group(Sycl__V1__CommandGroup *group, Sycl__V1__UsmCopy *copy, uint64_t to,
		       uint64_t from, uint64_t size)
{
	sycl__v1__command_group__init(group);
	sycl__v1__usm_copy__init(copy);
	copy->destination = to;
	copy->source = from;
	copy->size_bytes = size;
	group->action_case = SYCL__V1__COMMAND_GROUP__ACTION_USM_COPY;
	group->usm_copy = copy;
}

/* Ends of copies in arenas: at most one, inside of the arena, and not together with an address. */
static void refuse_arena_ends(uint64_t host, uint64_t *number)
{
	Sycl__V1__CommandGroup group;
	Sycl__V1__UsmCopy copy;
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT,
			     beyond = SYCL__V1__ARENA_RANGE__INIT;
	range.offset_bytes = 8192;
	range.size_bytes = 4096;
	beyond.offset_bytes = 65536 - 16;
	beyond.size_bytes = 4096;
	copy_group(&group, &copy, 0, 0, 64);
	copy.destination_arena = copy.source_arena = &range;
	expect_group_refused(&group, ++*number, "neither end");
	copy_group(&group, &copy, host, host, 64);
	copy.source_arena = &range;
	expect_group_refused(&group, ++*number, "both an address and");
	copy_group(&group, &copy, host, 0, 64);
	copy.source_arena = &beyond;
	expect_group_refused(&group, ++*number, "not inside arena");
	copy_group(&group, &copy, host, 0, 4097);
	copy.source_arena = &range;
	expect_group_refused(&group, ++*number, "cannot hold");
}

static void refuse_fills(uint64_t on_device, uint64_t elsewhere, uint64_t *number)
{
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__UsmFill fill = SYCL__V1__USM_FILL__INIT;
	uint8_t byte = 1;
	fill.address = on_device;
	fill.size_bytes = PIECE + 1;
	fill.pattern = (ProtobufCBinaryData){1, &byte};
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_USM_FILL;
	group.usm_fill = &fill;
	expect_group_refused(&group, ++*number, "not inside any USM");
	fill.size_bytes = 16;
	fill.pattern.len = 0;
	expect_group_refused(&group, ++*number, "1 to 128 bytes");
	fill.pattern.len = 1;
	fill.address = elsewhere;
	expect_group_refused(&group, ++*number, "not inside any USM");
	fill.address = on_device;
	expect_group_done(&group, ++*number);
}

Test(hostile, E22_B27_addresses_are_inside_of_ones_own_usm)
{
	static char engine_memory[256] = "of the engine";
	Sycl__V1__CommandGroup group;
	Sycl__V1__UsmCopy copy;
	uint64_t number = 0;
	start_usm();
	raw_arena_at(hostile, ARENA, PLACE_BYTES, PLACE);
	uint64_t host = allocate_accepted(0, 2, PLACE, PIECE),
		 on_device = allocate_accepted(1, 1, 0, PIECE);
	uint64_t gone = allocate_accepted(2, 1, 0, PIECE);
	hostile_usm_free_usm(usm_id(2));
	expect_released(usm_id(2));
	/* An existing allocation of the neighbour. */
	Sycl__V1__UsmAllocate theirs = allocation(0, 1, 0, PIECE);
	theirs.context = raw_id(OBJECT_CONTEXT, 0);
	uint64_t foreign =
		expect_allocated(&fixture.clients[1], send_allocate(&fixture.clients[1], &theirs));
	const uint64_t wrong[][3] = {
		{host, (uintptr_t)engine_memory, 16},
		{(uintptr_t)engine_memory, host, 16},
		{host, gone, 16},
		{gone, host, 16},
		{host, foreign, 16},
		{foreign, on_device, 16},
		{host, on_device, PIECE + 1},
		{host + 1, on_device, PIECE},
		{host, on_device + PIECE, 1},
		{host, host - 1, 1},
		{0, host, 1},
		{host, 0, 1},
		{on_device, host, UINT64_MAX},
		{host, UINT64_MAX, 2},
		{PLACE + PIECE, host, 64},
	};
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		copy_group(&group, &copy, wrong[i][0], wrong[i][1], wrong[i][2]);
		expect_group_refused(&group, ++number, "not inside any USM");
	}
	copy_group(&group, &copy, host, host + 8, 16);
	expect_group_refused(&group, ++number, "overlap");
	refuse_arena_ends(host, &number);
	refuse_fills(on_device, (uintptr_t)engine_memory, &number);
	cr_assert(eq(str, engine_memory, (char *)"of the engine"));
	hostile_expect_alive();
}

Test(hostile, G2_G3_hints_are_for_shared_usm)
{
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__UsmAdvise advise = SYCL__V1__USM_ADVISE__INIT;
	Sycl__V1__UsmRange range = SYCL__V1__USM_RANGE__INIT;
	uint64_t number = 0;
	start_usm();
	raw_arena_at(hostile, ARENA, PLACE_BYTES, PLACE);
	const uint64_t places[] = {0, allocate_accepted(0, 1, 0, PIECE),
				   allocate_accepted(1, 2, PLACE, PIECE),
				   allocate_accepted(2, 3, PLACE + PIECE, PIECE)};
	for (uint32_t kind = 1; kind <= 3; kind++) {
		group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_USM_ADVISE;
		group.usm_advise = &advise;
		advise.address = places[kind];
		advise.size_bytes = PIECE;
		for (uint32_t advice = 1; advice <= 10; advice++) {
			advise.advice = advice;
			if (kind == 3)
				expect_group_done(&group, ++number);
			else
				expect_group_refused(&group, ++number, "for shared USM only");
		}
		static const uint32_t others[] = {0, 11, UINT32_MAX};
		for (uint32_t i = 0; i < 3; i++) {
			advise.advice = others[i];
			expect_group_refused(&group, ++number, "no memory advice");
		}
		advise.advice = 1;
		advise.size_bytes = PIECE + 1;
		expect_group_refused(&group, ++number, "not inside any USM");
		group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_USM_PREFETCH;
		group.usm_prefetch = &range;
		range.address = places[kind];
		range.size_bytes = PIECE;
		if (kind == 3)
			expect_group_done(&group, ++number);
		else
			expect_group_refused(&group, ++number, "for shared USM only");
	}
	hostile_expect_alive();
}

/* Submits a group that does not end yet: a host accessor holds the buffer that it needs. */
static void hold_group(uint64_t number)
{
	(void)hostile_fill(number);
}

Test(hostile, a_free_waits_for_the_groups_before_it_alone)
{
	uint64_t accessor = raw_id(OBJECT_HOST_ACCESSOR, 10);
	struct fake_counters counters;
	start_usm();
	raw_arena_at(hostile, ARENA, PLACE_BYTES, PLACE);
	(void)allocate_accepted(0, 1, 0, PIECE);
	(void)allocate_accepted(1, 2, PLACE, PIECE);
	(void)hostile_access(accessor, hostile_buffer(), 7, 1);
	(void)raw_wait_slot(hostile, 7, 1);
	hold_group(1);
	hostile_usm_free_usm(usm_id(0));
	hostile_usm_free_usm(usm_id(1));
	raw_round_trip(hostile);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u32, counters.usms, 1));
	/* Meanwhile that part of the arena is not allocated again. */
	refuse(2, 2, PLACE, 64, STATUS_INVALID, "overlap");
	/* Another allocation that no group uses waits as well: the engine cannot determine which
	 * memory kernels access. */
	(void)allocate_accepted(3, 1, 0, PIECE);
	hostile_usm_free_usm(usm_id(3));
	raw_round_trip(hostile);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u32, counters.usms, 2));
	(void)raw_release(hostile, accessor);
	/* The accessor is released, and then those three. */
	uint64_t released = 0;
	for (uint32_t i = 0; i < 4; i++) {
		const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
		cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_RELEASED));
		released += object_id_type(reply->released->object) == OBJECT_USM;
	}
	cr_assert(eq(u64, released, 3));
	(void)allocate_accepted(4, 2, PLACE, PIECE);
	hostile_expect_alive();
}

Test(hostile, an_arena_with_usm_stays)
{
	Sycl__V1__ArenaDestroy destroy = SYCL__V1__ARENA_DESTROY__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	start_usm();
	raw_arena_at(hostile, ARENA, PLACE_BYTES, PLACE);
	(void)allocate_accepted(0, 3, PLACE, 64);
	destroy.arena = ARENA;
	command.body_case = SYCL__V1__COMMAND__BODY_ARENA_DESTROY;
	command.arena_destroy = &destroy;
	hostile_expect_answer(raw_send(hostile, &command), STATUS_INVALID, "in use");
	hostile_usm_free_usm(usm_id(0));
	expect_released(usm_id(0));
	(void)raw_send(hostile, &command);
	raw_round_trip(hostile);
	/* Its place is free again once the devices have released it. */
	do {
		raw_arena_at(hostile, ARENA, PLACE_BYTES, PLACE);
	} while (hostile->grant_code == STATUS_INVALID);
	cr_assert(eq(i32, hostile->grant_code, STATUS_SUCCESS));
	hostile_expect_alive();
}

/* A client may send a kernel as soon as it has the answer. So the answer is sent when all devices
 * have the memory. */
Test(hostile, usm_is_answered_when_it_is_registered)
{
	start_usm();
	(void)allocate_accepted(9, 1, 0, 64); /* the device is open */
	raw_arena(hostile, 2, 4096);
	fake_load_gate_close(0);
	raw_arena_at(hostile, ARENA, PLACE_BYTES, PLACE);
	Sycl__V1__UsmAllocate message = allocation(0, 2, PLACE, PIECE);
	uint64_t number = send_allocate(hostile, &message);
	raw_round_trip(hostile);
	cr_assert(fake_wait_loading(0, 1, 60000000000ull));
	raw_round_trip(hostile);
	/* It may be released before it is answered. */
	Sycl__V1__UsmAllocate second = allocation(1, 3, PLACE + PIECE, PIECE);
	uint64_t second_number = send_allocate(hostile, &second);
	hostile_usm_free_usm(usm_id(1));
	raw_round_trip(hostile);
	fake_load_gate_open(0);
	cr_assert(eq(u64, expect_allocated(hostile, number), PLACE));
	(void)second_number;
	hostile_expect_alive();
}

Test(hostile, memory_that_cannot_be_registered_is_no_usm)
{
	start_usm();
	(void)allocate_accepted(9, 1, 0, 64);
	cr_assert(eq(int,
		     fake_fail(FAKE_HOST_REGISTER, 0, 0, 2, STATUS_MEMORY_ALLOCATION, false,
			       "pinned enough"),
		     0));
	raw_arena_at(hostile, ARENA, PLACE_BYTES, PLACE);
	refuse(0, 2, PLACE, PIECE, STATUS_MEMORY_ALLOCATION, "pinned enough");
	Sycl__V1__UsmAllocate message;
	const Sycl__V1__Reply *reply;
	uint32_t index = 1;
	/* One of the two failures may belong to the arena itself. */
	do {
		message = allocation(index++, 2, PLACE, PIECE);
		reply = raw_reply_to(hostile, send_allocate(hostile, &message));
	} while (reply->status && index < 4);
	cr_assert(eq(ptr, reply->status, NULL), "%s", reply->status ? reply->status->text : "");
	hostile_expect_alive();
}

Test(hostile, a_session_ends_with_its_usm_in_use)
{
	struct fake_counters counters;
	start_usm();
	raw_arena_at(hostile, ARENA, PLACE_BYTES, PLACE);
	(void)allocate_accepted(0, 1, 0, PIECE);
	(void)allocate_accepted(1, 2, PLACE, PIECE);
	uint64_t on_device = allocate_accepted(2, 1, 0, PIECE);
	fake_device_gate_close(0);
	Sycl__V1__CommandGroup group;
	Sycl__V1__UsmCopy copy;
	copy_group(&group, &copy, PLACE, on_device, PIECE);
	(void)hostile_group(&group, 1);
	raw_round_trip(hostile);
	raw_fini(hostile);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u32, counters.usms, 2));
	fake_device_gate_open(0);
	fixture_wait_gone(&fixture);
	neighbour_check(&neighbour);
	raw_init(hostile, -1);
	fixture_stop(&fixture);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u32, counters.usms, 0));
	cr_assert(eq(u32, counters.hosts, 0));
}

enum { BUNDLE = 40 };

/* Starts with a program that has a variable; `is_object`: it must still be linked. */
static void start_with_program(bool is_object)
{
	static const char source[] = "variable table 64\nfill_u32\n";
	Sycl__V1__BundleBuild message = SYCL__V1__BUNDLE_BUILD__INIT;
	hostile_have_builds();
	start_usm();
	message.bundle = raw_id(OBJECT_BUNDLE, BUNDLE);
	message.context = raw_id(OBJECT_CONTEXT, CONTEXT);
	message.device = device;
	message.kind = is_object ? SYCL__V1__SOURCE_KIND__SOURCE_KIND_OPENCL_C
				 : SYCL__V1__SOURCE_KIND__SOURCE_KIND_PORTABLE;
	message.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE;
	message.inline_source.data = (uint8_t *)(uintptr_t)source;
	message.inline_source.len = sizeof(source) - 1;
	message.compile_only = is_object;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUNDLE_BUILD;
	command.bundle_build = &message;
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, raw_send(hostile, &command));
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", hostile->error_text);
	cr_assert(eq(ptr, reply->status, NULL), "%s", reply->status ? reply->status->text : "");
}

static void start_with_variables(void)
{
	start_with_program(false);
}

static Sycl__V1__UsmAllocate variable(uint32_t index, const char *name)
{
	Sycl__V1__UsmAllocate message = allocation(index, 1, 0, 0);
	message.bundle = raw_id(OBJECT_BUNDLE, BUNDLE);
	message.variable = (char *)(uintptr_t)name;
	return message;
}

Test(hostile, R1_variables_that_cannot_be_are_refused)
{
	char long_name[300];
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	start_with_variables();
	const char *const wrong[] = {"", long_name, "none", "fill_u32"};
	const char *const words[] = {"1 to 255 bytes", "1 to 255 bytes", "no variable 'none'",
				     "no variable"};
	for (uint32_t i = 0; i < 4; i++) {
		Sycl__V1__UsmAllocate message = variable(i, wrong[i]);
		hostile_expect_answer(send_allocate(hostile, &message), STATUS_INVALID, words[i]);
	}
	Sycl__V1__UsmAllocate message = variable(4, "table");
	message.kind = SYCL__V1__USM_KIND__USM_KIND_SHARED;
	hostile_expect_answer(send_allocate(hostile, &message), STATUS_INVALID,
			      "that its program declares");
	message = variable(5, "table");
	message.size_bytes = 1ull << 40;
	hostile_expect_answer(send_allocate(hostile, &message), STATUS_INVALID,
			      "that its program declares");
	message = variable(6, "table");
	message.address = PLACE;
	hostile_expect_answer(send_allocate(hostile, &message), STATUS_INVALID,
			      "that its program declares");
	message = variable(7, "table");
	(void)expect_allocated(hostile, send_allocate(hostile, &message));
	message = variable(8, "table");
	hostile_expect_answer(send_allocate(hostile, &message), STATUS_INVALID,
			      "given out already");
	hostile_usm_free_usm(usm_id(7));
	expect_released(usm_id(7));
	message = variable(9, "table");
	(void)expect_allocated(hostile, send_allocate(hostile, &message));
	hostile_expect_alive();
}

Test(hostile, R1_a_variable_needs_a_bundle_that_is_there)
{
	start_usm();
	Sycl__V1__UsmAllocate message = variable(0, "table");
	(void)send_allocate(hostile, &message);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no");
}

Test(hostile, R1_a_variable_needs_a_program_that_is_linked)
{
	start_with_program(true);
	Sycl__V1__UsmAllocate message = variable(0, "table");
	hostile_expect_answer(send_allocate(hostile, &message), STATUS_INVALID,
			      "not built and linked yet");
	hostile_expect_alive();
}

/* No part of a program is freed while commands in flight may use its variable. */
Test(hostile, R1_a_variable_holds_its_program)
{
	uint64_t accessor = raw_id(OBJECT_HOST_ACCESSOR, 10);
	struct fake_counters counters;
	start_with_variables();
	Sycl__V1__UsmAllocate message = variable(0, "table");
	const uint64_t place = expect_allocated(hostile, send_allocate(hostile, &message));
	(void)hostile_access(accessor, hostile_buffer(), 7, 1);
	(void)raw_wait_slot(hostile, 7, 1);
	hold_group(1);
	(void)raw_release(hostile, raw_id(OBJECT_BUNDLE, BUNDLE));
	hostile_usm_free_usm(usm_id(0));
	raw_round_trip(hostile);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u32, counters.usms, 1));
	memset((void *)(uintptr_t)place, 1,
	       64); /* a sanitizer reports it if the memory was freed */
	(void)raw_release(hostile, accessor);
	for (uint32_t i = 0; i < 3; i++) {
		const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
		cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_RELEASED));
	}
	hostile_expect_alive();
}

/* Freed memory belongs to no allocation, and neither does the memory beside the variable in the
 * program. */
Test(hostile, R1_addresses_outside_of_a_variable_are_refused)
{
	Sycl__V1__CommandGroup group;
	Sycl__V1__UsmCopy message_copy;
	start_with_variables();
	Sycl__V1__UsmAllocate message = variable(0, "table");
	const uint64_t place = expect_allocated(hostile, send_allocate(hostile, &message));
	copy_group(&group, &message_copy, place + 32, place, 33);
	expect_group_refused(&group, 1, "not inside any USM");
	copy_group(&group, &message_copy, place + 32, place, 32);
	expect_group_done(&group, 2);
	hostile_usm_free_usm(usm_id(0));
	expect_released(usm_id(0));
	copy_group(&group, &message_copy, place + 32, place, 32);
	expect_group_refused(&group, 3, "not inside any USM");
	hostile_expect_alive();
}

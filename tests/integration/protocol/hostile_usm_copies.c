/* Copies between a buffer and an address that a client claims to be its own host memory. */
#include "access_mode.h"
#include "clock.h"
#include "fake_control.h"
#include "protocol/hostile_fixture.h"
#include "usm_window.h"

#include <string.h>

enum { ARENA = 1, FIRST = 20, PIECE = 4096, EVENT_SLOT = 2 };
#define PLACE       (USM_WINDOW_BEGIN + (2ull << 40))
#define PATIENCE_NS 30000000000ull
#define FEATURES    (FEATURE_RESUBMIT | FEATURE_GRAPHS | FEATURE_USM_ENDS)

static void hostile_usm_copies_start(uint64_t features)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = FAKE_FEATURES_ALL});
	hostile_start(NULL);
	hostile->features = features;
	raw_open(hostile);
	device = raw_fake_device(hostile);
	raw_arena(hostile, 0, 65536);
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(hostile, hostile_queue(), raw_id(OBJECT_CONTEXT, CONTEXT), device, 0,
			false);
	(void)raw_buffer(hostile, hostile_buffer(), 0, 0, PIECE);
	raw_round_trip(hostile);
	raw_arena_at(hostile, ARENA, USM_PLACE_BYTES, PLACE);
}

static uint64_t allocate(uint32_t index, uint32_t kind, uint64_t address)
{
	Sycl__V1__UsmAllocate message = SYCL__V1__USM_ALLOCATE__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	message.allocation = raw_id(OBJECT_USM, FIRST + index);
	message.context = raw_id(OBJECT_CONTEXT, CONTEXT);
	message.device = device;
	message.kind = (Sycl__V1__UsmKind)kind;
	message.size_bytes = PIECE;
	message.address = address;
	message.arena = ARENA;
	command.body_case = SYCL__V1__COMMAND__BODY_USM_ALLOCATE;
	command.usm_allocate = &message;
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, raw_send(hostile, &command));
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", hostile->error_text);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_USM_ALLOCATED));
	return reply->usm_allocated->address;
}

static void hostile_usm_copies_free_usm(uint32_t index)
{
	Sycl__V1__UsmFree message = SYCL__V1__USM_FREE__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	message.allocation = raw_id(OBJECT_USM, FIRST + index);
	command.body_case = SYCL__V1__COMMAND__BODY_USM_FREE;
	command.usm_free = &message;
	(void)raw_send(hostile, &command);
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", hostile->error_text);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_RELEASED));
}

/* Between the buffer and an address. */
struct copy {
	Sycl__V1__CommandGroup group;
	Sycl__V1__Requirement requirement, *list[1];
	Sycl__V1__Copy copy;
	Sycl__V1__MemoryEnd buffer, usm;
	Sycl__V1__Box box;
};

static void make_copy(struct copy *copy, uint64_t address, uint64_t bytes, bool to_buffer)
{
	sycl__v1__command_group__init(&copy->group);
	sycl__v1__requirement__init(&copy->requirement);
	sycl__v1__copy__init(&copy->copy);
	sycl__v1__memory_end__init(&copy->buffer);
	sycl__v1__memory_end__init(&copy->usm);
	sycl__v1__box__init(&copy->box);
	copy->requirement.buffer = hostile_buffer();
	copy->requirement.mode = to_buffer ? ACCESS_MODE_WRITE_NO_INIT : ACCESS_MODE_READ;
	copy->list[0] = &copy->requirement;
	copy->buffer.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	copy->usm.place_case = SYCL__V1__MEMORY_END__PLACE_USM_ADDRESS;
	copy->usm.usm_address = address;
	copy->copy.source = to_buffer ? &copy->usm : &copy->buffer;
	copy->copy.destination = to_buffer ? &copy->buffer : &copy->usm;
	copy->copy.size_bytes = bytes;
	copy->group.n_requirements = 1;
	copy->group.requirements = copy->list;
	copy->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	copy->group.copy = &copy->copy;
}

static void hostile_usm_copies_expect_refused(struct copy *copy, uint64_t number, const char *words)
{
	(void)hostile_group(&copy->group, number);
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", hostile->error_text);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED),
		  "group %u: not refused", (unsigned)number);
	cr_assert(eq(i32, reply->status->code, STATUS_INVALID), "%s", reply->status->text);
	cr_assert(ne(ptr, strstr(reply->status->text, words), NULL), "said: %s",
		  reply->status->text);
}

static void refuse_both_ways(uint64_t address, uint64_t bytes, uint64_t *number, const char *words)
{
	struct copy copy;
	make_copy(&copy, address, bytes, true);
	hostile_usm_copies_expect_refused(&copy, ++*number, words);
	make_copy(&copy, address, bytes, false);
	hostile_usm_copies_expect_refused(&copy, ++*number, words);
}

Test(hostile, E22_D20_an_end_of_a_copy_is_inside_of_ones_own_host_memory)
{
	static char engine_memory[PIECE] = "of the engine";
	struct copy copy;
	uint64_t number = 0;
	hostile_usm_copies_start(FEATURES);
	uint64_t host = allocate(0, 2, PLACE), gone = allocate(1, 3, PLACE + PIECE),
		 on_device = allocate(2, 1, 0);
	hostile_usm_copies_free_usm(1);
	const uint64_t wrong[][2] = {
		{(uintptr_t)engine_memory, 16},
		{0, 16},
		{host - 1, 16},
		{host + 1, PIECE},
		{host + PIECE, 1},
		{gone, 16},
		{UINT64_MAX, 2},
		{UINT64_MAX - 15, 16},
	};
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		refuse_both_ways(wrong[i][0], wrong[i][1], &number, "not inside any USM");
	refuse_both_ways(on_device, 16, &number, "not memory of the host");
	make_copy(&copy, host, 16, true);
	copy.usm.offset_bytes = 1;
	hostile_usm_copies_expect_refused(&copy, ++number, "belongs to a buffer");
	/* The gaps of a box are checked, too. */
	make_copy(&copy, host, 0, true);
	copy.box.width_bytes = copy.box.destination_row_pitch = 8;
	copy.box.rows = 2;
	copy.box.slices = 1;
	copy.box.source_row_pitch = PIECE;
	copy.box.source_slice_pitch = 2 * PIECE;
	copy.box.destination_slice_pitch = 16;
	copy.copy.box = &copy.box;
	hostile_usm_copies_expect_refused(&copy, ++number, "not inside any USM");
	make_copy(&copy, host, 16, true);
	copy.copy.destination = &copy.usm;
	hostile_usm_copies_expect_refused(&copy, ++number, "neither end");
	make_copy(&copy, host, PIECE, true);
	(void)hostile_group(&copy.group, ++number);
	cr_assert(eq(u32, raw_wait_slot(hostile, 0, (uint32_t)number), 1),
		  "groups have failed before it");
	cr_assert(eq(str, engine_memory, (char *)"of the engine"));
	hostile_expect_alive();
}

Test(hostile, an_address_as_an_end_of_a_copy_must_be_agreed_on)
{
	struct copy copy;
	hostile_usm_copies_start(FEATURE_RESUBMIT);
	make_copy(&copy, allocate(0, 2, PLACE), 16, true);
	(void)hostile_group(&copy.group, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "did not agree on");
}

Test(hostile, a_copy_as_a_shape_must_be_agreed_on)
{
	struct copy copy;
	hostile_usm_copies_start(FEATURE_RESUBMIT);
	make_copy(&copy, PLACE, 16, true);
	copy.group.shape = copy.group.shape_generation = 1;
	(void)hostile_group(&copy.group, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "did not agree on");
}

static uint32_t hostile_usm_copies_launch_graph(uint64_t graph, uint64_t number)
{
	Sycl__V1__GraphLaunch message = SYCL__V1__GRAPH_LAUNCH__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	message.graph = graph;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &message;
	group.wants_slot = true;
	group.slot = EVENT_SLOT;
	group.slot_value = (uint32_t)number;
	(void)hostile_group(&group, number);
	return raw_wait_slot(hostile, EVENT_SLOT, (uint32_t)number);
}

static void hostile_usm_copies_destroy_arena(void)
{
	Sycl__V1__ArenaDestroy destroy = SYCL__V1__ARENA_DESTROY__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	destroy.arena = ARENA;
	command.body_case = SYCL__V1__COMMAND__BODY_ARENA_DESTROY;
	command.arena_destroy = &destroy;
	(void)raw_send(hostile, &command);
	raw_round_trip(hostile);
}

Test(hostile, L17_D20_usm_that_a_graph_copies_from_goes_behind_the_graph)
{
	const uint64_t graph = raw_id(OBJECT_GRAPH, FIRST + 5);
	struct copy copy;
	hostile_usm_copies_start(FEATURES);
	make_copy(&copy, allocate(0, 2, PLACE), PIECE, true);
	(void)raw_graph(hostile, graph, raw_id(OBJECT_CONTEXT, CONTEXT), device, 1);
	(void)raw_graph_node(hostile, graph, &copy.group, NULL, 0);
	(void)raw_graph_finish(hostile, graph);
	for (uint64_t number = 1; number <= 3; number++)
		cr_assert(eq(u32, hostile_usm_copies_launch_graph(graph, number), 0));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 3));
	const uint32_t hosts = fake_counters_of(FAKE_ANY_DEVICE).hosts;
	hostile_usm_copies_free_usm(0);
	cr_assert(eq(u32, hostile_usm_copies_launch_graph(graph, 4), 1),
		  "it copied from freed memory");
	hostile_usm_copies_destroy_arena();
	uint64_t deadline = clock_deadline_ns(PATIENCE_NS);
	while (fake_counters_of(FAKE_ANY_DEVICE).hosts >= hosts) {
		cr_assert(lt(u64, clock_now_ns(), deadline), "the arena stays pinned");
		raw_round_trip(hostile);
	}
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_misuses, 0),
		  "the graph was there when its memory was not any more");
	hostile_expect_alive();
}

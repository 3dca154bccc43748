/* Command groups through a session, on fake devices: what is refused, what waits, what is told, in which order. */
#include "access_mode.h"
#include "cleanup.h"
#include "engine_fixture.h"
#include "fake_control.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <unistd.h>

TestSuite(groups, .timeout = 60);

enum { CONTEXT = 0, QUEUE = 1, ORDERED = 2, BUFFER = 3, OTHER = 4, BUNDLE = 5, FIRST_KERNEL = 10 };
enum { QUEUE_SLOT = 0, ORDERED_SLOT = 1, EVENT_SLOT = 2 };
enum kernel_name { FILL, INCREMENT, COPY, HOLD, BROKEN, NOOP, LINEAR, KERNELS };
static const char *const kernel_names[KERNELS] = {
	"fill_u32", "increment_u32", "copy_u32", "hold", "fail", "noop", "linear_id_u32",
};

static struct engine_fixture fixture;
static struct raw_client *client;
static uint32_t device;
static uint64_t numbers[2]; /* groups sent to QUEUE and ORDERED */

static uint64_t queue_id(bool ordered)
{
	return raw_id(OBJECT_QUEUE, ordered ? ORDERED : QUEUE);
}

static const Sycl__V1__Reply *build_bundle(uint32_t index, const char *source)
{
	Sycl__V1__BundleBuild build = SYCL__V1__BUNDLE_BUILD__INIT;
	build.bundle = raw_id(OBJECT_BUNDLE, index);
	build.context = raw_id(OBJECT_CONTEXT, CONTEXT);
	build.device = device;
	build.kind = SYCL__V1__SOURCE_KIND__SOURCE_KIND_OPENCL_C;
	build.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE;
	build.inline_source = (ProtobufCBinaryData){strlen(source), (uint8_t *)(uintptr_t)source};
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUNDLE_BUILD;
	command.bundle_build = &build;
	return raw_reply_to(client, raw_send(client, &command));
}

static const Sycl__V1__Reply *create_kernel(uint32_t index, uint32_t bundle, const char *name)
{
	Sycl__V1__KernelCreate create = SYCL__V1__KERNEL_CREATE__INIT;
	create.kernel = raw_id(OBJECT_KERNEL, index);
	create.bundle = raw_id(OBJECT_BUNDLE, bundle);
	create.name = (char *)(uintptr_t)name;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_KERNEL_CREATE;
	command.kernel_create = &create;
	return raw_reply_to(client, raw_send(client, &command));
}

static void start(void)
{
	struct engine_options options;
	fixture_options(&options);
	fixture_start(&fixture, &options, true);
	client = &fixture.clients[0];
	raw_open(client);
	device = raw_fake_device(client);
	raw_arena(client, 0, 65536);
	(void)raw_context(client, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(client, queue_id(false), raw_id(OBJECT_CONTEXT, CONTEXT), device, QUEUE_SLOT, false);
	(void)raw_queue(client, queue_id(true), raw_id(OBJECT_CONTEXT, CONTEXT), device, ORDERED_SLOT, true);
	(void)raw_buffer(client, raw_id(OBJECT_BUFFER, BUFFER), 0, 0, 4096);
	(void)raw_buffer(client, raw_id(OBJECT_BUFFER, OTHER), 0, 4096, 4096);

	static const char source[] = "fill_u32\nincrement_u32\ncopy_u32\nhold\nfail\nnoop\nlinear_id_u32\n";
	const Sycl__V1__Reply *reply = build_bundle(BUNDLE, source);
	cr_assert(eq(ptr, reply->status, NULL), "%s", reply->status ? reply->status->text : "");
	cr_assert(eq(sz, reply->build->n_kernels, KERNELS));
	for (uint32_t i = 0; i < KERNELS; i++) {
		reply = create_kernel(FIRST_KERNEL + i, BUNDLE, kernel_names[i]);
		cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_KERNEL));
	}
}

static void stop(void)
{
	raw_round_trip(client);
	fixture_stop(&fixture);
}

/* A command group in the making. */
struct build {
	Sycl__V1__CommandGroup group;
	Sycl__V1__Requirement requirements[3], *requirement_list[3];
	Sycl__V1__EventRef events[3], *event_list[3];
	Sycl__V1__Launch launch;
	Sycl__V1__Argument arguments[4], *argument_list[4];
	Sycl__V1__Fill fill;
	Sycl__V1__Copy copy;
	Sycl__V1__MemoryEnd source, destination;
	uint64_t global[3], local[3], offset[3];
	uint32_t values[4];
};

static void begin(struct build *build)
{
	*build = (struct build){.values = {0}};
	sycl__v1__command_group__init(&build->group);
	build->group.requirements = build->requirement_list;
	build->group.depends_on = build->event_list;
	sycl__v1__launch__init(&build->launch);
	sycl__v1__fill__init(&build->fill);
	sycl__v1__copy__init(&build->copy);
	sycl__v1__memory_end__init(&build->source);
	sycl__v1__memory_end__init(&build->destination);
	build->launch.global = build->global;
	build->launch.local = build->local;
	build->launch.offset = build->offset;
	build->launch.arguments = build->argument_list;
	build->copy.source = &build->source;
	build->copy.destination = &build->destination;
}

static void require(struct build *build, uint32_t buffer, uint32_t mode)
{
	size_t index = build->group.n_requirements++;
	sycl__v1__requirement__init(&build->requirements[index]);
	build->requirements[index].buffer = raw_id(OBJECT_BUFFER, buffer);
	build->requirements[index].mode = mode;
	build->requirement_list[index] = &build->requirements[index];
}

static void depend(struct build *build, uint64_t queue, uint64_t group)
{
	size_t index = build->group.n_depends_on++;
	sycl__v1__event_ref__init(&build->events[index]);
	build->events[index].queue = queue;
	build->events[index].group = group;
	build->event_list[index] = &build->events[index];
}

static Sycl__V1__Argument *argument(struct build *build, Sycl__V1__Argument__ValueCase kind)
{
	size_t index = build->launch.n_arguments++;
	Sycl__V1__Argument *made = &build->arguments[index];
	sycl__v1__argument__init(made);
	made->value_case = kind;
	build->argument_list[index] = made;
	return made;
}

static void argument_accessor(struct build *build, uint32_t requirement)
{
	argument(build, SYCL__V1__ARGUMENT__VALUE_ACCESSOR)->accessor = requirement;
}

static void argument_value(struct build *build, uint32_t value)
{
	uint32_t *place = &build->values[build->launch.n_arguments];
	*place = value;
	argument(build, SYCL__V1__ARGUMENT__VALUE_BYTES)->bytes =
		(ProtobufCBinaryData){sizeof(*place), (uint8_t *)place};
}

static void launch(struct build *build, enum kernel_name kernel, uint64_t items)
{
	build->launch.kernel = raw_id(OBJECT_KERNEL, FIRST_KERNEL + kernel);
	build->launch.n_global = 1;
	build->global[0] = items;
	build->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH;
	build->group.launch = &build->launch;
}

static uint64_t submit(struct build *build, bool ordered)
{
	build->group.queue = queue_id(ordered);
	build->group.group = ++numbers[ordered];
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = &build->group;
	(void)raw_send(client, &command);
	return build->group.group;
}

static uint32_t wait_queue(bool ordered)
{
	return raw_wait_slot(client, ordered ? ORDERED_SLOT : QUEUE_SLOT, (uint32_t)numbers[ordered]);
}

/* fill_u32 over the whole buffer. */
static void begin_fill(struct build *build, uint32_t buffer, uint32_t value)
{
	begin(build);
	require(build, buffer, ACCESS_MODE_WRITE);
	argument_accessor(build, 0);
	argument_value(build, value);
	launch(build, FILL, 1024);
}

static void begin_hold(struct build *build, uint32_t gate)
{
	begin(build);
	argument_value(build, gate);
	launch(build, HOLD, 1);
}

static uint64_t submit_hold(uint32_t gate, bool ordered)
{
	struct build build;
	begin_hold(&build, gate);
	return submit(&build, ordered);
}

static void expect_failed(uint64_t queue, uint64_t group, int32_t code, const char *words)
{
	const Sycl__V1__Reply *reply;
	do {
		reply = raw_reply_to(client, 0);
	} while (reply->body_case != SYCL__V1__REPLY__BODY_GROUP_FAILED);
	cr_assert(eq(u64, reply->group_failed->queue, queue));
	cr_assert(eq(u64, reply->group_failed->group, group));
	cr_assert(eq(i32, reply->status->code, code), "said: %s", reply->status->text);
	cr_assert(ne(ptr, strstr(reply->status->text, words), NULL), "said: %s", reply->status->text);
}

/* Submit what is wrong to the out-of-order queue; its refusal is told and its number taken. */
static void refused(struct build *build, int32_t code, const char *words)
{
	uint64_t number = submit(build, false);
	expect_failed(queue_id(false), number, code, words);
	cr_assert(eq(u32, wait_queue(false), 1), "the queue's slot tells of a failure");
}

static Sycl__V1__Profile profile_of(uint64_t queue, uint64_t group)
{
	Sycl__V1__ProfileQuery query = SYCL__V1__PROFILE_QUERY__INIT;
	query.queue = queue;
	query.group = group;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_PROFILE_QUERY;
	command.profile_query = &query;
	const Sycl__V1__Reply *reply = raw_reply_to(client, raw_send(client, &command));
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_PROFILE));
	return *reply->profile;
}

static void host_access(uint32_t accessor, uint32_t buffer, uint32_t mode, uint32_t slot)
{
	Sycl__V1__HostAccess access = SYCL__V1__HOST_ACCESS__INIT;
	access.accessor = raw_id(OBJECT_HOST_ACCESSOR, accessor);
	access.buffer = raw_id(OBJECT_BUFFER, buffer);
	access.mode = mode;
	access.slot = slot;
	access.slot_value = 1;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_ACCESS;
	command.host_access = &access;
	(void)raw_send(client, &command);
}

static const uint32_t *words_of(uint32_t buffer)
{
	return (const uint32_t *)client->arenas[0]->address + (buffer == OTHER ? 1024 : 0);
}

/* The buffer on the host, all of one value; the accessor's index and slot are used once. */
static void expect_words(uint32_t buffer, uint32_t value, uint32_t once)
{
	host_access(once, buffer, ACCESS_MODE_READ, once);
	cr_assert(eq(u32, raw_wait_slot(client, once, 1), 0));
	for (int i = 0; i < 1024; i++)
		cr_assert(eq(u32, words_of(buffer)[i], value), "word %d", i);
	(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, once));
}

/* Ranges */

Test(groups, E4_a_range_that_its_local_range_does_not_divide_is_refused)
{
	start();
	static const struct {
		uint64_t global[3], local[3];
		size_t globals, locals;
	} wrong[] = {
		{{10}, {3}, 1, 1},   {{10}, {0}, 1, 1},   {{8, 9}, {4, 2}, 2, 2}, {{8, 8, 7}, {1, 1, 2}, 3, 3},
		{{8, 8}, {4}, 2, 1}, {{8}, {4, 1}, 1, 2}, {{8}, {8}, 0, 0},       {{UINT64_MAX, 2}, {0}, 2, 0},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct build build;
		begin_fill(&build, BUFFER, 9);
		memcpy(build.global, wrong[i].global, sizeof(build.global));
		memcpy(build.local, wrong[i].local, sizeof(build.local));
		build.launch.n_global = wrong[i].globals;
		build.launch.n_local = wrong[i].locals;
		refused(&build, STATUS_ND_RANGE, "");
	}
	expect_words(BUFFER, 0, 40);
	stop();
}

Test(groups, E8_a_work_group_larger_than_kernel_or_device_is_refused)
{
	start();
	struct build build;
	begin_fill(&build, BUFFER, 9);
	build.launch.n_local = 1;
	build.global[0] = build.local[0] = 2048;
	refused(&build, STATUS_ND_RANGE, "more than the device's 1024");
	begin_fill(&build, BUFFER, 9);
	build.launch.n_global = build.launch.n_local = 2;
	build.global[0] = build.global[1] = build.local[0] = build.local[1] = 64;
	refused(&build, STATUS_ND_RANGE, "larger than the device's");
	begin_fill(&build, BUFFER, 7);
	build.launch.n_local = 1;
	build.local[0] = 1024;
	(void)submit(&build, false);
	expect_words(BUFFER, 7, 40);
	stop();
}

Test(groups, B22_B23_E5_empty_ranges_run_nothing_and_release_what_depends_on_them)
{
	start();
	static const uint64_t empty[][3] = {{0, 1, 1}, {4, 0, 1}, {0, 4, 4}, {8, 0, 8}, {4, 4, 0}};
	for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++) {
		struct build build;
		begin_fill(&build, BUFFER, 99);
		memcpy(build.global, empty[i], sizeof(build.global));
		build.launch.n_global = build.launch.n_local = 3;
		memcpy(build.local, (uint64_t[]){7, 0, 3}, sizeof(build.local));
		uint64_t number = submit(&build, false);
		cr_assert(eq(u32, wait_queue(false), 0));
		Sycl__V1__Profile times = profile_of(queue_id(false), number);
		cr_assert(eq(u32, times.state, 2));
		cr_assert(le(u64, times.submit_ns, times.start_ns));
		cr_assert(le(u64, times.start_ns, times.end_ns));
	}
	expect_words(BUFFER, 0, 40);
	/* A successor runs after the predecessor, through the empty one. */
	uint64_t held = submit_hold(1, false);
	struct build build;
	begin_fill(&build, BUFFER, 99);
	build.global[0] = 0;
	depend(&build, queue_id(false), held);
	uint64_t empty_group = submit(&build, false);
	begin_fill(&build, BUFFER, 5);
	depend(&build, queue_id(false), empty_group);
	uint64_t last = submit(&build, false);
	cr_assert(lt(u32, profile_of(queue_id(false), last).state, 2));
	fake_gate_open(1);
	cr_assert(eq(u32, wait_queue(false), 0));
	expect_words(BUFFER, 5, 41);
	/* Wrong arguments are wrong on an empty range too. */
	begin_fill(&build, BUFFER, 99);
	build.global[0] = 0;
	build.launch.n_arguments = 1;
	refused(&build, STATUS_KERNEL_ARGUMENT, "has 2 arguments");
	stop();
}

/* Arguments */

Test(groups, E14_E22_arguments_are_checked_against_the_kernel)
{
	start();
	struct build build;
	begin(&build);
	launch(&build, INCREMENT, 8);
	refused(&build, STATUS_KERNEL_ARGUMENT, "has 1 arguments, not 0");

	begin(&build);
	argument_value(&build, 1);
	launch(&build, INCREMENT, 8);
	refused(&build, STATUS_KERNEL_ARGUMENT, "not of the kind");

	begin(&build);
	argument_accessor(&build, 0);
	launch(&build, INCREMENT, 8);
	refused(&build, STATUS_KERNEL_ARGUMENT, "requirement 0 of 0");

	begin_fill(&build, BUFFER, 1);
	build.arguments[1].bytes.len = 3;
	refused(&build, STATUS_KERNEL_ARGUMENT, "has 4 bytes, not 3");

	begin_fill(&build, BUFFER, 1);
	build.arguments[0].offset_bytes = 4097;
	refused(&build, STATUS_KERNEL_ARGUMENT, "behind the end");

	begin(&build);
	require(&build, BUFFER, ACCESS_MODE_WRITE);
	(void)argument(&build, SYCL__V1__ARGUMENT__VALUE__NOT_SET);
	launch(&build, INCREMENT, 8);
	refused(&build, STATUS_KERNEL_ARGUMENT, "is not set");
	stop();
}

Test(groups, E7_local_memory_needs_an_nd_range)
{
	start();
	struct build build;
	begin(&build);
	argument(&build, SYCL__V1__ARGUMENT__VALUE_LOCAL_BYTES)->local_bytes = 64;
	launch(&build, INCREMENT, 8);
	refused(&build, STATUS_KERNEL_ARGUMENT, "basic range");
	stop();
}

Test(groups, C1_C4_requirements_are_checked)
{
	start();
	struct build build;
	begin_fill(&build, BUFFER, 1);
	require(&build, BUFFER, ACCESS_MODE_READ);
	refused(&build, STATUS_ACCESSOR, "twice");
	begin_fill(&build, BUFFER, 1);
	build.requirements[0].mode = 5 + 8;
	refused(&build, STATUS_ACCESSOR, "no access mode");
	begin_fill(&build, BUFFER, 1);
	build.requirements[0].mode = ACCESS_KEEP_BIT;
	refused(&build, STATUS_ACCESSOR, "no access mode");
	begin_fill(&build, BUFFER, 1);
	build.requirements[0].offset_bytes = 4000;
	build.requirements[0].size_bytes = 97;
	refused(&build, STATUS_ACCESSOR, "not inside a buffer of 4096");
	begin_fill(&build, BUFFER, 1);
	build.requirements[0].offset_bytes = UINT64_MAX;
	build.requirements[0].size_bytes = 2;
	refused(&build, STATUS_ACCESSOR, "not inside");
	stop();
}

Test(groups, D20_copies_and_fills_are_checked)
{
	start();
	struct build build;
	begin(&build);
	require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	build.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	build.group.copy = &build.copy;
	build.source.place_case = build.destination.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	build.destination.offset_bytes = 100;
	build.copy.size_bytes = 101;
	refused(&build, STATUS_INVALID, "overlap");
	build.copy.size_bytes = 4096;
	refused(&build, STATUS_INVALID, "not inside");
	build.requirements[0].mode = ACCESS_MODE_READ;
	build.copy.size_bytes = 100;
	refused(&build, STATUS_ACCESSOR, "does not allow it to be written");
	build.destination.requirement = 1;
	refused(&build, STATUS_INVALID, "no requirement 1");
	build.copy.destination = NULL;
	refused(&build, STATUS_INVALID, "missing");

	uint8_t pattern[FILL_PATTERN_BYTES_MAX + 1] = {1};
	begin(&build);
	require(&build, BUFFER, ACCESS_MODE_WRITE);
	build.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	build.group.fill = &build.fill;
	build.fill.size_bytes = 100;
	refused(&build, STATUS_INVALID, "1 to 128 bytes, not 0");
	build.fill.pattern = (ProtobufCBinaryData){sizeof(pattern), pattern};
	refused(&build, STATUS_INVALID, "1 to 128 bytes, not 129");
	build.fill.pattern.len = 3;
	refused(&build, STATUS_INVALID, "no multiple");
	build.fill.pattern.len = 4;
	build.fill.offset_bytes = 3997;
	refused(&build, STATUS_INVALID, "not inside");
	expect_words(BUFFER, 0, 40);
	stop();
}

Test(groups, D20_bytes_are_copied_between_buffers_and_arenas)
{
	start();
	uint32_t *arena = client->arenas[0]->address;
	arena[4096] = 77; /* behind the buffers */
	struct build build;
	begin(&build);
	require(&build, BUFFER, ACCESS_MODE_WRITE);
	build.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	build.group.copy = &build.copy;
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	range.offset_bytes = 16384;
	range.size_bytes = 4;
	build.source.place_case = SYCL__V1__MEMORY_END__PLACE_ARENA;
	build.source.arena = &range;
	build.destination.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	build.destination.offset_bytes = 8;
	build.copy.size_bytes = 4;
	(void)submit(&build, false);
	host_access(40, BUFFER, ACCESS_MODE_READ, 40);
	cr_assert(eq(u32, raw_wait_slot(client, 40, 1), 0));
	cr_assert(eq(u32, words_of(BUFFER)[2], 77));
	cr_assert(eq(u32, words_of(BUFFER)[3], 0));
	stop();
}

/* Order */

Test(groups, B28_an_in_order_queue_runs_one_after_the_other)
{
	start();
	uint64_t first = submit_hold(1, true);
	struct build build;
	begin_fill(&build, BUFFER, 3);
	uint64_t second = submit(&build, true);
	/* Out of order, an independent group overtakes. */
	begin_fill(&build, OTHER, 4);
	(void)submit(&build, false);
	cr_assert(eq(u32, wait_queue(false), 0));
	cr_assert(lt(u32, profile_of(queue_id(true), first).state, 2));
	cr_assert(eq(u32, profile_of(queue_id(true), second).state, 0));
	fake_gate_open(1);
	cr_assert(eq(u32, wait_queue(true), 0));
	cr_assert(le(u64, profile_of(queue_id(true), first).end_ns, profile_of(queue_id(true), second).end_ns));
	expect_words(BUFFER, 3, 40);
	stop();
}

Test(groups, B19_B21_events_order_across_queues_and_the_mark_waits_for_the_oldest)
{
	start();
	uint64_t held = submit_hold(2, true);
	struct build build;
	begin_fill(&build, BUFFER, 8);
	depend(&build, queue_id(true), held);
	uint64_t waits = submit(&build, false);
	begin_fill(&build, OTHER, 9);
	build.group.wants_slot = true;
	build.group.slot = EVENT_SLOT;
	build.group.slot_value = 5;
	(void)submit(&build, false);
	cr_assert(eq(u32, raw_wait_slot(client, EVENT_SLOT, 5), 0), "its event does not wait for the other group");
	cr_assert(eq(u32, atomic_load(&client->slots[QUEUE_SLOT].sequence), waits - 1));
	fake_gate_open(2);
	cr_assert(eq(u32, wait_queue(false), 0));
	expect_words(BUFFER, 8, 40);
	stop();
}

static uint64_t submit_empty(bool after_all, uint32_t slot)
{
	struct build build;
	begin(&build);
	build.group.after_all = after_all;
	build.group.wants_slot = true;
	build.group.slot = slot;
	build.group.slot_value = 1;
	return submit(&build, false);
}

Test(groups, a_barrier_waits_for_every_earlier_group_of_its_queue)
{
	start();
	(void)submit_hold(3, false);
	(void)submit_hold(4, false);
	uint64_t first = submit_empty(true, 20);
	(void)submit_hold(5, false);
	uint64_t second = submit_empty(false, 21);
	fake_gate_open(4);
	fake_gate_open(5);
	cr_assert(eq(u32, profile_of(queue_id(false), first).state, 0));
	fake_gate_open(3);
	cr_assert(eq(u32, raw_wait_slot(client, 20, 1), 0));
	cr_assert(eq(u32, raw_wait_slot(client, 21, 1), 0));
	cr_assert(eq(u32, wait_queue(false), 0));
	cr_assert(eq(u32, profile_of(queue_id(false), second).state, 2));
	stop();
}

/* Host accessors */

Test(groups, D1_D3_D6_groups_wait_for_an_accessor_and_it_for_them)
{
	start();
	struct build build;
	begin_fill(&build, BUFFER, 6);
	uint64_t held = submit_hold(6, false);
	depend(&build, queue_id(false), held);
	(void)submit(&build, false);
	host_access(40, BUFFER, ACCESS_MODE_READ, 40);
	host_access(41, OTHER, ACCESS_MODE_READ, 41);
	cr_assert(eq(u32, raw_wait_slot(client, 41, 1), 0), "an unrelated buffer is not waited for (D2)");
	cr_assert(eq(u32, atomic_load(&client->slots[40].sequence), 0));
	fake_gate_open(6);
	cr_assert(eq(u32, raw_wait_slot(client, 40, 1), 0));
	cr_assert(eq(u32, words_of(BUFFER)[0], 6));
	begin_fill(&build, BUFFER, 7);
	uint64_t after = submit(&build, false);
	cr_assert(eq(u32, profile_of(queue_id(false), after).state, 0), "held by the accessor");
	cr_assert(eq(u32, words_of(BUFFER)[0], 6));
	(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, 40));
	cr_assert(eq(u32, wait_queue(false), 0));
	expect_words(BUFFER, 7, 42);
	stop();
}

Test(groups, an_accessor_released_before_it_was_granted_holds_nothing)
{
	start();
	struct build build;
	uint64_t held = submit_hold(6, false);
	begin_fill(&build, BUFFER, 6);
	depend(&build, queue_id(false), held);
	(void)submit(&build, false);
	host_access(40, BUFFER, ACCESS_MODE_READ_WRITE, 40);
	(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, 40));
	begin_fill(&build, BUFFER, 7);
	(void)submit(&build, false);
	fake_gate_open(6);
	cr_assert(eq(u32, wait_queue(false), 0));
	expect_words(BUFFER, 7, 42);
	stop();
}

/* Failure */

Test(groups, M9_what_depends_on_a_failed_group_fails_with_its_cause)
{
	start();
	struct build build;
	begin(&build);
	launch(&build, BROKEN, 1);
	require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	uint64_t first = submit(&build, false);
	begin_fill(&build, OTHER, 1);
	depend(&build, queue_id(false), first);
	build.group.wants_slot = true;
	build.group.slot = EVENT_SLOT;
	build.group.slot_value = 1;
	uint64_t second = submit(&build, false);
	begin_fill(&build, OTHER, 2);
	depend(&build, queue_id(false), second);
	uint64_t third = submit(&build, false);
	expect_failed(queue_id(false), first, STATUS_KERNEL, "");
	expect_failed(queue_id(false), second, STATUS_DEPENDENCY_FAILED, "");
	cr_assert(eq(u32, atomic_load(&client->slots[EVENT_SLOT].status), 1));
	expect_failed(queue_id(false), third, STATUS_DEPENDENCY_FAILED, "");
	cr_assert(eq(u32, wait_queue(false), 1));
	/* Known as failed long after. */
	begin_fill(&build, OTHER, 3);
	depend(&build, queue_id(false), first);
	uint64_t fourth = submit(&build, true);
	expect_failed(queue_id(true), fourth, STATUS_DEPENDENCY_FAILED, "");
	/* A write of everything needs nothing of what is lost. */
	begin_fill(&build, OTHER, 4);
	build.requirements[0].mode = ACCESS_MODE_WRITE_NO_INIT;
	(void)submit(&build, false);
	(void)wait_queue(false);
	expect_words(OTHER, 4, 40);
	stop();
}

Test(groups, B28_the_order_of_a_queue_passes_no_failure_on)
{
	start();
	struct build build;
	(void)submit_hold(9, true);
	begin(&build);
	launch(&build, BROKEN, 1);
	uint64_t broken = submit(&build, true);
	begin_fill(&build, BUFFER, 5);
	(void)submit(&build, true);
	(void)submit_hold(9, false);
	(void)submit_empty(true, 30);
	fake_gate_open(9);
	expect_failed(queue_id(true), broken, STATUS_KERNEL, "");
	cr_assert(eq(u32, wait_queue(true), 1), "one group of it failed");
	cr_assert(eq(u32, raw_wait_slot(client, 30, 1), 0));
	expect_words(BUFFER, 5, 40);
	stop();
}

Test(groups, M9_B32_a_failed_group_is_known_after_its_queue_is_gone)
{
	start();
	struct build build;
	begin(&build);
	launch(&build, BROKEN, 1);
	uint64_t first = submit(&build, false);
	(void)wait_queue(false);
	(void)raw_release(client, queue_id(false));
	const Sycl__V1__Reply *reply;
	do {
		reply = raw_reply_to(client, 0);
	} while (reply->body_case != SYCL__V1__REPLY__BODY_RELEASED);
	cr_assert(eq(u64, reply->released->object, queue_id(false)));
	begin_fill(&build, OTHER, 3);
	depend(&build, queue_id(false), first);
	uint64_t second = submit(&build, true);
	expect_failed(queue_id(true), second, STATUS_DEPENDENCY_FAILED, "");
	stop();
}

Test(groups, D15_D16_pending_work_goes_on_when_its_objects_are_released)
{
	start();
	struct build build;
	begin_hold(&build, 7);
	require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	build.group.wants_slot = true;
	build.group.slot = EVENT_SLOT;
	build.group.slot_value = 1;
	(void)submit(&build, false);
	for (uint32_t i = 0; i < KERNELS; i++)
		(void)raw_release(client, raw_id(OBJECT_KERNEL, FIRST_KERNEL + i));
	(void)raw_release(client, raw_id(OBJECT_BUNDLE, BUNDLE));
	(void)raw_release(client, raw_id(OBJECT_BUFFER, BUFFER));
	(void)raw_release(client, queue_id(false));
	(void)raw_release(client, queue_id(true));
	(void)raw_release(client, raw_id(OBJECT_CONTEXT, CONTEXT));
	raw_round_trip(client);
	cr_assert(eq(u32, atomic_load(&client->slots[EVENT_SLOT].sequence), 0));
	fake_gate_open(7);
	cr_assert(eq(u32, raw_wait_slot(client, EVENT_SLOT, 1), 0));
	bool buffer = false, context = false, queue = false;
	while (!buffer || !context || !queue) {
		const Sycl__V1__Reply *reply = raw_reply_to(client, 0);
		cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_RELEASED));
		buffer |= reply->released->object == raw_id(OBJECT_BUFFER, BUFFER);
		context |= reply->released->object == raw_id(OBJECT_CONTEXT, CONTEXT);
		queue |= reply->released->object == queue_id(false);
	}
	stop();
}

/* Builds */

Test(groups, a_source_that_does_not_compile_returns_its_log)
{
	start();
	const Sycl__V1__Reply *reply = build_bundle(30, "fill_u32\nno_such_thing\n");
	cr_assert(eq(i32, reply->status->code, STATUS_BUILD));
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_BUILD));
	cr_assert(ne(ptr, strstr(reply->build->log, "no_such_thing"), NULL), "log: %s", reply->build->log);
	/* Whatever names it fails with its cause. */
	reply = create_kernel(31, 30, "fill_u32");
	cr_assert(eq(i32, reply->status->code, STATUS_BUILD));
	reply = create_kernel(32, BUNDLE, "not_there");
	cr_assert(ne(i32, reply->status->code, STATUS_SUCCESS));
	/* Its index is free again without a release. */
	Sycl__V1__BundleBuild build = SYCL__V1__BUNDLE_BUILD__INIT;
	build.bundle = object_id_make(OBJECT_BUNDLE, 2, 30);
	build.context = raw_id(OBJECT_CONTEXT, CONTEXT);
	build.device = device;
	build.kind = SYCL__V1__SOURCE_KIND__SOURCE_KIND_OPENCL_C;
	build.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE;
	build.inline_source = (ProtobufCBinaryData){4, (uint8_t *)(uintptr_t) "noop"};
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUNDLE_BUILD;
	command.bundle_build = &build;
	reply = raw_reply_to(client, raw_send(client, &command));
	cr_assert(eq(ptr, reply->status, NULL));
	stop();
}

Test(groups, H4_times_are_of_the_session_and_in_order)
{
	start();
	struct build build;
	uint64_t last_end = 0;
	for (int i = 0; i < 20; i++) {
		begin_fill(&build, BUFFER, 1);
		uint64_t number = submit(&build, true);
		cr_assert(eq(u32, wait_queue(true), 0));
		Sycl__V1__Profile times = profile_of(queue_id(true), number);
		cr_assert(eq(u32, times.state, 2));
		cr_assert(gt(u64, times.submit_ns, last_end));
		cr_assert(le(u64, times.submit_ns, times.start_ns));
		cr_assert(le(u64, times.start_ns, times.end_ns));
		last_end = times.submit_ns;
	}
	stop();
}

Test(groups, usage_counts_what_was_done)
{
	start();
	struct build build;
	begin_fill(&build, BUFFER, 1);
	(void)submit(&build, false);
	begin(&build);
	launch(&build, BROKEN, 1);
	(void)submit(&build, false);
	(void)wait_queue(false);
	Sycl__V1__UsageQuery query = SYCL__V1__USAGE_QUERY__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_USAGE_QUERY;
	command.usage_query = &query;
	const Sycl__V1__Usage *usage = raw_reply_to(client, raw_send(client, &command))->usage;
	cr_assert(eq(u64, usage->groups_submitted, 2));
	cr_assert(eq(u64, usage->groups_completed, 1));
	cr_assert(eq(u64, usage->groups_failed, 1));
	cr_assert(eq(u64, usage->buffer_bytes, 8192));
	cr_assert(eq(u64, usage->arena_bytes, 65536));
	stop();
}

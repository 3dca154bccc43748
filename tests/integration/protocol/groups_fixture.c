#include "protocol/groups_fixture.h"

#include "session/engine_state.h"
#include "session/session.h"

#include <stdatomic.h>
#include <string.h>

TestSuite(groups, .timeout = 60);

static const char *const kernel_names[KERNELS] = {
	"fill_u32", "increment_u32", "copy_u32",      "hold",
	"fail",     "noop",          "linear_id_u32", "fill_even_u32",
};

struct raw_client *client;
uint32_t device;
static struct engine_fixture fixture;
static uint64_t numbers[2]; /* groups sent to QUEUE and ORDERED */

uint64_t groups_queue(bool ordered)
{
	return raw_id(OBJECT_QUEUE, ordered ? ORDERED : QUEUE);
}

const Sycl__V1__Reply *groups_bundle(uint32_t index, const char *source)
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

const Sycl__V1__Reply *groups_kernel(uint32_t index, uint32_t bundle, const char *name)
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

void groups_start(void)
{
	groups_start_limited(0);
}

void groups_start_limited(uint32_t groups_in_flight)
{
	groups_start_timed(groups_in_flight, true);
}

void groups_start_timed(uint32_t groups_in_flight, bool timed)
{
	struct engine_options options;
	fixture_options(&options);
	if (groups_in_flight)
		options.limits.groups_in_flight = groups_in_flight;
	fixture_start(&fixture, &options, true);
	client = &fixture.clients[0];
	client->features = FEATURE_RESUBMIT | FEATURE_GRAPHS;
	client->untimed = !timed;
	numbers[0] = numbers[1] = 0;
	raw_open(client);
	device = raw_fake_device(client);
	raw_arena(client, 0, 65536);
	(void)raw_context(client, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(client, groups_queue(false), raw_id(OBJECT_CONTEXT, CONTEXT), device,
			QUEUE_SLOT, false);
	(void)raw_queue(client, groups_queue(true), raw_id(OBJECT_CONTEXT, CONTEXT), device,
			ORDERED_SLOT, true);
	(void)raw_buffer(client, raw_id(OBJECT_BUFFER, BUFFER), 0, 0, 4096);
	(void)raw_buffer(client, raw_id(OBJECT_BUFFER, OTHER), 0, 4096, 4096);

	static const char source[] =
		"fill_u32\nincrement_u32\ncopy_u32\nhold\nfail\nnoop\nlinear_id_u32\nfill_even_u32\n";
	const Sycl__V1__Reply *reply = groups_bundle(BUNDLE, source);
	cr_assert(eq(ptr, reply->status, NULL), "%s", reply->status ? reply->status->text : "");
	cr_assert(eq(sz, reply->build->n_kernels, KERNELS));
	for (uint32_t i = 0; i < KERNELS; i++) {
		reply = groups_kernel(FIRST_KERNEL + i, BUNDLE, kernel_names[i]);
		cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_KERNEL));
	}
}

void groups_stop(void)
{
	raw_round_trip(client);
	fixture_stop(&fixture);
}

void groups_expect_closed(const char *words)
{
	raw_wait_closed(client);
	cr_assert(eq(i32, client->error_code, STATUS_CONNECTION_LOST), "%s", client->error_text);
	cr_assert(ne(ptr, strstr(client->error_text, words), NULL), "said: %s", client->error_text);
	fixture_stop(&fixture);
}

Sycl__V1__Usage groups_gone(void)
{
	fixture_wait_gone(&fixture);
	Sycl__V1__Usage usage = fixture.last_usage;
	fixture_stop(&fixture);
	return usage;
}

uint64_t groups_kept_launches(void)
{
	return fixture.last_counters.kept_launches;
}

uint64_t groups_kept_reads(void)
{
	return fixture.last_counters.kept_reads;
}

uint64_t groups_kept_waits(void)
{
	return fixture.last_kept_waits;
}

struct scheduler_counters groups_counters(void)
{
	struct scheduler_counters counters;
	raw_round_trip(client);
	scheduler_counters(fixture.engine->scheduler, &counters);
	return counters;
}

uint32_t groups_kept_rows(void)
{
	uint32_t rows = 0;
	raw_round_trip(client);
	for (const struct list *link = fixture.engine->sessions.next;
	     link != &fixture.engine->sessions; link = link->next)
		rows += list_entry(link, const struct session, link)->kepts.count;
	return rows;
}

uint64_t groups_number(bool ordered)
{
	return ++numbers[ordered];
}

void build_begin(struct build *build)
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

void build_require(struct build *build, uint32_t buffer, uint32_t mode)
{
	size_t index = build->group.n_requirements++;
	sycl__v1__requirement__init(&build->requirements[index]);
	build->requirements[index].buffer = raw_id(OBJECT_BUFFER, buffer);
	build->requirements[index].mode = mode;
	build->requirement_list[index] = &build->requirements[index];
}

void build_depend(struct build *build, uint64_t queue, uint64_t group)
{
	size_t index = build->group.n_depends_on++;
	sycl__v1__event_ref__init(&build->events[index]);
	build->events[index].queue = queue;
	build->events[index].group = group;
	build->event_list[index] = &build->events[index];
}

Sycl__V1__Argument *build_argument(struct build *build, Sycl__V1__Argument__ValueCase kind)
{
	size_t index = build->launch.n_arguments++;
	Sycl__V1__Argument *made = &build->arguments[index];
	sycl__v1__argument__init(made);
	made->value_case = kind;
	build->argument_list[index] = made;
	return made;
}

void build_accessor(struct build *build, uint32_t requirement)
{
	build_argument(build, SYCL__V1__ARGUMENT__VALUE_ACCESSOR)->accessor = requirement;
}

void build_value(struct build *build, uint32_t value)
{
	uint32_t *place = &build->values[build->launch.n_arguments];
	*place = value;
	build_argument(build, SYCL__V1__ARGUMENT__VALUE_BYTES)->bytes =
		(ProtobufCBinaryData){sizeof(*place), (uint8_t *)place};
}

void build_launch(struct build *build, enum kernel_name kernel, uint64_t items)
{
	build->launch.kernel = raw_id(OBJECT_KERNEL, FIRST_KERNEL + kernel);
	build->launch.n_global = 1;
	build->global[0] = items;
	build->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH;
	build->group.launch = &build->launch;
}

uint64_t build_submit(struct build *build, bool ordered)
{
	build->group.queue = groups_queue(ordered);
	build->group.group = ++numbers[ordered];
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = &build->group;
	(void)raw_send(client, &command);
	return build->group.group;
}

uint32_t groups_wait(bool ordered)
{
	return raw_wait_slot(client, ordered ? ORDERED_SLOT : QUEUE_SLOT,
			     (uint32_t)numbers[ordered]);
}

void build_fill(struct build *build, uint32_t buffer, uint32_t value)
{
	build_begin(build);
	build_require(build, buffer, ACCESS_MODE_WRITE);
	build_accessor(build, 0);
	build_value(build, value);
	build_launch(build, FILL, 1024);
}

void build_hold(struct build *build, uint32_t gate)
{
	build_begin(build);
	build_value(build, gate);
	build_launch(build, HOLD, 1);
}

uint64_t groups_submit_hold(uint32_t gate, bool ordered)
{
	struct build build;
	build_hold(&build, gate);
	return build_submit(&build, ordered);
}

uint64_t groups_submit_empty(bool after_all, uint32_t slot)
{
	struct build build;
	build_begin(&build);
	build.group.after_all = after_all;
	build.group.wants_slot = true;
	build.group.slot = slot;
	build.group.slot_value = 1;
	return build_submit(&build, false);
}

void expect_failed(uint64_t queue, uint64_t group, int32_t code, const char *words)
{
	const Sycl__V1__Reply *reply;
	do {
		reply = raw_reply_to(client, 0);
	} while (reply->body_case != SYCL__V1__REPLY__BODY_GROUP_FAILED);
	cr_assert(eq(u64, reply->group_failed->queue, queue));
	cr_assert(eq(u64, reply->group_failed->group, group));
	cr_assert(eq(i32, reply->status->code, code), "said: %s", reply->status->text);
	cr_assert(ne(ptr, strstr(reply->status->text, words), NULL), "said: %s",
		  reply->status->text);
}

void expect_refused(struct build *build, int32_t code, const char *words)
{
	uint64_t number = build_submit(build, false);
	expect_failed(groups_queue(false), number, code, words);
	cr_assert(eq(u32, groups_wait(false), 1), "the queue's slot reports a failure");
}

Sycl__V1__Profile groups_profile(uint64_t queue, uint64_t group)
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

void groups_access(uint32_t accessor, uint32_t buffer, uint32_t mode, uint32_t slot)
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

const uint32_t *groups_words(uint32_t buffer)
{
	return (const uint32_t *)client->arenas[0]->address + (buffer == OTHER ? 1024 : 0);
}

void expect_words(uint32_t buffer, uint32_t value, uint32_t once)
{
	groups_access(once, buffer, ACCESS_MODE_READ, once);
	cr_assert(eq(u32, raw_wait_slot(client, once, 1), 0));
	for (int i = 0; i < 1024; i++)
		cr_assert(eq(u32, groups_words(buffer)[i], value), "word %d", i);
	(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, once));
}

void expect_poisoned(uint32_t buffer, uint32_t once)
{
	groups_access(once, buffer, ACCESS_MODE_READ, once);
	cr_assert(eq(u32, raw_wait_slot(client, once, 1), 1));
	(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, once));
}

void wrong_record_apply(const struct wrong_record *wrong, struct resubmit_record *head)
{
	head->shape += (uint32_t)wrong->shape;
	head->generation += (uint32_t)wrong->generation;
	head->rest_bytes += (uint32_t)wrong->rest;
	head->group += (uint64_t)(int64_t)wrong->group;
	head->flags = wrong->flags;
	head->slot = wrong->slot;
}

Sycl__V1__Usage groups_usage(void)
{
	Sycl__V1__UsageQuery query = SYCL__V1__USAGE_QUERY__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_USAGE_QUERY;
	command.usage_query = &query;
	return *raw_reply_to(client, raw_send(client, &command))->usage;
}

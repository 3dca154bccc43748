#include "protocol/hostile_fixture.h"
#include "access_mode.h"

#include <string.h>

TestSuite(hostile, .timeout = 60);

struct engine_fixture fixture;
struct neighbour neighbour;
struct raw_client *hostile;
uint32_t device;

uint64_t hostile_queue(void)
{
	return raw_id(OBJECT_QUEUE, QUEUE);
}

uint64_t hostile_buffer(void)
{
	return raw_id(OBJECT_BUFFER, BUFFER);
}

static bool with_builds;

void hostile_have_builds(void)
{
	with_builds = true;
}

void hostile_start(const struct engine_options *options)
{
	struct engine_options defaults;
	fixture_options(&defaults);
	fixture_start(&fixture, options ? options : &defaults, with_builds);
	hostile = &fixture.clients[0];
	neighbour_open(&neighbour, &fixture.clients[1]);
	neighbour_check(&neighbour);
}

void hostile_start_open(const struct engine_options *options)
{
	hostile_start(options);
	raw_open(hostile);
}

void hostile_start_with_objects(const struct engine_options *options)
{
	hostile_start_open(options);
	device = raw_fake_device(hostile);
	raw_arena(hostile, 0, 65536);
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(hostile, hostile_queue(), raw_id(OBJECT_CONTEXT, CONTEXT), device, 0,
			false);
	(void)raw_buffer(hostile, hostile_buffer(), 0, 0, 4096);
	raw_round_trip(hostile);
}

void hostile_stop(void)
{
	neighbour_check(&neighbour);
	fixture_stop(&fixture);
}

void hostile_expect_closed(int32_t code, const char *words)
{
	raw_wait_closed(hostile);
	cr_assert(eq(i32, hostile->error_code, code), "%s", hostile->error_text);
	cr_assert(ne(ptr, strstr(hostile->error_text, words), NULL), "said: %s",
		  hostile->error_text);
	hostile_stop();
}

void hostile_expect_alive(void)
{
	raw_round_trip(hostile);
	hostile_stop();
}

uint64_t hostile_group(Sycl__V1__CommandGroup *group, uint64_t number)
{
	if (!group->queue)
		group->queue = hostile_queue();
	group->group = number;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = group;
	return raw_send(hostile, &command);
}

uint64_t hostile_fill(uint64_t number)
{
	uint8_t pattern = 1;
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = hostile_buffer();
	requirement.mode = ACCESS_MODE_WRITE;
	Sycl__V1__Fill fill = SYCL__V1__FILL__INIT;
	fill.size_bytes = 4096;
	fill.pattern = (ProtobufCBinaryData){1, &pattern};
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	group.fill = &fill;
	return hostile_group(&group, number);
}

uint64_t hostile_access(uint64_t accessor, uint64_t buffer, uint32_t slot, uint32_t value)
{
	Sycl__V1__HostAccess access = SYCL__V1__HOST_ACCESS__INIT;
	access.accessor = accessor;
	access.buffer = buffer;
	access.mode = ACCESS_MODE_READ;
	access.slot = slot;
	access.slot_value = value;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_ACCESS;
	command.host_access = &access;
	return raw_send(hostile, &command);
}

void hostile_expect_answer(uint64_t number, int32_t code, const char *words)
{
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, number);
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", hostile->error_text);
	cr_assert(ne(ptr, reply->status, NULL), "it was accepted");
	cr_assert(eq(i32, reply->status->code, code), "%s", reply->status->text);
	cr_assert(ne(ptr, strstr(reply->status->text, words), NULL), "said: %s",
		  reply->status->text);
}

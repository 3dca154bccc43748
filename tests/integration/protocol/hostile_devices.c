/* Devices that the operator does not allow: they are not listed, and a client cannot use them by
 * their numbers. */
#include "protocol/hostile_fixture.h"

#include <string.h>

static const Sycl__V1__Backend FAKE = SYCL__V1__BACKEND__BACKEND_FAKE;

/* Allows only the second of the simulated devices. Returns the number of the first one. */
static uint32_t start_with_the_second_device(void)
{
	struct engine_options options;
	fixture_options(&options);
	options.devices.restricted = true;
	options.devices.allowed[FAKE] = 1u << 1;
	hostile_start_open(&options);
	device = raw_fake_device(hostile);
	return device - 1;
}

static const Sycl__V1__Topology *discover(void)
{
	Sycl__V1__Discover message = SYCL__V1__DISCOVER__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_DISCOVER;
	command.discover = &message;
	return raw_reply_to(hostile, raw_send(hostile, &command))->topology;
}

Test(hostile, a_device_that_is_not_allowed_is_not_listed)
{
	uint32_t hidden = start_with_the_second_device();
	const Sycl__V1__Topology *topology = discover();
	size_t fakes = 0;
	for (size_t i = 0; i < topology->n_devices; i++) {
		cr_expect(ne(u32, topology->devices[i]->device, hidden));
		if (topology->platforms[topology->devices[i]->platform]->backend == FAKE)
			cr_expect(eq(u32, topology->devices[i]->backend_index, 1));
		fakes += topology->platforms[topology->devices[i]->platform]->backend == FAKE;
	}
	cr_expect(eq(sz, fakes, 1), "others are not allowed either");
	hostile_expect_alive();
}

static void must_be_refused(const char *what)
{
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_OBJECT_FAILED), "%s", what);
	cr_expect(ne(ptr, strstr(reply->status->text, "there is no device"), NULL), "%s: %s", what,
		  reply->status->text);
}

Test(hostile, a_device_that_is_not_allowed_cannot_be_had_by_its_number)
{
	uint32_t hidden = start_with_the_second_device();
	const uint32_t both[] = {device, hidden};
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, 3), hidden);
	must_be_refused("a context");
	Sycl__V1__ContextCreate create = SYCL__V1__CONTEXT_CREATE__INIT;
	create.context = raw_id(OBJECT_CONTEXT, 4);
	create.devices = (uint32_t *)(uintptr_t)both;
	create.n_devices = 2;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_CONTEXT_CREATE;
	command.context_create = &create;
	(void)raw_send(hostile, &command);
	must_be_refused("a context with an allowed one");
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	raw_arena(hostile, 0, 65536);
	(void)raw_queue(hostile, hostile_queue(), raw_id(OBJECT_CONTEXT, CONTEXT), hidden, 0,
			false);
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_expect(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_OBJECT_FAILED), "a queue");
	hostile_expect_alive();
}

/* The allowed device works as usual. */
Test(hostile, an_allowed_device_runs_commands_beside_a_hidden_one)
{
	(void)start_with_the_second_device();
	raw_arena(hostile, 0, 65536);
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(hostile, hostile_queue(), raw_id(OBJECT_CONTEXT, CONTEXT), device, 0,
			false);
	(void)raw_buffer(hostile, hostile_buffer(), 0, 0, 4096);
	(void)hostile_fill(1);
	hostile_expect_alive();
}

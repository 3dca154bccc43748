/* Sub-devices of a client that sends wrong ids and numbers, requests too many, or dies: the engine
 * keeps none of them (J2). */
#include "fake_control.h"
#include "protocol/hostile_fixture.h"

#include <string.h>

enum { UNITS = 4, FIRST = 30 };

static void start_with_units(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.units = UNITS});
	hostile_start_with_objects(NULL);
}

static uint64_t sub_id(uint32_t index)
{
	return raw_id(OBJECT_SUB_DEVICE, FIRST + index);
}

static uint64_t send_division(struct raw_client *client, Sycl__V1__SubDevicesCreate *message)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_SUB_DEVICES_CREATE;
	command.sub_devices_create = message;
	return raw_send(client, &command);
}

/* Makes so many of one compute unit each. */
static uint64_t divide(struct raw_client *client, uint32_t count, uint64_t *ids, size_t id_count)
{
	uint32_t values[UNITS] = {1, 1, 1, 1};
	Sycl__V1__SubDevicesCreate message = SYCL__V1__SUB_DEVICES_CREATE__INIT;
	message.device = device;
	message.partition = SYCL__V1__PARTITION__PARTITION_BY_COUNTS;
	message.n_values = count;
	message.values = values;
	message.n_objects = id_count;
	message.objects = ids;
	return send_division(client, &message);
}

/* Returns a sub-device by its number. */
static uint32_t divided(struct raw_client *client, uint64_t id)
{
	const Sycl__V1__Reply *reply = raw_reply_to(client, divide(client, 1, &id, 1));
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", client->error_text);
	cr_assert(eq(int, reply->body_case, SYCL__V1__REPLY__BODY_SUB_DEVICES), "%s",
		  reply->status ? reply->status->text : "another reply");
	cr_assert(eq(u32, reply->sub_devices->count, 1));
	cr_assert(eq(sz, reply->sub_devices->n_devices, 1));
	cr_assert(ge(u32, reply->sub_devices->devices[0]->device, 3));
	return reply->sub_devices->devices[0]->device;
}

static void hostile_sub_devices_expect_status(uint64_t number, int32_t code)
{
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, number);
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", hostile->error_text);
	cr_assert(ne(ptr, reply->status, NULL), "it was accepted");
	cr_assert(eq(i32, reply->status->code, code), "%s", reply->status->text);
}

/* The engine's devices are made and freed in its turns, which round trips cause. */
static void expect_none_left(struct raw_client *client)
{
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	while (counters.sub_devices > 0) {
		raw_round_trip(client);
		fake_counters(FAKE_ANY_DEVICE, &counters);
	}
}

Test(hostile, J2_a_sub_device_of_another_session_is_none_here)
{
	start_with_units();
	struct raw_client *other = &fixture.clients[2];
	raw_open(other);
	uint32_t number = divided(other, sub_id(0));
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, 50), number);
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, reply->body_case, SYCL__V1__REPLY__BODY_OBJECT_FAILED));
	cr_assert(eq(i32, reply->status->code, STATUS_INVALID), "%s", reply->status->text);
	uint64_t id = sub_id(1);
	uint32_t value = 1;
	Sycl__V1__SubDevicesCreate message = SYCL__V1__SUB_DEVICES_CREATE__INIT;
	message.device = number;
	message.partition = SYCL__V1__PARTITION__PARTITION_EQUALLY;
	message.n_values = 1;
	message.values = &value;
	message.n_objects = 1;
	message.objects = &id;
	hostile_sub_devices_expect_status(send_division(hostile, &message), STATUS_INVALID);
	hostile_expect_alive();
}

Test(hostile, J2_a_released_sub_device_is_none_any_more)
{
	start_with_units();
	uint32_t number = divided(hostile, sub_id(0));
	(void)raw_release(hostile, sub_id(0));
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, 50), number);
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	while (reply && reply->body_case == SYCL__V1__REPLY__BODY_RELEASED)
		reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, reply->body_case, SYCL__V1__REPLY__BODY_OBJECT_FAILED));
	expect_none_left(hostile);
	hostile_expect_alive();
}

Test(hostile, J2_more_ids_than_a_session_may_have_close_it)
{
	uint64_t ids[17];
	start_with_units();
	for (uint32_t i = 0; i < 17; i++)
		ids[i] = sub_id(i);
	(void)divide(hostile, 1, ids, 17);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "17 ids for sub-devices");
}

Test(hostile, J2_one_id_for_two_sub_devices_closes_the_session_and_leaves_none)
{
	start_with_units();
	uint64_t ids[] = {sub_id(0), sub_id(0)};
	(void)divide(hostile, 2, ids, 2);
	raw_wait_closed(hostile);
	expect_none_left(neighbour.client);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be the id of a new sub-device");
}

Test(hostile, J2_an_id_of_another_kind_closes_the_session_and_leaves_none)
{
	start_with_units();
	uint64_t id = raw_id(OBJECT_QUEUE, FIRST);
	(void)divide(hostile, 1, &id, 1);
	raw_wait_closed(hostile);
	expect_none_left(neighbour.client);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be the id of a new sub-device");
}

Test(hostile, J2_values_that_make_no_sense_are_refused)
{
	uint32_t values[65] = {1, 1};
	uint64_t id = sub_id(0);
	start_with_units();
	Sycl__V1__SubDevicesCreate message = SYCL__V1__SUB_DEVICES_CREATE__INIT;
	message.device = device;
	message.n_objects = 1;
	message.objects = &id;
	message.values = values;
	message.n_values = 65;
	for (int partition = 0; partition < 5; partition++) {
		message.partition = (Sycl__V1__Partition)partition;
		hostile_sub_devices_expect_status(send_division(hostile, &message), STATUS_INVALID);
	}
	message.n_values = 0;
	message.partition = SYCL__V1__PARTITION__PARTITION_EQUALLY;
	hostile_sub_devices_expect_status(send_division(hostile, &message), STATUS_INVALID);
	message.n_values = 1;
	message.device = UINT32_MAX;
	hostile_sub_devices_expect_status(send_division(hostile, &message), STATUS_INVALID);
	message.device = 62;
	hostile_sub_devices_expect_status(send_division(hostile, &message), STATUS_INVALID);
	hostile_expect_alive();
}

Test(hostile, J2_a_native_sub_device_of_another_process_is_refused)
{
	uint64_t id = sub_id(0);
	start_with_units();
	Sycl__V1__SubDevicesCreate message = SYCL__V1__SUB_DEVICES_CREATE__INIT;
	message.native = 0xdead0000beef0000u; /* an access there would crash */
	message.backend = SYCL__V1__BACKEND__BACKEND_OPENCL;
	message.n_objects = 1;
	message.objects = &id;
	hostile_sub_devices_expect_status(send_division(hostile, &message),
					  STATUS_FEATURE_NOT_SUPPORTED);
	hostile_expect_alive();
}

/* The sub-device has a context, a queue and running work. All of it ends with its client. */
Test(hostile, J2_a_client_that_dies_leaves_no_sub_device)
{
	start_with_units();
	struct raw_client *other = &fixture.clients[2];
	raw_open(other);
	uint32_t number = divided(other, sub_id(0));
	(void)divided(other, sub_id(1));
	(void)raw_context(other, raw_id(OBJECT_CONTEXT, 1), number);
	(void)raw_queue(other, raw_id(OBJECT_QUEUE, 2), raw_id(OBJECT_CONTEXT, 1), number, 0,
			false);
	raw_arena(other, 0, 65536);
	(void)raw_buffer(other, raw_id(OBJECT_BUFFER, 3), 0, 0, 4096);
	raw_round_trip(other);
	raw_fini(other);
	fixture_wait_gone(&fixture);
	expect_none_left(neighbour.client);
	raw_init(other, -1);
	hostile_expect_alive();
}

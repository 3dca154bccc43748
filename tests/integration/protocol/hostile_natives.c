/* A client of another process requests native handles, or sends some. It is refused, and the engine
 * accesses nothing that it sent (I18, S8). */
#include "protocol/hostile_fixture.h"

#include <string.h>

#define NOT_HERE ((uint64_t)0xdead0000beef0000u) /* an access there would crash */

static void hostile_natives_expect_refused(uint64_t number)
{
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, number);
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", hostile->error_text);
	cr_assert(ne(ptr, reply->status, NULL), "it was accepted");
	cr_assert(eq(i32, reply->status->code, STATUS_FEATURE_NOT_SUPPORTED), "%s",
		  reply->status->text);
	cr_assert(eq(int, reply->body_case == SYCL__V1__REPLY__BODY_NATIVE_HANDLES, 0),
		  "a handle came with it");
}

static uint64_t describe(uint32_t backend, uint32_t kind)
{
	Sycl__V1__NativeDescribe message = SYCL__V1__NATIVE_DESCRIBE__INIT;
	message.backend = (Sycl__V1__Backend)backend;
	message.kind = (Sycl__V1__NativeKind)kind;
	message.native = NOT_HERE;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_NATIVE_DESCRIBE;
	command.native_describe = &message;
	return raw_send(hostile, &command);
}

static uint64_t get(uint32_t kind, uint64_t object)
{
	Sycl__V1__NativeGet message = SYCL__V1__NATIVE_GET__INIT;
	message.kind = (Sycl__V1__NativeKind)kind;
	message.object = object;
	message.device = device;
	message.queue = hostile_queue();
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_NATIVE_GET;
	command.native_get = &message;
	return raw_send(hostile, &command);
}

static uint64_t make_native(uint64_t object)
{
	uint64_t native = NOT_HERE;
	Sycl__V1__NativeMake message = SYCL__V1__NATIVE_MAKE__INIT;
	message.object = object;
	message.context = raw_id(OBJECT_CONTEXT, CONTEXT);
	message.device = device;
	message.n_natives = 1;
	message.natives = &native;
	message.n_devices = 1;
	message.devices = &device;
	message.slot = 1;
	message.size_bytes = 4096;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_NATIVE_MAKE;
	command.native_make = &message;
	return raw_send(hostile, &command);
}

Test(hostile, I18_native_handles_are_refused_and_not_looked_at)
{
	static const enum object_type made[] = {OBJECT_CONTEXT, OBJECT_QUEUE,  OBJECT_BUFFER,
						OBJECT_BUNDLE,  OBJECT_KERNEL, OBJECT_SHARED_EVENT};
	hostile_start_with_objects(NULL);
	for (uint32_t kind = 0; kind <= 9; kind++) {
		for (uint32_t backend = 0; backend <= 4; backend++)
			hostile_natives_expect_refused(describe(backend, kind));
		hostile_natives_expect_refused(get(kind, hostile_queue()));
		hostile_natives_expect_refused(get(kind, hostile_buffer()));
		hostile_natives_expect_refused(get(kind, NOT_HERE));
	}
	for (uint32_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		uint64_t id = raw_id(made[i], 20 + i);
		hostile_natives_expect_refused(make_native(id));
		(void)raw_release(hostile, id);
	}
	raw_round_trip(hostile);
	hostile_expect_alive();
}

Test(hostile, R2_the_native_event_of_a_command_is_not_for_another_process)
{
	hostile_start_with_objects(NULL);
	Sycl__V1__SharedEventCreate message = SYCL__V1__SHARED_EVENT_CREATE__INIT;
	message.event = raw_id(OBJECT_SHARED_EVENT, 20);
	message.queue = NOT_HERE;
	message.group = UINT64_MAX;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_SHARED_EVENT_CREATE;
	command.shared_event_create = &message;
	hostile_natives_expect_refused(raw_send(hostile, &command));
	hostile_expect_alive();
}

Test(hostile, I18_what_is_made_of_nothing_native_closes_the_session)
{
	hostile_start_with_objects(NULL);
	(void)make_native(raw_id(OBJECT_USM, 20));
	hostile_expect_closed(STATUS_CONNECTION_LOST,
			      "kind of object that native objects can make");
}

Test(hostile, I18_a_host_task_cannot_keep_its_data_on_a_device)
{
	hostile_start_with_objects(NULL);
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT;
	task.slot = 2;
	task.slot_value = 1;
	task.on_device = true;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK;
	group.host_task = &task;
	(void)hostile_group(&group, 1);
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED));
	cr_assert(eq(i32, reply->status->code, STATUS_FEATURE_NOT_SUPPORTED));
	cr_assert(eq(u32, raw_wait_slot(hostile, 2, 1), 1), "its turn never comes");
	hostile_expect_alive();
}

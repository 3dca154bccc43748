#include "process/room.h"

#include "base/room.h"
#include "scheduler/public/scheduler.h"

enum { UUID_BYTES = 16 };

void room_ask(struct room_link *link, const uint8_t *uuid, uint64_t bytes,
	      const struct room_figures *figures)
{
	Sycl__V1__MemoryWanted wanted = SYCL__V1__MEMORY_WANTED__INIT;
	wanted.ask = ++link->ask;
	wanted.device = (ProtobufCBinaryData){UUID_BYTES, (uint8_t *)(uintptr_t)uuid};
	wanted.bytes = bytes;
	wanted.held_bytes = figures->held_bytes;
	wanted.capacity_bytes = figures->capacity_bytes;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_MEMORY_WANTED;
	control.memory_wanted = &wanted;
	if (link->send(link->context, &control.base) < 0)
		room_drop(link);
}

void room_take_answer(struct room_link *link, const Sycl__V1__MemoryAnswer *message)
{
	if (message->ask == link->ask)
		scheduler_room_answer(link->scheduler, message->bytes);
}

void room_drop(struct room_link *link)
{
	scheduler_room_answer(link->scheduler, 0);
}

void room_report(struct room_link *link, uint64_t request, const struct room_figures *figures)
{
	Sycl__V1__MemoryState state = SYCL__V1__MEMORY_STATE__INIT;
	state.request = request;
	state.held_bytes = figures->held_bytes;
	state.spillable_bytes = figures->spillable_bytes;
	state.capacity_bytes = figures->capacity_bytes;
	state.freed_bytes = figures->freed_bytes;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_MEMORY_STATE;
	control.memory_state = &state;
	(void)link->send(link->context, &control.base);
}

void room_take_request(struct room_link *link, const Sycl__V1__MemoryRequest *message)
{
	const struct room_request request = {
		.number = message->request,
		.bytes = message->bytes,
		.within_ns = message->within_ns,
		.hold_ns = message->hold_ns,
	};
	if (message->device.len == UUID_BYTES &&
	    scheduler_room_request(link->scheduler, message->device.data, &request) == 0)
		return;
	room_report(link, message->request, &(struct room_figures){.held_bytes = 0});
}

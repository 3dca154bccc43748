/*
 * Memory of devices that several engines use: messages between the scheduler and the supervisor
 * (worker/spill/room.h, daemon/supervisor/engine/arbiter.h). Front thread.
 */
#ifndef SYCL_ENGINE_PROCESS_ROOM_H
#define SYCL_ENGINE_PROCESS_ROOM_H

#include "control.pb-c.h"

#include <stdint.h>

struct room_figures;
struct scheduler;

/* The supervisor's end. */
struct room_link {
	struct scheduler *scheduler;
	uint64_t ask; /* the latest */
	void *context;
	int (*send)(void *context, const ProtobufCMessage *control);
};

/* A device needs room. Without a supervisor there is none. */
void room_ask(struct room_link *link, const uint8_t *uuid, uint64_t bytes,
	      const struct room_figures *figures);
void room_take_answer(struct room_link *link, const Sycl__V1__MemoryAnswer *message);
/* The supervisor has ended: there will be no answer. */
void room_drop(struct room_link *link);
void room_take_request(struct room_link *link, const Sycl__V1__MemoryRequest *message);
/* The reply to a request. */
void room_report(struct room_link *link, uint64_t request, const struct room_figures *figures);

#endif

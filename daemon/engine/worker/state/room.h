/* Room on a device whose memory several engines use: what passes between the front thread and the
 * device's thread. How it is used: spill/room.h. */
#ifndef SYCL_ENGINE_WORKER_STATE_ROOM_H
#define SYCL_ENGINE_WORKER_STATE_ROOM_H

#include "base/room.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum room_ask {
	ROOM_ASK_NO,
	ROOM_ASK_WAITS, /* the device's thread needs room, and the front has not taken that yet; */
	ROOM_ASK_TAKEN, /* the front has; */
	ROOM_ASK_ANSWERED, /* the question has its answer */
};

struct worker_room {
	_Atomic uint64_t held_bytes; /* memory of sessions on the device */
	_Atomic uint32_t news;       /* for the device's thread: an answer or a request has come */
	/* Guards the fields below; nothing else is locked inside it. */
	pthread_mutex_t lock;
	enum room_ask ask;
	uint64_t ask_bytes, answer_bytes;
	struct room_figures asking;  /* figures of the device's thread, when it asked */
	struct room_request request; /* a request that has come */
	uint64_t done;               /* number of the request that is over; 0: none */
	struct room_figures figures; /* the figures that are reported of that request */
	/* device thread */
	struct room_request current; /* the request that is being served; number 0: none */
	uint64_t until_ns, again_ns; /* memory begins to leave for it until then; the next try */
	uint64_t leaving_bytes, freed_bytes; /* bytes that leave or were freed for that request */
	bool is_stuck;                       /* no more memory can leave for the request */
	uint64_t held_until_ns; /* until this time the engine takes no more memory of the device */
	uint64_t asked_ns, ask_until_ns; /* an answer is awaited until then; 0: none is */
	uint64_t refused_until_ns;
	/* When the backend last gave back its kept memory, and the capacity at that time. */
	uint64_t trimmed_ns, capacity_bytes;
	uint32_t tries;       /* asks in a row for the same need */
	bool has_answer;      /* the latest answer, and no memory was tried since */
	uint64_t given_bytes; /* bytes that the latest answer brought */
};

#endif

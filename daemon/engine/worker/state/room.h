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
	ROOM_ASK_ANSWERED, /* and the answer is there */
};

struct worker_room {
	_Atomic uint64_t held_bytes; /* memory of sessions on the device */
	_Atomic uint32_t news;       /* for the device's thread: an answer or a request has come */
	/* Guards these; nothing else is locked inside it. */
	pthread_mutex_t lock;
	enum room_ask ask;
	uint64_t ask_bytes, answer_bytes;
	struct room_figures asking;  /* of the device's thread, when it asked */
	struct room_request request; /* that has come */
	uint64_t done;               /* the request that is over; 0: none */
	struct room_figures figures; /* and what is reported of it */
	/* device thread */
	struct room_request current; /* that is being served; number 0: none */
	uint64_t until_ns, again_ns; /* memory begins to leave for it until then; the next try */
	uint64_t leaving_bytes, freed_bytes; /* for it */
	bool is_stuck;                       /* no more can leave for it */
	uint64_t held_until_ns;              /* no more memory of the device is taken until then */
	uint64_t asked_ns, ask_until_ns;     /* an answer is awaited until then; 0: none is */
	uint64_t refused_until_ns;
	uint64_t trimmed_ns, capacity_bytes; /* when the backend gave back what it kept; of then */
	uint32_t tries;                      /* asks in a row for the same need */
	bool has_answer;                     /* the latest answer, and no memory was tried since */
	uint64_t given_bytes;                /* of that answer */
};

#endif

/* Room on a device whose memory several engines use: the state that the front thread and the
 * device's thread share. spill/room.h describes its use. */
#ifndef SYCL_ENGINE_WORKER_STATE_ROOM_H
#define SYCL_ENGINE_WORKER_STATE_ROOM_H

#include "base/room.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum room_ask {
	ROOM_ASK_NO,
	ROOM_ASK_WAITS,    /* the device's thread needs room; the front has not read the question */
	ROOM_ASK_TAKEN,    /* the front has read the question */
	ROOM_ASK_ANSWERED, /* the answer has arrived */
};

struct worker_room {
	_Atomic uint64_t held_bytes; /* memory of sessions on the device */
	_Atomic uint32_t news; /* for the device's thread: an answer or a request has arrived */
	/* Guards the fields below; nothing else is locked inside it. */
	pthread_mutex_t lock;
	enum room_ask ask;
	uint64_t ask_bytes, answer_bytes;
	struct room_figures asking;  /* figures of the device's thread at its question */
	struct room_request request; /* a request that has arrived */
	uint64_t done;               /* number of the request that is over; 0: none */
	struct room_figures figures; /* the reported figures of that request */
	/* device thread */
	struct room_request current; /* the request that is being served; number 0: none */
	uint64_t until_ns,
		again_ns; /* memory may begin to leave until until_ns; next try at again_ns */
	uint64_t leaving_bytes, freed_bytes; /* bytes that leave, and that were freed, for it */
	bool is_stuck;                       /* no more memory can leave for the request */
	uint64_t held_until_ns; /* until this time the engine takes no more memory of the device */
	uint64_t asked_ns, ask_until_ns; /* the answer is awaited until ask_until_ns; 0: none is */
	uint64_t refused_until_ns;
	/* When the backend last returned its kept memory, and the capacity at that time. */
	uint64_t trimmed_ns, capacity_bytes;
	uint32_t tries;       /* questions in a row for the same need */
	bool has_answer;      /* an answer has arrived, and no memory was tried since */
	uint64_t given_bytes; /* bytes that the latest answer brought */
};

#endif

/* What engines and the supervisor exchange about the memory of a device (proto/control.proto). */
#ifndef SYCL_ENGINE_ROOM_H
#define SYCL_ENGINE_ROOM_H

#include <stdint.h>

/* See MemoryState there. */
struct room_figures {
	uint64_t held_bytes, spillable_bytes, capacity_bytes, freed_bytes;
};

/* See MemoryRequest there. */
struct room_request {
	uint64_t number; /* 0: none */
	uint64_t bytes, within_ns, hold_ns;
};

#endif

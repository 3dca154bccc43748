/*
 * Messages between engines and the supervisor about the memory of a device (proto/control.proto).
 */
#ifndef SYCL_ENGINE_ROOM_H
#define SYCL_ENGINE_ROOM_H

#include <stdint.h>

/* See MemoryState in control.proto. */
struct room_figures {
	uint64_t held_bytes, spillable_bytes, capacity_bytes, freed_bytes;
};

/* See MemoryRequest in control.proto. */
struct room_request {
	uint64_t number; /* 0: none */
	uint64_t bytes, within_ns, hold_ns;
};

#endif

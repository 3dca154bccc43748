/* The engine's double, between its files. */
#ifndef SYCL_TESTS_ENGINE_DOUBLE_H
#define SYCL_TESTS_ENGINE_DOUBLE_H

#include "control.pb-c.h"
#include "memory_region.h"
#include "packet.h"

#include <stdbool.h>
#include <stdint.h>

enum { SESSIONS_MAX = 64, FACTS_BYTES = 2048 };

struct engine_double {
	int control;
	const char *manner;
	struct memory_region *flight, *claims;
	int grants;      /* the page's descriptor */
	unsigned harmed; /* what could be done to the pages that must not be */
	struct decode_arena arena;
	uint64_t held_mib, ask;
	const char *giving; /* the word that says how it frees memory; "": as requested */
	int needing;        /* the socket of the client for which it asks */
	bool draining;
	uint8_t token[ENGINE_TOKEN_BYTES];
	char successor[108]; /* where the next service listens; "": it is not looked for */
	unsigned count;
	struct {
		uint64_t id;
		Sycl__V1__SessionHandOff hand_off;
		int socket;
		bool welcomed, paused;
	} sessions[SESSIONS_MAX];
};

extern struct engine_double me;

#define CLAIMS_MAX 120

/* Is that how it behaves? */
bool manner(const char *name);
/* To the supervisor, unless it has hung up. */
void say(Sycl__V1__Control *control, const int *fds, unsigned count);

/*
 * The use of each session of this engine: a little of one device. A braggart reports use of many
 * devices without a limit, also of impossible ones. `list`: CLAIMS_MAX. Returns how many.
 */
size_t claims(Sycl__V1__DeviceUsage **list);
void report(uint64_t request, bool discover);
/* In parts; `most` 0: one without records. */
void send_trace_part(uint64_t request, uint32_t most);

#endif

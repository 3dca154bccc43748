/* Declarations shared by the files of the engine's double. */
#ifndef SYCL_TESTS_ENGINE_DOUBLE_H
#define SYCL_TESTS_ENGINE_DOUBLE_H

#include "control.pb-c.h"
#include "memory_region.h"
#include "packet.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SESSIONS_MAX = 64, FACTS_BYTES = 2048 };

struct engine_double {
	int control;
	const char *manner;
	struct memory_region *flight, *claims;
	int grants;      /* the page's descriptor */
	unsigned harmed; /* forbidden changes of the pages that were possible */
	struct decode_arena arena;
	uint64_t held_mib, ask;
	const char *giving; /* the word that determines how it frees memory; "": as requested */
	int needing;        /* the socket of the client for which it requests memory */
	bool draining;
	uint8_t token[ENGINE_TOKEN_BYTES];
	char successor[108]; /* where the next service listens; "": it does not look for it */
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

/* Returns true if the program has this manner. */
bool manner(const char *name);
/* Sends a message to the supervisor, unless that has hung up. */
void say(Sycl__V1__Control *control, const int *fds, unsigned count);

/*
 * The use of each session of this engine: a little of one device. A braggart reports more devices
 * than the limit, and impossible times. `list`: CLAIMS_MAX. Returns how many there are.
 */
size_t claims(Sycl__V1__DeviceUsage **list);
void report(uint64_t request, bool discover);
/* Once two reports were requested: sends parts of both in turn, without an end. */
void report_in_turn(uint64_t request);
/* Sends a trace in parts; `most` 0: one part without records. */
void send_trace_part(uint64_t request, uint32_t most);

/* engine_double.c: replies to a client's word. */
void send_wake(int socket);

/* engine_double_memory.c: the memory of a device, and the pages of a division. */
enum { MIB = 1 << 20 };
void give_memory(const Sycl__V1__MemoryRequest *request);
/* False: the word is not about memory. */
bool run_memory_word(int socket, const char *text);
void take_division(struct packet_fds *fds);

/* engine_double_standby.c */
/* Changes the user as the real engine does: at once, for good, and so that other processes of the
 * uid cannot read it. */
void become(uid_t uid, gid_t gid);
/* Returns when the standby was adopted. */
void stand_by(unsigned long *warm_out, long *prepared_out);

#endif

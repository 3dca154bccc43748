/*
 * The parties of processes_gpu_share: a private service, one or two sessions, and a CUDA program
 * that is independent of this project. Each is a process that executes orders.
 */
#ifndef TESTS_INTEGRATION_GPU_SHARE_PARTIES_H
#define TESTS_INTEGRATION_GPU_SHARE_PARTIES_H

#include "processes/fake_service.h"

#include <string.h>

enum { SHARE_BYTES = 100000, SHARE_HEX = 128 };

/* A process that executes orders, and the socket over which descriptors reach it. */
struct party {
	struct child child;
	int socket;
	char line[LINE_BYTES]; /* its last answer */
};

struct parties {
	struct private_service *service;
	bool real; /* a GPU */
	struct party worker, second, program;
};

extern struct parties parties;

/* Sends "NAME ARGUMENTS"; the answer is in `line`. */
__attribute__((format(printf, 2, 3))) void party_order(struct party *party, const char *format,
						       ...);

/* As above; the answer must be "ok". Returns the words behind it. */
#define party_ask(party, ...)                                                                      \
	__extension__({                                                                            \
		party_order(party, __VA_ARGS__);                                                   \
		cr_assert(strncmp((party)->line, "ok", 2) == 0, "%s", (party)->line);              \
		(party)->line + ((party)->line[2] ? 3 : 2);                                        \
	})

/* Sends an order that must fail with this code, or for another reason with this word. */
#define party_expect_refused(party, word, ...)                                                     \
	do {                                                                                       \
		party_order(party, __VA_ARGS__);                                                   \
		cr_expect(strncmp((party)->line, "result", 6) == 0 && strstr((party)->line, word), \
			  "%s", (party)->line);                                                    \
	} while (0)

/* Starts a session as that user; 0: as this one. Returns false if its service lists no such GPU. */
bool party_start_worker_of(struct party *party, unsigned uid);
bool party_start_worker(struct party *party);
bool party_start_program(struct party *party);
void party_end(struct party *party);

/* Begins and ends a test. All parties use a GPU, otherwise the double of its driver. Without both
 * the test is skipped. */
void parties_start(void);
void parties_stop(void);
bool parties_have_gpu(void);

void party_send_descriptor(struct party *to, int descriptor);
int party_receive_descriptor(struct party *from);

/* The export of a session; the descriptor stays the test's. */
struct exported {
	char kind[8], hex[SHARE_HEX + 1];
	unsigned long size, mapped;
	int descriptor;
};

struct exported party_export(struct party *party);
void party_import(struct party *worker, const struct exported *exported);
void party_open_in_program(const struct exported *exported);
/* The first session makes a buffer with these contents, and exports it. */
struct exported party_make_and_export(const char *kind, unsigned value);
/* Returns true once nothing is charged to the session: that is a moment after it has released
 * everything. */
bool party_is_charged_nothing(void *party);

#endif

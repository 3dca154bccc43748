/* An engine on a thread of the test, sessions over socketpairs. Failures end the program with a
 * sentence on stderr. */
#ifndef SYCL_TESTS_ENGINE_FIXTURE_H
#define SYCL_TESTS_ENGINE_FIXTURE_H

#include "process/engine.h"
#include "protocol/raw_client.h"

#include <pthread.h>
#include <semaphore.h>

#define FIXTURE_CLIENTS 3

struct engine_fixture {
	struct engine *engine;
	pthread_t thread;
	struct raw_client clients[FIXTURE_CLIENTS]; /* not opened yet */
	int run_result;
	sem_t closed;               /* posted when a session is gone */
	Sycl__V1__Usage last_usage; /* of the session that went last; read it after waiting */
	char last_reason[512];
};

/* Defaults for fixture_start: the fake backend, the ordinary limits. */
void fixture_options(struct engine_options *options);
/* Starts it with FIXTURE_CLIENTS sessions. `with_builds`: with a build helper. */
void fixture_start(struct engine_fixture *fixture, const struct engine_options *options,
		   bool with_builds);
/* Ends it as `sycld` would and waits for its end; everything that it had must be gone. */
void fixture_stop(struct engine_fixture *fixture);

/* Until one more session is gone: its memory and descriptors are free. */
void fixture_wait_gone(struct engine_fixture *fixture);

/* A full round through a session: arena, buffer, fill, update, the bytes compared. Uses objects 0
 * to 2, slots 0, 1. */
struct neighbour {
	struct raw_client *client;
	uint64_t groups;
};
void neighbour_open(struct neighbour *neighbour, struct raw_client *client);
/* Whatever happened elsewhere: this session works. */
void neighbour_check(struct neighbour *neighbour);

#endif

/* An engine on a thread of the test, with sessions over socketpairs. A failure ends the program
 * with a sentence on stderr. */
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
	Sycl__V1__Usage last_usage; /* of the session that ended last; read it after waiting */
	char last_reason[512];
	/* Of the engine that was stopped last. */
	struct scheduler_counters last_counters;
	uint64_t last_kept_waits;
};

/* Defaults for fixture_start: the fake backend, the ordinary limits. */
void fixture_options(struct engine_options *options);
/* Starts it with FIXTURE_CLIENTS sessions. `with_builds`: with a build helper. */
void fixture_start(struct engine_fixture *fixture, const struct engine_options *options,
		   bool with_builds);
/* Ends it as `sycld` would and waits for its end. Everything that it had must be freed. */
void fixture_stop(struct engine_fixture *fixture);

/* Waits until one more session has ended: its memory and descriptors are freed. */
void fixture_wait_gone(struct engine_fixture *fixture);

/* A full round through a session: arena, buffer, fill, update, and a comparison of the bytes. It
 * uses objects 0 to 2 and slots 0 and 1. */
struct neighbour {
	struct raw_client *client;
	uint64_t groups;
};
void neighbour_open(struct neighbour *neighbour, struct raw_client *client);
/* Checks that this session works, whatever happened in others. */
void neighbour_check(struct neighbour *neighbour);

#endif

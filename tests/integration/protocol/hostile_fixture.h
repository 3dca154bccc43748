/* Common parts of the files of session_hostile: an engine, a session that misbehaves, and a
 * neighbour, which must not be affected. */
#ifndef SYCL_TESTS_HOSTILE_FIXTURE_H
#define SYCL_TESTS_HOSTILE_FIXTURE_H

#include "protocol/engine_fixture.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* Indices of the objects that hostile_start_with_objects makes. */
enum { CONTEXT = 0, QUEUE = 1, BUFFER = 2 };

extern struct engine_fixture fixture;
extern struct neighbour neighbour;
extern struct raw_client *hostile;
extern uint32_t device; /* the fake device, once there are objects */

uint64_t hostile_queue(void);
uint64_t hostile_buffer(void);

/* Call it before the engine starts, to give it a build helper. */
void hostile_have_builds(void);
/* Starts the engine (`options`: NULL for the defaults) and the neighbour. The hostile session has
 * sent nothing. */
void hostile_start(const struct engine_options *options);
/* As above, and the hostile session has sent its hello. */
void hostile_start_open(const struct engine_options *options);
/* As above, with a context, a queue (slot 0), an arena of 64 KiB and a buffer of 4096 bytes at its
 * start. */
void hostile_start_with_objects(const struct engine_options *options);

/* Checks that the neighbour works, and ends everything. */
void hostile_stop(void);
/* Expects that the session was closed with this code and a sentence that contains these words; then
 * hostile_stop. */
void hostile_expect_closed(int32_t code, const char *words);
/* Expects that the session is open; then hostile_stop. */
void hostile_expect_alive(void);

/* Expects this failure as the answer to a request. */
void hostile_expect_answer(uint64_t number, int32_t code, const char *words);

/* The first sends a command group, to hostile_queue() if it names no queue; the second sends a fill
 * of the whole buffer. Both return the request. */
uint64_t hostile_group(Sycl__V1__CommandGroup *group, uint64_t number);
uint64_t hostile_fill(uint64_t number);
/* Sends a host accessor that reads. Returns the request. */
uint64_t hostile_access(uint64_t accessor, uint64_t buffer, uint32_t slot, uint32_t value);

#endif

/* Common parts of the files of session_hostile: an engine, a session that misbehaves and a
 * neighbour that must not be affected. */
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
extern uint32_t device; /* the fake one, once there are objects */

uint64_t hostile_queue(void);
uint64_t hostile_buffer(void);

/* Before the engine starts: it gets a build helper. */
void hostile_have_builds(void);
/* The engine (`options`: NULL for the defaults) and the neighbour; the hostile session has sent
 * nothing. */
void hostile_start(const struct engine_options *options);
/* And said hello. */
void hostile_start_open(const struct engine_options *options);
/* And with a context, a queue (slot 0), an arena of 64 KiB and a buffer of 4096 bytes at its start.
 */
void hostile_start_with_objects(const struct engine_options *options);

/* The neighbour works; the end. */
void hostile_stop(void);
/* The session was closed with this code and a sentence with these words in it; hostile_stop. */
void hostile_expect_closed(int32_t code, const char *words);
/* The session lives; hostile_stop. */
void hostile_expect_alive(void);

/* Send a command group, to hostile_queue() if it names no queue; a fill of the whole buffer. Return
 * the request. */
uint64_t hostile_group(Sycl__V1__CommandGroup *group, uint64_t number);
uint64_t hostile_fill(uint64_t number);
/* Send a host accessor that reads. Returns the request. */
uint64_t hostile_access(uint64_t accessor, uint64_t buffer, uint32_t slot, uint32_t value);

#endif

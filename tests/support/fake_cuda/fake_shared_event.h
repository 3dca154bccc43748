/* The shared part of an interprocess event: two counters in a page that processes share by a
 * name. */
#ifndef SYCL_TESTS_FAKE_SHARED_EVENT_H
#define SYCL_TESTS_FAKE_SHARED_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_shared_event;

/* NULL: no memory. `name_out` receives its name. */
struct fake_shared_event *fake_shared_event_make(char *name_out, size_t name_bytes);
struct fake_shared_event *
fake_shared_event_open(const char handle[64]); /* NULL: there is no such event */
struct fake_shared_event *fake_shared_event_ref(struct fake_shared_event *event);
void fake_shared_event_unref(struct fake_shared_event *event); /* accepts NULL; with the lock */
void fake_shared_event_unlink(const char *name);
void fake_shared_event_name(const char *name, char handle_out[64]);
uint64_t fake_shared_event_begin(
	struct fake_shared_event *event); /* a record was sent; returns its number */
uint64_t fake_shared_event_last(const struct fake_shared_event *event);
bool fake_shared_event_done(const struct fake_shared_event *event);
void fake_shared_event_set(struct fake_shared_event *event, uint64_t number);
void fake_shared_event_await(struct fake_shared_event *event,
			     uint64_t number); /* without the lock */

#endif

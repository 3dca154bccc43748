/* Common parts of the files of session_groups: a session on fake devices with two queues, two
 * buffers and its kernels. */
#ifndef SYCL_TESTS_GROUPS_FIXTURE_H
#define SYCL_TESTS_GROUPS_FIXTURE_H

#include "access_mode.h"
#include "protocol/engine_fixture.h"
#include "fake_control.h"
#include "resubmit.h"
#include "scheduler/public/scheduler.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* Indices of objects, and completion slots. ORDERED is an in-order queue. Buffers have 1024 words,
 * all 0. */
enum { CONTEXT = 0, QUEUE = 1, ORDERED = 2, BUFFER = 3, OTHER = 4, BUNDLE = 5, FIRST_KERNEL = 10 };
enum { QUEUE_SLOT = 0, ORDERED_SLOT = 1, EVENT_SLOT = 2 };
enum kernel_name { FILL, INCREMENT, COPY, HOLD, BROKEN, NOOP, LINEAR, EVEN, KERNELS };

extern struct raw_client *client;
extern uint32_t device;

void groups_start(void);
void groups_start_limited(uint32_t groups_in_flight); /* 0: the ordinary limit */
/* Not timed: its queues have no profiling, so groups that come together may be taken as one. */
void groups_start_timed(uint32_t groups_in_flight, bool timed);
void groups_stop(void);                       /* the session must still work */
void groups_expect_closed(const char *words); /* the engine has closed the session, for a reason
						 that contains these words; ends the test */
Sycl__V1__Usage
groups_gone(void); /* the client closes its socket; returns the session's counts; ends the test */
/* Returns how many launches of kept tasks the engine that was stopped last has submitted. */
uint64_t groups_kept_launches(void);
/* The number of reads that kept tasks did by themselves. */
uint64_t groups_kept_reads(void);
/* Returns how often it has waited for records of a stretch that is kept. */
uint64_t groups_kept_waits(void);
/* Returns the counts of the session so far. */
Sycl__V1__Usage groups_usage(void);
/* The engine's counts, and how many rows of groups the session keeps a task for or may. The engine
 * has handled everything before. */
struct scheduler_counters groups_counters(void);
uint32_t groups_kept_rows(void);
/* Returns and takes the number of the queue's next group. */
uint64_t groups_number(bool ordered);

uint64_t groups_queue(bool ordered);

/* The replies to a build from source and to the making of a kernel. */
const Sycl__V1__Reply *groups_bundle(uint32_t index, const char *source);
const Sycl__V1__Reply *groups_kernel(uint32_t index, uint32_t bundle, const char *name);

/* A command group that is being built. */
struct build {
	Sycl__V1__CommandGroup group;
	Sycl__V1__Requirement requirements[3], *requirement_list[3];
	Sycl__V1__EventRef events[3], *event_list[3];
	Sycl__V1__Launch launch;
	Sycl__V1__Argument arguments[4], *argument_list[4];
	Sycl__V1__Fill fill;
	Sycl__V1__Copy copy;
	Sycl__V1__MemoryEnd source, destination;
	uint64_t global[3], local[3], offset[3];
	uint32_t values[4];
};

void build_begin(struct build *build);
void build_require(struct build *build, uint32_t buffer, uint32_t mode);
void build_depend(struct build *build, uint64_t queue, uint64_t group);
Sycl__V1__Argument *build_argument(struct build *build, Sycl__V1__Argument__ValueCase kind);
void build_accessor(struct build *build, uint32_t requirement);
void build_value(struct build *build, uint32_t value);
void build_launch(struct build *build, enum kernel_name kernel, uint64_t items);
/* Begins it anew: fill_u32 over the whole buffer; a kernel that waits for the gate. */
void build_fill(struct build *build, uint32_t buffer, uint32_t value);
void build_hold(struct build *build, uint32_t gate);

/* All return the group's number. groups_submit_empty submits no action, with slot_value 1, to the
 * out-of-order queue. */
uint64_t build_submit(struct build *build, bool ordered);
uint64_t groups_submit_hold(uint32_t gate, bool ordered);
uint64_t groups_submit_empty(bool after_all, uint32_t slot);

/* Waits until the queue has ended all its groups. Returns its slot's status. */
uint32_t groups_wait(bool ordered);
Sycl__V1__Profile groups_profile(uint64_t queue, uint64_t group);

/* Expects that the next reported failure is this one. */
void expect_failed(uint64_t queue, uint64_t group, int32_t code, const char *words);
/* Submits a wrong group to the out-of-order queue. Expects its refusal; its number is used up. */
void expect_refused(struct build *build, int32_t code, const char *words);

/* What is wrong in the record of a group that is submitted again, and words of the engine's reason.
 * The values are added to those of the right record, but flags and slot replace them. payload is
 * for the bytes of the ring's record; the test that uses it adds it. */
struct wrong_record {
	int32_t shape, generation, rest, group, payload;
	uint32_t flags, slot;
	const char *words;
};
void wrong_record_apply(const struct wrong_record *wrong, struct resubmit_record *head);

void groups_access(uint32_t accessor, uint32_t buffer, uint32_t mode, uint32_t slot);
const uint32_t *groups_words(uint32_t buffer);
/* Expects that the buffer on the host has only this value. The accessor's index and slot are used
 * once. */
void expect_words(uint32_t buffer, uint32_t value, uint32_t once);
/* Expects that the buffer has no contents, because the group that was to write them failed. */
void expect_poisoned(uint32_t buffer, uint32_t once);

#endif

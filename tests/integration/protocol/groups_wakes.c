/* Which completions and replies wake a client that sleeps. */
#include "protocol/groups_fixture.h"

#include "processors.h"
#include "spin_pace.h"
#include "wake.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>

enum { SPARE = 20 };

static _Atomic uint32_t *sleep_flag(void)
{
	return &client->header->client_sleeps;
}

/* Sets the flag of a library that sleeps, but this thread continues. */
static void sleep_for(uint64_t awaits)
{
	atomic_store(&client->header->client_awaits, awaits);
	wake_prepare_sleep(sleep_flag());
}

static bool has_datagram(int timeout_ms)
{
	struct pollfd socket = {.fd = client->socket, .events = POLLIN};
	return poll(&socket, 1, timeout_ms) == 1;
}

/* Polls the shared memory, so that the client neither sleeps nor wakes for the engine. */
static void watch_slot(uint32_t slot, uint32_t value)
{
	struct pollfd socket = {.fd = client->socket};
	while (!sequence_reached(atomic_load(&client->slots[slot].sequence), value)) {
		cr_assert(eq(int, poll(&socket, 1, 0), 0), "the engine hung up");
		(void)sched_yield();
	}
}

static void run_fill(uint32_t number)
{
	struct build build;
	build_fill(&build, BUFFER, number);
	(void)build_submit(&build, true);
	watch_slot(ORDERED_SLOT, number);
}

/* The engine has written the slot of the second group. So the turn that wrote the first one's has
 * ended, with all its wake-ups. */
Test(groups, a_client_that_awaits_a_slot_sleeps_through_earlier_completions)
{
	groups_start();
	sleep_for(ring_awaits_slot(ORDERED_SLOT, 3));
	run_fill(1);
	run_fill(2);
	cr_assert(eq(u32, atomic_load(sleep_flag()), 1));
	cr_assert(not(has_datagram(0)));
	run_fill(3);
	cr_assert(has_datagram(RAW_WAIT_MS));
	cr_assert(eq(u32, atomic_load(sleep_flag()), 0));
	groups_stop();
}

Test(groups, a_client_that_awaits_anything_wakes_for_the_first_completion)
{
	groups_start();
	sleep_for(RING_AWAITS_ANY);
	run_fill(1);
	cr_assert(has_datagram(RAW_WAIT_MS));
	groups_stop();
}

/* A number that is no slot is the client's mistake. It is woken as if it waited for any slot. */
Test(groups, a_client_that_awaits_no_real_slot_wakes_for_the_first_completion)
{
	groups_start();
	sleep_for(UINT64_MAX);
	run_fill(1);
	cr_assert(has_datagram(RAW_WAIT_MS));
	groups_stop();
}

/* Each causes one Released. */
static void make_and_release(uint32_t first, uint32_t end)
{
	for (uint32_t index = first; index < end; index++) {
		(void)raw_buffer(client, raw_id(OBJECT_BUFFER, index), 0, 0, 64);
		(void)raw_release(client, raw_id(OBJECT_BUFFER, index));
	}
}

Test(groups, a_client_that_awaits_a_slot_sleeps_through_releases_but_not_answers)
{
	groups_start();
	sleep_for(ring_awaits_slot(ORDERED_SLOT, 10));
	make_and_release(SPARE, SPARE + 1);
	run_fill(1);
	run_fill(2);
	cr_assert(eq(u32, atomic_load(sleep_flag()), 1));
	(void)raw_ping(client);
	cr_assert(has_datagram(RAW_WAIT_MS));
	groups_stop();
}

/* Otherwise the engine would wait for room, and the client for a group that the engine does not
 * read. */
Test(groups, a_client_that_awaits_a_slot_wakes_when_replies_find_no_room)
{
	/* More replies than fit. The submit ring has room for the records that cause the last of
	 * them. */
	enum { BATCH = 512, NEARLY_FULL = REPLY_RING_BYTES / 4 * 3, REST = 8192 };
	uint32_t index = SPARE, group = 0;
	groups_start();
	while (atomic_load(&client->header->reply_head) < NEARLY_FULL) {
		make_and_release(index, index + BATCH);
		index += BATCH;
		run_fill(++group);
	}
	sleep_for(ring_awaits_slot(ORDERED_SLOT, group + 1));
	make_and_release(index, index + REST);
	cr_assert(has_datagram(RAW_WAIT_MS));
	wake_cancel_sleep(sleep_flag());
	raw_round_trip(client);
	groups_stop();
}

/* The engine counts its clients at intervals, so groups are sent until it has done so. */
static void await_spin_hint(const char *processors, uint32_t spin_ns)
{
	uint32_t group = 0;
	cr_assert(zero(int, setenv(PROCESSORS_VARIABLE, processors, 1)));
	groups_start();
	while (atomic_load(&client->header->client_spin_ns) != spin_ns)
		run_fill(++group);
	groups_stop();
}

Test(groups, TR3_the_engine_says_that_a_client_may_spin_where_there_are_processors)
{
	await_spin_hint("16", SPIN_PACE_AMPLE_MAX_NS);
}

Test(groups, TR3_the_engine_says_that_a_client_must_not_spin_for_long_on_few_processors)
{
	await_spin_hint("4", SPIN_PACE_MAX_NS);
}

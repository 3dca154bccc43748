/* When a turn may pass by a session: only if it has nothing to read, to write or to sleep for. */
#include "session/session.h"

#include "wake.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(session_poll, .timeout = 10);

static struct ring_header header;
static struct session session;

static void open_empty(void)
{
	ring_reader_init(&session.submit, NULL, 4096, &header.submit_head, &header.submit_tail);
	list_init(&session.waiting);
	session.header = &header;
	cr_assert(session_has_nothing(&session));
}

Test(session_poll, a_record_needs_a_turn)
{
	open_empty();
	atomic_store(&header.submit_head, 16);
	cr_expect(not(session_has_nothing(&session)));
	session.submit.head = session.submit.tail = 16;
	cr_expect(session_has_nothing(&session));
	session.submit.head = 32; /* known to be there, and not read yet */
	cr_expect(not(session_has_nothing(&session)));
}

/* It is refused by the turn. */
Test(session_poll, a_head_that_is_out_of_range_needs_a_turn)
{
	open_empty();
	atomic_store(&header.submit_head, UINT64_MAX);
	cr_expect(not(session_has_nothing(&session)));
}

Test(session_poll, replies_that_wait_for_room_need_a_turn)
{
	struct list reply;
	open_empty();
	list_push_back(&session.waiting, &reply);
	cr_expect(not(session_has_nothing(&session)));
	list_remove(&reply);
	cr_expect(session_has_nothing(&session));
}

Test(session_poll, a_record_that_waited_for_its_graph_needs_a_turn)
{
	static uint8_t record;
	open_empty();
	session.deferred = &record;
	cr_expect(not(session_has_nothing(&session)));
}

Test(session_poll, what_the_last_turn_has_left_behind_needs_a_turn)
{
	open_empty();
	session.has_more_records = true;
	cr_expect(not(session_has_nothing(&session)));
}

/* Otherwise the client would ring the bell with each record, and the loop would wake up for it. */
Test(session_poll, a_sleep_flag_that_is_still_set_needs_a_turn)
{
	open_empty();
	wake_prepare_sleep(&header.engine_sleeps);
	cr_expect(not(session_has_nothing(&session)));
	wake_cancel_sleep(&header.engine_sleeps);
	cr_expect(session_has_nothing(&session));
}

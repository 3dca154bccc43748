/* Events that two connections share. The suite is defined in share.c. */
#include "library/share_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void act(sycl_queue on, sycl_shared_event event, bool records, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(records ? sycl_handler_record_event(handler, event)
		     : sycl_handler_wait_event(handler, event));
	MUST(sycl_handler_submit(handler, event_out));
}

Test(client_share, F10_a_shared_event_is_recorded_and_waited_for)
{
	sycl_shared_event mine = NULL, theirs = NULL;
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES] = {0}, none[SYCL_SHARE_HANDLE_BYTES] = {0},
		again[SYCL_SHARE_HANDLE_BYTES];
	uint32_t count = 0;
	MUST(sycl_shared_event_create(share_device, &mine));
	MUST(sycl_shared_event_get_handle(mine, handle));
	cr_assert(ne(int, memcmp(handle, none, sizeof(none)), 0));
	MUST(sycl_shared_event_open(share_other_device, handle, &theirs));
	MUST(sycl_shared_event_get_handle(theirs, again));
	cr_assert(eq(int, memcmp(handle, again, sizeof(none)), 0));
	MUST(sycl_shared_event_retain(mine));
	MUST(sycl_shared_event_get_reference_count(mine, &count));
	cr_assert(eq(u32, count, 2));
	MUST(sycl_shared_event_release(mine));

	/* Another process has recorded the event, and the recorded work has not ended. */
	sycl_event done = NULL;
	fake_event_record(handle);
	act(share_other_queue, theirs, false, &done);
	cr_assert(eq(int, sycl_event_wait_for(done, SHORT_NS), SYCL_ERROR_TIMEOUT));
	fake_event_happen(handle);
	MUST(sycl_event_wait_for(done, LONG_NS));
	MUST(sycl_event_release(done));

	uint64_t before = fake_event_happened(handle);
	act(queue, mine, true, &done);
	MUST(sycl_event_wait_for(done, LONG_NS));
	MUST(sycl_event_release(done));
	cr_assert(eq(u64, fake_event_happened(handle), before + 1));
	/* The session that made it releases it; the other one still has it. */
	MUST(sycl_shared_event_release(mine));
	act(share_other_queue, theirs, true, &done);
	MUST(sycl_event_wait_for(done, LONG_NS));
	MUST(sycl_event_release(done));
	cr_assert(eq(u64, fake_event_happened(handle), before + 2));
	MUST(sycl_shared_event_release(theirs));
}

Test(client_share, F10_an_event_is_recorded_when_the_groups_requisites_are_met)
{
	sycl_shared_event event = NULL;
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
	MUST(sycl_shared_event_create(share_device, &event));
	MUST(sycl_shared_event_get_handle(event, handle));
	sycl_buffer buffer = share_exportable(SYCL_SHARE_VMM, 1);
	sycl_kernel hold = fake_kernel(queue, "hold");
	sycl_event done = NULL;
	sycl_handler handler = NULL;
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, NULL);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_require(handler, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_record_event(handler, event));
	MUST(sycl_handler_submit(handler, &done));
	cr_assert(eq(int, sycl_event_wait_for(done, SHORT_NS), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(u64, fake_event_happened(handle), 0));
	/* The group keeps the event. */
	MUST(sycl_shared_event_release(event));
	fake_gate_open(0);
	MUST(sycl_event_wait_for(done, LONG_NS));
	MUST(sycl_event_release(done));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_buffer_release(buffer));
}

Test(client_share, F10_events_that_cannot_be_are_refused)
{
	sycl_shared_event event = NULL, none = NULL;
	uint8_t forged[SYCL_SHARE_HANDLE_BYTES] = {1, 2, 3};
	sycl_device elsewhere = fake_device(platform, 1);
	sycl_handler handler = NULL;
	cr_assert(ne(int, sycl_shared_event_open(share_device, forged, &none), 0));
	cr_assert(eq(int, sycl_shared_event_open(share_device, NULL, &none), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_shared_event_create(share_device, NULL), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_shared_event_release(NULL), SYCL_ERROR_INVALID_HANDLE));
	MUST(sycl_shared_event_create(elsewhere, &event));
	MUST(sycl_handler_begin(queue, &handler));
	cr_assert(eq(int, sycl_handler_record_event(handler, event), SYCL_ERROR_INVALID),
		  "of another device");
	MUST(sycl_shared_event_release(event));
	MUST(sycl_shared_event_create(share_other_device, &event));
	cr_assert(eq(int, sycl_handler_wait_event(handler, event), SYCL_ERROR_INVALID),
		  "of another connection");
	MUST(sycl_shared_event_release(event));
	MUST(sycl_shared_event_create(share_device, &event));
	MUST(sycl_handler_wait_event(handler, event));
	cr_assert(eq(int, sycl_handler_record_event(handler, event), SYCL_ERROR_INVALID),
		  "one action");
	MUST(sycl_handler_discard(handler));
	MUST(sycl_shared_event_release(event));
	MUST(sycl_device_release(elsewhere));
	cr_assert(eq(ptr, none, NULL));
}

/* Commands that a session has sent are run, even if no client is left to get the reply. Such a
 * session's waits for its own event end. */
Test(client_share, F10_a_session_that_ends_before_its_event_happens_leaves_nobody_waiting)
{
	sycl_shared_event mine = NULL, theirs = NULL;
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
	MUST(sycl_shared_event_create(share_device, &mine));
	MUST(sycl_shared_event_get_handle(mine, handle));
	MUST(sycl_shared_event_open(share_other_device, handle, &theirs));
	sycl_kernel hold = fake_kernel(share_other_queue, "hold");
	sycl_buffer held = NULL;
	sycl_handler handler = NULL;
	sycl_event recorded = NULL, waited = NULL;
	MUST(sycl_buffer_create(share_second, NULL, BYTES, SYCL_HOST_NONE, &held));
	submit_hold(share_other_queue, hold, 0, held, SYCL_ACCESS_READ_WRITE, NULL);
	MUST(sycl_handler_begin(share_other_queue, &handler));
	MUST(sycl_handler_require(handler, held, SYCL_ACCESS_READ));
	MUST(sycl_handler_record_event(handler, theirs));
	MUST(sycl_handler_submit(handler, &recorded));
	cr_assert(eq(int, sycl_event_wait_for(recorded, SHORT_NS), SYCL_ERROR_TIMEOUT));

	act(queue, mine, false, &waited);
	cr_assert(eq(int, sycl_event_wait_for(waited, SHORT_NS), SYCL_ERROR_TIMEOUT));
	MUST(sycl_event_release(recorded));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_buffer_release(held));
	MUST(sycl_shared_event_release(theirs));
	share_end_second();
	cr_assert(eq(int, sycl_event_wait_for(waited, SHORT_NS), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(u64, fake_event_happened(handle), 0));
	fake_gate_open(0);
	MUST(sycl_event_wait_for(waited, LONG_NS));
	MUST(sycl_event_release(waited));
	MUST(sycl_shared_event_release(mine));
}

/* Buffers that two connections share, on fake devices that support all of it. */
#include "library/share_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void start_sharing(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = FAKE_FEATURES_ALL});
	with_service();
	share_device = fake_device(platform, 0);
	MUST(sycl_platform_open(service.endpoint, &share_second));
	share_other_queue = fake_queue(share_second, 0);
	share_other_device = fake_device(share_second, 0);
}

static void library_share_stop(void)
{
	if (share_second)
		share_end_second();
	MUST(sycl_device_release(share_device));
	without_service();
}

TestSuite(client_share, .timeout = 60, .init = start_sharing, .fini = library_share_stop);

/* The last holder may never have used the memory here. */
Test(client_share, D14_F10_final_data_has_what_another_session_wrote)
{
	uint32_t here[N] = {0}, there[N] = {0};
	sycl_buffer mine = share_exportable(SYCL_SHARE_VMM, 7);
	struct sycl_shared_memory shared = share_exported(mine);
	sycl_buffer theirs = share_imported(share_other_device, &shared);
	MUST(sycl_buffer_set_final_data(theirs, there));
	MUST(sycl_buffer_release(theirs));
	cr_assert_eq(there[N - 1], 7);

	theirs = share_imported(share_other_device, &shared);
	uint32_t nine = 9;
	MUST(sycl_queue_fill(share_other_queue, theirs, 0, BYTES, &nine, sizeof(nine), NULL));
	MUST(sycl_queue_wait(share_other_queue));
	MUST(sycl_buffer_set_final_data(mine, here));
	MUST(sycl_buffer_release(mine));
	cr_assert_eq(here[0], 9);
	cr_assert_eq(here[N - 1], 9);
	MUST(sycl_buffer_release(theirs));
	share_close(&shared);
}

Test(client_share, F10_an_export_says_what_it_is)
{
	for (int i = 0; i < 2; i++) {
		sycl_buffer buffer = share_exportable(share_kinds[i], 1);
		struct sycl_shared_memory shared = share_exported(buffer),
					  again = share_exported(buffer);
		uint8_t none[SYCL_SHARE_HANDLE_BYTES] = {0};
		cr_assert(eq(u32, shared.struct_bytes, sizeof(shared)));
		cr_assert(eq(u32, shared.kind, (uint32_t)share_kinds[i]));
		cr_assert(eq(u64, shared.size_bytes, BYTES));
		cr_assert(eq(u64, shared.mapped_bytes, FAKE_GRANULE_BYTES));
		bool by_descriptor = share_kinds[i] == SYCL_SHARE_VMM;
		cr_assert(eq(int, shared.descriptor >= 0, by_descriptor));
		cr_assert(eq(int, memcmp(shared.handle, none, sizeof(none)) == 0, by_descriptor));
		cr_assert(eq(int, memcmp(shared.handle, again.handle, sizeof(none)), 0));
		if (by_descriptor) {
			cr_assert(ne(int, fcntl(shared.descriptor, F_GETFD) & FD_CLOEXEC, 0));
			cr_assert(ne(int, shared.descriptor, again.descriptor),
				  "each is the caller's own");
		}
		share_close(&shared);
		share_close(&again);
		MUST(sycl_buffer_release(buffer));
	}
}

Test(client_share, F10_sessions_share_one_buffer_and_its_order)
{
	for (int i = 0; i < 2; i++) {
		sycl_buffer mine = share_exportable(share_kinds[i], 5);
		struct sycl_shared_memory shared = share_exported(mine);
		sycl_buffer theirs = share_imported(share_other_device, &shared);
		share_close(&shared);
		uint64_t size = 0;
		MUST(sycl_buffer_get_size(theirs, &size));
		cr_assert(eq(u64, size, BYTES));
		cr_assert(share_holds(theirs, 5));
		share_fill_and_wait(share_other_queue, theirs, 6);
		cr_assert(share_holds(mine, 6));
		share_write_words(mine, 7);
		cr_assert(share_holds(theirs, 7));
		share_write_words(theirs, 8);
		share_fill_and_wait(queue, mine, 9);
		cr_assert(share_holds(theirs, 9));
		/* One session's group waits for the other session's. */
		sycl_kernel hold = fake_kernel(queue, "hold");
		sycl_event running = NULL;
		sycl_command_status status = SYCL_COMMAND_SUBMITTED;
		submit_hold(queue, hold, 0, mine, SYCL_ACCESS_READ_WRITE, &running);
		while (status != SYCL_COMMAND_RUNNING) /* the test's time limit ends it otherwise */
			MUST(sycl_event_get_status(running, &status));
		MUST(sycl_event_release(running));
		MUST(sycl_queue_wait_for(queue, 0) == SYCL_ERROR_TIMEOUT ? 0 : SYCL_ERROR_RUNTIME);
		sycl_host_accessor accessor = NULL;
		cr_assert(eq(int,
			     sycl_host_accessor_create_for(theirs, SYCL_ACCESS_READ, SHORT_NS,
							   &accessor),
			     SYCL_ERROR_TIMEOUT));
		fake_gate_open(0);
		cr_assert(share_holds(theirs, 9));
		fake_gate_close(0);
		MUST(sycl_kernel_release(hold));
		MUST(sycl_buffer_release(mine));
		cr_assert(share_holds(theirs, 9));
		MUST(sycl_buffer_release(theirs));
	}
}

Test(client_share, F10_the_memory_lives_while_a_session_holds_it)
{
	for (int i = 0; i < 2; i++) {
		share_expect_memories(0);
		sycl_buffer mine = share_exportable(share_kinds[i], 5);
		struct sycl_shared_memory shared = share_exported(mine);
		sycl_buffer theirs = share_imported(share_other_device, &shared);
		share_expect_memories(1);
		MUST(sycl_buffer_release(mine));
		share_fill_and_wait(share_other_queue, theirs, 6);
		/* A session that has imported a buffer can export it. */
		struct sycl_shared_memory again = share_exported(theirs);
		sycl_buffer back = share_imported(share_device, &again);
		cr_assert(share_holds(back, 6));
		MUST(sycl_buffer_release(theirs));
		cr_assert(share_holds(back, 6));
		MUST(sycl_buffer_release(back));
		share_close(&shared);
		share_close(&again);
	}
}

/* Connections are opened and closed one after the other, and every other one leaves work in flight.
 * An earlier connection's use of the memory does not affect a later one. */
Test(client_share, F10_a_connection_that_ends_takes_nothing_with_it)
{
	sycl_buffer mine = share_exportable(SYCL_SHARE_VMM, 1);
	struct sycl_shared_memory shared = share_exported(mine);
	for (uint32_t i = 0; i < 8; i++) {
		sycl_buffer theirs = share_imported(share_other_device, &shared);
		share_fill_and_wait(share_other_queue, theirs, i);
		cr_assert(share_holds(mine, i));
		sycl_kernel kernel = fake_kernel(share_other_queue, "fill_u32");
		for (uint32_t j = 0; i % 2 == 0 && j < 100; j++)
			submit_fill(share_other_queue, kernel, theirs, j, N, NULL);
		MUST(sycl_kernel_release(kernel));
		MUST(sycl_buffer_release(theirs));
		share_end_second();
		MUST(sycl_platform_open(service.endpoint, &share_second));
		share_other_queue = fake_queue(share_second, 0);
		share_other_device = fake_device(share_second, 0);
	}
	share_fill_and_wait(queue, mine, 7);
	cr_assert(share_holds(mine, 7));
	share_close(&shared);
	MUST(sycl_buffer_release(mine));
}

/* Another process's access: on the fake device the descriptor is a file that can be mapped. */
Test(client_share, F10_another_process_sees_the_device_and_the_device_sees_it)
{
	sycl_buffer buffer = share_exportable(SYCL_SHARE_VMM, 5);
	struct sycl_shared_memory shared = share_exported(buffer);
	uint32_t *mapped = mmap(NULL, shared.mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				shared.descriptor, 0);
	cr_assert(ne(ptr, mapped, MAP_FAILED));
	share_close(&shared);
	cr_assert(all_are(mapped, 5), "an export waits for the first contents");
	share_fill_and_wait(queue, buffer, 6);
	cr_assert(all_are(mapped, 6));
	for (int i = 0; i < N; i++)
		mapped[i] = 7;
	cr_assert(share_holds(buffer, 7), "the host keeps no old copy");
	share_write_words(buffer, 8);
	share_settle(queue, buffer);
	cr_assert(all_are(mapped, 8));
	for (int i = 0; i < N; i++)
		mapped[i] = 9;
	cr_assert(share_holds(buffer, 9));
	for (uint64_t i = BYTES; i < FAKE_GRANULE_BYTES; i++)
		cr_assert(eq(u8, ((uint8_t *)mapped)[i], 0), "byte %zu", (size_t)i);
	MUST(sycl_buffer_release(buffer));
	cr_assert(all_are(mapped, 9), "what others have mapped stays");
	(void)munmap(mapped, shared.mapped_bytes);
}

Test(client_share, F10_memory_of_another_process_is_imported)
{
	int file = memfd_create("foreign", MFD_CLOEXEC);
	cr_assert(eq(int, ftruncate(file, FAKE_GRANULE_BYTES), 0));
	uint32_t *words =
		mmap(NULL, FAKE_GRANULE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	for (int i = 0; i < N; i++)
		words[i] = 3;
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	shared.kind = SYCL_SHARE_VMM;
	shared.descriptor = file;
	shared.size_bytes = BYTES;
	shared.mapped_bytes = FAKE_GRANULE_BYTES;
	sycl_buffer buffer = share_imported(share_device, &shared);
	cr_assert(ge(int, fcntl(file, F_GETFD), 0), "the descriptor stays the caller's");
	(void)close(file);
	cr_assert(share_holds(buffer, 3));
	share_fill_and_wait(queue, buffer, 4);
	cr_assert(all_are(words, 4));
	for (int i = 0; i < N; i++)
		words[i] = 5;
	cr_assert(share_holds(buffer, 5));
	cr_assert(eq(int, sycl_buffer_export(buffer, &shared), SYCL_ERROR_INVALID),
		  "it is not this service's to export");
	MUST(sycl_buffer_release(buffer));
	(void)munmap(words, FAKE_GRANULE_BYTES);
}

Test(client_share, F10_an_export_waits_for_what_was_submitted_and_no_longer_than_it_may)
{
	sycl_buffer buffer = share_exportable(SYCL_SHARE_VMM, 5);
	sycl_kernel hold = fake_kernel(queue, "hold");
	struct sycl_shared_memory shared = share_exported(buffer), late = SYCL_SHARED_MEMORY_INIT;
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, NULL);
	cr_assert(eq(int, sycl_buffer_export_for(buffer, SHORT_NS, &late), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(int, late.descriptor, -1));
	cr_assert(eq(u32, late.kind, 0));
	fake_gate_open(0);
	MUST(sycl_buffer_export_for(buffer, LONG_NS, &late));
	share_close(&shared);
	share_close(&late);
	MUST(sycl_kernel_release(hold));
	MUST(sycl_buffer_release(buffer));
}

Test(client_share, F10_nothing_stays_open)
{
	sycl_buffer first = share_exportable(SYCL_SHARE_VMM, 5);
	struct sycl_shared_memory shared = share_exported(first);
	share_close(&shared);
	MUST(sycl_buffer_release(first));
	share_settle(queue, first = share_exportable(SYCL_SHARE_CUDA_IPC, 1));
	MUST(sycl_buffer_release(first));
	struct sycl_usage usage = SYCL_USAGE_INIT;
	unsigned before = share_open_descriptors();
	for (uint32_t i = 0; i < 50; i++) {
		sycl_buffer mine = share_exportable(share_kinds[i % 2], i);
		shared = share_exported(mine);
		sycl_buffer theirs = share_imported(share_other_device, &shared);
		share_close(&shared);
		MUST(sycl_platform_get_usage(share_second, &usage));
		cr_assert(ge(u64, usage.buffer_bytes, BYTES),
			  "an import is charged to its session");
		MUST(sycl_buffer_release(i % 3 ? mine : theirs));
		cr_assert(share_holds(i % 3 ? theirs : mine, i));
		MUST(sycl_buffer_release(i % 3 ? theirs : mine));
	}
	/* A round trip after the last device work: everything was given back before. */
	share_settle(queue, first = share_exportable(SYCL_SHARE_CUDA_IPC, 1));
	MUST(sycl_buffer_release(first));
	MUST(sycl_platform_get_usage(share_second, &usage));
	cr_assert(eq(u64, usage.buffer_bytes, 0));
	cr_assert(le(uint, share_open_descriptors(), before + 2));
}

Test(client_share, F10_what_cannot_be_is_refused_at_the_call)
{
	sycl_buffer buffer = NULL, plain = NULL;
	uint32_t words[N];
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	cr_assert(eq(int,
		     sycl_buffer_create_exportable(share_device, NULL, 0, SYCL_HOST_NONE,
						   SYCL_SHARE_VMM, &buffer),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int,
		     sycl_buffer_create_exportable(share_device, NULL, BYTES, SYCL_HOST_NONE,
						   SYCL_SHARE_NONE, &buffer),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int,
		     sycl_buffer_create_exportable(share_device, NULL, BYTES, SYCL_HOST_NONE,
						   (sycl_share_kind)3, &buffer),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int,
		     sycl_buffer_create_exportable(share_device, words, BYTES, SYCL_HOST_NONE,
						   SYCL_SHARE_VMM, &buffer),
		     SYCL_ERROR_INVALID));
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &plain));
	cr_assert(eq(int, sycl_buffer_export(plain, &shared), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_buffer_export(plain, NULL), SYCL_ERROR_INVALID));
	MUST(sycl_buffer_release(plain));
	cr_assert(eq(int, sycl_buffer_import(share_device, NULL, &buffer), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_buffer_import(share_device, &shared, &buffer), SYCL_ERROR_INVALID),
		  "kind 0");
	shared.kind = SYCL_SHARE_VMM;
	shared.size_bytes = shared.mapped_bytes = BYTES;
	cr_assert(eq(int, sycl_buffer_import(share_device, &shared, &buffer), SYCL_ERROR_INVALID),
		  "no descriptor");
	shared.descriptor = 0;
	shared.struct_bytes = 4;
	cr_assert(eq(int, sycl_buffer_import(share_device, &shared, &buffer), SYCL_ERROR_INVALID),
		  "another size");
	shared.struct_bytes = sizeof(shared);
	shared.mapped_bytes = BYTES - 1;
	cr_assert(eq(int, sycl_buffer_import(share_device, &shared, &buffer), SYCL_ERROR_INVALID),
		  "too small");
	shared.mapped_bytes = FAKE_GRANULE_BYTES;
	shared.descriptor = 12345;
	cr_assert(ne(int, sycl_buffer_import(share_device, &shared, &buffer), 0),
		  "a descriptor that is none");
	shared.kind = SYCL_SHARE_CUDA_IPC;
	memset(shared.handle, 7, sizeof(shared.handle));
	cr_assert(eq(int, sycl_buffer_import(share_device, &shared, &buffer), SYCL_ERROR_INVALID),
		  "a forged handle");
	cr_assert(eq(ptr, buffer, NULL));
	/* The session still works. */
	share_settle(queue, buffer = share_exportable(SYCL_SHARE_VMM, 1));
	MUST(sycl_buffer_release(buffer));
}

Test(client_share, F10_an_import_is_of_the_exporters_size_and_device)
{
	sycl_buffer buffer = share_exportable(SYCL_SHARE_CUDA_IPC, 1), wrong = NULL;
	struct sycl_shared_memory shared = share_exported(buffer), changed = shared;
	sycl_device elsewhere = fake_device(share_second, 1);
	changed.size_bytes--;
	cr_assert(eq(int, sycl_buffer_import(share_other_device, &changed, &wrong),
		     SYCL_ERROR_INVALID));
	changed = shared;
	changed.mapped_bytes++;
	cr_assert(eq(int, sycl_buffer_import(share_other_device, &changed, &wrong),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_buffer_import(elsewhere, &shared, &wrong), SYCL_ERROR_INVALID));
	MUST(sycl_buffer_release(buffer));
	share_settle(queue, buffer = share_exportable(SYCL_SHARE_VMM, 1));
	cr_assert(eq(int, sycl_buffer_import(share_other_device, &shared, &wrong),
		     SYCL_ERROR_INVALID),
		  "its memory is gone");
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_device_release(elsewhere));
}

static void start_without(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = 0});
	with_service();
}

TestSuite(client_share_without, .timeout = 60, .init = start_without, .fini = without_service);

Test(client_share_without, F10_a_device_that_cannot_says_so)
{
	sycl_device plain = fake_device(platform, 0);
	sycl_buffer buffer = NULL;
	sycl_shared_event event = NULL;
	sycl_handler handler = NULL;
	for (int i = 0; i < 2; i++)
		cr_assert(eq(int,
			     sycl_buffer_create_exportable(plain, NULL, BYTES, SYCL_HOST_NONE,
							   share_kinds[i], &buffer),
			     SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	cr_assert(
		eq(int, sycl_shared_event_create(plain, &event), SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), "has no events"), NULL));
	MUST(sycl_handler_begin(queue, &handler));
	cr_assert(eq(int, sycl_handler_set_cooperative(handler), SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	cr_assert(eq(int, sycl_handler_set_cluster_size(handler, sycl_range1(2)),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	MUST(sycl_handler_discard(handler));
	MUST(sycl_device_release(plain));
}

/* The second session's buffers are made, filled, read and released, whatever the first session's
 * device work waits for. */
static void expect_second_works(void)
{
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t words[N] = {i};
		sycl_buffer theirs = NULL;
		MUST(sycl_buffer_create(share_second, words, BYTES, SYCL_HOST_BORROWED, &theirs));
		share_fill_and_wait(share_other_queue, theirs, i);
		cr_assert(share_holds(theirs, i));
		MUST(sycl_buffer_release_for(theirs, LONG_NS));
	}
}

Test(client_share, F8_a_session_whose_kernel_does_not_end_holds_up_nobody)
{
	sycl_kernel hold = fake_kernel(queue, "hold");
	sycl_buffer mine = NULL;
	sycl_host_accessor accessor = NULL;
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &mine));
	submit_hold(queue, hold, 0, mine, SYCL_ACCESS_READ_WRITE, NULL);
	cr_assert(eq(int,
		     sycl_host_accessor_create_for(mine, SYCL_ACCESS_READ, SHORT_NS, &accessor),
		     SYCL_ERROR_TIMEOUT));
	expect_second_works();
	fake_gate_open(0);
	MUST(sycl_kernel_release(hold));
	MUST(sycl_buffer_release(mine));
}

Test(client_share, F8_F10_a_session_whose_event_does_not_happen_holds_up_nobody)
{
	sycl_shared_event event = NULL;
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
	sycl_buffer mine = share_exportable(SYCL_SHARE_VMM, 1);
	sycl_handler handler = NULL;
	sycl_host_accessor accessor = NULL;
	MUST(sycl_shared_event_create(share_device, &event));
	MUST(sycl_shared_event_get_handle(event, handle));
	fake_event_record(handle);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_require(handler, mine, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_wait_event(handler, event));
	MUST(sycl_handler_submit(handler, NULL));
	cr_assert(eq(int,
		     sycl_host_accessor_create_for(mine, SYCL_ACCESS_READ, SHORT_NS, &accessor),
		     SYCL_ERROR_TIMEOUT));
	expect_second_works();
	fake_event_happen(handle);
	cr_assert(share_holds(mine, 1));
	MUST(sycl_buffer_release(mine));
	MUST(sycl_shared_event_release(event));
}

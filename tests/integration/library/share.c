/* Buffers and events that two connections share, launch properties: the library on fake devices
 * that can all of it. */
#include "library/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static sycl_platform second;
static sycl_queue other_queue;
static sycl_device device, other_device;

static void start_sharing(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = FAKE_FEATURES_ALL});
	with_service();
	device = fake_device(platform, 0);
	MUST(sycl_platform_open(service.endpoint, &second));
	other_queue = fake_queue(second, 0);
	other_device = fake_device(second, 0);
}

/* The second connection ends, as by a signal: nothing of it is released before. */
static void end_second(void)
{
	MUST(sycl_queue_release(other_queue));
	MUST(sycl_device_release(other_device));
	MUST(sycl_platform_release(second));
	second = NULL;
}

static void stop(void)
{
	if (second)
		end_second();
	MUST(sycl_device_release(device));
	without_service();
}

TestSuite(client_share, .timeout = 60, .init = start_sharing, .fini = stop);

static sycl_buffer exportable(sycl_share_kind kind, uint32_t value)
{
	uint32_t words[N];
	sycl_buffer buffer = NULL;
	for (int i = 0; i < N; i++)
		words[i] = value;
	MUST(sycl_buffer_create_exportable(device, words, BYTES, SYCL_HOST_CONST, kind, &buffer));
	return buffer;
}

static struct sycl_shared_memory exported(sycl_buffer buffer)
{
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	MUST(sycl_buffer_export(buffer, &shared));
	return shared;
}

static sycl_buffer imported(sycl_device where, const struct sycl_shared_memory *shared)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_import(where, shared, &buffer));
	return buffer;
}

static void close_shared(struct sycl_shared_memory *shared)
{
	if (shared->descriptor >= 0)
		(void)close(shared->descriptor);
	shared->descriptor = -1;
}

static bool holds(sycl_buffer buffer, uint32_t value)
{
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	MUST(sycl_host_accessor_create_for(buffer, SYCL_ACCESS_READ, LONG_NS, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &words));
	bool all = all_are(words, value);
	MUST(sycl_host_accessor_release(accessor));
	return all;
}

static void write_words(sycl_buffer buffer, uint32_t value)
{
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	MUST(sycl_host_accessor_create_for(buffer, SYCL_ACCESS_WRITE_NO_INIT, LONG_NS, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &words));
	for (int i = 0; i < N; i++)
		((uint32_t *)words)[i] = value;
	MUST(sycl_host_accessor_release(accessor));
}

/* An empty group that requires it is complete: what was written lies on the device. */
static void settle(sycl_queue on, sycl_buffer buffer)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_require(handler, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_submit(handler, &event));
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
}

static void fill_and_wait(sycl_queue on, sycl_buffer buffer, uint32_t value)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_fill(handler, buffer, 0, BYTES, &value, sizeof(value)));
	MUST(sycl_handler_submit(handler, &event));
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (readdir(folder))
		count++;
	(void)closedir(folder);
	return count;
}

static uint32_t fake_memories(void)
{
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	return counters.memories;
}

/* The devices free what nobody has a moment after the answer. */
static void expect_memories(uint32_t count)
{
	struct sycl_usage usage = SYCL_USAGE_INIT;
	while (fake_memories() != count)
		MUST(sycl_platform_get_usage(platform, &usage));
}

static const sycl_share_kind kinds[] = {SYCL_SHARE_VMM, SYCL_SHARE_CUDA_IPC};

/* The last holder may never have used the memory here. */
Test(client_share, D14_F10_final_data_has_what_another_session_wrote)
{
	uint32_t here[N] = {0}, there[N] = {0};
	sycl_buffer mine = exportable(SYCL_SHARE_VMM, 7);
	struct sycl_shared_memory shared = exported(mine);
	sycl_buffer theirs = imported(other_device, &shared);
	MUST(sycl_buffer_set_final_data(theirs, there));
	MUST(sycl_buffer_release(theirs));
	cr_assert_eq(there[N - 1], 7);

	theirs = imported(other_device, &shared);
	uint32_t nine = 9;
	MUST(sycl_queue_fill(other_queue, theirs, 0, BYTES, &nine, sizeof(nine), NULL));
	MUST(sycl_queue_wait(other_queue));
	MUST(sycl_buffer_set_final_data(mine, here));
	MUST(sycl_buffer_release(mine));
	cr_assert_eq(here[0], 9);
	cr_assert_eq(here[N - 1], 9);
	MUST(sycl_buffer_release(theirs));
	close_shared(&shared);
}

Test(client_share, F10_an_export_says_what_it_is)
{
	for (int i = 0; i < 2; i++) {
		sycl_buffer buffer = exportable(kinds[i], 1);
		struct sycl_shared_memory shared = exported(buffer), again = exported(buffer);
		uint8_t none[SYCL_SHARE_HANDLE_BYTES] = {0};
		cr_assert(eq(u32, shared.struct_bytes, sizeof(shared)));
		cr_assert(eq(u32, shared.kind, (uint32_t)kinds[i]));
		cr_assert(eq(u64, shared.size_bytes, BYTES));
		cr_assert(eq(u64, shared.mapped_bytes, FAKE_GRANULE_BYTES));
		bool by_descriptor = kinds[i] == SYCL_SHARE_VMM;
		cr_assert(eq(int, shared.descriptor >= 0, by_descriptor));
		cr_assert(eq(int, memcmp(shared.handle, none, sizeof(none)) == 0, by_descriptor));
		cr_assert(eq(int, memcmp(shared.handle, again.handle, sizeof(none)), 0));
		if (by_descriptor) {
			cr_assert(ne(int, fcntl(shared.descriptor, F_GETFD) & FD_CLOEXEC, 0));
			cr_assert(ne(int, shared.descriptor, again.descriptor),
				  "each is the caller's own");
		}
		close_shared(&shared);
		close_shared(&again);
		MUST(sycl_buffer_release(buffer));
	}
}

Test(client_share, F10_sessions_share_one_buffer_and_its_order)
{
	for (int i = 0; i < 2; i++) {
		sycl_buffer mine = exportable(kinds[i], 5);
		struct sycl_shared_memory shared = exported(mine);
		sycl_buffer theirs = imported(other_device, &shared);
		close_shared(&shared);
		uint64_t size = 0;
		MUST(sycl_buffer_get_size(theirs, &size));
		cr_assert(eq(u64, size, BYTES));
		cr_assert(holds(theirs, 5));
		fill_and_wait(other_queue, theirs, 6);
		cr_assert(holds(mine, 6));
		write_words(mine, 7);
		cr_assert(holds(theirs, 7));
		write_words(theirs, 8);
		fill_and_wait(queue, mine, 9);
		cr_assert(holds(theirs, 9));
		/* One session's group waits for the other's. */
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
		cr_assert(holds(theirs, 9));
		fake_gate_close(0);
		MUST(sycl_kernel_release(hold));
		MUST(sycl_buffer_release(mine));
		cr_assert(holds(theirs, 9));
		MUST(sycl_buffer_release(theirs));
	}
}

Test(client_share, F10_the_memory_lives_while_a_session_holds_it)
{
	for (int i = 0; i < 2; i++) {
		expect_memories(0);
		sycl_buffer mine = exportable(kinds[i], 5);
		struct sycl_shared_memory shared = exported(mine);
		sycl_buffer theirs = imported(other_device, &shared);
		expect_memories(1);
		MUST(sycl_buffer_release(mine));
		fill_and_wait(other_queue, theirs, 6);
		/* And is exported by whoever has it. */
		struct sycl_shared_memory again = exported(theirs);
		sycl_buffer back = imported(device, &again);
		cr_assert(holds(back, 6));
		MUST(sycl_buffer_release(theirs));
		cr_assert(holds(back, 6));
		MUST(sycl_buffer_release(back));
		close_shared(&shared);
		close_shared(&again);
	}
}

/* Connections that come and go one after the other, every other one with work under way. What an
 * earlier one did with the memory is nothing to a later one. */
Test(client_share, F10_a_connection_that_ends_takes_nothing_with_it)
{
	sycl_buffer mine = exportable(SYCL_SHARE_VMM, 1);
	struct sycl_shared_memory shared = exported(mine);
	for (uint32_t i = 0; i < 8; i++) {
		sycl_buffer theirs = imported(other_device, &shared);
		fill_and_wait(other_queue, theirs, i);
		cr_assert(holds(mine, i));
		sycl_kernel kernel = fake_kernel(other_queue, "fill_u32");
		for (uint32_t j = 0; i % 2 == 0 && j < 100; j++)
			submit_fill(other_queue, kernel, theirs, j, N, NULL);
		MUST(sycl_kernel_release(kernel));
		MUST(sycl_buffer_release(theirs));
		end_second();
		MUST(sycl_platform_open(service.endpoint, &second));
		other_queue = fake_queue(second, 0);
		other_device = fake_device(second, 0);
	}
	fill_and_wait(queue, mine, 7);
	cr_assert(holds(mine, 7));
	close_shared(&shared);
	MUST(sycl_buffer_release(mine));
}

/* The view of another process: on the fake device the descriptor is a file that can be mapped. */
Test(client_share, F10_another_process_sees_the_device_and_the_device_sees_it)
{
	sycl_buffer buffer = exportable(SYCL_SHARE_VMM, 5);
	struct sycl_shared_memory shared = exported(buffer);
	uint32_t *mapped = mmap(NULL, shared.mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				shared.descriptor, 0);
	cr_assert(ne(ptr, mapped, MAP_FAILED));
	close_shared(&shared);
	cr_assert(all_are(mapped, 5), "an export waits for the first contents");
	fill_and_wait(queue, buffer, 6);
	cr_assert(all_are(mapped, 6));
	for (int i = 0; i < N; i++)
		mapped[i] = 7;
	cr_assert(holds(buffer, 7), "the host keeps no old copy");
	write_words(buffer, 8);
	settle(queue, buffer);
	cr_assert(all_are(mapped, 8));
	for (int i = 0; i < N; i++)
		mapped[i] = 9;
	cr_assert(holds(buffer, 9));
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
	sycl_buffer buffer = imported(device, &shared);
	cr_assert(ge(int, fcntl(file, F_GETFD), 0), "the descriptor stays the caller's");
	(void)close(file);
	cr_assert(holds(buffer, 3));
	fill_and_wait(queue, buffer, 4);
	cr_assert(all_are(words, 4));
	for (int i = 0; i < N; i++)
		words[i] = 5;
	cr_assert(holds(buffer, 5));
	cr_assert(eq(int, sycl_buffer_export(buffer, &shared), SYCL_ERROR_INVALID),
		  "it is not this service's to export");
	MUST(sycl_buffer_release(buffer));
	(void)munmap(words, FAKE_GRANULE_BYTES);
}

Test(client_share, F10_an_export_waits_for_what_was_submitted_and_no_longer_than_it_may)
{
	sycl_buffer buffer = exportable(SYCL_SHARE_VMM, 5);
	sycl_kernel hold = fake_kernel(queue, "hold");
	struct sycl_shared_memory shared = exported(buffer), late = SYCL_SHARED_MEMORY_INIT;
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, NULL);
	cr_assert(eq(int, sycl_buffer_export_for(buffer, SHORT_NS, &late), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(int, late.descriptor, -1));
	cr_assert(eq(u32, late.kind, 0));
	fake_gate_open(0);
	MUST(sycl_buffer_export_for(buffer, LONG_NS, &late));
	close_shared(&shared);
	close_shared(&late);
	MUST(sycl_kernel_release(hold));
	MUST(sycl_buffer_release(buffer));
}

Test(client_share, F10_nothing_stays_open)
{
	sycl_buffer first = exportable(SYCL_SHARE_VMM, 5);
	struct sycl_shared_memory shared = exported(first);
	close_shared(&shared);
	MUST(sycl_buffer_release(first));
	settle(queue, first = exportable(SYCL_SHARE_CUDA_IPC, 1));
	MUST(sycl_buffer_release(first));
	struct sycl_usage usage = SYCL_USAGE_INIT;
	unsigned before = open_descriptors();
	for (uint32_t i = 0; i < 50; i++) {
		sycl_buffer mine = exportable(kinds[i % 2], i);
		shared = exported(mine);
		sycl_buffer theirs = imported(other_device, &shared);
		close_shared(&shared);
		MUST(sycl_platform_get_usage(second, &usage));
		cr_assert(ge(u64, usage.buffer_bytes, BYTES),
			  "an import is charged to its session");
		MUST(sycl_buffer_release(i % 3 ? mine : theirs));
		cr_assert(holds(i % 3 ? theirs : mine, i));
		MUST(sycl_buffer_release(i % 3 ? theirs : mine));
	}
	/* A round trip after the last device work: everything was given back before. */
	settle(queue, first = exportable(SYCL_SHARE_CUDA_IPC, 1));
	MUST(sycl_buffer_release(first));
	MUST(sycl_platform_get_usage(second, &usage));
	cr_assert(eq(u64, usage.buffer_bytes, 0));
	cr_assert(le(uint, open_descriptors(), before + 2));
}

Test(client_share, F10_what_cannot_be_is_refused_at_the_call)
{
	sycl_buffer buffer = NULL, plain = NULL;
	uint32_t words[N];
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	cr_assert(eq(int,
		     sycl_buffer_create_exportable(device, NULL, 0, SYCL_HOST_NONE, SYCL_SHARE_VMM,
						   &buffer),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int,
		     sycl_buffer_create_exportable(device, NULL, BYTES, SYCL_HOST_NONE,
						   SYCL_SHARE_NONE, &buffer),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int,
		     sycl_buffer_create_exportable(device, NULL, BYTES, SYCL_HOST_NONE,
						   (sycl_share_kind)3, &buffer),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int,
		     sycl_buffer_create_exportable(device, words, BYTES, SYCL_HOST_NONE,
						   SYCL_SHARE_VMM, &buffer),
		     SYCL_ERROR_INVALID));
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &plain));
	cr_assert(eq(int, sycl_buffer_export(plain, &shared), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_buffer_export(plain, NULL), SYCL_ERROR_INVALID));
	MUST(sycl_buffer_release(plain));
	cr_assert(eq(int, sycl_buffer_import(device, NULL, &buffer), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_buffer_import(device, &shared, &buffer), SYCL_ERROR_INVALID),
		  "kind 0");
	shared.kind = SYCL_SHARE_VMM;
	shared.size_bytes = shared.mapped_bytes = BYTES;
	cr_assert(eq(int, sycl_buffer_import(device, &shared, &buffer), SYCL_ERROR_INVALID),
		  "no descriptor");
	shared.descriptor = 0;
	shared.struct_bytes = 4;
	cr_assert(eq(int, sycl_buffer_import(device, &shared, &buffer), SYCL_ERROR_INVALID),
		  "another size");
	shared.struct_bytes = sizeof(shared);
	shared.mapped_bytes = BYTES - 1;
	cr_assert(eq(int, sycl_buffer_import(device, &shared, &buffer), SYCL_ERROR_INVALID),
		  "too small");
	shared.mapped_bytes = FAKE_GRANULE_BYTES;
	shared.descriptor = 12345;
	cr_assert(ne(int, sycl_buffer_import(device, &shared, &buffer), 0),
		  "a descriptor that is none");
	shared.kind = SYCL_SHARE_CUDA_IPC;
	memset(shared.handle, 7, sizeof(shared.handle));
	cr_assert(eq(int, sycl_buffer_import(device, &shared, &buffer), SYCL_ERROR_INVALID),
		  "a forged handle");
	cr_assert(eq(ptr, buffer, NULL));
	/* The session lives. */
	settle(queue, buffer = exportable(SYCL_SHARE_VMM, 1));
	MUST(sycl_buffer_release(buffer));
}

Test(client_share, F10_an_import_is_of_the_exporters_size_and_device)
{
	sycl_buffer buffer = exportable(SYCL_SHARE_CUDA_IPC, 1), wrong = NULL;
	struct sycl_shared_memory shared = exported(buffer), changed = shared;
	sycl_device elsewhere = fake_device(second, 1);
	changed.size_bytes--;
	cr_assert(eq(int, sycl_buffer_import(other_device, &changed, &wrong), SYCL_ERROR_INVALID));
	changed = shared;
	changed.mapped_bytes++;
	cr_assert(eq(int, sycl_buffer_import(other_device, &changed, &wrong), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_buffer_import(elsewhere, &shared, &wrong), SYCL_ERROR_INVALID));
	MUST(sycl_buffer_release(buffer));
	settle(queue, buffer = exportable(SYCL_SHARE_VMM, 1));
	cr_assert(eq(int, sycl_buffer_import(other_device, &shared, &wrong), SYCL_ERROR_INVALID),
		  "its memory is gone");
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_device_release(elsewhere));
}

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
	MUST(sycl_shared_event_create(device, &mine));
	MUST(sycl_shared_event_get_handle(mine, handle));
	cr_assert(ne(int, memcmp(handle, none, sizeof(none)), 0));
	MUST(sycl_shared_event_open(other_device, handle, &theirs));
	MUST(sycl_shared_event_get_handle(theirs, again));
	cr_assert(eq(int, memcmp(handle, again, sizeof(none)), 0));
	MUST(sycl_shared_event_retain(mine));
	MUST(sycl_shared_event_get_reference_count(mine, &count));
	cr_assert(eq(u32, count, 2));
	MUST(sycl_shared_event_release(mine));

	/* Another process has recorded, and what it recorded has not happened. */
	sycl_event done = NULL;
	fake_event_record(handle);
	act(other_queue, theirs, false, &done);
	cr_assert(eq(int, sycl_event_wait_for(done, SHORT_NS), SYCL_ERROR_TIMEOUT));
	fake_event_happen(handle);
	MUST(sycl_event_wait_for(done, LONG_NS));
	MUST(sycl_event_release(done));

	uint64_t before = fake_event_happened(handle);
	act(queue, mine, true, &done);
	MUST(sycl_event_wait_for(done, LONG_NS));
	MUST(sycl_event_release(done));
	cr_assert(eq(u64, fake_event_happened(handle), before + 1));
	/* Its maker goes, the other one has it still. */
	MUST(sycl_shared_event_release(mine));
	act(other_queue, theirs, true, &done);
	MUST(sycl_event_wait_for(done, LONG_NS));
	MUST(sycl_event_release(done));
	cr_assert(eq(u64, fake_event_happened(handle), before + 2));
	MUST(sycl_shared_event_release(theirs));
}

Test(client_share, F10_an_event_is_recorded_when_the_groups_requisites_are_met)
{
	sycl_shared_event event = NULL;
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
	MUST(sycl_shared_event_create(device, &event));
	MUST(sycl_shared_event_get_handle(event, handle));
	sycl_buffer buffer = exportable(SYCL_SHARE_VMM, 1);
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
	cr_assert(ne(int, sycl_shared_event_open(device, forged, &none), 0));
	cr_assert(eq(int, sycl_shared_event_open(device, NULL, &none), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_shared_event_create(device, NULL), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_shared_event_release(NULL), SYCL_ERROR_INVALID_HANDLE));
	MUST(sycl_shared_event_create(elsewhere, &event));
	MUST(sycl_handler_begin(queue, &handler));
	cr_assert(eq(int, sycl_handler_record_event(handler, event), SYCL_ERROR_INVALID),
		  "of another device");
	MUST(sycl_shared_event_release(event));
	MUST(sycl_shared_event_create(other_device, &event));
	cr_assert(eq(int, sycl_handler_wait_event(handler, event), SYCL_ERROR_INVALID),
		  "of another connection");
	MUST(sycl_shared_event_release(event));
	MUST(sycl_shared_event_create(device, &event));
	MUST(sycl_handler_wait_event(handler, event));
	cr_assert(eq(int, sycl_handler_record_event(handler, event), SYCL_ERROR_INVALID),
		  "one action");
	MUST(sycl_handler_discard(handler));
	MUST(sycl_shared_event_release(event));
	MUST(sycl_device_release(elsewhere));
	cr_assert(eq(ptr, none, NULL));
}

/* Commands that a session has sent are run, even if no client is left to get the reply. Waits for
 * its event end. */
Test(client_share, F10_a_session_that_ends_before_its_event_happens_leaves_nobody_waiting)
{
	sycl_shared_event mine = NULL, theirs = NULL;
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
	MUST(sycl_shared_event_create(device, &mine));
	MUST(sycl_shared_event_get_handle(mine, handle));
	MUST(sycl_shared_event_open(other_device, handle, &theirs));
	sycl_kernel hold = fake_kernel(other_queue, "hold");
	sycl_buffer held = NULL;
	sycl_handler handler = NULL;
	sycl_event recorded = NULL, waited = NULL;
	MUST(sycl_buffer_create(second, NULL, BYTES, SYCL_HOST_NONE, &held));
	submit_hold(other_queue, hold, 0, held, SYCL_ACCESS_READ_WRITE, NULL);
	MUST(sycl_handler_begin(other_queue, &handler));
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
	end_second();
	cr_assert(eq(int, sycl_event_wait_for(waited, SHORT_NS), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(u64, fake_event_happened(handle), 0));
	fake_gate_open(0);
	MUST(sycl_event_wait_for(waited, LONG_NS));
	MUST(sycl_event_release(waited));
	MUST(sycl_shared_event_release(mine));
}

/* The last launch that ended, in the fake device's words. */
static struct fake_log_entry last_launch(void)
{
	struct fake_log_entry entries[64];
	uint32_t count = fake_log_read(entries, 64);
	for (uint32_t i = count; i-- > 0;)
		if (entries[i].kind == BACKEND_COMMAND_LAUNCH)
			return entries[i];
	return (struct fake_log_entry){.device = UINT32_MAX};
}

Test(client_share, launch_properties_reach_the_device)
{
	sycl_kernel kernel = fake_kernel(queue, "noop");
	sycl_handler handler = NULL;
	cr_assert(eq(int, fake_log_start(64), 0));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_cooperative(handler));
	MUST(sycl_handler_set_cluster_size(handler, sycl_range2(2, 4)));
	MUST(sycl_handler_parallel_for_nd(handler, kernel, sycl_range2(32, 32), sycl_range2(8, 8)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	struct fake_log_entry launch = last_launch();
	cr_assert(eq(str, launch.what, "noop"));
	cr_assert(launch.cooperative);
	cr_assert(eq(u32, launch.cluster[0], 2));
	cr_assert(eq(u32, launch.cluster[1], 4));
	/* Nothing runs in an empty space, however it would. */
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_cooperative(handler));
	MUST(sycl_handler_set_cluster_size(handler, sycl_range1(2)));
	MUST(sycl_handler_parallel_for_nd(handler, kernel, sycl_range1(0), sycl_range1(8)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	MUST(sycl_kernel_release(kernel));
}

static sycl_result submit_in_clusters(sycl_kernel kernel, sycl_range cluster, bool in_groups)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	sycl_result result = sycl_handler_set_cluster_size(handler, cluster);
	if (result) {
		MUST(sycl_handler_discard(handler));
		return result;
	}
	MUST(in_groups ? sycl_handler_parallel_for_nd(handler, kernel, sycl_range1(48),
						      sycl_range1(8))
		       : sycl_handler_parallel_for(handler, kernel, sycl_range1(48)));
	return sycl_handler_submit(handler, NULL);
}

Test(client_share, launch_properties_that_do_not_fit_are_refused)
{
	sycl_kernel kernel = fake_kernel(queue, "noop");
	sycl_buffer buffer = exportable(SYCL_SHARE_VMM, 1);
	sycl_range odd = sycl_range1(2);
	cr_assert(eq(int, submit_in_clusters(kernel, sycl_range1(3), true), 0), "6 work-groups");
	cr_assert(eq(int, submit_in_clusters(kernel, sycl_range1(4), true), SYCL_ERROR_ND_RANGE));
	cr_assert(eq(int, submit_in_clusters(kernel, sycl_range1(2), false), SYCL_ERROR_ND_RANGE));
	cr_assert(
		eq(int, submit_in_clusters(kernel, sycl_range2(1, 2), true), SYCL_ERROR_ND_RANGE));
	cr_assert(eq(int, submit_in_clusters(kernel, sycl_range1(0), true), SYCL_ERROR_ND_RANGE));
	cr_assert(eq(int, submit_in_clusters(kernel, sycl_range1(9), true), SYCL_ERROR_ND_RANGE));
	cr_assert(
		eq(int, submit_in_clusters(kernel, sycl_range2(4, 4), true), SYCL_ERROR_ND_RANGE));
	odd.dimensions = 4;
	cr_assert(eq(int, submit_in_clusters(kernel, odd, true), SYCL_ERROR_ND_RANGE));
	odd = sycl_range1(2);
	odd.reserved = 1;
	cr_assert(eq(int, submit_in_clusters(kernel, odd, true), SYCL_ERROR_INVALID));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_cooperative(handler));
	MUST(sycl_handler_update_host(handler, buffer));
	cr_assert(eq(int, sycl_handler_submit(handler, NULL), SYCL_ERROR_ND_RANGE),
		  "no launch at all");
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_cooperative(handler));
	MUST(sycl_handler_set_splittable(handler));
	MUST(sycl_handler_parallel_for_nd(handler, kernel, sycl_range1(48), sycl_range1(8)));
	cr_assert(eq(int, sycl_handler_submit(handler, NULL), SYCL_ERROR_INVALID),
		  "at one time, and in parts");
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(kernel));
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
							   kinds[i], &buffer),
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

/* Its buffers are made, filled, read and released, whatever the first session's device work waits
 * for. */
static void expect_second_works(void)
{
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t words[N] = {i};
		sycl_buffer theirs = NULL;
		MUST(sycl_buffer_create(second, words, BYTES, SYCL_HOST_BORROWED, &theirs));
		fill_and_wait(other_queue, theirs, i);
		cr_assert(holds(theirs, i));
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
	sycl_buffer mine = exportable(SYCL_SHARE_VMM, 1);
	sycl_handler handler = NULL;
	sycl_host_accessor accessor = NULL;
	MUST(sycl_shared_event_create(device, &event));
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
	cr_assert(holds(mine, 1));
	MUST(sycl_buffer_release(mine));
	MUST(sycl_shared_event_release(event));
}

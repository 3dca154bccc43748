/* Copies between devices, contents that other processes can access, and events that are shared with
 * them. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS 64u

static struct harness h;

static void shared_open_devices(uint32_t features)
{
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = features});
	harness_start(&h, 3);
}

static void setup_shared(void)
{
	shared_open_devices(FAKE_FEATURES_ALL & ~(uint32_t)BACKEND_FEATURE_PEER);
}

static void shared_setup_peers(void)
{
	shared_open_devices(FAKE_FEATURES_ALL);
}

TestSuite(peers, .timeout = 20, .init = shared_setup_peers);
TestSuite(no_peers, .timeout = 20, .init = setup_shared);
TestSuite(shared, .timeout = 20, .init = setup_shared);
TestSuite(shared_peers, .timeout = 20, .init = shared_setup_peers);
TestSuite(shared_events, .timeout = 20, .init = setup_shared);

static void shared_run_on_words(uint32_t device, const char *kernel, struct words *words,
				uint32_t mode, struct probe *probe)
{
	struct use use = {.words = words, .mode = mode, .unused = strcmp(kernel, "noop") == 0};
	(void)harness_launch(
		&h,
		&(struct launch){.device = device, .kernel = kernel, .uses = &use, .use_count = 1},
		probe);
}

static void increment_on_device(uint32_t device, struct words *words)
{
	struct probe probe;
	shared_run_on_words(device, "increment_u32", words, ACCESS_MODE_READ_WRITE, &probe);
	harness_expect_success(&h, &probe);
}

/* Checks that the host reads the words first, first + 1 ... */
static void shared_expect_words(struct words *words, uint32_t first)
{
	struct probe probe;
	struct task *access = harness_host(&h, words, ACCESS_MODE_READ, &probe);
	harness_expect_success(&h, &probe);
	for (uint32_t i = 0; i < words->count; i++)
		cr_expect(eq(u32, words->host[i], first + i), "word %u", i);
	host_access_release(access);
}

static struct fake_counters device_counters(uint32_t device)
{
	struct fake_counters counters;
	fake_counters(device, &counters);
	return counters;
}

Test(peers, F6_contents_go_from_device_to_device_in_one_copy)
{
	struct words x;
	harness_words(&h, &x, WORDS, true, 100);
	increment_on_device(0, &x);
	increment_on_device(1, &x);
	increment_on_device(2, &x);
	cr_expect(eq(u64, harness_counters(&h).moves, 3));
	cr_expect(eq(u64, harness_counters(&h).peer_moves, 2));
	cr_expect(eq(u64, harness_counters(&h).moved_bytes_between_devices, 2 * WORDS * 4));
	cr_expect(eq(u64, harness_counters(&h).moved_bytes_to_host, 0));
	cr_expect(eq(u64, device_counters(1).peer_copies, 1));
	cr_expect(eq(u64, device_counters(1).writes, 0));
	shared_expect_words(&x, 103);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(no_peers, F6_without_the_feature_they_go_through_the_host)
{
	struct words x;
	harness_words(&h, &x, WORDS, true, 100);
	increment_on_device(0, &x);
	increment_on_device(1, &x);
	cr_expect(eq(u64, harness_counters(&h).moves, 3));
	cr_expect(eq(u64, harness_counters(&h).peer_moves, 0));
	cr_expect(eq(u64, harness_counters(&h).moved_bytes_to_host, WORDS * 4));
	shared_expect_words(&x, 102);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(peers, C12_a_writer_at_the_source_waits_for_the_copy)
{
	struct probe first, copied, written;
	struct words x;
	harness_words(&h, &x, WORDS, true, 0);
	increment_on_device(0, &x);
	/* The copy to device 1 is held there. Device 0 must not write before it has been read. */
	shared_run_on_words(1, "noop", &x, ACCESS_MODE_READ, &first);
	harness_expect_success(&h, &first);
	increment_on_device(0, &x);
	fake_device_gate_close(1);
	shared_run_on_words(1, "noop", &x, ACCESS_MODE_READ, &copied);
	shared_run_on_words(0, "increment_u32", &x, ACCESS_MODE_READ_WRITE, &written);
	for (uint32_t i = 0; i < 20; i++) {
		struct probe other;
		(void)harness_launch(&h, &(struct launch){.device = 0, .kernel = "noop"}, &other);
		harness_expect_success(&h, &other);
	}
	cr_expect(not(written.done));
	fake_device_gate_open(1);
	harness_expect_success(&h, &written);
	harness_expect_success(&h, &copied);
	shared_expect_words(&x, 3);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(peers, memory_that_was_never_made_is_not_copied)
{
	struct probe probe;
	struct words x;
	harness_words(&h, &x, WORDS, false, 0);
	/* There was no write, and device 0 did not need the memory: it only has a place. */
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ, .unused = true};
	(void)harness_launch(&h, &(struct launch){.kernel = "noop", .uses = &use, .use_count = 1},
			     &probe);
	harness_expect_success(&h, &probe);
	shared_run_on_words(1, "noop", &x, ACCESS_MODE_READ, &probe);
	harness_expect_success(&h, &probe);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

/* Returns the contents as another process maps them. */
static uint32_t *open_as_other(const struct backend_shared_memory *shared)
{
	void *address = mmap(NULL, shared->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			     shared->descriptor, 0);
	cr_assert(ne(ptr, address, MAP_FAILED));
	return address;
}

static void export_words(struct words *words, struct probe *probe)
{
	*probe = (struct probe){.done = false};
	cr_assert(eq(int, sched_buffer_export(words->buffer, probe), 0));
	harness_expect_success(&h, probe);
	cr_assert(ge(u64, probe->shared.size_bytes, words->count * sizeof(uint32_t)));
}

static void close_export(struct probe *probe, uint32_t *address)
{
	if (address)
		(void)munmap(address, probe->shared.size_bytes);
	if (probe->shared.descriptor >= 0)
		(void)close(probe->shared.descriptor);
}

/* The first contents are there when the export is reported. After each write here the other process
 * reads the new contents, and the other way round. */
static void write_and_look(void)
{
	struct probe exported, probe;
	struct words x;
	harness_words_shared(&h, &x, WORDS, true, 7, 1, BACKEND_EXPORT_VMM);
	export_words(&x, &exported);
	uint32_t *other = open_as_other(&exported.shared);
	for (uint32_t i = 0; i < WORDS; i++)
		cr_expect(eq(u32, other[i], 7 + i));
	for (uint32_t device = 0; device < 3; device++) {
		increment_on_device(device, &x);
		for (uint32_t i = 0; i < WORDS; i++)
			cr_expect(eq(u32, other[i], 7 + device + 1 + i));
	}
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ_WRITE, &probe);
	harness_expect_success(&h, &probe);
	for (uint32_t i = 0; i < WORDS; i++)
		x.host[i] = 50 + i;
	host_access_release(access);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, other[9], 59));

	for (uint32_t i = 0; i < WORDS; i++)
		other[i] = 1000 + i;
	shared_expect_words(&x, 1000);
	increment_on_device(0, &x);
	shared_expect_words(&x, 1001);
	for (uint32_t i = 0; i < WORDS; i++)
		other[i] = 2000 + i;
	increment_on_device(2, &x);
	cr_expect(eq(u32, other[1], 2002));
	shared_expect_words(&x, 2001);
	close_export(&exported, other);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(shared, F10_what_one_side_writes_the_other_sees)
{
	write_and_look();
}

Test(shared_peers, F10_what_one_side_writes_the_other_sees)
{
	write_and_look();
}

Test(shared, F10_a_writer_is_done_when_its_contents_are_home)
{
	struct probe written, behind;
	struct words x;
	harness_words_shared(&h, &x, WORDS, true, 0, 1, BACKEND_EXPORT_VMM);
	cr_assert(harness_settle(&h));
	/* The kernel runs on device 0. Device 1, which has the contents, takes no commands. */
	fake_device_gate_close(1);
	shared_run_on_words(0, "increment_u32", &x, ACCESS_MODE_WRITE_NO_INIT, &written);
	(void)harness_launch(
		&h, &(struct launch){.kernel = "noop", .after = &written.task, .after_count = 1},
		&behind);
	for (uint32_t i = 0; device_counters(0).launches == 0 || i < 20; i++) {
		struct probe other;
		(void)harness_launch(&h, &(struct launch){.device = 2, .kernel = "noop"}, &other);
		harness_expect_success(&h, &other);
	}
	cr_expect(not(written.done));
	cr_expect(not(behind.done));
	fake_device_gate_open(1);
	harness_expect_success(&h, &behind);
	harness_expect_success(&h, &written);
	cr_expect(gt(u64, written.outcome.bytes_to_device, 0));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(shared, F10_S8_an_export_at_once_waits_for_nobody_and_orders_nobody)
{
	struct probe held, exported = {.done = false}, behind;
	struct words x;
	harness_words_shared(&h, &x, WORDS, true, 0, 1, BACKEND_EXPORT_CUDA_IPC);
	(void)harness_hold(&h, 1, 1, &(struct use){.words = &x, .mode = ACCESS_MODE_READ_WRITE}, 1,
			   &held);
	cr_assert(eq(int, sched_buffer_export_at_once(x.buffer, &exported), 0));
	/* A later writer still comes behind the one before: the export does not replace it as its
	 * reader. */
	shared_run_on_words(1, "increment_u32", &x, ACCESS_MODE_WRITE_NO_INIT, &behind);
	harness_expect_success(&h, &exported);
	cr_expect(not(held.done));
	for (uint32_t i = 0; i < 20; i++) {
		struct probe other;
		(void)harness_launch(&h, &(struct launch){.device = 1, .kernel = "noop"}, &other);
		harness_expect_success(&h, &other);
	}
	cr_expect(not(behind.done));
	fake_gate_open(1);
	harness_expect_success(&h, &held);
	harness_expect_success(&h, &behind);
	shared_expect_words(&x, 1);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(shared, F10_S8_an_export_at_once_finds_memory_that_nobody_has_used)
{
	struct probe exported = {.done = false};
	struct words x, plain;
	harness_words_shared(&h, &x, WORDS, true, 3, 1, BACKEND_EXPORT_VMM);
	cr_assert(eq(int, sched_buffer_export_at_once(x.buffer, &exported), 0));
	harness_expect_success(&h, &exported);
	cr_expect(ge(int, exported.shared.descriptor, 0));
	close_export(&exported, NULL);
	harness_words(&h, &plain, WORDS, true, 0);
	cr_expect(eq(int, sched_buffer_export_at_once(plain.buffer, &exported), -EINVAL));
	harness_words_free(&h, &plain);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

static void import_words(const struct backend_shared_memory *shared, struct words *words,
			 uint32_t device)
{
	*words = (struct words){.count = WORDS};
	words->host = aligned_alloc(4096, 4096);
	cr_assert(words->host != NULL);
	h.imported = (struct probe){.done = false};
	cr_assert(eq(int,
		     sched_buffer_import(h.scheduler, h.devices[device], shared,
					 WORDS * sizeof(uint32_t), words->host, &words->freed,
					 &words->buffer),
		     0));
}

/* The scheduler handles all kinds of exports in the same way. */
Test(shared, F10_an_import_shares_contents_and_outlives_its_exporter)
{
	struct probe exported, probe;
	struct words x, y;
	harness_words_shared(&h, &x, WORDS, true, 0, 1, BACKEND_EXPORT_VMM);
	export_words(&x, &exported);
	import_words(&exported.shared, &y, 1);
	/* It is submitted before it is certain that there is such memory. */
	shared_run_on_words(0, "increment_u32", &y, ACCESS_MODE_READ_WRITE, &probe);
	harness_expect_success(&h, &h.imported);
	harness_expect_success(&h, &probe);
	shared_expect_words(&x, 1);
	increment_on_device(2, &x);
	shared_expect_words(&y, 2);
	close_export(&exported, NULL);
	/* The exporter frees its memory first; the importer's contents stay. */
	harness_words_free(&h, &x);
	shared_expect_words(&y, 2);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(shared, F10_an_import_that_fails_is_told_and_so_are_its_users)
{
	const struct backend_shared_memory nothing = {.kind = BACKEND_EXPORT_CUDA_IPC,
						      .descriptor = -1,
						      .handle = {99},
						      .size_bytes = 65536};
	struct probe early, late;
	struct words y;
	import_words(&nothing, &y, 1);
	shared_run_on_words(1, "increment_u32", &y, ACCESS_MODE_READ_WRITE, &early);
	cr_assert(harness_wait(&h, &h.imported));
	cr_expect(eq(i32, h.imported.fault.status, STATUS_INVALID));
	cr_expect(eq(u32, h.imported.calls, 1));
	shared_run_on_words(0, "increment_u32", &y, ACCESS_MODE_READ_WRITE, &late);
	cr_assert(harness_wait(&h, &early));
	cr_assert(harness_wait(&h, &late));
	cr_expect(eq(i32, early.fault.status, STATUS_INVALID));
	cr_expect(eq(i32, late.fault.status, STATUS_DEPENDENCY_FAILED));
	cr_expect(strstr(late.fault.text, "no memory of this size") != NULL, "%s", late.fault.text);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(shared, F10_a_buffer_whose_memory_cannot_be_made_fails_its_users)
{
	struct probe probe, exported = {.done = false};
	struct words x;
	cr_assert(eq(
		int,
		fake_fail(FAKE_MEMORY_CREATE, 1, 0, 1, STATUS_MEMORY_ALLOCATION, false, "no room"),
		0));
	harness_words_shared(&h, &x, WORDS, true, 0, 1, BACKEND_EXPORT_VMM);
	shared_run_on_words(1, "increment_u32", &x, ACCESS_MODE_READ_WRITE, &probe);
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(i32, probe.fault.status, STATUS_MEMORY_ALLOCATION));
	cr_expect(strstr(probe.fault.text, "no room") != NULL, "%s", probe.fault.text);
	/* Once it is written anew it can be used as usual. */
	struct use use = {.words = &x, .mode = ACCESS_MODE_WRITE_NO_INIT};
	(void)harness_launch(&h,
			     &(struct launch){.device = 1,
					      .kernel = "fill_u32",
					      .uses = &use,
					      .use_count = 1,
					      .has_value = true,
					      .value = 3},
			     &probe);
	harness_expect_success(&h, &probe);
	cr_assert(eq(int, sched_buffer_export(x.buffer, &exported), 0));
	harness_expect_success(&h, &exported);
	close_export(&exported, NULL);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(shared, F10_what_was_not_made_for_it_is_not_exported)
{
	struct probe probe = {.done = false};
	struct words x;
	harness_words(&h, &x, WORDS, true, 0);
	cr_expect(eq(int, sched_buffer_export(x.buffer, &probe), -EINVAL));
	struct sched_buffer *other;
	cr_expect(eq(int, sched_buffer_share(x.buffer, x.host, &probe, &other), -EINVAL));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(shared, F10_two_buffers_with_the_same_contents_keep_one_order)
{
	struct probe held, second, read;
	struct words x, y;
	harness_words_shared(&h, &x, WORDS, true, 0, 1, BACKEND_EXPORT_VMM);
	harness_words_again(&y, &x);
	(void)harness_hold(&h, 1, 1, &(struct use){.words = &x, .mode = ACCESS_MODE_READ_WRITE}, 1,
			   &held);
	shared_run_on_words(0, "increment_u32", &y, ACCESS_MODE_READ_WRITE, &second);
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &read);
	scheduler_flush(h.scheduler);
	cr_expect(not(second.done));
	fake_gate_open(1);
	harness_expect_success(&h, &second);
	harness_expect_success(&h, &held);
	harness_expect_success(&h, &read);
	cr_expect(eq(u32, x.host[5], 6));
	host_access_release(access);
	/* Each has its own host memory, and ends by itself. */
	shared_expect_words(&y, 1);
	harness_words_free(&h, &x);
	increment_on_device(2, &y);
	shared_expect_words(&y, 2);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

/* A range that a host accessor holds is not filled again if another buffer is requested
 * meanwhile. */
Test(shared, D6_F10_what_a_reader_holds_is_not_written_over)
{
	struct probe first, other, second;
	struct words x, y;
	harness_words_shared(&h, &x, WORDS, true, 0, 1, BACKEND_EXPORT_VMM);
	harness_words_again(&y, &x);
	increment_on_device(2, &x);
	struct task *held = harness_host(&h, &x, ACCESS_MODE_READ, &first);
	harness_expect_success(&h, &first);
	cr_expect(eq(u32, x.host[5], 6));
	x.host[5] = 4242; /* a reader must not do this; it shows if there was a write */
	struct task *of_other = harness_host(&h, &y, ACCESS_MODE_READ, &other);
	harness_expect_success(&h, &other);
	cr_expect(eq(u32, y.host[5], 6));
	struct task *also = harness_host(&h, &x, ACCESS_MODE_READ, &second);
	harness_expect_success(&h, &second);
	cr_expect(eq(u32, x.host[5], 4242));
	host_access_release(held);
	host_access_release(also);
	host_access_release(of_other);
	shared_expect_words(&x, 1);
	harness_words_free(&h, &y);
	/* The next buffer gets the place of the freed one, where it has no contents yet. */
	harness_words_again(&y, &x);
	shared_expect_words(&y, 1);
	harness_words_free(&h, &y);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

static void write_at_host(struct words *words, uint32_t first)
{
	struct probe probe;
	struct task *access = harness_host(&h, words, ACCESS_MODE_WRITE_NO_INIT, &probe);
	harness_expect_success(&h, &probe);
	for (uint32_t i = 0; i < words->count; i++)
		words->host[i] = first + i;
	host_access_release(access);
}

/* These are more than can be tracked separately. Each still reads the latest write, wherever it
 * was, and whichever buffers were freed meanwhile. */
Test(shared, F10_a_hundred_buffers_with_the_same_contents)
{
	enum { BUFFERS = 100 };
	static struct words words[BUFFERS];
	harness_words_shared(&h, &words[0], WORDS, true, 0, 1, BACKEND_EXPORT_VMM);
	for (uint32_t i = 1; i < BUFFERS; i++)
		harness_words_again(&words[i], &words[0]);
	for (uint32_t i = 0; i < BUFFERS; i++) {
		uint32_t other = (i * 37 + 11) % BUFFERS, value = i * 1000;
		write_at_host(&words[i], value);
		shared_expect_words(&words[other], value);
		increment_on_device(i % 3, &words[other]);
		shared_expect_words(&words[i], value + 1);
		shared_expect_words(&words[BUFFERS - 1], value + 1);
	}
	/* A buffer is freed while its write and its read are in flight, and the next one has its
	 * place. */
	for (uint32_t i = 0; i < BUFFERS; i += 3) {
		struct probe written, held, read;
		fake_gate_close(1);
		(void)harness_hold(
			&h, 2, 1, &(struct use){.words = &words[i], .mode = ACCESS_MODE_READ_WRITE},
			1, &held);
		shared_run_on_words(0, "increment_u32", &words[i], ACCESS_MODE_READ_WRITE,
				    &written);
		struct task *access = harness_host(&h, &words[i], ACCESS_MODE_READ, &read);
		sched_buffer_release(words[i].buffer);
		words[i].buffer = NULL;
		host_access_release(access);
		scheduler_flush(h.scheduler);
		cr_expect(not(held.done));
		fake_gate_open(1);
		harness_expect_success(&h, &held);
		harness_expect_success(&h, &written);
		harness_words_free(&h, &words[i]);
		harness_words_again(&words[i], &words[(i + 1) % BUFFERS]);
		shared_expect_words(&words[i], (BUFFERS - 1) * 1000 + 1 + i / 3 + 1);
		shared_expect_words(&words[(i + 1) % BUFFERS],
				    (BUFFERS - 1) * 1000 + 1 + i / 3 + 1);
	}
	for (uint32_t i = 0; i < BUFFERS; i++)
		harness_words_free(&h, &words[i]);
	harness_expect_stopped(&h);
}

Test(shared, F10_both_buffers_in_one_group)
{
	struct probe probe;
	struct words x, y;
	harness_words_shared(&h, &x, WORDS, true, 0, 1, BACKEND_EXPORT_VMM);
	harness_words_again(&y, &x);
	struct use uses[2] = {{.words = &x, .mode = ACCESS_MODE_READ_WRITE},
			      {.words = &y, .mode = ACCESS_MODE_READ}};
	(void)harness_launch(
		&h, &(struct launch){.kernel = "add_u32", .uses = uses, .use_count = 2}, &probe);
	harness_expect_success(&h, &probe);
	struct task *access = harness_host(&h, &y, ACCESS_MODE_READ, &probe);
	harness_expect_success(&h, &probe);
	cr_expect(eq(u32, y.host[7], 14));
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

static struct sched_event *create_event(uint32_t device, struct probe *probe)
{
	struct sched_event *event;
	*probe = (struct probe){.done = false};
	cr_assert(eq(int, sched_event_create(h.scheduler, h.devices[device], probe, &event), 0));
	return event;
}

static void submit_event(struct sched_event *event, enum task_action action, struct task **after,
			 uint32_t count, struct probe *probe)
{
	struct task_request request = {
		.device = h.devices[0],
		.what = "event",
		.action = action,
		.event = event,
		.after = after,
		.after_count = count,
	};
	(void)harness_submit(&h, &request, probe);
}

Test(shared_events, F10_a_wait_ends_when_the_other_process_says_so)
{
	struct probe ready, waited, behind;
	struct sched_event *event = create_event(0, &ready);
	harness_expect_success(&h, &ready);
	fake_event_record(ready.handle);
	submit_event(event, TASK_EVENT_WAIT, NULL, 0, &waited);
	(void)harness_launch(
		&h, &(struct launch){.kernel = "noop", .after = &waited.task, .after_count = 1},
		&behind);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	harness_turn(&h);
	cr_expect(not(waited.done));
	cr_expect(not(behind.done));
	fake_event_happen(ready.handle);
	harness_expect_success(&h, &behind);
	harness_expect_success(&h, &waited);
	/* The latest record has happened, so the next wait ends at once. */
	submit_event(event, TASK_EVENT_WAIT, NULL, 0, &waited);
	harness_expect_success(&h, &waited);
	sched_event_release(event);
	harness_expect_stopped(&h);
}

Test(shared_events, F10_opened_by_its_handle_it_is_the_same_event)
{
	struct probe ready, opened = {.done = false}, recorded;
	struct sched_event *again, *event = create_event(1, &ready);
	harness_expect_success(&h, &ready);
	cr_assert(eq(int,
		     sched_event_open(h.scheduler, h.devices[0], ready.handle, &opened, &again),
		     0));
	/* It is used before it is certain that it exists, and is released at once. */
	submit_event(again, TASK_EVENT_RECORD, NULL, 0, &recorded);
	sched_event_release(again);
	harness_expect_success(&h, &opened);
	harness_expect_success(&h, &recorded);
	cr_expect(eq(u64, fake_event_happened(ready.handle), 1));
	sched_event_release(event);
	harness_expect_stopped(&h);
}

Test(shared_events, an_event_that_is_not_there_fails_its_users)
{
	const uint8_t nothing[64] = {77};
	struct probe opened = {.done = false}, waited;
	struct sched_event *event;
	cr_assert(
		eq(int, sched_event_open(h.scheduler, h.devices[0], nothing, &opened, &event), 0));
	submit_event(event, TASK_EVENT_WAIT, NULL, 0, &waited);
	cr_assert(harness_wait(&h, &opened));
	cr_expect(eq(i32, opened.fault.status, STATUS_INVALID));
	cr_assert(harness_wait(&h, &waited));
	cr_expect(eq(i32, waited.fault.status, STATUS_INVALID));
	sched_event_release(event);
	harness_expect_stopped(&h);
}

/* Features that the fake backend supports if a test switches them on, and refuses otherwise. */
#include "fake_control.h"

#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES 1000u

static const struct backend_ops *const ops = &backend_fake_ops;
static const struct backend_settings settings;
static struct backend *backend;
static struct backend_topology topology;
static struct backend_device *devices[2];
static struct backend_lane *lanes[2];
static struct backend_fault fault;
static uint64_t sequence, sent[2];
static int wakes;

static void count_wake(void *token)
{
	(void)token;
	wakes++;
}

static void open_fake_devices(uint32_t features)
{
	for (uint32_t i = 0; i < 2; i++)
		fake_device_options(i, (struct fake_device_options){.features = features,
								    .preferred_lanes = 7});
	cr_assert(eq(int, ops->open(&settings, &backend, &fault), 0));
	cr_assert(eq(int, ops->enumerate(backend, &topology, &fault), 0));
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert(eq(int,
			     ops->device_open(backend, i, count_wake, NULL, &devices[i], &fault),
			     0));
		cr_assert(eq(int,
			     ops->lane_create(devices[i], BACKEND_LANE_COMPUTE, &lanes[i], &fault),
			     0));
	}
}

static void with_all(void)
{
	open_fake_devices(FAKE_FEATURES_ALL);
}

static void with_none(void)
{
	open_fake_devices(0);
}

static void close_fake_devices(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		ops->lane_free(lanes[i]);
		ops->device_close(devices[i]);
	}
	ops->close(backend);
}

TestSuite(fake_features, .timeout = 10, .init = with_all, .fini = close_fake_devices);
TestSuite(fake_without, .timeout = 10, .init = with_none, .fini = close_fake_devices);

/* Runs one command to its end. */
static void run_command(uint32_t device, const struct backend_command *command)
{
	struct backend_completion completion;
	cr_assert(
		eq(int, ops->submit(lanes[device], command, NULL, 0, ++sequence, NULL, &fault), 0),
		"%s", fault.text);
	ops->flush(devices[device]);
	cr_assert(fake_wait_ended(device, ++sent[device], 60000000000ull));
	cr_assert(eq(u32, ops->progress(devices[device], &completion, 1), 1));
	cr_expect(eq(i32, completion.fault.status, 0), "%s", completion.fault.text);
}

static void transfer(enum backend_command_kind kind, uint32_t device, struct backend_memory *memory,
		     void *host)
{
	const struct backend_command command = {
		.kind = kind,
		.transfer = {.memory = memory, .size_bytes = BYTES, .host = host},
	};
	run_command(device, &command);
}

static struct backend_memory *make_memory(uint32_t device, enum backend_export_kind kind)
{
	struct backend_memory *memory = NULL;
	cr_assert(
		eq(int, ops->memory_create(devices[device], BYTES, NULL, kind, &memory, &fault), 0),
		"%s", fault.text);
	return memory;
}

Test(fake_features, facts_tell_of_them)
{
	cr_expect(eq(u32, topology.devices[0].features, FAKE_FEATURES_ALL));
	cr_expect(eq(u32, topology.devices[0].preferred_lanes, 7));
}

Test(fake_features, a_polled_device_wakes_no_thread)
{
	run_command(0, &(struct backend_command){.kind = BACKEND_COMMAND_NOP});
	cr_expect(eq(int, wakes, 0));
}

static void share(enum backend_export_kind kind)
{
	uint8_t out[BYTES], in[BYTES];
	struct backend_shared_memory shared;
	struct backend_memory *imported, *memory = make_memory(0, kind);
	memset(out, 0x3c, sizeof(out));
	cr_assert(eq(int, ops->memory_export(memory, &shared, &fault), 0));
	cr_expect(eq(int, (int)shared.kind, (int)kind));
	cr_expect(eq(u64, shared.size_bytes, FAKE_GRANULE_BYTES));
	cr_assert(eq(int, ops->memory_import(devices[1], &shared, BYTES, &imported, &fault), 0),
		  "%s", fault.text);
	transfer(BACKEND_COMMAND_WRITE, 1, imported, out);
	transfer(BACKEND_COMMAND_READ, 0, memory, in);
	cr_expect(eq(int, memcmp(in, out, BYTES), 0));
	/* More than exists. */
	struct backend_memory *large = NULL;
	cr_expect(
		eq(int,
		   ops->memory_import(devices[1], &shared, FAKE_GRANULE_BYTES + 1, &large, &fault),
		   -EINVAL));
	cr_expect(large == NULL);
	/* The exporter frees its memory; the importer's stays. */
	ops->memory_free(memory);
	memset(in, 0, sizeof(in));
	transfer(BACKEND_COMMAND_READ, 1, imported, in);
	cr_expect(eq(int, memcmp(in, out, BYTES), 0));
	if (shared.descriptor >= 0)
		(void)close(shared.descriptor);
	else
		cr_expect(eq(int, ops->memory_import(devices[1], &shared, BYTES, &large, &fault),
			     -EINVAL));
	ops->memory_free(imported);
}

Test(fake_features, memory_is_shared_by_descriptor)
{
	share(BACKEND_EXPORT_VMM);
}

Test(fake_features, memory_is_shared_by_handle)
{
	share(BACKEND_EXPORT_CUDA_IPC);
}

Test(fake_features, memory_that_was_not_made_for_it_is_not_exported)
{
	struct backend_shared_memory shared = {.descriptor = -2};
	struct backend_memory *memory = make_memory(0, BACKEND_EXPORT_NONE);
	cr_expect(eq(int, ops->memory_export(memory, &shared, &fault), -EINVAL));
	cr_expect(eq(int, shared.descriptor, -2));
	ops->memory_free(memory);
}

Test(fake_features, a_device_copies_from_another)
{
	uint8_t out[BYTES], in[BYTES];
	struct backend_memory *from = make_memory(0, BACKEND_EXPORT_NONE),
			      *to = make_memory(1, BACKEND_EXPORT_NONE);
	memset(out, 0x51, sizeof(out));
	transfer(BACKEND_COMMAND_WRITE, 0, from, out);
	const struct backend_command copy = {
		.kind = BACKEND_COMMAND_COPY_PEER,
		.copy = {.source = from, .destination = to, .size_bytes = BYTES},
	};
	run_command(1, &copy);
	transfer(BACKEND_COMMAND_READ, 1, to, in);
	cr_expect(eq(int, memcmp(in, out, BYTES), 0));
	ops->memory_free(from);
	ops->memory_free(to);
}

Test(fake_features, a_wait_is_for_the_latest_record_before_it)
{
	uint8_t handle[64];
	struct backend_event *event, *again;
	struct backend_completion completion;
	cr_assert(eq(int, ops->event_create(devices[0], &event, handle, &fault), 0));
	cr_assert(eq(int, ops->event_open(devices[1], handle, &again, &fault), 0));
	const struct backend_command record = {.kind = BACKEND_COMMAND_EVENT_RECORD,
					       .event = again};
	const struct backend_command wait = {.kind = BACKEND_COMMAND_EVENT_WAIT, .event = event};
	run_command(0, &wait); /* waits for nothing: there is no record */
	run_command(1, &record);
	cr_expect(eq(u64, fake_event_happened(handle), 1));
	run_command(0, &wait);
	fake_event_record(handle);
	cr_assert(eq(int, ops->submit(lanes[0], &wait, NULL, 0, ++sequence, NULL, &fault), 0));
	ops->flush(devices[0]);
	cr_assert(fake_wait_started(0, 3, 60000000000ull));
	cr_expect(eq(u32, ops->progress(devices[0], &completion, 1), 0));
	fake_event_happen(handle);
	cr_assert(fake_wait_ended(0, 3, 60000000000ull));
	cr_expect(eq(u32, ops->progress(devices[0], &completion, 1), 1));
	ops->event_free(event);
	ops->event_free(again);
	cr_expect(eq(int, ops->event_open(devices[1], handle, &again, &fault), -EINVAL));
}

Test(fake_features, host_memory_is_registered_in_whole_pages)
{
	static _Alignas(4096) uint8_t pages[8192];
	struct backend_host *host = NULL;
	struct fake_counters counters;
	cr_expect(eq(int, ops->host_register(devices[0], pages + 1, 4096, &host, &fault), -EINVAL));
	cr_assert(eq(int, ops->host_register(devices[0], pages, sizeof(pages), &host, &fault), 0));
	struct backend_memory *memory = make_memory(0, BACKEND_EXPORT_NONE);
	transfer(BACKEND_COMMAND_WRITE, 0, memory, pages + sizeof(pages) - BYTES);
	ops->host_unregister(host);
	transfer(BACKEND_COMMAND_WRITE, 0, memory, pages);
	fake_counters(0, &counters);
	cr_expect(eq(u64, counters.registered_transfers, 1));
	cr_expect(eq(u32, counters.hosts, 0));
	ops->memory_free(memory);
}

Test(fake_features, a_lane_for_copies_launches_nothing)
{
	struct backend_lane *lane;
	const struct backend_command nop = {.kind = BACKEND_COMMAND_EVENT_WAIT};
	cr_assert(eq(int, ops->lane_create(devices[0], BACKEND_LANE_COPY_IN, &lane, &fault), 0));
	cr_expect(eq(int, ops->submit(lane, &nop, NULL, 0, 1, NULL, &fault), -ENOTSUP));
	ops->lane_free(lane);
}

Test(fake_without, what_is_not_switched_on_is_refused)
{
	static _Alignas(4096) uint8_t page[4096];
	uint8_t handle[64] = {1};
	struct backend_memory *memory = NULL;
	struct backend_event *event;
	struct backend_host *host;
	const struct backend_shared_memory shared = {.kind = BACKEND_EXPORT_VMM, .descriptor = 0};
	cr_expect(
		eq(int,
		   ops->memory_create(devices[0], BYTES, NULL, BACKEND_EXPORT_VMM, &memory, &fault),
		   -ENOTSUP));
	cr_expect(eq(int,
		     ops->memory_create(devices[0], BYTES, NULL, BACKEND_EXPORT_CUDA_IPC, &memory,
					&fault),
		     -ENOTSUP));
	cr_expect(memory == NULL);
	cr_expect(
		eq(int, ops->memory_import(devices[0], &shared, BYTES, &memory, &fault), -ENOTSUP));
	cr_expect(eq(int, ops->event_create(devices[0], &event, handle, &fault), -ENOTSUP));
	cr_expect(eq(int, ops->event_open(devices[0], handle, &event, &fault), -ENOTSUP));
	cr_expect(eq(int, ops->host_register(devices[0], page, sizeof(page), &host, &fault),
		     -ENOTSUP));
	const struct backend_command copy = {.kind = BACKEND_COMMAND_COPY_PEER};
	cr_expect(
		eq(int, ops->submit(lanes[0], &copy, NULL, 0, ++sequence, NULL, &fault), -ENOTSUP));
	cr_expect(eq(i32, fault.status, STATUS_FEATURE_NOT_SUPPORTED));
	const struct backend_direct_completion completion = {.value = 1};
	const struct backend_command nop = {.kind = BACKEND_COMMAND_NOP};
	cr_expect(eq(int, ops->submit(lanes[0], &nop, NULL, 0, ++sequence, &completion, &fault),
		     -ENOTSUP));
}

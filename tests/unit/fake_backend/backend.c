/* The fake backend by itself: the behaviour that tests of other parts rely on. */
#include "fake_control.h"

#include "clock.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TIMEOUT_NS 60000000000ull

static const struct backend_ops *const ops = &backend_fake_ops;

static const struct backend_settings settings;
static struct backend *backend;
static struct backend_topology topology;
static struct backend_device *device;
static struct backend_lane *lanes[2];
static struct backend_fault fault;
static int bell = -1;

static void ring_bell(void *token)
{
	uint64_t one = 1;
	cr_assert(token == &bell);
	cr_assert(write(bell, &one, sizeof(one)) == (ssize_t)sizeof(one));
}

static void open_fake_backend(struct fake_device_options options)
{
	fake_device_options(1, options);
	bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	cr_assert(ge(int, bell, 0));
	cr_assert(eq(int, ops->open(&settings, &backend, &fault), 0));
	cr_assert(eq(int, ops->enumerate(backend, &topology, &fault), 0));
	cr_assert(eq(int, ops->device_open(backend, 1, ring_bell, &bell, &device, &fault), 0));
	for (uint32_t i = 0; i < 2; i++)
		cr_assert(eq(int, ops->lane_create(device, BACKEND_LANE_COMPUTE, &lanes[i], &fault),
			     0));
}

static void setup_fake_backend(void)
{
	open_fake_backend((struct fake_device_options){.unified = false});
}

static void close_fake_backend(void)
{
	struct fake_counters counters;
	for (uint32_t i = 0; i < 2; i++)
		ops->lane_free(lanes[i]);
	ops->device_close(device);
	ops->close(backend);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_expect(eq(u32, counters.backends + counters.devices + counters.lanes + counters.memories,
		     0));
	cr_expect(eq(u32, counters.programs + counters.kernels, 0));
	(void)close(bell);
}

TestSuite(fake, .timeout = 15);

static struct backend_completion next_completion(void)
{
	struct backend_completion completion;
	uint64_t count, deadline = clock_deadline_ns(TIMEOUT_NS);
	while (ops->progress(device, &completion, 1) == 0) {
		struct pollfd poll_fd = {.fd = bell, .events = POLLIN};
		cr_assert(lt(u64, clock_now_ns(), deadline));
		cr_assert(eq(int, poll(&poll_fd, 1, 8000), 1));
		cr_assert(read(bell, &count, sizeof(count)) == (ssize_t)sizeof(count));
	}
	return completion;
}

static void submit_and_flush(uint32_t lane, const struct backend_command *command,
			     uint64_t sequence)
{
	cr_assert(eq(int, ops->submit(lanes[lane], command, NULL, 0, sequence, NULL, &fault), 0),
		  "%s", fault.text);
	ops->flush(device);
}

static struct backend_kernel *kernel(const char *name)
{
	struct backend_program *program;
	struct backend_kernel *made;
	void *binary;
	size_t bytes;
	char *log;
	cr_assert(eq(int,
		     ops->build(backend, 1, BACKEND_SOURCE_BUILTIN, name, strlen(name), "", &binary,
				&bytes, &log, &fault),
		     0));
	cr_assert(eq(int, ops->program_load(device, binary, bytes, &program, &fault), 0));
	cr_assert(eq(int, ops->kernel_create(program, name, &made, &fault), 0));
	ops->program_free(program);
	free(binary);
	return made;
}

Test(fake, builds_names_of_its_functions_and_refuses_others_with_a_log)
{
	static const char good[] = "# two functions\n  noop\t\n\nfill_u32";
	static const char bad[] = "noop\nnonesuch\n";
	struct backend_program *program;
	struct backend_kernel *made;
	void *binary = NULL;
	char *log = NULL, *names;
	size_t bytes;
	setup_fake_backend();
	cr_assert(eq(int,
		     ops->build(backend, 0, BACKEND_SOURCE_BUILTIN, good, sizeof(good) - 1, "",
				&binary, &bytes, &log, &fault),
		     0));
	cr_assert(eq(int, ops->program_load(device, binary, bytes, &program, &fault), 0));
	cr_assert(eq(int, ops->program_kernels(program, &names, &fault), 0));
	cr_expect(eq(int, memcmp(names, "noop\0fill_u32\0", sizeof("noop\0fill_u32\0")), 0));
	cr_expect(eq(int, ops->kernel_create(program, "hold", &made, &fault), -ENOENT));
	free(names);
	free(binary);
	ops->program_free(program);
	cr_expect(eq(int,
		     ops->build(backend, 0, BACKEND_SOURCE_BUILTIN, bad, sizeof(bad) - 1, "",
				&binary, &bytes, &log, &fault),
		     -EINVAL));
	cr_expect(eq(i32, fault.status, STATUS_BUILD));
	cr_expect(eq(str, log, "line 2: no function \"nonesuch\"\n"));
	free(log);
	cr_expect(eq(int, ops->program_load(device, "fake program 0\n", 15, &program, &fault),
		     -EINVAL));
	cr_expect(eq(int, ops->program_load(device, "fake program 1\nx", 16, &program, &fault),
		     -EINVAL));
	close_fake_backend();
}

Test(fake, memory_is_poisoned_counted_and_apart_from_the_host)
{
	struct fake_counters counters;
	struct backend_memory *memory;
	uint32_t host[4] = {1, 2, 3, 4}, out[4] = {0};
	setup_fake_backend();
	cr_assert(eq(int,
		     ops->memory_create(device, sizeof(host), host, BACKEND_EXPORT_NONE, &memory,
					&fault),
		     0));
	struct backend_command read = {
		.kind = BACKEND_COMMAND_READ,
		.transfer = {.memory = memory, .size_bytes = sizeof(out), .host = out}};
	submit_and_flush(0, &read, 1);
	cr_expect(eq(i32, next_completion().fault.status, 0));
	for (uint32_t i = 0; i < 4; i++)
		cr_expect(eq(u32, out[i], 0xa5a5a5a5u));
	struct backend_command write = {
		.kind = BACKEND_COMMAND_WRITE,
		.transfer = {.memory = memory, .offset_bytes = 8, .size_bytes = 8, .host = host}};
	submit_and_flush(0, &write, 2);
	submit_and_flush(0, &read, 3);
	cr_expect(eq(u64, next_completion().sequence, 2));
	cr_expect(eq(u64, next_completion().sequence, 3));
	cr_expect(eq(u32, out[2], 1));
	cr_expect(eq(u32, host[3], 4));
	fake_counters(1, &counters);
	cr_expect(eq(u64, counters.bytes_read, 32));
	cr_expect(eq(u64, counters.bytes_written, 8));
	cr_expect(eq(u64, counters.memory_bytes, 16));
	ops->memory_free(memory);
	close_fake_backend();
}

Test(fake, unified_memory_is_the_host_s)
{
	struct backend_memory *memory;
	uint32_t host[4] = {1, 2, 3, 4}, value = 9;
	open_fake_backend((struct fake_device_options){.unified = true, .manual = true});
	cr_expect(topology.devices[1].host_unified_memory);
	cr_expect(not(topology.devices[0].host_unified_memory));
	cr_assert(eq(int,
		     ops->memory_create(device, sizeof(host), host, BACKEND_EXPORT_NONE, &memory,
					&fault),
		     0));
	struct backend_command fill = {
		.kind = BACKEND_COMMAND_FILL,
		.fill = {.memory = memory,
			 .offset_bytes = 4,
			 .size_bytes = 8,
			 .pattern = &value,
			 .pattern_bytes = 4},
	};
	submit_and_flush(0, &fill, 1);
	cr_expect(eq(u32, host[1], 2), "a manual device runs in progress()");
	cr_expect(eq(i32, next_completion().fault.status, 0));
	cr_expect(eq(u32, host[0], 1));
	cr_expect(eq(u32, host[2], 9));
	ops->memory_free(memory);
	close_fake_backend();
}

Test(fake, lanes_run_side_by_side_and_wait_for_each_other)
{
	struct fake_log_entry log[4];
	uint32_t gate = 3;
	setup_fake_backend();
	struct backend_kernel *hold = kernel("hold"), *noop = kernel("noop");
	struct backend_argument argument = {.kind = BACKEND_ARGUMENT_VALUE,
					    .value = {&gate, sizeof(gate)}};
	struct backend_command held = {.kind = BACKEND_COMMAND_LAUNCH,
				       .launch = {.kernel = hold,
						  .dimensions = 1,
						  .global = {1, 1, 1},
						  .arguments = &argument,
						  .argument_count = 1}};
	struct backend_command free_one = {
		.kind = BACKEND_COMMAND_LAUNCH,
		.launch = {.kernel = noop, .dimensions = 1, .global = {1, 1, 1}}};
	cr_assert(eq(int, fake_log_start(4), 0));
	submit_and_flush(0, &held, 7);
	gate = 0; /* captured at submission */
	submit_and_flush(1, &free_one, 1);
	cr_expect(eq(u64, next_completion().sequence, 1));
	struct backend_wait wait = {.lane = lanes[0], .sequence = 7};
	cr_assert(eq(int, ops->submit(lanes[1], &free_one, &wait, 1, 2, NULL, &fault), 0));
	ops->flush(device);
	cr_assert(fake_wait_started(1, 2, TIMEOUT_NS));
	fake_gate_open(3);
	struct backend_completion first = next_completion(), second = next_completion();
	cr_expect(eq(u64, first.sequence, 7));
	cr_expect(eq(u64, second.sequence, 2));
	cr_expect(ge(u64, second.start_ns, first.end_ns));
	cr_assert(eq(u32, fake_log_read(log, 4), 3));
	cr_expect(eq(str, log[1].what, "hold"));
	cr_expect(lt(u64, log[1].start_order, log[0].start_order));
	cr_expect(gt(u64, log[2].start_order, log[1].end_order));
	ops->kernel_free(hold);
	ops->kernel_free(noop);
	close_fake_backend();
}

Test(fake, the_gate_of_a_device_and_delays_hold_everything)
{
	struct backend_command nop = {.kind = BACKEND_COMMAND_NOP};
	setup_fake_backend();
	fake_device_gate_close(1);
	submit_and_flush(0, &nop, 1);
	submit_and_flush(1, &nop, 1);
	cr_assert(fake_wait_started(1, 2, TIMEOUT_NS));
	struct backend_completion none;
	cr_expect(eq(u32, ops->progress(device, &none, 1), 0));
	fake_device_gate_open(1);
	(void)next_completion();
	(void)next_completion();
	fake_delay(1, 2000000);
	submit_and_flush(0, &nop, 2);
	struct backend_completion late = next_completion();
	cr_expect(ge(u64, late.end_ns - late.start_ns, 2000000));
	close_fake_backend();
}

Test(fake, what_is_wrong_is_refused_or_fails)
{
	struct backend_memory *memory;
	uint32_t value = 1;
	setup_fake_backend();
	cr_assert(eq(int,
		     ops->memory_create(device, 16, NULL, BACKEND_EXPORT_NONE, &memory, &fault),
		     0));
	struct backend_kernel *fill = kernel("fill_u32");
	struct backend_argument arguments[2] = {
		{.kind = BACKEND_ARGUMENT_GLOBAL, .global = {.memory = memory}},
		{.kind = BACKEND_ARGUMENT_VALUE, .value = {&value, sizeof(value)}}};
	struct backend_command launch = {.kind = BACKEND_COMMAND_LAUNCH,
					 .launch = {.kernel = fill,
						    .dimensions = 1,
						    .global = {5, 1, 1},
						    .arguments = arguments,
						    .argument_count = 2}};
	submit_and_flush(0, &launch, 1);
	cr_expect(eq(i32, next_completion().fault.status, STATUS_KERNEL),
		  "five words in a memory of four");
	launch.launch.argument_count = 1;
	cr_expect(eq(int, ops->submit(lanes[0], &launch, NULL, 0, 2, NULL, &fault), -EINVAL));
	cr_expect(eq(i32, fault.status, STATUS_KERNEL_ARGUMENT));
	struct backend_command copy = {.kind = BACKEND_COMMAND_COPY,
				       .copy = {.source = memory,
						.destination = memory,
						.source_offset_bytes = 12,
						.size_bytes = 8}};
	submit_and_flush(0, &copy, 3);
	cr_expect(eq(i32, next_completion().fault.status, STATUS_RUNTIME));
	ops->kernel_free(fill);
	ops->memory_free(memory);
	close_fake_backend();
}

Test(fake, scripts_fail_the_call_that_they_name)
{
	struct backend_memory *memory;
	struct fake_counters counters;
	setup_fake_backend();
	cr_assert(
		eq(int,
		   fake_fail(FAKE_MEMORY_CREATE, 1, 1, 2, STATUS_MEMORY_ALLOCATION, false, "full"),
		   0));
	cr_assert(eq(int,
		     ops->memory_create(device, 16, NULL, BACKEND_EXPORT_NONE, &memory, &fault),
		     0));
	ops->memory_free(memory);
	for (uint32_t i = 0; i < 2; i++) {
		cr_expect(eq(
			int,
			ops->memory_create(device, 16, NULL, BACKEND_EXPORT_NONE, &memory, &fault),
			-ENOMEM));
		cr_expect(eq(str, fault.text, "full"));
		cr_expect(eq(i32, fault.native_code, -77));
	}
	cr_assert(eq(int,
		     ops->memory_create(device, 16, NULL, BACKEND_EXPORT_NONE, &memory, &fault),
		     0));
	ops->memory_free(memory);
	fake_counters(1, &counters);
	cr_expect(eq(u64, counters.calls[FAKE_MEMORY_CREATE], 4));
	for (uint32_t i = 0; i < 63; i++)
		cr_assert(eq(int, fake_fail(FAKE_SUBMIT, 0, 0, 1, 0, false, ""), 0));
	cr_expect(eq(int, fake_fail(FAKE_SUBMIT, 0, 0, 1, 0, false, ""), -ENOSPC));
	close_fake_backend();
}

Test(fake, a_lost_device_ends_what_it_has_and_refuses_the_rest)
{
	struct backend_command nop = {.kind = BACKEND_COMMAND_NOP};
	struct backend_memory *memory;
	setup_fake_backend();
	fake_device_gate_close(1);
	submit_and_flush(0, &nop, 1);
	submit_and_flush(0, &nop, 2);
	cr_assert(eq(int, fake_fail(FAKE_SUBMIT, 1, 0, 1, STATUS_DEVICE_LOST, true, "gone"), 0));
	cr_expect(lt(int, ops->submit(lanes[1], &nop, NULL, 0, 1, NULL, &fault), 0));
	cr_expect(fault.device_lost);
	for (uint64_t i = 1; i <= 2; i++) {
		struct backend_completion completion = next_completion();
		cr_expect(eq(u64, completion.sequence, i));
		cr_expect(completion.fault.device_lost);
	}
	cr_expect(lt(int,
		     ops->memory_create(device, 16, NULL, BACKEND_EXPORT_NONE, &memory, &fault),
		     0));
	cr_expect(fault.device_lost);
	close_fake_backend();
	cr_assert(eq(int, ops->open(&settings, &backend, &fault), 0));
	cr_expect(lt(int, ops->device_open(backend, 1, ring_bell, &bell, &device, &fault), 0));
	ops->close(backend);
}

/*
 * A loss of the process on one device frees the objects of all devices. Commands on a lane of
 * another device then belong to no session, and are neither run nor reported.
 */
Test(fake, a_lost_process_runs_nothing_more_on_its_other_devices)
{
	struct backend_device *other;
	struct backend_lane *lane;
	struct backend_completion completion;
	struct fake_counters counters;
	open_fake_backend((struct fake_device_options){.manual = true});
	cr_assert(eq(int, ops->device_open(backend, 0, ring_bell, &bell, &other, &fault), 0));
	struct backend_kernel *noop = kernel("noop");
	const struct backend_command launch = {
		.kind = BACKEND_COMMAND_LAUNCH,
		.launch = {.kernel = noop, .dimensions = 1, .global = {1, 1, 1}}};
	fake_device_gate_close(1);
	submit_and_flush(0, &launch, 1);
	submit_and_flush(0, &launch, 2);
	submit_and_flush(1, &launch, 1);
	cr_assert(eq(u32, ops->progress(device, &completion, 1), 0));
	cr_assert(fake_wait_started(1, 2, 0)); /* the gate holds the first of each lane */

	cr_assert(eq(int, fake_lose_process(FAKE_LANE_CREATE, 0, 0, "an illegal address"), 0));
	cr_assert(lt(int, ops->lane_create(other, BACKEND_LANE_COMPUTE, &lane, &fault), 0));
	cr_assert(fault.process_lost);
	ops->kernel_free(noop);
	fake_device_gate_open(1);
	cr_expect(eq(u32, ops->progress(device, &completion, 1), 0));
	fake_counters(1, &counters);
	cr_expect(eq(u64, counters.launches, 0));
	cr_expect(not(fake_wait_ended(1, 1, 0)));
	/* Later commands are refused. */
	fault = (struct backend_fault){.status = 0};
	const struct backend_command nothing = {.kind = BACKEND_COMMAND_NOP};
	cr_expect(lt(int, ops->submit(lanes[1], &nothing, NULL, 0, 2, NULL, &fault), 0));
	cr_expect(fault.process_lost);
	ops->device_close(other);
	close_fake_backend();
}

Test(fake, facts_are_complete)
{
	setup_fake_backend();
	cr_expect(eq(u32, topology.platform_count, 1));
	cr_expect(eq(u32, topology.device_count, 3));
	for (uint32_t i = 0; i < 3; i++) {
		const struct backend_device_facts *facts = &topology.devices[i];
		cr_expect(facts->name && facts->vendor && facts->version && facts->driver_version &&
			  facts->extensions && facts->builtin_kernels && facts->key &&
			  facts->available);
		cr_expect(gt(u64, facts->max_work_group_size, 0));
	}
	cr_expect(ne(str, topology.devices[0].key, topology.devices[1].key));
	close_fake_backend();
}

/* A backend's platforms and devices. */
#include "targets/target.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

TestSuite(topology, .timeout = 120);

Test(topology, A1_A2_A21_platforms_and_their_devices)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open_backend(&fixture);
	cr_assert_geq(fixture.topology.platform_count, 1);
	for (uint32_t i = 0; i < fixture.topology.platform_count; i++) {
		const struct backend_platform_facts *platform = &fixture.topology.platforms[i];
		cr_assert_eq(platform->kind, fixture.ops->kind);
		cr_assert(platform->available);
		cr_assert_not_null(platform->name);
		cr_assert_neq(platform->name[0], '\0');
		cr_assert_not_null(platform->vendor);
		cr_assert_not_null(platform->version);
		cr_assert_not_null(platform->profile);
		cr_assert_not_null(platform->extensions);
	}
	cr_assert_geq(fixture.topology.device_count, 1);
	for (uint32_t i = 0; i < fixture.topology.device_count; i++)
		cr_assert_lt(fixture.topology.devices[i].platform, fixture.topology.platform_count);
	fixture_close(&fixture);
}

Test(topology, A15_devices_tell_all_about_themselves)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open_backend(&fixture);
	for (uint32_t i = 0; i < fixture.topology.device_count; i++) {
		const struct backend_device_facts *facts = &fixture.topology.devices[i];
		cr_assert(facts->type >= 1 && facts->type <= 4);
		cr_assert(facts->aspects & 1ull << (facts->type - 1), "type and aspect differ");
		cr_assert_not_null(facts->name);
		cr_assert_not_null(facts->vendor);
		cr_assert_not_null(facts->version);
		cr_assert_not_null(facts->driver_version);
		cr_assert_not_null(facts->extensions);
		cr_assert_not_null(facts->builtin_kernels);
		cr_assert_gt(strlen(facts->key), 0);
		cr_assert_gt(facts->max_compute_units, 0);
		cr_assert_gt(facts->max_work_group_size, 0);
		cr_assert_gt(facts->max_mem_alloc_bytes, 0);
		cr_assert_gt(facts->global_mem_bytes, 0);
		cr_assert_gt(facts->local_mem_bytes, 0);
		cr_assert_gt(facts->max_parameter_bytes, 0);
		cr_assert(facts->address_bits == 32 || facts->address_bits == 64);
		for (int d = 0; d < 3; d++)
			cr_assert_gt(facts->max_work_item_sizes[d], 0);
		cr_assert(facts->available);
		cr_assert(facts->little_endian);
	}
	fixture_close(&fixture);
}

/* The build helper finds a device by its key, in a separate process. */
Test(topology, keys_are_the_same_after_opening_again)
{
	struct fixture first = {.wake_fd = -1}, second = {.wake_fd = -1};

	fixture_open_backend(&first);
	fixture_open_backend(&second);
	cr_assert_eq(first.topology.device_count, second.topology.device_count);
	for (uint32_t i = 0; i < first.topology.device_count; i++)
		cr_assert_str_eq(first.topology.devices[i].key, second.topology.devices[i].key);
	fixture_close(&first);
	fixture_close(&second);
}

Test(topology, A20_enumerating_again_gives_the_same)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_topology again = {0};
	struct backend_fault fault = {0};

	fixture_open_backend(&fixture);
	cr_assert_eq(fixture.ops->enumerate(fixture.backend, &again, &fault), 0);
	cr_assert_eq(again.devices, fixture.topology.devices);
	cr_assert_eq(again.device_count, fixture.topology.device_count);
	fixture_close(&fixture);
}

Test(topology, devices_open_and_close_again_and_again)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open_backend(&fixture);
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < fixture.topology.device_count; i++) {
			struct backend_device *device = NULL;
			struct backend_lane *lane = NULL;
			struct backend_fault fault = {0};
			cr_assert_eq(fixture.ops->device_open(fixture.backend, i, NULL, NULL,
							      &device, &fault),
				     0);
			cr_assert_eq(fixture.ops->lane_create(device, BACKEND_LANE_COMPUTE, &lane,
							      &fault),
				     0);
			fixture.ops->lane_free(lane);
			fixture.ops->device_close(device);
		}
	}
	fixture_close(&fixture);
}

Test(topology, destructors_take_null)
{
	conformance_target.ops->close(NULL);
	conformance_target.ops->device_close(NULL);
	conformance_target.ops->lane_free(NULL);
	conformance_target.ops->memory_free(NULL);
	conformance_target.ops->program_free(NULL);
	conformance_target.ops->kernel_free(NULL);
}

Test(topology, a_device_that_is_not_there_is_refused)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_device *device = NULL;
	struct backend_fault fault = {0};

	fixture_open_backend(&fixture);
	cr_assert_lt(fixture.ops->device_open(fixture.backend, fixture.topology.device_count, NULL,
					      NULL, &device, &fault),
		     0);
	cr_assert_null(device);
	cr_assert_neq(fault.status, 0);
	cr_assert_neq(fault.text[0], '\0');
	fixture_close(&fixture);
}

static void handler(int number)
{
	(void)number;
}

/* The process that contains the engine, a daemon or an application, keeps its signal handlers. */
Test(topology, signal_handlers_stay_as_they_were)
{
	struct fixture fixture = {.wake_fd = -1};
	/* SIGCHLD is not ignored: no process could then wait for a child, and a driver's compiler
	 * may run its linker as one. */
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP,  SIGQUIT, SIGUSR1,
				      SIGUSR2, SIGBUS, SIGCHLD, SIGPIPE};
	enum { COUNT = sizeof(numbers) / sizeof(*numbers) };
	struct sigaction before[COUNT], after;

	for (int i = 0; i < COUNT; i++) {
		before[i] = (struct sigaction){.sa_handler = i % 2 ? handler : SIG_IGN};
		cr_assert_eq(sigaction(numbers[i], &before[i], NULL), 0);
	}
	fixture_open(&fixture, 0);
	fixture.ops->kernel_free(fixture_kernel(&fixture, "fill_u32"));
	for (int i = 0; i < COUNT; i++) {
		cr_assert_eq(sigaction(numbers[i], NULL, &after), 0);
		cr_assert_eq(after.sa_handler, before[i].sa_handler, "signal %d", numbers[i]);
	}
	fixture_close(&fixture);
}

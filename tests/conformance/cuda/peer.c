/* Copies from one GPU to another, by each way, with equal results (F6). Needs two devices, or the
 * driver's double. */
#include "cuda/memory_support.h"

#include <stdlib.h>
#include <string.h>

TestSuite(cuda_peer, .timeout = 120);

/* Returns false if there is only one device; nothing is open then. */
static bool open_two(struct gpu *gpu, const char *const *options)
{
	const struct fake_cuda_control *fake = gpu_fake();

	if (fake)
		cr_assert_eq(fake->command("devices 2"), 0);
	gpu_open_backend(gpu, options);
	if (gpu->topology.device_count < 2) {
		gpu->ops->close(gpu->backend);
		cr_skip_test("SKIPPED: there is one device only");
	}
	gpu_open_device(gpu, 0);
	gpu_open_device(gpu, 1);
	return true;
}

/* Both directions, a few sizes. The largest has several blocks and a rest if a copy uses blocks. */
static void copy_between(struct gpu *gpu, enum backend_export_kind kind, bool large)
{
	const uint64_t sizes[] = {1, 777, large ? 17 * MIB + 7 : 65536 + 1};
	const uint64_t most = sizes[2] + 64;
	unsigned char *bytes = malloc(most);

	cr_assert_not_null(bytes);
	for (uint32_t from = 0; from < 2; from++) {
		uint32_t to = 1 - from;
		struct backend_memory *source = gpu_memory(gpu, from, most, kind);
		struct backend_memory *destination = gpu_memory(gpu, to, most, kind);
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			gpu_pattern(bytes, sizes[i], i + from);
			gpu_write(gpu, source, 13, bytes, sizes[i]);
			/* All commands of one lane: those before, the copy, and those after it. */
			const struct backend_command clear =
				gpu_fill(destination, 0, most, "\xee", 1);
			const struct backend_command copy =
				gpu_copy(source, 13, destination, 5, sizes[i]);
			const struct backend_command after =
				gpu_fill(destination, 5 + sizes[i], 1, "\x77", 1);
			(void)gpu_submit(gpu, to, 0, &clear);
			(void)gpu_submit(gpu, to, 0, &copy);
			gpu_do(gpu, to, 0, &after);
			gpu_read(gpu, destination, 0, bytes, sizes[i] + 10);
			cr_assert(gpu_is_all(bytes, 5, 0xee));
			cr_assert(gpu_has_pattern(bytes + 5, sizes[i], i + from),
				  "%llu bytes from %u to %u", (unsigned long long)sizes[i], from,
				  to);
			cr_assert_eq(bytes[5 + sizes[i]], 0x77);
			cr_assert(gpu_is_all(bytes + 6 + sizes[i], 4, 0xee));
		}
		gpu->ops->memory_free(source);
		gpu->ops->memory_free(destination);
	}
	free(bytes);
}

static unsigned char *usm_of(struct gpu *gpu, uint32_t device, enum backend_usm_kind kind,
			     uint64_t bytes)
{
	struct backend_fault fault = {0};
	void *pointer = NULL;

	cr_assert_eq(gpu->ops->usm_alloc(gpu->devices[device], kind, bytes, 0, &pointer, &fault), 0,
		     "%s", fault.text);
	return pointer;
}

/* The same for device USM: in from the host, from GPU to GPU by the destination's lane, and out. */
static void copy_usm_between(struct gpu *gpu)
{
	const uint64_t bytes = 3 * MIB + 5;
	unsigned char *pages = usm_of(gpu, 0, BACKEND_USM_HOST, bytes);

	for (uint32_t from = 0; from < 2; from++) {
		unsigned char *source = usm_of(gpu, from, BACKEND_USM_DEVICE, bytes);
		unsigned char *destination = usm_of(gpu, 1 - from, BACKEND_USM_DEVICE, bytes);
		struct backend_command copy = {.kind = BACKEND_COMMAND_USM_COPY,
					       .usm = {.size_bytes = bytes}};
		gpu_pattern(pages, bytes, 40 + from);
		copy.usm.destination = source;
		copy.usm.source = pages;
		gpu_do(gpu, from, 0, &copy);
		memset(pages, 0, bytes);
		copy.usm.destination = destination;
		copy.usm.source = source;
		gpu_do(gpu, 1 - from, 0, &copy);
		copy.usm.destination = pages;
		copy.usm.source = destination;
		gpu_do(gpu, 1 - from, 0, &copy);
		cr_assert(gpu_has_pattern(pages, bytes, 40 + from), "USM from %u to %u", from,
			  1 - from);
		gpu->ops->usm_free(gpu->devices[from], BACKEND_USM_DEVICE, source);
		gpu->ops->usm_free(gpu->devices[1 - from], BACKEND_USM_DEVICE, destination);
	}
	gpu->ops->usm_free(gpu->devices[0], BACKEND_USM_HOST, pages);
}

/* Only USM is used, which must find the way itself. */
static void usm_by_way(const char *option, enum cuda_peer_path expected)
{
	const char *const options[] = {option, NULL};
	struct gpu gpu;

	if (!open_two(&gpu, options))
		return;
	copy_usm_between(&gpu);
	cr_assert_eq(cuda_peer_path_of(gpu.devices[0], gpu.devices[1]), expected);
	cr_assert_eq(cuda_peer_path_of(gpu.devices[1], gpu.devices[0]), expected);
	gpu_close(&gpu);
}

Test(cuda_peer, F6_A11_device_usm_goes_each_way)
{
	usm_by_way("peer_path=direct", CUDA_PEER_DIRECT);
	usm_by_way("peer_path=peer", CUDA_PEER_COPY);
	usm_by_way("peer_path=managed", CUDA_PEER_MANAGED);
	usm_by_way("peer_path=host", CUDA_PEER_HOST);
}

static void by_way(const char *option, enum cuda_peer_path expected)
{
	const char *const options[] = {option, NULL};
	struct gpu gpu;

	if (!open_two(&gpu, options))
		return;
	copy_between(&gpu, BACKEND_EXPORT_NONE, true);
	copy_between(&gpu, BACKEND_EXPORT_VMM, false);
	copy_between(&gpu, BACKEND_EXPORT_CUDA_IPC, false);
	cr_assert_eq(cuda_peer_path_of(gpu.devices[0], gpu.devices[1]), expected);
	cr_assert_eq(cuda_peer_path_of(gpu.devices[1], gpu.devices[0]), expected);
	gpu_close(&gpu);
}

Test(cuda_peer, F6_direct_access)
{
	by_way("peer_path=direct", CUDA_PEER_DIRECT);
}

Test(cuda_peer, F6_peer_copy)
{
	by_way("peer_path=peer", CUDA_PEER_COPY);
}

Test(cuda_peer, F6_managed_memory)
{
	by_way("peer_path=managed", CUDA_PEER_MANAGED);
}

Test(cuda_peer, F6_through_the_host)
{
	by_way("peer_path=host", CUDA_PEER_HOST);
}

Test(cuda_peer, F6_the_first_way_that_works)
{
	const char *const options[] = {"peer_path=auto", NULL};
	struct gpu gpu;
	int can = 0;

	if (!open_two(&gpu, options))
		return;
	cr_assert_eq(cuda_peer_path_of(gpu.devices[0], gpu.devices[1]), CUDA_PEER_AUTO);
	copy_between(&gpu, BACKEND_EXPORT_NONE, false);
	cr_assert_eq(gpu.backend->library.cuDeviceCanAccessPeer(&can, gpu.devices[0]->facts->device,
								gpu.devices[1]->facts->device),
		     CUDA_SUCCESS);
	cr_assert_eq(cuda_peer_path_of(gpu.devices[0], gpu.devices[1]),
		     can ? CUDA_PEER_DIRECT : CUDA_PEER_COPY);
	gpu_close(&gpu);
}

/* Only with the double: GPUs that cannot access each other, and a driver that supports less each
 * time. */
Test(cuda_peer, F6_the_next_way_where_one_does_not_exist)
{
	static const struct {
		const char *line;
		enum cuda_peer_path expected;
	} steps[] = {
		{"set no_peer 1", CUDA_PEER_COPY},
		{"fail cuMemcpyPeerAsync 1 801 1000", CUDA_PEER_MANAGED},
		{"fail cuMemAllocManaged 1 801 1000", CUDA_PEER_HOST},
	};
	struct gpu gpu;

	if (!gpu_fake())
		cr_skip_test("only the driver's double can be set so");
	for (size_t last = 0; last < sizeof(steps) / sizeof(*steps); last++) {
		if (!open_two(&gpu, NULL))
			return;
		for (size_t i = 0; i <= last; i++)
			gpu_command(&gpu, steps[i].line);
		copy_between(&gpu, BACKEND_EXPORT_NONE, false);
		cr_assert_eq(cuda_peer_path_of(gpu.devices[0], gpu.devices[1]),
			     steps[last].expected);
		gpu_command(&gpu, "forget");
		gpu_close(&gpu);
	}
}

Test(cuda_peer, F6_a_way_that_is_forced_and_does_not_exist_is_refused)
{
	const char *const options[] = {"peer_path=direct", NULL};
	struct gpu gpu;

	if (!gpu_fake())
		cr_skip_test("only the driver's double can be set so");
	if (!open_two(&gpu, options))
		return;
	gpu_command(&gpu, "set no_peer 1");
	struct backend_memory *source = gpu_memory(&gpu, 1, 4096, BACKEND_EXPORT_NONE);
	struct backend_memory *destination = gpu_memory(&gpu, 0, 4096, BACKEND_EXPORT_NONE);
	const struct backend_command copy = gpu_copy(source, 0, destination, 0, 4096);
	gpu_submit_fails(&gpu, 0, &copy, STATUS_FEATURE_NOT_SUPPORTED);
	gpu.ops->memory_free(source);
	gpu.ops->memory_free(destination);
	gpu_close(&gpu);
}

/* The device whose memory is read may be closed first, and opened again. */
static void reopen_source(const char *option)
{
	const char *const options[] = {option, NULL};
	struct gpu gpu;

	if (!open_two(&gpu, options))
		return;
	copy_between(&gpu, BACKEND_EXPORT_NONE, false);
	for (uint32_t i = 0; i < GPU_LANES; i++)
		gpu.ops->lane_free(gpu.lanes[1][i].lane);
	memset(gpu.lanes[1], 0, sizeof(gpu.lanes[1]));
	gpu.ops->device_close(gpu.devices[1]);
	gpu_open_device(&gpu, 1);
	copy_between(&gpu, BACKEND_EXPORT_NONE, false);
	gpu_close(&gpu);
}

Test(cuda_peer, F6_a_device_that_is_opened_again)
{
	reopen_source("peer_path=auto");
	reopen_source("peer_path=host");
	reopen_source("peer_path=managed");
}

/* A kernel on one GPU does not delay copies from it (F8). */
static void beside_a_kernel(const char *option)
{
	const char *const options[] = {option, NULL};
	struct gpu_hold hold;
	struct gpu gpu;

	if (!open_two(&gpu, options))
		return;
	gpu_hold_start(&gpu, &hold);
	for (uint32_t i = 0; i < 50; i++) {
		struct backend_memory *source = gpu_memory(&gpu, 0, MIB, BACKEND_EXPORT_NONE);
		struct backend_memory *destination = gpu_memory(&gpu, 1, MIB, BACKEND_EXPORT_NONE);
		const struct backend_command copy = gpu_copy(source, 0, destination, 0, MIB);
		gpu_do(&gpu, 1, i % 2, &copy);
		gpu.ops->memory_free(source);
		gpu.ops->memory_free(destination);
	}
	cr_assert(gpu_hold_is_running(&hold));
	gpu_hold_end(&hold);
	gpu_close(&gpu);
}

Test(cuda_peer, F8_copies_between_devices_never_wait_for_a_kernel)
{
	beside_a_kernel("peer_path=auto");
	beside_a_kernel("peer_path=peer");
	beside_a_kernel("peer_path=managed");
	beside_a_kernel("peer_path=host");
}

/* Memory of the CUDA backend: pool, headroom, transfers of all kinds, fills, pinned host memory. */
#include "cuda/memory_support.h"

#include "protocol_limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

TestSuite(cuda_memory, .timeout = 120);

Test(cuda_memory, ranges_of_addresses_are_found_whole_or_not_at_all)
{
	struct cuda_ranges ranges;
	int items[40];

	cuda_ranges_open(&ranges);
	for (uint64_t i = 0; i < 40; i++) /* freed in no order, with a gap after each */
		cr_assert_eq(
			cuda_ranges_add(&ranges, 1000 + i * 17 % 40 * 100, 90, &items[i * 17 % 40]),
			0);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t first = 1000 + i * 100;
		cr_assert_eq(cuda_ranges_find(&ranges, first, 90), &items[i]);
		cr_assert_eq(cuda_ranges_find(&ranges, first + 89, 1), &items[i]);
		cr_assert_eq(cuda_ranges_find(&ranges, first + 5, 0), &items[i]);
		cr_assert_null(cuda_ranges_find(&ranges, first, 91));
		cr_assert_null(cuda_ranges_find(&ranges, first + 89, 2));
		cr_assert_null(cuda_ranges_find(&ranges, first + 90, 1));
		cr_assert_null(cuda_ranges_find(&ranges, first + 1, UINT64_MAX));
		cr_assert_eq(cuda_ranges_add(&ranges, first + 89, 11, items), -EEXIST);
		cr_assert_eq(cuda_ranges_add(&ranges, first - 10, 11, items), -EEXIST);
	}
	cr_assert_eq(cuda_ranges_add(&ranges, 5, 0, items), -EINVAL);
	cr_assert_eq(cuda_ranges_add(&ranges, UINT64_MAX, 2, items), -EINVAL);
	cr_assert_eq(cuda_ranges_add(&ranges, UINT64_MAX, 1, items), 0);
	cr_assert_eq(cuda_ranges_find(&ranges, UINT64_MAX, 1), items);
	cr_assert_null(cuda_ranges_remove(&ranges, 1001));
	cr_assert_eq(cuda_ranges_remove(&ranges, 1000), &items[0]);
	cr_assert_null(cuda_ranges_remove(&ranges, 1000));
	cr_assert_null(cuda_ranges_find(&ranges, 1000, 1));
	cr_assert_eq(cuda_ranges_find(&ranges, 1100, 1), &items[1]);
	cuda_ranges_close(&ranges);
}

static uint64_t free_bytes(const struct gpu *gpu)
{
	size_t free_now = 0, total = 0;

	cr_assert_eq(gpu->backend->library.cuMemGetInfo(&free_now, &total), CUDA_SUCCESS);
	return free_now;
}

Test(cuda_memory, F9_alignment_is_256_bytes)
{
	static const uint64_t sizes[] = {1,       3, 255, 257,         10007,      65537,
					 MIB + 1, 1, 7,   2 * MIB - 1, 5 * MIB + 3};
	struct backend_memory *memories[sizeof(sizes) / sizeof(*sizes)];
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		memories[i] = gpu_memory(&gpu, 0, sizes[i], BACKEND_EXPORT_NONE);
		cr_expect_eq(memories[i]->address % CUDA_ALIGNMENT_BYTES, 0, "%llu bytes",
			     (unsigned long long)sizes[i]);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		gpu.ops->memory_free(memories[i]);
	gpu_close(&gpu);
}

/* Opens with a headroom that leaves that much available. */
static void open_with_room(struct gpu *gpu, uint64_t room)
{
	char headroom[64];
	const char *const options[] = {headroom, NULL};

	gpu_alone();
	gpu_open(gpu, NULL);
	uint64_t free_now = free_bytes(gpu);
	gpu_close(gpu);
	cr_assert_gt(free_now, room);
	(void)snprintf(headroom, sizeof(headroom), "headroom_bytes=%llu",
		       (unsigned long long)(free_now - room));
	gpu_open(gpu, options);
}

static void must_have_no_room(struct gpu *gpu, uint64_t size_bytes, enum backend_export_kind kind)
{
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};

	cr_assert_lt(
		gpu->ops->memory_create(gpu->devices[0], size_bytes, NULL, kind, &memory, &fault),
		0, "%llu bytes of kind %d", (unsigned long long)size_bytes, (int)kind);
	cr_assert_null(memory);
	cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION, "%s", fault.text);
	cr_assert_eq(fault.native_code, CUDA_ERROR_OUT_OF_MEMORY);
	cr_assert_neq(fault.text[0], '\0');
}

/* A driver's pool grows in steps of tens of MiB; the double's bytes are real memory. */
static uint64_t piece_bytes(void)
{
	return gpu_fake() ? 4 * MIB : 32 * MIB;
}

Test(cuda_memory, F9_headroom_is_left_for_modules)
{
	enum { PIECES = 64, FIT = 16 };
	const uint64_t piece = piece_bytes();
	struct backend_memory *pieces[PIECES] = {NULL};
	struct backend_fault fault = {0};
	struct gpu gpu;
	uint32_t count = 0;

	open_with_room(&gpu, FIT * piece);
	must_have_no_room(&gpu, 2 * FIT * piece, BACKEND_EXPORT_NONE);
	must_have_no_room(&gpu, 2 * FIT * piece, BACKEND_EXPORT_VMM);
	must_have_no_room(&gpu, 2 * FIT * piece, BACKEND_EXPORT_CUDA_IPC);
	while (count < PIECES &&
	       gpu.ops->memory_create(gpu.devices[0], piece, NULL, BACKEND_EXPORT_NONE,
				      &pieces[count], &fault) == 0)
		count++;
	cr_assert_gt(count, FIT / 4);
	cr_assert_leq(count, FIT);
	cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION);
	cr_assert_geq(free_bytes(&gpu), gpu.backend->settings.headroom_bytes);
	must_have_no_room(&gpu, piece, BACKEND_EXPORT_VMM);
	/* Freed memory is used again, though there is no more room than before. */
	gpu.ops->memory_free(pieces[0]);
	pieces[0] = gpu_memory(&gpu, 0, piece, BACKEND_EXPORT_NONE);
	for (uint32_t i = 0; i < count; i++)
		gpu.ops->memory_free(pieces[i]);
	gpu_close(&gpu);
}

Test(cuda_memory, F9_what_the_pool_keeps_is_given_back_when_others_need_it)
{
	enum { PIECES = 12, FIT = 16 };
	const uint64_t piece = piece_bytes();
	struct backend_memory *pieces[PIECES];
	struct gpu gpu;

	open_with_room(&gpu, FIT * piece);
	for (uint32_t i = 0; i < PIECES; i++)
		pieces[i] = gpu_memory(&gpu, 0, piece, BACKEND_EXPORT_NONE);
	must_have_no_room(&gpu, 8 * piece, BACKEND_EXPORT_VMM);
	for (uint32_t i = 0; i < PIECES; i++)
		gpu.ops->memory_free(pieces[i]);
	struct backend_memory *shared = gpu_memory(&gpu, 0, 8 * piece, BACKEND_EXPORT_VMM);
	gpu.ops->memory_free(shared);
	/* And the other way round, after a quiet moment. */
	gpu.ops->quiet(gpu.devices[0]);
	struct backend_memory *private = gpu_memory(&gpu, 0, PIECES * piece, BACKEND_EXPORT_NONE);
	gpu.ops->memory_free(private);
	gpu_close(&gpu);
}

Test(cuda_memory, F9_more_than_there_is_costs_nobody_what_is_kept)
{
	struct gpu gpu;

	gpu_alone();
	gpu_open(&gpu, NULL);
	gpu.ops->memory_free(gpu_memory(&gpu, 0, 64 * MIB, BACKEND_EXPORT_NONE));
	uint64_t before = free_bytes(&gpu);
	must_have_no_room(&gpu, UINT64_MAX, BACKEND_EXPORT_NONE);
	must_have_no_room(&gpu, UINT64_MAX, BACKEND_EXPORT_VMM);
	must_have_no_room(&gpu, UINT64_MAX / 2, BACKEND_EXPORT_CUDA_IPC);
	must_have_no_room(&gpu, gpu.topology.devices[0].global_mem_bytes, BACKEND_EXPORT_NONE);
	cr_assert_leq(free_bytes(&gpu), before);
	gpu_close(&gpu);
}

static uint64_t pool_has(const struct gpu *gpu, CUmemPool_attribute attribute)
{
	const struct cuda_library *cuda = &gpu->backend->library;
	union {
		cuuint64_t bytes;
		int flag;
	} value = {.bytes = 0}; /* this number, if a driver writes only half of it */

	cr_assert_eq(cuda->cuMemPoolGetAttribute(gpu->devices[0]->memory->pool, attribute, &value),
		     CUDA_SUCCESS);
	return value.bytes;
}

/* A pool that waits for one stream before another may use freed memory would make clients wait for
 * each other. */
Test(cuda_memory, F8_the_pool_keeps_what_it_has_and_makes_no_stream_wait_for_another)
{
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	cr_assert_eq(pool_has(&gpu, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), UINT64_MAX);
	cr_assert_eq(pool_has(&gpu, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES), 1);
	cr_assert_eq(pool_has(&gpu, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC), 0);
	cr_assert_eq(pool_has(&gpu, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES), 0);
	/* And after a free that the device has executed. */
	gpu.ops->memory_free(gpu_memory(&gpu, 0, piece_bytes(), BACKEND_EXPORT_NONE));
	cr_assert_eq(gpu.backend->library.cuStreamSynchronize(gpu.devices[0]->memory->stream),
		     CUDA_SUCCESS);
	cr_assert_geq(pool_has(&gpu, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), piece_bytes());
	gpu_close(&gpu);
}

Test(cuda_memory, F9_an_allocation_that_fails_once_is_tried_again)
{
	struct gpu gpu;

	if (!gpu_fake())
		cr_skip_test("only the driver's double can be set so");
	gpu_open(&gpu, NULL);
	gpu_command(&gpu, "fail cuMemAllocFromPoolAsync 1 2");
	struct backend_memory *memory = gpu_memory(&gpu, 0, MIB, BACKEND_EXPORT_NONE);
	gpu.ops->memory_free(memory);
	gpu_command(&gpu, "fail cuMemAllocFromPoolAsync 1 2 2");
	must_have_no_room(&gpu, MIB, BACKEND_EXPORT_NONE);
	gpu_close(&gpu);
}

/* A device without pools: everything else is the same. */
Test(cuda_memory, memory_without_pools)
{
	static unsigned char sent[10007], got[10007];
	const struct fake_cuda_control *fake = gpu_fake();
	struct gpu gpu;

	if (!fake)
		cr_skip_test("only the driver's double can be set so");
	cr_assert_eq(fake->command("attribute 115 0"), 0);
	gpu_open(&gpu, NULL);
	struct backend_memory *memory = gpu_memory(&gpu, 0, sizeof(sent), BACKEND_EXPORT_NONE);
	cr_assert_eq(memory->origin, CUDA_ORIGIN_PLAIN);
	gpu_pattern(sent, sizeof(sent), 3);
	gpu_write(&gpu, memory, 0, sent, sizeof(sent));
	gpu_read(&gpu, memory, 0, got, sizeof(got));
	cr_assert(gpu_has_pattern(got, sizeof(got), 3));
	gpu.ops->memory_free(memory);
	gpu_close(&gpu);
}

/* Everything that a client can make and move, repeatedly, while another client's kernel never
 * ends. */
Test(cuda_memory, F8_create_copy_and_free_never_wait_for_a_kernel)
{
	enum { ROUNDS = 1000, BYTES = 1024, LARGE = MIB / 8 };
	static unsigned char loose[BYTES];
	struct backend_host *host = NULL;
	struct backend_fault fault = {0};
	struct gpu_hold hold;
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	unsigned char *pages = gpu_pages(2 * BYTES);
	cr_assert_eq(gpu.ops->host_register(gpu.devices[0], pages, 2 * BYTES, &host, &fault), 0,
		     "%s", fault.text);
	gpu_pattern(pages, BYTES, 9);
	gpu_hold_start(&gpu, &hold);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct backend_memory *a = gpu_memory(&gpu, 0, LARGE + i, BACKEND_EXPORT_NONE);
		struct backend_memory *b = gpu_memory(&gpu, 0, BYTES, BACKEND_EXPORT_NONE);
		const struct backend_command commands[] = {
			gpu_transfer(BACKEND_COMMAND_WRITE, a, 1, pages, BYTES),
			gpu_copy(a, 1, b, 0, BYTES),
			gpu_fill(a, 0, LARGE, "abc", 3),
			gpu_fill(a, 0, LARGE, "", 1),
			gpu_transfer(BACKEND_COMMAND_READ, b, 0, pages + BYTES, BYTES),
			gpu_transfer(BACKEND_COMMAND_READ, b, 0, loose, BYTES),
			gpu_transfer(BACKEND_COMMAND_WRITE, a, 0, loose, BYTES),
		};
		/* Sometimes without the host's own thread: the staged transfers are the slow
		 * ones. */
		size_t count = sizeof(commands) / sizeof(*commands) - (i % 8 ? 2 : 0);
		for (size_t k = 0; k < count; k++)
			(void)gpu_submit(&gpu, 0, i % 2, &commands[k]);
		gpu_wait(&gpu, 0, i % 2, gpu.lanes[0][i % 2].sent);
		gpu.ops->memory_free(a);
		gpu.ops->memory_free(b);
	}
	cr_assert(gpu_has_pattern(pages + BYTES, BYTES, 9));
	cr_assert(gpu_has_pattern(loose, BYTES, 9));
	cr_assert(gpu_hold_is_running(&hold));
	if (gpu.fake)
		cr_assert_eq(gpu.fake->count("implicit_sync"), 0);
	gpu_hold_end(&hold);
	gpu.ops->host_unregister(host);
	(void)munmap(pages, 2 * BYTES);
	gpu_close(&gpu);
}

/* Shared memory is zeroed and freed by calls that may wait for everything: only other threads
 * wait. */
static void share_beside_a_kernel(enum backend_export_kind kind)
{
	unsigned char got[64];
	struct gpu_hold hold;
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	gpu_hold_start(&gpu, &hold);
	for (uint32_t i = 0; i < 20; i++) {
		struct backend_memory *memory = gpu_memory(&gpu, 0, MIB, kind);
		struct backend_memory *other = gpu_memory(&gpu, 0, MIB, BACKEND_EXPORT_NONE);
		gpu_write(&gpu, memory, 0, "shared memory", 14);
		gpu_read(&gpu, memory, 0, got, sizeof(got));
		cr_assert_str_eq((const char *)got, "shared memory");
		gpu.ops->memory_free(memory);
		gpu_write(&gpu, other, 0, "private", 8);
		gpu.ops->memory_free(other);
	}
	cr_assert(gpu_hold_is_running(&hold));
	gpu_hold_end(&hold);
	gpu_close(&gpu);
}

Test(cuda_memory, F8_memory_with_a_descriptor_never_waits_for_a_kernel)
{
	share_beside_a_kernel(BACKEND_EXPORT_VMM);
}

Test(cuda_memory, F8_memory_with_a_handle_never_waits_for_a_kernel)
{
	share_beside_a_kernel(BACKEND_EXPORT_CUDA_IPC);
}

/* Both kinds of host memory, there and back, with odd sizes. */
static void there_and_back(struct gpu *gpu, unsigned char *host, uint64_t size_bytes, unsigned seed)
{
	struct backend_memory *memory = gpu_memory(gpu, 0, size_bytes + 3, BACKEND_EXPORT_NONE);
	const struct backend_command in =
		gpu_transfer(BACKEND_COMMAND_WRITE, memory, 3, host, size_bytes);
	const struct backend_command out =
		gpu_transfer(BACKEND_COMMAND_READ, memory, 3, host, size_bytes);

	gpu_pattern(host, size_bytes, seed);
	gpu_do(gpu, 0, 2, &in);
	memset(host, 0, size_bytes);
	gpu_do(gpu, 0, 3, &out);
	cr_assert(gpu_has_pattern(host, size_bytes, seed), "%llu bytes",
		  (unsigned long long)size_bytes);
	gpu->ops->memory_free(memory);
}

Test(cuda_memory, transfers_from_pinned_and_from_any_memory)
{
	static const uint64_t sizes[] = {1,       13,          4096,    65537,
					 2 * MIB, 2 * MIB + 1, 4 * MIB, 7 * MIB + 12345};
	const uint64_t most = 8 * MIB;
	struct backend_host *host = NULL;
	struct backend_fault fault = {0};
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	unsigned char *pages = gpu_pages(most), *loose = malloc(most);
	cr_assert_not_null(loose);
	cr_assert_eq(gpu.ops->host_register(gpu.devices[0], pages, most, &host, &fault), 0, "%s",
		     fault.text);
	uint64_t pageable = gpu.fake ? gpu.fake->count("pageable_copies") : 0;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		there_and_back(&gpu, pages + i, sizes[i], i);
		there_and_back(&gpu, loose + i, sizes[i], i + 100);
	}
	if (gpu.fake)
		cr_assert_eq(gpu.fake->count("pageable_copies"), pageable);
	gpu.ops->host_unregister(host);
	there_and_back(&gpu, pages, 100000,
		       7); /* it is not pinned any more, and can still be used */
	free(loose);
	(void)munmap(pages, most);
	gpu_close(&gpu);
}

/* More staged transfers at once than there are slots, on all lanes. Each lane keeps its order. */
Test(cuda_memory, staged_transfers_keep_the_order_of_their_lane)
{
	enum { PER_LANE = 4 };
	const uint64_t bytes = 5 * MIB + 77;
	unsigned char *first[GPU_LANES], *second[GPU_LANES];
	struct backend_memory *a[GPU_LANES], *b[GPU_LANES];
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	for (uint32_t i = 0; i < GPU_LANES; i++) {
		first[i] = malloc(bytes);
		second[i] = malloc(bytes);
		cr_assert(first[i] && second[i]);
		gpu_pattern(first[i], bytes, i);
		memset(second[i], 0, bytes);
		a[i] = gpu_memory(&gpu, 0, bytes, BACKEND_EXPORT_NONE);
		b[i] = gpu_memory(&gpu, 0, bytes, BACKEND_EXPORT_NONE);
	}
	/* The second write's bytes arrive only when the read before it has ended. */
	for (uint32_t i = 0; i < GPU_LANES; i++) {
		const struct backend_command commands[PER_LANE] = {
			gpu_transfer(BACKEND_COMMAND_WRITE, a[i], 0, first[i], bytes),
			gpu_transfer(BACKEND_COMMAND_READ, a[i], 0, second[i], bytes),
			gpu_transfer(BACKEND_COMMAND_WRITE, b[i], 0, second[i], bytes),
			gpu_fill(a[i], 0, bytes, "\x5a", 1),
		};
		for (uint32_t k = 0; k < PER_LANE; k++)
			(void)gpu_submit(&gpu, 0, i, &commands[k]);
	}
	for (uint32_t i = 0; i < GPU_LANES; i++) {
		gpu_wait(&gpu, 0, i, gpu.lanes[0][i].sent);
		memset(first[i], 0, bytes);
		gpu_read(&gpu, b[i], 0, first[i], bytes);
		cr_assert(gpu_has_pattern(first[i], bytes, i), "lane %u", i);
		gpu_read(&gpu, a[i], 0, first[i], bytes);
		cr_assert(gpu_is_all(first[i], bytes, 0x5a));
		gpu.ops->memory_free(a[i]);
		gpu.ops->memory_free(b[i]);
		free(first[i]);
		free(second[i]);
	}
	gpu_close(&gpu);
}

/* The engine may unmap the client's memory once the loss was reported. */
Test(cuda_memory, a_lost_device_leaves_host_memory_alone)
{
	const uint64_t bytes = 16 * MIB;
	struct gpu gpu;

	if (!gpu_fake())
		cr_skip_test("only the driver's double can be set so");
	gpu_open(&gpu, NULL);
	unsigned char *pages = gpu_pages(bytes);
	struct backend_memory *memory = gpu_memory(&gpu, 0, bytes, BACKEND_EXPORT_NONE);
	const struct backend_command in =
		gpu_transfer(BACKEND_COMMAND_WRITE, memory, 0, pages, bytes);
	const struct backend_command out =
		gpu_transfer(BACKEND_COMMAND_READ, memory, 0, pages, bytes);
	gpu_command(&gpu, "gate close copy_in");
	gpu_command(&gpu, "gate close copy_out");
	uint64_t first = gpu_submit(&gpu, 0, 0, &in);
	uint64_t second = gpu_submit(&gpu, 0, 1, &out);
	cr_assert(gpu.fake->wait_count("held copy_in", 1, 60000000000u));
	cr_assert(gpu.fake->wait_count("held copy_out", 1, 60000000000u));
	gpu_command(&gpu, "lose 700");
	cr_assert_eq(gpu_finish(&gpu, 0, 0, first).status, STATUS_DEVICE_LOST);
	cr_assert_eq(gpu_finish(&gpu, 0, 1, second).status, STATUS_DEVICE_LOST);
	(void)munmap(pages, bytes);
	gpu.ops->memory_free(memory);
	gpu_close_lost(&gpu);
}

/* Any pattern at any place, the last repetition not whole; the bytes beside it do not change. */
Test(cuda_memory, D20_fills_of_any_pattern_at_any_place)
{
	static const size_t patterns[] = {1,  2,  3,  4,  5,  8,   12,  16,
					  17, 31, 32, 64, 96, 100, 127, 128};
	static const uint64_t sizes[] = {1, 2, 7, 129, 4096, 65536 + 3, 300007};
	enum { ROOM = 300007 + 64 };
	static unsigned char expected[ROOM], got[ROOM];
	unsigned char pattern[FILL_PATTERN_BYTES_MAX];
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	struct backend_memory *memory = gpu_memory(&gpu, 0, ROOM, BACKEND_EXPORT_NONE);
	for (size_t p = 0; p < sizeof(patterns) / sizeof(*patterns); p++) {
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
			uint64_t offset = (p * 3 + s) % 9;
			const struct backend_command clear = gpu_fill(memory, 0, ROOM, "\xee", 1);
			(void)gpu_submit(&gpu, 0, 0, &clear);
			gpu_pattern(pattern, patterns[p], (unsigned)(p + s));
			const struct backend_command fill =
				gpu_fill(memory, offset, sizes[s], pattern, patterns[p]);
			uint64_t sequence = gpu_submit(&gpu, 0, 0, &fill);
			memset(expected, 0xee, ROOM);
			for (uint64_t i = 0; i < sizes[s]; i++)
				expected[offset + i] = pattern[i % patterns[p]];
			memset(pattern, 0, sizeof(pattern)); /* it was read at submission */
			gpu_wait(&gpu, 0, 0, sequence);
			gpu_read(&gpu, memory, 0, got, ROOM);
			cr_assert_eq(memcmp(expected, got, ROOM), 0,
				     "%zu bytes of pattern over %llu at %llu", patterns[p],
				     (unsigned long long)sizes[s], (unsigned long long)offset);
		}
	}
	gpu.ops->memory_free(memory);
	gpu_close(&gpu);
}

Test(cuda_memory, ranges_outside_of_a_memory_are_refused)
{
	static unsigned char bytes[256];
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	struct backend_memory *a = gpu_memory(&gpu, 0, 100, BACKEND_EXPORT_NONE);
	struct backend_memory *b = gpu_memory(&gpu, 0, 200, BACKEND_EXPORT_NONE);
	const struct backend_command refused[] = {
		gpu_transfer(BACKEND_COMMAND_WRITE, a, 1, bytes, 100),
		gpu_transfer(BACKEND_COMMAND_READ, a, 101, bytes, 1),
		gpu_transfer(BACKEND_COMMAND_READ, a, UINT64_MAX, bytes, 2),
		gpu_transfer(BACKEND_COMMAND_WRITE, a, 50, bytes, UINT64_MAX - 10),
		gpu_copy(b, 0, a, 0, 101),
		gpu_copy(a, 50, b, 0, 51),
		gpu_copy(a, 0, a, 50, 51),
		gpu_fill(a, 99, 2, "a", 1),
		gpu_fill(a, 0, 10, bytes, 0),
		gpu_fill(a, 0, 10, bytes, FILL_PATTERN_BYTES_MAX + 1),
	};
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		gpu_submit_fails(&gpu, 0, &refused[i], STATUS_INVALID);
	gpu.ops->memory_free(a);
	gpu.ops->memory_free(b);
	gpu_close(&gpu);
}

/* The same pages for two devices: the driver registers them once. */
Test(cuda_memory, two_devices_share_what_is_pinned)
{
	const uint64_t bytes = 1 * MIB;
	const struct fake_cuda_control *fake = gpu_fake();
	struct backend_host *first = NULL, *second = NULL, *bad = NULL;
	struct backend_fault fault = {0};
	struct gpu gpu;

	if (fake)
		cr_assert_eq(fake->command("devices 2"), 0);
	gpu_open(&gpu, NULL);
	if (gpu.topology.device_count < 2) {
		gpu_close(&gpu);
		return;
	}
	gpu_open_device(&gpu, 1);
	unsigned char *pages = gpu_pages(bytes);
	cr_assert_eq(gpu.ops->host_register(gpu.devices[0], pages, bytes, &first, &fault), 0, "%s",
		     fault.text);
	cr_assert_eq(gpu.ops->host_register(gpu.devices[1], pages, bytes, &second, &fault), 0, "%s",
		     fault.text);
	if (fake)
		cr_assert_eq(fake->count("registered"), 1);
	gpu.ops->host_unregister(first);
	struct backend_memory *memory = gpu_memory(&gpu, 1, bytes, BACKEND_EXPORT_NONE);
	gpu_pattern(pages, bytes, 5);
	const struct backend_command in =
		gpu_transfer(BACKEND_COMMAND_WRITE, memory, 0, pages, bytes);
	gpu_do(&gpu, 1, 0, &in);
	cr_assert_eq(gpu.ops->host_register(gpu.devices[0], pages, bytes, &first, &fault), 0, "%s",
		     fault.text);
	/* Neither another range, nor one that does not exist. */
	cr_assert_lt(gpu.ops->host_register(gpu.devices[0], pages, bytes, &bad, &fault), 0);
	cr_assert_lt(
		gpu.ops->host_register(gpu.devices[0], pages + 4096, bytes - 4096, &bad, &fault),
		0);
	cr_assert_lt(gpu.ops->host_register(gpu.devices[0], pages + 100, 4096, &bad, &fault), 0);
	cr_assert_lt(gpu.ops->host_register(gpu.devices[0], pages, 0, &bad, &fault), 0);
	cr_assert_eq(fault.status, STATUS_INVALID);
	cr_assert_null(bad);
	gpu.ops->host_unregister(second);
	gpu.ops->host_unregister(first);
	gpu.ops->memory_free(memory);
	(void)munmap(pages, bytes);
	gpu_close(&gpu);
}

/* A failure half-way leaves nothing: gpu_close counts. */
Test(cuda_memory, failures_leave_nothing_behind)
{
	static const char *const calls[] = {
		"fail cuMemCreate 1 2",   "fail cuMemAddressReserve 1 2",
		"fail cuMemMap 1 2",      "fail cuMemSetAccess 1 2",
		"fail cuEventCreate 1 2", "fail cuMemsetD32Async 1 2",
		"fail cuEventRecord 1 2",
	};
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	for (size_t i = 0; gpu.fake && i < sizeof(calls) / sizeof(*calls); i++) {
		gpu_command(&gpu, calls[i]);
		cr_assert_lt(gpu.ops->memory_create(gpu.devices[0], MIB, NULL, BACKEND_EXPORT_VMM,
						    &memory, &fault),
			     0, "%s", calls[i]);
		cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION);
	}
	cr_assert_eq(atomic_load(&gpu.devices[0]->memory->outside_bytes), 0);
	gpu.ops->memory_free(NULL);
	gpu.ops->host_unregister(NULL);
	gpu_close(&gpu);
}

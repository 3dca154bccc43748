/* USM of the CUDA backend: three kinds, and the commands on it. */
#include "cuda/memory_support.h"

#include "cleanup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

TestSuite(cuda_usm, .timeout = 120);

static unsigned char *usm(struct gpu *gpu, enum backend_usm_kind kind, uint64_t size_bytes,
			  uint64_t alignment)
{
	struct backend_fault fault = {0};
	void *pointer = NULL;

	cr_assert_eq(
		gpu->ops->usm_alloc(gpu->devices[0], kind, size_bytes, alignment, &pointer, &fault),
		0, "%s", fault.text);
	return pointer;
}

static struct backend_command usm_copy(void *destination, const void *source, uint64_t size_bytes)
{
	return (struct backend_command){
		.kind = BACKEND_COMMAND_USM_COPY,
		.usm = {.destination = destination, .source = source, .size_bytes = size_bytes},
	};
}

static struct backend_command usm_fill(void *destination, uint64_t size_bytes, const void *pattern,
				       size_t pattern_bytes)
{
	return (struct backend_command){
		.kind = BACKEND_COMMAND_USM_FILL,
		.usm = {.destination = destination,
			.size_bytes = size_bytes,
			.pattern = pattern,
			.pattern_bytes = pattern_bytes},
	};
}

static struct backend_command usm_hint(enum backend_command_kind kind, void *destination,
				       uint64_t size_bytes, enum backend_advice advice)
{
	return (struct backend_command){
		.kind = kind,
		.usm = {.destination = destination, .size_bytes = size_bytes, .advice = advice},
	};
}

Test(cuda_usm, every_kind_at_every_alignment)
{
	static const enum backend_usm_kind kinds[] = {BACKEND_USM_DEVICE, BACKEND_USM_HOST,
						      BACKEND_USM_SHARED};
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	for (size_t k = 0; k < 3; k++) {
		for (uint64_t alignment = 1; alignment <= 4096; alignment *= 2) {
			unsigned char *a = usm(&gpu, kinds[k], 100, alignment),
				      *b = usm(&gpu, kinds[k], 100, alignment);
			cr_assert_neq(a, b);
			cr_assert_eq((uintptr_t)a % (alignment > 256 ? alignment : 256), 0);
			cr_assert_eq((uintptr_t)b % (alignment > 256 ? alignment : 256), 0);
			gpu.ops->usm_free(gpu.devices[0], kinds[k], a);
			gpu.ops->usm_free(gpu.devices[0], kinds[k], b);
		}
	}
	gpu_close(&gpu);
}

Test(cuda_usm, what_cannot_be_had_is_refused)
{
	struct backend_fault fault = {0};
	void *pointer = NULL;
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	struct backend_device *device = gpu.devices[0];
	cr_assert_lt(gpu.ops->usm_alloc(device, (enum backend_usm_kind)9, 64, 0, &pointer, &fault),
		     0);
	cr_assert_eq(fault.status, STATUS_INVALID);
	cr_assert_lt(gpu.ops->usm_alloc(device, BACKEND_USM_DEVICE, 0, 0, &pointer, &fault), 0);
	cr_assert_lt(gpu.ops->usm_alloc(device, BACKEND_USM_DEVICE, 64, 3, &pointer, &fault), 0);
	cr_assert_lt(gpu.ops->usm_alloc(device, BACKEND_USM_HOST, 64, 8192, &pointer, &fault), 0);
	cr_assert_eq(fault.status, STATUS_INVALID);
	/* Managed memory is never allocated beyond the device's memory: moving it back and forth
	 * can hang a GPU. */
	uint64_t most = gpu.topology.devices[0].global_mem_bytes;
	cr_assert_lt(gpu.ops->usm_alloc(device, BACKEND_USM_SHARED, most, 0, &pointer, &fault), 0);
	cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION);
	cr_assert_lt(
		gpu.ops->usm_alloc(device, BACKEND_USM_SHARED, UINT64_MAX, 0, &pointer, &fault), 0);
	cr_assert_lt(gpu.ops->usm_alloc(device, BACKEND_USM_DEVICE, UINT64_MAX - 8192, 4096,
					&pointer, &fault),
		     0);
	cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION);
	cr_assert_null(pointer);
	gpu.ops->usm_free(device, BACKEND_USM_SHARED, NULL);
	gpu.ops->usm_free(device, BACKEND_USM_SHARED, &gpu); /* it never existed */
	gpu_close(&gpu);
}

Test(cuda_usm, no_managed_memory_is_said_clearly)
{
	const struct fake_cuda_control *fake = gpu_fake();
	struct backend_fault fault = {0};
	void *pointer = NULL;
	struct gpu gpu;

	if (!fake)
		cr_skip_test("only the driver's double can be set so");
	cr_assert_eq(fake->command("attribute 83 0"), 0); /* managed memory */
	gpu_open(&gpu, NULL);
	cr_assert_eq(
		gpu.ops->usm_alloc(gpu.devices[0], BACKEND_USM_SHARED, 64, 0, &pointer, &fault),
		-ENOTSUP);
	cr_assert_eq(fault.status, STATUS_FEATURE_NOT_SUPPORTED);
	gpu_close(&gpu);
}

/* Device, host, shared and pinned memory, from each to each. */
Test(cuda_usm, copies_between_all_kinds)
{
	enum { PLACES = 4 };
	const uint64_t bytes = 3 * MIB;
	struct backend_host *host = NULL;
	struct backend_fault fault = {0};
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	unsigned char *pages = gpu_pages(bytes);
	cr_assert_eq(gpu.ops->host_register(gpu.devices[0], pages, bytes, &host, &fault), 0, "%s",
		     fault.text);
	unsigned char *places[PLACES] = {usm(&gpu, BACKEND_USM_DEVICE, bytes, 0),
					 usm(&gpu, BACKEND_USM_HOST, bytes, 0),
					 usm(&gpu, BACKEND_USM_SHARED, bytes, 0), pages};
	unsigned char *check = usm(&gpu, BACKEND_USM_HOST, bytes, 0);
	for (unsigned from = 0; from < PLACES; from++) {
		for (unsigned to = 0; to < PLACES; to++) {
			if (from == to)
				continue;
			unsigned seed = from * PLACES + to;
			gpu_pattern(check, bytes, seed);
			const struct backend_command steps[] = {
				usm_copy(places[from], check, bytes),
				usm_copy(places[to], places[from], bytes),
				usm_copy(places[to] + 5, places[from], bytes - 5),
				usm_fill(check, bytes, "\x11", 1),
				usm_copy(check, places[to] + 5, bytes - 5),
			};
			for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
				(void)gpu_submit(&gpu, 0, 1, &steps[i]);
			gpu_wait(&gpu, 0, 1, gpu.lanes[0][1].sent);
			cr_assert(gpu_has_pattern(check, bytes - 5, seed), "from %u to %u", from,
				  to);
			cr_assert(gpu_is_all(check + bytes - 5, 5, 0x11));
		}
	}
	gpu.ops->usm_free(gpu.devices[0], BACKEND_USM_DEVICE, places[0]);
	gpu.ops->usm_free(gpu.devices[0], BACKEND_USM_HOST, places[1]);
	gpu.ops->usm_free(gpu.devices[0], BACKEND_USM_SHARED, places[2]);
	gpu.ops->usm_free(gpu.devices[0], BACKEND_USM_HOST, check);
	gpu.ops->host_unregister(host);
	(void)munmap(pages, bytes);
	gpu_close(&gpu);
}

Test(cuda_usm, fills_of_any_pattern)
{
	static const enum backend_usm_kind kinds[] = {BACKEND_USM_DEVICE, BACKEND_USM_HOST,
						      BACKEND_USM_SHARED};
	enum { BYTES = 70001 };
	unsigned char pattern[128];
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	unsigned char *got = usm(&gpu, BACKEND_USM_HOST, BYTES, 0);
	for (size_t k = 0; k < 3; k++) {
		unsigned char *memory = usm(&gpu, kinds[k], BYTES, 0);
		for (size_t size = 1; size <= sizeof(pattern); size = size * 2 + 1) {
			gpu_pattern(pattern, size, (unsigned)size);
			const struct backend_command fill =
				usm_fill(memory + k, BYTES - k, pattern, size);
			(void)gpu_submit(&gpu, 0, 0, &fill);
			const struct backend_command copy = usm_copy(got, memory + k, BYTES - k);
			gpu_do(&gpu, 0, 0, &copy);
			for (size_t i = 0; i < BYTES - k; i++)
				cr_assert_eq(got[i], pattern[i % size],
					     "kind %zu, pattern of %zu, byte %zu", k, size, i);
		}
		gpu.ops->usm_free(gpu.devices[0], kinds[k], memory);
	}
	gpu.ops->usm_free(gpu.devices[0], BACKEND_USM_HOST, got);
	gpu_close(&gpu);
}

/* Host and shared USM of another process: pages that were registered, at their own address. */
Test(cuda_usm, fills_of_registered_memory)
{
	enum { BYTES = 70001 };
	struct backend_host *host = NULL;
	struct backend_fault fault = {0};
	unsigned char pattern[128];
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	unsigned char *pages = gpu_pages(MIB);
	cr_assert_eq(gpu.ops->host_register(gpu.devices[0], pages, MIB, &host, &fault), 0, "%s",
		     fault.text);
	for (size_t size = 1; size <= sizeof(pattern); size = size * 2 + 1) {
		gpu_pattern(pattern, size, (unsigned)size);
		const struct backend_command fill = usm_fill(pages + size, BYTES, pattern, size);
		gpu_do(&gpu, 0, 0, &fill);
		for (size_t i = 0; i < BYTES; i++)
			cr_assert_eq(pages[size + i], pattern[i % size], "pattern of %zu, byte %zu",
				     size, i);
	}
	const struct backend_command beyond = usm_fill(pages + MIB - 10, 11, pattern, 1);
	gpu_submit_fails(&gpu, 0, &beyond, STATUS_INVALID);
	gpu.ops->host_unregister(host);
	const struct backend_command gone = usm_fill(pages, 64, pattern, 1);
	gpu_submit_fails(&gpu, 0, &gone, STATUS_INVALID);
	(void)munmap(pages, MIB);
	gpu_close(&gpu);
}

/* A client's address is any number: one that is no allocation never reaches the driver. */
Test(cuda_usm, forged_and_freed_addresses_are_refused)
{
	unsigned char local[64] = {0};
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	unsigned char *good = usm(&gpu, BACKEND_USM_SHARED, 4096, 0),
		      *gone = usm(&gpu, BACKEND_USM_SHARED, 4096, 0);
	gpu.ops->usm_free(gpu.devices[0], BACKEND_USM_SHARED, gone);
	const struct backend_command refused[] = {
		usm_copy(good, gone, 64),
		usm_copy(gone, good, 64),
		usm_copy(good, local, 64),
		usm_copy(local, good, 64),
		usm_copy(good, good + 4090, 64),
		usm_copy(good + 10, good, 64),
		usm_copy((void *)(uintptr_t)0x10, good, 64),
		usm_copy(good, good + 64, UINT64_MAX - 64),
		usm_fill(gone, 64, "a", 1),
		usm_fill(good, 4097, "a", 1),
		usm_fill(good, 64, "a", 0),
		usm_fill(good, 64, local, 129),
		usm_hint(BACKEND_COMMAND_USM_PREFETCH, gone, 64, 0),
		usm_hint(BACKEND_COMMAND_USM_PREFETCH, good, 5000, 0),
		usm_hint(BACKEND_COMMAND_USM_ADVISE, gone, 64, BACKEND_ADVICE_SET_READ_MOSTLY),
	};
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		gpu_submit_fails(&gpu, 0, &refused[i], STATUS_INVALID);
	gpu.ops->usm_free(gpu.devices[0], BACKEND_USM_SHARED, good);
	gpu_close(&gpu);
}

/* One row of the specification's table. */
struct advice_row {
	enum backend_advice advice;
	CUmem_advise native;
	bool host;
	/* The attributes that the driver reports for the range afterwards. */
	CUmem_range_attribute attribute;
	int expected; /* of the device: its number; CU_DEVICE_CPU; CU_DEVICE_INVALID; or 0 and 1 */
};

#define THE_DEVICE (-100)

static const struct advice_row advice_rows[] = {
	{BACKEND_ADVICE_SET_READ_MOSTLY, CU_MEM_ADVISE_SET_READ_MOSTLY, false,
	 CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 1},
	{BACKEND_ADVICE_UNSET_READ_MOSTLY, CU_MEM_ADVISE_UNSET_READ_MOSTLY, false,
	 CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0},
	{BACKEND_ADVICE_SET_PREFERRED_LOCATION, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, false,
	 CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, THE_DEVICE},
	{BACKEND_ADVICE_UNSET_PREFERRED_LOCATION, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, false,
	 CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, CU_DEVICE_INVALID},
	{BACKEND_ADVICE_SET_ACCESSED_BY, CU_MEM_ADVISE_SET_ACCESSED_BY, false,
	 CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, THE_DEVICE},
	{BACKEND_ADVICE_UNSET_ACCESSED_BY, CU_MEM_ADVISE_UNSET_ACCESSED_BY, false,
	 CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, CU_DEVICE_INVALID},
	{BACKEND_ADVICE_SET_PREFERRED_LOCATION_HOST, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, true,
	 CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, CU_DEVICE_CPU},
	{BACKEND_ADVICE_UNSET_PREFERRED_LOCATION_HOST, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, true,
	 CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, CU_DEVICE_INVALID},
	{BACKEND_ADVICE_SET_ACCESSED_BY_HOST, CU_MEM_ADVISE_SET_ACCESSED_BY, true,
	 CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, CU_DEVICE_CPU},
	{BACKEND_ADVICE_UNSET_ACCESSED_BY_HOST, CU_MEM_ADVISE_UNSET_ACCESSED_BY, true,
	 CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, CU_DEVICE_INVALID},
};

#define ADVICE_ROWS (sizeof(advice_rows) / sizeof(*advice_rows))

/* The ten calls of the driver, in order, by that device's queue. */
static void expect_advice(const struct gpu *gpu, int device, uintptr_t address)
{
	static struct fake_cuda_record records[64];
	size_t found = 0, count = gpu->fake->records(records, 64);

	for (size_t i = 0; i < (count < 64 ? count : 64); i++) {
		if (records[i].kind != FAKE_CUDA_ADVICE)
			continue;
		cr_assert_lt(found, ADVICE_ROWS);
		const struct advice_row *row = &advice_rows[found++];
		cr_expect_eq(records[i].value, row->native, "advice %d", (int)row->advice);
		cr_expect_eq(records[i].location_type,
			     row->host ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE);
		cr_expect_eq(records[i].location_id, row->host ? 0 : device);
		cr_expect_eq(records[i].address, address);
		cr_expect_eq(records[i].size_bytes, 8192);
	}
	cr_assert_eq(found, ADVICE_ROWS);
}

/* By the queue of the second of two devices: the call has its number, not the first one's. */
Test(cuda_usm, G1_the_driver_is_told_the_advice_and_the_place_of_all_ten)
{
	const struct fake_cuda_control *fake = gpu_fake();
	struct gpu gpu;

	if (!fake)
		cr_skip_test("only the driver's double lists its calls");
	cr_assert_eq(fake->command("devices 2"), 0);
	gpu_open_backend(&gpu, NULL);
	gpu_open_device(&gpu, 0);
	gpu_open_device(&gpu, 1);
	unsigned char *memory = usm(&gpu, BACKEND_USM_SHARED, 65536, 0);
	for (size_t i = 0; i < ADVICE_ROWS; i++) {
		const struct backend_command advise = usm_hint(
			BACKEND_COMMAND_USM_ADVISE, memory + 4096, 8192, advice_rows[i].advice);
		gpu_do(&gpu, 1, 0, &advise);
	}
	expect_advice(&gpu, 1, (uintptr_t)memory + 4096);
	gpu.ops->usm_free(gpu.devices[0], BACKEND_USM_SHARED, memory);
	gpu_close(&gpu);
}

/* The result: what the driver reports for the range. */
Test(cuda_usm, G1_the_driver_tells_the_advice_back)
{
	const uint64_t bytes = 4 * MIB;
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	const struct cuda_library *cuda = &gpu.backend->library;
	unsigned char *memory = usm(&gpu, BACKEND_USM_SHARED, bytes, 0);
	for (size_t i = 0; i < ADVICE_ROWS; i++) {
		const struct advice_row *row = &advice_rows[i];
		int expected =
			row->expected == THE_DEVICE ? gpu.devices[0]->facts->device : row->expected;
		int values[2] = {-99, -99};
		const struct backend_command advise =
			usm_hint(BACKEND_COMMAND_USM_ADVISE, memory, bytes, row->advice);
		gpu_do(&gpu, 0, 0, &advise);
		size_t values_bytes = row->attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
					      ? sizeof(values)
					      : sizeof(*values);
		cr_assert_eq(cuda->cuMemRangeGetAttribute(values, values_bytes, row->attribute,
							  (uintptr_t)memory, bytes),
			     CUDA_SUCCESS);
		cr_expect_eq(values[0], expected, "advice %d: %d", (int)row->advice, values[0]);
	}
	gpu.ops->usm_free(gpu.devices[0], BACKEND_USM_SHARED, memory);
	gpu_close(&gpu);
}

Test(cuda_usm, G2_only_shared_usm_takes_advice_and_prefetch)
{
	static const enum backend_usm_kind kinds[] = {BACKEND_USM_DEVICE, BACKEND_USM_HOST};
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	for (size_t k = 0; k < 2; k++) {
		unsigned char *memory = usm(&gpu, kinds[k], 65536, 0);
		for (size_t i = 0; i < ADVICE_ROWS; i++) {
			const struct backend_command advise = usm_hint(
				BACKEND_COMMAND_USM_ADVISE, memory, 4096, advice_rows[i].advice);
			gpu_submit_fails(&gpu, 0, &advise, STATUS_INVALID);
		}
		const struct backend_command prefetch =
			usm_hint(BACKEND_COMMAND_USM_PREFETCH, memory, 4096, 0);
		gpu_submit_fails(&gpu, 0, &prefetch, STATUS_INVALID);
		gpu.ops->usm_free(gpu.devices[0], kinds[k], memory);
	}
	if (gpu.fake)
		cr_assert_eq(gpu.fake->count("advice") + gpu.fake->count("prefetch"), 0);
	gpu_close(&gpu);
}

Test(cuda_usm, G3_other_advice_is_an_error)
{
	static const int others[] = {0, 11, 12, 100, -1, INT32_MAX, INT32_MIN};
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	unsigned char *memory = usm(&gpu, BACKEND_USM_SHARED, 65536, 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const struct backend_command advise = usm_hint(
			BACKEND_COMMAND_USM_ADVISE, memory, 4096, (enum backend_advice)others[i]);
		gpu_submit_fails(&gpu, 0, &advise, STATUS_INVALID);
	}
	if (gpu.fake)
		cr_assert_eq(gpu.fake->count("advice"), 0);
	gpu.ops->usm_free(gpu.devices[0], BACKEND_USM_SHARED, memory);
	gpu_close(&gpu);
}

Test(cuda_usm, prefetch_brings_shared_usm_to_the_device)
{
	const uint64_t bytes = 4 * MIB;
	struct gpu gpu;
	int where = -99;

	gpu_open(&gpu, NULL);
	unsigned char *memory = usm(&gpu, BACKEND_USM_SHARED, bytes, 0);
	gpu_pattern(memory, bytes, 4);
	const struct backend_command prefetch =
		usm_hint(BACKEND_COMMAND_USM_PREFETCH, memory, bytes, 0);
	gpu_do(&gpu, 0, 0, &prefetch);
	cr_assert_eq(gpu.backend->library.cuMemRangeGetAttribute(
			     &where, sizeof(where), CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
			     (uintptr_t)memory, bytes),
		     CUDA_SUCCESS);
	cr_assert_eq(where, gpu.devices[0]->facts->device);
	cr_assert(gpu_has_pattern(memory, bytes, 4));
	gpu.ops->usm_free(gpu.devices[0], BACKEND_USM_SHARED, memory);
	gpu_close(&gpu);
}

/* Allocates and frees USM, beside a kernel that does not end. */
Test(cuda_usm, F8_device_usm_never_waits_for_a_kernel)
{
	struct gpu_hold hold;
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	gpu_hold_start(&gpu, &hold);
	for (uint32_t i = 0; i < 200; i++) {
		unsigned char *memory = usm(&gpu, BACKEND_USM_DEVICE, MIB + i, 4096);
		const struct backend_command fill = usm_fill(memory, MIB, "abcde", 5);
		gpu_do(&gpu, 0, 0, &fill);
		gpu.ops->usm_free(gpu.devices[0], BACKEND_USM_DEVICE, memory);
	}
	cr_assert(gpu_hold_is_running(&hold));
	gpu_hold_end(&hold);
	gpu_close(&gpu);
}

#include "cuda/memory_support.h"

#include "clock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_NS 60000000000ull
#define POLL_NS     50000

/* Objects that must be freed when the last device is closed. */
static const char *const numbers[] = {
	"streams",          "events",     "contexts",     "allocations",
	"host_allocations", "registered", "reservations", "mappings",
	"vmm_handles",      "ipc_open",   "pools"};

const struct fake_cuda_control *gpu_fake(void)
{
	const char *which = getenv("SYCLD_TEST_CUDA");

	if (which && strcmp(which, "real") == 0)
		return NULL;
	void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(library, "%s", dlerror());
	void *symbol = dlsym(library, FAKE_CUDA_CONTROL_SYMBOL);
	fake_cuda_control_function *control;
	memcpy(&control, &symbol, sizeof(control));
	cr_assert_not_null(symbol);
	return control();
}

static int open_locked(const char *path, int how)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(flock(fd, how), 0, "%s", path);
	return fd;
}

/*
 * The program's own file, locked until the process ends; forked children have the lock, too. While
 * a test waits for an exclusive lock, the kernel admits further shared locks. The test would then
 * wait until all others have ended. So each test first takes a second lock, on the program's
 * folder, which a test that waits holds.
 */
static void lock_gpu(int how)
{
	static int room = -1;
	char folder[PATH_MAX];

	if (room >= 0 || gpu_fake())
		return;
	ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	cr_assert_gt(length, 0);
	folder[length] = '\0';
	char *slash = strrchr(folder, '/');
	cr_assert_not_null(slash);
	slash[1] = '\0';
	int gate = open_locked(folder, LOCK_EX);
	room = open_locked("/proc/self/exe", how);
	(void)close(gate);
}

void gpu_alone(void)
{
	lock_gpu(LOCK_EX);
}

void gpu_command(const struct gpu *gpu, const char *line)
{
	if (gpu->fake)
		cr_assert_eq(gpu->fake->command(line), 0, "%s", line);
}

void gpu_open_backend(struct gpu *gpu, const char *const *options)
{
	const char *all[GPU_OPTIONS] = {NULL};
	struct backend_fault fault = {0};
	uint32_t count = 0;

	*gpu = (struct gpu){.ops = &backend_cuda_ops, .fake = gpu_fake()};
	lock_gpu(LOCK_SH);
	all[count++] = "connections=" GPU_CONNECTIONS;
	if (gpu->fake)
		all[count++] = "library=" FAKE_CUDA_LIBRARY;
	for (; options && *options; options++) {
		cr_assert_lt(count, GPU_OPTIONS - 1);
		all[count++] = *options;
	}
	const struct backend_settings settings = {.options = all};
	cr_assert_eq(gpu->ops->open(&settings, &gpu->backend, &fault), 0, "%s", fault.text);
	cr_assert_eq(gpu->ops->enumerate(gpu->backend, &gpu->topology, &fault), 0, "%s",
		     fault.text);
}

/* Lanes 0 and 1 compute, 2 copies in, 3 copies out. */
void gpu_open_device(struct gpu *gpu, uint32_t device)
{
	static const enum backend_lane_kind kinds[GPU_LANES] = {
		BACKEND_LANE_COMPUTE, BACKEND_LANE_COMPUTE, BACKEND_LANE_COPY_IN,
		BACKEND_LANE_COPY_OUT};
	struct backend_fault fault = {0};

	cr_assert_lt(device, gpu->topology.device_count);
	cr_assert_eq(gpu->ops->device_open(gpu->backend, device, NULL, NULL, &gpu->devices[device],
					   &fault),
		     0, "%s", fault.text);
	for (uint32_t i = 0; i < GPU_LANES; i++)
		cr_assert_eq(gpu->ops->lane_create(gpu->devices[device], kinds[i],
						   &gpu->lanes[device][i].lane, &fault),
			     0, "%s", fault.text);
}

void gpu_open(struct gpu *gpu, const char *const *options)
{
	gpu_open_backend(gpu, options);
	gpu_open_device(gpu, 0);
}

static void close_gpu(struct gpu *gpu)
{
	for (uint32_t device = 0; device < GPU_DEVICES; device++) {
		if (!gpu->devices[device])
			continue;
		for (uint32_t i = 0; i < GPU_LANES; i++)
			gpu->ops->lane_free(gpu->lanes[device][i].lane);
		gpu->ops->device_close(gpu->devices[device]);
	}
	gpu->ops->close(gpu->backend);
	gpu->backend = NULL;
}

static void check_records(const struct fake_cuda_control *fake)
{
	static struct fake_cuda_record records[512];
	size_t count = fake->records(records, 512), said = 0;

	for (size_t i = 0; i < (count < 512 ? count : 512) && said < 5; i++)
		if (records[i].kind == FAKE_CUDA_MISUSE && ++said)
			cr_log_error("%s: %s", records[i].call, records[i].text);
	cr_assert_eq(fake->count("misuse"), 0);
	cr_assert_eq(fake->count("null_stream"), 0);
}

void gpu_close(struct gpu *gpu)
{
	close_gpu(gpu);
	if (!gpu->fake)
		return;
	check_records(gpu->fake);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		cr_expect_eq(gpu->fake->count(numbers[i]), 0, "%s: %llu", numbers[i],
			     (unsigned long long)gpu->fake->count(numbers[i]));
}

void gpu_close_lost(struct gpu *gpu)
{
	close_gpu(gpu);
}

uint64_t gpu_submit(struct gpu *gpu, uint32_t device, uint32_t lane,
		    const struct backend_command *command)
{
	struct gpu_lane *at = &gpu->lanes[device][lane];
	struct backend_fault fault = {0};

	cr_assert_eq(gpu->ops->submit(at->lane, command, NULL, 0, ++at->sent, NULL, &fault), 0,
		     "%s", fault.text);
	gpu->ops->flush(gpu->devices[device]);
	return at->sent;
}

void gpu_submit_fails(struct gpu *gpu, uint32_t device, const struct backend_command *command,
		      int32_t status)
{
	struct gpu_lane *at = &gpu->lanes[device][0];
	struct backend_fault fault = {0};

	cr_assert_lt(gpu->ops->submit(at->lane, command, NULL, 0, ++at->sent, NULL, &fault), 0);
	cr_assert_eq(fault.status, status, "%d: %s", fault.status, fault.text);
	cr_assert_neq(fault.text[0], '\0');
}

static void progress(struct gpu *gpu, uint32_t device)
{
	struct backend_completion completed[16];
	uint32_t count;

	do {
		count = gpu->ops->progress(gpu->devices[device], completed, 16);
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t k = 0; k < GPU_LANES; k++) {
				struct gpu_lane *lane = &gpu->lanes[device][k];
				if (lane->lane != completed[i].lane)
					continue;
				lane->completed = completed[i].sequence;
				if (lane->fault.status == 0)
					lane->fault = completed[i].fault;
			}
	} while (count == 16);
}

bool gpu_is_done(struct gpu *gpu, uint32_t device, uint32_t lane, uint64_t sequence)
{
	progress(gpu, device);
	return gpu->lanes[device][lane].completed >= sequence;
}

struct backend_fault gpu_finish(struct gpu *gpu, uint32_t device, uint32_t lane, uint64_t sequence)
{
	uint64_t deadline = clock_deadline_ns(DEADLINE_NS);

	while (!gpu_is_done(gpu, device, lane, sequence)) {
		cr_assert_lt(clock_now_ns(), deadline, "no completion of %llu",
			     (unsigned long long)sequence);
		(void)nanosleep(&(struct timespec){.tv_nsec = POLL_NS},
				NULL); /* the device reports no completions */
	}
	return gpu->lanes[device][lane].fault;
}

void gpu_wait(struct gpu *gpu, uint32_t device, uint32_t lane, uint64_t sequence)
{
	struct backend_fault fault = gpu_finish(gpu, device, lane, sequence);

	cr_assert_eq(fault.status, 0, "%s", fault.text);
}

void gpu_do(struct gpu *gpu, uint32_t device, uint32_t lane, const struct backend_command *command)
{
	gpu_wait(gpu, device, lane, gpu_submit(gpu, device, lane, command));
}

struct backend_memory *gpu_memory(struct gpu *gpu, uint32_t device, uint64_t size_bytes,
				  enum backend_export_kind kind)
{
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};

	cr_assert_eq(gpu->ops->memory_create(gpu->devices[device], size_bytes, NULL, kind, &memory,
					     &fault),
		     0, "%s", fault.text);
	return memory;
}

struct backend_command gpu_transfer(enum backend_command_kind kind, struct backend_memory *memory,
				    uint64_t offset_bytes, void *host, uint64_t size_bytes)
{
	return (struct backend_command){
		.kind = kind,
		.transfer = {.memory = memory,
			     .offset_bytes = offset_bytes,
			     .size_bytes = size_bytes,
			     .host = host},
	};
}

struct backend_command gpu_copy(struct backend_memory *source, uint64_t source_offset_bytes,
				struct backend_memory *destination,
				uint64_t destination_offset_bytes, uint64_t size_bytes)
{
	return (struct backend_command){
		.kind = source->device == destination->device ? BACKEND_COMMAND_COPY
							      : BACKEND_COMMAND_COPY_PEER,
		.copy = {.source = source,
			 .destination = destination,
			 .source_offset_bytes = source_offset_bytes,
			 .destination_offset_bytes = destination_offset_bytes,
			 .size_bytes = size_bytes},
	};
}

struct backend_command gpu_fill(struct backend_memory *memory, uint64_t offset_bytes,
				uint64_t size_bytes, const void *pattern, size_t pattern_bytes)
{
	return (struct backend_command){
		.kind = BACKEND_COMMAND_FILL,
		.fill = {.memory = memory,
			 .offset_bytes = offset_bytes,
			 .size_bytes = size_bytes,
			 .pattern = pattern,
			 .pattern_bytes = pattern_bytes},
	};
}

void gpu_write(struct gpu *gpu, struct backend_memory *memory, uint64_t offset_bytes,
	       const void *bytes, uint64_t size_bytes)
{
	void *copy = malloc(size_bytes);

	cr_assert_not_null(copy);
	memcpy(copy, bytes, size_bytes);
	const struct backend_command command =
		gpu_transfer(BACKEND_COMMAND_WRITE, memory, offset_bytes, copy, size_bytes);
	gpu_do(gpu, memory->device->index, 0, &command);
	free(copy);
}

void gpu_read(struct gpu *gpu, struct backend_memory *memory, uint64_t offset_bytes, void *bytes,
	      uint64_t size_bytes)
{
	const struct backend_command command =
		gpu_transfer(BACKEND_COMMAND_READ, memory, offset_bytes, bytes, size_bytes);
	gpu_do(gpu, memory->device->index, 0, &command);
}

unsigned char *gpu_pages(uint64_t size_bytes)
{
	int fd = memfd_create("cuda-memory", MFD_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, (off_t)size_bytes), 0);
	void *pages = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(pages, MAP_FAILED);
	(void)close(fd);
	return pages;
}

static unsigned char byte_at(uint64_t place, unsigned seed)
{
	return (unsigned char)(place * 7 + (place >> 8) * 13 + (place >> 20) * 31 + seed);
}

void gpu_pattern(unsigned char *bytes, uint64_t size_bytes, unsigned seed)
{
	for (uint64_t i = 0; i < size_bytes; i++)
		bytes[i] = byte_at(i, seed);
}

bool gpu_has_pattern(const unsigned char *bytes, uint64_t size_bytes, unsigned seed)
{
	for (uint64_t i = 0; i < size_bytes; i++)
		if (bytes[i] != byte_at(i, seed))
			return false;
	return true;
}

bool gpu_is_all(const unsigned char *bytes, uint64_t size_bytes, unsigned char byte)
{
	for (uint64_t i = 0; i < size_bytes; i++)
		if (bytes[i] != byte)
			return false;
	return true;
}

/* One work-item that polls the word until it is not 0. */
static const char hold_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry hold_on(.param .u64 word)\n{\n"
	"\t.reg .u64 %rd<2>;\n\t.reg .u32 %r<2>;\n\t.reg .pred %p<2>;\n"
	"\tld.param.u64 %rd1, [word];\n"
	"again:\n\tld.volatile.global.u32 %r1, [%rd1];\n\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 bra again;\n\tret;\n}\n";

/* Only for the double, whose interpreter would use a processor. */
static void hold_on(const struct fake_cuda_launch *launch)
{
	uint64_t address;

	memcpy(&address, launch->parameters[0], sizeof(address));
	const volatile uint32_t *word = (const volatile uint32_t *)(uintptr_t)address;
	while (*word == 0)
		(void)nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
}

static void must(CUresult result)
{
	cr_assert_eq(result, CUDA_SUCCESS, "CUresult %d", (int)result);
}

void gpu_hold_start(struct gpu *gpu, struct gpu_hold *hold)
{
	const struct cuda_library *cuda = &gpu->backend->library;
	CUfunction function = NULL;
	CUdeviceptr address = 0;
	void *word = NULL;

	*hold = (struct gpu_hold){.device = gpu->devices[0]};
	if (gpu->fake)
		cr_assert_eq(gpu->fake->kernel("hold_on", hold_on), 0);
	must(cuda->cuModuleLoadDataEx(&hold->module, hold_ptx, 0, NULL, NULL));
	must(cuda->cuModuleGetFunction(&function, hold->module, "hold_on"));
	must(cuda->cuFuncLoad(function));
	must(cuda->cuMemHostAlloc(&word, 4096,
				  CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
	hold->word = word;
	*hold->word = 0;
	must(cuda->cuMemHostGetDevicePointer(&address, word, 0));
	must(cuda->cuStreamCreateWithPriority(&hold->stream, CU_STREAM_NON_BLOCKING, 0));
	void *parameters[] = {&address};
	must(cuda->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, hold->stream, parameters, NULL));
}

bool gpu_hold_is_running(const struct gpu_hold *hold)
{
	return hold->device->backend->library.cuStreamQuery(hold->stream) == CUDA_ERROR_NOT_READY;
}

void gpu_hold_end(struct gpu_hold *hold)
{
	const struct cuda_library *cuda = &hold->device->backend->library;

	*hold->word = 1;
	must(cuda->cuStreamSynchronize(hold->stream));
	must(cuda->cuStreamDestroy(hold->stream));
	must(cuda->cuModuleUnload(hold->module));
	must(cuda->cuMemFreeHost((void *)(uintptr_t)hold->word));
}

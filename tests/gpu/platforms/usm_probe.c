/*
 * Candidates for shared USM of a service's clients (G1). The probe measures how fast a kernel and
 * the processor access each candidate. It also finds out which kinds of the driver's migrating
 * memory another process could use. It is no test: it prints. The page is docs/memory.md, "USM".
 */
#include "platforms/usm_probe.h"

#include "usm_window.h"

#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES      (mebibytes << 20)
#define ROUNDS     5
#define TEXT(name) #name
#define NAME(name) TEXT(name)
#define CU(name)   ((__typeof__(&(name)))symbol(NAME(name)))
#define MUST(call) must((call), #call)

static const char ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry sweep(.param .u64 words, .param .u32 count)\n{\n"
	"\t.reg .b32 %r<8>;\n\t.reg .b64 %p<4>;\n\t.reg .pred %q;\n"
	"\tmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"\tld.param.u32 %r4, [count]; setp.ge.u32 %q, %r1, %r4; @%q bra leave;\n"
	"\tld.param.u64 %p1, [words]; cvta.to.global.u64 %p1, %p1; mul.wide.u32 %p2, %r1, 4; add.u64 %p1, %p1, %p2;\n"
	"\tld.global.u32 %r5, [%p1]; add.u32 %r5, %r5, 1; st.global.u32 [%p1], %r5;\n"
	"leave:\n\tret;\n}\n";

static size_t mebibytes = 64; /* or the first argument */
static void *driver;
static CUstream stream;
static CUfunction sweep;
static CUdevice device;

static void *symbol(const char *name)
{
	void *found = dlsym(driver, name);

	if (!found) {
		printf("%s: not in this driver\n", name);
		exit(77);
	}
	return found;
}

static void must(CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return;
	printf("%s: %d\n", what, (int)result);
	exit(1);
}

static double usm_probe_now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void wait_for_it(void)
{
	MUST(CU(cuStreamSynchronize)(stream));
}

/* Each word is read and written. */
static double kernel_ms(CUdeviceptr words)
{
	uint32_t count = (uint32_t)(BYTES / 4);
	void *parameters[] = {&words, &count};
	const double begin = usm_probe_now_ms();

	MUST(CU(cuLaunchKernel)(sweep, count / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
	wait_for_it();
	return usm_probe_now_ms() - begin;
}

static double host_ms(void *words)
{
	volatile uint32_t *at = words;
	const double begin = usm_probe_now_ms();

	for (size_t i = 0; i < BYTES / 4; i += 16) /* a word of each line */
		at[i]++;
	return usm_probe_now_ms() - begin;
}

static void print_times(const char *what, double first, double best)
{
	printf("%-66s %9.3f ms first, %9.3f ms best\n", what, first, best);
}

static void report_kernel(const char *what, CUdeviceptr words)
{
	double first = kernel_ms(words), best = first;

	for (int i = 1; i < ROUNDS; i++) {
		double took = kernel_ms(words);
		best = took < best ? took : best;
	}
	print_times(what, first, best);
}

static CUresult prefetch(CUdeviceptr words, bool to_device)
{
	const CUmemLocation where = {.type = to_device ? CU_MEM_LOCATION_TYPE_DEVICE
						       : CU_MEM_LOCATION_TYPE_HOST,
				     .id = to_device ? device : 0};

	return CU(cuMemPrefetchAsync)(words, BYTES, where, 0, stream);
}

static CUresult advise(CUdeviceptr words)
{
	const CUmemLocation where = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};

	return CU(cuMemAdvise)(words, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, where);
}

static void print_host_times(const char *what, void *words)
{
	const double first = host_ms(words), second = host_ms(words);

	print_times(what, first, second);
}

/* The memory that clients have today: pinned pages of a memfd. Also the cost of mirroring them on
 * the device at each command. */
static void try_shared_pages(void *pages)
{
	CUdeviceptr mirror = 0, mapped = 0;

	printf("prefetch of pages of a memfd, not registered: %d; advice: %d\n",
	       (int)prefetch((uintptr_t)pages, true), (int)advise((uintptr_t)pages));
	MUST(CU(cuMemHostRegister)(pages, BYTES,
				   CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
	MUST(CU(cuMemHostGetDevicePointer)(&mapped, pages, 0));
	printf("prefetch of pages of a memfd, registered: %d; advice: %d\n",
	       (int)prefetch(mapped, true), (int)advise(mapped));
	(void)CU(cuStreamSynchronize)(stream);
	report_kernel("today: kernel over registered pages of a memfd", mapped);
	print_host_times("today: processor over the same, a word of each line", pages);
	MUST(CU(cuMemAlloc)(&mirror, BYTES));
	double times[3];
	for (int i = 0; i < ROUNDS; i++) {
		double begin = usm_probe_now_ms();
		MUST(CU(cuMemcpyHtoDAsync)(mirror, pages, BYTES, stream));
		wait_for_it();
		times[0] = usm_probe_now_ms() - begin;
		times[1] = kernel_ms(mirror);
		begin = usm_probe_now_ms();
		MUST(CU(cuMemcpyDtoHAsync)(pages, mirror, BYTES, stream));
		wait_for_it();
		times[2] = usm_probe_now_ms() - begin;
	}
	printf("mirror: copy there %.3f ms, kernel %.3f ms, copy back %.3f ms\n", times[0],
	       times[1], times[2]);
	MUST(CU(cuMemFree)(mirror));
	MUST(CU(cuMemHostUnregister)(pages));
}

/* Prints the words that a child reads at another process' addresses. Each way is tried in a
 * separate child, which it may end. */
static void print_child_times(const char *what, int (*look)(pid_t parent, void *at), void *at)
{
	const pid_t parent = getpid();
	int status = 0;

	(void)fflush(stdout);
	pid_t child = fork();
	if (child == 0)
		_exit(look(parent, at) & 127);
	(void)waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		printf("%s: ended by signal %d\n", what, WTERMSIG(status));
	else
		printf("%s: %s\n", what, strerror(WEXITSTATUS(status)));
}

static int look_by_vm_readv(pid_t parent, void *at)
{
	static char page[1 << 20];
	struct iovec to = {page, sizeof(page)}, from = {at, sizeof(page)};

	return process_vm_readv(parent, &to, 1, &from, 1, 0) == (ssize_t)sizeof(page) ? 0 : errno;
}

static int look_by_proc_mem(pid_t parent, void *at)
{
	char path[64], byte;

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)parent);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	return file >= 0 && pread(file, &byte, 1, (off_t)(uintptr_t)at) == 1 ? 0 : errno;
}

static int look_by_map_files(pid_t parent, void *at)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)parent,
		       (unsigned long long)(uintptr_t)at,
		       (unsigned long long)((uintptr_t)at + BYTES));
	int file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return errno;
	return mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, (off_t)(uintptr_t)at) == MAP_FAILED
		       ? errno
		       : 0;
}

static int look_after_fork(pid_t parent, void *at)
{
	(void)parent;
	(void)*(volatile char *)at;
	return 0;
}

static void try_managed(void)
{
	CUdeviceptr managed = 0;
	CUipcMemHandle handle;
	int descriptor = -1;

	MUST(CU(cuMemAllocManaged)(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
	void *at = (void *)(uintptr_t)managed;
	memset(at, 0, BYTES);
	report_kernel("managed: kernel, from the host's pages", managed);
	print_host_times("managed: processor, from the device's pages", at);
	double begin = usm_probe_now_ms();
	CUresult result = prefetch(managed, true);
	wait_for_it();
	printf("managed: prefetch to the device: %d, %.3f ms\n", (int)result,
	       usm_probe_now_ms() - begin);
	report_kernel("managed: kernel, after a prefetch", managed);
	printf("managed, doors for another process: IPC handle %d, ",
	       (int)CU(cuIpcGetMemHandle)(&handle, managed));
	printf("DMA buffer %d\n",
	       (int)CU(cuMemGetHandleForAddressRange)(&descriptor, managed, BYTES,
						      CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	print_child_times("managed, process_vm_readv by a child", look_by_vm_readv, at);
	print_child_times("managed, /proc/PID/mem by a child", look_by_proc_mem, at);
	print_child_times("managed, mapped by a child from /proc/PID/map_files", look_by_map_files,
			  at);
	print_child_times("managed, touched by a forked child", look_after_fork, at);
	MUST(CU(cuMemFree)(managed));
}

static void print_attributes(void)
{
	static const struct {
		const char *name;
		CUdevice_attribute attribute;
	} all[] = {
		{"managed memory", CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
		{"concurrent managed access", CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
		{"pageable memory access", CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
		{"pageable access by the host's page tables",
		 CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES},
		{"direct managed access from the host",
		 CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST},
		{"atomics of the host", CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED},
		{"DMA buffers", CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		int value = -1;
		CUresult result = CU(cuDeviceGetAttribute)(&value, all[i].attribute, device);
		printf("%s: %d%s\n", all[i].name, value,
		       result == CUDA_SUCCESS ? "" : " (not known)");
	}
}

/* Finds an address at which a client's pages and memory of the device can be mapped in turn. */
static void *window_address(void)
{
	return (void *)(uintptr_t)(USM_WINDOW_BEGIN + (1ull << 40));
}

static CUmemAllocationProp property(CUmemLocationType type, int id, bool shared)
{
	return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
				     .requestedHandleTypes =
					     shared ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
						    : CU_MEM_HANDLE_TYPE_NONE,
				     .location = {.type = type, .id = id}};
}

static CUresult set_access(CUdeviceptr at)
{
	const CUmemAccessDesc access = {
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

	return CU(cuMemSetAccess)(at, BYTES, &access, 1);
}

/* The cost of a move by hand: the pages are unpinned and unmapped, memory of the device is mapped
 * there; and back. */
static void try_remapping(void)
{
	const int memory = memfd_create("usm_probe", MFD_CLOEXEC);
	const CUmemAllocationProp wanted = property(CU_MEM_LOCATION_TYPE_DEVICE, device, false);
	CUmemGenericAllocationHandle handle = 0;
	CUdeviceptr at = 0, reserved = 0;

	MUST(ftruncate(memory, (off_t)BYTES) == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
	void *pages = mmap(window_address(), BYTES, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED_NOREPLACE, memory, 0);
	MUST(pages == window_address() ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
	memset(pages, 0, BYTES);
	for (int round = 0; round < 2; round++) {
		double begin = usm_probe_now_ms();
		MUST(CU(cuMemHostRegister)(
			pages, BYTES, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
		double registered = usm_probe_now_ms();
		MUST(CU(cuMemHostGetDevicePointer)(&at, pages, 0));
		report_kernel("moved by hand: kernel, pinned pages", at);
		double leaving = usm_probe_now_ms();
		MUST(CU(cuMemHostUnregister)(pages));
		double unregistered = usm_probe_now_ms();
		(void)munmap(pages, BYTES);
		CUresult result = CU(cuMemAddressReserve)(&reserved, BYTES, 0, (uintptr_t)pages, 0);
		printf("moved by hand: pin %.3f ms, unpin %.3f ms; reserve the same address: %d, %s\n",
		       registered - begin, unregistered - leaving, (int)result,
		       reserved == (uintptr_t)pages ? "given" : "given another");
		begin = usm_probe_now_ms();
		MUST(CU(cuMemCreate)(&handle, BYTES, &wanted, 0));
		double created = usm_probe_now_ms();
		MUST(CU(cuMemMap)(reserved, BYTES, 0, handle, 0));
		MUST(set_access(reserved));
		double mapped = usm_probe_now_ms();
		report_kernel("moved by hand: kernel, memory of the device", reserved);
		leaving = usm_probe_now_ms();
		MUST(CU(cuMemUnmap)(reserved, BYTES));
		MUST(CU(cuMemRelease)(handle));
		MUST(CU(cuMemAddressFree)(reserved, BYTES));
		printf("moved by hand: create %.3f ms, map %.3f ms, unmap and free %.3f ms\n",
		       created - begin, mapped - created, usm_probe_now_ms() - leaving);
		pages = mmap(pages, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
			     memory, 0);
		MUST(pages == window_address() ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
	}
}

static int descriptor_to_map;

static int look_by_descriptor(pid_t parent, void *at)
{
	(void)parent;
	(void)at;
	volatile uint32_t *words =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_to_map, 0);
	if ((void *)words == MAP_FAILED)
		return errno;
	const double read_ms = host_ms((void *)words);
	printf("  a child mapped it: a word of each line in %.3f ms\n", read_ms);
	(void)fflush(stdout);
	return 0;
}

/* Memory of the driver with a descriptor: can a process without the driver map that? */
static void try_descriptor(const char *what, CUmemLocationType type)
{
	const CUmemAllocationProp wanted = property(type, 0, true);
	CUmemGenericAllocationHandle handle = 0;
	CUdeviceptr reserved = 0;
	int buffer = -1;

	CUresult result = CU(cuMemCreate)(&handle, BYTES, &wanted, 0);
	if (result == CUDA_SUCCESS)
		result = CU(cuMemExportToShareableHandle)(
			&descriptor_to_map, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
	printf("%s: made with a descriptor: %d\n", what, (int)result);
	if (result != CUDA_SUCCESS)
		return;
	print_child_times("  mapped by a child", look_by_descriptor, NULL);
	MUST(CU(cuMemAddressReserve)(&reserved, BYTES, 0, (uintptr_t)window_address(), 0));
	printf("  an address of the window: %s\n",
	       reserved == (uintptr_t)window_address() ? "given" : "given another");
	MUST(CU(cuMemMap)(reserved, BYTES, 0, handle, 0));
	MUST(set_access(reserved));
	report_kernel("  kernel over it", reserved);
	result = CU(cuMemGetHandleForAddressRange)(&buffer, reserved, BYTES,
						   CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
	printf("  as a DMA buffer: %d\n", (int)result);
	if (result != CUDA_SUCCESS)
		return;
	descriptor_to_map = buffer;
	print_child_times("  the DMA buffer mapped by a child", look_by_descriptor, NULL);
}

static void try_descriptors(void)
{
	try_descriptor("memory of the host's node", CU_MEM_LOCATION_TYPE_HOST_NUMA);
	try_descriptor("memory of the device", CU_MEM_LOCATION_TYPE_DEVICE);
}

/* Pages that are not pinned, for drivers that use the kernel's page tables: do those of a memfd
 * move? */
static void try_pageable(void)
{
	static const char *const names[] = {"pages of a memfd", "pages of this process alone"};
	int possible = 0;

	MUST(CU(cuDeviceGetAttribute)(&possible, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
				      device));
	if (!possible) {
		printf("not pinned: kernels reach no such pages here\n");
		return;
	}
	const int memory = memfd_create("usm_probe", MFD_CLOEXEC);
	MUST(ftruncate(memory, (off_t)BYTES) == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
	for (int i = 0; i < 2; i++) {
		char what[96];
		void *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
				   i == 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
				   i == 0 ? memory : -1, 0);
		MUST(pages != MAP_FAILED ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN);
		memset(pages, 0, BYTES);
		(void)snprintf(what, sizeof(what), "not pinned, %s: kernel", names[i]);
		report_kernel(what, (uintptr_t)pages);
		const double begin = usm_probe_now_ms();
		const CUresult result = prefetch((uintptr_t)pages, true);
		wait_for_it();
		printf("not pinned, %s: prefetch to the device: %d, %.3f ms\n", names[i],
		       (int)result, usm_probe_now_ms() - begin);
		(void)snprintf(what, sizeof(what), "not pinned, %s: kernel after it", names[i]);
		report_kernel(what, (uintptr_t)pages);
		(void)snprintf(what, sizeof(what), "not pinned, %s: processor", names[i]);
		print_host_times(what, pages);
	}
}

static void try_today(void)
{
	int memory = memfd_create("usm_probe", MFD_CLOEXEC);
	void *pages = memory >= 0 && ftruncate(memory, (off_t)BYTES) == 0
			      ? mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0)
			      : MAP_FAILED;

	if (pages == MAP_FAILED) {
		perror("memfd");
		return;
	}
	memset(pages, 0, BYTES);
	try_shared_pages(pages);
}

/* Runs in a separate process with the driver: some of these attempts end a context. */
static void run_with_driver(const char *what, void (*part)(void))
{
	const char *path = getenv("SYCLD_TEST_CUDA_LIBRARY");
	CUcontext context = NULL;
	CUmodule module = NULL;
	int status = 0;

	(void)fflush(stdout);
	pid_t child = fork();
	if (child != 0) {
		(void)waitpid(child, &status, 0);
		if (WIFSIGNALED(status))
			printf("%s: ended by signal %d\n", what, WTERMSIG(status));
		return;
	}
	(void)alarm(60);
	printf("\n-- %s\n", what);
	driver = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!driver || CU(cuInit)(0) != CUDA_SUCCESS ||
	    CU(cuDeviceGet)(&device, 0) != CUDA_SUCCESS) {
		printf("no CUDA driver with a GPU here\n");
		exit(77);
	}
	MUST(CU(cuDevicePrimaryCtxRetain)(&context, device));
	MUST(CU(cuCtxSetCurrent)(context));
	MUST(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
	MUST(CU(cuModuleLoadData)(&module, ptx));
	MUST(CU(cuModuleGetFunction)(&sweep, module, "sweep"));
	part();
	exit(0);
}

int main(int argc, char **argv)
{
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && atoi(argv[1]) >= 2 && atoi(argv[1]) <= 4096)
		mebibytes = (size_t)atoi(argv[1]);
	printf("%zu MiB each\n", mebibytes);
	run_with_driver("the device", print_attributes);
	run_with_driver("pages that a client and its engine share", try_today);
	run_with_driver("managed memory", try_managed);
	run_with_driver("moving by hand", try_remapping);
	run_with_driver("memory with descriptors", try_descriptors);
	run_with_driver("pages that are not pinned", try_pageable);
	probe_faults(mebibytes);
	return 0;
}

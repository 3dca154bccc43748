/*
 * A native CUDA command between two kernels of the service. This program calls NVIDIA's driver
 * itself, in its own context. The driver fills half of a buffer that the service shares with it. No
 * CUDA header is needed. Exit 0: the result is right, or no device here takes native commands of
 * another process; 1: any other failure.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syclclient.h>

#define N 1000u

static const char source[] =
	"SYCL_KERNEL void number(SYCL_GLOBAL(uint) values) { values[sycl_global_id(0)] = (uint)sycl_global_id(0); }\n"
	"SYCL_KERNEL void twice(SYCL_GLOBAL(uint) values) { values[sycl_global_id(0)] *= 2; }";

/* As cuda.h declares cuMemsetD32Async: CUresult (CUdeviceptr, unsigned, size_t, CUstream). */
typedef int set_words(unsigned long long address, unsigned value, size_t count, void *stream);

static int32_t only_cuda(sycl_device device, void *unused)
{
	uint32_t backend = 0;
	(void)unused;
	(void)sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend,
				   NULL);
	return backend == SYCL_BACKEND_KIND_CUDA ? sycl_default_selector(device, NULL) : -1;
}

/* Finds the driver that the library itself uses. */
static set_words *find_driver(void)
{
	const char *name = getenv("SYCLD_CUDA_LIBRARY");
	void *library = dlopen(name && *name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "cuMemsetD32Async") : NULL;
	set_words *function = NULL;
	memcpy(&function, &symbol,
	       /* ISO C has no cast from an object pointer to a function pointer. */
	       sizeof(function));
	return function;
}

/* Sends the fill and returns at once. The fill begins after the first kernel, and the second kernel
 * begins after the fill. */
static sycl_result fill_half(sycl_interop_handle interop, void *user_data)
{
	set_words *const *set = user_data;
	uint64_t stream = 0, memory = 0, offset = 0;
	sycl_result r = sycl_interop_get_native_queue(interop, &stream);
	if (r == 0)
		r = sycl_interop_get_native_memory(interop, 0, &memory, &offset);
	if (r == 0 && (*set)(memory + offset, 5, N / 2, (void *)(uintptr_t)stream) != 0)
		r = SYCL_ERROR_RUNTIME;
	return r;
}

/* Submits the kernel, or the native command if the kernel is NULL. */
static sycl_result submit_native_command(sycl_queue queue, sycl_buffer buffer, sycl_kernel kernel,
					 set_words **set)
{
	sycl_handler group;
	sycl_result r = sycl_handler_begin(queue, &group);
	if (r == 0)
		r = sycl_handler_set_accessor(group, 0, buffer, SYCL_ACCESS_READ_WRITE);
	if (r == 0 && kernel)
		r = sycl_handler_parallel_for(group, kernel, sycl_range1(N));
	if (r == 0 && !kernel)
		r = sycl_handler_native_command(group, fill_half, set, NULL);
	return r == 0 ? sycl_queue_submit(queue, group, NULL) : r;
}

static sycl_result run_native_kernels(sycl_device device, sycl_queue queue, set_words *set,
				      uint32_t *values)
{
	sycl_kernel_bundle bundle;
	sycl_kernel number, twice;
	sycl_buffer buffer;
	sycl_result r =
		sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, NULL, &bundle);
	if (r == 0)
		r = sycl_kernel_create(bundle, "number", &number);
	if (r == 0)
		r = sycl_kernel_create(bundle, "twice", &twice);
	/* This program's context can open such memory as well. Native commands of this program
	 * cannot use other buffers. */
	if (r == 0)
		r = sycl_buffer_create_exportable(device, NULL, N * sizeof(*values), SYCL_HOST_NONE,
						  SYCL_SHARE_VMM, &buffer);
	if (r == 0)
		r = submit_native_command(queue, buffer, number, NULL);
	if (r == 0)
		r = submit_native_command(queue, buffer, NULL, &set);
	if (r == 0)
		r = submit_native_command(queue, buffer, twice, NULL);
	if (r == 0)
		r = sycl_queue_copy_to_host(queue, buffer, 0, values, N * sizeof(*values), NULL);
	/* Also calls the function, because this connection has no helper threads. */
	if (r == 0)
		r = sycl_queue_wait(queue);
	return r;
}

int main(int argc, char **argv)
{
	static uint32_t values[N];
	sycl_platform platform;
	sycl_device device;
	sycl_queue queue;
	sycl_native_bridge bridge = SYCL_NATIVE_BRIDGE_NONE;
	sycl_result r = sycl_platform_open(argc > 1 ? argv[1] : NULL, &platform);
	/* Without a GPU this uses the default device, which then reports that it has no bridge. */
	if (r == 0 && sycl_device_select(platform, only_cuda, NULL, &device) != 0)
		r = sycl_device_select(platform, sycl_default_selector, NULL, &device);
	if (r == 0)
		r = sycl_queue_create(NULL, device, NULL, &queue);
	if (r == 0)
		r = sycl_queue_get_native_bridge(queue, &bridge);
	set_words *set = r == 0 && bridge == SYCL_NATIVE_BRIDGE_IPC ? find_driver() : NULL;
	if (r == 0 && !set)
		return printf("no native commands between this program and this device's service: nothing to show\n"),
		       0;
	if (r == 0)
		r = run_native_kernels(device, queue, set, values);
	if (r != 0)
		return fprintf(stderr, "%s\n%s", sycl_get_last_error_text(), sycl_get_build_log()),
		       1;
	uint32_t wrong = 0;
	for (uint32_t i = 0; i < N; i++)
		wrong += values[i] != (i < N / 2 ? 10 : 2 * i);
	printf("%u values, half of them filled by CUDA's own command in this program's context; %u are wrong\n",
	       N, wrong);
	return wrong != 0;
}

/*
 * A kernel in CUDA C++ on an NVIDIA GPU of the service. It computes a sum by warp shuffles, which
 * portable kernels do not have. Exit 0: the sum is right; 77: there is no CUDA device; 1: any other
 * failure.
 */
#include <stdint.h>
#include <stdio.h>
#include <syclclient.h>

#define N 65536u

/* Arguments follow the kernel's own list, with an accessor for each pointer. NVRTC compiles the
 * source in the service. */
static const char source[] =
	"extern \"C\" __global__ void sum(const unsigned *values, unsigned long long *total)\n"
	"{\n"
	"	unsigned value = values[blockIdx.x * blockDim.x + threadIdx.x];\n"
	"	for (int distance = 16; distance > 0; distance /= 2)\n"
	"		value += __shfl_down_sync(~0u, value, distance);\n"
	"	if (threadIdx.x % 32 == 0)\n"
	"		atomicAdd(total, (unsigned long long)value);\n"
	"}\n";

static int32_t only_cuda(sycl_device device, void *unused)
{
	uint32_t backend = 0;
	(void)unused;
	(void)sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend,
				   NULL);
	return backend == SYCL_BACKEND_KIND_CUDA ? sycl_default_selector(device, NULL) : -1;
}

/* Submits one command group and waits; *total then has the sum. */
static sycl_result add_up(sycl_platform platform, sycl_device device, uint32_t *values,
			  uint64_t *total)
{
	sycl_queue queue;
	sycl_kernel_bundle bundle;
	sycl_kernel sum;
	sycl_buffer in, out;
	sycl_handler group;
	sycl_result r = sycl_queue_create(NULL, device, NULL, &queue);
	if (r == 0)
		r = sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_CUDA_CPP, source, NULL,
						   &bundle);
	if (r == 0)
		r = sycl_kernel_create(bundle, "sum", &sum);
	if (r == 0)
		r = sycl_buffer_create(platform, values, N * sizeof(*values), SYCL_HOST_CONST, &in);
	if (r == 0)
		r = sycl_buffer_create(platform, total, sizeof(*total), SYCL_HOST_BORROWED, &out);
	if (r == 0)
		r = sycl_handler_begin(queue, &group);
	if (r == 0)
		r = sycl_handler_set_accessor(group, 0, in, SYCL_ACCESS_READ);
	if (r == 0)
		r = sycl_handler_set_accessor(group, 1, out, SYCL_ACCESS_READ_WRITE);
	/* 256 blocks of 256 threads: blockIdx and threadIdx are as in a launch of CUDA's own. */
	if (r == 0)
		r = sycl_handler_parallel_for_nd(group, sum, sycl_range1(N), sycl_range1(256));
	if (r == 0)
		r = sycl_queue_submit(queue, group, NULL);
	if (r == 0)
		r = sycl_buffer_release(out); /* waits, and *total has the result */
	return r;
}

int main(int argc, char **argv)
{
	static uint32_t values[N];
	uint64_t total = 0, expected = 0;
	for (uint32_t i = 0; i < N; i++)
		values[i] = i * 7 % 1000, expected += values[i];
	sycl_platform platform;
	sycl_device device;
	sycl_result r = sycl_platform_open(argc > 1 ? argv[1] : NULL, &platform);
	if (r == 0 && sycl_device_select(platform, only_cuda, NULL, &device) != 0)
		return fprintf(stderr, "no CUDA device here (\"syclctl devices\" says why): %s\n",
			       sycl_get_last_error_text()),
		       77;
	if (r == 0)
		r = add_up(platform, device, values, &total);
	if (r != 0)
		return fprintf(stderr, "%s\n%s", sycl_get_last_error_text(), sycl_get_build_log()),
		       1;
	printf("sum = %llu, %s\n", (unsigned long long)total,
	       total == expected ? "as on the CPU" : "WRONG");
	return total == expected ? 0 : 1;
}

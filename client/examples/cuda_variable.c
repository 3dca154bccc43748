/*
 * Variables of a program in CUDA C++, found by name. The coefficients of a polynomial are written
 * to a __constant__ variable. Afterwards a __device__ variable has the number of threads that ran.
 * Exit 0: both are right; 77: there is no CUDA device; 1: anything else.
 *
 *   cuda_variable [ENDPOINT [BUILD_OPTIONS]]
 */
#include <stdint.h>
#include <stdio.h>
#include <syclclient.h>

enum { COUNT = 1024, TERMS = 3 };

static const char source[] =
	"__constant__ float terms[3];\n"
	"__device__ unsigned threads;\n"
	"extern \"C\" __global__ void polynomial(float *values)\n"
	"{\n"
	"	float x = values[blockIdx.x * blockDim.x + threadIdx.x];\n"
	"	values[blockIdx.x * blockDim.x + threadIdx.x] = (terms[2] * x + terms[1]) * x + terms[0];\n"
	"	atomicAdd(&threads, 1u);\n"
	"}\n";

static int32_t only_cuda(sycl_device device, void *unused)
{
	uint32_t backend = 0;
	(void)unused;
	(void)sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend,
				   NULL);
	return backend == SYCL_BACKEND_KIND_CUDA ? sycl_default_selector(device, NULL) : -1;
}

/* A variable is device USM, so memcpy reads and writes it. The kernel uses the variable without
 * naming it to the queue. Only the order of the queue keeps the commands apart. */
static sycl_result run_with_variable(sycl_platform platform, sycl_queue queue,
				     const char *build_options, float *values,
				     uint32_t *threads_out)
{
	const float coefficients[TERMS] = {1, 2, 3};
	void *terms = NULL, *threads = NULL;
	sycl_kernel_bundle bundle;
	sycl_kernel polynomial;
	sycl_buffer buffer;
	sycl_handler group;
	sycl_result r = sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_CUDA_CPP, source,
						       build_options, &bundle);
	if (r == 0)
		r = sycl_kernel_create(bundle, "polynomial", &polynomial);
	if (r == 0)
		r = sycl_kernel_bundle_get_variable(bundle, NULL, "terms", &terms, NULL);
	if (r == 0)
		r = sycl_kernel_bundle_get_variable(bundle, NULL, "threads", &threads, NULL);
	if (r == 0)
		r = sycl_buffer_create(platform, values, COUNT * sizeof(*values),
				       SYCL_HOST_BORROWED, &buffer);
	if (r == 0)
		r = sycl_queue_memcpy(queue, terms, coefficients, sizeof(coefficients), 0, NULL,
				      NULL);
	if (r == 0)
		r = sycl_handler_begin(queue, &group);
	if (r == 0)
		r = sycl_handler_set_accessor(group, 0, buffer, SYCL_ACCESS_READ_WRITE);
	if (r == 0)
		r = sycl_handler_parallel_for_nd(group, polynomial, sycl_range1(COUNT),
						 sycl_range1(128));
	if (r == 0)
		r = sycl_queue_submit(queue, group, NULL);
	if (r == 0)
		r = sycl_queue_memcpy(queue, threads_out, threads, sizeof(*threads_out), 0, NULL,
				      NULL);
	if (r == 0)
		r = sycl_queue_wait(queue);
	return r == 0 ? sycl_buffer_release(buffer) : r; /* `values` has the result */
}

/* Small whole numbers: exact. */
static int are_right(const float *values)
{
	int right = 1;
	for (int i = 0; i < COUNT; i++)
		right &= values[i] == (float)((3 * i + 2) * i + 1);
	return right;
}

int main(int argc, char **argv)
{
	static float values[COUNT];
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	uint32_t threads = 0;
	sycl_platform platform;
	sycl_device device;
	sycl_queue queue;
	for (int i = 0; i < COUNT; i++)
		values[i] = (float)i;
	options.properties = SYCL_QUEUE_IN_ORDER;
	sycl_result r = sycl_platform_open(argc > 1 ? argv[1] : NULL, &platform);
	if (r == 0 && sycl_device_select(platform, only_cuda, NULL, &device) != 0)
		return fprintf(stderr, "no CUDA device here (\"syclctl devices\" says why): %s\n",
			       sycl_get_last_error_text()),
		       77;
	if (r == 0)
		r = sycl_queue_create(NULL, device, &options, &queue);
	if (r == 0)
		r = run_with_variable(platform, queue, argc > 2 ? argv[2] : NULL, values, &threads);
	if (r != 0)
		return fprintf(stderr, "%s\n%s", sycl_get_last_error_text(), sycl_get_build_log()),
		       1;
	printf("%u threads, and the values are %s\n", (unsigned)threads,
	       are_right(values) ? "right" : "WRONG");
	return are_right(values) && threads == COUNT ? 0 : 1;
}

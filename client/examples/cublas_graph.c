/*
 * A pipeline with cuBLAS in the middle, as one CUDA graph. A kernel makes two matrices, cuBLAS
 * multiplies them, and a kernel adds one to each element of the product. cuBLAS is captured when
 * the graph is finalized, and runs at each launch. The engine is in this process.
 */
#include <stdio.h>
#include <syclclient.h>
#include <syclclient/cuda.h>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

enum { SIDE = 256, LAUNCHES = 50, NOTHING_TO_SHOW = 77 };
/* For cuBLAS, which must not allocate memory while it is captured. */
#define WORKSPACE_BYTES (32u << 20)

static const char source[] =
	"SYCL_KERNEL void make(SYCL_GLOBAL(float) a, SYCL_GLOBAL(float) b)\n"
	"{ ulong i = sycl_global_id(0); a[i] = (float)(i % 7); b[i] = (float)(i % 5); }\n"
	"SYCL_KERNEL void add_one(SYCL_GLOBAL(float) c) { c[sycl_global_id(0)] += 1.0f; }";

struct product {
	cublasHandle_t handle;
	void *workspace;
};

static sycl_result find_memory(sycl_interop_handle interop, uint32_t index, float **out)
{
	uint64_t address = 0, offset = 0;
	sycl_result r = sycl_interop_get_native_memory(interop, index, &address, &offset);
	*out = SYCL_CUDA_HANDLE_OF(float *, address + offset);
	return r;
}

/* Called once. The stream captures into the graph's own part, between the node's edges. */
static sycl_result multiply_matrices(sycl_interop_handle interop, void *user_data)
{
	static const float one = 1, none = 0;
	struct product *product = user_data;
	uint64_t stream_number = 0, graph_number = 0;
	float *matrices[3];
	sycl_result r = sycl_interop_get_native_queue(interop, &stream_number);
	if (r == 0)
		r = sycl_interop_get_native_graph(interop, &graph_number);
	for (uint32_t i = 0; i < 3 && r == 0; i++)
		r = find_memory(interop, i, &matrices[i]);
	if (r != 0)
		return r;
	cudaStream_t stream = SYCL_CUDA_HANDLE_OF(cudaStream_t, stream_number);
	cudaGraph_t graph = SYCL_CUDA_HANDLE_OF(cudaGraph_t, graph_number), captured = NULL;
	cublasStatus_t status = cublasSetStream(product->handle, stream);
	if (status == CUBLAS_STATUS_SUCCESS)
		status = cublasSetWorkspace(product->handle, product->workspace, WORKSPACE_BYTES);
	if (status != CUBLAS_STATUS_SUCCESS ||
	    cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0,
					  cudaStreamCaptureModeThreadLocal) != cudaSuccess)
		return SYCL_ERROR_RUNTIME;
	status = cublasSgemm(product->handle, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one,
			     matrices[0], SIDE, matrices[1], SIDE, &none, matrices[2], SIDE);
	if (cudaStreamEndCapture(stream, &captured) != cudaSuccess ||
	    status != CUBLAS_STATUS_SUCCESS)
		return SYCL_ERROR_RUNTIME;
	return SYCL_SUCCESS;
}

static sycl_result submit_kernel(sycl_queue queue, sycl_kernel kernel, uint32_t count,
				 const sycl_buffer *buffers)
{
	sycl_handler group;
	sycl_result r = sycl_handler_begin(queue, &group);
	for (uint32_t i = 0; i < count && r == 0; i++)
		r = sycl_handler_set_accessor(group, i, buffers[i], SYCL_ACCESS_READ_WRITE);
	if (r == 0)
		r = sycl_handler_parallel_for(group, kernel, sycl_range1((uint64_t)SIDE * SIDE));
	return r == 0 ? sycl_queue_submit(queue, group, NULL) : r;
}

static sycl_result submit_library_product(sycl_queue queue, struct product *product,
					  const sycl_buffer buffers[3])
{
	sycl_handler group;
	sycl_result r = sycl_handler_begin(queue, &group);
	for (uint32_t i = 0; i < 3 && r == 0; i++)
		r = sycl_handler_set_accessor(group, i, buffers[i],
					      i < 2 ? SYCL_ACCESS_READ : SYCL_ACCESS_WRITE_NO_INIT);
	if (r == 0)
		r = sycl_handler_native_command(group, multiply_matrices, product, NULL);
	return r == 0 ? sycl_queue_submit(queue, group, NULL) : r;
}

static sycl_result make_graph_with_product(sycl_queue queue, sycl_device device,
					   const sycl_kernel kernels[2], struct product *product,
					   const sycl_buffer buffers[3], sycl_executable_graph *out)
{
	sycl_context context;
	sycl_graph graph;
	sycl_result r = sycl_queue_get_context(queue, &context);
	if (r == 0)
		r = sycl_graph_create(context, device, NULL, &graph);
	if (r == 0)
		r = sycl_graph_begin_recording(graph, 1, &queue);
	if (r == 0)
		r = submit_kernel(queue, kernels[0], 2, buffers);
	if (r == 0)
		r = submit_library_product(queue, product, buffers);
	if (r == 0)
		r = submit_kernel(queue, kernels[1], 1, &buffers[2]);
	if (r == 0)
		r = sycl_graph_end_recording(graph, 0, NULL);
	if (r == 0)
		r = sycl_graph_finalize(graph, NULL, out);
	if (r == 0)
		r = sycl_graph_release(graph);
	return r;
}

/* The values are small whole numbers, so the comparison is exact. */
static int count_wrong(const float *c)
{
	int wrong = 0;
	for (int column = 0; column < SIDE; column++) {
		for (int row = 0; row < SIDE; row++) {
			float sum = 1;
			for (int k = 0; k < SIDE; k++)
				sum += (float)((row + k * SIDE) % 7) *
				       (float)((k + column * SIDE) % 5);
			wrong += c[row + column * SIDE] != sum;
		}
	}
	return wrong;
}

/* cuBLAS keeps its state in the context that is current when it is called. That is the device's
 * primary context, which this library uses, too. */
static sycl_result open_cublas(sycl_queue queue, sycl_device device, struct product *product)
{
	CUdevice native = 0;
	sycl_result r = sycl_cuda_get_native_device(device, &native);
	if (r == 0)
		r = sycl_malloc_device(queue, WORKSPACE_BYTES, 0, &product->workspace);
	if (r != 0)
		return r;
	if (cudaSetDevice(native) != cudaSuccess ||
	    cublasCreate(&product->handle) != CUBLAS_STATUS_SUCCESS)
		return SYCL_ERROR_RUNTIME;
	return SYCL_SUCCESS;
}

static sycl_result make_objects(sycl_platform platform, sycl_queue queue, sycl_kernel kernels[2],
				sycl_buffer buffers[3])
{
	sycl_kernel_bundle bundle;
	sycl_result r =
		sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, NULL, &bundle);
	if (r == 0)
		r = sycl_kernel_create(bundle, "make", &kernels[0]);
	if (r == 0)
		r = sycl_kernel_create(bundle, "add_one", &kernels[1]);
	for (int i = 0; i < 3 && r == 0; i++)
		r = sycl_buffer_create(platform, NULL, sizeof(float) * SIDE * SIDE, SYCL_HOST_NONE,
				       &buffers[i]);
	return r;
}

int main(void)
{
	static float result[SIDE * SIDE];
	struct product product = {.handle = NULL};
	sycl_platform platform;
	sycl_device device;
	sycl_queue queue;
	sycl_kernel kernels[2];
	sycl_buffer buffers[3];
	sycl_executable_graph pipeline;
	sycl_backend backend = SYCL_BACKEND_KIND_FAKE;
	sycl_result r = sycl_platform_open("embedded:", &platform);
	if (r == 0)
		r = sycl_device_select(platform, sycl_gpu_selector, NULL, &device);
	if (r == 0)
		r = sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend),
					 &backend, NULL);
	if (r != 0 || backend != SYCL_BACKEND_KIND_CUDA) {
		printf("no CUDA device here\n");
		return NOTHING_TO_SHOW;
	}
	r = sycl_queue_create(NULL, device, NULL, &queue);
	if (r == 0)
		r = make_objects(platform, queue, kernels, buffers);
	if (r == 0)
		r = open_cublas(queue, device, &product);
	if (r == 0)
		r = make_graph_with_product(queue, device, kernels, &product, buffers, &pipeline);
	for (int i = 0; i < LAUNCHES && r == 0; i++)
		r = sycl_queue_graph(queue, pipeline, 0, NULL, NULL);
	if (r == 0)
		r = sycl_queue_copy_to_host(queue, buffers[2], 0, result, sizeof(result), NULL);
	if (r == 0)
		r = sycl_queue_wait(queue);
	if (r != 0)
		return fprintf(stderr, "%s\n%s", sycl_get_last_error_text(), sycl_get_build_log()),
		       1;
	int wrong = count_wrong(result);
	printf("%d launches of a graph with cuBLAS in it; %d of %d numbers are wrong\n", LAUNCHES,
	       wrong, SIDE * SIDE);
	return wrong == 0 ? 0 : 1;
}

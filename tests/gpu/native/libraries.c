/*
 * Libraries of CUDA that are called in native commands between this library's kernels, on its
 * buffers (I10, K8, K9). They use the machine's driver, so the test does not run with the double.
 */
#include "native/fixture.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SIDE = 96,     /* of the matrices */
	POINTS = 1024, /* of the transform */
	TONE = 5,      /* the frequency that the transform must find */
	ROUNDS = 20,
	WORKSPACE = 32 << 20, /* bytes that matrix products need on large GPUs */
	/* cublas_api.h, cufft.h */
	CUBLAS_N = 0,
	CUFFT_C2C_TYPE = 0x29,
	CUFFT_FORWARDS = -1
};

/* The few calls that are used, as the libraries' headers declare them. */
struct cublas {
	int (*create)(void **handle);
	int (*destroy)(void *handle);
	int (*set_stream)(void *handle, CUstream stream);
	int (*set_workspace)(void *handle, void *workspace, size_t bytes);
	int (*sgemm)(void *handle, int transpose_a, int transpose_b, int m, int n, int k,
		     const float *alpha, const float *a, int lda, const float *b, int ldb,
		     const float *beta, float *c, int ldc);
};
struct cufft {
	int (*plan)(int *plan, int points, int type, int batch);
	int (*set_stream)(int plan, CUstream stream);
	int (*execute)(int plan, void *in, void *out, int direction);
	int (*destroy)(int plan);
};

/*
 * Arrays in CUDA C++, which NVRTC compiles. matrices (a, b): small integers. add_one (c). tone (x):
 * a wave of TONE periods. magnitudes (x): each complex number becomes its squared magnitude, and 0.
 */
static const char source[] =
	"extern \"C\" __global__ void matrices(float *a, float *b)\n"
	"{ int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = i % 7; b[i] = i % 5; }\n"
	"extern \"C\" __global__ void add_one(float *c)\n"
	"{ int i = blockIdx.x * blockDim.x + threadIdx.x; c[i] += 1; }\n"
	"extern \"C\" __global__ void tone(float2 *x)\n"
	"{ int i = blockIdx.x * blockDim.x + threadIdx.x; float s, c;\n"
	"  sincospif(2.0f * (i * 5 % 1024) / 1024.0f, &s, &c); x[i] = make_float2(c, s); }\n"
	"extern \"C\" __global__ void magnitudes(float2 *x)\n"
	"{ int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = make_float2(x[i].x * x[i].x + "
	"x[i].y * x[i].y, 0); }\n";

static void *open_library(const char *name)
{
	const char *folder = getenv("SYCLD_TEST_CUBLAS_FOLDER");
	char path[4096];

	if (order_library())
		cr_skip_test("the double runs no library of CUDA's");
	(void)snprintf(path, sizeof(path), "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		cr_skip_test("%s", dlerror());
	return library;
}

static void find_symbol(void *library, const char *name, void *function_out)
{
	void *symbol = dlsym(library, name);

	cr_assert_not_null(symbol, "%s", name);
	memcpy(function_out, &symbol, sizeof(symbol));
}

static void begin_with_nvrtc(struct order *order)
{
	const char *nvrtc = getenv("SYCLD_TEST_NVRTC");
	char options[4096];

	(void)snprintf(options, sizeof(options), "%s%s", nvrtc ? "cuda:nvrtc=" : "",
		       nvrtc ? nvrtc : "");
	order_begin(order, options, 1);
}

static sycl_kernel libraries_make_kernel(sycl_queue queue, const char *name)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;

	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_CUDA_CPP, source, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, name, &kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	return kernel;
}

static void launch_on_buffers(sycl_queue queue, sycl_kernel kernel, const sycl_buffer *buffers,
			      uint32_t count, uint64_t items)
{
	sycl_handler handler = NULL;

	MUST(sycl_handler_begin(queue, &handler));
	for (uint32_t i = 0; i < count; i++)
		MUST(sycl_handler_set_accessor(handler, i, buffers[i], SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(items)));
	MUST(sycl_handler_submit(handler, NULL));
}

static sycl_buffer libraries_make_buffer(const struct order *order, uint64_t bytes)
{
	sycl_buffer buffer = NULL;

	MUST(sycl_buffer_create(order->connection, NULL, bytes, SYCL_HOST_NONE, &buffer));
	return buffer;
}

/* The objects of the library are made in the context that its calls will use: the primary one. */
static CUcontext enter(void)
{
	CUcontext context = NULL;

	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRetain)(&context, 0));
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(context));
	return context;
}

static void leave(void)
{
	CUcontext context = NULL;

	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&context));
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRelease)(0));
}

struct gemm {
	struct cublas blas;
	void *handle, *workspace;
	int result;
};

static uint64_t memory(sycl_interop_handle interop, uint32_t index)
{
	uint64_t native = 0, offset = 0;

	MUST(sycl_interop_get_native_memory(interop, index, &native, &offset));
	return native + offset;
}

static sycl_result run_gemm(sycl_interop_handle interop, void *user_data)
{
	static const float one = 1, none = 0;
	struct gemm *gemm = user_data;
	uint64_t stream = 0;

	MUST(sycl_interop_get_native_queue(interop, &stream));
	/* NOLINTBEGIN(performance-no-int-to-ptr) */
	const float *a = (const float *)memory(interop, 0), *b = (const float *)memory(interop, 1);
	gemm->result = gemm->blas.set_stream(gemm->handle, (CUstream)stream);
	if (gemm->result == 0)
		gemm->result = gemm->blas.set_workspace(gemm->handle, gemm->workspace, WORKSPACE);
	if (gemm->result == 0)
		gemm->result = gemm->blas.sgemm(gemm->handle, CUBLAS_N, CUBLAS_N, SIDE, SIDE, SIDE,
						&one, a, SIDE, b, SIDE, &none,
						(float *)memory(interop, 2), SIDE);
	/* NOLINTEND(performance-no-int-to-ptr) */
	return gemm->result == 0 ? SYCL_SUCCESS : SYCL_ERROR_RUNTIME;
}

static void check_product(sycl_buffer product)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;

	MUST(sycl_host_accessor_create(product, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	const float *c = pointer;
	/* Matrices are stored by columns. All numbers are small integers, so nothing is rounded. */
	for (int column = 0; column < SIDE; column++) {
		for (int row = 0; row < SIDE; row++) {
			float sum = 1;
			for (int k = 0; k < SIDE; k++)
				sum += (float)((row + k * SIDE) % 7) *
				       (float)((k + column * SIDE) % 5);
			cr_assert_eq(c[row + column * SIDE], sum, "row %d, column %d", row, column);
		}
	}
	MUST(sycl_host_accessor_release(accessor));
}

Test(gpu_native, I10_K8_K9_a_gemm_of_cublas_between_kernels)
{
	struct order order;
	struct gemm gemm = {.handle = NULL};
	const uint64_t bytes = (uint64_t)SIDE * SIDE * sizeof(float);
	void *library = open_library("libcublas.so.13");

	find_symbol(library, "cublasCreate_v2", &gemm.blas.create);
	find_symbol(library, "cublasDestroy_v2", &gemm.blas.destroy);
	find_symbol(library, "cublasSetStream_v2", &gemm.blas.set_stream);
	find_symbol(library, "cublasSetWorkspace_v2", &gemm.blas.set_workspace);
	find_symbol(library, "cublasSgemm_v2", &gemm.blas.sgemm);
	begin_with_nvrtc(&order);
	sycl_queue queue = order_queue(&order, 0, false), other = order_queue(&order, 0, true);
	sycl_kernel matrices = libraries_make_kernel(queue, "matrices"),
		    add_one = libraries_make_kernel(queue, "add_one");
	sycl_buffer buffers[3];
	for (uint32_t i = 0; i < 3; i++)
		buffers[i] = libraries_make_buffer(&order, bytes);
	MUST(sycl_malloc_device(queue, WORKSPACE, 0, &gemm.workspace));
	(void)enter();
	cr_assert_eq(gemm.blas.create(&gemm.handle), 0);
	leave();
	for (uint32_t round = 0; round < ROUNDS; round++) {
		sycl_handler handler = NULL;
		sycl_event event = NULL;
		launch_on_buffers(queue, matrices, buffers, 2, (uint64_t)SIDE * SIDE);
		MUST(sycl_handler_begin(round % 2 ? queue : other, &handler));
		for (uint32_t i = 0; i < 2; i++)
			MUST(sycl_handler_set_accessor(handler, i, buffers[i], SYCL_ACCESS_READ));
		MUST(sycl_handler_set_accessor(handler, 2, buffers[2], SYCL_ACCESS_WRITE_NO_INIT));
		MUST(sycl_handler_native_command(handler, run_gemm, &gemm, NULL));
		MUST(sycl_handler_submit(handler, &event));
		launch_on_buffers(queue, add_one, &buffers[2], 1, (uint64_t)SIDE * SIDE);
		MUST(sycl_event_wait(event));
		MUST(sycl_event_release(event));
		cr_assert_eq(gemm.result, 0);
		check_product(buffers[2]);
	}
	(void)enter();
	cr_assert_eq(gemm.blas.destroy(gemm.handle), 0);
	leave();
	MUST(sycl_queue_wait(queue));
	MUST(sycl_free(queue, gemm.workspace));
	for (uint32_t i = 0; i < 3; i++)
		MUST(sycl_buffer_release(buffers[i]));
	MUST(sycl_kernel_release(matrices));
	MUST(sycl_kernel_release(add_one));
	MUST(sycl_queue_release(other));
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

struct transform {
	struct cufft fft;
	int plan, result;
};

static sycl_result run_transform(sycl_interop_handle interop, void *user_data)
{
	struct transform *transform = user_data;
	uint64_t stream = 0;

	MUST(sycl_interop_get_native_queue(interop, &stream));
	/* NOLINTBEGIN(performance-no-int-to-ptr) */
	void *points = (void *)memory(interop, 0);
	transform->result = transform->fft.set_stream(transform->plan, (CUstream)stream);
	/* NOLINTEND(performance-no-int-to-ptr) */
	if (transform->result == 0)
		transform->result =
			transform->fft.execute(transform->plan, points, points, CUFFT_FORWARDS);
	return transform->result == 0 ? SYCL_SUCCESS : SYCL_ERROR_RUNTIME;
}

/* Checks that the whole wave is in one element. */
static void check_spectrum(sycl_buffer points)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;

	MUST(sycl_host_accessor_create(points, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	const float *squares = pointer;
	for (int i = 0; i < POINTS; i++) {
		double wanted = i == TONE ? (double)POINTS * POINTS : 0;
		cr_assert_lt(fabs((double)squares[2L * i] - wanted), 100.0, "place %d: %g", i,
			     (double)squares[2L * i]);
	}
	MUST(sycl_host_accessor_release(accessor));
}

Test(gpu_native, I10_K8_K9_a_transform_of_cufft_between_kernels)
{
	struct order order;
	struct transform transform = {.plan = 0};
	void *library = open_library("libcufft.so.12");

	find_symbol(library, "cufftPlan1d", &transform.fft.plan);
	find_symbol(library, "cufftSetStream", &transform.fft.set_stream);
	find_symbol(library, "cufftExecC2C", &transform.fft.execute);
	find_symbol(library, "cufftDestroy", &transform.fft.destroy);
	begin_with_nvrtc(&order);
	sycl_queue queue = order_queue(&order, 0, true);
	sycl_kernel tone = libraries_make_kernel(queue, "tone"),
		    magnitudes = libraries_make_kernel(queue, "magnitudes");
	sycl_buffer points = libraries_make_buffer(&order, (uint64_t)POINTS * 2 * sizeof(float));
	(void)enter();
	cr_assert_eq(transform.fft.plan(&transform.plan, POINTS, CUFFT_C2C_TYPE, 1), 0);
	leave();
	for (uint32_t round = 0; round < ROUNDS; round++) {
		sycl_handler handler = NULL;
		launch_on_buffers(queue, tone, &points, 1, POINTS);
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_accessor(handler, 0, points, SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_native_command(handler, run_transform, &transform, NULL));
		MUST(sycl_handler_submit(handler, NULL));
		launch_on_buffers(queue, magnitudes, &points, 1, POINTS);
		check_spectrum(points);
		cr_assert_eq(transform.result, 0);
	}
	(void)enter();
	cr_assert_eq(transform.fft.destroy(transform.plan), 0);
	leave();
	MUST(sycl_buffer_release(points));
	MUST(sycl_kernel_release(tone));
	MUST(sycl_kernel_release(magnitudes));
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

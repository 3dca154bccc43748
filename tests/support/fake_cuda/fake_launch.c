/* Launches. Their parameters are checked when they are sent; the kernel runs on the stream's
 * thread. */
#include "fake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS 256u

static struct {
	char name[128];
	fake_cuda_kernel *function;
} kernels[KERNELS];
static unsigned kernel_count;

/* The state of the launch that runs on this thread. */
static __thread jmp_buf *escape;
static __thread CUresult escape_result;
static __thread const struct CUctx_st *running_context; /* of its code */

fake_cuda_kernel *fake_kernel_find(const char *name)
{
	for (unsigned i = 0; i < kernel_count; i++)
		if (strcmp(kernels[i].name, name) == 0)
			return kernels[i].function;
	return NULL;
}

int fake_kernel_register(const char *name, fake_cuda_kernel *function)
{
	for (unsigned i = 0; i < kernel_count; i++)
		if (strcmp(kernels[i].name, name) == 0) {
			kernels[i].function = function;
			return 0;
		}
	if (kernel_count == KERNELS || strlen(name) >= sizeof(kernels[0].name))
		return -ENOSPC;
	(void)snprintf(kernels[kernel_count].name, sizeof(kernels[0].name), "%s", name);
	kernels[kernel_count++].function = function;
	return 0;
}

void fake_kernel_fault(const struct fake_cuda_launch *launch, int result)
{
	(void)launch;
	escape_result = (CUresult)result;
	longjmp(*escape, 1);
}

struct fake_range *fake_kernel_reach(uint64_t address, uint64_t bytes)
{
	struct fake_range *range = fake_range_find((CUdeviceptr)address, bytes);
	const struct CUctx_st *context = running_context;

	if (!range || !range->live || (range->freed && !range->pool) || !context)
		return NULL;
	if (range->kind == FAKE_POOL && !range->pool)
		return NULL;
	return fake_can_reach(context, range) ? range : NULL;
}

void *fake_kernel_memory(const struct fake_cuda_launch *launch, uint64_t address, uint64_t bytes)
{
	void *place = NULL;

	fake_lock();
	struct fake_range *range = fake_kernel_reach(address, bytes ? bytes : 1);
	if (range)
		place = fake_range_bytes(range, (CUdeviceptr)address);
	fake_unlock();
	if (!place)
		fake_kernel_fault(launch, CUDA_ERROR_ILLEGAL_ADDRESS);
	return place;
}

static CUresult check_shape(const struct fake_launch *launch, const struct fake_device *device)
{
	const struct CUfunc_st *function = launch->function;
	const int *limits = device->attributes;

	for (int i = 0; i < 3; i++) {
		if (!launch->grid[i] || !launch->block[i])
			return CUDA_ERROR_INVALID_VALUE;
		if (launch->grid[i] > (unsigned)limits[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i] ||
		    launch->block[i] > (unsigned)limits[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i])
			return CUDA_ERROR_INVALID_VALUE;
		if (function->reqntid[0] && launch->block[i] != (unsigned)function->reqntid[i])
			return CUDA_ERROR_INVALID_VALUE;
		if (launch->cluster[i] && launch->grid[i] % launch->cluster[i])
			return CUDA_ERROR_INVALID_VALUE;
	}
	uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
	if (threads > (uint64_t)function->max_threads)
		return threads > 1024 ? CUDA_ERROR_INVALID_VALUE
				      : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	if (launch->shared_bytes > (unsigned)function->dynamic_shared_max)
		return CUDA_ERROR_INVALID_VALUE;
	unsigned cluster = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
	if (cluster && (cluster > (function->nonportable_cluster ? 16u : 8u) ||
			!limits[CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH]))
		return CUDA_ERROR_INVALID_CLUSTER_SIZE;
	return CUDA_SUCCESS;
}

static CUresult check_cooperative(const struct fake_launch *launch)
{
	size_t threads = (size_t)launch->block[0] * launch->block[1] * launch->block[2];
	size_t blocks = 32,
	       each = launch->shared_bytes + (size_t)launch->function->static_shared + 1024;

	if (64 / ((threads + 31) / 32) < blocks)
		blocks = 64 / ((threads + 31) / 32);
	if (233472 / each < blocks)
		blocks = 233472 / each;
	const size_t multiprocessors = launch->green ? launch->green->count : 132;
	if ((uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] >
	    blocks * multiprocessors)
		return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	return CUDA_SUCCESS;
}

/* Checks that the real driver makes at the call. */
CUresult fake_launch_check(const struct fake_launch *launch)
{
	const struct CUfunc_st *function = launch->function;
	CUresult result = check_shape(launch, &fake.devices[function->module->context->device]);

	if (result == CUDA_SUCCESS && launch->cooperative)
		result = check_cooperative(launch);
	if (result != CUDA_SUCCESS)
		fake_misuse("%s: no device can run this launch (%d)", function->name, (int)result);
	else if (!fake_kernel_find(function->name) && !function->code) { /* of a cubin */
		fake_misuse("no kernel of the name %s is registered", function->name);
		(void)fprintf(stderr, "fake_cuda: no kernel named %s is registered\n",
			      function->name);
		result = CUDA_ERROR_NOT_SUPPORTED;
	}
	return result;
}

/* Parameters one by one, or all in one buffer. */
static CUresult copy_parameters(struct fake_launch *launch, void **parameters, void **extra)
{
	const struct CUfunc_st *function = launch->function;
	const void *buffer = NULL;
	size_t size = 0;

	if (parameters && extra)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; parameters && i < function->parameter_count; i++) {
		if (!parameters[i])
			return CUDA_ERROR_INVALID_VALUE;
		memcpy(launch->bytes + function->parameters[i].offset, parameters[i],
		       function->parameters[i].size);
	}
	if (parameters || (!extra && function->parameter_count == 0))
		return CUDA_SUCCESS;
	for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
			size = *(size_t *)extra[1];
		else
			return CUDA_ERROR_INVALID_VALUE;
	}
	if (!buffer || size < function->parameter_bytes ||
	    size > ((function->parameter_bytes + 15) & ~(size_t)15)) {
		fake_misuse("%s got %zu bytes of parameters instead of %zu", function->name, size,
			    function->parameter_bytes);
		return CUDA_ERROR_INVALID_VALUE;
	}
	memcpy(launch->bytes, buffer, function->parameter_bytes);
	return CUDA_SUCCESS;
}

CUresult fake_launch_copy(struct CUfunc_st *function, const unsigned grid[3],
			  const unsigned block[3], unsigned shared_bytes, void **parameters,
			  void **extra, struct fake_launch *launch_out)
{
	struct fake_launch launch = {.function = function, .shared_bytes = shared_bytes};

	memcpy(launch.grid, grid, sizeof(launch.grid));
	memcpy(launch.block, block, sizeof(launch.block));
	launch.bytes = malloc(function->parameter_bytes ? function->parameter_bytes : 1);
	if (!launch.bytes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = copy_parameters(&launch, parameters, extra);
	if (result != CUDA_SUCCESS) {
		free(launch.bytes);
		return result;
	}
	*launch_out = launch;
	return CUDA_SUCCESS;
}

void fake_launch_free(struct fake_launch *launch)
{
	free(launch->bytes);
	launch->bytes = NULL;
}

static void copy_at_once(const void *const *parameters)
{
	CUdeviceptr to, from;
	uint64_t bytes;

	memcpy(&to, parameters[0], sizeof(to));
	memcpy(&from, parameters[1], sizeof(from));
	memcpy(&bytes, parameters[2], sizeof(bytes));
	struct fake_range *there = fake_range_find(to, bytes), *here = fake_range_find(from, bytes);
	if (there && here)
		memmove(fake_range_bytes(there, to), fake_range_bytes(here, from), bytes);
}

/* Fills as the kernel does. Its parameters: aligned, first, last, units, period, pattern. */
static void fill_at_once(const void *const *parameters)
{
	uint64_t aligned = 0, first = 0, last = 0;
	uint32_t period = 0;

	memcpy(&aligned, parameters[0], sizeof(aligned));
	memcpy(&first, parameters[1], sizeof(first));
	memcpy(&last, parameters[2], sizeof(last));
	memcpy(&period, parameters[4], sizeof(period));
	const uint64_t all = last - first, cycle = period * UINT64_C(4);
	struct fake_range *there = fake_range_find(first, all);
	if (!there || cycle == 0)
		return;
	unsigned char *bytes = fake_range_bytes(there, first);
	uint64_t done = all < cycle ? all : cycle;
	for (uint64_t at = 0; at < done; at++)
		bytes[at] = ((const unsigned char *)parameters[5])[(first - aligned + at) % cycle];
	/* The filled part consists of whole periods. So copying it repeatedly doubles it each
	 * time. */
	for (uint64_t next; done < all; done += next) {
		next = all - done < done ? all - done : done;
		memcpy(bytes + done, bytes, next);
	}
}

/* For more bytes than this, the double does not run the backend's own kernel, which takes 100 times
 * as long here. */
#define FILL_RUN_BYTES (UINT64_C(64) << 10)

static bool is_large_fill(const struct CUfunc_st *function, const void *const *parameters)
{
	uint64_t first = 0, last = 0;
	if (strcmp(function->name, "sycl_fill") != 0)
		return false;
	memcpy(&first, parameters[1], sizeof(first));
	memcpy(&last, parameters[2], sizeof(last));
	return last - first > FILL_RUN_BYTES;
}

static void run_kernel(const struct fake_launch *launch, int device)
{
	const struct CUfunc_st *function = launch->function;
	const void *parameters[1024];
	size_t sizes[1024];
	struct fake_cuda_launch call = {
		.name = function->name,
		.shared_bytes = launch->shared_bytes,
		.cooperative = launch->cooperative,
		.device = device,
		.parameter_count = function->parameter_count,
		.parameters = parameters,
		.parameter_bytes = sizes,
		.first_multiprocessor = launch->green ? launch->green->first : 0,
		.multiprocessors = launch->green ? launch->green->count : 132};
	jmp_buf buffer;
	/* This is written before setjmp and not after it. */
	fake_lock();
	fake_cuda_kernel *registered = fake_kernel_find(function->name);
	if (!registered && fake_code_is_empty(function->code))
		registered = fake_builtin_find(function->name);
	fake_unlock();

	memcpy(call.grid, launch->grid, sizeof(call.grid));
	memcpy(call.block, launch->block, sizeof(call.block));
	memcpy(call.cluster, launch->cluster, sizeof(call.cluster));
	for (unsigned i = 0; i < function->parameter_count; i++) {
		parameters[i] = launch->bytes + function->parameters[i].offset;
		sizes[i] = function->parameters[i].size;
	}
	escape = &buffer;
	escape_result = CUDA_SUCCESS;
	running_context = function->module->context;
	if (setjmp(buffer) == 0) {
		if (registered) {
			registered(&call);
		} else if (is_large_fill(function, parameters)) {
			fake_lock();
			fill_at_once(parameters);
			fake_unlock();
		} else if (function->code) {
			fake_code_run(function, &call, launch->bytes);
		}
	}
	escape = NULL;
	fake_code_end();
	if (escape_result == CUDA_SUCCESS)
		return;
	fake_lock();
	fake_make_sticky(escape_result);
	fake_unlock();
}

/* Counts as the kernel does, in the host's word alone. */
static void count_at_once(const void *const *parameters)
{
	CUdeviceptr word;

	memcpy(&word, parameters[0], sizeof(word));
	struct fake_range *there = fake_range_find(word, sizeof(uint32_t));
	if (there)
		(void)__atomic_add_fetch((uint32_t *)(void *)fake_range_bytes(there, word), 1,
					 __ATOMIC_RELEASE);
}

void fake_launch_instant(const struct CUfunc_st *function, const void *const *parameters)
{
	static const char own[] = "sycl_";

	if (strncmp(function->name, own, sizeof(own) - 1) != 0)
		fake.instant_launches++;
	else if (strcmp(function->name, "sycl_copy") == 0)
		copy_at_once(parameters);
	else if (strcmp(function->name, "sycl_fill") == 0)
		fill_at_once(parameters);
	else if (strcmp(function->name, "sycl_signal") == 0)
		count_at_once(parameters);
}

void fake_launch_instant_node(const struct fake_launch *launch)
{
	const unsigned char *at = launch->bytes;
	/* The first three parameters of sycl_copy. */
	const void *const parameters[] = {at, at + 8, at + 16, at + 24, at + 32, at + 36};

	fake_launch_instant(launch->function, parameters);
}

void fake_launch_run(const struct fake_launch *launch, struct CUstream_st *stream)
{
	struct fake_cuda_record record = {.kind = FAKE_CUDA_LAUNCH, .call = "launch"};

	fake_lock();
	if (fake.instant) {
		fake_launch_instant_node(launch);
		fake_unlock();
		return;
	}
	record.stream = stream->number;
	record.device = stream->device;
	record.value = fake_number("launches") + 1;
	record.address = launch->green ? launch->green->first : 0;
	record.size_bytes = launch->green ? launch->green->count : 132;
	(void)snprintf(record.text, sizeof(record.text), "%s", launch->function->name);
	fake_record(&record);
	CUresult fault = fake_launch_fault(stream->device);
	if (fault != CUDA_SUCCESS)
		fake_make_sticky(fault);
	fake_unlock();
	if (fault == CUDA_SUCCESS)
		run_kernel(launch, stream->device);
}

struct launch_op {
	struct fake_op op;
	struct fake_launch launch;
	uint32_t tool_call; /* fake_tool.c */
};

static void launch_run(struct fake_op *base, struct CUstream_st *stream)
{
	struct launch_op *op = (struct launch_op *)base;
	const uint64_t start_ns = fake_tool_now_ns();

	fake_launch_run(&op->launch, stream);
	fake_tool_kernel(op->tool_call, start_ns);
}

static void launch_drop(struct fake_op *base)
{
	struct launch_op *op = (struct launch_op *)base;

	op->launch.function->running--;
	fake_launch_free(&op->launch);
}

struct launch_shape {
	unsigned grid[3], block[3], cluster[3], shared_bytes;
	bool cooperative, early;
};

/* A captured launch becomes a node with the shape of the launch. */
static CUresult launch_capture(CUfunction function, const struct launch_shape *shape,
			       CUstream handle, void **parameters, void **extra)
{
	struct fake_launch made;

	fake_lock();
	CUresult result = fake_handle_alive(FAKE_FUNCTION, function)
				  ? fake_launch_copy(function, shape->grid, shape->block,
						     shape->shared_bytes, parameters, extra, &made)
				  : CUDA_ERROR_INVALID_HANDLE;
	fake_unlock();
	if (result != CUDA_SUCCESS)
		return result;
	memcpy(made.cluster, shape->cluster, sizeof(shape->cluster));
	made.cooperative = shape->cooperative;
	return fake_capture_launch(handle, &made);
}

/* A GPU would start it beside the kernel before it, if there is no other operation between them. */
static void note_early(const struct CUfunc_st *function, const struct CUstream_st *stream)
{
	fake_number_add(stream->ends_with_kernel ? "early" : "early in vain", 1);
	if (!fake_code_waits(function->code))
		fake_misuse(
			"%s may begin while the kernel before it runs, but never waits for that kernel",
			function->name);
}

static CUresult launch_function(CUfunction function, const struct launch_shape *shape,
				CUstream handle, void **parameters, void **extra)
{
	if (fake_is_capturing(handle))
		return launch_capture(function, shape, handle, parameters, extra);
	LOCKED();
	fake_launch_hold();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream || !function || !fake_handle_alive(FAKE_FUNCTION, function))
		return CUDA_ERROR_INVALID_HANDLE;
	if (function->module->context != stream->context) {
		fake_misuse("%s belongs to another context than its stream", function->name);
		return CUDA_ERROR_INVALID_HANDLE;
	}
	if (fake_stream_is_instant(stream)) {
		fake_launch_loads(function);
		fake_launch_instant(function, (const void *const *)parameters);
		return CUDA_SUCCESS;
	}
	struct launch_op *op = calloc(1, sizeof(*op));
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = fake_launch_copy(function, shape->grid, shape->block, shape->shared_bytes,
					   parameters, extra, &op->launch);
	if (result == CUDA_SUCCESS) {
		memcpy(op->launch.cluster, shape->cluster, sizeof(shape->cluster));
		op->launch.cooperative = shape->cooperative;
		op->launch.early = shape->early;
		op->launch.green = stream->green;
		result = fake_launch_check(&op->launch);
		if (result != CUDA_SUCCESS)
			fake_launch_free(&op->launch);
	}
	if (result != CUDA_SUCCESS) {
		free(op);
		return result;
	}
	fake_launch_loads(function);
	if (shape->early)
		note_early(function, stream);
	function->running++;
	op->tool_call = fake_tool_own_call();
	op->op = (struct fake_op){
		.name = function->name, .kernel = true, .run = launch_run, .drop = launch_drop};
	fake_stream_add(stream, &op->op);
	stream->ends_with_kernel = true;
	return CUDA_SUCCESS;
}

/* A function that is not loaded yet is loaded by its first launch, which can wait for running
 * kernels (F11). */
void fake_launch_loads(struct CUfunc_st *function)
{
	struct fake_cuda_record record = {.kind = FAKE_CUDA_LAZY_LOAD};

	if (function->loaded)
		return;
	function->loaded = true;
	(void)snprintf(record.text, sizeof(record.text), "%s", function->name);
	fake_record(&record);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
			CUstream stream, void **parameters, void **extra)
{
	ENTER(NEED_CONTEXT);
	const struct launch_shape shape = {.grid = {grid_x, grid_y, grid_z},
					   .block = {block_x, block_y, block_z},
					   .shared_bytes = shared_bytes};
	fake_tool_call(FAKE_CUDA_LAUNCH_KERNEL);
	return launch_function(function, &shape, stream, parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
				   unsigned grid_z, unsigned block_x, unsigned block_y,
				   unsigned block_z, unsigned shared_bytes, CUstream stream,
				   void **parameters)
{
	ENTER(NEED_CONTEXT);
	const struct launch_shape shape = {.grid = {grid_x, grid_y, grid_z},
					   .block = {block_x, block_y, block_z},
					   .shared_bytes = shared_bytes,
					   .cooperative = true};
	return launch_function(function, &shape, stream, parameters, NULL);
}

/* Returns false if the driver refuses such a window. */
static bool note_window(const CUaccessPolicyWindow *window, const struct CUfunc_st *function,
			CUstream stream)
{
	struct fake_cuda_record record = {.kind = FAKE_CUDA_WINDOW, .call = "cuLaunchKernelEx"};

	if (window->num_bytes > 134217728 || !(window->hitRatio >= 0 && window->hitRatio <= 1) ||
	    window->missProp == CU_ACCESS_PROPERTY_PERSISTING)
		return false;
	record.address = (uintptr_t)window->base_ptr;
	record.size_bytes = window->num_bytes;
	record.value = (uint64_t)(window->hitRatio * 1000 + 0.5f);
	record.location_type = (int)window->hitProp;
	record.location_id = (int)window->missProp;
	fake_lock();
	record.stream = stream ? stream->number : 0;
	(void)snprintf(record.text, sizeof(record.text), "%s", function->name);
	fake_record(&record);
	fake_unlock();
	return true;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
			  void **extra)
{
	ENTER(NEED_CONTEXT);
	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	struct launch_shape shape = {
		.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
		.block = {config->blockDimX, config->blockDimY, config->blockDimZ},
		.shared_bytes = config->sharedMemBytes};
	for (unsigned i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttribute *attribute = &config->attrs[i];
		if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
			shape.cooperative = attribute->value.cooperative != 0;
		} else if (attribute->id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) {
			if (!note_window(&attribute->value.accessPolicyWindow, function,
					 config->hStream))
				return CUDA_ERROR_INVALID_VALUE;
		} else if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
			shape.early = attribute->value.programmaticStreamSerializationAllowed != 0;
		} else if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
			shape.cluster[0] = attribute->value.clusterDim.x;
			shape.cluster[1] = attribute->value.clusterDim.y;
			shape.cluster[2] = attribute->value.clusterDim.z;
		}
	}
	fake_tool_call(FAKE_CUDA_LAUNCH_KERNEL_EX);
	return launch_function(function, &shape, config->hStream, parameters, extra);
}

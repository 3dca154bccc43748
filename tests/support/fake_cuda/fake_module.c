/* Modules and their functions. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_BYTES 8192

struct jit {
	char *error_log, *info_log;
	size_t error_bytes, info_bytes;
	void **error_size, **info_size;
};

static void jit_options(unsigned count, const CUjit_option *options, void **values, struct jit *jit)
{
	for (unsigned i = 0; i < count; i++) {
		switch (options[i]) {
		case CU_JIT_ERROR_LOG_BUFFER:
			jit->error_log = values[i];
			break;
		case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
			jit->error_bytes = (size_t)(uintptr_t)values[i];
			jit->error_size = &values[i];
			break;
		case CU_JIT_INFO_LOG_BUFFER:
			jit->info_log = values[i];
			break;
		case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
			jit->info_bytes = (size_t)(uintptr_t)values[i];
			jit->info_size = &values[i];
			break;
		default:
			break;
		}
	}
}

/* The driver returns the sizes in the values of the options. */
static void jit_answer(const struct jit *jit, const char *log)
{
	size_t length = strlen(log);

	if (jit->error_log && jit->error_bytes) {
		if (length >= jit->error_bytes)
			length = jit->error_bytes - 1;
		memcpy(jit->error_log, log, length);
		jit->error_log[length] = 0;
		*jit->error_size = (void *)(uintptr_t)(length ? length + 1 : 0);
	}
	if (jit->info_log && jit->info_bytes) {
		jit->info_log[0] = 0;
		*jit->info_size = NULL;
	}
}

static void function_free(struct CUfunc_st *function)
{
	free(function->parameters);
	function->parameters = NULL;
	function->code = NULL;
	fake_handle_retire(FAKE_FUNCTION, function);
}

static void functions_free(struct CUmod_st *module)
{
	for (unsigned i = 0; i < module->function_count; i++)
		function_free(module->functions[i]);
	free(module->functions);
	module->functions = NULL;
	fake_program_free(module->program);
	module->program = NULL;
}

/* With lazy loading the first use of a function loads it. Kernels that begin later wait for those
 * that run. */
static void module_touch(struct CUfunc_st *function)
{
	if (function->loaded)
		return;
	function->loaded = true;
	fake_number_add("lazy_touches", 1);
	if (fake.kernels_running)
		fake_record(&(struct fake_cuda_record){.kind = FAKE_CUDA_IMPLICIT_SYNC,
						       .value = fake.kernels_running});
	if (fake.block_implicit)
		fake_streams_stall(function->module->context->device);
}

static CUresult module_read_image(const void *image, struct CUmod_st *module, char *log)
{
	const struct fake_device *device = &fake.devices[module->context->device];
	int compute = device->attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] * 10 +
		      device->attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR];
	const unsigned char *bytes = image;

	module->binary_version = compute;
	if (bytes[0] == 0x7f)
		return fake_cubin_read(image, compute, module, log, LOG_BYTES);
	if (bytes[0] == 0x50 && bytes[1] == 0xed && bytes[2] == 0x55 && bytes[3] == 0xba)
		return fake_fatbin_read(image, compute, module, log, LOG_BYTES);
	CUresult result = fake_ptx_read(image, compute, module, log, LOG_BYTES);
	if (result == CUDA_SUCCESS)
		fake_jit_take(image, compute);
	return result;
}

static CUresult load_module(CUmodule *module_out, const void *image, const struct jit *jit)
{
	LOCKED();
	char log[LOG_BYTES] = "";
	if (!image || !module_out)
		return CUDA_ERROR_INVALID_VALUE;
	struct CUmod_st *module = calloc(1, sizeof(*module));
	if (!module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	module->context = fake_current();
	CUresult result = module_read_image(image, module, log);
	jit_answer(jit, log);
	for (unsigned i = 0; i < module->function_count; i++) {
		struct CUfunc_st *function = module->functions[i];
		fake_handle_add(FAKE_FUNCTION, function);
		function->dynamic_shared_max = 49152 - function->static_shared;
		function->loaded = fake.eager;
	}
	if (result != CUDA_SUCCESS) {
		functions_free(module);
		free(module);
		return result;
	}
	fake_handle_add(FAKE_MODULE, module);
	fake_number_add("modules", 1);
	*module_out = module;
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module_out, const void *image)
{
	ENTER(NEED_CONTEXT | WAITS | HOLDS);
	const struct jit none = {0};
	return load_module(module_out, image, &none);
}

CUresult cuModuleLoadDataEx(CUmodule *module_out, const void *image, unsigned count,
			    CUjit_option *options, void **values)
{
	ENTER(NEED_CONTEXT | WAITS | HOLDS);
	struct jit jit = {0};
	jit_options(count, options, values, &jit);
	return load_module(module_out, image, &jit);
}

CUresult cuModuleUnload(CUmodule module)
{
	ENTER(NEED_INIT | WAITS);
	LOCKED();
	if (!module || !fake_handle_alive(FAKE_MODULE, module))
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < module->function_count; i++)
		if (module->functions[i]->running)
			fake_misuse("a module is unloaded while its %s runs",
				    module->functions[i]->name);
	for (unsigned i = 0; i < module->function_count; i++)
		if (module->functions[i]->named)
			fake_misuse("a module is unloaded while a graph names its %s",
				    module->functions[i]->name);
	functions_free(module);
	fake_handle_retire(FAKE_MODULE, module);
	fake_number_add("modules", -1);
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function_out, CUmodule module, const char *name)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	if (!fake_handle_alive(FAKE_MODULE, module) || !name)
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < module->function_count; i++)
		if (strcmp(module->functions[i]->name, name) == 0) {
			*function_out = module->functions[i];
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode_out)
{
	ENTER(NEED_INIT);
	const char *mode = fake_environment("CUDA_MODULE_LOADING");
	*mode_out = mode && strcmp(mode, "EAGER") == 0 ? CU_MODULE_EAGER_LOADING
						       : CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned *count_out, CUmodule module)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_MODULE, module))
		return CUDA_ERROR_INVALID_HANDLE;
	*count_out = module->function_count;
	return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions_out, unsigned capacity, CUmodule module)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_MODULE, module))
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < capacity && i < module->function_count; i++)
		functions_out[i] = module->functions[i];
	return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(CUdeviceptr *address_out, size_t *size_out, CUmodule module,
			   const char *name)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	if (!fake_handle_alive(FAKE_MODULE, module) || !name)
		return CUDA_ERROR_INVALID_HANDLE;
	return fake_program_global(module->program, name, address_out, size_out)
		       ? CUDA_SUCCESS
		       : CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncGetName(const char **name_out, CUfunction function)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_FUNCTION, function))
		return CUDA_ERROR_INVALID_HANDLE;
	*name_out = function->name;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *module_out, CUfunction function)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_FUNCTION, function))
		return CUDA_ERROR_INVALID_HANDLE;
	*module_out = function->module;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value_out, CUfunction_attribute attribute, CUfunction function)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_FUNCTION, function))
		return CUDA_ERROR_INVALID_HANDLE;
	module_touch(function);
	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value_out = function->max_threads;
		break;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*value_out = function->static_shared;
		break;
	case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
		*value_out = 0;
		break;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		*value_out = function->local_bytes;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*value_out = function->registers;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*value_out = function->module->binary_version;
		break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value_out = function->dynamic_shared_max;
		break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		*value_out = function->required_cluster[attribute -
							CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
		break;
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		*value_out = function->nonportable_cluster;
		break;
	default:
		*value_out = 0;
	}
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_FUNCTION, function))
		return CUDA_ERROR_INVALID_HANDLE;
	const struct fake_device *device = &fake.devices[function->module->context->device];
	if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
		if (value < 0 ||
		    value + function->static_shared >
			    device->attributes
				    [CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN])
			return CUDA_ERROR_INVALID_VALUE;
		function->dynamic_shared_max = value;
	} else if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) {
		function->nonportable_cluster = value;
	} else if (attribute != CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset_out, size_t *size_out)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_FUNCTION, function))
		return CUDA_ERROR_INVALID_HANDLE;
	if (index >= function->parameter_count)
		return CUDA_ERROR_INVALID_VALUE;
	*offset_out = function->parameters[index].offset;
	if (size_out)
		*size_out = function->parameters[index].size;
	return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	if (!fake_handle_alive(FAKE_FUNCTION, function))
		return CUDA_ERROR_INVALID_HANDLE;
	module_touch(function);
	return CUDA_SUCCESS;
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state_out, CUfunction function)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_FUNCTION, function))
		return CUDA_ERROR_INVALID_HANDLE;
	*state_out = function->loaded ? CU_FUNCTION_LOADING_STATE_LOADED
				      : CU_FUNCTION_LOADING_STATE_UNLOADED;
	return CUDA_SUCCESS;
}

/* Returns how many blocks fit on one multiprocessor, by threads, blocks and shared memory. */
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks_out, CUfunction function,
						     int threads, size_t shared)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	if (!fake_handle_alive(FAKE_FUNCTION, function) || threads <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (threads > function->max_threads) {
		*blocks_out = 0;
		return CUDA_SUCCESS;
	}
	size_t blocks = 32, each = shared + (size_t)function->static_shared + 1024;
	size_t warps = ((size_t)threads + 31) / 32;
	if (64 / warps < blocks)
		blocks = 64 / warps;
	if (233472 / each < blocks)
		blocks = 233472 / each;
	*blocks_out = (int)blocks;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid_out, int *block_out, CUfunction function,
					  CUoccupancyB2DSize shared_of, size_t shared, int limit)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	(void)shared_of;
	(void)shared;
	if (!fake_handle_alive(FAKE_FUNCTION, function))
		return CUDA_ERROR_INVALID_VALUE;
	int block = limit > 0 && limit < function->max_threads ? limit : function->max_threads;
	*block_out = block;
	*grid_out = 132 * (2048 / block);
	return CUDA_SUCCESS;
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes_out, CUfunction function, int blocks,
						 int threads)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	if (!fake_handle_alive(FAKE_FUNCTION, function) || blocks <= 0 || threads <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	size_t each = 233472u / (size_t)blocks, used = (size_t)function->static_shared + 1024;
	*bytes_out = each > used ? each - used : 0;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *size_out, CUfunction function,
					    const CUlaunchConfig *config)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	(void)config;
	if (!fake_handle_alive(FAKE_FUNCTION, function))
		return CUDA_ERROR_INVALID_VALUE;
	*size_out = function->nonportable_cluster ? 16 : 8;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int *clusters_out, CUfunction function,
				      const CUlaunchConfig *config)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	int size = 1;
	if (!fake_handle_alive(FAKE_FUNCTION, function) || !config)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < config->numAttrs; i++)
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			size = (int)(config->attrs[i].value.clusterDim.x *
				     config->attrs[i].value.clusterDim.y *
				     config->attrs[i].value.clusterDim.z);
	if (size < 1 || size > (function->nonportable_cluster ? 16 : 8))
		return CUDA_ERROR_INVALID_CLUSTER_SIZE;
	*clusters_out = 132 / size;
	return CUDA_SUCCESS;
}

/* A link of one PTX text is that text; the double compiles nothing. */
#define LINK_TEXTS_MAX 128u

struct CUlinkState_st {
	char *texts[LINK_TEXTS_MAX];
	unsigned text_count;
	char *text;
	struct jit jit;
};

CUresult cuLinkCreate(unsigned count, CUjit_option *options, void **values, CUlinkState *state_out)
{
	ENTER(NEED_CONTEXT);
	struct CUlinkState_st *state = calloc(1, sizeof(*state));
	if (!state)
		return CUDA_ERROR_OUT_OF_MEMORY;
	jit_options(count, options, values, &state->jit);
	*state_out = state;
	return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
		       const char *name, unsigned count, CUjit_option *options, void **values)
{
	ENTER(NEED_CONTEXT);
	(void)name;
	(void)count;
	(void)options;
	(void)values;
	if (type != CU_JIT_INPUT_PTX || state->text_count == LINK_TEXTS_MAX)
		return CUDA_ERROR_NOT_SUPPORTED;
	char *text = strndup(data, size);
	if (!text)
		return CUDA_ERROR_OUT_OF_MEMORY;
	state->texts[state->text_count++] = text;
	return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState state, void **image_out, size_t *size_out)
{
	ENTER(NEED_CONTEXT);
	char log[LOG_BYTES] = "";
	CUmodule module;
	free(state->text);
	state->text = fake_link_texts((const char *const *)state->texts, state->text_count, log,
				      sizeof(log));
	if (!state->text) { /* the code has no more detail than the words in the log */
		jit_answer(&state->jit, log);
		return CUDA_ERROR_UNKNOWN;
	}
	CUresult result = load_module(&module, state->text, &state->jit);
	if (result != CUDA_SUCCESS)
		return result;
	LOCKED();
	functions_free(module);
	fake_handle_retire(FAKE_MODULE, module);
	fake_number_add("modules", -1);
	*image_out = state->text;
	*size_out = strlen(state->text) + 1;
	return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state)
{
	ENTER(NEED_CONTEXT);
	for (unsigned i = 0; i < state->text_count; i++)
		free(state->texts[i]);
	free(state->text);
	free(state);
	return CUDA_SUCCESS;
}

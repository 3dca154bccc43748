/* The start of the driver, its devices, and the current context of a thread. */
#include "fake.h"

#include "fake_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH 16

struct fake_state fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static __thread struct CUctx_st *stack[DEPTH];
static __thread unsigned depth;

struct CUctx_st *fake_current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

/* Variables that a driver reads. Their values are those at cuInit. */
static const char *const watched[] = {"CUDA_VISIBLE_DEVICES",
				      "CUDA_DEVICE_ORDER",
				      "CUDA_LAUNCH_BLOCKING",
				      "CUDA_DEVICE_MAX_CONNECTIONS",
				      "CUDA_CACHE_PATH",
				      "CUDA_CACHE_DISABLE",
				      "CUDA_CACHE_MAXSIZE",
				      "CUDA_MODULE_LOADING",
				      "CUDA_FORCE_PTX_JIT",
				      "CUDA_DISABLE_PTX_JIT",
				      "CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
				      "CUDA_COREDUMP_FILE",
				      "CUDA_MPS_PIPE_DIRECTORY",
				      "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
				      "CUDA_INJECTION64_PATH",
				      "CUDA_AUTO_BOOST",
				      "CUDA_MANAGED_FORCE_DEVICE_ALLOC",
				      "CUDA_FORCE_PRELOAD_LIBRARIES",
				      "CUDA_ENABLE_CRC_CHECK",
				      "CUDA_LOG_FILE",
				      "NVIDIA_TF32_OVERRIDE"};
#define WATCHED (sizeof(watched) / sizeof(watched[0]))
static char *seen[WATCHED];

const char *fake_environment(const char *name)
{
	for (size_t i = 0; i < WATCHED; i++)
		if (strcmp(watched[i], name) == 0)
			return seen[i];
	return NULL;
}

static void device_set_attribute(struct fake_device *device, CUdevice_attribute attribute,
				 int value)
{
	device->attributes[attribute] = value;
}

/* The numbers of an H200 with driver 580. */
static const struct {
	CUdevice_attribute attribute;
	int value;
} h200[] = {
	{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
	{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
	{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
	{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 268435456},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 32768},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, 131072},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, 65536},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, 16384},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, 16384},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH, 16384},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS, 2048},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768},
	{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS, 2048},
	{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
	{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
	{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
	{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
	{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
	{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
	{CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
	{CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
	{CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
	{CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
	{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
	{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
	{CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
	{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
	{CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
	{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
	{CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
	{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
	{CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
	{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
	{CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
	{CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
	{CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
	{CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
	{CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 39321600},
	{CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 134217728},
	{CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
	{CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
	{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
	{CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
	{CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
	{CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
	{CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
	{CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1},
	{CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 1},
	{CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 0},
	{CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 1},
	{CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
	{CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, 1},
	{CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 1},
	{CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 4},
	{CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
};

static void attributes_of_h200(struct fake_device *device)
{
	for (size_t i = 0; i < sizeof(h200) / sizeof(h200[0]); i++)
		device_set_attribute(device, h200[i].attribute, h200[i].value);
}

void fake_devices_default(void)
{
	for (int i = 0; i < FAKE_DEVICES_MAX; i++) {
		struct fake_device *device = &fake.devices[i];
		device->ordinal = i;
		device->total_bytes = (size_t)4 << 30;
		device->clock_start_ns = 1;
		attributes_of_h200(device);
		device_set_attribute(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0x1b + i);
		(void)snprintf(device->name, sizeof(device->name), "Fake H200 (test double)");
		(void)snprintf(device->bus_id, sizeof(device->bus_id), "0000:%02X:00.0", 0x1b + i);
		memcpy(device->uuid.bytes, "fake-cuda-uuid-", 15);
		device->uuid.bytes[15] = (char)('0' + i);
	}
	fake.device_count = 1;
	fake.driver_version = 13000;
}

/* "device N" (without a number: all devices), then an attribute's number and value: "attribute 20
 * 3", "attribute 20 3 1". */
int fake_device_command(const char *verb, const char *rest)
{
	long long value = 0, second = 0, device = -1;
	int words = sscanf(rest, "%lli %lli %lli", &value, &second, &device);

	if (strcmp(verb, "name") ==
	    0) { /* of every device; a MIG instance's ends in "MIG 1g.18gb" */
		for (int i = 0; i < FAKE_DEVICES_MAX; i++)
			(void)snprintf(fake.devices[i].name, sizeof(fake.devices[i].name), "%s",
				       rest);
		return *rest ? 0 : -EINVAL;
	}
	if (strcmp(verb, "devices") == 0) {
		if (words < 1 || value < 0 || value > FAKE_DEVICES_MAX)
			return -EINVAL;
		fake.device_count = (int)value;
	} else if (strcmp(verb, "compute") == 0) { /* major minor */
		for (int i = 0; i < FAKE_DEVICES_MAX && words >= 2; i++) {
			device_set_attribute(&fake.devices[i],
					     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
					     (int)value);
			device_set_attribute(&fake.devices[i],
					     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
					     (int)second);
		}
	} else if (strcmp(verb, "attribute") == 0) {
		if (words < 2 || value < 0 || value >= FAKE_ATTRIBUTES)
			return -EINVAL;
		for (int i = 0; i < FAKE_DEVICES_MAX; i++)
			if (device < 0 || device == i)
				fake.devices[i].attributes[value] = (int)second;
	} else if (strcmp(verb, "memory") == 0) { /* bytes of every device */
		for (int i = 0; i < FAKE_DEVICES_MAX && words >= 1; i++)
			fake.devices[i].total_bytes = (size_t)value;
	} else if (strcmp(verb, "driver_version") == 0) {
		fake.driver_version = (int)value;
	} else if (strcmp(verb, "init_result") == 0) {
		fake.init_result = (CUresult)value;
	} else if (strcmp(verb, "clock") == 0) { /* the GPU's clock jumps by that many ns; device */
		for (int i = 0; i < FAKE_DEVICES_MAX; i++)
			if (words < 2 || second == i)
				fake.devices[i].clock_offset_ns += value;
	} else if (strcmp(verb, "drift") == 0) { /* so many ns too fast in each second */
		for (int i = 0; i < FAKE_DEVICES_MAX; i++)
			fake.devices[i].clock_drift = (double)value * 1e-9;
	} else {
		return -ENOENT;
	}
	return words >= 1 ? 0 : -EINVAL;
}

uint64_t fake_gpu_now(int device)
{
	const struct fake_device *at = &fake.devices[device];
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t ns = fake.stamp ? fake.stamp()
				 : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	return (uint64_t)((int64_t)ns + at->clock_offset_ns +
			  (int64_t)((double)ns * at->clock_drift));
}

/* CUDA_VISIBLE_DEVICES: only plain numbers are supported. The first invalid one hides all that
 * follow. */
static void visible_devices(const char *list)
{
	struct fake_device all[FAKE_DEVICES_MAX];
	int count = 0;

	memcpy(all, fake.devices, sizeof(all));
	while (list && *list && count < FAKE_DEVICES_MAX) {
		char *end;
		long index = strtol(list, &end, 10);
		if (end == list || index < 0 || index >= fake.device_count)
			break;
		fake.devices[count++] = all[index];
		list = *end == ',' ? end + 1 : NULL;
	}
	fake.device_count = count;
}

CUresult cuInit(unsigned flags)
{
	ENTER(NEED_NOTHING);
	LOCKED();
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake.initialised)
		return CUDA_SUCCESS;
	for (size_t i = 0; i < WATCHED; i++) {
		const char *value = getenv(watched[i]);
		free(seen[i]);
		seen[i] = value ? strdup(value) : NULL;
	}
	fake_jit_init();
	if (fake_environment("CUDA_VISIBLE_DEVICES"))
		visible_devices(fake_environment("CUDA_VISIBLE_DEVICES"));
	fake.launch_blocking = fake_environment("CUDA_LAUNCH_BLOCKING") &&
			       atoi(fake_environment("CUDA_LAUNCH_BLOCKING")) != 0;
	const char *loading = fake_environment("CUDA_MODULE_LOADING");
	fake.eager = loading && strcmp(loading, "EAGER") == 0;
	if (fake.init_result != CUDA_SUCCESS)
		return fake.init_result;
	if (fake.device_count == 0)
		return CUDA_ERROR_NO_DEVICE;
	fake_files_sweep();
	fake.initialised = true;
	return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version_out)
{
	ENTER(NEED_NOTHING);
	*version_out = fake.driver_version;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count_out)
{
	ENTER(NEED_INIT);
	*count_out = fake.device_count;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device_out, int ordinal)
{
	ENTER(NEED_INIT);
	if (ordinal < 0 || ordinal >= fake.device_count)
		return CUDA_ERROR_INVALID_DEVICE;
	*device_out = ordinal;
	return CUDA_SUCCESS;
}

static struct fake_device *device_at(CUdevice device)
{
	return device >= 0 && device < fake.device_count ? &fake.devices[device] : NULL;
}

CUresult cuDeviceGetName(char *name_out, int length, CUdevice device)
{
	ENTER(NEED_INIT);
	if (!device_at(device) || length < 1)
		return CUDA_ERROR_INVALID_DEVICE;
	(void)snprintf(name_out, (size_t)length, "%s", device_at(device)->name);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid_out, CUdevice device)
{
	ENTER(NEED_INIT);
	if (!device_at(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*uuid_out = device_at(device)->uuid;
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes_out, CUdevice device)
{
	ENTER(NEED_INIT);
	if (!device_at(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes_out = device_at(device)->total_bytes;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value_out, CUdevice_attribute attribute, CUdevice device)
{
	ENTER(NEED_INIT);
	if (!device_at(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if ((int)attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*value_out = device_at(device)->attributes[attribute];
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id_out, int length, CUdevice device)
{
	ENTER(NEED_INIT);
	if (!device_at(device) || length < 13)
		return CUDA_ERROR_INVALID_DEVICE;
	(void)snprintf(id_out, (size_t)length, "%s", device_at(device)->bus_id);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device_out, const char *id)
{
	ENTER(NEED_INIT);
	for (int i = 0; i < fake.device_count; i++)
		if (strcasecmp(fake.devices[i].bus_id, id) == 0) {
			*device_out = i;
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetExecAffinitySupport(int *supported_out, CUexecAffinityType type,
					CUdevice device)
{
	ENTER(NEED_INIT);
	if (!device_at(device))
		return CUDA_ERROR_INVALID_DEVICE;
	LOCKED();
	/* Only for an MPS client the SMs can be limited. */
	*supported_out = type == CU_EXEC_AFFINITY_TYPE_SM_COUNT && fake_number("setting mps") != 0;
	return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can_out, CUdevice device, CUdevice peer)
{
	ENTER(NEED_INIT);
	if (!device_at(device) || !device_at(peer))
		return CUDA_ERROR_INVALID_DEVICE;
	LOCKED();
	*can_out = device != peer && fake_number("setting no_peer") == 0;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value_out, CUdevice_P2PAttribute attribute, CUdevice device,
				 CUdevice peer)
{
	ENTER(NEED_INIT);
	if (!device_at(device) || !device_at(peer) || device == peer)
		return CUDA_ERROR_INVALID_DEVICE;
	LOCKED();
	*value_out = attribute == CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK
			     ? 0
			     : fake_number("setting no_peer") == 0;
	return CUDA_SUCCESS;
}

static struct CUctx_st *make_context(CUdevice device, unsigned flags)
{
	struct CUctx_st *context = calloc(1, sizeof(*context));

	if (!context)
		return NULL;
	context->device = device;
	context->flags = context->made_flags = flags;
	context->limits[CU_LIMIT_STACK_SIZE] = 1024;
	context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
	context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
	fake_handle_add(FAKE_CONTEXT, context);
	fake_number_add("contexts", 1);
	fake_number_add("contexts_created", 1);
	return context;
}

/* A context that the application makes becomes the thread's current one. */
CUresult cuCtxCreate(CUcontext *context_out, CUctxCreateParams *parameters, unsigned flags,
		     CUdevice device)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!device_at(device) || !context_out || parameters || depth == DEPTH)
		return CUDA_ERROR_INVALID_VALUE;
	struct CUctx_st *context = make_context(device, flags);
	if (!context)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stack[depth++] = context;
	*context_out = context;
	return CUDA_SUCCESS;
}

/* The real driver ends everything that belongs to the context, even if it is in use. */
CUresult cuCtxDestroy(CUcontext context)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_CONTEXT, context) || context->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	fake_device_wait(context->device);
	for (const struct CUstream_st *stream = fake.streams; stream; stream = stream->next)
		if (stream->context == context && !stream->destroyed &&
		    stream != context->null_stream)
			fake_misuse("a context is destroyed that has stream %d", stream->number);
	while (depth && stack[depth - 1] == context)
		depth--;
	fake_handle_retire(FAKE_CONTEXT, context);
	fake_number_add("contexts", -1);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context_out, CUdevice device)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct fake_device *at = device_at(device);
	if (!at || !context_out)
		return CUDA_ERROR_INVALID_DEVICE;
	if (at->attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_MODE] == CU_COMPUTEMODE_PROHIBITED)
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	if (at->attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_MODE] == CU_COMPUTEMODE_EXCLUSIVE_PROCESS &&
	    fake_number("setting taken"))
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	if (!at->primary) {
		at->primary = make_context(device, at->primary_flags);
		if (!at->primary)
			return CUDA_ERROR_OUT_OF_MEMORY;
		at->primary->primary = true;
	}
	at->primary_references++;
	*context_out = at->primary;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct fake_device *at = device_at(device);
	if (!at || !at->primary_references) {
		fake_misuse("a primary context is released more often than it was retained");
		return CUDA_ERROR_INVALID_CONTEXT;
	}
	if (--at->primary_references)
		return CUDA_SUCCESS;
	fake_device_wait(device);
	fake_handle_retire(FAKE_CONTEXT, at->primary);
	fake_number_add("contexts", -1);
	at->primary = NULL;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
	ENTER(NEED_INIT);
	LOCKED();
	(void)device;
	fake_misuse("a reset of the device destroys the context that the whole process uses");
	return CUDA_ERROR_NOT_PERMITTED;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct fake_device *at = device_at(device);
	if (!at)
		return CUDA_ERROR_INVALID_DEVICE;
	at->primary_flags = flags;
	if (at->primary)
		at->primary->flags = flags;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags_out, int *active_out)
{
	ENTER(NEED_INIT);
	LOCKED();
	const struct fake_device *at = device_at(device);
	if (!at)
		return CUDA_ERROR_INVALID_DEVICE;
	*flags_out = at->primary_flags;
	*active_out = at->primary != NULL;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context_out)
{
	ENTER(NEED_INIT);
	*context_out = fake_current();
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (context && !fake_handle_alive(FAKE_CONTEXT, context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!context) {
		if (depth)
			depth--;
		return CUDA_SUCCESS;
	}
	if (!depth)
		depth = 1;
	stack[depth - 1] = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!context || !fake_handle_alive(FAKE_CONTEXT, context) || depth == DEPTH)
		return CUDA_ERROR_INVALID_CONTEXT;
	stack[depth++] = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context_out)
{
	ENTER(NEED_CONTEXT);
	if (context_out)
		*context_out = fake_current();
	depth--;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device_out)
{
	ENTER(NEED_CONTEXT);
	*device_out = fake_current()->device;
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	ENTER(NEED_CONTEXT | NOTED_SYNC);
	LOCKED();
	fake_device_wait(fake_current()->device);
	return (CUresult)fake.sticky;
}

CUresult cuCtxGetStreamPriorityRange(int *least_out, int *greatest_out)
{
	ENTER(NEED_CONTEXT);
	if (least_out)
		*least_out = 0;
	if (greatest_out)
		*greatest_out = -5;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
	ENTER(NEED_CONTEXT | WAITS);
	LOCKED();
	if ((unsigned)limit >= FAKE_LIMITS)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	fake_current()->limits[limit] = value;
	return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(void)
{
	ENTER(NEED_CONTEXT | WAITS);
	return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value_out, CUlimit limit)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	if ((unsigned)limit >= FAKE_LIMITS)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	*value_out = fake_current()->limits[limit];
	return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct CUctx_st *context = fake_current();
	if (flags || !fake_handle_alive(FAKE_CONTEXT, peer) || peer == context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (fake_number("setting no_peer"))
		return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	if (context->peers & 1u << peer->device)
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	context->peers |= 1u << peer->device;
	return CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct CUctx_st *context = fake_current();
	if (!fake_handle_alive(FAKE_CONTEXT, peer))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!(context->peers & 1u << peer->device))
		return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
	context->peers &= ~(1u << peer->device);
	return CUDA_SUCCESS;
}

bool fake_can_reach(const struct CUctx_st *context, const struct fake_range *range)
{
	switch (range->kind) {
	case FAKE_DEVICE:
	case FAKE_IPC:
		return context->device == range->device || (context->peers & 1u << range->device);
	case FAKE_POOL:
		return context->device == range->device ||
		       (range->pool->access & 1u << context->device) ||
		       (context->peers & 1u << range->device);
	case FAKE_MAPPED:
		return range->access & 1u << context->device;
	case FAKE_GRAPH_MEMORY:
		return context->device == range->device;
	case FAKE_RESERVED:
		return false;
	default:
		return true;
	}
}

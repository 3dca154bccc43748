#include "cuda/device/attributes.h"

#include "cuda/memory/array.h"
#include "cuda/device/aspects.h"

#define DEVICE_TYPE_GPU  2 /* proto's DeviceType */
#define VENDOR_NVIDIA    0x10de
#define CACHE_LINE_BYTES 128
#define BASE_ALIGN_BITS                                                                            \
	(128 * 8) /* the largest vector type; allocations are aligned to more (F9) */
#define PARAMETER_BYTES_OLD 4096u
#define PRINTF_FIFO_BYTES   (1ull << 20)
#define TIMER_RESOLUTION_NS 500 /* resolution of cuEventElapsedTime */

/* As in proto's DeviceFacts. */
enum { CACHE_READ_WRITE = 2, LOCAL_MEM_OWN = 1, EXECUTES_KERNELS = 1 };

/* Bits of CL_DEVICE_*_FP_CONFIG. */
enum fp_config {
	FP_DENORM = 1,
	FP_INF_NAN = 2,
	FP_ROUND_TO_NEAREST = 4,
	FP_ROUND_TO_ZERO = 8,
	FP_ROUND_TO_INF = 16,
	FP_FMA = 32,
	FP_CORRECT_DIVIDE_SQRT = 128,
};

/* 0 if the driver is older than the attribute. */
static int cuda_attribute(const struct cuda_library *cuda, CUdevice device,
			  CUdevice_attribute which)
{
	int value = 0;

	return cuda->cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

static void read_limits(const struct cuda_library *cuda, struct cuda_device_facts *facts)
{
	static const CUdevice_attribute grids[] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
						   CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
						   CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
	static const CUdevice_attribute blocks[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
						    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
						    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
	CUdevice device = facts->device;

	for (int i = 0; i < 3; i++) {
		facts->max_grid[i] = cuda_attribute(cuda, device, grids[i]);
		facts->max_block[i] = cuda_attribute(cuda, device, blocks[i]);
	}
	facts->max_block_threads =
		cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
	facts->multiprocessors =
		cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	facts->max_threads_per_multiprocessor =
		cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
	facts->copy_engines = cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
	facts->warp_size = cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
	facts->compute_major =
		cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
	facts->compute_minor =
		cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	facts->compute_mode = cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
	facts->shared_bytes_default =
		cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
	facts->shared_bytes_optin =
		cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	facts->persisting_bytes =
		cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
	facts->window_bytes =
		cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
	facts->reserved_shared_bytes =
		cuda_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
	if (facts->shared_bytes_optin < facts->shared_bytes_default)
		facts->shared_bytes_optin = facts->shared_bytes_default;
}

static void read_abilities(const struct cuda_library *cuda, struct cuda_device_facts *facts)
{
	const struct {
		bool *has;
		CUdevice_attribute which;
	} abilities[] = {
		{&facts->pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
		{&facts->vmm, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED},
		{&facts->posix_descriptors,
		 CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED},
		{&facts->ipc_events, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED},
		{&facts->managed, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
		{&facts->concurrent_managed, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
		{&facts->host_register, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
		{&facts->cooperative, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
		{&facts->cluster, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH},
		{&facts->unified_addressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
		{&facts->host_native_atomics, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED},
		{&facts->host_pointers,
		 CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM},
		{&facts->mps, CU_DEVICE_ATTRIBUTE_MPS_ENABLED},
	};

	for (size_t i = 0; i < sizeof(abilities) / sizeof(*abilities); i++)
		*abilities[i].has = cuda_attribute(cuda, facts->device, abilities[i].which) != 0;
}

static void fill_numbers(const struct cuda_device_facts *from, uint64_t memory_bytes,
			 const struct cuda_library *cuda, struct backend_device_facts *facts)
{
	bool long_parameters = cuda->driver_version >= 12010 && from->compute_major >= 7;
	int clock_khz = cuda_attribute(cuda, from->device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);

	facts->type = DEVICE_TYPE_GPU;
	facts->vendor_id = VENDOR_NVIDIA;
	facts->max_compute_units = (uint32_t)from->multiprocessors;
	facts->max_work_item_dimensions = 3;
	facts->max_clock_frequency_mhz = (uint32_t)(clock_khz / 1000);
	facts->address_bits = 64;
	for (int i = 0; i < 3; i++)
		facts->max_work_item_sizes[i] = (uint64_t)from->max_block[2 - i];
	facts->max_work_group_size = (uint64_t)from->max_block_threads;
	facts->max_mem_alloc_bytes = facts->global_mem_bytes = memory_bytes;
	facts->global_mem_cache_bytes =
		(uint64_t)cuda_attribute(cuda, from->device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
	facts->global_mem_cache_line_bytes = CACHE_LINE_BYTES;
	/* A GPU that MIG divides has no such windows. */
	if (from->persisting_bytes > 0 && from->window_bytes > 0)
		facts->l2_window_bytes = (uint64_t)from->window_bytes;
	facts->local_mem_bytes = (uint64_t)from->shared_bytes_optin;
	facts->max_constant_buffer_bytes = (uint64_t)cuda_attribute(
		cuda, from->device, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
	facts->max_parameter_bytes =
		long_parameters ? CUDA_PARAMETER_BYTES_MAX : PARAMETER_BYTES_OLD;
	facts->profiling_timer_resolution_ns = TIMER_RESOLUTION_NS;
	facts->printf_buffer_bytes = PRINTF_FIFO_BYTES;
	facts->mem_base_addr_align_bits = BASE_ALIGN_BITS;
	facts->error_correction =
		cuda_attribute(cuda, from->device, CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0;
	facts->little_endian = true;
	facts->max_constant_args = CUDA_PARAMETERS_MAX; /* plain pointers */
	facts->global_mem_cache_type = CACHE_READ_WRITE;
	facts->local_mem_type = LOCAL_MEM_OWN;
	facts->execution_capabilities = EXECUTES_KERNELS;
}

static void fill_arithmetic(const struct cuda_device_facts *from,
			    struct backend_device_facts *facts)
{
	const uint32_t whole = FP_DENORM | FP_INF_NAN | FP_ROUND_TO_NEAREST | FP_ROUND_TO_ZERO |
			       FP_ROUND_TO_INF | FP_FMA;
	bool has_half = facts->aspects & 1ull << CUDA_ASPECT_FP16;

	for (int i = 0; i < 6; i++)
		facts->preferred_vector_widths[i] = facts->native_vector_widths[i] = 1;
	facts->preferred_vector_widths[6] = facts->native_vector_widths[6] = has_half ? 2 : 0;
	facts->fp_config[0] = has_half ? FP_DENORM | FP_INF_NAN | FP_ROUND_TO_NEAREST | FP_FMA : 0;
	facts->fp_config[1] = whole | FP_CORRECT_DIVIDE_SQRT;
	facts->fp_config[2] = whole;
	facts->sub_group_sizes[0] = (uint32_t)from->warp_size;
	facts->sub_group_size_count = from->warp_size > 0;
	if (from->warp_size > 0)
		facts->max_sub_groups = (uint32_t)((from->max_block_threads + from->warp_size - 1) /
						   from->warp_size);
	facts->independent_progress = false; /* SYCL's on CUDA does not show it (E18) */
	facts->atomic_order_bits = cuda_atomic_orders(from->compute_major, from->compute_minor);
	facts->atomic_scope_bits = cuda_atomic_scopes(from->compute_major, from->compute_minor);
	facts->fence_order_bits = cuda_fence_orders(from->compute_major, from->compute_minor);
	facts->fence_scope_bits = cuda_fence_scopes(from->compute_major, from->compute_minor);
}

void cuda_attributes_read(const struct cuda_library *cuda, struct cuda_device_facts *facts)
{
	read_limits(cuda, facts);
	read_abilities(cuda, facts);
}

void cuda_attributes_fill(const struct cuda_library *cuda, const struct cuda_device_facts *from,
			  uint64_t memory_bytes, struct backend_device_facts *facts)
{
	facts->aspects = cuda_aspects(from);
	facts->features = cuda_features(cuda, from);
	if (facts->features & BACKEND_FEATURE_GRAPH_NATIVE)
		facts->aspects |= 1ull << CUDA_ASPECT_LIMITED_GRAPH; /* K19 */
	if (facts->features & BACKEND_FEATURE_GRAPH_CONDITION)
		facts->aspects |= 1ull << CUDA_ASPECT_GRAPH_CONDITIONS; /* R4 */
	fill_numbers(from, memory_bytes, cuda, facts);
	fill_arithmetic(from, facts);
	cuda_image_facts_fill(cuda, from->device, facts);
}

/* The number of work-groups that the device holds at one time. The driver answers these queries
 * without the device; any thread. */
#include "cuda/program/launch.h"
#include "cuda/program/kernel.h"
#include "status.h"

#include <errno.h>

#define USUAL_THREADS 256u

/* The number of resident work-groups on a compute unit; 0 if the driver does not report it. */
static unsigned cuda_resident_groups(const struct backend_kernel *kernel,
				     const struct cuda_variant *variant, unsigned threads,
				     unsigned shared_bytes)
{
	const struct cuda_library *cu = &kernel->device->backend->library;
	int groups = 0;

	if (!cu->cuOccupancyMaxActiveBlocksPerMultiprocessor ||
	    cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(
		    &groups, variant->function, (int)threads, shared_bytes) != CUDA_SUCCESS ||
	    groups < 0)
		return 0;
	return (unsigned)groups;
}

/* The usual size, unless with another size more work-items are resident on a compute unit. */
unsigned cuda_basic_threads(const struct backend_kernel *kernel, const struct cuda_variant *variant)
{
	static const unsigned sizes[] = {USUAL_THREADS, 128, 512, 1024, 64, 32};
	unsigned best = 0, best_resident = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		unsigned threads = sizes[i];
		if (threads > variant->shape.max_threads)
			continue;
		unsigned resident = cuda_resident_groups(kernel, variant, threads, 0) * threads;
		if (best == 0 || resident > best_resident) {
			best = threads;
			best_resident = resident;
		}
	}
	return best ? best : variant->shape.max_threads;
}

static unsigned size_product(const unsigned sizes[3])
{
	return sizes[0] * sizes[1] * sizes[2];
}

int cuda_cooperative_check(const struct backend_kernel *kernel, const struct cuda_variant *variant,
			   const struct cuda_launch *launch, struct backend_fault *fault_out)
{
	const struct cuda_device_facts *facts = kernel->device->facts;

	if (!facts->cooperative)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"the device has no cooperative launches");
	uint64_t groups = (uint64_t)launch->grid[0] * launch->grid[1];
	uint64_t most = (uint64_t)cuda_resident_groups(kernel, variant, size_product(launch->block),
						       launch->shared_bytes) *
			(unsigned)facts->multiprocessors;
	if (groups > most || groups * launch->grid[2] > most) {
		(void)cuda_fault_words(
			fault_out, 0, STATUS_ND_RANGE,
			"a cooperative launch of %u x %u x %u work-groups; the device holds %llu of them at "
			"one time",
			launch->grid[2], launch->grid[1], launch->grid[0],
			(unsigned long long)most);
		fault_out->native_code = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
		return -EINVAL;
	}
	return 0;
}

int cuda_cluster_check(const struct backend_kernel *kernel, const struct cuda_variant *variant,
		       const struct cuda_launch *launch, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &kernel->device->backend->library;
	int clusters = 0;

	if (!kernel->device->facts->cluster || !cu->cuOccupancyMaxActiveClusters)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"the device has no clusters of work-groups");
	CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
	attribute.value.clusterDim.x = launch->cluster[0];
	attribute.value.clusterDim.y = launch->cluster[1];
	attribute.value.clusterDim.z = launch->cluster[2];
	const CUlaunchConfig config = {
		.gridDimX = launch->grid[0],
		.gridDimY = launch->grid[1],
		.gridDimZ = launch->grid[2],
		.blockDimX = launch->block[0],
		.blockDimY = launch->block[1],
		.blockDimZ = launch->block[2],
		.sharedMemBytes = launch->shared_bytes,
		.attrs = &attribute,
		.numAttrs = 1,
	};
	CUresult result = cu->cuOccupancyMaxActiveClusters(&clusters, variant->function, &config);
	if (result == CUDA_SUCCESS && clusters > 0)
		return 0;
	(void)cuda_fault_words(
		fault_out, 0, STATUS_ND_RANGE,
		"the device has no room for a cluster of %u x %u x %u such work-groups",
		launch->cluster[2], launch->cluster[1], launch->cluster[0]);
	fault_out->native_code =
		result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_CLUSTER_SIZE : (int32_t)result;
	return -EINVAL;
}

static unsigned largest_cluster(const struct backend_kernel *kernel,
				const struct cuda_variant *variant, unsigned threads,
				unsigned shared_bytes)
{
	const struct cuda_library *cu = &kernel->device->backend->library;
	const CUlaunchConfig config = {
		.gridDimX = 1,
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = threads,
		.blockDimY = 1,
		.blockDimZ = 1,
		.sharedMemBytes = shared_bytes,
	};
	int size = 0;

	if (!kernel->device->facts->cluster || !cu->cuOccupancyMaxPotentialClusterSize ||
	    cu->cuOccupancyMaxPotentialClusterSize(&size, variant->function, &config) !=
		    CUDA_SUCCESS ||
	    size < 0)
		return 0;
	return (unsigned)size;
}

static unsigned occupancy_smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The minimum over a portable kernel's variants, so that the result holds for every number of
 * dimensions. */
static void query_occupancy(const struct backend_kernel *kernel, unsigned threads,
			    unsigned shared_bytes, struct backend_occupancy *occupancy)
{
	const struct cuda_device_facts *facts = kernel->device->facts;
	unsigned resident = UINT32_MAX, cluster = UINT32_MAX;

	for (uint32_t i = 0; i < kernel->variant_count; i++) {
		const struct cuda_variant *variant = &kernel->variants[i];
		unsigned room = shared_bytes ? shared_bytes + variant->static_room : 0;
		resident = occupancy_smaller(resident,
					     cuda_resident_groups(kernel, variant, threads, room));
		cluster =
			occupancy_smaller(cluster, largest_cluster(kernel, variant, threads, room));
	}
	occupancy->groups_per_compute_unit = resident;
	occupancy->max_cooperative_groups =
		facts->cooperative ? resident * (unsigned)facts->multiprocessors : 0;
	occupancy->max_cluster_groups = cluster;
}

int cuda_kernel_occupancy(struct backend_kernel *kernel, const uint64_t local[3],
			  uint64_t local_mem_bytes, struct backend_occupancy *occupancy_out,
			  struct backend_fault *fault_out)
{
	struct backend_occupancy occupancy = {.suggested_group_size = UINT32_MAX};
	uint64_t threads = 1;
	bool chosen = false;

	int error = cuda_enter(kernel->device, fault_out);
	if (error < 0)
		return error;
	for (unsigned d = 0; d < 3; d++) {
		chosen = chosen || local[d] != 0;
		if (__builtin_mul_overflow(threads, local[d] ? local[d] : 1, &threads))
			threads = UINT64_MAX;
	}
	if (threads > kernel->facts.max_work_group_size)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_ND_RANGE,
					"a work-group of this kernel may have %llu work-items",
					(unsigned long long)kernel->facts.max_work_group_size);
	if (local_mem_bytes > kernel->facts.max_local_mem_bytes)
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_MEMORY_ALLOCATION,
			"the kernel has room for %llu bytes of local memory beside its own, not for %llu",
			(unsigned long long)kernel->facts.max_local_mem_bytes,
			(unsigned long long)local_mem_bytes);
	for (uint32_t i = 0; i < kernel->variant_count; i++)
		occupancy.suggested_group_size = occupancy_smaller(
			occupancy.suggested_group_size, kernel->variants[i].shape.basic_threads);
	if (chosen)
		query_occupancy(kernel, (unsigned)threads, (unsigned)local_mem_bytes, &occupancy);
	*occupancy_out = occupancy;
	return 0;
}

#include "cuda/program/kernel.h"

#include "cuda/program/checked.h"
#include "cuda/program/launch.h"
#include "cuda/program/ptx_wait.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cuda_kernels_open(struct backend_device *device, struct backend_fault *fault_out)
{
	struct cuda_kernels *kernels = calloc(1, sizeof(*kernels));

	if (!kernels)
		return cuda_no_memory(fault_out, "a kernel");
	(void)pthread_mutex_init(&kernels->lock, NULL);
	device->kernels = kernels;
	kernels->window = device->ahead.window;
	if (!kernels->window.is_known)
		cuda_window_find(&device->backend->library, &kernels->window);
	return 0;
}

void cuda_kernels_close(struct backend_device *device)
{
	if (!device->kernels)
		return;
	cuda_checked_close(device);
	cuda_modules_close(device);
	(void)pthread_mutex_destroy(&device->kernels->lock);
	free(device->kernels);
	device->kernels = NULL;
}

static uint64_t cuda_larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t cuda_kernel_smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Fills in the facts that hold for all variants. */
static void cuda_kernel_fill_facts(struct backend_kernel *kernel)
{
	struct backend_kernel_facts *facts = &kernel->facts;
	const struct cuda_variant *first = &kernel->variants[0];

	facts->native = kernel->native;
	/* With checks, each part would begin with a fill of what earlier parts have written. */
	facts->splits = !kernel->native && !kernel->is_checked && !kernel->is_opencl;
	facts->waits = kernel->waits;
	facts->sub_group_size = (uint32_t)kernel->device->facts->warp_size;
	facts->preferred_multiple = facts->sub_group_size;
	facts->max_work_group_size = UINT64_MAX;
	facts->max_local_mem_bytes = UINT64_MAX;
	for (uint32_t i = 0; i < kernel->variant_count; i++) {
		const struct cuda_variant *variant = &kernel->variants[i];
		facts->max_work_group_size =
			cuda_kernel_smaller(facts->max_work_group_size, variant->shape.max_threads);
		facts->private_mem_bytes =
			cuda_larger(facts->private_mem_bytes, variant->private_bytes);
		facts->local_mem_bytes = cuda_larger(facts->local_mem_bytes, variant->static_bytes);
		facts->max_local_mem_bytes = cuda_kernel_smaller(facts->max_local_mem_bytes,
								 variant->layout.local_bytes_max);
		facts->registers = (uint32_t)cuda_larger(facts->registers, variant->registers);
		facts->splits &= variant->cluster[0] == 0;
	}
	for (unsigned d = 0; first->shape.required[0] && d < 3; d++)
		facts->required_work_group_size[2 - d] = first->shape.required[d];
}

static int fill_kernel(struct backend_kernel *kernel, const char *name,
		       struct backend_fault *fault_out)
{
	const struct cuda_modules *modules = kernel->program->modules;
	const struct cuda_binary_kernel *described = cuda_binary_find(modules->binary, name);
	int error = 0;

	kernel->name = strdup(name);
	if (!kernel->name)
		return cuda_no_memory(fault_out, "a kernel");
	if (!described)
		return cuda_fault_words(fault_out, -ENOENT, STATUS_KERNEL,
					"the program has no kernel '%.100s'", name);
	kernel->native = modules->binary->flags & CUDA_BINARY_NATIVE;
	kernel->is_opencl = modules->binary->flags & CUDA_BINARY_OPENCL;
	kernel->waits = described->waits;
	kernel->is_checked = described->is_checked;
	if (kernel->is_checked)
		error = cuda_checked_open(kernel->device, fault_out);
	for (uint32_t i = 0; error == 0 && i < modules->binary->image_count; i++) {
		error = cuda_variant_make(kernel, i, modules->modules[i], described, fault_out);
		kernel->variant_count = i + 1;
	}
	if (error == 0)
		cuda_kernel_fill_facts(kernel);
	return error;
}

static void kernel_drop(struct backend_kernel *kernel)
{
	if (atomic_fetch_sub_explicit(&kernel->references, 1, memory_order_acq_rel) != 1)
		return;
	cuda_program_drop(kernel->program);
	free(kernel->parameters);
	free(kernel->arguments);
	free(kernel->name);
	free(kernel);
}

int cuda_kernel_create(struct backend_program *program, const char *name,
		       struct backend_kernel **kernel_out, struct backend_fault *fault_out)
{
	int error = cuda_enter(program->device, fault_out);

	if (error < 0)
		return error;
	struct backend_kernel *kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return cuda_no_memory(fault_out, "a kernel");
	atomic_store_explicit(&kernel->references, 1, memory_order_relaxed);
	kernel->device = program->device;
	kernel->program = program;
	cuda_program_hold(program);
	error = fill_kernel(kernel, name, fault_out);
	if (error < 0) {
		kernel_drop(kernel);
		return error;
	}
	*kernel_out = kernel;
	return 0;
}

void cuda_kernel_facts(struct backend_kernel *kernel, struct backend_kernel_facts *facts_out)
{
	*facts_out = kernel->facts;
}

void cuda_kernel_hold(struct backend_kernel *kernel)
{
	(void)atomic_fetch_add_explicit(&kernel->references, 1, memory_order_relaxed);
}

struct cuda_pace *cuda_kernel_pace(struct backend_kernel *kernel)
{
	return &kernel->pace;
}

void cuda_kernel_free(struct backend_kernel *kernel)
{
	if (!kernel)
		return;
	struct backend_device *device = kernel->device;
	kernel_drop(kernel);
	cuda_abandoned_notify(device);
}

struct backend_program *cuda_kernel_code(const struct backend_kernel *kernel)
{
	return kernel->program;
}

/* Chooses the requested cluster, or the one that the kernel was compiled for, in SYCL's order. */
static int choose_cluster(const struct cuda_variant *variant, const struct backend_command *command,
			  uint32_t cluster[3], struct backend_fault *fault_out)
{
	const struct backend_launch_properties *properties = command->launch.properties;
	unsigned dimensions = command->launch.dimensions;
	bool any = false;

	for (unsigned d = 0; properties && d < dimensions; d++)
		any = any || properties->cluster[d] != 0;
	for (unsigned d = 0; d < 3; d++) {
		unsigned compiled = variant->cluster[d];
		if (compiled > 1 && d >= dimensions)
			return cuda_fault_words(
				fault_out, -EINVAL, STATUS_ND_RANGE,
				"the kernel was compiled for clusters of more dimensions than its range has");
		if (d >= dimensions)
			continue;
		cluster[dimensions - 1 - d] =
			any ? properties->cluster[dimensions - 1 - d] : compiled;
		if (any && compiled && cluster[dimensions - 1 - d] != compiled)
			return cuda_fault_words(
				fault_out, -EINVAL, STATUS_ND_RANGE,
				"the kernel was compiled for clusters of %u x %u x %u work-groups",
				variant->cluster[2], variant->cluster[1], variant->cluster[0]);
	}
	return 0;
}

/* Checks that the device can hold at one time the work-groups that must run together. */
static int check_residency(const struct backend_kernel *kernel, const struct cuda_variant *variant,
			   const struct cuda_launch *launch, struct backend_fault *fault_out)
{
	if (launch->cluster[0] != 0) {
		int error = cuda_cluster_check(kernel, variant, launch, fault_out);
		if (error < 0)
			return error;
	}
	return launch->cooperative ? cuda_cooperative_check(kernel, variant, launch, fault_out) : 0;
}

static bool takes_local_address(const struct cuda_layout *layout,
				const struct backend_argument *arguments)
{
	for (uint32_t i = 0; i < layout->count; i++)
		if (arguments[i].kind == BACKEND_ARGUMENT_LOCAL &&
		    layout->parameters[i].local != CUDA_LOCAL_PLACE)
			return true;
	return false;
}

static bool plan_is_for_range(const struct cuda_plan *plan, const struct cuda_range *range)
{
	bool same = plan->dimensions == range->dimensions;

	for (unsigned d = 0; same && d < range->dimensions; d++)
		same = plan->global[d] == range->global[d] && plan->local[d] == range->local[d] &&
		       plan->offset[d] == range->offset[d];
	return same;
}

/* Most launches of a kernel have the same range as the previous launch. Such a launch uses the
 * previous plan. */
static int kernel_plan_launch(struct backend_kernel *kernel, const struct cuda_variant *variant,
			      const struct cuda_range *range,
			      const struct cuda_geometry **geometry_out,
			      struct backend_fault *fault_out)
{
	struct cuda_plan *plan = &kernel->plan;
	const size_t bytes = range->dimensions * sizeof(uint64_t);

	*geometry_out = &plan->geometry;
	if (plan_is_for_range(plan, range))
		return 0;
	plan->dimensions = 0;
	int error = cuda_geometry_plan(&variant->shape, range, &plan->geometry, fault_out);
	if (error < 0)
		return error;
	plan->dimensions = range->dimensions;
	memcpy(plan->global, range->global, bytes);
	memcpy(plan->local, range->local, bytes);
	memcpy(plan->offset, range->offset, bytes);
	return 0;
}

/* True if the launch may begin early, provided that the lane or the graph sends the right launch
 * before it. */
static bool launch_begins_early(const struct backend_kernel *kernel,
				const struct backend_launch_properties *properties)
{
	return properties && properties->early && !properties->cooperative &&
	       properties->cluster[0] == 0 && kernel->waits &&
	       kernel->device->backend->settings.overlap &&
	       kernel->device->facts->compute_major >= CUDA_OVERLAP_COMPUTE_MAJOR;
}

static struct cuda_launch launch_of_command(const struct backend_kernel *kernel,
					    const struct cuda_variant *variant,
					    const struct cuda_geometry *geometry,
					    const struct backend_command *command,
					    uint64_t local_bytes, void **parameters)
{
	const struct backend_launch_properties *properties = command->launch.properties;
	struct cuda_launch launch = {
		.function = variant->function,
		.shared_bytes = (unsigned)local_bytes + (local_bytes ? variant->static_room : 0),
		.parameters = parameters,
		.check = variant->layout.has_check ? parameters[variant->layout.count] : NULL,
		.parameter_count = cuda_layout_count(&variant->layout),
		.parameter_bytes = variant->layout.bytes,
		.cooperative = properties && properties->cooperative,
		.waits = kernel->program->modules->waits && !kernel->waits,
		.window = properties ? properties->window : (struct backend_l2_window){0},
		.early = launch_begins_early(kernel, properties),
	};
	memcpy(launch.grid, geometry->grid, sizeof(launch.grid));
	memcpy(launch.block, geometry->block, sizeof(launch.block));
	memcpy(launch.cluster, geometry->cluster, sizeof(launch.cluster));
	return launch;
}

static const struct cuda_variant *variant_for(const struct backend_kernel *kernel,
					      uint32_t dimensions)
{
	return &kernel->variants[kernel->variant_count == 1 ? 0 : dimensions - 1];
}

int cuda_kernel_prepare(struct backend_kernel *kernel, const struct backend_command *command,
			void *storage, size_t storage_bytes, void **parameters,
			uint32_t parameters_max, struct cuda_launch *launch_out,
			struct backend_fault *fault_out)
{
	const struct cuda_variant *variant = variant_for(kernel, command->launch.dimensions);
	uint32_t cluster[3] = {0};
	uint64_t local_bytes = 0;
	const struct cuda_range range = {command->launch.dimensions,
					 command->launch.global,
					 command->launch.local,
					 command->launch.offset,
					 cluster,
					 &command->launch.part};
	struct cuda_geometry special;
	const struct cuda_geometry *geometry = &special;

	int error = cuda_arguments_pack(&variant->layout, command->launch.arguments,
					command->launch.argument_count, storage, storage_bytes,
					parameters, parameters_max, &local_bytes, fault_out);
	const bool is_plain =
		!variant->cluster[0] && !command->launch.properties && command->launch.part.of == 0;
	if (error == 0 && (variant->cluster[0] || command->launch.properties))
		error = choose_cluster(variant, command, cluster, fault_out);
	if (error == 0)
		error = is_plain ? kernel_plan_launch(kernel, variant, &range, &geometry, fault_out)
				 : cuda_geometry_plan(&variant->shape, &range, &special, fault_out);
	if (error < 0)
		return error;
	const struct cuda_launch launch =
		launch_of_command(kernel, variant, geometry, command, local_bytes, parameters);
	if (variant->layout.has_record)
		memcpy(parameters[cuda_layout_count(&variant->layout) - 1], &geometry->record,
		       sizeof(geometry->record));
	/* For all work-groups of a cluster, a plain address would mean the shared memory of the
	 * first work-group. */
	if (launch.cluster[0] && local_bytes &&
	    takes_local_address(&variant->layout, command->launch.arguments))
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_FEATURE_NOT_SUPPORTED,
			"a kernel in PTX or CUDA C++ takes no local memory as an argument in clusters");
	error = check_residency(kernel, variant, &launch, fault_out);
	if (error == 0)
		*launch_out = launch;
	return error;
}

void cuda_kernel_repeat(const struct backend_kernel *kernel, const struct backend_command *command,
			size_t value_bytes_behind, const unsigned char *from,
			void *const *from_parameters, unsigned char *to, void **to_parameters)
{
	const struct cuda_layout *layout = &variant_for(kernel, command->launch.dimensions)->layout;
	const struct backend_argument *arguments = command->launch.arguments;

	memcpy(to, from, layout->bytes);
	for (uint32_t i = 0; i < cuda_layout_count(layout); i++)
		to_parameters[i] = to + ((const unsigned char *)from_parameters[i] - from);
	for (uint32_t i = 0; i < layout->count; i++)
		if (arguments[i].kind == BACKEND_ARGUMENT_VALUE)
			memcpy(to_parameters[i],
			       (const unsigned char *)arguments[i].value.bytes + value_bytes_behind,
			       arguments[i].value.size_bytes);
}

/* Reads the driver's facts about a compiled kernel, on the loader's thread. */
#include "cuda/program/describe.h"
#include "cuda/program/launch.h"
#include "cuda/program/kernel.h"
#include "cuda/program/symbol.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Arguments of local memory begin at a multiple of this behind static shared memory, whatever the
 * compiler's alignment. */
#define STATIC_ALIGNMENT 128u

static int function_attribute(const struct backend_kernel *kernel, CUfunction function,
			      CUfunction_attribute which)
{
	int value = 0;

	if (kernel->device->backend->library.cuFuncGetAttribute(&value, which, function) !=
		    CUDA_SUCCESS ||
	    value < 0)
		return 0;
	return value;
}

/* Reads the layout of at most `capacity` parameters, until the driver reports that there are no
 * more. */
static int read_layout(const struct backend_kernel *kernel, CUfunction function,
		       struct cuda_parameter *parameters, uint32_t capacity, uint32_t *count_out,
		       struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &kernel->device->backend->library;
	uint32_t count = 0;
	size_t offset = 0, size = 0;

	while (cu->cuFuncGetParamInfo(function, count, &offset, &size) == CUDA_SUCCESS) {
		if (count == capacity)
			return cuda_fault_words(fault_out, -EINVAL, STATUS_KERNEL_NOT_SUPPORTED,
						"kernel %.100s has more arguments than %u",
						kernel->name, capacity);
		if (offset > CUDA_PARAMETER_BYTES_MAX || size > CUDA_PARAMETER_BYTES_MAX - offset)
			return cuda_fault_words(fault_out, -EINVAL, STATUS_KERNEL_NOT_SUPPORTED,
						"kernel %.100s has more than %u bytes of arguments",
						kernel->name, CUDA_PARAMETER_BYTES_MAX);
		parameters[count++] = (struct cuda_parameter){.offset_bytes = (uint32_t)offset,
							      .size_bytes = (uint32_t)size};
	}
	*count_out = count;
	return 0;
}

/* Sets kinds and names of parameters as the build described them, otherwise as the symbol shows
 * them. */
static void describe_parameters(struct backend_kernel *kernel,
				const struct cuda_binary_kernel *described,
				const struct cuda_symbol *symbol, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct cuda_binary_argument argument;
		uint32_t size = kernel->parameters[i].size_bytes;
		if (described->arguments && described->argument_count == count &&
		    described->arguments[i].facts.size_bytes == size)
			argument = described->arguments[i];
		else
			cuda_describe_word(symbol, i, size, &argument);
		kernel->arguments[i] = argument.facts;
		kernel->parameters[i].kind = argument.facts.kind;
		kernel->parameters[i].local = argument.local;
		if (argument.facts.kind == BACKEND_ARGUMENT_IMAGE)
			kernel->parameters[i].image = cuda_image_form(argument.facts.type_name);
	}
}

/* The number of parameters behind the user's. */
static uint32_t hidden_parameters(const struct backend_kernel *kernel)
{
	return (uint32_t)kernel->is_checked + !kernel->native;
}

/* Checks that a portable kernel has the arguments of its description, and those that the build
 * added. The description comes from the cache. */
static bool has_hidden_parameters(const struct backend_kernel *kernel,
				  const struct cuda_binary_kernel *described, uint32_t count)
{
	const struct cuda_parameter *end = kernel->parameters + count;

	if (kernel->native)
		return !kernel->is_checked;
	if (count != described->argument_count + hidden_parameters(kernel))
		return false;
	return end[-1].size_bytes == CUDA_RECORD_BYTES &&
	       (!kernel->is_checked || end[-2].size_bytes == sizeof(uint64_t));
}

static int first_layout(struct backend_kernel *kernel, struct cuda_variant *variant,
			const struct cuda_binary_kernel *described, struct backend_fault *fault_out)
{
	CLEANUP(cuda_symbol_cleanup) struct cuda_symbol *symbol = NULL;
	uint32_t capacity = CUDA_PARAMETERS_MAX, count = 0;

	kernel->parameters = calloc(capacity, sizeof(*kernel->parameters));
	if (!kernel->parameters)
		return cuda_no_memory(fault_out, "a variant of a program");
	int error = read_layout(kernel, variant->function, kernel->parameters, capacity, &count,
				fault_out);
	if (error < 0)
		return error;
	if (!has_hidden_parameters(kernel, described, count))
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_KERNEL,
			"kernel %.100s does not have the arguments that its binary lists",
			kernel->name);
	kernel->facts.argument_count = count - hidden_parameters(kernel);
	kernel->arguments = calloc(count + 1u, sizeof(*kernel->arguments));
	if (!kernel->arguments || cuda_symbol_parse(described->symbol, &symbol) == -ENOMEM)
		return cuda_no_memory(fault_out, "a variant of a program");
	if (symbol && symbol->parameter_count != count)
		symbol = cuda_symbol_free(symbol);
	describe_parameters(kernel, described, symbol, kernel->facts.argument_count);
	kernel->facts.arguments = kernel->arguments;
	return 0;
}

/* The other variants of a portable kernel must have the same parameters. */
static int check_layout(const struct backend_kernel *kernel, const struct cuda_variant *variant,
			struct backend_fault *fault_out)
{
	CLEANUP(free_pointer)
	struct cuda_parameter *parameters = calloc(CUDA_PARAMETERS_MAX, sizeof(*parameters));
	uint32_t count = 0;

	if (!parameters)
		return cuda_no_memory(fault_out, "a variant of a program");
	int error = read_layout(kernel, variant->function, parameters, CUDA_PARAMETERS_MAX, &count,
				fault_out);
	if (error < 0)
		return error;
	bool same = count == kernel->facts.argument_count + hidden_parameters(kernel);
	for (uint32_t i = 0; same && i < count; i++)
		same = parameters[i].offset_bytes == kernel->parameters[i].offset_bytes &&
		       parameters[i].size_bytes == kernel->parameters[i].size_bytes;
	return same ? 0
		    : cuda_fault_words(
			      fault_out, -EINVAL, STATUS_KERNEL,
			      "kernel %.100s has other arguments for other numbers of dimensions",
			      kernel->name);
}

/* Allows a work-group all shared memory of the device: more than 48 KiB must be requested, once. */
static void kernel_allow_shared_memory(const struct backend_kernel *kernel,
				       struct cuda_variant *variant)
{
	const struct cuda_library *cu = &kernel->device->backend->library;
	const struct cuda_device_facts *facts = kernel->device->facts;
	unsigned most = (unsigned)facts->shared_bytes_default;

	variant->static_bytes = (uint32_t)function_attribute(kernel, variant->function,
							     CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
	if (facts->shared_bytes_optin > facts->shared_bytes_default &&
	    variant->static_bytes <= (unsigned)facts->shared_bytes_optin &&
	    cu->cuFuncSetAttribute(
		    variant->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
		    facts->shared_bytes_optin - (int)variant->static_bytes) == CUDA_SUCCESS)
		most = (unsigned)facts->shared_bytes_optin;
	if (kernel->native || kernel->is_opencl)
		variant->static_room =
			(STATIC_ALIGNMENT - variant->static_bytes % STATIC_ALIGNMENT) %
			STATIC_ALIGNMENT;
	uint32_t taken = variant->static_bytes + variant->static_room;
	variant->layout.local_bytes_max = most > taken ? most - taken : 0;
}

static void fill_layout(const struct backend_kernel *kernel, struct cuda_variant *variant)
{
	const struct cuda_kernels *kernels = kernel->device->kernels;
	struct cuda_layout *layout = &variant->layout;
	uint32_t count = kernel->facts.argument_count, all = count + hidden_parameters(kernel);

	layout->count = count;
	layout->parameters = kernel->parameters;
	layout->has_check = kernel->is_checked;
	layout->has_record = !kernel->native;
	if (layout->has_check)
		layout->check_at = kernel->parameters[count].offset_bytes;
	if (layout->has_record)
		layout->record_at = kernel->parameters[all - 1].offset_bytes;
	layout->bytes = cuda_parameters_bytes(kernel->parameters, all);
	layout->base_known = kernels->window.is_known;
	layout->generic_base =
		kernels->window.generic_base + variant->static_bytes + variant->static_room;
	layout->shared_base =
		kernels->window.shared_base + variant->static_bytes + variant->static_room;
}

static void fill_shape(const struct backend_kernel *kernel, struct cuda_variant *variant,
		       const struct cuda_binary_kernel *described)
{
	const struct cuda_device_facts *facts = kernel->device->facts;
	static const CUfunction_attribute clusters[] = {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
							CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
							CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH};
	struct cuda_shape *shape = &variant->shape;

	shape->native = kernel->native;
	shape->uniform = kernel->is_opencl;
	shape->multiprocessors = (unsigned)facts->multiprocessors;
	shape->max_threads = (unsigned)function_attribute(kernel, variant->function,
							  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
	if (shape->max_threads == 0)
		shape->max_threads = (unsigned)facts->max_block_threads;
	for (unsigned d = 0; d < 3; d++) {
		shape->required[d] = described->required[d];
		shape->max_block[d] = (unsigned)facts->max_block[d];
		shape->max_grid[d] = (unsigned)facts->max_grid[d];
		if (facts->cluster)
			variant->cluster[d] = (unsigned)function_attribute(
				kernel, variant->function, clusters[d]);
	}
	for (unsigned d = 0; variant->cluster[0] > 0 && d < 3; d++)
		variant->cluster[d] = variant->cluster[d] ? variant->cluster[d] : 1;
	variant->registers =
		(uint32_t)function_attribute(kernel, variant->function, CU_FUNC_ATTRIBUTE_NUM_REGS);
	variant->private_bytes = (uint32_t)function_attribute(kernel, variant->function,
							      CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
	shape->basic_threads = cuda_basic_threads(kernel, variant);
}

int cuda_variant_make(struct backend_kernel *kernel, uint32_t index, CUmodule module,
		      const struct cuda_binary_kernel *described, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &kernel->device->backend->library;
	struct cuda_variant *variant = &kernel->variants[index];

	CUresult result = cu->cuModuleGetFunction(&variant->function, module, described->symbol);
	if (result == CUDA_ERROR_NOT_FOUND)
		return cuda_fault_words(fault_out, -ENOENT, STATUS_KERNEL,
					"the program has no kernel '%.100s'", kernel->name);
	/* The kernel's code is loaded to the device now. At a first launch, that could wait for
	 * running kernels (F11). */
	if (result == CUDA_SUCCESS)
		result = cu->cuFuncLoad(variant->function);
	if (result != CUDA_SUCCESS)
		return cuda_fault(kernel->device, cu, result, fault_out, "cannot load kernel %.60s",
				  kernel->name);
	int error = index == 0 ? first_layout(kernel, variant, described, fault_out)
			       : check_layout(kernel, variant, fault_out);
	if (error < 0)
		return error;
	kernel_allow_shared_memory(kernel, variant);
	fill_layout(kernel, variant);
	fill_shape(kernel, variant, described);
	/* Allows clusters of more than eight work-groups. Each launch checks whether there is room
	 * for them. */
	if (kernel->device->facts->cluster)
		(void)cu->cuFuncSetAttribute(
			variant->function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
	return 0;
}

#include "opencl/program/kernel.h"

#include "opencl/program/argument_types.h"
#include "opencl/driver/aspects.h"
#include "opencl/driver/fault.h"
#include "opencl/memory/image_arguments.h"
#include "opencl/program/kernel_name.h"
#include "opencl/program/native_program.h"
#include "opencl/program/program.h"
#include "opencl/memory/usm.h"
#include "portable_check.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

/* Room for one element of any type. */
#define SPARE_BYTES 4096u

cl_kernel opencl_kernel_any(const struct backend_kernel *kernel)
{
	uint32_t variant = 0;

	while (variant < OPENCL_VARIANTS - 1 && !kernel->kernels[variant])
		variant++;
	return kernel->kernels[variant];
}

static uint64_t group_size(struct backend_kernel *kernel, cl_kernel_work_group_info what)
{
	const struct backend_device *device = kernel->program->device;
	size_t value = 0;
	return device->cl->GetKernelWorkGroupInfo(opencl_kernel_any(kernel), device->id, what,
						  sizeof(value), &value, NULL) == CL_SUCCESS
		       ? value
		       : 0;
}

static uint64_t group_bytes(struct backend_kernel *kernel, cl_kernel_work_group_info what)
{
	const struct backend_device *device = kernel->program->device;
	cl_ulong value = 0;
	return device->cl->GetKernelWorkGroupInfo(opencl_kernel_any(kernel), device->id, what,
						  sizeof(value), &value, NULL) == CL_SUCCESS
		       ? value
		       : 0;
}

static void opencl_kernel_fill_facts(struct backend_kernel *kernel)
{
	const struct backend_device *device = kernel->program->device;
	size_t required[3] = {0}, most[3] = {0};

	kernel->facts.arguments = kernel->arguments;
	kernel->facts.prints = kernel->program && opencl_program_may_print(kernel->program);
	kernel->facts.max_work_group_size = group_size(kernel, CL_KERNEL_WORK_GROUP_SIZE);
	kernel->facts.preferred_multiple =
		group_size(kernel, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
	kernel->facts.private_mem_bytes = group_bytes(kernel, CL_KERNEL_PRIVATE_MEM_SIZE);
	kernel->facts.local_mem_bytes = group_bytes(kernel, CL_KERNEL_LOCAL_MEM_SIZE);
	/* For other kernels this query is an error, which some drivers do not report. */
	bool is_custom = (device->facts->aspects & 1ull << OPENCL_ASPECT_CUSTOM) != 0;
	if ((kernel->program->binary->is_builtin || is_custom) &&
	    device->cl->GetKernelWorkGroupInfo(opencl_kernel_any(kernel), device->id,
					       CL_KERNEL_GLOBAL_WORK_SIZE, sizeof(most), most,
					       NULL) == CL_SUCCESS)
		for (int i = 0; i < 3; i++)
			kernel->facts.max_global_size[i] = most[2 - i];
	if (device->cl->GetKernelWorkGroupInfo(opencl_kernel_any(kernel), device->id,
					       CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(required),
					       required, NULL) != CL_SUCCESS)
		return;
	/* The attribute has three values for any number of dimensions; they are reversed as for
	 * three dimensions. */
	for (int i = 0; i < 3; i++)
		kernel->facts.required_work_group_size[i] = required[2 - i];
}

/* True if the kernel's last argument is the block of the checking mode. The name alone does not
 * show that, because any source can have it. */
static bool is_checked(const struct backend_kernel *kernel, cl_uint count)
{
	const struct backend_argument_facts *last = count ? &kernel->arguments[count - 1] : NULL;

	return last && !kernel->is_native && kernel->program->binary->has_checks &&
	       last->kind == BACKEND_ARGUMENT_GLOBAL && last->address == BACKEND_ADDRESS_GLOBAL &&
	       strcmp(last->name, PORTABLE_CHECK_PARAMETER) == 0;
}

/* Takes the facts of the arguments from the binary, or from the driver if the binary does not
 * describe the kernel. */
static int opencl_fill_arguments(struct backend_kernel *kernel, const char *name, cl_uint count)
{
	const struct backend_device *device = kernel->program->device;
	const struct opencl_binary_kernel *known =
		opencl_binary_kernel(kernel->program->binary, name);

	kernel->arguments = calloc(count ? count : 1, sizeof(*kernel->arguments));
	kernel->temporaries = calloc(count ? count : 1, sizeof(cl_mem));
	kernel->places = calloc(count ? count : 1, sizeof(*kernel->places));
	if (!kernel->arguments || !kernel->temporaries || !kernel->places)
		return -ENOMEM;
	for (cl_uint i = 0; i < count; i++) {
		if (known && known->argument_count == count)
			kernel->arguments[i] = known->arguments[i];
		else
			opencl_argument_facts(device->cl, opencl_kernel_any(kernel), i,
					      device->facts->address_bits, &kernel->arguments[i]);
	}
	kernel->has_check = is_checked(kernel, count);
	kernel->check_index = count - kernel->has_check;
	kernel->facts.argument_count =
		opencl_arguments_merge(kernel->arguments, kernel->check_index, kernel->places);
	return 0;
}

/* Gets the kernel of one variant, and creates it at the first call. */
static int get_variant(struct backend_kernel *kernel, uint32_t variant, cl_kernel *kernel_out,
		       struct backend_fault *fault_out)
{
	cl_program program = NULL;
	cl_int code = CL_SUCCESS;

	if (!kernel->kernels[variant]) {
		int error = opencl_program_get(kernel->program, variant, &program, fault_out);
		if (error < 0)
			return error;
		kernel->kernels[variant] = opencl_kernel_name_create(kernel->program->device->cl,
								     program, kernel->name, &code);
		if (!kernel->kernels[variant]) {
			error = opencl_fault_code(fault_out, code, "make the kernel");
			if (code == CL_INVALID_KERNEL_NAME)
				(void)snprintf(fault_out->text, sizeof(fault_out->text),
					       "the source has no kernel '%.100s'", kernel->name);
			return error;
		}
	}
	*kernel_out = kernel->kernels[variant];
	return 0;
}

static bool is_usm_argument(const struct backend_argument *argument)
{
	return argument->kind == BACKEND_ARGUMENT_GLOBAL && !argument->global.memory &&
	       argument->global.usm;
}

/* NVIDIA's driver (580) refuses a launch if an argument that was USM is now a buffer, or the
 * reverse. So such a launch gets a new kernel object. Launches that were sent keep the old object.
 * */
static int renew_if_changed(struct backend_kernel *kernel, uint32_t variant,
			    const struct backend_argument *arguments, uint32_t count,
			    struct backend_fault *fault_out)
{
	cl_kernel old = kernel->kernels[variant], made = NULL;
	bool changed = false;

	for (uint32_t i = 0; i < count; i++) {
		const struct opencl_place *place = &kernel->places[i];
		if (arguments[i].kind == BACKEND_ARGUMENT_GLOBAL)
			changed |= is_usm_argument(&arguments[i]) ? place->was_memory[variant]
								  : place->was_usm[variant];
	}
	if (changed) {
		kernel->kernels[variant] = NULL;
		int error = get_variant(kernel, variant, &made, fault_out);
		if (error < 0) {
			kernel->kernels[variant] = old;
			return error;
		}
		(void)kernel->program->device->cl->ReleaseKernel(old);
		kernel->usm_changes[variant] = 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		kernel->places[i].was_usm[variant] = is_usm_argument(&arguments[i]);
		kernel->places[i].was_memory[variant] =
			arguments[i].kind == BACKEND_ARGUMENT_GLOBAL &&
			!is_usm_argument(&arguments[i]);
	}
	return 0;
}

static int opencl_fill_kernel(struct backend_kernel *kernel, const char *name,
			      struct backend_fault *fault_out)
{
	cl_kernel first = NULL;
	cl_uint count = 0;

	kernel->name = strdup(name);
	kernel->facts.has_presets = kernel->is_native;
	if (!kernel->name)
		return opencl_no_memory(fault_out, "a kernel");
	int error = get_variant(kernel, opencl_binary_first(kernel->program->binary), &first,
				fault_out);
	if (error < 0)
		return error;
	cl_int code = kernel->program->device->cl->GetKernelInfo(first, CL_KERNEL_NUM_ARGS,
								 sizeof(count), &count, NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "count the kernel's arguments");
	if (opencl_fill_arguments(kernel, name, count) < 0)
		return opencl_no_memory(fault_out, "a kernel");
	opencl_kernel_fill_facts(kernel);
	return 0;
}

int opencl_kernel_create(struct backend_program *program, const char *name,
			 struct backend_kernel **kernel_out, struct backend_fault *fault_out)
{
	struct backend_kernel *kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return opencl_no_memory(fault_out, "a kernel");
	kernel->references = 1;
	kernel->program = program;
	kernel->period_ns = UINT64_MAX;
	program->references++;
	int error = opencl_fill_kernel(kernel, name, fault_out);
	if (error < 0) {
		opencl_kernel_drop(kernel);
		return error;
	}
	*kernel_out = kernel;
	return 0;
}

int opencl_kernel_make_native(struct backend_device *device, cl_kernel native,
			      struct backend_kernel **kernel_out, struct backend_fault *fault_out)
{
	const struct opencl_library *cl = device->cl;
	cl_program program = NULL;
	cl_context context = NULL;
	char name[1024] = "";
	struct backend_program *of = NULL;

	cl_int code =
		cl->GetKernelInfo(native, CL_KERNEL_CONTEXT, sizeof(cl_context), &context, NULL);
	if (code == CL_SUCCESS)
		code = cl->GetKernelInfo(native, CL_KERNEL_PROGRAM, sizeof(cl_program), &program,
					 NULL);
	if (code == CL_SUCCESS)
		code = cl->GetKernelInfo(native, CL_KERNEL_FUNCTION_NAME, sizeof(name) - 1, name,
					 NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "query a kernel");
	if (context != device->context) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "the kernel belongs to another OpenCL context");
		return -EINVAL;
	}
	int error = opencl_native_program_wrap(device, program, &of, fault_out);
	if (error < 0)
		return error;
	struct backend_kernel *kernel = calloc(1, sizeof(*kernel));
	if (!kernel) {
		opencl_program_drop(of);
		return opencl_no_memory(fault_out, "a kernel");
	}
	kernel->references = 1;
	kernel->program = of; /* the program's reference becomes the kernel's */
	kernel->period_ns = UINT64_MAX;
	kernel->is_native = true;
	(void)cl->RetainKernel(native);
	kernel->kernels[0] = native;
	error = opencl_fill_kernel(kernel, name, fault_out);
	if (error < 0)
		opencl_kernel_drop(kernel);
	else
		*kernel_out = kernel;
	return error;
}

void opencl_kernel_facts(struct backend_kernel *kernel, struct backend_kernel_facts *facts_out)
{
	*facts_out = kernel->facts;
}

void opencl_kernel_drop(struct backend_kernel *kernel)
{
	if (!kernel || --kernel->references > 0)
		return;
	for (uint32_t i = 0; i < OPENCL_VARIANTS; i++)
		if (kernel->kernels[i])
			(void)kernel->program->device->cl->ReleaseKernel(kernel->kernels[i]);
	opencl_program_drop(kernel->program);
	free(kernel->name);
	free(kernel->arguments);
	free(kernel->temporaries);
	free(kernel->places);
	free(kernel);
}

void opencl_kernel_drop_temporaries(struct backend_kernel *kernel)
{
	if (kernel->clone)
		(void)kernel->program->device->cl->ReleaseKernel(kernel->clone);
	kernel->clone = NULL;
	for (uint32_t i = 0; i < kernel->facts.argument_count; i++) {
		if (kernel->temporaries[i])
			(void)kernel->program->device->cl->ReleaseMemObject(kernel->temporaries[i]);
		kernel->temporaries[i] = NULL;
	}
}

/*
 * OpenCL has no pointer into the middle of a buffer. For an aligned address, a sub-buffer is made.
 * For any other address in host memory that is used in place, another buffer is made over the same
 * bytes.
 */
static int opencl_kernel_make_part(struct backend_kernel *kernel, uint32_t index,
				   const struct backend_argument *argument,
				   struct backend_fault *fault_out)
{
	const struct backend_device *device = kernel->program->device;
	const struct backend_memory *memory = argument->global.memory;
	uint64_t offset = argument->global.offset_bytes,
		 align = device->facts->mem_base_addr_align_bits / 8;
	const cl_buffer_region region = {offset, memory->size_bytes - offset};
	cl_int code = CL_SUCCESS;

	if (align == 0 || offset % align == 0) {
		kernel->temporaries[index] =
			device->cl->CreateSubBuffer(memory->buffer, CL_MEM_READ_WRITE,
						    CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
	} else if (memory->host) {
		kernel->temporaries[index] = device->cl->CreateBuffer(
			device->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, region.size,
			memory->host + offset, &code);
	} else {
		opencl_fault_words(
			fault_out, STATUS_INVALID,
			"argument %u begins at byte %llu of its buffer; this device needs a multiple of %llu",
			index, (unsigned long long)offset, (unsigned long long)align);
		return -EINVAL;
	}
	return code == CL_SUCCESS ? 0
				  : opencl_fault_code(fault_out, code, "make a part of a buffer");
}

static int kernel_set_global_argument(struct backend_kernel *kernel, cl_kernel to, uint32_t index,
				      const struct backend_argument *argument,
				      struct backend_fault *fault_out, cl_int *code_out)
{
	const struct backend_memory *memory = argument->global.memory;
	cl_mem object = memory ? memory->buffer : NULL;
	cl_uint at = kernel->places[index].index;

	if (!memory && argument->global.usm) {
		const struct opencl_library *cl = kernel->program->device->cl;
		*code_out = cl->SetKernelArgSVMPointer
				    ? cl->SetKernelArgSVMPointer(to, at, argument->global.usm)
				    : CL_INVALID_OPERATION;
		return 0;
	}
	if (memory && argument->global.offset_bytes > 0 &&
	    argument->global.offset_bytes < memory->size_bytes) {
		int error = opencl_kernel_make_part(kernel, index, argument, fault_out);
		if (error < 0)
			return error;
		object = kernel->temporaries[index];
	} else if (memory && argument->global.offset_bytes >= memory->size_bytes) {
		object = NULL; /* past the end: the kernel can read no byte there */
	}
	if (!object && kernel->has_check) {
		/* A wrong access that was found goes to the first element. */
		object = kernel->program->device->cl->CreateBuffer(kernel->program->device->context,
								   CL_MEM_READ_WRITE, SPARE_BYTES,
								   NULL, code_out);
		if (!object)
			return 0;
		kernel->temporaries[index] = object;
	}
	*code_out = kernel->program->device->cl->SetKernelArg(to, at, sizeof(cl_mem),
							      object ? (void *)&object : NULL);
	return 0;
}

/* Some drivers do not check kinds: PoCL takes a value where a buffer belongs, and uses its bytes as
 * an address. So the kinds are checked before the driver gets an argument. */
static int opencl_check_argument(const struct backend_kernel *kernel, uint32_t index,
				 const struct backend_argument *argument,
				 struct backend_fault *fault_out)
{
	const struct backend_argument_facts *facts = &kernel->arguments[index];

	if (facts->kind != BACKEND_ARGUMENT_UNKNOWN && facts->kind != argument->kind) {
		opencl_fault_words(fault_out, STATUS_KERNEL_ARGUMENT,
				   "argument %u (%s %s) is of another kind", index,
				   facts->type_name, facts->name);
		return -EINVAL;
	}
	if (argument->kind == BACKEND_ARGUMENT_GLOBAL && argument->global.memory &&
	    argument->global.memory->image.dimensions > 0) {
		opencl_fault_words(fault_out, STATUS_KERNEL_ARGUMENT,
				   "argument %u (%s %s) is a buffer; an image was given", index,
				   facts->type_name, facts->name);
		return -EINVAL;
	}
	if (argument->kind == BACKEND_ARGUMENT_VALUE && facts->size_bytes != 0 &&
	    argument->value.size_bytes != facts->size_bytes) {
		opencl_fault_words(fault_out, STATUS_KERNEL_ARGUMENT,
				   "argument %u (%s %s) has %u bytes, not %zu", index,
				   facts->type_name, facts->name, facts->size_bytes,
				   argument->value.size_bytes);
		return -EINVAL;
	}
	return 0;
}

static int opencl_set_argument(struct backend_kernel *kernel, cl_kernel to, uint32_t index,
			       const struct backend_argument *argument, uint64_t *local_bytes,
			       struct backend_fault *fault_out)
{
	const struct opencl_library *cl = kernel->program->device->cl;
	cl_uint at = kernel->places[index].index;
	cl_int code = CL_SUCCESS;

	if (kernel->is_native && argument->kind == BACKEND_ARGUMENT_UNKNOWN)
		return 0; /* the application has set the argument */
	int error = opencl_check_argument(kernel, index, argument, fault_out);
	if (error < 0)
		return error;
	switch (argument->kind) {
	case BACKEND_ARGUMENT_VALUE:
		code = cl->SetKernelArg(to, at, argument->value.size_bytes, argument->value.bytes);
		break;
	case BACKEND_ARGUMENT_LOCAL:
		if (argument->local_bytes >
		    kernel->program->device->facts->local_mem_bytes - *local_bytes) {
			opencl_fault_words(fault_out, STATUS_MEMORY_ALLOCATION,
					   "local memory: the device has %llu bytes",
					   (unsigned long long)
						   kernel->program->device->facts->local_mem_bytes);
			return -ENOMEM;
		}
		*local_bytes += argument->local_bytes;
		/* OpenCL has no empty local memory. */
		code = cl->SetKernelArg(to, at, argument->local_bytes ? argument->local_bytes : 1,
					NULL);
		break;
	case BACKEND_ARGUMENT_GLOBAL:
		error = kernel_set_global_argument(kernel, to, index, argument, fault_out, &code);
		break;
	case BACKEND_ARGUMENT_IMAGE:
	case BACKEND_ARGUMENT_SAMPLER:
		error = opencl_image_argument_set(kernel, to, index, argument, fault_out);
		break;
	default:
		opencl_fault_words(fault_out, STATUS_KERNEL_ARGUMENT,
				   "argument %u is of an unknown kind", index);
		return -EINVAL;
	}
	if (error == 0 && code != CL_SUCCESS)
		error = opencl_fault_code(fault_out, code, "set an argument");
	return error;
}

/* The arguments of a launch are set in a copy of the application's kernel. So they are not set for
 * the next launch or for the application, unless the driver cannot copy kernels. */
static int kernel_copy_native(struct backend_kernel *kernel, cl_kernel *to,
			      struct backend_fault *fault_out)
{
	const struct opencl_library *cl = kernel->program->device->cl;
	cl_int code = CL_SUCCESS;

	if (!cl->CloneKernel)
		return 0;
	cl_kernel made = cl->CloneKernel(*to, &code);
	if (!made && (code == CL_INVALID_OPERATION || code == CL_INVALID_KERNEL))
		return 0;
	if (!made)
		return opencl_fault_code(fault_out, code, "copy the kernel");
	kernel->clone = *to = made;
	return 0;
}

int opencl_kernel_prepare(struct backend_kernel *kernel, uint32_t dimensions,
			  const struct backend_argument *arguments, uint32_t count,
			  cl_kernel *kernel_out, struct backend_fault *fault_out)
{
	uint64_t device_bytes = kernel->program->device->facts->local_mem_bytes,
		 local_bytes = kernel->facts.local_mem_bytes;
	cl_kernel to = NULL;

	if (count != kernel->facts.argument_count) {
		opencl_fault_words(fault_out, STATUS_KERNEL_ARGUMENT,
				   "the kernel has %u arguments, %u are set",
				   kernel->facts.argument_count, count);
		return -EINVAL;
	}
	uint32_t variant = opencl_program_variant(kernel->program, dimensions);
	int error = kernel->is_native
			    ? 0
			    : renew_if_changed(kernel, variant, arguments, count, fault_out);
	if (error == 0)
		error = get_variant(kernel, variant, &to, fault_out);
	if (error == 0 && kernel->is_native)
		error = kernel_copy_native(kernel, &to, fault_out);
	if (local_bytes > device_bytes)
		local_bytes = device_bytes;
	for (uint32_t i = 0; error == 0 && i < count; i++)
		error = opencl_set_argument(kernel, to, i, &arguments[i], &local_bytes, fault_out);
	if (error == 0 && kernel->has_check) /* a launch that reports sets another one */
		(void)kernel->program->device->cl->SetKernelArg(to, kernel->check_index,
								sizeof(cl_mem), NULL);
	if (error == 0)
		error = opencl_usm_announce(kernel, variant, fault_out);
	if (error == 0)
		*kernel_out = to;
	return error;
}

#include "cuda/program/arguments.h"

#include "cuda/program/launch.h"
#include "status.h"

#include <errno.h>
#include <string.h>

static int refuse_cuda_argument(struct backend_fault *fault_out, uint32_t index, const char *why)
{
	return cuda_fault_words(fault_out, -EINVAL, STATUS_KERNEL_ARGUMENT, "argument %u %s", index,
				why);
}

static int put_value(const struct cuda_parameter *parameter, uint32_t index,
		     const struct backend_argument *argument, void *to,
		     struct backend_fault *fault_out)
{
	if (parameter->kind != BACKEND_ARGUMENT_VALUE &&
	    parameter->kind != BACKEND_ARGUMENT_UNKNOWN)
		return refuse_cuda_argument(fault_out, index,
					    "is a pointer to memory; a value was given");
	if (argument->value.size_bytes != parameter->size_bytes)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_KERNEL_ARGUMENT,
					"argument %u has %u bytes, not %zu", index,
					parameter->size_bytes, argument->value.size_bytes);
	memcpy(to, argument->value.bytes, parameter->size_bytes);
	return 0;
}

static int put_global(const struct cuda_parameter *parameter, uint32_t index,
		      const struct backend_argument *argument, void *to,
		      struct backend_fault *fault_out)
{
	const struct backend_memory *memory = argument->global.memory;
	uint64_t address = 0;

	if ((parameter->kind != BACKEND_ARGUMENT_GLOBAL &&
	     parameter->kind != BACKEND_ARGUMENT_UNKNOWN) ||
	    parameter->size_bytes != sizeof(address))
		return refuse_cuda_argument(fault_out, index,
					    "is no pointer to global memory; a buffer was given");
	if (memory && memory->array)
		return refuse_cuda_argument(fault_out, index,
					    "is a pointer to global memory; an image was given");
	if (memory && argument->global.offset_bytes > memory->size_bytes)
		return refuse_cuda_argument(fault_out, index,
					    "begins behind the end of its buffer");
	if (memory)
		address = memory->address + argument->global.offset_bytes;
	else
		address = (uintptr_t)argument->global.usm;
	memcpy(to, &address, sizeof(address));
	return 0;
}

static int put_local(const struct cuda_layout *layout, uint32_t index,
		     const struct backend_argument *argument, void *to, uint64_t *local_bytes,
		     struct backend_fault *fault_out)
{
	const struct cuda_parameter *parameter = &layout->parameters[index];
	uint64_t place = *local_bytes, word = place;

	if (parameter->local == CUDA_LOCAL_NONE || parameter->size_bytes > sizeof(word))
		return refuse_cuda_argument(
			fault_out, index, "is no pointer to local memory; local memory was given");
	if (parameter->local != CUDA_LOCAL_PLACE && !layout->base_known)
		return refuse_cuda_argument(
			fault_out, index,
			"cannot be local memory: where that begins on this device is not known");
	if (place > layout->local_bytes_max ||
	    argument->local_bytes > layout->local_bytes_max - place)
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_MEMORY_ALLOCATION,
			"the kernel has room for %llu bytes of local memory beside its own: argument %u does not fit",
			(unsigned long long)layout->local_bytes_max, index);
	if (parameter->local == CUDA_LOCAL_GENERIC)
		word += layout->generic_base;
	else if (parameter->local == CUDA_LOCAL_SHARED)
		word += layout->shared_base;
	memcpy(to, &word, parameter->size_bytes);
	place += argument->local_bytes;
	place += (CUDA_LOCAL_ALIGNMENT - place % CUDA_LOCAL_ALIGNMENT) % CUDA_LOCAL_ALIGNMENT;
	*local_bytes = place < layout->local_bytes_max ? place : layout->local_bytes_max;
	return 0;
}

static int put_argument(const struct cuda_layout *layout, uint32_t index,
			const struct backend_argument *argument, void *to, uint64_t *local_bytes,
			struct backend_fault *fault_out)
{
	switch (argument->kind) {
	case BACKEND_ARGUMENT_VALUE:
		return put_value(&layout->parameters[index], index, argument, to, fault_out);
	case BACKEND_ARGUMENT_GLOBAL:
		return put_global(&layout->parameters[index], index, argument, to, fault_out);
	case BACKEND_ARGUMENT_LOCAL:
		return put_local(layout, index, argument, to, local_bytes, fault_out);
	case BACKEND_ARGUMENT_IMAGE:
		if (layout->has_record && layout->parameters[index].kind != BACKEND_ARGUMENT_IMAGE)
			return refuse_cuda_argument(fault_out, index, "is no image; one was given");
		return cuda_image_argument_put(&layout->parameters[index], index, argument, to,
					       fault_out);
	case BACKEND_ARGUMENT_SAMPLER:
		return refuse_cuda_argument(
			fault_out, index,
			"is a separate sampler, which CUDA does not support: set it together with the image");
	default:
		return refuse_cuda_argument(fault_out, index, "is not set");
	}
}

uint32_t cuda_parameters_bytes(const struct cuda_parameter *parameters, uint32_t count)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t end = parameters[i].offset_bytes + parameters[i].size_bytes;
		bytes = end > bytes ? end : bytes;
	}
	return bytes;
}

int cuda_arguments_pack(const struct cuda_layout *layout, const struct backend_argument *arguments,
			uint32_t count, void *storage, size_t storage_bytes, void **parameters,
			uint32_t parameters_max, uint64_t *local_bytes_out,
			struct backend_fault *fault_out)
{
	uint64_t local_bytes = 0;

	if (count != layout->count)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_KERNEL_ARGUMENT,
					"the kernel has %u arguments, %u are set", layout->count,
					count);
	if (storage_bytes < layout->bytes || parameters_max < cuda_layout_count(layout))
		return cuda_fault_words(fault_out, -ENOSPC, STATUS_RUNTIME,
					"no room for the kernel's arguments");
	for (uint32_t i = 0; i < count; i++) {
		unsigned char *to = (unsigned char *)storage + layout->parameters[i].offset_bytes;
		int error = put_argument(layout, i, &arguments[i], to, &local_bytes, fault_out);
		if (error < 0)
			return error;
		parameters[i] = to;
	}
	if (layout->has_check) {
		parameters[count] = (unsigned char *)storage + layout->check_at;
		memset(parameters[count], 0, sizeof(uint64_t));
	}
	if (layout->has_record)
		parameters[count + layout->has_check] =
			(unsigned char *)storage + layout->record_at;
	*local_bytes_out = local_bytes;
	return 0;
}

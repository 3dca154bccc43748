#include "opencl/lane/check.h"

#include "access_mode.h"
#include "cleanup.h"
#include "opencl/driver/aside.h"
#include "opencl/driver/fault.h"
#include "opencl/memory/usm.h"
#include "portable_check.h"

#include <stdlib.h>
#include <string.h>

/* The most bytes that blocks with a table may use on one device: they are in nobody's limits. A
 * launch beyond it has a block without a table, and no race is looked for. */
enum { BLOCKS_BYTES_MAX = 32 << 20 };

struct opencl_check {
	cl_mem block;
	uint64_t block_bytes;
	uint32_t dimensions;
	cl_event fills[PORTABLE_CHECK_ARGUMENTS]; /* which the launch waits for */
	uint32_t fill_count;
};

struct opencl_check *opencl_check_free(struct backend_device *device, struct opencl_check *check)
{
	if (!check)
		return NULL;
	for (uint32_t i = 0; i < check->fill_count; i++)
		(void)device->cl->ReleaseEvent(check->fills[i]);
	if (check->block)
		(void)device->cl->ReleaseMemObject(check->block);
	device->check_bytes -= check->block_bytes;
	free(check);
	return NULL;
}

cl_event opencl_check_take_fill(struct opencl_check *check)
{
	return check && check->fill_count > 0 ? check->fills[--check->fill_count] : NULL;
}

/* Fills the whole words of the range. They have no contents: the accessor says so. */
static int fill_range(struct backend_lane *lane, const struct backend_argument *argument,
		      uint64_t bytes, struct opencl_check *check, struct opencl_waits *list,
		      struct backend_fault *fault_out)
{
	const cl_uint pattern = PORTABLE_CHECK_PATTERN;
	const uint64_t offset = argument->global.offset_bytes;
	cl_event *event = &check->fills[check->fill_count];

	cl_int code = lane->device->cl->EnqueueFillBuffer(
		lane->queue, argument->global.memory->buffer, &pattern, sizeof(pattern), offset,
		bytes - bytes % sizeof(pattern), list->count, list->events, event);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "fill a buffer");
	check->fill_count++;
	return opencl_waits_add(list, *event) < 0 ? opencl_no_memory(fault_out, "a command") : 0;
}

/* Writes what one argument permits; what is not known permits everything. */
static int opencl_check_allow_argument(struct backend_lane *lane,
				       const struct backend_argument *argument, uint64_t *words,
				       struct opencl_check *check, struct opencl_waits *list,
				       struct backend_fault *fault_out)
{
	const uint64_t reach = argument->global.reach;
	const struct backend_memory *memory = argument->global.memory;
	uint64_t bytes = memory ? reach >> 3 : 0;

	words[0] = UINT64_MAX;
	words[1] = PORTABLE_CHECK_MAY_WRITE;
	if (argument->global.usm && !memory)
		words[0] = opencl_usm_rest(lane->device, argument->global.usm);
	if (argument->global.usm && !memory && words[0] == 0)
		words[0] = UINT64_MAX;
	if (reach == 0)
		return 0;
	words[0] = bytes;
	words[1] = access_mode_writes((uint32_t)reach) ? PORTABLE_CHECK_MAY_WRITE : 0;
	if (access_mode_needs_contents((uint32_t)reach) || bytes < sizeof(cl_uint) ||
	    argument->global.offset_bytes % sizeof(cl_uint) != 0)
		return 0;
	words[1] |= PORTABLE_CHECK_FILLED;
	return fill_range(lane, argument, bytes, check, list, fault_out);
}

static int opencl_check_allow_all(struct backend_lane *lane, const struct backend_command *command,
				  uint64_t *words, struct opencl_check *check,
				  struct opencl_waits *list, struct backend_fault *fault_out)
{
	const struct backend_argument *arguments = command->launch.arguments;
	uint32_t count = command->launch.argument_count;
	int error = 0;

	if (count > PORTABLE_CHECK_ARGUMENTS)
		count = PORTABLE_CHECK_ARGUMENTS;
	for (uint32_t i = 0; error == 0 && i < count; i++) {
		uint64_t *two = &words[PORTABLE_CHECK_FIRST + 2 * i];
		if (arguments[i].kind == BACKEND_ARGUMENT_LOCAL)
			*two = arguments[i].local_bytes;
		else if (arguments[i].kind == BACKEND_ARGUMENT_GLOBAL)
			error = opencl_check_allow_argument(lane, &arguments[i], two, check, list,
							    fault_out);
	}
	return error;
}

/* The block and, behind it, the slots. */
static int make_block(struct backend_lane *lane, const struct backend_command *command,
		      uint64_t *words, struct opencl_check *check, struct backend_fault *fault_out)
{
	cl_int code = CL_SUCCESS;

	const size_t block = PORTABLE_CHECK_WORDS * sizeof(*words);
	size_t bytes = block + portable_check_slot_count(command->launch.global,
							 command->launch.dimensions) *
				       PORTABLE_CHECK_SLOT_BYTES;
	if (bytes > BLOCKS_BYTES_MAX - lane->device->check_bytes)
		bytes = block;
	words[PORTABLE_CHECK_SLOTS] = (bytes - block) / PORTABLE_CHECK_SLOT_BYTES;
	CLEANUP(free_pointer) unsigned char *contents = calloc(1, bytes);
	if (!contents)
		return opencl_no_memory(fault_out, "a command");
	memcpy(contents, words, block);
	check->block = lane->device->cl->CreateBuffer(lane->device->context,
						      CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
						      bytes, contents, &code);
	if (code == CL_SUCCESS && bytes > block) {
		check->block_bytes = bytes;
		lane->device->check_bytes += bytes;
	}
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "check a launch");
}

int opencl_check_begin(struct backend_lane *lane, cl_kernel prepared,
		       const struct backend_command *command, struct opencl_waits *list,
		       struct opencl_check **check_out, struct backend_fault *fault_out)
{
	uint64_t words[PORTABLE_CHECK_WORDS] = {0};

	struct opencl_check *check = calloc(1, sizeof(*check));
	if (!check)
		return opencl_no_memory(fault_out, "a command");
	*check_out = check;
	check->dimensions = command->launch.dimensions;
	int error = opencl_check_allow_all(lane, command, words, check, list, fault_out);
	if (error == 0)
		error = make_block(lane, command, words, check, fault_out);
	if (error < 0)
		return error;
	const cl_int code =
		lane->device->cl->SetKernelArg(prepared, command->launch.kernel->check_index,
					       sizeof(cl_mem), (void *)&check->block);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "check a launch");
}

static const char *argument_name(const void *context, uint64_t argument)
{
	const struct backend_kernel *kernel = context;

	return argument < kernel->facts.argument_count && kernel->arguments[argument].name[0]
		       ? kernel->arguments[argument].name
		       : NULL;
}

void opencl_check_end(struct backend_device *device, const struct opencl_pending *pending,
		      struct backend_fault *fault_out)
{
	uint64_t words[PORTABLE_CHECK_FIRST];

	cl_int code = opencl_aside_read(device, pending->check->block, pending->event, words,
					sizeof(words));
	if (code != CL_SUCCESS)
		(void)opencl_fault_code(fault_out, code, "read what a check has found");
	else
		portable_check_fault(words, pending->kernel->name, pending->check->dimensions,
				     argument_name, pending->kernel, fault_out);
}

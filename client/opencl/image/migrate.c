/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations. */
#include "image/image.h"

static cl_int check_memory(cl_command_queue queue, cl_mem memory)
{
	return FIND_MEMORY(memory) && memory_is_image(memory) ? image_check(queue, memory)
							      : buffer_check(queue, memory);
}

/* The service moves contents when a command needs them, so a migration is only a place in the order
 * of the queue, and of each buffer. */
CL_API_ENTRY cl_int CL_API_CALL clEnqueueMigrateMemObjects(
	cl_command_queue queue_handle, cl_uint memory_count, const cl_mem *memories,
	cl_mem_migration_flags flags, cl_uint count, const cl_event *events, cl_event *event_out)
{
	const cl_mem_migration_flags all =
		CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	if (memory_count == 0 || !memories || flags & ~all)
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < memory_count; i++) {
		cl_int code = check_memory(queue, memories[i]);
		if (code != CL_SUCCESS)
			return code;
	}
	cl_int code = command_begin(&command, queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, count, events,
				    event_out);
	if (code != CL_SUCCESS)
		return code;
	sycl_result r = SYCL_SUCCESS;
	for (cl_uint i = 0; i < memory_count && r == SYCL_SUCCESS; i++)
		if (memories[i]->sycl)
			r = sycl_handler_require(command.handler, memories[i]->sycl,
						 SYCL_ACCESS_READ);
	return command_submit(&command, r, false, NULL);
}

#include "memory/host_memory.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

sycl_result host_mutex_lock(void *mutex, uint64_t deadline_ns)
{
	if (!mutex)
		return SYCL_SUCCESS;
	struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
				 .tv_nsec = (long)(deadline_ns % 1000000000u)};
	int error = deadline_ns == UINT64_MAX
			    ? pthread_mutex_lock(mutex)
			    : pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until);
	if (error == EOWNERDEAD) /* the thread that died left bytes, which cannot be inconsistent */
		error = pthread_mutex_consistent(mutex);
	if (error == ETIMEDOUT)
		return error_set(SYCL_ERROR_TIMEOUT,
				 "the mutex of the host memory was not free in time");
	if (error)
		return error_set(SYCL_ERROR_INVALID,
				 "the mutex of the host memory cannot be locked: %s",
				 strerror(error));
	return SYCL_SUCCESS;
}

void host_mutex_unlock(void *mutex)
{
	if (mutex)
		(void)pthread_mutex_unlock(mutex);
}

static void block_destroy(struct object *object)
{
	struct host_block *block = (struct host_block *)object;
	if (block->free_memory)
		block->free_memory(block->memory, block->context);
	else
		free(block->memory);
	free(block);
}

SYCL_API sycl_result sycl_host_block_create(void *memory, uint64_t size_bytes,
					    sycl_free_function *free_memory, void *context,
					    sycl_host_block *block_out)
{
	REQUIRE_OUTPUT(block_out);
	if (size_bytes == 0 || size_bytes > SIZE_MAX / 2)
		return error_set(SYCL_ERROR_INVALID,
				 "a block of host memory has at least one byte");
	if (!memory && (free_memory || context))
		return error_set(SYCL_ERROR_INVALID,
				 "free_memory or context is given without memory");
	struct host_block *block = calloc(1, sizeof(*block));
	void *own = memory ? NULL : calloc(1, (size_t)size_bytes);
	if (!block || (!memory && !own) ||
	    handle_create(&block->object, HANDLE_HOST_BLOCK, block_destroy) < 0) {
		free(own);
		free(block);
		return error_no_memory();
	}
	block->memory = memory ? memory : own;
	block->size_bytes = size_bytes;
	block->free_memory = free_memory;
	block->context = context;
	*block_out = handle_of(&block->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_host_block_retain(sycl_host_block block)
{
	return handle_retain(block, HANDLE_HOST_BLOCK);
}

SYCL_API sycl_result sycl_host_block_release(sycl_host_block block)
{
	return handle_release(block, HANDLE_HOST_BLOCK);
}

SYCL_API sycl_result sycl_host_block_get_pointer(sycl_host_block handle, void **pointer_out)
{
	PIN(host_block, block, handle);
	REQUIRE_OUTPUT(pointer_out);
	*pointer_out = block->memory;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_host_block_get_reference_count(sycl_host_block block, uint32_t *count_out)
{
	return handle_get_reference_count(block, HANDLE_HOST_BLOCK, count_out);
}

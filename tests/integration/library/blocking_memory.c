/* Buffers, USM and sharing behind a closed gate. */
#include "library/blocking.h"

#include "syclclient/usm.h"

#include <stdlib.h>
#include <string.h>

static void call_blocks(void)
{
	sycl_host_block block = NULL;
	void *pointer = NULL;
	uint32_t number = 0;
	CALL_MUST(sycl_host_block_create, NULL, 64, NULL, NULL, &block);
	CALL_MUST(sycl_host_block_retain, block);
	CALL_MUST(sycl_host_block_release, block);
	CALL_MUST(sycl_host_block_get_pointer, block, &pointer);
	CALL_MUST(sycl_host_block_get_reference_count, block, &number);
	MUST(sycl_host_block_release(block));
}

static void call_host_accessors(const struct gated *gated)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	uint32_t number = 0;
	REFUSED(CALL(sycl_host_accessor_create_for, gated->held, SYCL_ACCESS_READ, 0, &accessor),
		SYCL_ERROR_TIMEOUT);
	REFUSED(CALL(sycl_host_accessor_create_ranged, gated->held, SYCL_ACCESS_READ, 0, 4, 0,
		     &accessor),
		SYCL_ERROR_TIMEOUT);
	CALL_MUST(sycl_host_accessor_create_async, gated->held, SYCL_ACCESS_READ, 0, 4, &accessor);
	CALL_MUST(sycl_host_accessor_is_ready, accessor, &number);
	cr_assert(eq(u32, number, 0));
	REFUSED(CALL(sycl_host_accessor_wait_for, accessor, 0), SYCL_ERROR_TIMEOUT);
	(void)CALL(sycl_host_accessor_get_pointer, accessor, &pointer);
	CALL_MUST(sycl_host_accessor_retain, accessor);
	CALL_MUST(sycl_host_accessor_release, accessor);
	CALL_MUST(sycl_host_accessor_get_reference_count, accessor, &number);
	MUST(sycl_host_accessor_release(accessor));
}

void call_buffers(const struct gated *gated)
{
	static uint32_t host[WORDS];
	struct sycl_buffer_options options = SYCL_BUFFER_OPTIONS_INIT;
	sycl_buffer buffer = NULL, part = NULL;
	sycl_range range;
	uint64_t wide = 0;
	uint32_t number = 0;
	options.size_bytes = WORDS_BYTES;
	CALL_MUST(sycl_buffer_create_with, gated->platform, &options, &buffer);
	CALL_MUST(sycl_buffer_create_temporary, gated->platform, WORDS_BYTES, &part);
	MUST(sycl_buffer_release(part));
	CALL_MUST(sycl_buffer_create_sub, buffer, 0, 1024, &part);
	MUST(sycl_buffer_release(part));
	CALL_MUST(sycl_buffer_reinterpret, buffer, 4, sycl_range1(WORDS), &part);
	CALL_MUST(sycl_buffer_get_shape, part, &wide, &range);
	MUST(sycl_buffer_release(part));
	CALL_MUST(sycl_buffer_retain, buffer);
	CALL_MUST(sycl_buffer_release, buffer);
	CALL_MUST(sycl_buffer_get_reference_count, buffer, &number);
	CALL_MUST(sycl_buffer_get_size, buffer, &wide);
	/* A buffer without memory of the program is released at once, though groups use it
	 * (D10). */
	run_increment(gated->other, gated->increment, buffer, NULL);
	CALL_MUST(sycl_buffer_release, buffer);
	/* A buffer with such memory is, too, if nothing is to be written back (D14), or if it is
	 * detached (D13). */
	CALL_MUST(sycl_buffer_create, gated->platform, host, sizeof(host), SYCL_HOST_BORROWED,
		  &buffer);
	run_increment(gated->other, gated->increment, buffer, NULL);
	if (portable_engine_holds())
		REFUSED(CALL(sycl_buffer_release_for, buffer, 0), SYCL_ERROR_TIMEOUT);
	CALL_MUST(sycl_buffer_set_final_data, buffer, NULL);
	CALL_MUST(sycl_buffer_set_write_back, buffer, 0);
	if (portable_engine_holds())
		CALL_MUST(sycl_buffer_release, buffer);
	else
		CALL_MUST(sycl_buffer_release_for, buffer, 0);
	MUST(sycl_buffer_create(gated->platform, host, sizeof(host), SYCL_HOST_BORROWED, &buffer));
	run_increment(gated->other, gated->increment, buffer, NULL);
	CALL_MUST(sycl_buffer_detach, buffer);
	call_blocks();
	call_host_accessors(gated);
}

static void call_usm_actions(const struct gated *gated, void *pointer)
{
	sycl_event event = NULL;
	sycl_handler handler = NULL;
	const uint32_t pattern = 5;
	if (CALL(sycl_queue_memset, gated->queue, pointer, 1, 64, 1, &gated->event, &event) ==
	    SYCL_SUCCESS)
		MUST(sycl_event_release(event));
	(void)CALL(sycl_queue_memcpy, gated->queue, pointer, (char *)pointer + 64, 64, 0, NULL,
		   NULL);
	(void)CALL(sycl_queue_usm_fill, gated->queue, pointer, 64, &pattern, sizeof(pattern), 0,
		   NULL, NULL);
	(void)CALL(sycl_queue_set_l2_window, gated->queue, NULL);
	(void)CALL(sycl_queue_prefetch, gated->queue, pointer, 64, 0, NULL, NULL);
	(void)CALL(sycl_queue_mem_advise, gated->queue, pointer, 64,
		   SYCL_MEM_ADVICE_SET_READ_MOSTLY, 0, NULL, NULL);
	MUST(sycl_handler_begin(gated->queue, &handler));
	(void)CALL(sycl_handler_set_usm, handler, 0, pointer);
	(void)CALL(sycl_handler_memcpy, handler, pointer, (char *)pointer + 64, 64);
	(void)CALL(sycl_handler_memset, handler, pointer, 0, 64);
	(void)CALL(sycl_handler_usm_fill, handler, pointer, 64, &pattern, sizeof(pattern));
	(void)CALL(sycl_handler_prefetch, handler, pointer, 64);
	(void)CALL(sycl_handler_mem_advise, handler, pointer, 64, SYCL_MEM_ADVICE_SET_READ_MOSTLY);
	MUST(sycl_handler_discard(handler));
}

void call_usm(const struct gated *gated)
{
	struct sycl_usm_info info = SYCL_USM_INFO_INIT;
	sycl_usm_kind kind;
	sycl_device device = NULL;
	void *pointer = NULL;
	(void)CALL(sycl_usm_get_pointer_type, gated->context, &pointer, &kind);
	if (CALL(sycl_malloc_device, gated->queue, 4096, 0, &pointer))
		pointer = NULL;
	if (CALL(sycl_usm_get_pointer_device, gated->context, pointer, &device) == SYCL_SUCCESS)
		MUST(sycl_device_release(device));
	(void)CALL(sycl_usm_get_pointer_info, gated->context, pointer, &info);
	/* A device without such memory refuses them. */
	static char not_usm[4096];
	call_usm_actions(gated, pointer ? pointer : not_usm);
	/* A group that waits behind the gate uses it (D16). */
	(void)CALL(sycl_free, gated->queue, pointer);
	pointer = NULL;
	if (CALL(sycl_malloc_shared, gated->queue, 4096, 0, &pointer) == SYCL_SUCCESS)
		MUST(sycl_free(gated->queue, pointer));
	pointer = NULL;
	if (CALL(sycl_malloc_host, gated->queue, 4096, 0, &pointer) == SYCL_SUCCESS)
		MUST(sycl_free(gated->queue, pointer));
	pointer = NULL;
	(void)CALL(sycl_usm_malloc, gated->context, gated->device, SYCL_USM_DEVICE, 4096, 0,
		   &pointer);
	(void)CALL(sycl_usm_free, gated->context, pointer);
}

void call_shares(const struct gated *gated)
{
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES] = {0};
	sycl_buffer buffer = NULL;
	sycl_shared_event event = NULL;
	uint32_t number = 0;
	/* A device without this feature reports an error. */
	if (CALL(sycl_buffer_create_exportable, gated->device, NULL, 4096, SYCL_HOST_NONE,
		 SYCL_SHARE_VMM, &buffer) == SYCL_SUCCESS)
		MUST(sycl_buffer_release(buffer));
	(void)CALL(sycl_buffer_import, gated->device, &shared, &buffer);
	(void)CALL(sycl_shared_event_open, gated->device, handle, &event);
	event = NULL;
	(void)CALL(sycl_shared_event_create, gated->device, &event);
	(void)CALL(sycl_shared_event_get_handle, event, handle);
	(void)CALL(sycl_shared_event_retain, event);
	(void)CALL(sycl_shared_event_get_reference_count, event, &number);
	(void)CALL(sycl_shared_event_release, event);
	if (event)
		(void)sycl_shared_event_release(event);
}

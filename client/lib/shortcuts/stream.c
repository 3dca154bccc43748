/* Streams: buffers that kernels print into. */
#include "handler/handler.h"
#include "base/stream_text.h"

#include <stdlib.h>
#include <string.h>

SYCL_API sycl_result sycl_stream_create(sycl_platform handle, uint64_t bytes,
					sycl_buffer *stream_out)
{
	PIN(platform, platform, handle);
	REQUIRE_OUTPUT(stream_out);
	if (bytes < 64 || bytes > SYCL_STREAM_BYTES_MAX)
		return error_set(SYCL_ERROR_INVALID, "a stream has 64 to %llu bytes",
				 SYCL_STREAM_BYTES_MAX);
	uint64_t room = (bytes + 7) / 8 * 8;
	uint32_t *words = calloc(1, STREAM_HEAD_BYTES + room);
	if (!words)
		return error_no_memory();
	words[STREAM_ROOM] = (uint32_t)room;
	words[STREAM_IS_MARKED] = STREAM_MARK;
	sycl_result result = sycl_buffer_create(handle, words, STREAM_HEAD_BYTES + room,
						SYCL_HOST_CONST, stream_out);
	free(words);
	return result;
}

/* The buffer's own counters, as far as its size allows them. */
static sycl_result check_head(const uint32_t *head, uint64_t size_bytes)
{
	if (head[STREAM_IS_MARKED] != STREAM_MARK ||
	    head[STREAM_ROOM] != size_bytes - STREAM_HEAD_BYTES)
		return error_set(
			SYCL_ERROR_INVALID,
			"the buffer is no stream, or was written by others than sycl_print");
	return SYCL_SUCCESS;
}

/* All that is there; the text is the caller's, also when it is not taken. */
static sycl_result stream_take_text(uint32_t *words, uint64_t size_bytes, uint64_t capacity,
				    char *text, uint64_t *bytes_out, uint64_t *lost_out)
{
	uint32_t head[4];
	memcpy(head, words, sizeof(head));
	sycl_result result = check_head(head, size_bytes);
	if (result)
		return result;
	size_t used = head[STREAM_USED] < head[STREAM_ROOM] ? head[STREAM_USED] : head[STREAM_ROOM],
	       count = 0;
	/* The service can write this memory: what is checked and what is used must be the same
	 * bytes. */
	unsigned char *records = malloc(used + 1);
	if (records && used > 0)
		memcpy(records, words + 4, used);
	char *made = records ? stream_text(records, used, &count) : NULL;
	free(records);
	if (!made)
		return error_no_memory();
	*bytes_out = count + 1;
	if (text && capacity > count) {
		memcpy(text, made, count + 1);
		if (lost_out)
			*lost_out = head[STREAM_LOST];
		words[STREAM_USED] = 0;
		words[STREAM_LOST] = 0;
	} else if (text) {
		result = error_set(SYCL_ERROR_INVALID,
				   "the text has %zu bytes, there is room for %llu", count + 1,
				   (unsigned long long)capacity);
	} else if (lost_out) {
		*lost_out = head[STREAM_LOST];
	}
	free(made);
	return result;
}

static sycl_result read_stream(sycl_buffer stream, const uint64_t *timeout_ns, uint64_t capacity,
			       char *text, uint64_t *bytes_out, uint64_t *lost_out)
{
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	uint64_t size_bytes = 0;
	REQUIRE_OUTPUT(bytes_out);
	if (capacity > 0 && !text)
		return error_set(SYCL_ERROR_INVALID, "text is NULL");
	sycl_result result = sycl_buffer_get_size(stream, &size_bytes);
	if (!result && size_bytes < STREAM_HEAD_BYTES)
		result = error_set(SYCL_ERROR_INVALID, "the buffer is no stream");
	if (!result)
		result = timeout_ns ? sycl_host_accessor_create_for(stream, SYCL_ACCESS_READ_WRITE,
								    *timeout_ns, &accessor)
				    : sycl_host_accessor_create(stream, SYCL_ACCESS_READ_WRITE,
								&accessor);
	if (result)
		return result;
	result = sycl_host_accessor_get_pointer(accessor, &words);
	if (!result)
		result = stream_take_text(words, size_bytes, capacity, text, bytes_out, lost_out);
	struct failure why = {.code = result};
	if (result)
		error_get(&why);
	(void)sycl_host_accessor_release(accessor);
	return result ? error_set_failure(&why) : SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_stream_read(sycl_buffer stream, uint64_t capacity, char *text,
				      uint64_t *bytes_out, uint64_t *lost_out)
{
	return read_stream(stream, NULL, capacity, text, bytes_out, lost_out);
}

SYCL_API sycl_result sycl_stream_read_for(sycl_buffer stream, uint64_t timeout_ns,
					  uint64_t capacity, char *text, uint64_t *bytes_out,
					  uint64_t *lost_out)
{
	return read_stream(stream, &timeout_ns, capacity, text, bytes_out, lost_out);
}

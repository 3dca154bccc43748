/* The common part of all objects: memory that holds its connection, and answers to info queries. */
#include "connection/objects.h"

#include <stdlib.h>
#include <string.h>

void *object_new(size_t bytes, struct connection *connection)
{
	struct object *object = calloc(1, bytes);
	if (!object) {
		(void)error_no_memory();
		return NULL;
	}
	connection_ref(connection);
	object->connection = connection;
	return object;
}

void object_delete(struct object *object)
{
	struct connection *connection = object->connection;
	free(object);
	connection_unref(connection);
}

sycl_result info_give(const void *source, size_t source_bytes, size_t bytes, void *value,
		      size_t *bytes_out)
{
	if (!value && !bytes_out)
		return error_set(SYCL_ERROR_INVALID, "value and bytes_out are both NULL");
	if (value && bytes < source_bytes)
		return error_set(SYCL_ERROR_INVALID,
				 "the result needs %zu bytes, but there is room for only %zu",
				 source_bytes, bytes);
	if (value && source_bytes)
		memcpy(value, source, source_bytes);
	if (bytes_out)
		*bytes_out = source_bytes;
	return SYCL_SUCCESS;
}

sycl_result info_give_text(const char *text, size_t bytes, void *value, size_t *bytes_out)
{
	if (!text)
		text = "";
	return info_give(text, strlen(text) + 1, bytes, value, bytes_out);
}

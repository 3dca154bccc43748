#include "build/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_BYTES 4u
#define SIZE_BYTES  8u

static void put_number(char *to, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (char)(value >> (8 * i));
}

static uint64_t get_number(const char *from, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)(unsigned char)from[i] << (8 * i);
	return value;
}

int build_objects_pack(uint32_t count, const void *const *objects, const size_t *bytes,
		       char **packed_out, size_t *packed_bytes_out)
{
	uint64_t total = COUNT_BYTES + (uint64_t)count * SIZE_BYTES;

	if (count > BUILD_OBJECTS_MAX)
		return -E2BIG;
	for (uint32_t i = 0; i < count; i++)
		if (bytes[i] > BUILD_OBJECTS_BYTES_MAX ||
		    (total += bytes[i]) > BUILD_OBJECTS_BYTES_MAX)
			return -E2BIG;
	char *packed = malloc(total);
	if (!packed)
		return -ENOMEM;
	put_number(packed, count, COUNT_BYTES);
	char *at = packed + COUNT_BYTES + (size_t)count * SIZE_BYTES;
	for (uint32_t i = 0; i < count; i++) {
		put_number(packed + COUNT_BYTES + (size_t)i * SIZE_BYTES, bytes[i], SIZE_BYTES);
		if (bytes[i] > 0)
			memcpy(at, objects[i], bytes[i]);
		at += bytes[i];
	}
	*packed_out = packed;
	*packed_bytes_out = total;
	return 0;
}

int build_objects_unpack(const char *packed, size_t packed_bytes,
			 struct build_object_list *list_out)
{
	if (packed_bytes < COUNT_BYTES)
		return -EBADMSG;
	uint32_t count = (uint32_t)get_number(packed, COUNT_BYTES);
	if (count > BUILD_OBJECTS_MAX || packed_bytes - COUNT_BYTES < (size_t)count * SIZE_BYTES)
		return -EBADMSG;
	struct build_object_list list = {
		.count = count,
		.objects = calloc(count + 1u, sizeof(void *)),
		.bytes = calloc(count + 1u, sizeof(size_t)),
	};
	size_t at = COUNT_BYTES + (size_t)count * SIZE_BYTES;
	int error = list.objects && list.bytes ? 0 : -ENOMEM;
	for (uint32_t i = 0; error == 0 && i < count; i++) {
		uint64_t bytes =
			get_number(packed + COUNT_BYTES + (size_t)i * SIZE_BYTES, SIZE_BYTES);
		if (bytes > packed_bytes - at) {
			error = -EBADMSG;
			break;
		}
		list.objects[i] = packed + at;
		list.bytes[i] = bytes;
		at += bytes;
	}
	if (error == 0 && at != packed_bytes)
		error = -EBADMSG;
	if (error < 0) {
		build_objects_fini(&list);
		return error;
	}
	*list_out = list;
	return 0;
}

void build_objects_fini(struct build_object_list *list)
{
	free(list->objects);
	free(list->bytes);
	*list = (struct build_object_list){0};
}

/*
 * The client chooses ids: the record that makes an object names its id, so creation needs no reply.
 * An id is looked up by index and then compared whole. So a stale or mistyped id never reaches an
 * object.
 */
#ifndef SYCL_SHARED_OBJECT_ID_H
#define SYCL_SHARED_OBJECT_ID_H

#include <stdint.h>

enum object_type {
	OBJECT_NONE = 0,
	OBJECT_CONTEXT = 1,
	OBJECT_QUEUE = 2,
	OBJECT_BUFFER = 3,
	OBJECT_BUNDLE = 4,
	OBJECT_KERNEL = 5,
	OBJECT_HOST_ACCESSOR = 6,
	OBJECT_SHARED_EVENT = 7,
	OBJECT_USM = 8,
	OBJECT_GRAPH = 9,
	OBJECT_SUB_DEVICE = 10,
	OBJECT_TYPE_COUNT
};

/* index: 32 bits; generation: 24 bits, from 1, never 0; type: 8 bits. The id 0 is no object. */
static inline uint64_t object_id_make(enum object_type type, uint32_t generation, uint32_t index)
{
	return (uint64_t)index | ((uint64_t)(generation & 0xffffffu) << 32) |
	       ((uint64_t)type << 56);
}

static inline uint32_t object_id_index(uint64_t id)
{
	return (uint32_t)id;
}

static inline uint32_t object_id_generation(uint64_t id)
{
	return (uint32_t)(id >> 32) & 0xffffffu;
}

static inline enum object_type object_id_type(uint64_t id)
{
	return (enum object_type)(id >> 56);
}

/* "queue", "buffer" ...; "object" for anything else. Static. */
const char *object_type_name(enum object_type type);

#endif

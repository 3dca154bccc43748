/*
 * Objects on their way to the linker, in one piece, all little-endian. How many (4 bytes), how long
 * each is (8 bytes each), then the bytes. Pure: any thread, never blocks.
 */
#ifndef SYCL_ENGINE_BUILD_OBJECTS_H
#define SYCL_ENGINE_BUILD_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#define BUILD_OBJECTS_MAX       1024u
#define BUILD_OBJECTS_BYTES_MAX (64ull << 20) /* packed */

struct build_object_list {
	uint32_t count;
	const void **objects; /* pointers into the unpacked bytes */
	size_t *bytes;
};

/* malloc'ed and the caller's. -E2BIG: more than the two limits allow; -ENOMEM. */
int build_objects_pack(uint32_t count, const void *const *objects, const size_t *bytes,
		       char **packed_out, size_t *packed_bytes_out);
/* -EBADMSG: the sizes do not fit; -ENOMEM. The list points into `packed`. */
int build_objects_unpack(const char *packed, size_t packed_bytes,
			 struct build_object_list *list_out);
void build_objects_fini(struct build_object_list *list);

#endif

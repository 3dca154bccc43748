#include "object_id.h"

const char *object_type_name(enum object_type type)
{
	static const char *const names[OBJECT_TYPE_COUNT] = {
		[OBJECT_NONE] = "object",
		[OBJECT_CONTEXT] = "context",
		[OBJECT_QUEUE] = "queue",
		[OBJECT_BUFFER] = "buffer",
		[OBJECT_BUNDLE] = "kernel bundle",
		[OBJECT_KERNEL] = "kernel",
		[OBJECT_HOST_ACCESSOR] = "host accessor",
		[OBJECT_SHARED_EVENT] = "shared event",
		[OBJECT_USM] = "USM allocation",
		[OBJECT_GRAPH] = "graph",
		[OBJECT_SUB_DEVICE] = "sub-device",
	};
	return (unsigned)type < OBJECT_TYPE_COUNT ? names[type] : names[OBJECT_NONE];
}

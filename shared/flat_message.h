/*
 * The frequent messages of proto/command.proto, packed and unpacked without protobuf-c, which takes
 * ten times as long for them. Such a Command or Reply has one field. This field is a message whose
 * fields are whole numbers. The bytes are those that protobuf-c would write. The launch of a graph,
 * a message further inside, is unpacked as well.
 */
#ifndef SYCL_SHARED_FLAT_MESSAGE_H
#define SYCL_SHARED_FLAT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fields of HostAccess, by their numbers less one: indices of a flat message's values. */
enum flat_host_access {
	HOST_ACCESS_ACCESSOR,
	HOST_ACCESS_BUFFER,
	HOST_ACCESS_MODE,
	HOST_ACCESS_SLOT,
	HOST_ACCESS_SLOT_VALUE,
	HOST_ACCESS_OFFSET_BYTES,
	HOST_ACCESS_SIZE_BYTES,
	HOST_ACCESS_ORDER_OFFSET_BYTES,
	HOST_ACCESS_ORDER_SIZE_BYTES,
	HOST_ACCESS_FIELDS,
};

enum {
	FLAT_MESSAGE_FIELDS = HOST_ACCESS_FIELDS, /* no frequent message has more */
	FLAT_MESSAGE_BYTES = 2 + FLAT_MESSAGE_FIELDS * 11,
};

struct flat_message {
	uint32_t body;   /* number of the set field of the Command or Reply, from 1 to 15 */
	uint32_t fields; /* highest field number of the message in that field */
	uint64_t values[FLAT_MESSAGE_FIELDS]; /* values of the fields 1, 2 ..; 0: not set */
};

/* Returns the number of written bytes. */
size_t flat_message_pack(const struct flat_message *message, uint8_t bytes_out[FLAT_MESSAGE_BYTES]);
/* Unpacks from private memory. False: the message is of another kind, or protobuf-c must judge it.
 * If true, protobuf-c would unpack the same values, if its fields are of 64 bits. */
bool flat_message_unpack(const void *bytes, size_t count, struct flat_message *message_out);

/* A CommandGroup that launches a graph without host tasks, and depends on no events. */
struct flat_graph_launch {
	uint64_t queue, group, graph;
	uint32_t slot, slot_value;
	bool wants_slot, after_all, has_event;
};

/* As flat_message_unpack. */
bool flat_graph_launch_unpack(const void *bytes, size_t count,
			      struct flat_graph_launch *launch_out);

#endif

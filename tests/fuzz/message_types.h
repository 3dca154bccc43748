/* The messages that arrive from outside, by the first byte of an input. Only append: the corpus
 * depends on the order. */
#ifndef SYCL_FUZZ_MESSAGE_TYPES_H
#define SYCL_FUZZ_MESSAGE_TYPES_H

#include "admin.pb-c.h"
#include "build.pb-c.h"
#include "command.pb-c.h"
#include "control.pb-c.h"
#include "session.pb-c.h"

static const ProtobufCMessageDescriptor *const message_types[] = {
	&sycl__v1__packet__descriptor,       &sycl__v1__command__descriptor,
	&sycl__v1__reply__descriptor,        &sycl__v1__control__descriptor,
	&sycl__v1__build_packet__descriptor, &sycl__v1__admin_request__descriptor,
	&sycl__v1__admin_reply__descriptor,
};

enum { MESSAGE_TYPES = sizeof(message_types) / sizeof(message_types[0]) };

#endif

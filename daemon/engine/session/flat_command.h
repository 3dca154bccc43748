/* Decodes without protobuf-c the requests of a program that launches a graph, or reads its results,
 * again and again. */
#ifndef SYCL_ENGINE_SESSION_FLAT_COMMAND_H
#define SYCL_ENGINE_SESSION_FLAT_COMMAND_H

#include "command.pb-c.h"

/* Memory into which commands are decoded. */
struct flat_command {
	Sycl__V1__Command command;
	Sycl__V1__Release release;
	Sycl__V1__HostAccess host_access;
	Sycl__V1__CommandGroup group;
	Sycl__V1__GraphLaunch graph_launch;
};

/* Decodes from private memory. NULL: another request, or one that only protobuf-c can check. The
 * result is valid until the next call. */
const Sycl__V1__Command *flat_command_unpack(struct flat_command *place, const void *bytes,
					     uint32_t count);

#endif

/*
 * A connection with the state of all rooms above it, in one block. This is the one place that names
 * all of them: it initialises them, and ends them.
 */
#ifndef SYCL_CLIENT_CLIENT_H
#define SYCL_CLIENT_CLIENT_H

#include "connection/connection.h"
#include "host_task/host_tasks.h"
#include "interop/bridge.h"
#include "interop/native_commands.h"
#include "usm/usm.h"

struct client {
	struct connection connection; /* first: the library names the client by it */
	struct host_tasks host_tasks;
	struct usm_state usm;
	struct native_calls native_calls;
	struct bridge bridge;
};

/* Connects. One reference, the caller's. */
sycl_result client_open(const struct open_request *request, struct connection **connection_out);

#endif

/* Connects to the service that the program names, or to one that is found. */
#include "connection/connection.h"

#include <string.h>
#include <sys/socket.h>

/*
 * True if the engine may be in this process, so that its addresses are valid here. This process
 * must have made the socketpair or have listened. It has also listened for a service that it
 * started, so the engine must state this as well.
 */
static bool endpoint_may_be_embedded(int socket)
{
	struct ucred peer = {.pid = 0};
	socklen_t bytes = sizeof(peer);
	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
	       peer.pid == getpid();
}

bool connection_endpoint_is_valid(const char *endpoint)
{
	return strcmp(endpoint, "embedded:") == 0 || strncmp(endpoint, "unix:", 5) == 0;
}

sycl_result connection_connect(struct connection *c, const struct open_request *request,
			       bool *is_gone_out)
{
	sycl_result result = SYCL_SUCCESS;
	if (!request->endpoint) {
		result = connection_find_service(request->deadline_ns, &c->socket, &c->endpoint);
	} else if (strcmp(request->endpoint, "embedded:") == 0) {
		c->endpoint = strdup(request->endpoint);
		result = connection_embedded(c);
	} else if (strncmp(request->endpoint, "unix:", 5) == 0) {
		c->endpoint = strdup(request->endpoint);
		result = connection_connect_path(request->endpoint + 5, request->deadline_ns,
						 &c->socket);
	} else {
		result = error_set(
			SYCL_ERROR_INVALID,
			"the endpoint '%.64s' is neither NULL, \"unix:PATH\" nor \"embedded:\"",
			request->endpoint);
	}
	if (!result && !c->endpoint)
		result = error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory for a connection");
	if (!result)
		c->in_process = endpoint_may_be_embedded(c->socket);
	if (!result)
		result = connection_handshake(c, request, is_gone_out);
	c->copy_threads = request->copy_threads;
	c->check = request->check;
	return result;
}

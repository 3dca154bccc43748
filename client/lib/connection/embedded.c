/*
 * "embedded:" loads the engine as a library into this process, at the other end of a socketpair and
 * the same rings. The engine's own threads end with the connection. The engine's library stays
 * loaded, because vendor libraries cannot be unloaded safely.
 */
#include "connection/connection.h"

#include "base/paths.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

sycl_result connection_embedded(struct connection *c)
{
	char library[PATH_BYTES], helper[PATH_BYTES], cache[PATH_BYTES];
	if (path_library("libsyclengine.so", library) < 0)
		return error_set(SYCL_ERROR_PLATFORM,
				 "libsyclengine.so was not found next to libsyclclient");
	void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!loaded) {
		const char *words = dlerror();
		return error_set(SYCL_ERROR_PLATFORM,
				 "the engine's library cannot be loaded: %.200s",
				 words ? words : library);
	}
	embedded_start *start = (embedded_start *)dlsym(loaded, EMBEDDED_START_SYMBOL);
	embedded_stop *stop = (embedded_stop *)dlsym(loaded, EMBEDDED_STOP_SYMBOL);
	if (!start || !stop)
		return error_set(SYCL_ERROR_VERSION, "%.200s is no engine for this library",
				 library);
	struct embedded_options options = {
		.version = EMBEDDED_ENTRY_VERSION,
		.helper = path_program("sycl-engine", helper) == 0 ? helper : NULL,
		.cache_directory = path_user_cache(cache) == 0 ? cache : NULL,
		.backend_options = secure_getenv(
			"SYCLD_BACKEND_OPTIONS"), /* stands for the sycld.conf of a service */
	};
	int ends[2] = {-1, -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set_errno(-errno,
				       "a socket pair for the embedded engine cannot be made");
	void *engine = NULL;
	int r = start(&options, ends[1], &engine); /* takes the engine's end, also on failure */
	if (r < 0) {
		close_fd(&ends[0]);
		return error_set_errno(r, "the embedded engine did not start");
	}
	c->socket = ends[0];
	c->engine = engine;
	c->engine_stop = stop;
	return SYCL_SUCCESS;
}

void connection_embedded_end(struct connection *c)
{
	if (c->engine)
		c->engine_stop(c->engine);
	c->engine = NULL;
}

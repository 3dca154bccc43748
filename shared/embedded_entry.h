/*
 * The way in which libsyclclient finds the engine inside its own process:
 * dlopen("libsyclengine.so"), then these two symbols. The client library cannot include daemon
 * headers, so the types of the calls are here.
 */
#ifndef SYCL_SHARED_EMBEDDED_ENTRY_H
#define SYCL_SHARED_EMBEDDED_ENTRY_H

#include <stdint.h>

#define EMBEDDED_ENTRY_VERSION 2u
#define EMBEDDED_START_SYMBOL  "sycl_engine_embedded_start"
#define EMBEDDED_STOP_SYMBOL   "sycl_engine_embedded_stop"

struct embedded_options {
	uint32_t version;   /* EMBEDDED_ENTRY_VERSION; any other is refused with -EPROTONOSUPPORT */
	uint32_t reserved;  /* 0 */
	const char *helper; /* path of sycl-engine, for builds; NULL: sources cannot be built */
	const char *cache_directory; /* NULL: no files are kept */
	const char *backend_options; /* "cuda:peer_path=host cuda:lanes=4", separated by blanks;
					NULL: none */
};

/*
 * Runs an engine with this one session on a thread of its own. The socket is the engine's end of a
 * socketpair, SOCK_SEQPACKET. The call takes the socket, also on failure. 0 and a handle, or a
 * negative errno.
 */
typedef int embedded_start(const struct embedded_options *options, int session_socket,
			   void **engine_out);
/*
 * Called when the client has closed its end. Ends all work, joins every thread, frees everything.
 */
typedef void embedded_stop(void *engine);

#endif

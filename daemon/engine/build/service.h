/*
 * Builds kernels in a helper process with limits on time and memory, as a compiler is attack
 * surface. It keeps the binaries on disk, named by the hash of source, options, device and driver.
 *
 * The helper is a fork of the engine, made first of all, without threads, vendor libraries or
 * descriptors of a tenant. An engine never executes anything after it became its tenant. Embedded
 * in an application that is not possible, so there the helper is the installed sycl-engine,
 * executed as `sycl-engine --build-helper` with its socket as descriptor
 * 3. The helper forks once more for each build, so that a build that hangs, crashes or eats memory
 * ends alone.
 */
#ifndef SYCL_ENGINE_BUILD_SERVICE_H
#define SYCL_ENGINE_BUILD_SERVICE_H

#include "backend.h"

#include <uv.h>

struct build_service;
struct build_job;

struct build_result {
	struct backend_fault fault; /* status 0: built */
	const void *binary;         /* valid until the callback returns */
	size_t binary_bytes;
	const char *log; /* never NULL */
	uint64_t build_ns;
	bool from_cache;
};

/* Called on the loop's thread, never from inside build_service_submit. */
typedef void build_done(void *owner, const struct build_result *result);

/* Equal to proto's BuildAction. */
enum build_action { BUILD_ACTION_BUILD = 0, BUILD_ACTION_COMPILE = 1, BUILD_ACTION_LINK = 2 };

struct build_request {
	const struct backend_ops *backend;
	enum build_action action;
	const char *device_key;
	const char *device_name; /* copied; for the log alone. NULL: "a device" */
	enum backend_source_kind kind;
	uint32_t
		dimensions; /* of BUILD_ACTION_BUILD, as in build_dimensions of backend.h; 0: all */
	const char *source; /* copied; for a link: the result of build_objects_pack */
	size_t source_bytes;
	const char *options;         /* copied */
	uint64_t time_limit_ns;      /* 0: LIMIT_BUILD_NS */
	uint64_t memory_limit_bytes; /* 0: LIMIT_BUILD_MEMORY_BYTES */
};

/*
 * Once the helper has died, builds in the cache are still served; others fail with that reason. An
 * engine may not execute or fork anything by then, so there is no second helper.
 */

/* Fork the helper. Call before any thread exists and before any vendor library is loaded. */
int build_service_fork(struct build_service **service_out);
/*
 * The same for an engine that has no user yet. The helper first calls `gate` with its end of the
 * socket, and ends when `gate` fails. In `gate` the helper waits for its user, and takes that
 * user's ids. Until build_service_attach only `gate` and its engine use the socket. NULL: no gate.
 * `backend_options`: as in engine_options; they stay valid as long as this process. Later nobody
 * can change them: code that has taken over the engine could name a library that the helper loads.
 * NULL: those of build_service_set_options.
 */
typedef int build_helper_gate(int socket);
int build_service_fork_gated(build_helper_gate *gate, const char *const *backend_options,
			     struct build_service **service_out);
int build_service_socket(const struct build_service *service);
/*
 * Execute the helper instead (embedded); `program`: path of sycl-engine. `environment`: ended by
 * NULL; not this process' own once a backend or a vendor's library has changed it: such changes are
 * for this process alone.
 */
int build_service_spawn(const char *program, char *const *environment,
			struct build_service **service_out);
/* Join the loop; from then on on its thread. `cache_directory` NULL: nothing is kept. */
int build_service_attach(struct build_service *service, uv_loop_t *loop,
			 const char *cache_directory);
/* For the backends, as in engine_options; copied. Before the first build. 0 or -ENOMEM. */
int build_service_set_options(struct build_service *service, const char *const *backend_options);
int build_service_submit(struct build_service *service, const struct build_request *request,
			 build_done *done, void *owner, struct build_job **job_out);
/* The callback never comes; a running build is stopped. */
void build_job_cancel(struct build_job *job);
/*
 * Stops the helper and all its builds; callbacks never come. Not from inside a callback. Run the
 * loop once more before it is closed. Accepts NULL and half-built, returns NULL.
 */
struct build_service *build_service_free(struct build_service *service);

/* From now on a line for each build that begins, none for what is in the cache. `fd`: the caller's,
 * which never waits; -1: no more. */
void build_service_log_to(struct build_service *service, int fd);

/*
 * A vendor_link: the helper runs the system's linker, so this process needs none. The context is
 * the service, of build_service_fork or build_service_fork_gated. After build_service_attach any
 * thread; blocks until the linker has ended, for half a minute at most. Standard error gets the
 * cause of a failure.
 */
int build_service_link(void *context, const char *object, const char *library);

struct build_service_counters {
	uint64_t builds, cache_hits;
};
void build_service_counters(const struct build_service *service,
			    struct build_service_counters *counters_out);

/* The helper's whole life, for `sycl-engine --build-helper`; returns its exit status. */
int build_helper_main(int socket);

#endif

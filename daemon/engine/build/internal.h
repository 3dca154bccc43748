/* Inside the build service, on the engine's side: all on the loop's thread. */
#ifndef SYCL_ENGINE_BUILD_INTERNAL_H
#define SYCL_ENGINE_BUILD_INTERNAL_H

#include "build/cache.h"
#include "build/linker.h"
#include "build/service.h"
#include "base/intrusive_list.h"
#include "packet.h"

/* Time for which the engine waits for a build beyond its limit, in case the helper itself hangs. */
#define BUILD_GRACE_NS 10000000000ull

enum build_state {
	BUILD_NEW,     /* not looked up in the cache yet */
	BUILD_WAITING, /* waits for its turn */
	BUILD_RUNNING, /* with the helper */
};

/* A build, shared by identical requests. */
struct build_work {
	struct list link; /* link in service->works */
	struct list jobs; /* the requests that wait for this build */
	enum build_state state;
	uint64_t number; /* number of the build in packets */
	struct build_key key;
	struct build_request request; /* the strings belong to this struct */
	uint64_t deadline_ns;         /* while running */
};

struct build_job {
	struct list link; /* link in work->jobs */
	struct build_service *service;
	struct build_work *work; /* NULL: the job's callback runs now */
	build_done *done;
	void *owner;
};

/* The handles that libuv keeps until the loop has closed them. They outlive the service. */
struct build_handles {
	uv_poll_t poll;
	uv_timer_t timer;
	uv_idle_t turn;
	unsigned open;
};

struct build_service {
	int socket;
	struct build_linker linker;
	pid_t helper;
	bool helper_gone;
	int report_fd;                 /* a line is written to it for each build; -1: no lines */
	struct build_handles *handles; /* NULL: not attached */
	struct build_cache *cache;     /* NULL: nothing is kept */
	char *cache_directory;
	char **backend_options; /* NULL: none */
	struct decode_arena decode;
	struct list works;
	uint64_t next_number;
	unsigned running, running_max;
	struct build_service_counters counters;
};

/* The helper's ends. */
struct build_helper_sockets {
	int builds, links; /* `links` -1: nothing is linked */
};

/*
 * helper.c: closes in the helper what the engine had open, except the sockets, which become
 * descriptors 3 and 4. Also called by build_helper_serve. 0 or a negative errno.
 */
int build_helper_settle(struct build_helper_sockets *sockets);
/* helper.c: the helper's whole life; returns its exit status. `backend_options` NULL: those of each
 * job. */
int build_helper_serve(struct build_helper_sockets sockets, const char *const *backend_options);

/* channel.c: send the work to the helper; 0 or a negative errno. */
int build_channel_send(struct build_service *service, struct build_work *work);
/* Stops the work, which gets no result. */
void build_channel_cancel(struct build_service *service, const struct build_work *work);
/* Reads the helper's results: calls build_work_done and build_helper_lost. */
void build_channel_receive(struct build_service *service);

/* service.c: calls the callbacks, then frees the work. */
void build_work_done(struct build_service *service, struct build_work *work,
		     const struct build_result *result);
void build_work_failed(struct build_service *service, struct build_work *work, int32_t status,
		       const char *text);
struct build_work *build_work_find(struct build_service *service, uint64_t number);
void build_helper_lost(struct build_service *service);

#endif

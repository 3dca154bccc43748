/*
 * The helper's end of a warm process: one that has opened a backend, and compiled something of the
 * service's own. Builds that are forks of that process need not load the driver and its compiler,
 * which takes longer than most sources. No source of a tenant is ever compiled in the warm process
 * itself. All on the helper's one thread.
 */
#ifndef SYCL_ENGINE_BUILD_WARM_H
#define SYCL_ENGINE_BUILD_WARM_H

#include "build/child.h"
#include "private_folder.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum build_warm_state {
	BUILD_WARM_NONE,     /* none yet, or it has ended after a time without builds */
	BUILD_WARM_STARTING, /* not ready yet */
	BUILD_WARM_READY,
	BUILD_WARM_REFUSED, /* the backend cannot, or the process has failed: never again */
};

struct build_warm {
	enum build_warm_state state;
	pid_t pid;
	int socket;                   /* -1: there is no process */
	struct private_folder folder; /* for what it compiles itself */
	uint32_t backend;             /* as in the job */
	char *device_key;
	unsigned builds;      /* since the helper's start or the process' end */
	uint64_t deadline_ns; /* STARTING: it has failed. READY: it ends if nothing is built */
};

void build_warm_init(struct build_warm *warm);
/* Ends the process, and with it all builds that are forks of it. */
void build_warm_end(struct build_warm *warm);

/* Notes a build, and starts the process if it is worth it. `options`: as in build_child_files. */
void build_warm_note(struct build_warm *warm, const Sycl__V1__BuildJob *job,
		     const char *const *options);
/* Starts a build. The process is not the helper's child, but build_warm_collect takes its end.
 * -EAGAIN: no warm process can make it now. */
int build_warm_fork(struct build_warm *warm, const Sycl__V1__BuildJob *job,
		    const struct build_child_files *files, pid_t *pid_out);
/* As wait4, for a build that was started by build_warm_fork and has ended or was killed. */
int build_warm_collect(struct build_warm *warm, pid_t pid, struct rusage *usage_out);

/* The process has sent something, or has ended. */
void build_warm_receive(struct build_warm *warm);
/* When build_warm_check has something to do; UINT64_MAX: never. `has_builds`: builds run. */
uint64_t build_warm_deadline_ns(const struct build_warm *warm, bool has_builds);
void build_warm_check(struct build_warm *warm, bool has_builds);

/* The process' whole life, in a fork of the helper. */
_Noreturn void build_warm_run(const Sycl__V1__BuildJob *job, int socket, const char *folder,
			      const char *const *options);

/* What the process sends: once when it is ready, and then for each packet. */
struct build_warm_answer {
	int32_t error; /* 0 or a negative errno */
	int32_t pid;   /* of the build that was started */
	int32_t status;
	int32_t unused;
	struct rusage usage;
};

#endif

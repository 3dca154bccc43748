/* The process that does one build. The helper forks and limits the process, which ends with the
 * build. */
#ifndef SYCL_ENGINE_BUILD_CHILD_H
#define SYCL_ENGINE_BUILD_CHILD_H

#include "backend.h"

#include "build.pb-c.h"

/*
 * The child's report through its pipe. Without a report the child ended before it could send one.
 */
struct build_report {
	int32_t status, native_code;
	char text[BACKEND_TEXT_BYTES];
};

struct build_child_files {
	int source, log, binary, report;
	const char *folder; /* folder of this build, in which the compiler may write; NULL: none */
	const char *const *backend_options; /* in place of the job's; NULL: those of the job */
};

/* A backend that was opened for builds. */
struct build_child_device {
	const struct backend_ops *ops;
	struct backend *backend;
	uint32_t device;
	int error; /* 0, or why there is no device; with the fault */
	struct backend_fault fault;
};

/*
 * Where a warm process and its builds have their folders open. A driver keeps the name of its cache
 * from its start on, and this name leads to the folder of the process that uses it. The last part
 * is there because a folder by a link is refused.
 */
enum { BUILD_CHILD_FOLDER = 6 };
#define BUILD_CHILD_FOLDER_PATH "/proc/self/fd/6/."

/* As in a new program, and what the helper has set is forgotten. */
void build_child_reset_signals(void);

/* The limits of a process that only loads a driver. Before that. */
void build_child_limit_warm(void);
/* Opens the job's backend, and finds its device. `options`: as in build_child_files. */
void build_child_open(const Sycl__V1__BuildJob *job, const char *folder, const char *const *options,
		      struct build_child_device *device_out);

/* Never returns. Whatever the compiler prints goes to the log file as well. */
_Noreturn void build_child_run(const Sycl__V1__BuildJob *job,
			       const struct build_child_files *files);
/* The same in a fork of a process that has opened the device. The folder is in its place. */
_Noreturn void build_child_run_warm(const struct build_child_device *device,
				    const Sycl__V1__BuildJob *job,
				    const struct build_child_files *files);

#endif

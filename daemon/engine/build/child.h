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

/* As in a new program, and what the helper has set is forgotten. */
void build_child_reset_signals(void);

/* Never returns. Whatever the compiler prints goes to the log file as well. */
_Noreturn void build_child_run(const Sycl__V1__BuildJob *job,
			       const struct build_child_files *files);

#endif

/* Reads and checks the job that a manager begins, and chooses its devices. Pure but for the job's
 * control group, which is looked up. */
#ifndef SYCLD_SUPERVISOR_JOBS_BEGIN_H
#define SYCLD_SUPERVISOR_JOBS_BEGIN_H

#include "admin.pb-c.h"
#include "base/refusal.h"
#include "service/job.h"

#include <stdbool.h>
#include <stddef.h>

/* `known`: the job of this number, or NULL; what it has done so far is kept. 0, or a negative errno
 * with the reason. */
int job_read(struct supervisor *supervisor, const Sycl__V1__JobFacts *facts,
	     const struct job *known, struct job *job_out, struct refusal *refusal_out);

/* The same without looking at the control group and at other jobs: for a file of an earlier
 * service. */
int job_restore(struct supervisor *supervisor, const Sycl__V1__JobFacts *facts, struct job *job_out,
		struct refusal *refusal_out);

/* True if both are bound in the same way. */
bool job_is_equal(const struct job *job, const struct job *other);

/* "job 12 of uid 1000 in /job_12: share 25-100 %, ..." */
void job_describe(const struct job *job, char *text_out, size_t bytes);

#endif

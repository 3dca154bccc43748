/*
 * Orders of managers of jobs (proto/admin.proto: JobCommand). A manager, such as the node daemon of
 * a cluster, names a control group as a job, suspends, resumes and ends it. Root, the
 * administrators and members of the jobs' group may send them. Jobs are known to later services
 * too, until they end or their control group is gone. Loop thread only; nothing here waits.
 */
#ifndef SYCLD_SUPERVISOR_JOBS_H
#define SYCLD_SUPERVISOR_JOBS_H

#include "admin/admin.h"

struct supervisor;

/* Carries the order out and replies. */
void jobs_take(struct supervisor *supervisor, struct asker *asker,
	       const Sycl__V1__JobCommand *command);

/* Replies with the jobs that the requester may see. */
void jobs_report(struct supervisor *supervisor, struct asker *asker);

#endif

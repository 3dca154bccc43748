#include "admin/job_row.h"

#include "service/engine_state.h"
#include "service/supervisor.h"

enum { PERCENT = 100 };

void job_row_fill(struct job_row *row, const struct supervisor *supervisor, const struct job *job)
{
	Sycl__V1__JobFacts *facts = &row->facts;
	sycl__v1__job_facts__init(facts);
	facts->job = job->number;
	facts->uid = job->uid;
	facts->cgroup = (char *)(uintptr_t)job->cgroup;
	facts->share_least = job->share.given ? job->share.least : 0;
	facts->share_most = job->share.given ? job->share.most : PERCENT;
	facts->memory_bytes = job->memory_bytes;
	facts->best_class = (Sycl__V1__SessionClass)job->best_class;
	facts->devices = row->devices;
	row->devices[0] = '\0';
	if (job->devices.given)
		(void)configuration_devices_text(&job->devices, row->devices, sizeof(row->devices));
	facts->suspended = job->is_suspended;
	facts->since_unix_seconds = job->since_unix_seconds;
	facts->sessions = job_count_sessions(supervisor, job);
	facts->engine_pid = job->current ? (uint32_t)job->current->pid : 0;
}

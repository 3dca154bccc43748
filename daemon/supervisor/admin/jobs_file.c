#include "admin/jobs_file.h"

#include "admin.pb-c.h"
#include "admin/job_row.h"
#include "admin/jobs_begin.h"
#include "base/kept_file.h"
#include "base/log.h"
#include "base/process_start.h"
#include "cleanup.h"
#include "service/engine_state.h"
#include "service/supervisor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME  "jobs"
#define FILE_MAGIC 0x0001626f6a637973ull /* "sycjob", and the version of its format */

enum { FILE_BYTES_MAX = 8 << 20 };

/* A job of the file, and the memory of its message. */
struct kept_job_row {
	Sycl__V1__KeptJob kept;
	struct job_row row;
};

static void kept_job_fill(struct kept_job_row *out, const struct supervisor *supervisor,
			  const struct job *job)
{
	sycl__v1__kept_job__init(&out->kept);
	job_row_fill(&out->row, supervisor, job);
	out->kept.job = &out->row.facts;
	if (job->current &&
	    process_start_ticks(job->current->pid, &out->kept.engine_start_ticks) < 0)
		out->row.facts.engine_pid = 0;
}

static int jobs_file_write(const struct supervisor *supervisor, const Sycl__V1__KeptJobs *kept)
{
	size_t size = sycl__v1__kept_jobs__get_packed_size(kept);
	CLEANUP(free_pointer) uint8_t *bytes = malloc(sizeof(struct kept_file_head) + size);
	if (!bytes)
		return -ENOMEM;
	(void)sycl__v1__kept_jobs__pack(kept, bytes + sizeof(struct kept_file_head));
	kept_file_write_head(bytes, sizeof(struct kept_file_head) + size, FILE_MAGIC);
	return kept_file_replace(supervisor->directory.fd, FILE_NAME, bytes,
				 sizeof(struct kept_file_head) + size);
}

int jobs_file_save(const struct supervisor *supervisor)
{
	Sycl__V1__KeptJobs kept = SYCL__V1__KEPT_JOBS__INIT;
	const struct job *job;
	if (supervisor->jobs.count == 0)
		return unlinkat(supervisor->directory.fd, FILE_NAME, 0) == 0 || errno == ENOENT
			       ? 0
			       : -errno;
	CLEANUP(free_pointer)
	struct kept_job_row *rows = calloc(supervisor->jobs.count, sizeof(*rows));
	CLEANUP(free_pointer)
	Sycl__V1__KeptJob **list = calloc(supervisor->jobs.count, sizeof(Sycl__V1__KeptJob *));
	if (!rows || !list)
		return -ENOMEM;
	kept.jobs = list;
	TAILQ_FOREACH (job, &supervisor->jobs.list, link) {
		kept_job_fill(&rows[kept.n_jobs], supervisor, job);
		list[kept.n_jobs] = &rows[kept.n_jobs].kept;
		kept.n_jobs++;
	}
	return jobs_file_write(supervisor, &kept);
}

/* The devices that were chosen are the ones that are named now. */
static void kept_job_restore(struct supervisor *supervisor, const Sycl__V1__KeptJob *kept)
{
	struct job job;
	struct refusal refusal;
	if (!kept->job || kept->job->job == 0 ||
	    job_restore(supervisor, kept->job, &job, &refusal) < 0)
		return;
	job.kept_pid = (pid_t)kept->job->engine_pid;
	job.kept_ticks = kept->engine_start_ticks;
	if (!job_group_exists(supervisor, &job)) {
		log_info("job", "job %llu has ended while no service ran: %s is gone",
			 (unsigned long long)job.number, job.cgroup);
		return;
	}
	if (!job_add(supervisor, &job))
		log_error("job", "job %llu is lost: no memory", (unsigned long long)job.number);
}

/* -EBADMSG: the file is damaged, or of another release. */
static int jobs_file_unpack(struct supervisor *supervisor, const uint8_t *bytes, size_t size)
{
	if (!kept_file_has_head(bytes, size, FILE_MAGIC))
		return -EBADMSG;
	/* The file is this user's own, complete and of bounded size. */
	Sycl__V1__KeptJobs *kept = sycl__v1__kept_jobs__unpack(
		NULL, size - sizeof(struct kept_file_head), bytes + sizeof(struct kept_file_head));
	if (!kept)
		return -EBADMSG;
	for (size_t i = 0; i < kept->n_jobs; i++)
		kept_job_restore(supervisor, kept->jobs[i]);
	sycl__v1__kept_jobs__free_unpacked(kept, NULL);
	return 0;
}

int jobs_file_load(struct supervisor *supervisor)
{
	CLEANUP(free_pointer) uint8_t *bytes = NULL;
	size_t size = 0;
	int r = kept_file_read(supervisor->directory.fd, FILE_NAME, sizeof(struct kept_file_head),
			       sizeof(struct kept_file_head) + FILE_BYTES_MAX, &bytes, &size);
	if (r == 0)
		r = jobs_file_unpack(supervisor, bytes, size);
	if (r == -EBADMSG || r == -EPERM)
		log_error("job",
			  "%s/" FILE_NAME
			  " %s: the jobs of the last service are not known, and their processes "
			  "have the limits of their users",
			  supervisor->directory.path,
			  r == -EPERM ? "is not this user's alone"
				      : "is damaged or of another release");
	else if (r < 0 && r != -ENOENT)
		log_error("job", "%s/" FILE_NAME " cannot be read: %s", supervisor->directory.path,
			  strerror(-r));
	return r == -EBADMSG || r == -EPERM || r == -ENOENT ? 0 : r;
}

void jobs_file_engine_ready(const struct engine *engine)
{
	int r = engine->job ? jobs_file_save(engine->tenant->supervisor) : 0;
	if (r < 0)
		log_warning("job",
			    "after a restart job %llu will get another engine: its file cannot be "
			    "written: %s",
			    (unsigned long long)engine->job->number, strerror(-r));
}

#include "admin/jobs_begin.h"

#include "base/text.h"
#include "service/supervisor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PERCENT = 100, CLASS_LAST = SYCL__V1__SESSION_CLASS__SESSION_CLASS_BEST_EFFORT };
#define MEMORY_MOST (1ull << 46)

/* A path as the kernel writes it. The root contains every process, so it is no job. */
static bool is_group_path(const char *path)
{
	size_t length = strlen(path);
	char printable[CGROUP_BYTES];
	if (*path != '/' || length < 2 || length >= CGROUP_BYTES - 1 || path[length - 1] == '/')
		return false;
	if (strstr(path, "//") || strstr(path, "/../") || strstr(path, "/./") ||
	    strcmp(path + length - 2, "/.") == 0 ||
	    (length >= 3 && strcmp(path + length - 3, "/..") == 0))
		return false;
	text_copy_printable(printable, sizeof(printable), path);
	return strcmp(printable, path) == 0;
}

static int job_read_bounds(const Sycl__V1__JobFacts *facts, struct job *job,
			   struct refusal *refusal)
{
	unsigned most = facts->share_most ? facts->share_most : PERCENT;
	if (most > PERCENT || facts->share_least > most) {
		refusal_set(refusal, STATUS_INVALID,
			    "a share is from 0 to 100 percent, and its least is not above its "
			    "most: %u to %u",
			    facts->share_least, most);
		return -EINVAL;
	}
	if ((unsigned)facts->best_class > CLASS_LAST) {
		refusal_set(refusal, STATUS_INVALID, "there is no class %u",
			    (unsigned)facts->best_class);
		return -EINVAL;
	}
	if (facts->memory_bytes > MEMORY_MOST) {
		refusal_set(refusal, STATUS_INVALID, "a limit of memory is %llu bytes at most",
			    MEMORY_MOST);
		return -EINVAL;
	}
	job->share = (struct configuration_share){
		.given = facts->share_least > 0 || most < PERCENT,
		.least = facts->share_least,
		.most = most,
	};
	job->memory_bytes = facts->memory_bytes;
	job->best_class = (unsigned)facts->best_class;
	return 0;
}

static int job_read_devices(const Sycl__V1__JobFacts *facts, struct job *job,
			    struct refusal *refusal)
{
	size_t length = strlen(facts->devices);
	if (length == 0 && facts->devices_wanted == 0)
		return 0;
	if (length == 0 || length >= sizeof(job->devices_text)) {
		refusal_set(refusal, STATUS_INVALID,
			    "a number of devices needs a list of devices below %d bytes",
			    JOB_DEVICES_BYTES);
		return -EINVAL;
	}
	const char *wrong = configuration_devices_set(&job->devices, facts->devices,
						      (struct configuration_origin){.line = 0});
	if (wrong) {
		refusal_set(refusal, STATUS_INVALID, "devices %s, not '%.64s'", wrong,
			    facts->devices);
		return -EINVAL;
	}
	memcpy(job->devices_text, facts->devices, length + 1);
	job->devices_wanted = facts->devices_wanted;
	return 0;
}

int job_restore(struct supervisor *supervisor, const Sycl__V1__JobFacts *facts, struct job *job_out,
		struct refusal *refusal_out)
{
	struct job job = {.number = facts->job,
			  .uid = (uid_t)facts->uid,
			  .since_unix_seconds = facts->since_unix_seconds,
			  .is_suspended = facts->suspended};
	if (job.uid == (uid_t)-1 || (!supervisor->privileged && job.uid != geteuid())) {
		refusal_set(refusal_out, STATUS_INVALID, "this service does not serve uid %lu",
			    (unsigned long)facts->uid);
		return -EINVAL;
	}
	if (!is_group_path(facts->cgroup)) {
		refusal_set(refusal_out, STATUS_INVALID,
			    "a job needs the path of a control group below %d bytes, such as "
			    "/job_12, not '%.64s'",
			    CGROUP_BYTES - 1, facts->cgroup);
		return -EINVAL;
	}
	memcpy(job.cgroup, facts->cgroup, strlen(facts->cgroup) + 1);
	int r = job_read_bounds(facts, &job, refusal_out);
	if (r == 0)
		r = job_read_devices(facts, &job, refusal_out);
	if (r == 0)
		*job_out = job;
	return r;
}

/* Percent of the device's time that other jobs have been promised. */
static unsigned device_promised(const struct supervisor *supervisor, const struct job *except,
				unsigned backend, unsigned index)
{
	const struct job *job;
	unsigned promised = 0;
	TAILQ_FOREACH (job, &supervisor->jobs.list, link)
		if (job != except && job->devices.given &&
		    (job->devices.set.devices[backend] >> index & 1))
			promised += job->share.least;
	return promised;
}

/* Takes the device with the least promised time from the candidates. False: none has room. */
static bool job_take_device(const struct supervisor *supervisor, const struct job *known,
			    struct job *job, struct device_set *candidates)
{
	unsigned found_backend = 0, found_index = 0, least = PERCENT + 1;
	for (unsigned i = 0; i < DEVICE_SET_BACKENDS; i++)
		for (unsigned n = 0; n < 64; n++) {
			if (!(candidates->devices[i] >> n & 1))
				continue;
			unsigned promised = device_promised(supervisor, known, i, n);
			if (promised >= least)
				continue;
			least = promised;
			found_backend = i;
			found_index = n;
		}
	if (least + job->share.least > PERCENT)
		return false;
	candidates->devices[found_backend] &= ~(1ull << found_index);
	job->devices.set.devices[found_backend] |= 1ull << found_index;
	return true;
}

/* A job that is known keeps its devices, as long as it wants the same. */
static int job_choose_devices(const struct supervisor *supervisor, const struct job *known,
			      struct job *job, struct refusal *refusal)
{
	struct device_set candidates = job->devices.set;
	if (known && known->devices_wanted == job->devices_wanted &&
	    known->share.least >= job->share.least &&
	    strcmp(known->devices_text, job->devices_text) == 0) {
		job->devices = known->devices;
		return 0;
	}
	if (job->devices_wanted == 0)
		return 0;
	memset(&job->devices.set, 0, sizeof(job->devices.set));
	for (unsigned count = 0; count < job->devices_wanted; count++) {
		if (job_take_device(supervisor, known, job, &candidates))
			continue;
		refusal_set(refusal, STATUS_QUOTA,
			    "job %llu wants %u of the devices %.64s with %u %% of the time each, "
			    "and other jobs leave room on %u only",
			    (unsigned long long)job->number, job->devices_wanted, job->devices_text,
			    job->share.least, count);
		return -ENOSPC;
	}
	return 0;
}

static int job_check_group(struct supervisor *supervisor, const struct job *known, struct job *job,
			   struct refusal *refusal)
{
	const struct job *other;
	if (!job_group_exists(supervisor, job)) {
		refusal_set(refusal, STATUS_INVALID, "there is no control group %s", job->cgroup);
		return -ENOENT;
	}
	TAILQ_FOREACH (other, &supervisor->jobs.list, link)
		if (other != known && strcmp(other->cgroup, job->cgroup) == 0) {
			refusal_set(refusal, STATUS_INVALID,
				    "the control group %s is that of job %llu", job->cgroup,
				    (unsigned long long)other->number);
			return -EEXIST;
		}
	return 0;
}

int job_read(struct supervisor *supervisor, const Sycl__V1__JobFacts *facts,
	     const struct job *known, struct job *job_out, struct refusal *refusal_out)
{
	struct job job;
	int r = job_restore(supervisor, facts, &job, refusal_out);
	if (r < 0)
		return r;
	job.since_unix_seconds = known ? known->since_unix_seconds : (uint64_t)time(NULL);
	job.is_suspended = known && known->is_suspended;
	job.current = known ? known->current : NULL;
	if (known && known->uid != job.uid) {
		refusal_set(refusal_out, STATUS_INVALID,
			    "job %llu is of uid %lu, and has not ended yet",
			    (unsigned long long)known->number, (unsigned long)known->uid);
		return -EEXIST;
	}
	r = job_check_group(supervisor, known, &job, refusal_out);
	if (r == 0)
		r = job_choose_devices(supervisor, known, &job, refusal_out);
	if (r == 0)
		*job_out = job;
	return r;
}

bool job_is_equal(const struct job *job, const struct job *other)
{
	return job->uid == other->uid && strcmp(job->cgroup, other->cgroup) == 0 &&
	       job->inode == other->inode && job->share.given == other->share.given &&
	       job->share.least == other->share.least && job->share.most == other->share.most &&
	       job->memory_bytes == other->memory_bytes && job->best_class == other->best_class &&
	       job->devices_wanted == other->devices_wanted &&
	       strcmp(job->devices_text, other->devices_text) == 0;
}

void job_describe(const struct job *job, char *text_out, size_t bytes)
{
	char devices[JOB_DEVICES_BYTES];
	static const char *const classes[] = {"any class", "latency", "normal", "best-effort"};
	(void)snprintf(text_out, bytes,
		       "job %llu of uid %lu in %.200s: share %u-%u %%, memory %llu bytes, %s, "
		       "devices %.100s",
		       (unsigned long long)job->number, (unsigned long)job->uid, job->cgroup,
		       job->share.given ? job->share.least : 0,
		       job->share.given ? job->share.most : PERCENT,
		       (unsigned long long)job->memory_bytes, classes[job->best_class],
		       configuration_devices_text(&job->devices, devices, sizeof(devices)));
}

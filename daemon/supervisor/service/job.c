#include "service/job.h"

#include "base/peer.h"
#include "base/refusal.h"
#include "service/engine_state.h"
#include "service/supervisor.h"
#include "service/tenant_share.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct job *job_find(struct supervisor *supervisor, uint64_t number)
{
	struct job *job;
	TAILQ_FOREACH (job, &supervisor->jobs.list, link)
		if (job->number == number)
			return job;
	return NULL;
}

/* Does the job, or the job that has ended, concern the process? Root and administrators are not
 * bound by other users' jobs. */
static bool job_concerns(uid_t uid, const char *cgroup, const struct peer *peer)
{
	return (uid == peer->uid || !peer->is_operator) &&
	       cgroup_is_inside(peer->cgroup_outer, cgroup);
}

/* Returns the job with the innermost control group around the process; NULL: there is none. */
static struct job *job_around(struct supervisor *supervisor, const struct peer *peer)
{
	struct job *job, *found = NULL;
	TAILQ_FOREACH (job, &supervisor->jobs.list, link)
		if (job_concerns(job->uid, job->cgroup, peer) &&
		    (!found || strlen(job->cgroup) > strlen(found->cgroup)))
			found = job;
	return found;
}

/* Returns the inode of the control group; 0: there is none. `known_out`: false if that cannot be
 * seen. */
static uint64_t group_inode(const struct supervisor *supervisor, const char *cgroup,
			    bool *known_out)
{
	char path[PATH_MAX + CGROUP_BYTES];
	struct stat status;
	*known_out = supervisor->cgroup_mount[0] != '\0';
	if (!*known_out)
		return 0;
	(void)snprintf(path, sizeof(path), "%s%s", supervisor->cgroup_mount, cgroup);
	if (stat(path, &status) == 0)
		return status.st_ino;
	*known_out = errno == ENOENT;
	return 0;
}

bool job_group_exists(struct supervisor *supervisor, struct job *job)
{
	bool known;
	uint64_t inode = group_inode(supervisor, job->cgroup, &known);
	if (!known)
		return true;
	if (job->inode == 0)
		job->inode = inode;
	return inode != 0 && inode == job->inode;
}

/* Returns the number of the job that has ended in whose control group the process is; 0: none. The
 * control group must still be the same one. */
static uint64_t job_ended_around(struct supervisor *supervisor, const struct peer *peer)
{
	struct jobs *jobs = &supervisor->jobs;
	bool known;
	for (unsigned i = 0; i < jobs->ended_count; i++) {
		struct job_ended *ended = &jobs->ended[i];
		if (ended->number == 0 || !job_concerns(ended->uid, ended->cgroup, peer))
			continue;
		uint64_t inode = group_inode(supervisor, ended->cgroup, &known);
		if (!known || inode == ended->inode)
			return ended->number;
		ended->number = 0; /* another group has the path now */
	}
	return 0;
}

/* An engine serves one uid, so a job's engine cannot serve its processes of other uids, such as
 * those of subordinate uids in containers. An engine of their own would not be bound by the job. */
int job_find_of_peer(struct supervisor *supervisor, const struct peer *peer, struct job **job_out,
		     struct refusal *refusal_out)
{
	struct job *job = job_around(supervisor, peer);
	uint64_t ended = job ? 0 : job_ended_around(supervisor, peer);
	if (job && job->uid != peer->uid) {
		refusal_set(refusal_out, STATUS_RUNTIME,
			    "this process of uid %lu is in the control group of job %llu, which "
			    "is of uid %lu and may have sessions of that uid only",
			    (unsigned long)peer->uid, (unsigned long long)job->number,
			    (unsigned long)job->uid);
		return -EACCES;
	}
	if (ended) {
		refusal_set(refusal_out, STATUS_CONNECTION_LOST, "job %llu has ended",
			    (unsigned long long)ended);
		return -EACCES;
	}
	if (!job && supervisor->configuration.refuse_outside && !peer->is_operator) {
		refusal_set(refusal_out, STATUS_RUNTIME,
			    "this process is in no job with devices, and only jobs may use the "
			    "devices of this node (outside_jobs = refuse)");
		return -EACCES;
	}
	*job_out = job;
	return 0;
}

static void jobs_forget_ended(struct jobs *jobs, const struct job *job)
{
	for (unsigned i = 0; i < jobs->ended_count; i++)
		if (jobs->ended[i].number == job->number ||
		    strcmp(jobs->ended[i].cgroup, job->cgroup) == 0)
			jobs->ended[i].number = 0;
}

struct job *job_add(struct supervisor *supervisor, const struct job *job)
{
	struct jobs *jobs = &supervisor->jobs;
	struct job *added = jobs->count < JOBS_MAX ? malloc(sizeof(*added)) : NULL;
	if (!added)
		return NULL;
	*added = *job;
	jobs_forget_ended(jobs, job);
	TAILQ_INSERT_TAIL(&jobs->list, added, link);
	jobs->count++;
	return added;
}

static void job_leave_engines(struct supervisor *supervisor, const struct job *job)
{
	struct tenant *tenant;
	struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine->job == job)
				engine->job = NULL;
}

static void jobs_remember_ended(struct jobs *jobs, const struct job *job)
{
	struct job_ended *ended = &jobs->ended[jobs->ended_next];
	*ended = (struct job_ended){.number = job->number, .uid = job->uid, .inode = job->inode};
	memcpy(ended->cgroup, job->cgroup, sizeof(ended->cgroup));
	jobs->ended_next = (jobs->ended_next + 1) % JOBS_ENDED_MAX;
	if (jobs->ended_count < JOBS_ENDED_MAX)
		jobs->ended_count++;
}

void job_remove(struct supervisor *supervisor, struct job *job)
{
	job_leave_engines(supervisor, job);
	jobs_remember_ended(&supervisor->jobs, job);
	TAILQ_REMOVE(&supervisor->jobs.list, job, link);
	supervisor->jobs.count--;
	free(job);
}

void jobs_free(struct supervisor *supervisor)
{
	struct job *job;
	while ((job = TAILQ_FIRST(&supervisor->jobs.list))) {
		TAILQ_REMOVE(&supervisor->jobs.list, job, link);
		free(job);
	}
	supervisor->jobs.count = 0;
}

unsigned job_count_sessions(const struct supervisor *supervisor, const struct job *job)
{
	const struct tenant *tenant;
	const struct engine *engine;
	unsigned count = 0;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link) {
		if (tenant->uid != job->uid)
			continue;
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine->job == job)
				count += engine->sessions_count + engine->waiting_count;
	}
	return count;
}

struct engine **job_engine_place(struct tenant *tenant, struct job *job)
{
	return job ? &job->current : &tenant->current;
}

struct engine **engine_place(const struct engine *engine)
{
	return job_engine_place(engine->tenant, engine->job);
}

bool engine_is_current(const struct engine *engine)
{
	return *engine_place(engine) == engine;
}

void engine_leave_place(struct engine *engine)
{
	struct engine **place = engine_place(engine);
	if (*place == engine)
		*place = NULL;
}

/* Of two limits the smaller one; 0: none. */
static uint64_t limit_smaller(uint64_t one, uint64_t other)
{
	if (one == 0 || other == 0)
		return one ? one : other;
	return one < other ? one : other;
}

uint64_t engine_limit(const struct engine *engine, unsigned index)
{
	const struct job *job = engine->job;
	const char *name = configuration_limit_names[index];
	uint64_t value = tenant_limit(engine->tenant, index);
	if (!job)
		return value;
	if (strcmp(name, "tenant_device_bytes") == 0)
		return limit_smaller(value, job->memory_bytes);
	/* The classes are numbered from the best one on. */
	if (strcmp(name, "best_class") == 0 && job->best_class > value)
		return job->best_class;
	return value;
}

struct configuration_devices engine_devices(const struct engine *engine)
{
	struct configuration_devices devices = *tenant_devices(engine->tenant);
	const struct job *job = engine->job;
	if (!job || !job->devices.given)
		return devices;
	if (!devices.given)
		return job->devices;
	for (unsigned i = 0; i < DEVICE_SET_BACKENDS; i++)
		devices.set.devices[i] &= job->devices.set.devices[i];
	return devices;
}

struct configuration_share engine_share_configured(const struct engine *engine)
{
	struct configuration_share share = tenant_share(engine->tenant);
	const struct job *job = engine->job;
	if (!job || !job->share.given)
		return share;
	unsigned most = share.given ? share.most : 100;
	share = job->share;
	if (share.most > most)
		share.most = most;
	if (share.least > share.most)
		share.least = share.most;
	return share;
}

/*
 * A job: the processes of one user in one control group, as a manager of jobs has named them
 * (admin/jobs.h). All sessions of these processes have one engine of their own. The job narrows
 * what this engine may have; it never permits what its user may not have.
 */
#ifndef SYCLD_SUPERVISOR_JOB_H
#define SYCLD_SUPERVISOR_JOB_H

#include "base/cgroup.h"
#include "base/configuration.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct engine;
struct peer;
struct refusal;
struct supervisor;
struct tenant;

enum { JOBS_MAX = 4096, JOBS_ENDED_MAX = 256, JOB_DEVICES_BYTES = 256 };

struct job {
	TAILQ_ENTRY(job) link;
	uint64_t number; /* the manager's; not 0 */
	uid_t uid;
	char cgroup[CGROUP_BYTES];
	uint64_t inode;                   /* of the control group; 0: not known */
	struct configuration_share share; /* not given: as its user */
	uint64_t memory_bytes;            /* 0: as its user */
	unsigned best_class;              /* the protocol's SessionClass; 0: as its user */
	/* The devices that the manager named, how many of them it wanted, and those that the
	 * service chose. */
	char devices_text[JOB_DEVICES_BYTES];
	unsigned devices_wanted;
	struct configuration_devices devices; /* not given: as its user */
	bool is_suspended;
	uint64_t since_unix_seconds;
	struct engine *current; /* takes its new sessions; NULL: none, and one is started on demand
				 */
	/* The engine that it had under the last service; 0: none. */
	pid_t kept_pid;
	uint64_t kept_ticks;
};

TAILQ_HEAD(job_list, job);

/* A job that has ended. Processes that are left in its control group get no session. */
struct job_ended {
	uint64_t number;
	uid_t uid;
	char cgroup[CGROUP_BYTES];
	uint64_t inode;
};

struct jobs {
	struct job_list list;
	unsigned count;
	struct job_ended ended[JOBS_ENDED_MAX];
	unsigned ended_count, ended_next;
};

/* NULL: there is none. */
struct job *job_find(struct supervisor *supervisor, uint64_t number);

/*
 * Finds the job of a process: the one with the innermost control group around it. NULL: it is in
 * none, and may have a session. -EACCES: it may not, with the reason: the job is another user's or
 * has ended, or processes outside jobs are refused. Operators are in jobs of their own uid only,
 * and may have sessions everywhere else.
 */
int job_find_of_peer(struct supervisor *supervisor, const struct peer *peer, struct job **job_out,
		     struct refusal *refusal_out);

/* Adds a copy to the list. NULL: no memory, or there are JOBS_MAX jobs. */
struct job *job_add(struct supervisor *supervisor, const struct job *job);

/* Takes the job from its engines and the list, frees it, and remembers its control group. */
void job_remove(struct supervisor *supervisor, struct job *job);
void jobs_free(struct supervisor *supervisor);

/* The number of sessions of the job, also of those that wait for its engine. */
unsigned job_count_sessions(const struct supervisor *supervisor, const struct job *job);

/* The engine that takes the new sessions of the job, or of the tenant without one. */
struct engine **job_engine_place(struct tenant *tenant, struct job *job);
/* The same for the job or tenant of an engine. */
struct engine **engine_place(const struct engine *engine);
bool engine_is_current(const struct engine *engine);
/* The engine takes no new sessions from now on. */
void engine_leave_place(struct engine *engine);

/* What an engine is bound by: its tenant's, narrowed by its job's. As tenant_limits.h and
 * tenant_share.h. */
uint64_t engine_limit(const struct engine *engine, unsigned index);
struct configuration_devices engine_devices(const struct engine *engine);
struct configuration_share engine_share_configured(const struct engine *engine);

/* True if the job's control group exists, as far as can be seen, and is the one that the job began
 * with. Notes its inode if that is not known yet. */
bool job_group_exists(struct supervisor *supervisor, struct job *job);

#endif

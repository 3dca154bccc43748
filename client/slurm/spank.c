/*
 * The SPANK plug-in: fractions of devices as a resource of Slurm.
 *
 *   slurmd       prolog           asks slurmctld for the job's GRES, reads the options, leaves both
 *                                 in a file (facts.h)
 *   slurmstepd   init_post_opt    makes the job's control group and begins the job at the service
 *                task_init        moves the task into the group before it becomes the user's
 *                task_post_fork   watches whether the task is suspended (watch.h)
 *   slurmd       epilog           ends the job and removes group and file, also after a crash of
 *                                 slurmstepd
 */
#include "facts.h"
#include "group.h"
#include "order.h"
#include "settings.h"
#include "watch.h"

/* Slurm looks these names up. */
#pragma GCC visibility push(default)
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>

SPANK_PLUGIN(sycld, 1)
#pragma GCC visibility pop

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { OPTION_MEMORY = 1, OPTION_CLASS };

static int on_option(int value, const char *text, int remote);

static struct spank_option memory_option = {
	"sycl-memory",
	"BYTES",
	"device memory of the job on each node, such as 10G; needs sycld",
	1,
	OPTION_MEMORY,
	on_option};
static struct spank_option class_option = {
	"sycl-class",
	"CLASS",
	"best class of the job's sessions: latency, normal or best-effort",
	1,
	OPTION_CLASS,
	on_option};

static struct settings settings;
static struct facts facts;        /* of this step's job; its options count, not the step's */
static char group[GROUP_BYTES];   /* of this step's job; "": Slurm's own */
static bool is_bound;             /* the job wants something of the service */
static bool is_refused;           /* its tasks must not run on this node */
static char refusal[CAUSE_BYTES]; /* why */

static bool read_settings(int count, char **words)
{
	char wrong[CAUSE_BYTES];
	if (settings_read(count, words, &settings, wrong, sizeof(wrong)))
		return true;
	slurm_error("sycld: %s", wrong);
	return false;
}

static int on_option(int value, const char *text, int remote)
{
	bool is_memory = value == OPTION_MEMORY;
	(void)remote;
	if (!text || !(is_memory ? facts_is_memory(text) : facts_is_class(text))) {
		slurm_error("sycld: --%s needs %s, not '%s'",
			    is_memory ? "sycl-memory" : "sycl-class",
			    is_memory ? "a number of bytes, such as 10G"
				      : "latency, normal or best-effort",
			    text ? text : "");
		return ESPANK_BAD_ARG;
	}
	(void)snprintf(is_memory ? facts.memory : facts.class, FACT_BYTES, "%s", text);
	return ESPANK_SUCCESS;
}

int slurm_spank_init(spank_t spank, int count, char **words)
{
	(void)words;
	(void)count;
	if (spank_context() == S_CTX_SLURMD || spank_context() == S_CTX_JOB_SCRIPT)
		return ESPANK_SUCCESS;
	if (spank_option_register(spank, &memory_option) != ESPANK_SUCCESS ||
	    spank_option_register(spank, &class_option) != ESPANK_SUCCESS)
		return ESPANK_ERROR;
	return ESPANK_SUCCESS;
}

/* ------------------------------------- the prolog ---------------------------------------- */

static void read_job_options(spank_t spank, struct facts *facts_out)
{
	char *text = NULL;
	if (spank_option_getopt(spank, &memory_option, &text) == ESPANK_SUCCESS && text &&
	    facts_is_memory(text))
		(void)snprintf(facts_out->memory, FACT_BYTES, "%s", text);
	text = NULL;
	if (spank_option_getopt(spank, &class_option, &text) == ESPANK_SUCCESS && text &&
	    facts_is_class(text))
		(void)snprintf(facts_out->class, FACT_BYTES, "%s", text);
}

static void read_job_gres(uint32_t job, struct facts *facts_out)
{
	job_info_msg_t *message = NULL;
	if (slurm_load_job(&message, job, 0) != SLURM_SUCCESS) {
		(void)snprintf(facts_out->cause, CAUSE_BYTES,
			       "slurmctld does not say what job %lu has: %s", (unsigned long)job,
			       slurm_strerror(errno));
		return;
	}
	for (uint32_t i = 0; i < message->record_count; i++)
		if (message->job_array[i].job_id == job)
			facts_out->hundredths =
				facts_hundredths(message->job_array[i].tres_per_node);
	slurm_free_job_info_msg(message);
}

/* The file is made for every job, so that steps need not ask again. */
static void find_facts(uint32_t job, struct facts *wanted)
{
	read_job_gres(job, wanted);
	int r = facts_save(&settings, job, wanted);
	if (r < 0)
		slurm_error("sycld: job %lu: no file can be made in %s: %s", (unsigned long)job,
			    settings.state_dir, strerror(-r));
}

/* An error here would drain the node. So the cause is left for the job's steps. */
int slurm_spank_job_prolog(spank_t spank, int count, char **words)
{
	uint32_t job = 0;
	struct facts wanted = {.hundredths = 0};
	if (!read_settings(count, words) || spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS)
		return ESPANK_SUCCESS;
	read_job_options(spank, &wanted);
	find_facts(job, &wanted);
	return ESPANK_SUCCESS;
}

/* Nothing here fails the epilog, and each order has a deadline: a job ends without the service. */
int slurm_spank_job_epilog(spank_t spank, int count, char **words)
{
	uint32_t job = 0;
	struct facts wanted = {.hundredths = 0};
	char cause[CAUSE_BYTES];
	if (!read_settings(count, words) || spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS)
		return ESPANK_SUCCESS;
	if (facts_load(&settings, job, &wanted) == 0 && !facts_are_any(&wanted)) {
		facts_remove(&settings, job);
		return ESPANK_SUCCESS;
	}
	if (!order_job(&settings, "end", job, cause))
		slurm_error("sycld: job %lu: end: %s", (unsigned long)job, cause);
	if (group_is_own(&settings))
		group_remove(&settings, job);
	facts_remove(&settings, job);
	return ESPANK_SUCCESS;
}

/* -------------------------------------- a step ------------------------------------------- */

/* Slurm 22.05 goes on unless the number is negative, which ESPANK_ERROR is not. */
static int fail_step(uint32_t job, const char *cause)
{
	slurm_error("sycld: job %lu cannot use devices on this node: %s", (unsigned long)job,
		    cause);
	if (cause != refusal)
		(void)snprintf(refusal, sizeof(refusal), "%s", cause);
	return SLURM_ERROR;
}

static int begin_job(spank_t spank, const char *path)
{
	char cause[CAUSE_BYTES];
	uint32_t job = 0;
	uid_t uid = (uid_t)-1;
	if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_UID, &uid) != ESPANK_SUCCESS)
		return SLURM_ERROR;
	const struct job_place place = {.job = job, .uid = uid, .cgroup = path};
	return order_begin(&settings, &facts, &place, cause) ? ESPANK_SUCCESS
							     : fail_step(job, cause);
}

/* For the convenience of the job's programs, which are bound by their control group. A step has the
 * environment of the node where its job began, so this node's endpoint replaces that. */
static void set_environment(spank_t spank)
{
	char endpoint[SETTING_BYTES + 32];
	if (facts.class[0])
		(void)spank_setenv(spank, "SYCLD_CLASS", facts.class, 0);
	(void)snprintf(endpoint, sizeof(endpoint), "unix:%s/session.sock", settings.runtime_dir);
	if (settings.runtime_dir[0])
		(void)spank_setenv(spank, "SYCLD_ENDPOINT", endpoint, 1);
}

static int begin_step(spank_t spank, int count, char **words)
{
	char cause[CAUSE_BYTES];
	uint32_t job = 0;
	(void)snprintf(refusal, sizeof(refusal), "the plug-in is not set up");
	if (!read_settings(count, words) || spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS)
		return SLURM_ERROR;
	/* Slurm runs no prolog for a job that begins again soon after it was requeued. */
	int r = facts_load(&settings, job, &facts);
	if (r == -ENOENT)
		find_facts(job, &facts);
	else if (r < 0)
		return fail_step(job, "its file is not root's own");
	if (!facts_are_any(&facts))
		return ESPANK_SUCCESS;
	if (facts.cause[0])
		return fail_step(job, facts.cause);
	/* Without a share it would be bound no more than a process outside jobs. */
	if (!facts.hundredths)
		return fail_step(job, "--sycl-memory and --sycl-class need --gres=sycl:N");
	is_bound = true;
	set_environment(spank);
	if (!group_is_own(&settings))
		return ESPANK_SUCCESS;
	if (!group_make(&settings, job, group, cause))
		return fail_step(job, cause);
	return begin_job(spank, group);
}

/* The tasks fail, not the step, because a batch script's step that cannot begin is Slurm's sign of
 * an ill node, and a wrong option is not. */
int slurm_spank_init_post_opt(spank_t spank, int count, char **words)
{
	is_refused = spank_remote(spank) && begin_step(spank, count, words) != ESPANK_SUCCESS;
	return ESPANK_SUCCESS;
}

/* In the task's process, which is still root's. */
int slurm_spank_task_init_privileged(spank_t spank, int count, char **words)
{
	char path[GROUP_BYTES];
	uint32_t job = 0;
	(void)count;
	(void)words;
	if (!is_refused && !is_bound)
		return ESPANK_SUCCESS;
	if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS)
		return SLURM_ERROR;
	/* What is said here is in the job's output. */
	if (is_refused)
		return fail_step(job, refusal);
	if (group_is_own(&settings)) {
		int r = group_enter(group);
		return r == 0 ? ESPANK_SUCCESS : fail_step(job, strerror(-r));
	}
	if (!group_find_slurms(job, path))
		return fail_step(job, "Slurm has made no control group of version 2 for it: "
				      "cgroup=slurm needs ProctrackType=proctrack/cgroup");
	return begin_job(spank, path);
}

int slurm_spank_task_post_fork(spank_t spank, int count, char **words)
{
	uint32_t job = 0;
	pid_t pid = 0;
	(void)count;
	(void)words;
	if (!is_bound || spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_TASK_PID, &pid) != ESPANK_SUCCESS)
		return ESPANK_SUCCESS;
	int r = watch_task(&settings, job, pid);
	if (r < 0)
		slurm_error("sycld: job %lu: its suspension is not followed: %s",
			    (unsigned long)job, strerror(-r));
	return ESPANK_SUCCESS;
}

int slurm_spank_exit(spank_t spank, int count, char **words)
{
	(void)spank;
	(void)count;
	(void)words;
	watch_end();
	return ESPANK_SUCCESS;
}

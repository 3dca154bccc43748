#include "admin/jobs.h"

#include "admin/job_row.h"
#include "admin/jobs_begin.h"
#include "admin/jobs_file.h"
#include "admin/jobs_watch.h"
#include "admin/orders_limit.h"
#include "base/events.h"
#include "base/text.h"
#include "cleanup.h"
#include "control.pb-c.h"
#include "engine/control.h"
#include "engine/end.h"
#include "engine/job_end.h"
#include "engine/sharing.h"
#include "service/engine_state.h"
#include "service/supervisor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ACT_PAUSE = SYCL__V1__SESSION_ORDER__ACT__ACT_PAUSE,
	ACT_RESUME = SYCL__V1__SESSION_ORDER__ACT__ACT_RESUME,
	REASON_BYTES = 160,
	WHAT_BYTES = 512,
};

/* An order in progress, and its result. */
struct job_order {
	struct supervisor *supervisor;
	const Sycl__V1__JobCommand *command;
	const Sycl__V1__JobFacts *facts; /* the command's */
	struct job *job;                 /* NULL: there is none of this number */
	bool has_uid;                    /* it is known whose job it is, or would be */
	uid_t uid;
	unsigned reached;      /* sessions that it was for */
	char what[WHAT_BYTES]; /* for the log; "": nothing to log */
	struct refusal refusal;
};

/* The order applies in any case. The file passes it to the next service. */
static int job_order_save(struct job_order *order)
{
	int r = jobs_file_save(order->supervisor);
	if (r < 0)
		refusal_set(
			&order->refusal, STATUS_RUNTIME,
			"the order holds, but cannot be written to %s, so a restart loses it: %s",
			order->supervisor->directory.path, strerror(-r));
	return r;
}

/* New limits reach the engines of a job that was known; new devices need another engine. */
static void job_apply(struct job_order *order, bool has_other_devices)
{
	struct tenant *tenant;
	struct engine *engine, *next;
	TAILQ_FOREACH (tenant, &order->supervisor->tenants, link)
		for (engine = TAILQ_FIRST(&tenant->engines); engine; engine = next) {
			next = TAILQ_NEXT(engine, link);
			if (engine->job != order->job)
				continue;
			if (engine->was_ready && engine->state == ENGINE_READY)
				orders_engine_ready(engine);
			if (has_other_devices && engine_is_current(engine))
				engine_refuse_new_sessions(engine);
		}
	sharing_review(order->supervisor);
}

static int job_order_begin(struct job_order *order)
{
	struct job wanted;
	bool is_known = order->job != NULL;
	int r = job_read(order->supervisor, order->facts, order->job, &wanted, &order->refusal);
	if (r < 0)
		return r;
	bool has_other_devices = is_known && memcmp(&wanted.devices.set, &order->job->devices.set,
						    sizeof(wanted.devices.set)) != 0;
	if (!is_known) {
		order->job = job_add(order->supervisor, &wanted);
		if (!order->job) {
			refusal_set(&order->refusal, STATUS_QUOTA,
				    "there are as many jobs as there may be (%d)", JOBS_MAX);
			return -EUSERS;
		}
	} else if (job_is_equal(order->job, &wanted)) {
		return 0;
	} else {
		wanted.link = order->job->link;
		*order->job = wanted;
	}
	job_describe(order->job, order->what, sizeof(order->what));
	job_apply(order, has_other_devices);
	jobs_watch_start(order->supervisor);
	return job_order_save(order);
}

static int job_order_end(struct job_order *order)
{
	char why[REASON_BYTES], reason[REASON_BYTES / 2];
	if (!order->job)
		return 0;
	text_copy_printable(reason, sizeof(reason), order->command->reason);
	(void)snprintf(why, sizeof(why), "job %llu has ended%s%s",
		       (unsigned long long)order->job->number, *reason ? ": " : "", reason);
	(void)snprintf(order->what, sizeof(order->what), "%s", why);
	order->reached = job_end(order->supervisor, order->job, why);
	order->job = NULL;
	return job_order_save(order);
}

/* Sessions that an operator has paused stay paused when their job is resumed. */
static void job_send_resume(struct engine *engine)
{
	const struct session *session;
	TAILQ_FOREACH (session, &engine->sessions, link)
		if (session->paused_by.since_unix_seconds == 0)
			(void)engine_send_order(engine, session->id, ACT_RESUME, NULL, 0);
}

static int job_order_suspend(struct job_order *order, bool suspends)
{
	struct tenant *tenant;
	struct engine *engine;
	if (!order->job) {
		refusal_set(&order->refusal, STATUS_INVALID, "there is no job %llu",
			    (unsigned long long)order->facts->job);
		return -ENOENT;
	}
	order->reached = job_count_sessions(order->supervisor, order->job);
	if (order->job->is_suspended == suspends)
		return 0;
	order->job->is_suspended = suspends;
	(void)snprintf(order->what, sizeof(order->what), "job %llu is %s",
		       (unsigned long long)order->job->number, suspends ? "suspended" : "resumed");
	TAILQ_FOREACH (tenant, &order->supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link) {
			if (engine->job != order->job || !engine->was_ready ||
			    engine->state == ENGINE_STOPPING)
				continue;
			if (suspends)
				(void)engine_send_order(engine, 0, ACT_PAUSE, NULL, 0);
			else
				job_send_resume(engine);
		}
	return job_order_save(order);
}

static int job_order_carry_out(struct job_order *order)
{
	switch (order->command->act) {
	case SYCL__V1__JOB_ACT__JOB_ACT_BEGIN:
		return job_order_begin(order);
	case SYCL__V1__JOB_ACT__JOB_ACT_END:
		return job_order_end(order);
	case SYCL__V1__JOB_ACT__JOB_ACT_SUSPEND:
		return job_order_suspend(order, true);
	case SYCL__V1__JOB_ACT__JOB_ACT_RESUME:
		return job_order_suspend(order, false);
	default:
		refusal_set(&order->refusal, STATUS_INVALID, "this service has no such order");
		return -EINVAL;
	}
}

static void job_order_log(const struct job_order *order, const struct asker *asker, int r)
{
	if (!order->what[0] && r == 0)
		return;
	/* A user may have very many jobs. As events of nobody they would push out operators'. */
	const struct event event = {
		.kind = EVENT_ORDER, .has_uid = order->has_uid, .uid = order->uid};
	event_report(LOG_LEVEL_INFO, "job", event, "uid %lu: %s%s%s", (unsigned long)asker->uid,
		     order->what[0] ? order->what : "job", r < 0 ? "; error: " : "",
		     r < 0 ? order->refusal.text : "");
}

void jobs_report(struct supervisor *supervisor, struct asker *asker)
{
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	size_t room = supervisor->jobs.count + 1u;
	CLEANUP(free_pointer) struct job_row *rows = calloc(room, sizeof(*rows));
	CLEANUP(free_pointer)
	Sycl__V1__JobFacts **list = calloc(room, sizeof(Sycl__V1__JobFacts *));
	const struct job *job;
	if (!rows || !list) {
		admin_answer_error(asker, STATUS_MEMORY_ALLOCATION, "the service has no memory");
		return;
	}
	reply.jobs = list;
	TAILQ_FOREACH (job, &supervisor->jobs.list, link) {
		if (!asker->sees_all && !asker->may_manage_jobs && job->uid != asker->uid)
			continue;
		job_row_fill(&rows[reply.n_jobs], supervisor, job);
		list[reply.n_jobs] = &rows[reply.n_jobs].facts;
		reply.n_jobs++;
	}
	admin_answer(asker, &reply);
}

/* `job` NULL: it is gone. */
static void job_answer(struct asker *asker, const struct job *job,
		       const struct supervisor *supervisor, unsigned reached)
{
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	struct job_row row;
	Sycl__V1__JobFacts *list[1] = {&row.facts};
	if (job)
		job_row_fill(&row, supervisor, job);
	reply.jobs = list;
	reply.n_jobs = job != NULL;
	reply.ordered = reached;
	admin_answer(asker, &reply);
}

void jobs_take(struct supervisor *supervisor, struct asker *asker,
	       const Sycl__V1__JobCommand *command)
{
	struct job_order order = {
		.supervisor = supervisor, .command = command, .facts = command->job};
	if (!asker->may_manage_jobs) {
		admin_answer_error(asker, STATUS_INVALID,
				   "only root, administrators and members of the jobs' group may "
				   "manage jobs");
		return;
	}
	if (!order.facts || order.facts->job == 0 || order.facts->job >> 63) {
		admin_answer_error(asker, STATUS_INVALID, "a job has a number from 1 to 2^63 - 1");
		return;
	}
	order.job = job_find(supervisor, order.facts->job);
	order.has_uid = order.job || command->act == SYCL__V1__JOB_ACT__JOB_ACT_BEGIN;
	order.uid = order.job ? order.job->uid : (uid_t)order.facts->uid;
	int r = job_order_carry_out(&order);
	text_make_printable(order.refusal.text);
	job_order_log(&order, asker, r);
	if (r < 0)
		admin_answer_error(asker, order.refusal.code, order.refusal.text);
	else
		job_answer(asker, order.job, supervisor, order.reached);
}

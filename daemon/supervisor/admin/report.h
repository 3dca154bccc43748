/*
 * Answers to questions of operators. Engines are asked too, for a bounded time only: one that does
 * not answer is shown as such, and delays no other answer.
 */
#ifndef SYCLD_SUPERVISOR_REPORT_H
#define SYCLD_SUPERVISOR_REPORT_H

#include "account/query.h"
#include "admin/admin.h"

#include <stdint.h>
#include <sys/queue.h>

struct engine;
struct supervisor;
struct tenant;

enum inquiry_kind {
	INQUIRY_STATUS,
	INQUIRY_DEVICES,
	INQUIRY_SESSIONS,
	INQUIRY_VERSION,
	INQUIRY_ACCOUNTS,
	INQUIRY_TRACE,
	INQUIRY_LIMITS
};

struct inquiry {
	TAILQ_ENTRY(inquiry) link;
	struct supervisor *supervisor;
	uint64_t id;
	enum inquiry_kind kind;
	struct account_terms terms; /* INQUIRY_ACCOUNTS */
	uint64_t trace;             /* INQUIRY_TRACE: the trace's number, */
	struct trace_poll *poll;    /* and the records that have arrived */
	struct asker asker;
	unsigned awaited;         /* engines asked that have not answered */
	struct engine *discovers; /* an engine that is given more time, as it starts or looks for
				     devices; NULL: none */
	bool awaits_user; /* the user database is given more time to identify the user that asks */
	bool discovery_asked;
	char trouble[128]; /* why there is no discovery; "" if there is none */
	uv_timer_t timer;
};

TAILQ_HEAD(inquiry_list, inquiry);

/* The supervisor's part: questions without an answer. */
struct inquiries {
	struct inquiry_list list;
	unsigned count;
	uint64_t last; /* number that one was given */
};

/* Answer a request, now or later. Takes the asker. */
void report_inquire(struct supervisor *supervisor, struct asker *asker,
		    const Sycl__V1__AdminRequest *request);

/* The open question of that number. NULL: it was answered, perhaps without some engines. */
struct inquiry *report_find(struct supervisor *supervisor, uint64_t id);

/* An engine has answered a request; can be asked now; will never answer again. */
void report_arrived(struct engine *engine, uint64_t request);
void report_engine_ready(struct engine *engine);
/* The tenant is identified now, and its engine can be started. */
void report_tenant_identified(const struct tenant *tenant);
void report_engine_gone(struct engine *engine);

/* Drop all open questions; the loop must run once more. */
void report_drop_all(struct supervisor *supervisor);

/* report_reply.c: build and send the answer of an inquiry. */
void report_reply(struct inquiry *inquiry);

#endif

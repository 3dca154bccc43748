/* Replies to inquiries of operators. Engines get requests too, with a time limit. An engine that
 * does not reply is shown as such, and delays no other reply. */
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
	uint64_t trace;             /* INQUIRY_TRACE: the trace's number */
	struct trace_poll *poll;    /* INQUIRY_TRACE: the records that have arrived */
	struct asker asker;
	struct uid_place place;
	unsigned awaited; /* number of engines that have not replied */
	/* An engine that gets more time, because it starts or discovers devices; NULL: none. */
	struct engine *discovers;
	bool awaits_user; /* the user database gets more time to identify the requester */
	bool discovery_asked;
	char trouble[128]; /* reason for a missing discovery; "": none */
	uv_timer_t timer;
};

TAILQ_HEAD(inquiry_list, inquiry);

/* The supervisor's part: open inquiries. */
struct inquiries {
	struct inquiry_list list;
	uint64_t last; /* number of the latest inquiry */
};

/* Reply to a request, now or later. Takes the asker. */
void report_inquire(struct supervisor *supervisor, struct asker *asker,
		    const Sycl__V1__AdminRequest *request);

/*
 * Returns the open inquiry of that number. NULL: its reply was sent, perhaps without some engines.
 */
struct inquiry *report_find(struct supervisor *supervisor, uint64_t id);

/* Called when an engine has replied to a request; accepts requests; will never reply again. */
void report_arrived(struct engine *engine, uint64_t request);
void report_engine_ready(struct engine *engine);
/* Called when the tenant is identified, and its engine can be started. */
void report_tenant_identified(const struct tenant *tenant);
void report_engine_ended(struct engine *engine);

/* Drops all open inquiries; the loop must run once more. */
void report_drop_all(struct supervisor *supervisor);

/* report_reply.c: builds and sends the reply of an inquiry. */
void report_reply(struct inquiry *inquiry);

#endif

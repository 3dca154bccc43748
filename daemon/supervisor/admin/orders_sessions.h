/*
 * Orders for single sessions in the file of orders (orders_file.h): who has paused a session, and
 * its own limits. The session's engine keeps the orders themselves. The service keeps them to show
 * them, and to name the operators.
 */
#ifndef SYCLD_SUPERVISOR_ORDERS_SESSIONS_H
#define SYCLD_SUPERVISOR_ORDERS_SESSIONS_H

#include "admin.pb-c.h"
#include "base/order_origin.h"

#include <stddef.h>
#include <stdint.h>

struct engine;
struct supervisor;

/* Who has paused a session of an engine that may come back. */
struct kept_pause {
	uint64_t session;
	struct order_origin by; /* zeroed once the session is back */
};

/* A limit that was ordered for such a session only. */
struct kept_session_limit {
	uint64_t session;
	unsigned index; /* of configuration_limit_names */
	uint64_t value; /* 0 once the session is back */
	struct order_origin by;
};

/* Rows for the file. Zeroed: empty. */
struct kept_of_sessions {
	Sycl__V1__OrderOrigin *origins; /* of the pauses, then of the limits */
	Sycl__V1__KeptPause *pauses;
	Sycl__V1__KeptPause **pause_list;
	Sycl__V1__LimitFacts *limits;
	Sycl__V1__LimitFacts **limit_list;
	size_t pause_room, pause_count;
	size_t limit_room, limit_count;
};

/* Collects the orders for all sessions, also for those of engines that may still come back. Beyond
 * 8192 pauses or 8192 limits the others are left out. -ENOMEM. */
int kept_of_sessions_collect(const struct supervisor *supervisor, struct kept_of_sessions *kept);
/* The message borrows the rows. */
void kept_of_sessions_fill(const struct kept_of_sessions *kept, Sycl__V1__KeptOrders *orders);
void kept_of_sessions_fini(struct kept_of_sessions *kept);

/* Copies what was read until the engines come back. Without memory it is not known then. */
void kept_of_sessions_restore(struct supervisor *supervisor, const Sycl__V1__KeptOrders *kept);
/* An engine has come back with its sessions: the orders for them are known again. */
void kept_of_sessions_recall(struct engine *engine);
/* Frees what was read for engines that have not come back. */
void kept_of_sessions_forget(struct supervisor *supervisor);

void kept_origin_fill(Sycl__V1__OrderOrigin *row, const struct order_origin *by);
/* NULL: not known. */
struct order_origin kept_origin_read(const Sycl__V1__OrderOrigin *row);

#endif

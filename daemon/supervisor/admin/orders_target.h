/* The target of an order: a session, a user, or all users. */
#ifndef SYCLD_SUPERVISOR_ORDERS_TARGET_H
#define SYCLD_SUPERVISOR_ORDERS_TARGET_H

#include "base/order_origin.h"
#include "base/refusal.h"
#include "admin.pb-c.h"
#include "status.h"

#include <stdint.h>
#include <sys/types.h>

struct engine;
struct session;
struct supervisor;
struct tenant;

enum { ORDER_REASON_BYTES = 160, ORDER_TARGET_BYTES = 160 };

/* An order, its target and its result. */
struct target {
	struct supervisor *supervisor;
	const Sycl__V1__OrderCommand *order;
	uid_t uid;               /* the operator who gave the order */
	struct tenant *tenant;   /* NULL: all tenants */
	struct engine *engine;   /* the session's engine, or NULL */
	struct session *session; /* NULL: all sessions */
	unsigned limit;          /* the ordered limit: index in configuration_limit_names */
	unsigned reached;        /* number of sessions that the order was sent to */
	char reason[ORDER_REASON_BYTES];
	struct refusal refusal;
};

/* The operator, and the present time. */
struct order_origin order_origin_of(const struct target *target);

/* Sets the error of the reply. Returns -EINVAL. */
__attribute__((format(printf, 3, 4))) int order_refuse(struct target *target, enum sycl_status code,
						       const char *format, ...);

/* Finds the target that the order names. 0, or -EINVAL with the error of the reply. */
int order_find_target(struct target *target);

/* Returns the session of that id that the engine has not received yet; NULL: there is none. */
struct session *order_waiting_session(struct engine *engine, uint64_t id);

/* Describes the target for the log. Called before the order is carried out, because a dropped
 * session is freed afterwards. */
void order_target_text(const struct target *target, char out[ORDER_TARGET_BYTES]);

#endif

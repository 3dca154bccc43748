/* Orders that change limits. Sends limits to engines that start, return, or run when the
 * configuration changes. */
#ifndef SYCLD_SUPERVISOR_ORDERS_LIMIT_H
#define SYCLD_SUPERVISOR_ORDERS_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct supervisor;
struct target;
struct tenant;

/* Checks the limit in the order, and keeps the limit of a user or of all users. 0, or -EINVAL with
 * the error of the reply. is_of_engines: the limit must be sent to engines, too. */
int order_set_limit(struct target *target, bool *is_of_engines_out);

/* Called when the limit was sent to the engine. Keeps the limit of a single session for `syclctl
 * limits`. A limit of all sessions does not replace those of single ones. */
void order_keep_limit(const struct target *target);

/* Called when the engine accepts messages. Sends the limits of its tenant, before any session. */
void orders_engine_ready(struct engine *engine);

/* Called when an engine has returned from an earlier service, which may have had other limits and
 * devices. Looks the user up, so that the engine's open sessions get the user's limits. */
void orders_engine_returned(struct engine *engine);

/* Called when the tenant's sections of the configuration are known, or may have changed. Sends the
 * tenant's limits to running engines. New sessions get an engine with the tenant's devices. */
void orders_tenant_identified(struct tenant *tenant);

/* Called when the configuration was read again. */
void orders_reloaded(struct supervisor *supervisor);

#endif

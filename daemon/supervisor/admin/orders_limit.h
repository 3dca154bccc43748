/* Orders that change limits, and the limits of engines that start, return or run on with a new
 * configuration. */
#ifndef SYCLD_SUPERVISOR_ORDERS_LIMIT_H
#define SYCLD_SUPERVISOR_ORDERS_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct configuration;
struct engine;
struct supervisor;
struct target;
struct tenant;

/* Checks the limit in the order, and keeps the limit of a user or of all users. 0, or -EINVAL with
 * the error of the reply. is_of_engines: the limit must be sent to engines, too. */
int order_set_limit(struct target *target, bool *is_of_engines_out);

/* Called when the engine was sent the limit: keeps the limit of a single session for `syclctl
 * limits`. A limit of all sessions leaves those of single ones in force. */
void order_keep_limit(const struct target *target);

/* The limit of a tenant: as ordered or configured for that tenant, else as for all users. 0: the
 * engine's own default. */
uint64_t order_tenant_limit(const struct tenant *tenant, unsigned index);

/* The engine takes messages now. Sends the limits of the engine's tenant, ahead of any session. */
void orders_engine_ready(struct engine *engine);

/* The configuration has changed from `before`. Running engines get the new limits, except those
 * that were ordered for their tenant. */
void orders_reloaded(struct supervisor *supervisor, const struct configuration *before);

/* The engine came back from an earlier service, which may have had other limits. Sends all
 * configured limits. */
void orders_engine_returned(struct engine *engine);

#endif

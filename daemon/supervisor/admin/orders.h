/*
 * Orders of operators (proto/admin.proto: OrderCommand): sessions end, pause and go on, no new
 * session is accepted, limits change. Only from root and the admin socket. Orders about users and
 * limits hold until the service ends; limits of all users until sycld.conf is read again.
 */
#ifndef SYCLD_SUPERVISOR_ORDERS_H
#define SYCLD_SUPERVISOR_ORDERS_H

#include "admin/admin.h"

#include <stdbool.h>

struct configuration;
struct engine;
struct tenant;

/* Carry the order out and reply. */
void orders_take(struct supervisor *supervisor, struct asker *asker,
		 const Sycl__V1__OrderCommand *order);

/* The engine takes messages now: send the orders about its tenant, ahead of any session. */
void orders_engine_ready(struct engine *engine);

/* The configuration has changed from `before`: engines that run get the new limits, but for ordered
 * ones. */
void orders_reloaded(struct supervisor *supervisor, const struct configuration *before);

/* The engine came back from an earlier service, which may have had other limits: send all that are
 * configured. */
void orders_engine_returned(struct engine *engine);

#endif

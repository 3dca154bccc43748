/*
 * What operators order (proto/admin.proto: OrderCommand): sessions end, rest and go on, nobody new
 * is let in, limits change. Of root and the admin socket only. What is said of users and of limits
 * holds until the service ends; limits of everybody until sycld.conf is read again.
 */
#ifndef SYCLD_SUPERVISOR_ORDERS_H
#define SYCLD_SUPERVISOR_ORDERS_H

#include "admin/admin.h"

#include <stdbool.h>

struct configuration;
struct engine;
struct tenant;

/* Do it and answer. */
void orders_take(struct supervisor *supervisor, struct asker *asker,
		 const Sycl__V1__OrderCommand *order);

/* It takes messages now: what was said of its tenant before, ahead of any session. */
void orders_engine_ready(struct engine *engine);

/* The configuration is another one than `before`: engines that run get its limits, but for those
 * that were ordered. */
void orders_reloaded(struct supervisor *supervisor, const struct configuration *before);

/* It came back from an earlier service, which may have had other limits: tell it all that are
 * configured. */
void orders_engine_returned(struct engine *engine);

#endif

/*
 * An operator's orders for sessions (proto/control.proto: SessionOrder): end them, leave them
 * unread for a while, let them go on, other limits. Front thread. Orders for a session that this
 * engine does not have are ignored.
 */
#ifndef SYCL_ENGINE_ENGINE_ORDERS_H
#define SYCL_ENGINE_ENGINE_ORDERS_H

#include "control.pb-c.h"

struct engine;

/* Returns the number of sessions that the order has reached. -EINVAL: no such order, limit or
 * value; -ENOMEM. */
int engine_order(struct engine *engine, const Sycl__V1__SessionOrder *order);

#endif

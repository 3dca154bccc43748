/*
 * What an operator wants of sessions (proto/control.proto: SessionOrder): end them, leave them
 * unread for a while, let them go on, other limits. Front thread. What is ordered of a session that
 * is not here, or no more, is nothing.
 */
#ifndef SYCL_ENGINE_ENGINE_ORDERS_H
#define SYCL_ENGINE_ENGINE_ORDERS_H

#include "control.pb-c.h"

struct engine;

/* How many sessions it has reached. -EINVAL: no such order, limit or value; -ENOMEM. */
int engine_order(struct engine *engine, const Sycl__V1__SessionOrder *order);

#endif

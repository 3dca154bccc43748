/*
 * Orders of operators (proto/admin.proto: OrderCommand). They end, pause and resume sessions, stop
 * the service from accepting new ones, and change limits. Only root and the admin socket may send
 * them. Drains and limits apply until they are taken back, in later services too. Limits of one
 * session apply until it ends.
 */
#ifndef SYCLD_SUPERVISOR_ORDERS_H
#define SYCLD_SUPERVISOR_ORDERS_H

#include "admin/admin.h"

struct supervisor;

/* Carries the order out and replies. */
void orders_take(struct supervisor *supervisor, struct asker *asker,
		 const Sycl__V1__OrderCommand *order);

#endif

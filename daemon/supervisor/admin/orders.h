/*
 * Orders of operators (proto/admin.proto: OrderCommand): sessions end, pause and go on, no new
 * session is accepted, limits change. Only from root and the admin socket. Drains and limits hold
 * until they are taken back, also for the services that follow; limits of one session until it
 * ends.
 */
#ifndef SYCLD_SUPERVISOR_ORDERS_H
#define SYCLD_SUPERVISOR_ORDERS_H

#include "admin/admin.h"

struct supervisor;

/* Carry the order out and reply. */
void orders_take(struct supervisor *supervisor, struct asker *asker,
		 const Sycl__V1__OrderCommand *order);

#endif

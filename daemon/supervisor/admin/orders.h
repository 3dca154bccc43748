/*
 * Orders of operators (proto/admin.proto: OrderCommand). They end, pause and resume sessions, stop
 * the service from accepting new ones, and change limits. Only root and the admin socket may send
 * them. Orders about users and limits apply until the service ends; limits of all users until
 * sycld.conf is read again.
 */
#ifndef SYCLD_SUPERVISOR_ORDERS_H
#define SYCLD_SUPERVISOR_ORDERS_H

#include "admin/admin.h"

struct supervisor;

/* Carry the order out and reply. */
void orders_take(struct supervisor *supervisor, struct asker *asker,
		 const Sycl__V1__OrderCommand *order);

#endif

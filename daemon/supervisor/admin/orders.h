/*
 * Orders of operators (proto/admin.proto: OrderCommand): sessions end, pause and go on, no new
 * session is accepted, limits change. Only from root and the admin socket. Orders about users and
 * limits hold until the service ends; limits of all users until sycld.conf is read again.
 */
#ifndef SYCLD_SUPERVISOR_ORDERS_H
#define SYCLD_SUPERVISOR_ORDERS_H

#include "admin/admin.h"

struct supervisor;

/* Carry the order out and reply. */
void orders_take(struct supervisor *supervisor, struct asker *asker,
		 const Sycl__V1__OrderCommand *order);

#endif

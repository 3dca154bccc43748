/* A built command group on its way into the submit ring. */
#ifndef SYCL_CLIENT_SUBMIT_H
#define SYCL_CLIENT_SUBMIT_H

#include "handler/handler.h"

/*
 * submit.c: validates the command group against the queue, writes its record and makes its event;
 * `event_out` may be NULL. The handler never changes here, so several threads may submit a frozen
 * one at a time.
 */
sycl_result handler_submit(struct handler *handler, struct queue *queue, sycl_event *event_out);
/* The same for one step of what is one command group to the program, on the handler's queue. */
sycl_result handler_submit_step(struct handler *handler, sycl_event *event_out);

/*
 * usm_staging.c: a copy from or to memory of the program, which was checked. Sends one group or
 * more; `event_out` may be NULL. Without locks.
 */
sycl_result usm_submit_staged(const struct handler *handler, sycl_event *event_out);

#endif

/* A built command group on its way into the submit ring. */
#ifndef SYCL_CLIENT_SUBMIT_H
#define SYCL_CLIENT_SUBMIT_H

#include "handler/handler.h"

/*
 * handler_submit.c: is it what the queue takes? Then send it; `event_out` may be NULL. The handler
 * itself never changes here, so a frozen one is sent from several threads at a time.
 */
sycl_result handler_send(struct handler *handler, struct queue *queue, sycl_event *event_out);
/* One group that needs nothing before or behind it (usm_staging.c). */
sycl_result handler_send_whole(struct handler *handler, sycl_event *event_out);

/*
 * usm_staging.c: a copy from or to memory of the program, which was checked. Sends one group or
 * more; `event_out` may be NULL. Without locks.
 */
sycl_result usm_send_staged(const struct handler *handler, sycl_event *event_out);

#endif

/*
 * The results of the checks of a command group, kept beside its shape. The next group of that shape
 * differs in numbers, events and values only. So all else need not be looked up and checked again.
 * The results hold as long as no object that a group can name has failed or was released since
 * (session.objects_changed). Limits, order and dependencies are no part of it. Front thread.
 */
#ifndef SYCL_ENGINE_GROUP_CHECKED_H
#define SYCL_ENGINE_GROUP_CHECKED_H

#include "command.pb-c.h"
#include "scheduler/public/scheduler.h"

struct group_checked;
struct queue;
struct session;

/* The queue, if the checks hold; else NULL, also for `checked` NULL. */
struct queue *group_checked_queue(const struct session *session,
				  const struct group_checked *checked);
/* Only while the checks hold: fills in requirements and action. */
void group_checked_put(const struct group_checked *checked, struct task_request *request);
/* The results of the checks. */
const struct task_launch *group_checked_launch(const struct group_checked *checked);
const struct task_requirement *group_checked_requirements(const struct group_checked *checked,
							  uint32_t *count_out);
const char *group_checked_what(const struct group_checked *checked);
/*
 * After checks that found nothing: keeps their results in `*checked`, which is made at first use.
 * Not those of a launch with USM arguments or properties, which other things change too. The
 * values of the arguments must stay where they are until it is freed.
 */
void group_checked_keep(const struct session *session, struct queue *queue,
			const struct task_request *request, struct group_checked **checked);
/*
 * The results are one block without references. So a session that ends frees the block by itself.
 */
struct group_checked *group_checked_free(struct group_checked *checked);

#endif

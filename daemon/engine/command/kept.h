/* kept.c: stretches that come again and again (session/kept.h). Front thread. */
#ifndef SYCL_ENGINE_COMMAND_KEPT_H
#define SYCL_ENGINE_COMMAND_KEPT_H

#include "command/command.h"

#include <stdint.h>

#define KEPT_WAITS (-1)

/*
 * Takes the current group, which is applied to its shape, and the others of its stretch. Returns
 * their number. 0: no stretch was taken, and the group is to be run as always. KEPT_WAITS: the rest
 * is about to come, and the group is read again then.
 */
int command_take_kept(struct session *session, uint32_t shape, const Sycl__V1__CommandGroup *group);
/* A group of this shape was read. Ignored for a group that was read before. `has_event`: the
 * program has its event. */
void command_kept_note(struct session *session, uint32_t shape, const struct queue *queue,
		       uint64_t group, bool has_event);
/* Another record than a group's by shape has come. */
void command_kept_end_row(struct session *session);
/* `taken` groups, the first of this shape, became the session's latest task. */
void command_kept_watch(struct session *session, uint32_t shape, uint32_t taken);

#endif

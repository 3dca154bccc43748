/*
 * Deadlines of commands: the limits group_seconds, and orphan_seconds where the client has ended or
 * an operator ended the session. Neither CUDA nor PoCL can end a kernel. So past the deadline the
 * engine ends, as after a device's failure, and the group is named. In an application's process its
 * sessions end. A timer runs only while a session has a deadline.
 */
#ifndef SYCL_ENGINE_ENGINE_DEADLINE_H
#define SYCL_ENGINE_ENGINE_DEADLINE_H

struct engine;

/* A limit has changed, a session has come, or has lost its client. */
void engine_deadline_review(struct engine *engine);

#endif

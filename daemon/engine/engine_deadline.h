/*
 * Deadlines of commands (the limit group_seconds): neither CUDA nor PoCL can end a kernel, so past it the engine ends, as after
 * a device's failure, and the group is named. In an application's process its sessions end. A timer runs only while
 * somebody has a deadline.
 */
#ifndef SYCL_ENGINE_ENGINE_DEADLINE_H
#define SYCL_ENGINE_ENGINE_DEADLINE_H

struct engine;

/* A limit has changed, or a session has come. */
void engine_deadline_review(struct engine *engine);

#endif

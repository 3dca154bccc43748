/* Memory of devices that several engines use: the front thread's part (worker/spill/room.h). */
#ifndef SYCL_ENGINE_SCHED_ROOM_H
#define SYCL_ENGINE_SCHED_ROOM_H

struct scheduler;

/* Devices need room, or have made some: calls back. */
void sched_room_collect(struct scheduler *scheduler);

#endif

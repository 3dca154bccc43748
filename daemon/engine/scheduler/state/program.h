/* Programs, their kernels, and questions about their occupancy. */
#ifndef SYCL_ENGINE_SCHED_PROGRAM_H
#define SYCL_ENGINE_SCHED_PROGRAM_H

#include "base/mailbox.h"
#include "scheduler/state/notice.h"
#include "scheduler/state/task.h"

#include "backend.h"
#include "surprise.h"

#include <stdbool.h>
#include <stdint.h>

struct sched_occupancy {
	struct sched_message message;
	struct sched_kernel *kernel;
	void *owner;
	uint64_t local[3], local_mem_bytes;
	struct sched_notice notice;
	/* the loader's, until the message comes back */
	struct backend_occupancy answer;
	struct backend_fault fault;
};

struct sched_program {
	struct sched_message message;
	struct scheduler *scheduler;
	struct scheduler_device *device;
	void *owner, *binary;
	size_t binary_bytes;
	bool is_native; /* `binary` is a list of native handles */
	enum backend_program_state state;
	uint32_t references; /* held by the owner, by the load and by kernels that are being made */
	struct sched_notice notice;
	/* the loader's, until the message comes back */
	struct backend_program *handle;
	char *names;
	struct backend_fault fault;
};

/* The range of a launch. */
struct sched_range {
	uint32_t dimensions;
	uint64_t global[3], local[3], offset[3];
};

/* A program launches one kernel with a few ranges in turn, such as a product with several sizes. */
#define SCHED_SEEN_RANGES 4u

struct sched_seen {
	struct sched_range range; /* dimensions 0: none */
	uint64_t at;              /* device.novelties at its latest launch */
};

struct sched_kernel {
	struct sched_message message;
	struct scheduler *scheduler;
	struct sched_program *program; /* until the kernel is made; NULL with `native` */
	uint64_t native;               /* the application's native kernel; 0: none */
	struct scheduler_device *device;
	void *owner;
	char *name;
	uint32_t references;  /* owner, creation, open tasks, questions */
	bool made;            /* true also if making the kernel has failed, see `fault` */
	struct task *waiting; /* launches that wait for the kernel, by kernel_next */
	struct sched_seen seen[SCHED_SEEN_RANGES]; /* ranges of launches that have succeeded */
	uint64_t period_ns;                        /* recent time of one launch; 0: not known */
	struct surprise surprise;                  /* of the kernel's bursts */
	struct sched_notice notice;
	/* the loader's, until the message comes back */
	struct backend_kernel *handle;
	struct backend_kernel_facts facts;
	struct backend_fault fault;
};

void sched_program_returned(void *object);
void sched_kernel_returned(void *object);
void sched_kernel_drop(struct sched_kernel *kernel);
void sched_program_notify(void *object);
void sched_kernel_notify(void *object);
void sched_program_destroy(void *object);
void sched_kernel_destroy(void *object);
/* The launch holds the kernel, and waits for it if it is not made yet. */
void sched_kernel_use(struct sched_kernel *kernel, struct task *task);
/* The launch is done. */
void sched_kernel_unuse(struct task *task);
void sched_occupancy_returned(void *object);
void sched_occupancy_notify(void *object);

#endif

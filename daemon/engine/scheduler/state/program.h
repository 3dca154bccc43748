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

/*
 * The numbers of dimensions for which a program was built; shared by the program, its kernels and
 * its additions. Bit d - 1 is for d dimensions.
 */
struct sched_variants {
	uint32_t references;
	uint32_t ready, coming;
	struct task *waiting;          /* launches that wait for one of `coming`, by kernel_next */
	struct sched_cause *causes[3]; /* why one did not come; NULL: it was not expected */
};

/* A binary for other numbers of dimensions, on its way to the device. */
struct sched_addition {
	struct sched_message message;
	struct sched_program *program; /* held */
	uint32_t dimensions;           /* the bits */
	void *binary;
	size_t binary_bytes;
	struct backend_fault fault; /* the loader's, until the message comes back */
};

struct sched_program {
	struct sched_message message;
	struct scheduler *scheduler;
	struct scheduler_device *device;
	void *owner, *binary;
	size_t binary_bytes;
	struct sched_variants *variants; /* NULL: it has all */
	bool is_native;                  /* `binary` is a list of native handles */
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
	struct sched_variants *variants; /* the program's; NULL: it has all */
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
void sched_addition_returned(void *object);
void sched_kernel_returned(void *object);
void sched_kernel_drop(struct sched_kernel *kernel);
void sched_program_notify(void *object);
void sched_kernel_notify(void *object);
void sched_program_destroy(void *object);
void sched_kernel_destroy(void *object);
/* The launch holds the kernel, and waits for it if it is not made yet. */
void sched_kernel_use(struct sched_kernel *kernel, struct task *task);
/* variants.c. With those that are ready; NULL: no memory. */
struct sched_variants *sched_variants_create(uint32_t dimensions);
/* Accept NULL. */
struct sched_variants *sched_variants_hold(struct sched_variants *variants);
void sched_variants_drop(struct sched_variants *variants);
/* The launch waits for its number of dimensions, if that is coming. If it did not come, the launch
 * fails for the same cause. */
void sched_variants_await(struct sched_variants *variants, struct task *task);
static inline uint32_t sched_variant_bit(uint32_t dimensions)
{
	return 1u << (dimensions - 1);
}
/* False: a launch with so many dimensions would wait, or fail. */
static inline bool sched_variants_are_ready(const struct sched_variants *variants,
					    uint32_t dimensions)
{
	return !variants || (variants->ready & sched_variant_bit(dimensions)) != 0;
}
/* The launch waits in this list; and in none any more. */
void sched_kernel_wait(struct task *task, struct task **list);
void sched_kernel_end_wait(struct task *task);
/* The launch is done. */
void sched_kernel_unuse(struct task *task);
void sched_occupancy_returned(void *object);
void sched_occupancy_notify(void *object);

#endif

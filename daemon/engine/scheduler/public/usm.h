/* Unified shared memory of a backend. */
#ifndef SYCL_ENGINE_PUBLIC_USM_H
#define SYCL_ENGINE_PUBLIC_USM_H

#include "backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_program;
struct sched_usm;
struct scheduler_device;

/* Allocates USM of the backend (BACKEND_FEATURE_USM). on_usm_ready follows. The caller releases it
 * once, after that, when no task uses it any more. */
int sched_usm_allocate(struct scheduler_device *device, enum backend_usm_kind kind,
		       uint64_t size_bytes, uint64_t alignment_bytes, void *owner,
		       struct sched_usm **usm_out);
/*
 * The same for a variable of a loaded program, by name (BACKEND_FEATURE_VARIABLE). The program
 * outlives it.
 */
int sched_usm_find_variable(struct sched_program *program, const char *name, void *owner,
			    struct sched_usm **usm_out);
/* The size of the memory; that of a variable is known once it was found. */
uint64_t sched_usm_bytes(const struct sched_usm *usm);
void sched_usm_release(struct sched_usm *usm);

#endif

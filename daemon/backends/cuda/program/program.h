/*
 * Loaded programs. A portable program has no variables. So a loaded one serves every session of the
 * engine with the same bytes. It stays loaded for a while without holders, ready for the next
 * process. Others are loaded again each time, because their variables belong to one bundle.
 *
 * The driver may wait for running kernels when it unloads. So the last release, on the device's
 * thread, unloads nothing. The next program_load does, on the loader's thread, or the close of the
 * device.
 */
#ifndef SYCL_BACKENDS_CUDA_PROGRAM_H
#define SYCL_BACKENDS_CUDA_PROGRAM_H

#include "cuda/program/binary.h"
#include "cuda/program/launch.h"

struct cuda_modules {
	struct cuda_modules *next; /* in kernels->modules, the last used first; under kernels->lock,
				      with `references` */
	uint32_t references;
	void *bytes; /* what it was loaded from, where it may be shared; NULL otherwise */
	size_t count;
	struct cuda_binary *binary;
	CUmodule modules[CUDA_IMAGES_MAX];
	bool waits; /* every kernel begins with a wait for those before it (program/ptx_wait.h),
		       except for those that wait themselves */
};

struct backend_program {
	struct backend_device *device;
	_Atomic uint32_t references; /* its kernels hold it, and templates of chains that name a
					function of it */
	_Atomic uint32_t
		templates; /* references of the last kind: never more than there are of all */
	struct cuda_modules *modules;
};

/* backend_device.kernels */
struct cuda_kernels {
	pthread_mutex_t lock;
	struct cuda_modules *modules;
	_Atomic bool
		was_abandoned; /* some program is held by templates alone: they must release it */
	struct cuda_window window;
};

void cuda_program_hold(struct backend_program *program);
/* Any thread. Accepts NULL. */
void cuda_program_drop(struct backend_program *program);

/* Call backend_device.on_abandoned if some program may have been left to templates alone since the
 * last call. Device thread. */
void cuda_abandoned_notify(struct backend_device *device);

/* Unload all; the device closes, and everything of it was freed before. */
void cuda_modules_close(struct backend_device *device);

/* program/window.c: run a tiny kernel, in the context that is current. Failing is no fault: local
 * memory for native kernels is refused then. */
void cuda_window_find(const struct cuda_library *cu, struct cuda_window *window_out);

#endif

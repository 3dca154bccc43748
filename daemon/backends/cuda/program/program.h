/*
 * Loaded programs. A portable program has no variables. So a loaded program serves every session of
 * the engine that has the same bytes. It stays loaded for a while without holders, ready for the
 * next process. Other programs are loaded again each time, because their variables belong to one
 * bundle.
 *
 * The driver may wait for running kernels when it unloads a program. So the last release, on the
 * device's thread, unloads nothing. The next program_load unloads, on the loader's thread, or the
 * close of the device.
 */
#ifndef SYCL_BACKENDS_CUDA_PROGRAM_H
#define SYCL_BACKENDS_CUDA_PROGRAM_H

#include "cuda/program/binary.h"
#include "cuda/program/launch.h"

struct cuda_modules {
	/* Next in kernels->modules, with the last used first. kernels->lock guards it and
	 * `references`. */
	struct cuda_modules *next;
	uint32_t references;
	void *bytes; /* the binary, if other sessions may share the program; NULL otherwise */
	size_t count;
	struct cuda_binary *binary;
	CUmodule modules[CUDA_IMAGES_MAX];
	/* Every kernel begins with a wait for earlier kernels (program/ptx_wait.h), unless it waits
	 * by itself. */
	bool waits;
};

struct backend_program {
	struct backend_device *device;
	/* References of its kernels, and of templates of chains that name one of its functions. */
	_Atomic uint32_t references;
	_Atomic uint32_t templates; /* references of templates; never more than `references` */
	struct cuda_modules *modules;
};

/* backend_device.kernels */
struct cuda_kernels {
	pthread_mutex_t lock;
	struct cuda_modules *modules;
	/* Some program is held by templates alone, and they must release it. */
	_Atomic bool was_abandoned;
	uint64_t *checked_words; /* cuda_checked_words; NULL: no kernel had checks yet */
	struct cuda_window window;
};

void cuda_program_hold(struct backend_program *program);
/* Any thread. Accepts NULL. */
void cuda_program_drop(struct backend_program *program);

/* Calls backend_device.on_abandoned if, since the last call, some program may be held by templates
 * alone. Device thread. */
void cuda_abandoned_notify(struct backend_device *device);

/* Unloads all programs when the device closes. All their users were freed before. */
void cuda_modules_close(struct backend_device *device);

/* program/window.c: runs a tiny kernel in the current context. A failure is no fault: local memory
 * for native kernels is then refused. */
void cuda_window_find(const struct cuda_library *cu, struct cuda_window *window_out);

#endif

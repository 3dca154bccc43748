/*
 * The backend as a whole: the entries of backend.h that open and close it and its devices, and the
 * facts. backend.h documents the entries: effects, threads and results.
 */
#ifndef SYCL_BACKENDS_CUDA_DEVICE_H
#define SYCL_BACKENDS_CUDA_DEVICE_H

#include "cuda/graph/graph.h"
#include "cuda/program/build.h"

/* device/backend.c */
void cuda_prepare(const struct backend_settings *settings);
int cuda_open(const struct backend_settings *settings, struct backend **backend_out,
	      struct backend_fault *fault_out);
void cuda_close(struct backend *backend);
int cuda_enumerate(struct backend *backend, struct backend_topology *topology_out,
		   struct backend_fault *fault_out);

/* device/preload.c */
int cuda_preload(const struct backend_settings *settings, uint64_t devices,
		 struct backend_fault *fault_out);

int cuda_device_open(struct backend *backend, uint32_t device, backend_wake *wake, void *token,
		     struct backend_device **device_out, struct backend_fault *fault_out);
int cuda_device_open_native(struct backend *backend, uint32_t device, uint64_t native_context,
			    backend_wake *wake, void *token, struct backend_device **device_out,
			    struct backend_fault *fault_out);
void cuda_device_close(struct backend_device *device);

/* device/facts.c: fill backend->topology and backend->devices. Makes no context (A17). Calls
 * cuInit.
 */
int cuda_facts_read(struct backend *backend, struct backend_fault *fault_out);
void cuda_facts_free(struct backend *backend);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory of a device whose memory is the host's. Programs reach it at its address on the
 * plain drivers of such devices, and some rely on that: oneMKL computes on it in the program. So it
 * is the library's shared memory, in pages of both processes, and this list has what was asked for
 * as device memory.
 */
#include "svm/svm.h"

#include <stdint.h>
#include <stdlib.h>

enum { BUCKETS = 1024, GRANULE = 64 };

struct allocation {
	struct allocation *next;
	const void *base;
};

/* Guards the list. Nothing is called inside it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *buckets[BUCKETS];

static struct allocation **bucket_of(const void *base)
{
	return &buckets[(uintptr_t)base / GRANULE % BUCKETS];
}

bool reachable_is_possible(cl_device_id device)
{
	uint32_t is_unified = 0;
	(void)sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_HOST_UNIFIED_MEMORY,
				   sizeof(is_unified), &is_unified, NULL);
	return is_unified && device_usm_capabilities(device, SYCL_USM_SHARED) != 0;
}

bool reachable_add(const void *base)
{
	struct allocation *allocation = calloc(1, sizeof(*allocation));
	if (!allocation)
		return false;
	allocation->base = base;
	pthread_mutex_lock(&lock);
	struct allocation **bucket = bucket_of(base);
	allocation->next = *bucket;
	*bucket = allocation;
	pthread_mutex_unlock(&lock);
	return true;
}

void reachable_remove(const void *base)
{
	pthread_mutex_lock(&lock);
	struct allocation **at = bucket_of(base), *found = NULL;
	while (*at && (*at)->base != base)
		at = &(*at)->next;
	if (*at) {
		found = *at;
		*at = found->next;
	}
	pthread_mutex_unlock(&lock);
	free(found);
}

bool reachable_has(const void *base)
{
	pthread_mutex_lock(&lock);
	const struct allocation *at = *bucket_of(base);
	while (at && at->base != base)
		at = at->next;
	pthread_mutex_unlock(&lock);
	return at != NULL;
}

/* Buffers and images, and their contents. */
#ifndef SYCL_ENGINE_PUBLIC_BUFFER_H
#define SYCL_ENGINE_PUBLIC_BUFFER_H

#include "backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_buffer;
struct sched_cause;
struct scheduler;
struct scheduler_device;

/*
 * `host`: page-aligned shared memory of size_bytes that lives until on_buffer_freed is called with
 * `owner`; NULL only for 0 bytes. `initialised`: it holds the contents. The buffer is released
 * once; tasks that use it go on.
 */
int sched_buffer_create(struct scheduler *scheduler, uint64_t size_bytes, void *host,
			bool initialised, void *owner, struct sched_buffer **buffer_out);
/*
 * A temporary: a buffer of one device, without host memory and contents. Only that device's tasks
 * require it; the host is never one of its places. on_buffer_freed comes with NULL.
 */
int sched_buffer_create_temporary(struct scheduler_device *device, uint64_t size_bytes,
				  struct sched_buffer **buffer_out);
/*
 * An image: a buffer with tightly packed pixels in `host`, size_bytes in all, whose memory on
 * devices is opaque. Requirements name all of it. Launches use it; it is copied to equal images and
 * to the host.
 */
int sched_buffer_create_image(struct scheduler *scheduler, const struct backend_image *image,
			      uint64_t size_bytes, void *host, bool initialised, void *owner,
			      struct sched_buffer **buffer_out);
void sched_buffer_release(struct sched_buffer *buffer);
/*
 * A task that was to write these bytes was refused. Tasks that need them fail until the bytes are
 * written again, as after a failed task (M9). Tasks that need neighbouring bytes may fail, too. One
 * refusal has one cause for all its ranges. Returns how many parts were visited.
 */
struct sched_cause *sched_poison_create(const struct backend_fault *fault);
void sched_poison_free(struct sched_cause *cause);
uint32_t sched_buffer_poison(struct sched_buffer *buffer, uint64_t offset_bytes,
			     uint64_t size_bytes, struct sched_cause *cause);

/*
 * A buffer that other processes may open. Its contents live on `home` for good, in memory of
 * `export_kind` (not NONE; the device has the feature). That is allocated at once in the
 * background. size_bytes > 0; the rest as in sched_buffer_create.
 */
int sched_buffer_create_shared(struct scheduler *scheduler, struct scheduler_device *home,
			       enum backend_export_kind export_kind, uint64_t size_bytes,
			       void *host, bool initialised, void *owner,
			       struct sched_buffer **buffer_out);
/*
 * A buffer over memory that another process has exported. on_buffer_imported follows; tasks may be
 * submitted before. The descriptor is duplicated. Only events order tasks with that process.
 */
int sched_buffer_import(struct scheduler *scheduler, struct scheduler_device *home,
			const struct backend_shared_memory *shared, uint64_t size_bytes, void *host,
			void *owner, struct sched_buffer **buffer_out);
/*
 * Another buffer with the contents of a shared one and its own host range, for a second session of
 * this engine. The shared one is of any of these three calls. Order holds across all of them. Each
 * is released and freed by itself, the contents with the last one. size_bytes is that of `of`.
 */
int sched_buffer_share(struct sched_buffer *of, void *host, void *owner,
		       struct sched_buffer **buffer_out);
/*
 * on_buffer_exported follows when earlier tasks have written the contents. For buffers of
 * sched_buffer_create_shared, or sched_buffer_share of such; any number of times. -EINVAL: another
 * buffer. -ENOMEM.
 */
int sched_buffer_export(struct sched_buffer *buffer, void *owner);
/* The same, but as soon as the memory is there. Earlier tasks may still write it, and no task waits
 * for this. */
int sched_buffer_export_at_once(struct sched_buffer *buffer, void *owner);
/*
 * A buffer, or an image, whose contents live in the application's memory on `home` for good.
 * on_buffer_imported follows; tasks may be submitted before. Writes elsewhere are copied there at
 * once.
 */
int sched_buffer_create_native(struct scheduler *scheduler, struct scheduler_device *home,
			       uint64_t native, const struct backend_image *image,
			       uint64_t size_bytes, void *host, void *owner,
			       struct sched_buffer **buffer_out);

#endif

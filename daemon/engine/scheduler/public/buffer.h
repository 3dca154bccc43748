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

/* `host`: page-aligned shared memory of size_bytes that lives until on_buffer_freed, with `owner`;
 * NULL only for 0 bytes. `initialised`: host holds the contents. The buffer is released once; work
 * that uses it goes on. */
int sched_buffer_create(struct scheduler *scheduler, uint64_t size_bytes, void *host,
			bool initialised, void *owner, struct sched_buffer **buffer_out);
/*
 * A temporary: a buffer of one device, without host memory and contents. Only that device's tasks
 * require it; the host is never one of its places. on_buffer_freed comes with NULL.
 */
int sched_buffer_create_temporary(struct scheduler_device *device, uint64_t size_bytes,
				  struct sched_buffer **buffer_out);
/*
 * An image: a buffer whose `host` holds tightly packed pixels, size_bytes of them, and whose memory
 * on devices is opaque. Requirements name all of it; it is used by launches, copied to images that
 * are alike, and brought to the host.
 */
int sched_buffer_create_image(struct scheduler *scheduler, const struct backend_image *image,
			      uint64_t size_bytes, void *host, bool initialised, void *owner,
			      struct sched_buffer **buffer_out);
void sched_buffer_release(struct sched_buffer *buffer);
/*
 * A task that would have written these bytes was refused: until they are written anew, who needs
 * them fails, as after a task that has failed (M9); perhaps also who needs what lies beside them.
 * One cause for all that one refusal poisons. How many parts were looked at.
 */
struct sched_cause *sched_poison_create(const struct backend_fault *fault);
void sched_poison_free(struct sched_cause *cause);
uint32_t sched_buffer_poison(struct sched_buffer *buffer, uint64_t offset_bytes,
			     uint64_t size_bytes, struct sched_cause *cause);

/*
 * A buffer that other processes may open: its contents live on `home` for good, in memory made with
 * `export_kind` (not NONE; the device has the feature), which is made at once in the background.
 * size_bytes > 0; the rest as in sched_buffer_create.
 */
int sched_buffer_create_shared(struct scheduler *scheduler, struct scheduler_device *home,
			       enum backend_export_kind export_kind, uint64_t size_bytes,
			       void *host, bool initialised, void *owner,
			       struct sched_buffer **buffer_out);
/*
 * A buffer over memory that another process exported. on_buffer_imported follows; groups may be
 * submitted before. The descriptor is duplicated. Nothing orders its use here with that process but
 * events.
 */
int sched_buffer_import(struct scheduler *scheduler, struct scheduler_device *home,
			const struct backend_shared_memory *shared, uint64_t size_bytes, void *host,
			void *owner, struct sched_buffer **buffer_out);
/*
 * Another buffer with the same contents as a shared one (either of the two above, or made by this),
 * with a host range of its own: for a second session of this engine. Order holds across all of
 * them; each is released and freed by itself, the contents with the last one. size_bytes is `of`'s.
 */
int sched_buffer_share(struct sched_buffer *of, void *host, void *owner,
		       struct sched_buffer **buffer_out);
/*
 * on_buffer_exported follows, after what was submitted before has written the contents. Of buffers
 * made by sched_buffer_create_shared, or sched_buffer_share of such; any number of times. -EINVAL:
 * of others. -ENOMEM.
 */
int sched_buffer_export(struct sched_buffer *buffer, void *owner);
/* The same, but as soon as the memory is there: what was submitted before may be writing it, and
 * nobody waits for this. */
int sched_buffer_export_at_once(struct sched_buffer *buffer, void *owner);
/*
 * A buffer, or an image, whose contents live in the application's memory on `home` for good.
 * on_buffer_imported follows; groups may be submitted before. What is written elsewhere is brought
 * there at once.
 */
int sched_buffer_create_native(struct scheduler *scheduler, struct scheduler_device *home,
			       uint64_t native, const struct backend_image *image,
			       uint64_t size_bytes, void *host, void *owner,
			       struct sched_buffer **buffer_out);

#endif

/*
 * Device memory that has become free, for what comes next (device thread). While a command waits
 * for room, it is kept: the command takes it without a call of the driver.
 */
#include "scheduler/state/device.h"
#include "worker/spill/spill.h"
#include "worker/spill/internal.h"
#include "worker/spill/room.h"

struct backend_memory *worker_spill_take_spare(struct worker_spill *spill, uint64_t size_bytes)
{
	for (uint32_t i = 0; i < spill->spare_count; i++) {
		struct spill_spare spare = spill->spares[i];
		if (spare.size_bytes != size_bytes)
			continue;
		spill->spares[i] = spill->spares[--spill->spare_count];
		spill->spare_bytes -= size_bytes;
		return spare.handle;
	}
	return NULL;
}

void worker_spill_add_spare(struct scheduler_device *device, struct backend_memory *handle,
			    uint64_t size_bytes)
{
	struct worker_spill *spill = spill_of(device);
	if (!spill->aside.first || spill->spare_count == SPILL_SPARES) {
		worker_room_note_bytes_freed(device, size_bytes);
		device->ops->memory_free(handle);
		spill->may_have_room = true;
		return;
	}
	spill->spares[spill->spare_count++] = (struct spill_spare){handle, size_bytes};
	spill->spare_bytes += size_bytes;
}

bool worker_spill_free_spares(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	bool were = spill->spare_count > 0;
	while (spill->spare_count > 0) {
		const struct spill_spare *spare = &spill->spares[--spill->spare_count];
		worker_room_note_bytes_freed(device, spare->size_bytes);
		device->ops->memory_free(spare->handle);
	}
	spill->spare_bytes = 0;
	spill->may_have_room |= were;
	return were;
}

/* Parts of fake devices. Each part is a further device behind the others and behaves as the whole
 * device does. */
#include "fake_internal.h"

#include "status.h"

#include <errno.h>

void fake_partition_facts(struct backend_device_facts *facts, uint32_t units)
{
	facts->max_compute_units = units ? units : 1;
	facts->partition_max_sub_devices = units;
	facts->partition_properties =
		units > 1 ? 1u << BACKEND_PARTITION_EQUALLY | 1u << BACKEND_PARTITION_BY_COUNTS : 0;
}

static bool is_free_locked(uint32_t index)
{
	return index >= fake_state.device_count && !fake_state.slots[index].is_sub_device &&
	       !fake_state.slots[index].open;
}

static uint32_t free_places_locked(void)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < FAKE_DEVICES_MAX; i++)
		count += is_free_locked(i);
	return count;
}

static void make_locked(struct backend *backend, uint32_t of,
			const struct backend_division *division, uint32_t units,
			struct backend_sub_device *out)
{
	uint32_t index = 0;
	while (!is_free_locked(index))
		index++;
	struct fake_slot *slot = &fake_state.slots[index], *whole = &fake_state.slots[of];
	slot->options = whole->options;
	slot->options.units = units;
	slot->is_sub_device = true;
	slot->root = whole->is_sub_device ? whole->root : of;
	fake_state.counters.sub_devices++;
	struct backend_device_facts *facts = fake_facts(backend, index);
	*facts = *fake_facts(backend, of);
	fake_partition_facts(facts, units);
	facts->partition_type = division->partition;
	*out = (struct backend_sub_device){index, slot->root, facts};
}

int fake_sub_devices_create(struct backend *backend, uint32_t device,
			    const struct backend_division *division, uint32_t capacity,
			    struct backend_sub_device *sub_devices_out, uint32_t *count_out,
			    struct backend_fault *fault_out)
{
	const bool by_counts = division->partition == BACKEND_PARTITION_BY_COUNTS;
	int result = 0;
	fake_lock();
	uint32_t count = by_counts ? division->count
				   : fake_state.slots[device].options.units / division->units;
	if (count > capacity) {
		*count_out = count;
	} else if (count > free_places_locked()) {
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no room for %u more fake devices",
			   count);
		result = -ENOMEM;
	} else {
		for (uint32_t i = 0; i < count; i++)
			make_locked(backend, device, division,
				    by_counts ? division->counts[i] : division->units,
				    &sub_devices_out[i]);
		*count_out = count;
	}
	fake_unlock();
	return result;
}

void fake_sub_device_free(struct backend *backend, uint32_t sub_device)
{
	(void)backend;
	fake_lock();
	fake_state.slots[sub_device].is_sub_device = false;
	fake_state.counters.sub_devices--;
	fake_unlock();
}

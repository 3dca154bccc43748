#include "opencl/device/sub_device.h"

#include "opencl/device/facts.h"
#include "opencl/driver/device_root.h"
#include "opencl/driver/fault.h"
#include "opencl/driver/query.h"
#include "status.h"

#include <string.h>

#define FIRST_NUMBER   1024u /* numbers of parts follow every index of enumerate */
#define PROPERTIES_MAX 16u   /* limit for a device's list of properties */

struct opencl_sub_device {
	cl_device_id id;
	uint32_t root;
	struct backend_device_facts facts;
};

static const cl_device_affinity_domain domains[] = {
	[BACKEND_AFFINITY_NUMA] = CL_DEVICE_AFFINITY_DOMAIN_NUMA,
	[BACKEND_AFFINITY_L4_CACHE] = CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE,
	[BACKEND_AFFINITY_L3_CACHE] = CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE,
	[BACKEND_AFFINITY_L2_CACHE] = CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE,
	[BACKEND_AFFINITY_L1_CACHE] = CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE,
	[BACKEND_AFFINITY_NEXT_PARTITIONABLE] = CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE,
};
#define DOMAINS (sizeof(domains) / sizeof(domains[0]))

static enum backend_partition opencl_partition_kind(cl_device_partition_property property)
{
	switch (property) {
	case CL_DEVICE_PARTITION_EQUALLY:
		return BACKEND_PARTITION_EQUALLY;
	case CL_DEVICE_PARTITION_BY_COUNTS:
		return BACKEND_PARTITION_BY_COUNTS;
	case CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN:
		return BACKEND_PARTITION_BY_AFFINITY;
	default: /* also the 0 that ends the list of properties */
		return BACKEND_PARTITION_NONE;
	}
}

static enum backend_affinity opencl_affinity(uint64_t domain)
{
	uint32_t i = DOMAINS - 1;
	while (i > 0 && domains[i] != domain)
		i--;
	return (enum backend_affinity)i;
}

static uint32_t partition_query_list(const struct opencl_library *cl, cl_device_id id,
				     cl_device_info parameter,
				     cl_device_partition_property list[PROPERTIES_MAX])
{
	size_t bytes = 0;
	if (cl->GetDeviceInfo(id, parameter, PROPERTIES_MAX * sizeof(*list), list, &bytes) !=
	    CL_SUCCESS)
		return 0;
	return (uint32_t)(bytes / sizeof(*list));
}

void opencl_partition_fill(const struct opencl_library *cl, cl_device_id id,
			   struct backend_device_facts *facts)
{
	cl_device_partition_property list[PROPERTIES_MAX] = {0};
	uint32_t count = partition_query_list(cl, id, CL_DEVICE_PARTITION_PROPERTIES, list);
	for (uint32_t i = 0; i < count; i++)
		facts->partition_properties |= 1u << opencl_partition_kind(list[i]);
	uint64_t bits = opencl_device_ulong(cl, id, CL_DEVICE_PARTITION_AFFINITY_DOMAIN);
	for (uint32_t i = 1; i < DOMAINS; i++)
		if (bits & domains[i])
			facts->partition_domains |= 1u << i;
	facts->partition_max_sub_devices =
		opencl_device_uint(cl, id, CL_DEVICE_PARTITION_MAX_SUB_DEVICES);
	facts->partition_properties &= ~(1u << BACKEND_PARTITION_NONE);
	if (facts->partition_domains == 0)
		facts->partition_properties &= ~(1u << BACKEND_PARTITION_BY_AFFINITY);
	if (partition_query_list(cl, id, CL_DEVICE_PARTITION_TYPE, list) > 0)
		facts->partition_type = opencl_partition_kind(list[0]);
	if (facts->partition_type == BACKEND_PARTITION_BY_AFFINITY)
		facts->partition_domain = opencl_affinity((uint64_t)list[1]);
}

bool opencl_device_find(const struct backend *backend, uint32_t number, cl_device_id *id_out,
			const struct backend_device_facts **facts_out)
{
	if (number < backend->device_count) {
		*id_out = backend->device_ids[number];
		*facts_out = &backend->devices[number];
		return true;
	}
	if (number < FIRST_NUMBER || number - FIRST_NUMBER >= OPENCL_SUB_DEVICES)
		return false;
	const struct opencl_sub_device *sub_device = backend->sub_devices[number - FIRST_NUMBER];
	if (!sub_device)
		return false;
	*id_out = sub_device->id;
	*facts_out = &sub_device->facts;
	return true;
}

static void sub_device_drop(struct backend *backend, uint32_t slot)
{
	struct opencl_sub_device *sub_device = backend->sub_devices[slot];
	if (!sub_device)
		return;
	backend->sub_devices[slot] = NULL;
	(void)backend->cl.ReleaseDevice(sub_device->id);
	opencl_device_facts_free(&sub_device->facts);
	free(sub_device);
}

/*
 * Fills in a part's facts, with the key of the whole device, so that its programs run on its parts.
 */
static int sub_device_fill_facts(const struct backend *backend,
				 struct opencl_sub_device *sub_device)
{
	const struct backend_device_facts *root = &backend->devices[sub_device->root];
	int error = opencl_device_facts_fill(&backend->cl, sub_device->id, root->platform,
					     &backend->platforms[root->platform],
					     backend->facts_folder, &sub_device->facts);
	if (error < 0)
		return error;
	char *key = strdup(root->key);
	if (!key) {
		opencl_device_facts_free(&sub_device->facts);
		return -ENOMEM;
	}
	free(sub_device->facts.key);
	sub_device->facts.key = key;
	return 0;
}

/* Takes the reference over, also on failure. */
static int opencl_add_sub_device(struct backend *backend, cl_device_id id, uint32_t root,
				 struct backend_sub_device *sub_device_out)
{
	uint32_t slot = 0;
	while (slot < OPENCL_SUB_DEVICES && backend->sub_devices[slot])
		slot++;
	struct opencl_sub_device *sub_device =
		slot < OPENCL_SUB_DEVICES ? calloc(1, sizeof(*sub_device)) : NULL;
	int error = sub_device ? 0 : -ENOMEM;
	if (sub_device) {
		*sub_device = (struct opencl_sub_device){.id = id, .root = root};
		error = sub_device_fill_facts(backend, sub_device);
	}
	if (error < 0) {
		free(sub_device);
		(void)backend->cl.ReleaseDevice(id);
		return error;
	}
	backend->sub_devices[slot] = sub_device;
	*sub_device_out =
		(struct backend_sub_device){FIRST_NUMBER + slot, root, &sub_device->facts};
	return 0;
}

/* Adds all sub-devices, or none. Takes over their references. */
static int opencl_add_sub_devices(struct backend *backend, const cl_device_id *ids, uint32_t count,
				  uint32_t root, struct backend_sub_device *sub_devices_out,
				  struct backend_fault *fault_out)
{
	uint32_t added = 0;
	int error = 0;
	while (added < count && error == 0) {
		error = opencl_add_sub_device(backend, ids[added], root, &sub_devices_out[added]);
		added += error == 0;
	}
	if (error == 0)
		return 0;
	for (uint32_t i = added + 1; i < count; i++)
		(void)backend->cl.ReleaseDevice(ids[i]);
	while (added > 0)
		sub_device_drop(backend, sub_devices_out[--added].index - FIRST_NUMBER);
	opencl_fault_words(fault_out, STATUS_MEMORY_ALLOCATION,
			   "no room for another part of a device");
	return error;
}

static void write_properties(const struct backend_division *division,
			     cl_device_partition_property *out)
{
	switch (division->partition) {
	case BACKEND_PARTITION_EQUALLY:
		*out++ = CL_DEVICE_PARTITION_EQUALLY;
		*out++ = (cl_device_partition_property)division->units;
		break;
	case BACKEND_PARTITION_BY_COUNTS:
		*out++ = CL_DEVICE_PARTITION_BY_COUNTS;
		for (uint32_t i = 0; i < division->count; i++)
			*out++ = (cl_device_partition_property)division->counts[i];
		*out++ = CL_DEVICE_PARTITION_BY_COUNTS_LIST_END;
		break;
	default:
		*out++ = CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN;
		*out++ = (cl_device_partition_property)(division->domain < DOMAINS
								? domains[division->domain]
								: 0);
	}
	*out = 0;
}

int opencl_sub_devices_create(struct backend *backend, uint32_t device,
			      const struct backend_division *division, uint32_t capacity,
			      struct backend_sub_device *sub_devices_out, uint32_t *count_out,
			      struct backend_fault *fault_out)
{
	cl_device_id id = NULL, ids[OPENCL_SUB_DEVICES];
	const struct backend_device_facts *facts;
	cl_uint count = 0;

	if (!opencl_device_find(backend, device, &id, &facts)) {
		opencl_fault_words(fault_out, STATUS_INVALID, "OpenCL has no device %u", device);
		return -EINVAL;
	}
	CLEANUP(free_pointer)
	cl_device_partition_property *properties = calloc(division->count + 4, sizeof(*properties));
	if (!properties)
		return opencl_no_memory(fault_out, "a sub-device");
	write_properties(division, properties);
	cl_int code = backend->cl.CreateSubDevices(id, properties, 0, NULL, &count);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "divide the device");
	if (count > capacity || count > OPENCL_SUB_DEVICES) {
		*count_out = count;
		return 0;
	}
	code = backend->cl.CreateSubDevices(id, properties, count, ids, NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "divide the device");
	int error = opencl_add_sub_devices(backend, ids, count, opencl_device_root(backend, id),
					   sub_devices_out, fault_out);
	if (error == 0)
		*count_out = count;
	return error;
}

int opencl_sub_device_take(struct backend *backend, uint64_t native,
			   struct backend_sub_device *sub_device_out,
			   struct backend_fault *fault_out)
{
	cl_device_id id = (void *)(uintptr_t)native;
	uint32_t root = opencl_device_root(backend, id);

	if (root == backend->device_count || backend->device_ids[root] == id) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "this is no part of an OpenCL device here");
		return -EINVAL;
	}
	cl_int code = backend->cl.RetainDevice(id);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "retain the device");
	return opencl_add_sub_devices(backend, &id, 1, root, sub_device_out, fault_out);
}

void opencl_sub_device_free(struct backend *backend, uint32_t sub_device)
{
	sub_device_drop(backend, sub_device - FIRST_NUMBER);
}

void opencl_sub_devices_close(struct backend *backend)
{
	for (uint32_t slot = 0; slot < OPENCL_SUB_DEVICES; slot++)
		sub_device_drop(backend, slot);
}

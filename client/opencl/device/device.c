/* SPDX-License-Identifier: Apache-2.0 */
/* Devices and sub-devices. Their queries are in device_info.c. */
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

/* Guards the lists of parts. Nothing that waits is called inside it. */
static pthread_mutex_t parts_lock = PTHREAD_MUTEX_INITIALIZER;

static void part_remove(cl_device_id device)
{
	pthread_mutex_lock(&parts_lock);
	for (cl_device_id *at = &device->parent->parts; *at; at = &(*at)->next)
		if (*at == device) {
			*at = device->next;
			break;
		}
	pthread_mutex_unlock(&parts_lock);
}

static void device_destroy(struct object *object)
{
	cl_device_id device = (cl_device_id)object;
	if (device->parent)
		part_remove(device);
	(void)sycl_device_release(device->sycl);
	if (device->parent)
		object_unuse(&device->parent->head);
	free(device);
}

static uint64_t fact(sycl_device sycl, sycl_device_info info)
{
	uint64_t number = 0;
	uint32_t word = 0;
	if (sycl_device_get_info(sycl, info, sizeof(number), &number, NULL) == SYCL_SUCCESS) {
		size_t bytes = 0;
		(void)sycl_device_get_info(sycl, info, 0, NULL, &bytes);
		if (bytes == sizeof(number))
			return number;
		if (sycl_device_get_info(sycl, info, sizeof(word), &word, NULL) == SYCL_SUCCESS)
			return word;
	}
	return 0;
}

cl_device_id device_make(cl_platform_id platform, sycl_device sycl)
{
	static const cl_device_type types[] = {CL_DEVICE_TYPE_CUSTOM, CL_DEVICE_TYPE_CPU,
					       CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR,
					       CL_DEVICE_TYPE_CUSTOM};
	uint64_t items[3] = {1, 1, 1};
	cl_device_id device = calloc(1, sizeof(*device));
	if (!device)
		return NULL;
	uint64_t type = fact(sycl, SYCL_DEVICE_INFO_TYPE);
	(void)sycl_device_get_info(sycl, SYCL_DEVICE_INFO_MAX_WORK_ITEM_SIZES, sizeof(items), items,
				   NULL);
	for (int i = 0; i < 3; i++)
		device->max_items[i] = items[2 - i];
	device->platform = platform;
	device->sycl = sycl;
	device->type = types[type < 5 ? type : 0];
	device->max_group = fact(sycl, SYCL_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
	device->max_alloc_bytes = fact(sycl, SYCL_DEVICE_INFO_MAX_MEM_ALLOC_BYTES);
	device->max_parameter_bytes = fact(sycl, SYCL_DEVICE_INFO_MAX_PARAMETER_BYTES);
	device->local_bytes = fact(sycl, SYCL_DEVICE_INFO_LOCAL_MEM_BYTES);
	device->align_bits = (cl_uint)fact(sycl, SYCL_DEVICE_INFO_MEM_BASE_ADDR_ALIGN_BITS);
	object_publish(&device->head, OBJECT_DEVICE, device_destroy);
	return device;
}

uint32_t device_list(cl_uint count, const cl_device_id *devices, sycl_device *list_out)
{
	uint32_t stored = 0;
	for (cl_uint i = 0; i < count; i++) {
		uint32_t at = 0;
		while (at < stored && list_out[at] != devices[i]->sycl)
			at++;
		if (at == stored)
			list_out[stored++] = devices[i]->sycl;
	}
	return stored;
}

/* Only sub-devices are counted. */
void device_use(cl_device_id device)
{
	if (device->parent)
		object_use(&device->head);
}

void device_unuse(cl_device_id device)
{
	if (device->parent)
		object_unuse(&device->head);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainDevice(cl_device_id handle)
{
	cl_device_id device = FIND_DEVICE(handle);
	if (!device)
		return CL_INVALID_DEVICE;
	if (device->parent)
		(void)object_retain(handle, OBJECT_DEVICE);
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseDevice(cl_device_id handle)
{
	cl_device_id device = FIND_DEVICE(handle);
	if (!device || (device->parent && !object_release(handle, OBJECT_DEVICE)))
		return CL_INVALID_DEVICE;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id handle, cl_device_info what,
						size_t size, void *value, size_t *bytes_out)
{
	cl_device_id device = FIND_DEVICE(handle);
	return device ? device_info(device, what, ANSWER) : CL_INVALID_DEVICE;
}

enum { PARTS_MAX = 64 };

/* How to divide: from OpenCL's list to the library's property and values. */
struct division {
	sycl_partition_property property;
	uint32_t values[PARTS_MAX], count;
	size_t bytes; /* of OpenCL's list, with its final 0 */
};

static cl_int read_division(const cl_device_partition_property *list, struct division *division)
{
	static const struct {
		cl_device_affinity_domain theirs;
		uint32_t ours;
	} domains[] = {
		{CL_DEVICE_AFFINITY_DOMAIN_NUMA, SYCL_PARTITION_AFFINITY_NUMA},
		{CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE, SYCL_PARTITION_AFFINITY_L4_CACHE},
		{CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE, SYCL_PARTITION_AFFINITY_L3_CACHE},
		{CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE, SYCL_PARTITION_AFFINITY_L2_CACHE},
		{CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE, SYCL_PARTITION_AFFINITY_L1_CACHE},
		{CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE,
		 SYCL_PARTITION_AFFINITY_NEXT_PARTITIONABLE},
	};
	division->count = 1;
	division->bytes = 3 * sizeof(*list);
	switch (list ? list[0] : 0) {
	case CL_DEVICE_PARTITION_EQUALLY:
		division->property = SYCL_PARTITION_EQUALLY;
		division->values[0] = (uint32_t)list[1];
		return list[1] > 0 && list[2] == 0 ? CL_SUCCESS : CL_INVALID_VALUE;
	case CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN:
		division->property = SYCL_PARTITION_BY_AFFINITY_DOMAIN;
		for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++)
			if (domains[i].theirs == (cl_device_affinity_domain)list[1])
				division->values[0] = domains[i].ours;
		return division->values[0] && list[2] == 0 ? CL_SUCCESS : CL_INVALID_VALUE;
	case CL_DEVICE_PARTITION_BY_COUNTS:
		division->property = SYCL_PARTITION_BY_COUNTS;
		division->count = 0;
		for (; list[1 + division->count] != CL_DEVICE_PARTITION_BY_COUNTS_LIST_END;
		     division->count++) {
			if (division->count == PARTS_MAX)
				return CL_INVALID_DEVICE_PARTITION_COUNT;
			division->values[division->count] = (uint32_t)list[1 + division->count];
		}
		division->bytes = (division->count + 3) * sizeof(*list);
		return division->count > 0 ? CL_SUCCESS : CL_INVALID_VALUE;
	default:
		return CL_INVALID_VALUE;
	}
}

/* A part with all units divides nothing, and none can have more. */
static cl_int check_equal_parts(cl_device_id device, const struct division *division)
{
	uint64_t units = fact(device->sycl, SYCL_DEVICE_INFO_MAX_COMPUTE_UNITS);
	if (division->property != SYCL_PARTITION_EQUALLY || division->values[0] < units)
		return CL_SUCCESS;
	return division->values[0] == units ? CL_DEVICE_PARTITION_FAILED
					    : CL_INVALID_DEVICE_PARTITION_COUNT;
}

/*
 * Finds the parts that live of an equal division. Two sub-devices of the driver may be one of the
 * library, of which a session has few: SYCL's runtimes divide a device again and again and keep all
 * that they get. Returns how many, each with a reference; 0: they must be made.
 */
static uint32_t parts_again(cl_device_id parent, const struct division *division,
			    const cl_device_partition_property *list, sycl_device parts[PARTS_MAX])
{
	uint64_t seen = 0;
	uint32_t found = 0, wanted = 0;
	if (division->bytes > sizeof(parent->partition))
		return 0;
	pthread_mutex_lock(&parts_lock);
	for (cl_device_id at = parent->parts; at; at = at->next) {
		if (at->partition_bytes != division->bytes ||
		    memcmp(at->partition, list, division->bytes - sizeof(*list)) != 0 ||
		    seen >> at->part & 1 || sycl_device_retain(at->sycl) != SYCL_SUCCESS)
			continue;
		seen |= UINT64_C(1) << at->part;
		parts[at->part] = at->sycl;
		wanted = at->part_count;
		found++;
	}
	pthread_mutex_unlock(&parts_lock);
	if (found == wanted)
		return found;
	for (uint32_t i = 0; i < PARTS_MAX; i++)
		if (seen >> i & 1)
			(void)sycl_device_release(parts[i]);
	return 0;
}

static sycl_result make_parts(cl_device_id device, const struct division *division,
			      const cl_device_partition_property *list,
			      sycl_device parts[PARTS_MAX], uint32_t *count)
{
	const uint32_t again = parts_again(device, division, list, parts);
	if (again > 0) {
		*count = again;
		return SYCL_SUCCESS;
	}
	return sycl_device_create_sub_devices(device->sycl, division->property, division->count,
					      division->values, *count, parts, count);
}

static cl_int store_sub_devices(cl_device_id parent, const struct division *division,
				const cl_device_partition_property *list, uint32_t count,
				const sycl_device *syclies, cl_device_id *out)
{
	for (uint32_t i = 0; i < count; i++) {
		out[i] = device_make(parent->platform, syclies[i]);
		if (!out[i])
			return CL_OUT_OF_HOST_MEMORY;
		out[i]->parent = parent;
		object_use(&parent->head);
		out[i]->partition_bytes = division->bytes < sizeof(out[i]->partition)
						  ? division->bytes
						  : sizeof(out[i]->partition);
		/* DPC++'s runtime leaves out the last 0 behind a list of counts. It is there. */
		memcpy(out[i]->partition, list,
		       division->bytes - sizeof(*list) < sizeof(out[i]->partition)
			       ? division->bytes - sizeof(*list)
			       : sizeof(out[i]->partition));
		out[i]->part = i;
		out[i]->part_count = count;
		pthread_mutex_lock(&parts_lock);
		out[i]->next = parent->parts;
		parent->parts = out[i];
		pthread_mutex_unlock(&parts_lock);
	}
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clCreateSubDevices(cl_device_id handle,
						   const cl_device_partition_property *list,
						   cl_uint capacity, cl_device_id *out,
						   cl_uint *count_out)
{
	cl_device_id device = FIND_DEVICE(handle);
	struct division division = {.count = 0};
	sycl_device parts[PARTS_MAX];
	uint32_t count = 0;
	if (!device)
		return CL_INVALID_DEVICE;
	cl_int code = read_division(list, &division);
	if (code != CL_SUCCESS)
		return code;
	if (!out && !count_out)
		return CL_INVALID_VALUE;
	code = check_equal_parts(device, &division);
	if (code != CL_SUCCESS)
		return code;
	sycl_result r = sycl_device_create_sub_devices(
		device->sycl, division.property, division.count, division.values, 0, NULL, &count);
	if (r == SYCL_SUCCESS && out && (capacity < count || count > PARTS_MAX))
		return CL_INVALID_VALUE;
	if (r == SYCL_SUCCESS && out)
		r = make_parts(device, &division, list, parts, &count);
	if (r == SYCL_ERROR_INVALID && division.property == SYCL_PARTITION_BY_COUNTS)
		return CL_INVALID_DEVICE_PARTITION_COUNT;
	if (r == SYCL_ERROR_INVALID || r == SYCL_ERROR_FEATURE_NOT_SUPPORTED)
		return division.property == SYCL_PARTITION_EQUALLY ? CL_DEVICE_PARTITION_FAILED
								   : CL_INVALID_VALUE;
	if (r != SYCL_SUCCESS)
		return code_of(r);
	if (count_out)
		*count_out = count;
	return out ? store_sub_devices(device, &division, list, count, parts, out) : CL_SUCCESS;
}

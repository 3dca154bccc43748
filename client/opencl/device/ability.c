/* SPDX-License-Identifier: Apache-2.0 */
/* What a device is able to beyond OpenCL's core: shared memory of each kind, identifiers,
 * sub-groups of required sizes, intermediate languages. */
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IL_BYTES = 512, ILS_MAX = 16 };

/* Shared USM lies at one address in the program and in the engine, in the same pages. Memory that
 * the driver did not allocate is never shared. */
cl_device_svm_capabilities device_svm_capabilities(cl_device_id device)
{
	uint64_t aspects = 0;
	(void)sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_ASPECTS, sizeof(aspects),
				   &aspects, NULL);
	if (!(aspects & UINT64_C(1) << SYCL_ASPECT_USM_SHARED_ALLOCATIONS))
		return 0;
	if (!(aspects & UINT64_C(1) << SYCL_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS))
		return CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
	return CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER |
	       CL_DEVICE_SVM_ATOMICS;
}

/* Host and shared USM lie in the same pages for the program and the device. */
cl_device_unified_shared_memory_capabilities_intel device_usm_capabilities(cl_device_id device,
									   sycl_usm_kind kind)
{
	static const struct {
		sycl_aspect has, has_atomics;
	} aspects[] = {
		[SYCL_USM_DEVICE] = {SYCL_ASPECT_USM_DEVICE_ALLOCATIONS,
				     SYCL_ASPECT_USM_DEVICE_ALLOCATIONS},
		[SYCL_USM_HOST] = {SYCL_ASPECT_USM_HOST_ALLOCATIONS,
				   SYCL_ASPECT_USM_ATOMIC_HOST_ALLOCATIONS},
		[SYCL_USM_SHARED] = {SYCL_ASPECT_USM_SHARED_ALLOCATIONS,
				     SYCL_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS},
	};
	uint64_t has = 0;
	cl_device_unified_shared_memory_capabilities_intel bits = 0;
	(void)sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_ASPECTS, sizeof(has), &has, NULL);
	if (!(has >> aspects[kind].has & 1))
		return 0;
	bits = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL;
	if (kind != SYCL_USM_DEVICE)
		bits |= CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL;
	if (has >> aspects[kind].has_atomics & 1)
		bits |= CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL;
	if (kind != SYCL_USM_DEVICE && has >> aspects[kind].has_atomics & 1)
		bits |= CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;
	return bits;
}

bool device_has_usm(cl_device_id device)
{
	return device_usm_capabilities(device, SYCL_USM_DEVICE) != 0 ||
	       device_usm_capabilities(device, SYCL_USM_HOST) != 0 ||
	       device_usm_capabilities(device, SYCL_USM_SHARED) != 0;
}

/* Memory that the driver did not allocate is never shared. */
static cl_int answer_usm(cl_device_id device, cl_device_info what, struct answer answer)
{
	if (!device_has_usm(device))
		return CL_INVALID_VALUE;
	switch (what) {
	case CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL:
		return answer_ulong(answer, device_usm_capabilities(device, SYCL_USM_HOST));
	case CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL:
		return answer_ulong(answer, device_usm_capabilities(device, SYCL_USM_DEVICE));
	case CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL:
		return answer_ulong(answer, 0);
	default: /* of this device and of several */
		return answer_ulong(answer, device_usm_capabilities(device, SYCL_USM_SHARED));
	}
}

static bool uuid_of(cl_device_id device, uint8_t uuid[CL_UUID_SIZE_KHR])
{
	bool is_known = false;
	memset(uuid, 0, CL_UUID_SIZE_KHR);
	(void)sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_UUID, CL_UUID_SIZE_KHR, uuid,
				   NULL);
	for (size_t i = 0; i < CL_UUID_SIZE_KHR; i++)
		is_known = is_known || uuid[i] != 0;
	return is_known;
}

bool device_has_uuid(cl_device_id device)
{
	uint8_t uuid[CL_UUID_SIZE_KHR];
	return uuid_of(device, uuid);
}

/* The driver's own is its version: two with the same one share memory alike. There is no LUID. */
static cl_int answer_uuid(cl_device_id device, cl_device_info what, struct answer answer)
{
	uint8_t uuid[CL_UUID_SIZE_KHR], luid[CL_LUID_SIZE_KHR] = {0};
	char version[256] = "";
	if (!uuid_of(device, uuid))
		return CL_INVALID_VALUE;
	switch (what) {
	case CL_DEVICE_UUID_KHR:
		return answer_bytes(answer, uuid, sizeof(uuid));
	case CL_DRIVER_UUID_KHR:
		(void)sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_DRIVER_VERSION,
					   sizeof(version), version, NULL);
		memset(uuid, 0, sizeof(uuid));
		memcpy(uuid, version, strnlen(version, sizeof(uuid)));
		return answer_bytes(answer, uuid, sizeof(uuid));
	case CL_DEVICE_LUID_KHR:
		return answer_bytes(answer, luid, sizeof(luid));
	default: /* whether the LUID is valid; its node mask */
		return answer_uint(answer, 0);
	}
}

static size_t sub_group_sizes(cl_device_id device, size_t sizes[16])
{
	uint32_t ours[16];
	size_t bytes = 0;
	if (sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_SUB_GROUP_SIZES, sizeof(ours), ours,
				 &bytes) != SYCL_SUCCESS)
		return 0;
	for (size_t i = 0; i < bytes / sizeof(*ours); i++)
		sizes[i] = ours[i];
	return bytes / sizeof(*ours);
}

bool device_has_sub_groups(cl_device_id device)
{
	size_t sizes[16];
	return sub_group_sizes(device, sizes) > 0;
}

static cl_int answer_sub_group_sizes(cl_device_id device, struct answer answer)
{
	size_t sizes[16];
	size_t count = sub_group_sizes(device, sizes);
	return count > 0 ? answer_bytes(answer, sizes, count * sizeof(*sizes)) : CL_INVALID_VALUE;
}

/* The intermediate languages of the device, with spaces between. */
static void il_version(cl_device_id device, char *text, size_t room)
{
	*text = 0;
	(void)sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_IL_VERSION, room, text, NULL);
}

bool device_takes_il(cl_device_id device)
{
	char text[IL_BYTES];
	il_version(device, text, sizeof(text));
	return *text != 0;
}

/* "SPIR-V_1.2" is the name SPIR-V with the version 1.2. */
static cl_int answer_ils(cl_device_id device, struct answer answer)
{
	cl_name_version list[ILS_MAX];
	char text[IL_BYTES], *rest = NULL;
	size_t count = 0;
	memset(list, 0, sizeof(list));
	il_version(device, text, sizeof(text));
	for (char *word = strtok_r(text, " ", &rest); word && count < ILS_MAX;
	     word = strtok_r(NULL, " ", &rest)) {
		char *version = strchr(word, '_'), *end = NULL;
		const unsigned long major = version ? strtoul(version + 1, &end, 10) : 0;
		if (!end || *end != '.')
			continue;
		const unsigned long minor = strtoul(end + 1, NULL, 10);
		*version = 0;
		list[count].version = CL_MAKE_VERSION((cl_version)major, (cl_version)minor, 0);
		(void)snprintf(list[count].name, sizeof(list[count].name), "%s", word);
		count++;
	}
	return answer_bytes(answer, list, count * sizeof(*list));
}

static cl_int answer_il(cl_device_id device, struct answer answer)
{
	char text[IL_BYTES];
	il_version(device, text, sizeof(text));
	return answer_text(answer, text);
}

bool device_ability_info(cl_device_id device, cl_device_info what, struct answer answer,
			 cl_int *code_out)
{
	switch (what) {
	case CL_DEVICE_SVM_CAPABILITIES:
		*code_out = answer_ulong(answer, device_svm_capabilities(device));
		return true;
	case CL_DEVICE_IL_VERSION:
		*code_out = answer_il(device, answer);
		return true;
	case CL_DEVICE_ILS_WITH_VERSION:
		*code_out = answer_ils(device, answer);
		return true;
	case CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL:
	case CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL:
	case CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL:
	case CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL:
	case CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL:
		*code_out = answer_usm(device, what, answer);
		return true;
	case CL_DEVICE_UUID_KHR:
	case CL_DRIVER_UUID_KHR:
	case CL_DEVICE_LUID_VALID_KHR:
	case CL_DEVICE_LUID_KHR:
	case CL_DEVICE_NODE_MASK_KHR:
		*code_out = answer_uuid(device, what, answer);
		return true;
	case CL_DEVICE_SUB_GROUP_SIZES_INTEL:
		*code_out = answer_sub_group_sizes(device, answer);
		return true;
	default:
		return false;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The list of a device's extensions. */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

/* What the driver itself has for every device. */
static const cl_name_version own[] = {
	{CL_MAKE_VERSION(1, 0, 0), "cl_khr_create_command_queue"},
	{CL_MAKE_VERSION(1, 0, 0), "cl_khr_extended_versioning"},
	{CL_MAKE_VERSION(0, 9, 0), "cl_khr_command_buffer"},
	{CL_MAKE_VERSION(1, 0, 0), "cl_khr_priority_hints"},
};

/* Extensions of a device that the driver passes on: those of the language alone. */
static const char *const passed[] = {
	"cl_khr_byte_addressable_store",
	"cl_khr_global_int32_base_atomics",
	"cl_khr_global_int32_extended_atomics",
	"cl_khr_local_int32_base_atomics",
	"cl_khr_local_int32_extended_atomics",
	"cl_khr_int64_base_atomics",
	"cl_khr_int64_extended_atomics",
	"cl_khr_fp64",
	"cl_khr_fp16",
	"cl_khr_3d_image_writes",
	"cl_khr_depth_images",
	"cl_khr_subgroups",
	"cl_khr_subgroup_extended_types",
	"cl_khr_subgroup_non_uniform_vote",
	"cl_khr_subgroup_ballot",
	"cl_khr_subgroup_non_uniform_arithmetic",
	"cl_khr_subgroup_shuffle",
	"cl_khr_subgroup_shuffle_relative",
	"cl_khr_subgroup_clustered_reduce",
	"cl_khr_subgroup_rotate",
	"cl_khr_spirv_linkonce_odr",
	"cl_intel_subgroups",
	"cl_intel_subgroups_char",
	"cl_intel_subgroups_short",
	"cl_intel_subgroups_long",
	"cl_intel_spirv_subgroups",
	"cl_intel_devicelib_assert",
	"cl_khr_expect_assume",
	"cl_khr_extended_bit_ops",
	"cl_nv_compiler_options",
	"cl_nv_pragma_unroll",
};
/* Extensions of CUDA devices: those of what the service builds programs with. */
static const struct {
	const char *name;
	int aspect; /* that the device must have; -1: none */
} of_cuda[] = {
	{"cl_khr_byte_addressable_store", -1},
	{"cl_khr_global_int32_base_atomics", -1},
	{"cl_khr_global_int32_extended_atomics", -1},
	{"cl_khr_local_int32_base_atomics", -1},
	{"cl_khr_local_int32_extended_atomics", -1},
	{"cl_khr_int64_base_atomics", SYCL_ASPECT_ATOMIC64},
	{"cl_khr_int64_extended_atomics", SYCL_ASPECT_ATOMIC64},
	{"cl_khr_fp64", SYCL_ASPECT_FP64},
	{"cl_khr_fp16", SYCL_ASPECT_FP16},
	{"cl_khr_subgroups", -1},
	{"cl_khr_subgroup_non_uniform_vote", -1},
	{"cl_khr_subgroup_ballot", -1},
	{"cl_khr_subgroup_shuffle", -1},
	{"cl_khr_subgroup_shuffle_relative", -1},
};
/* What the driver has where the device is able to. */
static const struct {
	cl_name_version extension;
	bool (*is_there)(cl_device_id device);
} some[] = {
	{{CL_MAKE_VERSION(1, 0, 0), "cl_khr_il_program"}, device_takes_il},
	{{CL_MAKE_VERSION(1, 0, 0), "cl_khr_device_uuid"}, device_has_uuid},
	{{CL_MAKE_VERSION(1, 0, 0), "cl_intel_required_subgroup_size"}, device_has_sub_groups},
	{{CL_MAKE_VERSION(1, 0, 0), "cl_intel_unified_shared_memory"}, device_has_usm},
};
enum {
	OWN = sizeof(own) / sizeof(*own),
	SOME = sizeof(some) / sizeof(*some),
	PASSED = sizeof(passed) / sizeof(*passed),
	EXTENSIONS = OWN + SOME + PASSED
};

static bool is_passed(const char *word)
{
	for (size_t i = 0; i < PASSED; i++)
		if (strcmp(word, passed[i]) == 0)
			return true;
	return false;
}

static void add_extension(cl_name_version table[EXTENSIONS], size_t *count, const char *name)
{
	table[*count].version = CL_MAKE_VERSION(1, 0, 0);
	(void)snprintf(table[*count].name, sizeof(table[*count].name), "%s", name);
	++*count;
}

static size_t add_of_cuda(cl_device_id device, cl_name_version table[EXTENSIONS], size_t count)
{
	uint64_t aspects = 0;
	(void)sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_ASPECTS, sizeof(aspects),
				   &aspects, NULL);
	for (size_t i = 0; i < sizeof(of_cuda) / sizeof(*of_cuda); i++)
		if (of_cuda[i].aspect < 0 || aspects >> of_cuda[i].aspect & 1)
			add_extension(table, &count, of_cuda[i].name);
	return count;
}

/* The driver's own, and those of the device that it passes on. Each once. Returns how many. */
static size_t extensions_of(cl_device_id device, cl_name_version table[EXTENSIONS])
{
	char all[16384] = "", *rest = NULL;
	size_t count = OWN;
	memcpy(table, own, sizeof(own));
	for (size_t i = 0; i < SOME; i++)
		if (some[i].is_there(device))
			table[count++] = some[i].extension;
	if (device->platform->is_cuda)
		return add_of_cuda(device, table, count);
	if (sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_EXTENSIONS, sizeof(all), all,
				 NULL) != SYCL_SUCCESS)
		return count;
	for (char *word = strtok_r(all, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (!is_passed(word) || count == EXTENSIONS)
			continue;
		add_extension(table, &count, word);
	}
	return count;
}

cl_int device_extensions(cl_device_id device, bool versions, struct answer answer)
{
	cl_name_version table[EXTENSIONS];
	char text[sizeof(table)] = "";
	memset(table, 0, sizeof(table));
	size_t count = extensions_of(device, table);
	if (versions)
		return answer_bytes(answer, table, count * sizeof(*table));
	for (size_t i = 0; i < count; i++)
		text_append(text, sizeof(text), " ", table[i].name);
	return answer_text(answer, text);
}

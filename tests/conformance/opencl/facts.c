/* Texts of the driver and how they are converted; the meanings of fault codes. */
#include "opencl/driver/aspects.h"
#include "opencl/program/binary.h"
#include "opencl/program/build.h"
#include "opencl/driver/fault.h"
#include "opencl/driver/library.h"
#include "opencl/program/model.h"
#include "targets/target.h"

#include "syclclient/device.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(opencl_facts, .timeout = 60);

#define SAME_NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), "one numbering")
SAME_NUMBER(OPENCL_ASPECT_CPU, SYCL_ASPECT_CPU);
SAME_NUMBER(OPENCL_ASPECT_GPU, SYCL_ASPECT_GPU);
SAME_NUMBER(OPENCL_ASPECT_ACCELERATOR, SYCL_ASPECT_ACCELERATOR);
SAME_NUMBER(OPENCL_ASPECT_CUSTOM, SYCL_ASPECT_CUSTOM);
SAME_NUMBER(OPENCL_ASPECT_FP16, SYCL_ASPECT_FP16);
SAME_NUMBER(OPENCL_ASPECT_FP64, SYCL_ASPECT_FP64);
SAME_NUMBER(OPENCL_ASPECT_ATOMIC64, SYCL_ASPECT_ATOMIC64);
SAME_NUMBER(OPENCL_ASPECT_IMAGE, SYCL_ASPECT_IMAGE);
SAME_NUMBER(OPENCL_ASPECT_ONLINE_COMPILER, SYCL_ASPECT_ONLINE_COMPILER);
SAME_NUMBER(OPENCL_ASPECT_ONLINE_LINKER, SYCL_ASPECT_ONLINE_LINKER);
SAME_NUMBER(OPENCL_ASPECT_QUEUE_PROFILING, SYCL_ASPECT_QUEUE_PROFILING);

Test(opencl_facts, J17_aspects_follow_from_whole_extension_names)
{
	const uint64_t fp16 = 1ull << SYCL_ASPECT_FP16, fp64 = 1ull << SYCL_ASPECT_FP64,
		       atomic64 = 1ull << SYCL_ASPECT_ATOMIC64;

	cr_assert_eq(opencl_extension_aspects(""), 0);
	cr_assert_eq(opencl_extension_aspects("cl_khr_fp16"), fp16);
	cr_assert_eq(opencl_extension_aspects("cl_khr_fp1"), 0);
	cr_assert_eq(opencl_extension_aspects("cl_khr_fp161 xcl_khr_fp64"), 0);
	cr_assert_eq(opencl_extension_aspects("  cl_khr_fp16   cl_khr_fp64 "), fp16 | fp64);
	cr_assert_eq(opencl_extension_aspects("cl_khr_int64_base_atomics"), 0);
	cr_assert_eq(opencl_extension_aspects("cl_khr_int64_extended_atomics"), 0);
	cr_assert_eq(
		opencl_extension_aspects("cl_khr_int64_base_atomics cl_khr_int64_extended_atomics"),
		atomic64);
}

Test(opencl_facts, G10_memory_model_follows_from_capabilities)
{
	const uint32_t group = SYCL_MEMORY_SCOPE_WORK_ITEM | SYCL_MEMORY_SCOPE_SUB_GROUP |
			       SYCL_MEMORY_SCOPE_WORK_GROUP;

	cr_assert_eq(opencl_memory_orders(0), SYCL_MEMORY_ORDER_RELAXED);
	cr_assert_eq(opencl_memory_scopes(0), group);
	cr_assert_eq(opencl_memory_orders(3), 15u); /* relaxed, acq_rel */
	cr_assert_eq(opencl_memory_orders(7), 31u); /* and seq_cst */
	cr_assert_eq(opencl_memory_scopes(1u << 5), group | SYCL_MEMORY_SCOPE_DEVICE);
	cr_assert_eq(opencl_memory_scopes(1u << 6),
		     group | SYCL_MEMORY_SCOPE_DEVICE | SYCL_MEMORY_SCOPE_SYSTEM);
}

/* The number of sizes in the driver. Like a driver it refuses room that is too small. */
static size_t sizes_there;

static cl_int CL_API_CALL check_sizes(cl_device_id device, cl_device_info parameter, size_t room,
				      void *to, size_t *bytes)
{
	(void)device;
	if (parameter != CL_DEVICE_SUB_GROUP_SIZES_INTEL ||
	    (to && room < sizes_there * sizeof(size_t)))
		return CL_INVALID_VALUE;
	for (size_t i = 0; to && i < sizes_there; i++)
		((size_t *)to)[i] = (size_t)1 << i;
	if (bytes)
		*bytes = sizes_there * sizeof(size_t);
	return CL_SUCCESS;
}

static struct backend_device_facts sub_groups_of(const char *extensions, size_t sizes)
{
	static char text[128];
	const struct opencl_library cl = {.GetDeviceInfo = check_sizes};
	struct backend_device_facts facts = {
		.extensions = text, .max_sub_groups = 128, .independent_progress = true};

	(void)snprintf(text, sizeof(text), "%s", extensions);
	sizes_there = sizes;
	opencl_sub_groups_fill(&cl, NULL, &facts);
	return facts;
}

Test(opencl_facts, E17_sub_groups_are_there_with_their_sizes_or_not_at_all)
{
	static const char both[] = "cl_khr_subgroups cl_intel_required_subgroup_size";
	static const size_t counts[] = {1, 3, 10, 16, 20};

	cr_assert_eq(sub_groups_of("cl_intel_subgroups cl_intel_required_subgroup_size", 5)
			     .sub_group_size_count,
		     5);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct backend_device_facts facts = sub_groups_of(both, counts[i]);
		cr_assert_eq(facts.sub_group_size_count, counts[i] < 16 ? counts[i] : 16, "%zu",
			     counts[i]);
		for (uint32_t k = 0; k < facts.sub_group_size_count; k++)
			cr_assert_eq(facts.sub_group_sizes[k], 1u << k);
		cr_assert_eq(facts.max_sub_groups, 128);
		cr_assert(facts.independent_progress);
	}
	/* No size is reported: there is no list, no extension with one, and no extension of the
	 * functions. */
	const struct backend_device_facts none[] = {
		sub_groups_of(both, 0), sub_groups_of("cl_khr_subgroups", 3),
		sub_groups_of("cl_intel_required_subgroup_size", 3)};
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(none[i].sub_group_size_count, 0, "%d", i);
		cr_assert_eq(none[i].max_sub_groups, 0, "%d", i);
		cr_assert(!none[i].independent_progress, "%d", i);
	}
}

Test(opencl_facts, J14_extensions_match_as_whole_words)
{
	cr_assert(opencl_has_extension("a bb ccc", "bb"));
	cr_assert(opencl_has_extension("a bb ccc", "ccc"));
	cr_assert(!opencl_has_extension("a bb ccc", "b"));
	cr_assert(!opencl_has_extension("a bb ccc", "cccc"));
	cr_assert(!opencl_has_extension("a bb ccc", ""));
	cr_assert(!opencl_has_extension("", "a"));
}

Test(opencl_facts, A14_versions_never_exceed_the_platforms)
{
	char text[32];

	opencl_version("OpenCL 3.0 PoCL something", "OpenCL 3.0 PoCL 3.1", text, sizeof(text));
	cr_assert_str_eq(text, "3.0");
	opencl_version("OpenCL 3.0", "OpenCL 1.2 x", text, sizeof(text));
	cr_assert_str_eq(text, "1.2");
	opencl_version("OpenCL 2.1", "OpenCL 2.2", text, sizeof(text));
	cr_assert_str_eq(text, "2.1");
	opencl_version("OpenCL 1.10", "OpenCL 1.9", text, sizeof(text));
	cr_assert_str_eq(text, "1.9");
	opencl_version("strange", "OpenCL 1.2", text, sizeof(text));
	cr_assert_str_eq(text, "strange");
}

Test(opencl_facts, R8_layers_are_scaled_by_pocl_before_4_0_alone)
{
	cr_assert(opencl_pocl_scales_layers("1.8"));
	cr_assert(opencl_pocl_scales_layers("3.0"));
	cr_assert(opencl_pocl_scales_layers("3.1+debian"));
	cr_assert(!opencl_pocl_scales_layers("4.0"));
	cr_assert(!opencl_pocl_scales_layers("5.0+debian"));
	cr_assert(!opencl_pocl_scales_layers("10.1"));
	cr_assert(!opencl_pocl_scales_layers(""));
	cr_assert(!opencl_pocl_scales_layers("strange"));
}

static void check_options(bool needs_optimiser, const char *options, const char *expected)
{
	const struct backend_device_facts facts = {.max_work_group_size = 8};
	const struct opencl_build build = {.facts = &facts,
					   .kind = BACKEND_SOURCE_OPENCL_C,
					   .options = options,
					   .needs_optimiser = needs_optimiser};
	struct backend_fault fault = {0};
	char *made = NULL;

	cr_assert_eq(opencl_build_options(&build, 0, &made, &fault), 0);
	static const char first[] = "-cl-kernel-arg-info ";
	cr_assert_eq(strncmp(made, first, strlen(first)), 0, "%s", made);
	const char *rest = made + strlen(first);
	cr_assert_str_eq(rest + strspn(rest, " "), expected + strspn(expected, " "));
	free(made);
}

Test(opencl_facts, E12_pocl_from_4_0_keeps_its_optimiser)
{
	cr_assert(!opencl_pocl_needs_optimiser("3.1+debian"));
	cr_assert(opencl_pocl_needs_optimiser("4.0"));
	cr_assert(opencl_pocl_needs_optimiser("5.0+debian"));
	cr_assert(opencl_pocl_needs_optimiser("strange"));
	check_options(false, "-DA=1 -cl-opt-disable", "-DA=1 -cl-opt-disable");
	check_options(true, "-cl-opt-disable -DA=1 -cl-opt-disable",
		      "                -DA=1                ");
	check_options(true, "-DA=-cl-opt-disable -cl-opt-disabled",
		      "-DA=-cl-opt-disable -cl-opt-disabled");
	check_options(true, "-cl-opt-disable\t-DA=1", "                -DA=1");
	check_options(true, NULL, "");
}

/* PoCL checks only what spaces divide. */
Test(opencl_facts, options_are_divided_by_spaces_alone)
{
	check_options(false, "-DA=1\t-DB=1\n-DC=1\v-DD=1\f-DE=1\r-fpass-plugin=x.so",
		      "-DA=1 -DB=1 -DC=1 -DD=1 -DE=1 -fpass-plugin=x.so");
}

/* The loader's own list, read in this process. */
static uint32_t loaders_platforms(cl_platform_id *platforms, uint32_t room,
				  __typeof__(&clGetPlatformInfo) *info_out)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	__typeof__(&clGetPlatformIDs) list;
	cl_uint count = 0;

	cr_assert_not_null(library, "%s", dlerror());
	*(void **)&list = dlsym(library, "clGetPlatformIDs");
	*(void **)info_out = dlsym(library, "clGetPlatformInfo");
	cr_assert(list && *info_out);
	cr_assert_eq(list(room, platforms, &count), CL_SUCCESS);
	cr_assert_leq(count, room);
	return count;
}

Test(opencl_facts, A9_the_platforms_are_all_that_the_loader_has)
{
	enum { ROOM = 64 };
	struct fixture fixture = {.wake_fd = -1};
	cl_platform_id platforms[ROOM];
	__typeof__(&clGetPlatformInfo) info;

	fixture_open_backend(&fixture);
	const uint32_t count = loaders_platforms(platforms, ROOM, &info);
	cr_assert_geq(count, 1);
	cr_assert_eq(fixture.topology.platform_count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct backend_platform_facts *platform = &fixture.topology.platforms[i];
		char name[256] = "", vendor[256] = "";
		cr_assert_eq(info(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL),
			     CL_SUCCESS);
		cr_assert_eq(info(platforms[i], CL_PLATFORM_VENDOR, sizeof(vendor), vendor, NULL),
			     CL_SUCCESS);
		cr_assert_str_eq(platform->name, name);
		cr_assert_str_eq(platform->vendor, vendor);
		cr_assert(!platform->available ||
			  strncmp(platform->profile, "FULL_PROFILE", 12) == 0 ||
			  strncmp(platform->profile, "EMBEDDED_PROFILE", 16) == 0);
	}
	fixture_close(&fixture);
}

Test(opencl_facts, A14_every_device_has_a_version)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open_backend(&fixture);
	cr_assert_geq(fixture.topology.device_count, 1);
	for (uint32_t i = 0; i < fixture.topology.device_count; i++) {
		unsigned major = 0, minor = 0;
		cr_assert_eq(sscanf(fixture.topology.devices[i].version, "%u.%u", &major, &minor),
			     2);
		cr_assert(major >= 1 && major <= 9);
	}
	fixture_close(&fixture);
}

static bool opencl_facts_has_aspect(const struct backend_device_facts *facts, unsigned aspect)
{
	return facts->aspects & 1ull << aspect;
}

/* Every device has one type, and its other facts are consistent with it. */
Test(opencl_facts, A24_devices_have_the_aspects_of_their_type_and_extensions)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open_backend(&fixture);
	cr_assert_geq(fixture.topology.device_count, 1);
	for (uint32_t i = 0; i < fixture.topology.device_count; i++) {
		const struct backend_device_facts *facts = &fixture.topology.devices[i];
		cr_assert_eq(opencl_facts_has_aspect(facts, SYCL_ASPECT_CPU) +
				     opencl_facts_has_aspect(facts, SYCL_ASPECT_GPU) +
				     opencl_facts_has_aspect(facts, SYCL_ASPECT_ACCELERATOR) +
				     opencl_facts_has_aspect(facts, SYCL_ASPECT_CUSTOM),
			     1, "%s", facts->name);
		cr_assert_eq(opencl_facts_has_aspect(facts, SYCL_ASPECT_FP16),
			     opencl_has_extension(facts->extensions, "cl_khr_fp16"));
		cr_assert_eq(opencl_facts_has_aspect(facts, SYCL_ASPECT_FP64),
			     facts->fp_config[2] != 0 ||
				     opencl_has_extension(facts->extensions, "cl_khr_fp64"));
		cr_assert_eq(opencl_facts_has_aspect(facts, SYCL_ASPECT_IMAGE),
			     facts->image_support);
		cr_assert(opencl_facts_has_aspect(facts, SYCL_ASPECT_ONLINE_COMPILER));
		cr_assert(opencl_facts_has_aspect(facts, SYCL_ASPECT_QUEUE_PROFILING));
		/* A CPU's memory is the host's. */
		cr_assert(!opencl_facts_has_aspect(facts, SYCL_ASPECT_CPU) ||
				  facts->host_unified_memory,
			  "%s", facts->name);
	}
	fixture_close(&fixture);
}

#define POCL "Portable Computing Language"

static const struct backend_platform_facts *find_pocl(const struct fixture *fixture,
						      uint32_t *index_out)
{
	for (uint32_t i = 0; i < fixture->topology.platform_count; i++) {
		if (strcmp(fixture->topology.platforms[i].name, POCL) != 0)
			continue;
		*index_out = i;
		return &fixture->topology.platforms[i];
	}
	return NULL;
}

static uint32_t devices_of(const struct fixture *fixture, uint32_t platform,
			   const struct backend_device_facts *found[2])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < fixture->topology.device_count; i++)
		if (fixture->topology.devices[i].platform == platform && count++ < 2)
			found[count - 1] = &fixture->topology.devices[i];
	return count;
}

/* A platform without a device is no error. PoCL reads this when its devices are first listed, so it
 * is in a separate process. */
Test(opencl_facts, A1_a_platform_without_devices)
{
	struct fixture fixture = {.wake_fd = -1};
	const struct backend_device_facts *found[2];
	uint32_t pocl = 0;

	cr_assert_eq(setenv("POCL_DEVICES", "", 1), 0);
	fixture_open_backend(&fixture);
	cr_assert_geq(fixture.topology.platform_count, 1);
	if (!find_pocl(&fixture, &pocl)) {
		fixture_close(&fixture);
		cr_skip_test("no PoCL, whose devices can be hidden");
	}
	cr_assert_eq(devices_of(&fixture, pocl, found), 0);
	fixture_close(&fixture);
}

/*
 * The name of PoCL's device of all processors. There have been two names; PoCL's version decides
 * which one is right. A query of the version reads no variable yet.
 */
static bool query_two_devices(void)
{
	struct opencl_library cl;
	struct backend_fault fault = {0};
	cl_platform_id platforms[16];
	cl_uint count = 0;
	unsigned major = 0;

	if (opencl_library_open(NULL, &cl, &fault) < 0 ||
	    cl.GetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
		return false;
	for (cl_uint i = 0; i < count && i < 16; i++) {
		char version[256] = "";
		(void)cl.GetPlatformInfo(platforms[i], CL_PLATFORM_VERSION, sizeof(version) - 1,
					 version, NULL);
		const char *pocl = strstr(version, "PoCL ");
		if (pocl && sscanf(pocl, "PoCL %u", &major) == 1)
			return setenv("POCL_DEVICES", major < 4 ? "pthread pthread" : "cpu cpu",
				      1) == 0;
	}
	return false;
}

Test(opencl_facts, two_devices_of_one_kind_share_their_key)
{
	struct fixture fixture = {.wake_fd = -1};
	const struct backend_device_facts *found[2];
	uint32_t pocl = 0;

	if (!query_two_devices())
		cr_skip_test("no PoCL, which can have two devices");
	fixture_open_backend(&fixture);
	cr_assert_not_null(find_pocl(&fixture, &pocl));
	cr_assert_eq(devices_of(&fixture, pocl, found), 2);
	cr_assert_str_eq(found[0]->key, found[1]->key);
	fixture_close(&fixture);
}

/* Without a driver the platform exists and is not available (A4). */
Test(opencl_facts, A4_without_a_driver_the_backend_says_so)
{
	struct backend *backend = NULL;
	struct backend_fault fault = {0};
	const struct backend_settings settings = {.cache_directory = NULL};

	/* This library has the loader's name, so the backend gets it instead of the machine's. */
	cr_assert_not_null(dlopen(OPENCL_NOTHING, RTLD_NOW | RTLD_LOCAL), "%s", dlerror());
	cr_assert_eq(backend_opencl_ops.open(&settings, &backend, &fault), -19);
	cr_assert_null(backend);
	cr_assert_not_null(strstr(fault.text, "finds no driver"), "%s", fault.text);
}

Test(opencl_facts, J16_faults_name_the_code)
{
	struct backend_fault fault = {0};

	cr_assert_lt(opencl_fault_code(&fault, -54, "start the kernel"), 0);
	cr_assert_eq(fault.native_code, -54);
	cr_assert_eq(fault.status, -4);
	cr_assert_not_null(strstr(fault.text, "CL_INVALID_WORK_GROUP_SIZE"));
	cr_assert_lt(opencl_fault_code(&fault, -12345, "do it"), 0);
	cr_assert_eq(fault.status, -1);
	cr_assert_eq(fault.native_code, -12345);
	cr_assert_lt(opencl_fault_code(&fault, -2, "do it"), 0);
	cr_assert(fault.device_lost);
}

/* A binary comes from a compiler that was given a tenant's source: any bytes must be refused or
 * read completely. */
Test(opencl_facts, damaged_binaries_are_refused)
{
	struct backend_argument_facts arguments[] = {
		{.kind = BACKEND_ARGUMENT_GLOBAL, .type_name = "int*", .name = "x"},
		{.kind = BACKEND_ARGUMENT_VALUE, .size_bytes = 4, .type_name = "int"}};
	char name[] = "kernel", payload[] = "payload";
	struct opencl_binary_kernel kernel = {
		.name = name, .argument_count = 2, .arguments = arguments};
	const struct opencl_binary binary = {.has_checks = true,
					     .kernel_count = 1,
					     .kernels = &kernel,
					     .payload_count = 1,
					     .payloads = {{.bytes = payload, .count = 7}}};
	void *bytes = NULL;
	size_t count = 0;
	struct opencl_binary *read = NULL;

	cr_assert_eq(opencl_binary_pack(&binary, &bytes, &count), 0);
	cr_assert_eq(opencl_binary_unpack(bytes, count, &read), 0);
	cr_assert(read->has_checks);
	cr_assert_eq(read->kernel_count, 1);
	cr_assert_str_eq(read->kernels[0].arguments[0].type_name, "int*");
	cr_assert_eq(read->kernels[0].arguments[1].size_bytes, 4);
	cr_assert_eq(read->payload_count, 1);
	cr_assert_eq(read->payloads[0].count, 7);
	cr_assert_arr_eq(read->payloads[0].bytes, "payload", 7);
	/* A binary is recognised only by all of its bytes. */
	cr_assert(opencl_binary_is(read, bytes, count));
	cr_assert_not(opencl_binary_is(read, bytes, count - 1));
	((char *)bytes)[count - 1] ^= 1;
	cr_assert_not(opencl_binary_is(read, bytes, count));
	((char *)bytes)[count - 1] ^= 1;
	read = opencl_binary_free(read);
	for (size_t i = 0; i < count; i++) {
		char *copy = malloc(
			i ? i : 1); /* its exact size, so that a read beyond it is detected */
		memcpy(copy, bytes, i);
		cr_assert_lt(opencl_binary_unpack(copy, i, &read), 0, "cut at %zu", i);
		cr_assert_null(read);
		free(copy);
	}
	for (size_t i = 0; i < count * 8; i++) {
		char *copy = malloc(count);
		memcpy(copy, bytes, count);
		copy[i / 8] ^= (char)(1 << (i % 8));
		if (opencl_binary_unpack(copy, count, &read) == 0)
			read = opencl_binary_free(read);
		cr_assert_null(read);
		free(copy);
	}
	free(bytes);
}

/* A binary of one kernel for some numbers of dimensions, each with a payload of its own. */
static struct opencl_binary *binary_for(uint32_t dimensions, const char *identity,
					const char *argument)
{
	struct backend_argument_facts arguments[] = {
		{.kind = BACKEND_ARGUMENT_VALUE, .size_bytes = 4}};
	char name[] = "kernel", payloads[3][2] = {"1", "2", "3"};
	struct opencl_binary_kernel kernel = {
		.name = name, .argument_count = 1, .arguments = arguments};
	struct opencl_binary binary = {.kernel_count = 1,
				       .kernels = &kernel,
				       .dimensions = dimensions,
				       .identity = (char *)(uintptr_t)identity,
				       .identity_bytes = strlen(identity)};
	struct opencl_binary *read = NULL;
	void *bytes = NULL;
	size_t count = 0;

	(void)snprintf(arguments[0].type_name, sizeof(arguments[0].type_name), "%s", argument);
	for (uint32_t i = 0; i < 3; i++)
		binary.payloads[i] = (struct opencl_payload){.bytes = payloads[i], .count = 1};
	cr_assert_eq(opencl_binary_pack(&binary, &bytes, &count), 0);
	for (size_t i = 0; i < count; i++) {
		char *copy = malloc(i ? i : 1);
		memcpy(copy, bytes, i);
		cr_assert_lt(opencl_binary_unpack(copy, i, &read), 0, "cut at %zu", i);
		free(copy);
	}
	cr_assert_eq(opencl_binary_unpack(bytes, count, &read), 0);
	free(bytes);
	return read;
}

static void expect_payload(const struct opencl_binary *binary, uint32_t dimensions)
{
	const struct opencl_payload *payload =
		&binary->payloads[opencl_binary_variant(binary, dimensions)];

	cr_assert_eq(payload->count, 1);
	cr_expect_eq(*(const char *)payload->bytes, (char)('0' + dimensions));
}

Test(opencl_facts, E2_a_binary_takes_other_numbers_of_dimensions)
{
	struct opencl_binary *two = binary_for(2, "source", "int"),
			     *others = binary_for(5, "source", "int"),
			     *foreign = binary_for(1, "sourcf", "int"),
			     *changed = binary_for(1, "source", "uint");
	const char *name = NULL;

	cr_expect_eq(two->payload_count, 1);
	cr_expect_eq(opencl_binary_first(two), 1);
	cr_expect_null(two->payloads[0].bytes);
	expect_payload(two, 2);
	/* Equal programs of two sources may differ for the next number. */
	cr_expect_eq(opencl_binary_add(two, foreign, &name), -EINVAL);
	cr_expect_null(name);
	cr_expect_eq(opencl_binary_add(two, changed, &name), -EINVAL);
	cr_assert_not_null(name);
	cr_expect_str_eq(name, "kernel");
	cr_expect_null(two->payloads[0].bytes);
	for (int i = 0; i < 2; i++)
		cr_expect_eq(opencl_binary_add(two, others, &name), 0);
	cr_expect_eq(two->payload_count, 3);
	(void)opencl_binary_free(others);
	for (uint32_t d = 1; d <= 3; d++)
		expect_payload(two, d);
	(void)opencl_binary_free(two);
	(void)opencl_binary_free(foreign);
	(void)opencl_binary_free(changed);
}

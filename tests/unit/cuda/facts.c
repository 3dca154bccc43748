/*
 * Facts of GPUs, on the double of the driver. Listing them makes no context, and every error has a
 * sentence.
 */
#include "cleanup.h"
#include "cuda/device/aspects.h"
#include "cuda/device/device.h"
#include "cuda/memory/release.h"
#include "fake_cuda.h"
#include "status.h"
#include "syclclient/device.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SAME_NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), "one numbering")
SAME_NUMBER(CUDA_ASPECT_GPU, SYCL_ASPECT_GPU);
SAME_NUMBER(CUDA_ASPECT_FP16, SYCL_ASPECT_FP16);
SAME_NUMBER(CUDA_ASPECT_FP64, SYCL_ASPECT_FP64);
SAME_NUMBER(CUDA_ASPECT_ATOMIC64, SYCL_ASPECT_ATOMIC64);
SAME_NUMBER(CUDA_ASPECT_ONLINE_COMPILER, SYCL_ASPECT_ONLINE_COMPILER);
SAME_NUMBER(CUDA_ASPECT_ONLINE_LINKER, SYCL_ASPECT_ONLINE_LINKER);
SAME_NUMBER(CUDA_ASPECT_QUEUE_PROFILING, SYCL_ASPECT_QUEUE_PROFILING);
SAME_NUMBER(CUDA_ASPECT_USM_DEVICE_ALLOCATIONS, SYCL_ASPECT_USM_DEVICE_ALLOCATIONS);
SAME_NUMBER(CUDA_ASPECT_USM_HOST_ALLOCATIONS, SYCL_ASPECT_USM_HOST_ALLOCATIONS);
SAME_NUMBER(CUDA_ASPECT_USM_ATOMIC_HOST_ALLOCATIONS, SYCL_ASPECT_USM_ATOMIC_HOST_ALLOCATIONS);
SAME_NUMBER(CUDA_ASPECT_USM_SHARED_ALLOCATIONS, SYCL_ASPECT_USM_SHARED_ALLOCATIONS);
SAME_NUMBER(CUDA_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS, SYCL_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS);
SAME_NUMBER(BACKEND_ORDER_RELAXED, SYCL_MEMORY_ORDER_RELAXED);
SAME_NUMBER(BACKEND_ORDER_ACQUIRE, SYCL_MEMORY_ORDER_ACQUIRE);
SAME_NUMBER(BACKEND_ORDER_RELEASE, SYCL_MEMORY_ORDER_RELEASE);
SAME_NUMBER(BACKEND_ORDER_ACQ_REL, SYCL_MEMORY_ORDER_ACQ_REL);
SAME_NUMBER(BACKEND_ORDER_SEQ_CST, SYCL_MEMORY_ORDER_SEQ_CST);
SAME_NUMBER(BACKEND_SCOPE_WORK_ITEM, SYCL_MEMORY_SCOPE_WORK_ITEM);
SAME_NUMBER(BACKEND_SCOPE_SUB_GROUP, SYCL_MEMORY_SCOPE_SUB_GROUP);
SAME_NUMBER(BACKEND_SCOPE_WORK_GROUP, SYCL_MEMORY_SCOPE_WORK_GROUP);
SAME_NUMBER(BACKEND_SCOPE_DEVICE, SYCL_MEMORY_SCOPE_DEVICE);
SAME_NUMBER(BACKEND_SCOPE_SYSTEM, SYCL_MEMORY_SCOPE_SYSTEM);

TestSuite(cuda_facts, .timeout = 20);

static struct backend backend;
static const struct fake_cuda_control *fake;

/* Loads the double with these settings, before it starts. */
static void cuda_facts_load_double(const char *first, ...)
{
	struct backend_fault fault = {0};
	void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW);
	cr_assert(ne(ptr, library, NULL), "%s", dlerror());
	fake_cuda_control_function *control = NULL;
	*(void **)&control = dlsym(library, FAKE_CUDA_CONTROL_SYMBOL);
	fake = control();
	va_list lines;
	va_start(lines, first);
	for (const char *line = first; line; line = va_arg(lines, const char *))
		cr_assert(eq(int, fake->command(line), 0), "%s", line);
	va_end(lines);
	backend = (struct backend){.settings = {.lanes = 7}};
	cr_assert(eq(int, cuda_library_open(FAKE_CUDA_LIBRARY, &backend.library, &fault), 0), "%s",
		  fault.text);
	backend.driver_version = backend.library.driver_version;
}

static const struct backend_device_facts *read_one(void)
{
	struct backend_fault fault = {0};
	cr_assert(eq(int, cuda_facts_read(&backend, &fault), 0), "%s", fault.text);
	cr_assert(ge(uint, backend.topology.device_count, 1));
	return &backend.topology.devices[0];
}

static void free_facts(void)
{
	cuda_facts_free(&backend);
	cr_assert(eq(u64, fake->count("contexts_created"), 0)); /* A17 */
	cr_assert(eq(u64, fake->count("misuse"), 0));
}

Test(cuda_facts, A5_A6_one_platform_with_every_device_of_the_driver)
{
	cuda_facts_load_double("devices 3", NULL);
	(void)read_one();
	cr_assert(eq(uint, backend.topology.platform_count, 1));
	const struct backend_platform_facts *platform = &backend.topology.platforms[0];
	cr_assert(eq(int, (int)platform->kind, (int)BACKEND_KIND_CUDA));
	cr_assert(platform->available);
	cr_assert(eq(str, platform->version, (char *)"CUDA 13.0"));
	cr_assert(eq(uint, backend.topology.device_count, 3));
	for (uint32_t i = 0; i < 3; i++) {
		const struct backend_device_facts *facts = &backend.topology.devices[i];
		CUuuid uuid;
		cr_assert(eq(uint, facts->platform, 0));
		cr_assert(eq(int, backend.devices[i].device, (int)i)); /* the driver's ordinal */
		cr_assert(eq(int, (int)backend.library.cuDeviceGetUuid(&uuid, (CUdevice)i),
			     CUDA_SUCCESS));
		cr_assert(eq(int, memcmp(uuid.bytes, facts->uuid, 16), 0));
		for (uint32_t k = 0; k < i; k++) {
			cr_assert(ne(int, memcmp(facts->uuid, backend.topology.devices[k].uuid, 16),
				     0));
			cr_assert(ne(str, facts->bus_id, backend.topology.devices[k].bus_id));
		}
	}
	free_facts();
}

Test(cuda_facts, A13_version_is_the_compute_capability)
{
	cuda_facts_load_double("compute 9 0", NULL);
	const struct backend_device_facts *facts = read_one();
	cr_assert(eq(str, facts->version, (char *)"9.0"));
	free_facts();
}

Test(cuda_facts, A28_no_builtin_kernels_and_no_extensions)
{
	cuda_facts_load_double(NULL, NULL);
	const struct backend_device_facts *facts = read_one();
	cr_assert(eq(str, facts->builtin_kernels, (char *)""));
	cr_assert(eq(str, facts->extensions, (char *)""));
	free_facts();
}

Test(cuda_facts, A15_numbers_of_an_h200)
{
	cuda_facts_load_double("memory 150000000000", NULL);
	const struct backend_device_facts *facts = read_one();
	cr_assert(eq(uint, facts->type, 2));
	cr_assert(eq(uint, facts->vendor_id, 0x10de));
	cr_assert(eq(uint, facts->max_compute_units, 132));
	/* SYCL's order: the last varies fastest, as CUDA's x. */
	cr_assert(eq(u64, facts->max_work_item_sizes[0], 64));
	cr_assert(eq(u64, facts->max_work_item_sizes[1], 1024));
	cr_assert(eq(u64, facts->max_work_item_sizes[2], 1024));
	cr_assert(eq(u64, facts->max_work_group_size, 1024));
	cr_assert(eq(uint, facts->max_clock_frequency_mhz, 1980));
	cr_assert(eq(uint, facts->address_bits, 64));
	cr_assert(eq(u64, facts->global_mem_bytes, 150000000000));
	cr_assert(eq(u64, facts->global_mem_cache_bytes, 62914560));
	cr_assert(eq(u64, facts->l2_window_bytes, 134217728));
	cr_assert(eq(u64, facts->local_mem_bytes, 232448));
	cr_assert(eq(u64, facts->max_constant_buffer_bytes, 65536));
	cr_assert(eq(u64, facts->max_parameter_bytes, 32764));
	cr_assert(eq(u64, facts->profiling_timer_resolution_ns, 500));
	cr_assert(facts->error_correction);
	cr_assert(facts->little_endian);
	cr_assert(not(facts->host_unified_memory));
	cr_assert(facts->available);
	cr_assert(eq(ptr, facts->mode, NULL));
	cr_assert(eq(ptr, facts->unavailable_reason, NULL));
	cr_assert(eq(uint, facts->preferred_lanes, 7));
	cr_assert(eq(str, facts->bus_id, (char *)"0000:1B:00.0"));
	/* Each divides a context's longest vector, 16 doubles. */
	cr_assert(eq(uint, facts->mem_base_addr_align_bits, 1024));
	free_facts();
}

Test(cuda_facts, E17_sub_groups_are_warps)
{
	cuda_facts_load_double(NULL, NULL);
	const struct backend_device_facts *facts = read_one();
	cr_assert(eq(u64, facts->sub_group_size_count, 1));
	cr_assert(eq(uint, facts->sub_group_sizes[0], 32));
	cr_assert(eq(uint, facts->max_sub_groups, 32));
	cr_assert(not(facts->independent_progress)); /* E18 */
	free_facts();
}

enum {
	ORDERS_ACQ_REL = BACKEND_ORDER_RELAXED | BACKEND_ORDER_ACQUIRE | BACKEND_ORDER_RELEASE |
			 BACKEND_ORDER_ACQ_REL,
	SCOPES_ALL = BACKEND_SCOPE_WORK_ITEM | BACKEND_SCOPE_SUB_GROUP | BACKEND_SCOPE_WORK_GROUP |
		     BACKEND_SCOPE_DEVICE | BACKEND_SCOPE_SYSTEM,
};

static const struct {
	const char *command;
	uint32_t orders, scopes;
} generations[] = {
	{"compute 5 2", BACKEND_ORDER_RELAXED, BACKEND_SCOPE_WORK_ITEM},
	{"compute 6 1", BACKEND_ORDER_RELAXED, SCOPES_ALL},
	{"compute 7 0", ORDERS_ACQ_REL, SCOPES_ALL},
	{"compute 9 0", ORDERS_ACQ_REL, SCOPES_ALL},
	{"compute 10 0", ORDERS_ACQ_REL, SCOPES_ALL},
};

static void read_generation(size_t i, const struct backend_device_facts **facts_out)
{
	cuda_facts_load_double(generations[i].command, NULL);
	*facts_out = read_one();
}

Test(cuda_facts, G7_atomic_orders_by_compute_capability)
{
	for (size_t i = 0; i < sizeof(generations) / sizeof(*generations); i++) {
		const struct backend_device_facts *facts;
		read_generation(i, &facts);
		cr_assert(eq(uint, facts->atomic_order_bits, generations[i].orders), "%s",
			  generations[i].command);
		cr_assert(eq(uint, facts->atomic_order_bits & BACKEND_ORDER_SEQ_CST, 0));
		free_facts();
	}
}

Test(cuda_facts, G8_atomic_scopes_by_compute_capability)
{
	for (size_t i = 0; i < sizeof(generations) / sizeof(*generations); i++) {
		const struct backend_device_facts *facts;
		read_generation(i, &facts);
		cr_assert(eq(uint, facts->atomic_scope_bits, generations[i].scopes), "%s",
			  generations[i].command);
		cr_assert(eq(uint, facts->fence_scope_bits, generations[i].scopes), "%s",
			  generations[i].command);
		free_facts();
	}
}

Test(cuda_facts, G9_fences_have_every_order_also_where_membar_serves)
{
	for (size_t i = 0; i < sizeof(generations) / sizeof(*generations); i++) {
		const struct backend_device_facts *facts;
		read_generation(i, &facts);
		cr_assert(eq(uint, facts->fence_order_bits, ORDERS_ACQ_REL | BACKEND_ORDER_SEQ_CST),
			  "%s", generations[i].command);
		free_facts();
	}
}

static bool cuda_facts_has_aspect(const struct backend_device_facts *facts, enum cuda_aspect aspect)
{
	return facts->aspects & 1ull << aspect;
}

Test(cuda_facts, A15_aspects_follow_from_attributes)
{
	cuda_facts_load_double(NULL, NULL);
	const struct backend_device_facts *facts = read_one();
	cr_assert(cuda_facts_has_aspect(facts, CUDA_ASPECT_GPU));
	cr_assert(cuda_facts_has_aspect(facts, CUDA_ASPECT_FP16));
	cr_assert(cuda_facts_has_aspect(facts, CUDA_ASPECT_FP64));
	cr_assert(cuda_facts_has_aspect(facts, CUDA_ASPECT_ATOMIC64));
	cr_assert(cuda_facts_has_aspect(facts, CUDA_ASPECT_QUEUE_PROFILING));
	cr_assert(cuda_facts_has_aspect(facts, CUDA_ASPECT_USM_SHARED_ALLOCATIONS));
	free_facts();
	cuda_facts_load_double("compute 5 0", NULL);
	facts = read_one();
	cr_assert(not(cuda_facts_has_aspect(facts, CUDA_ASPECT_FP16)));
	cr_assert(eq(uint, facts->fp_config[0], 0));
	free_facts();
}

Test(cuda_facts, G15_atomic_usm_only_where_system_scope_holds)
{
	/* 86: native atomics over the link to the host; 89: managed memory used by both at one
	 * time. */
	cuda_facts_load_double("attribute 86 0", "attribute 89 1", NULL);
	const struct backend_device_facts *facts = read_one();
	cr_assert(not(cuda_facts_has_aspect(facts, CUDA_ASPECT_USM_ATOMIC_HOST_ALLOCATIONS)));
	cr_assert(cuda_facts_has_aspect(facts, CUDA_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS));
	free_facts();
	cuda_facts_load_double("attribute 86 1", "attribute 89 0", NULL);
	facts = read_one();
	cr_assert(cuda_facts_has_aspect(facts, CUDA_ASPECT_USM_ATOMIC_HOST_ALLOCATIONS));
	cr_assert(not(cuda_facts_has_aspect(facts, CUDA_ASPECT_USM_SHARED_ALLOCATIONS)));
	cr_assert(not(cuda_facts_has_aspect(facts, CUDA_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS)));
	free_facts();
}

Test(cuda_facts, G1_hints_have_an_effect_where_memory_can_move)
{
	cuda_facts_load_double(NULL, NULL);
	cr_assert(ne(uint, read_one()->features & BACKEND_FEATURE_USM_MIGRATES, 0));
	free_facts();
	cuda_facts_load_double("attribute 89 0", NULL);
	cr_assert(eq(uint, read_one()->features & BACKEND_FEATURE_USM_MIGRATES, 0));
	free_facts();
	cuda_facts_load_double("missing cuMemPrefetchAsync", NULL);
	cr_assert(eq(uint, read_one()->features & BACKEND_FEATURE_USM_MIGRATES, 0));
	free_facts();
}

Test(cuda_facts, A15_features_need_attribute_and_function)
{
	cuda_facts_load_double(NULL, NULL);
	cr_assert(ne(uint, read_one()->features & BACKEND_FEATURE_CLUSTER, 0));
	cr_assert(ne(uint, backend.topology.devices[0].features & BACKEND_FEATURE_EXPORT_VMM, 0));
	free_facts();
	cuda_facts_load_double("attribute 120 0", "attribute 103 0",
			       NULL); /* clusters; descriptors of memory */
	cr_assert(eq(uint,
		     read_one()->features & (BACKEND_FEATURE_CLUSTER | BACKEND_FEATURE_EXPORT_VMM),
		     0));
	free_facts();
}

Test(cuda_facts, A15_a_driver_without_a_function_has_not_the_feature)
{
	cuda_facts_load_double("missing cuMemExportToShareableHandle", "missing cuIpcGetMemHandle",
			       NULL);
	cr_assert(
		eq(uint,
		   read_one()->features & (BACKEND_FEATURE_EXPORT_VMM | BACKEND_FEATURE_EXPORT_IPC),
		   0));
	free_facts();
}

Test(cuda_facts, A15_equal_gpus_share_a_key_and_others_do_not)
{
	cuda_facts_load_double("devices 2", "compute 9 0", NULL);
	(void)read_one();
	cr_assert(eq(str, backend.topology.devices[0].key, backend.topology.devices[1].key));
	CLEANUP(free_pointer) char *before = strdup(backend.topology.devices[0].key);
	cr_assert(ne(ptr, before, NULL));
	free_facts();
	cuda_facts_load_double("compute 8 0", NULL);
	cr_assert(ne(str, read_one()->key, before));
	free_facts();
}

Test(cuda_facts, A4_compute_modes_have_their_sentences)
{
	cuda_facts_load_double("attribute 20 2", NULL);
	const struct backend_device_facts *facts = read_one();
	cr_assert(not(facts->available));
	cr_assert(ne(ptr, strstr(facts->unavailable_reason, "prohibited"), NULL));
	cr_assert(eq(str, facts->mode, (char *)"prohibited"));
	free_facts();
	cuda_facts_load_double("attribute 20 3", NULL);
	facts = read_one();
	cr_assert(not(facts->available));
	cr_assert(ne(ptr, strstr(facts->unavailable_reason, "exclusive"), NULL));
	cr_assert(eq(str, facts->mode, (char *)"exclusive process"));
	free_facts();
	/* The one process is MPS's server: the service uses it. */
	cuda_facts_load_double("attribute 20 3", "attribute 133 1", NULL);
	facts = read_one();
	cr_assert(facts->available);
	cr_assert(eq(str, facts->mode, (char *)"MPS client, exclusive process"));
	free_facts();
}

Test(cuda_facts, A15_mig_and_mps_are_told)
{
	cuda_facts_load_double("name Fake H200 (test double) MIG 1g.18gb", NULL);
	cr_assert(eq(str, read_one()->mode, (char *)"MIG 1g.18gb"));
	cr_assert(backend.topology.devices[0].available);
	free_facts();
	cuda_facts_load_double("name Fake H200 (test double)", "attribute 133 1", NULL);
	cr_assert(eq(str, read_one()->mode, (char *)"MPS client"));
	free_facts();
}

static void expect_no_start(const char *command, const char *words)
{
	struct backend_fault fault = {0};
	cuda_facts_load_double(command, NULL);
	cr_assert(lt(int, cuda_facts_read(&backend, &fault), 0));
	cr_assert(eq(int, fault.status, STATUS_PLATFORM), "%s", fault.text);
	cr_assert(ne(ptr, strstr(fault.text, words), NULL), "%s: %s", command, fault.text);
	cr_assert(eq(ptr, (void *)(uintptr_t)backend.topology.devices, NULL));
	free_facts();
}

Test(cuda_facts, A4_no_device_has_its_sentence)
{
	expect_no_start("devices 0", "no NVIDIA GPU");
}

Test(cuda_facts, A4_every_start_that_fails_has_its_sentence)
{
	expect_no_start("init_result 100", "no NVIDIA GPU");
	expect_no_start("init_result 803", "different versions");
	expect_no_start("init_result 802", "set up");
	expect_no_start("init_result 304", "device files");
	expect_no_start("init_result 999", "device files");
	expect_no_start("init_result 804", "compatibility");
	expect_no_start("init_result 805", "MPS");
}

Test(cuda_facts, A4_an_old_driver_has_its_sentence)
{
	struct backend_fault fault = {0};
	cuda_facts_load_double(NULL, NULL);
	cr_assert(eq(int, fake->command("driver_version 11080"), 0));
	struct cuda_library library;
	cr_assert(eq(int, cuda_library_open(FAKE_CUDA_LIBRARY, &library, &fault), -ENODEV));
	cr_assert(ne(ptr, strstr(fault.text, "too old"), NULL), "%s", fault.text);
	cr_assert(ne(ptr, strstr(fault.text, "11.8"), NULL), "%s", fault.text);
}

Test(cuda_facts, A4_a_missing_driver_has_its_sentence)
{
	struct backend_fault fault = {0};
	struct cuda_library library;
	cr_assert(eq(int, cuda_library_open("libno-such-driver.so.1", &library, &fault), -ENODEV));
	cr_assert(ne(ptr, strstr(fault.text, "no NVIDIA driver"), NULL), "%s", fault.text);
}

Test(cuda_facts, A15_a_device_that_does_not_answer_is_an_error_not_a_hole)
{
	struct backend_fault fault = {0};
	cuda_facts_load_double("devices 3", "fail cuDeviceGetUuid 2 999 1", NULL);
	cr_assert(lt(int, cuda_facts_read(&backend, &fault), 0));
	cr_assert(ne(ptr, strstr(fault.text, "GPU 1"), NULL), "%s", fault.text);
	free_facts();
}

static void cuda_facts_write_text(const char *root, const char *path, const char *text)
{
	char whole[256];
	(void)snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(whole, 0700);
		*slash = '/';
	}
	FILE *file = fopen(whole, "we");
	cr_assert(ne(ptr, file, NULL));
	cr_assert(ge(int, fputs(text, file), 0));
	(void)fclose(file);
}

Test(cuda_facts, A15_the_release_of_the_driver)
{
	char root[] = "/tmp/sycl-facts.XXXXXX", text[CUDA_RELEASE_BYTES], command[64];
	cr_assert(ne(ptr, mkdtemp(root), NULL));
	cuda_release(root, 13000, text);
	cr_assert(eq(str, text, (char *)"CUDA 13.0"));
	cuda_facts_write_text(
		root, "/proc/driver/nvidia/version",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC version:  "
		"gcc 12\n");
	cuda_release(root, 13000, text);
	cr_assert(eq(str, text, (char *)"580.159.04, CUDA 13.0"));
	cuda_facts_write_text(root, "/sys/module/nvidia/version", "570.86.15\n");
	cuda_release(root, 12080, text);
	cr_assert(eq(str, text, (char *)"570.86.15, CUDA 12.8"));
	cuda_facts_write_text(
		root, "/sys/module/nvidia/version",
		"what is this? 1..2 . 12 v1.2 ........................................");
	cuda_release(root, 12080, text);
	cr_assert(ne(ptr, strstr(text, "CUDA 12.8"), NULL));
	(void)snprintf(command, sizeof(command), "rm -rf %s", root);
	cr_assert(eq(int, system(command), 0));
}

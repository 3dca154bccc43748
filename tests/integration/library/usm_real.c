/*
 * USM on real devices of the kind USM_DEVICE_TYPE. The engine is the embedded one, or (USM_SERVICE)
 * those of a private service, which are processes. USM_CUDA_LIBRARY is a driver to use instead of
 * the machine's, and NVRTC_LIBRARY its compiler. Without such a device the tests skip.
 */
#include "library/usm_engine.h"

#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#ifdef USM_SERVICE
#include "private_service.h"
static struct private_service *service;
#endif

static const char source[] =
	"struct job { ulong data; uint value; uint count; };\n"
	"struct node { ulong next; uint value; };\n"
	"SYCL_KERNEL void fill_u32(SYCL_GLOBAL(uint) to, uint value)\n"
	"{ to[sycl_global_id(0)] = value; }\n"
	"SYCL_KERNEL void increment_u32(SYCL_GLOBAL(uint) to)\n"
	"{ to[sycl_global_id(0)] += 1; }\n"
	"SYCL_KERNEL void copy_u32(SYCL_GLOBAL(uint) to, SYCL_GLOBAL(const uint) from)\n"
	"{ to[sycl_global_id(0)] = from[sycl_global_id(0)]; }\n"
	"SYCL_KERNEL void sum_list_u32(SYCL_GLOBAL(uint) to, SYCL_GLOBAL(const uint) head)\n"
	"{\n"
	"	ulong at = (ulong)head;\n"
	"	while (at) {\n"
	"		SYCL_GLOBAL(const struct node) node = (SYCL_GLOBAL(const struct node))at;\n"
	"		to[0] += node->value;\n"
	"		at = node->next;\n"
	"	}\n"
	"}\n"
	"SYCL_KERNEL void run_job(struct job job)\n"
	"{\n"
	"	SYCL_GLOBAL(uint) data = (SYCL_GLOBAL(uint))job.data;\n"
	"	ulong i = sycl_global_id(0);\n"
	"	if (i < job.count)\n"
	"		data[i] += job.value;\n"
	"}\n"
	"SYCL_KERNEL void count_up(SYCL_GLOBAL(uint) to)\n"
	"{ sycl_atomic_add(to, 1u); }\n";

static void need(bool holds, const char *what)
{
	if (!holds) {
		cr_log_error("%s: %s\n%s", what, sycl_get_last_error_text(), sycl_get_build_log());
		abort();
	}
}

#ifdef USM_CUDA_LIBRARY
#define LIBRARY USM_CUDA_LIBRARY
#define NVRTC   NVRTC_LIBRARY
#else
#define LIBRARY ""
#define NVRTC   ""
#endif

/* Writes "library" and "nvrtc" of the CUDA backend, each behind `before`. "": the machine's own are
 * used. */
static void driver_options(char *text, size_t bytes, const char *before, const char *assign)
{
	const char *library = LIBRARY, *nvrtc = NVRTC;
	*text = '\0';
	if (*library == '\0')
		return;
	(void)snprintf(text, bytes, "%slibrary%s%s%s%s%s%s", before, assign, library,
		       *nvrtc ? before : "", *nvrtc ? "nvrtc" : "", *nvrtc ? assign : "", nvrtc);
	/* Only the double's devices. */
	need(setenv("OCL_ICD_VENDORS", "/nonexistent", 1) == 0, "setenv");
}

#ifdef USM_SERVICE
static void start_engine(void)
{
	char options[2 * PATH_MAX + 64], configuration[2 * PATH_MAX + 96];
	const char *arguments[] = {"--cache-dir", TEST_CACHE, NULL};
	driver_options(options, sizeof(options), "\n", " = ");
	(void)snprintf(configuration, sizeof(configuration), "[cuda]%s\n", options);
	need(private_service_start(*options ? configuration : NULL, arguments, &service) == 0,
	     "a private service");
}
#else
static void start_engine(void)
{
	char options[2 * PATH_MAX + 64];
	driver_options(options, sizeof(options), " cuda:", "=");
	if (*options)
		need(setenv("SYCLD_BACKEND_OPTIONS", options + 1, 1) == 0, "setenv");
	need(setenv("XDG_CACHE_HOME", TEST_CACHE, 1) == 0, "setenv");
}
#endif

void portable_engine_start(void)
{
	start_engine();
}

void portable_engine_stop(void)
{
#ifdef USM_SERVICE
	service = private_service_free(service);
#endif
}

const char *portable_engine_endpoint(void)
{
#ifdef USM_SERVICE
	return service->endpoint;
#else
	return "embedded:";
#endif
}

/* NVIDIA's OpenCL has no host and shared USM, so of a GPU the CUDA device is used. */
bool portable_engine_has(sycl_device device)
{
	uint32_t type = 0, available = 0, backend = 0;
	need(sycl_device_get_info(device, SYCL_DEVICE_INFO_TYPE, sizeof(type), &type, NULL) == 0,
	     "type");
	need(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend,
				  NULL) == 0,
	     "backend");
	need(sycl_device_get_info(device, SYCL_DEVICE_INFO_IS_AVAILABLE, sizeof(available),
				  &available, NULL) == 0,
	     "available");
	return type == USM_DEVICE_TYPE && available &&
	       (type != SYCL_DEVICE_TYPE_GPU || backend == SYCL_BACKEND_KIND_CUDA);
}

sycl_kernel portable_engine_kernel(sycl_queue on, const char *name)
{
	sycl_kernel kernel = NULL;
	need(sycl_kernel_from_source(on, source, name, &kernel) == 0, name);
	return kernel;
}

sycl_kernel usm_engine_kernel(sycl_queue on, const char *name)
{
	return portable_engine_kernel(on, name);
}

bool usm_engine_is_remote(void)
{
#ifdef USM_SERVICE
	return true;
#else
	return false;
#endif
}

int64_t usm_engine_bytes(void)
{
	return -1;
}

/* This is PTX, so only the driver compiles it. `factor` is in constant memory. */
static const char variables_ptx[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".visible .global .align 4 .b8 table[64];\n"
	".visible .const .align 4 .b8 factor[4] = {3, 0, 0, 0};\n"
	".visible .entry apply(.param .u64 to)\n{\n"
	"\t.reg .b32 %r<7>;\n\t.reg .b64 %p<5>;\n"
	"\tmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
	"\tmul.wide.u32 %p2, %r4, 4; ld.param.u64 %p1, [to]; add.u64 %p1, %p1, %p2;\n"
	"\tmov.u64 %p3, table; add.u64 %p3, %p3, %p2;\n"
	"\tld.global.u32 %r5, [%p3]; ld.const.u32 %r6, [factor]; mul.lo.u32 %r6, %r5, %r6;\n"
	"\tst.global.u32 [%p1], %r6; add.u32 %r5, %r5, 1; st.global.u32 [%p3], %r5;\n\tret;\n}\n";

sycl_kernel_bundle usm_engine_variables(sycl_queue on, sycl_kernel *apply_out)
{
	sycl_kernel_bundle bundle = NULL;
	*apply_out = NULL;
	if (USM_DEVICE_TYPE != SYCL_DEVICE_TYPE_GPU)
		return NULL;
	need(sycl_kernel_bundle_from_source(on, SYCL_SOURCE_PTX, variables_ptx, NULL, &bundle) == 0,
	     "variables");
	need(sycl_kernel_create(bundle, "apply", apply_out) == 0, "apply");
	return bundle;
}

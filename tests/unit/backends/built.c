/*
 * The registry and the public header of one build, compiled for each: both backends, only OpenCL,
 * only CUDA. The tables of the backends are empty here, because only the list of them matters.
 */
#include "backend.h"
#include "portable_prelude.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <syclclient.h>

static const struct backend_ops added_ops = {.name = "added"};
#ifdef SYCL_HAS_OPENCL
const struct backend_ops backend_opencl_ops = {.name = "opencl"};
const char portable_prelude_opencl[] = "opencl";
#endif
#ifdef SYCL_HAS_CUDA
const struct backend_ops backend_cuda_ops = {.name = "cuda"};
const char portable_prelude_cuda[] = "cuda";
const char cuda_translate_builtins[] = "builtins";
#endif

#ifdef SYCL_HAS_OPENCL
enum { HAS_OPENCL = 1 };
#if SYCL_BACKEND_OPENCL != 1
#error "the OpenCL backend is built and the header does not say 1"
#endif
#else
enum { HAS_OPENCL = 0 };
#ifdef SYCL_BACKEND_OPENCL
#error "the OpenCL backend is not built and the header has its macro"
#endif
#endif

#ifdef SYCL_HAS_CUDA
enum { HAS_CUDA = 1 };
#ifndef SYCL_EXT_KHR_CUDA_BACKEND
#error "the CUDA backend is built and the header has not its macro"
#endif
#else
enum { HAS_CUDA = 0 };
#ifdef SYCL_EXT_KHR_CUDA_BACKEND
#error "the CUDA backend is not built and the header has its macro"
#endif
#endif

#ifdef SYCL_DEVICE_COPYABLE
#error "the application defines it, never the header"
#endif

_Static_assert(SYCL_IS_BACKEND_ACTIVE(SYCL_BACKEND_KIND_OPENCL) == HAS_OPENCL, "a constant");
_Static_assert(SYCL_IS_BACKEND_ACTIVE(SYCL_BACKEND_KIND_CUDA) == HAS_CUDA, "a constant");
_Static_assert(SYCL_IS_BACKEND_ACTIVE(SYCL_BACKEND_KIND_FAKE) == 0, "not of a product");
_Static_assert((int)SYCL_BACKEND_KIND_OPENCL == (int)BACKEND_KIND_OPENCL, "one number everywhere");
_Static_assert((int)SYCL_BACKEND_KIND_CUDA == (int)BACKEND_KIND_CUDA, "one number everywhere");
_Static_assert((int)SYCL_BACKEND_KIND_FAKE == (int)BACKEND_KIND_FAKE, "one number everywhere");

static bool is_listed(const char *name)
{
	for (const struct backend_ops *const *ops = backend_registry(); *ops; ops++)
		if (strcmp((*ops)->name, name) == 0)
			return true;
	return false;
}

_Static_assert(SYCL_EXT_ONEAPI_ENQUEUE_NATIVE_COMMAND == 2,
	       "native commands are nodes of graphs, too");

Test(backends_built, A25_A29_macros_of_the_backends_that_are_there)
{
#ifdef SYCL_EXT_KHR_CUDA_BACKEND
	cr_assert(is_listed("cuda"));
#else
	cr_assert_not(is_listed("cuda"));
#endif
#ifdef SYCL_BACKEND_OPENCL
	cr_assert(is_listed("opencl"));
#else
	cr_assert_not(is_listed("opencl"));
#endif
}

Test(backends_built, A29_active_is_what_the_registry_has)
{
	cr_assert(HAS_OPENCL + HAS_CUDA >= 1);
	cr_assert_eq(is_listed("opencl"), HAS_OPENCL);
	cr_assert_eq(is_listed("cuda"), HAS_CUDA);
	cr_assert_not(is_listed("fake"), "not of a product");
	cr_assert_str_eq(backend_own_text(BACKEND_KIND_OPENCL, BACKEND_SOURCE_PORTABLE),
			 HAS_OPENCL ? "opencl" : "");
	cr_assert_str_eq(backend_own_text(BACKEND_KIND_OPENCL, BACKEND_SOURCE_OPENCL_C), "");
	cr_assert_str_eq(backend_own_text(BACKEND_KIND_CUDA, BACKEND_SOURCE_PORTABLE),
			 HAS_CUDA ? "cuda" : "");
	cr_assert_str_eq(backend_own_text(BACKEND_KIND_CUDA, BACKEND_SOURCE_SPIRV),
			 HAS_CUDA ? "builtins" : "");
}

Test(backends_built, a_translated_source_depends_on_no_driver)
{
	static const char key[] = "cuda|sm_90|580.1";

	cr_assert_eq(backend_key_bytes(BACKEND_KIND_CUDA, BACKEND_SOURCE_OPENCL_C, key), 10);
	cr_assert_eq(backend_key_bytes(BACKEND_KIND_CUDA, BACKEND_SOURCE_SPIRV, key), 10);
	cr_assert_eq(backend_key_bytes(BACKEND_KIND_CUDA, BACKEND_SOURCE_PORTABLE, key),
		     strlen(key));
	cr_assert_eq(backend_key_bytes(BACKEND_KIND_OPENCL, BACKEND_SOURCE_OPENCL_C, key),
		     strlen(key));
}

Test(backends_built, A29_a_program_adds_a_backend_behind_those_of_the_build)
{
	static const struct backend_ops many[8];

	cr_assert_not(is_listed("added"));
	cr_assert_eq(backend_registry_add(&added_ops), 0);
	cr_assert_eq(backend_registry_add(&added_ops), 0, "twice is as once");
	const struct backend_ops *const *ops = backend_registry();
	cr_assert_eq(ops[HAS_OPENCL + HAS_CUDA], &added_ops);
	cr_assert_null(ops[HAS_OPENCL + HAS_CUDA + 1]);

	int r = 0;
	for (unsigned i = 0; i < 8 && r == 0; i++)
		r = backend_registry_add(&many[i]);
	cr_assert_eq(r, -ENOSPC, "the list has an end");
}

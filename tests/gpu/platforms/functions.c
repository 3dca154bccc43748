/* The functions of the driver in their pinned versions: which optional ones this driver has. */
#include "cuda/driver/library.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(gpu_functions, .timeout = 60);

/* The versions are those of this build's toolkit: a driver that is as new has all of them. An older
 * one may lack some. */
Test(gpu_functions, a_driver_as_new_as_the_build_has_every_function)
{
	struct cuda_library library;
	struct backend_fault fault = {0};
	if (cuda_library_open(getenv("SYCLD_TEST_CUDA_LIBRARY"), &library, &fault) < 0)
		cr_skip_test("%s", fault.text);
	if (library.driver_version < CUDA_VERSION)
		cr_skip_test("the driver is for CUDA %d, the build for %d", library.driver_version,
			     CUDA_VERSION);
	unsigned count = 0;
#define EXPECT(name, version)                                                                      \
	cr_expect(library.name, "the driver has no %s of version %d", #name, version);             \
	count++;
	CUDA_FUNCTIONS(EXPECT, EXPECT)
#undef EXPECT
	cr_log_info("%u functions, driver %d", count, library.driver_version);
}

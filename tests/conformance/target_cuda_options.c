#include "target_cuda.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *target_cuda_options[4] = {NULL};

/* "real": the driver of this machine. Otherwise the double; a GPU in the machine is left alone. */
void target_cuda_prepare(void)
{
	const char *which = getenv("SYCLD_TEST_CUDA");
	unsigned count = 0;

	if (!which || strcmp(which, "real") != 0)
		target_cuda_options[count++] = "library=" FAKE_CUDA_LIBRARY;
#ifdef SYCLD_NVRTC_LIBRARY
	if (access(SYCLD_NVRTC_LIBRARY, R_OK) == 0)
		target_cuda_options[count++] = "nvrtc=" SYCLD_NVRTC_LIBRARY;
#endif
#ifdef CONFORMANCE_CONNECTIONS
	target_cuda_options[count++] = "connections=" CONFORMANCE_CONNECTIONS;
#endif
	target_cuda_options[count] = NULL;
}

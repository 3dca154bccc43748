/* What PoCL 3 does in a process for each kernel that it compiles, beyond compiling: it starts a
 * linker, and loads the result. */
#ifndef SYCL_OPENCL_POCL_H
#define SYCL_OPENCL_POCL_H

#include <stdbool.h>

/*
 * With a `link` in vendor_role: PoCL's linkers are replaced by that function, so PoCL starts no
 * process. False if there is none, or if this PoCL starts linkers in an unknown way; it is then
 * unchanged. Once its platform is known; any thread.
 */
bool opencl_pocl_links_elsewhere(void);

/*
 * With `only_builds` in vendor_role: PoCL does not load compiled kernels into this process, where
 * code of their sources would run at once. They cannot be launched. Does nothing for another
 * driver. Before the first build.
 */
void opencl_pocl_load_nothing(void);

#endif

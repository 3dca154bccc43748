/*
 * Kernels that wait for the kernels before them by themselves.
 *
 * In a row of kernels the device starts one when the one before it has ended and all its writes are
 * visible. Between two small ones that is most of the time. A kernel whose first instruction is
 * griddepcontrol.wait may be put on the device while the one before it still ends. The instruction
 * does not return before that has ended and its writes are visible. So a client's text gets this
 * instruction at the beginning of each kernel. Then a chain of such kernels may use "programmatic"
 * edges of the driver. Elsewhere the instruction does nothing. On an H200, of a row of 100 small
 * kernels each: 667 ns instead of 870. (With griddepcontrol.launch_dependents at the beginning as
 * well: 544. But then blocks that wait occupy multiprocessors that other sessions' kernels could
 * use, for as long as the kernel before runs.)
 *
 * A kernel that has the instruction already decides itself how much of it may run before. It is
 * left alone, and begins early only if the program requests that (R5,
 * backend_launch_properties.early).
 *
 * Pure: no driver, any thread, never blocks.
 */
#ifndef SYCL_BACKENDS_CUDA_PTX_WAIT_H
#define SYCL_BACKENDS_CUDA_PTX_WAIT_H

#include "cuda/program/ptx.h"

#define CUDA_OVERLAP_COMPUTE_MAJOR 9

/*
 * The text with that instruction, malloc'ed, ended by 0 that is not counted, the caller's. Its
 * lines are the given one's. The instruction is of PTX 7.8 and sm_90, so texts for less are raised
 * to that. Texts below PTX 6.0 or sm_70 are not, as the same words have other meanings there. Texts
 * that control the start of later kernels themselves are not raised either. `compute_major`: the
 * device's. -EOPNOTSUPP: not for this text or device; -ENOMEM.
 */
int cuda_ptx_wait(const char *text, size_t bytes, const struct cuda_ptx *ptx, int compute_major,
		  char **text_out, size_t *bytes_out);

#endif

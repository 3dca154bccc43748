/*
 * Kernels that wait by themselves for the kernels before them.
 *
 * In a row of kernels, the device starts a kernel when the previous one has ended and all its
 * writes are visible. Between two small kernels, this wait is most of the time. A kernel whose
 * first instruction is griddepcontrol.wait may be put on the device while the previous one still
 * ends. The instruction returns only when the previous kernel has ended and its writes are visible.
 * So each kernel of a client's text gets this instruction at its beginning. Then a chain of such
 * kernels may use "programmatic" edges of the driver. Elsewhere the instruction does nothing. On an
 * H200, in a row of 100 small kernels, each takes 667 ns instead of 870. (With
 * griddepcontrol.launch_dependents at the beginning as well: 544. But then waiting blocks occupy
 * multiprocessors that other sessions' kernels could use, for as long as the previous kernel runs.)
 *
 * A kernel that already has the instruction decides itself which of its parts may run early. Such a
 * kernel is not changed, and begins early only if the program requests that (R5,
 * backend_launch_properties.early).
 *
 * Pure: no driver, any thread, never blocks.
 */
#ifndef SYCL_BACKENDS_CUDA_PTX_WAIT_H
#define SYCL_BACKENDS_CUDA_PTX_WAIT_H

#include "cuda/program/ptx.h"

#define CUDA_OVERLAP_COMPUTE_MAJOR 9

/*
 * The text with that instruction, malloc'ed, ended by a 0 that is not counted, and the caller's. It
 * has the same lines as the given text. The instruction needs PTX 7.8 and sm_90, so lower texts are
 * raised to these. Texts below PTX 6.0 or sm_70 are not raised, because the same words have other
 * meanings there. Texts that control the start of later kernels themselves are not raised either.
 * `compute_major`: of the device. -EOPNOTSUPP: not possible for this text or device; -ENOMEM.
 */
int cuda_ptx_wait(const char *text, size_t bytes, const struct cuda_ptx *ptx, int compute_major,
		  char **text_out, size_t *bytes_out);

#endif

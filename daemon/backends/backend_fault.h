/* Which backend, and why an entry of it failed. A part of backend.h. */
#ifndef SYCL_BACKENDS_BACKEND_FAULT_H
#define SYCL_BACKENDS_BACKEND_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#define BACKEND_TEXT_BYTES 256

/* Equal to proto's Backend. FAKE: the devices of the project's tests, in no product. */
enum backend_kind { BACKEND_KIND_OPENCL = 1, BACKEND_KIND_CUDA = 2, BACKEND_KIND_FAKE = 3 };

/* Why an entry failed, for the client: a status of shared/status.h, the vendor's code, one
 * sentence. */
struct backend_fault {
	int32_t status;
	int32_t native_code;
	bool device_lost; /* this process can use the device no more */
	/* With device_lost: this process can use the vendor's driver no more, and only a new
	 * process can. */
	bool process_lost;
	/* With process_lost, for a command: the command cannot have been the cause. */
	bool not_begun;
	char text[BACKEND_TEXT_BYTES];
};

/* No failure. Of the text only its end is written: it is long, and this is done for every command.
 */
static inline void backend_fault_none(struct backend_fault *fault)
{
	fault->status = 0;
	fault->native_code = 0;
	fault->device_lost = fault->process_lost = fault->not_begun = false;
	fault->text[0] = '\0';
}

#endif

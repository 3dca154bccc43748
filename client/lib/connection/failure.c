#include "connection/failure.h"

#include <stdbool.h>
#include <stdio.h>

void failure_from_status(const Sycl__V1__Status *status, struct failure *failure_out)
{
	*failure_out = (struct failure){.code = SYCL_SUCCESS};
	if (!status || status->code == 0)
		return;
	/* The library returns known codes only. An unknown code from the service is reported as
	 * SYCL_ERROR_RUNTIME. */
	bool known = status->code < 0 && status->code >= SYCL_ERROR_FORKED;
	failure_out->code = known ? status->code : SYCL_ERROR_RUNTIME;
	failure_out->native_code = status->native_code;
	failure_out->backend = status->backend;
	failure_out->object = status->object;
	(void)snprintf(failure_out->text, sizeof(failure_out->text), "%s",
		       status->text && *status->text ? status->text : "the service gave no reason");
}

void failure_from_failed(const Sycl__V1__Status *status, struct failure *failure_out)
{
	failure_from_status(status, failure_out);
	if (failure_out->code == SYCL_SUCCESS)
		*failure_out = (struct failure){.code = SYCL_ERROR_RUNTIME,
						.text = "the service gave no reason"};
}

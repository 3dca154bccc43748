/* The service's report of a failure. */
#ifndef SYCL_CLIENT_FAILURE_H
#define SYCL_CLIENT_FAILURE_H

#include "base/error.h"
#include "command.pb-c.h"

/* Out of the message into plain memory. */
void failure_from_status(const Sycl__V1__Status *status, struct failure *failure_out);
/* As failure_from_status, for a status that reports a failure: the code is never a success. */
void failure_from_failed(const Sycl__V1__Status *status, struct failure *failure_out);

#endif

/* Describes the health of the service, from one answer to a status request. */
#ifndef SYCL_ASK_HEALTH_H
#define SYCL_ASK_HEALTH_H

#include "admin.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

/* True: the service is healthy, and the text is "healthy". False: the text has the problems in one
 * line. */
bool health_text(const Sycl__V1__AdminReply *reply, char *text_out, size_t text_bytes);

#endif

/* Describes the health of the service, from one answer to a status request. */
#ifndef SYCL_ASK_HEALTH_H
#define SYCL_ASK_HEALTH_H

#include "admin.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

/* True: the service is healthy, and the text begins with "healthy". False: the text begins with the
 * problems. In both cases it goes on with what is good to know: engines that get no new sessions or
 * have no strict filter. One line. */
bool health_text(const Sycl__V1__AdminReply *reply, char *text_out, size_t text_bytes);

#endif

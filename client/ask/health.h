/* Is the service well, by one answer to a status request? */
#ifndef SYCL_ASK_HEALTH_H
#define SYCL_ASK_HEALTH_H

#include "admin.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

/* True: it is, and the text is "healthy". False: the text says in a line what is wrong. */
bool health_text(const Sycl__V1__AdminReply *reply, char *text_out, size_t text_bytes);

#endif

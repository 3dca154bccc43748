/* A name for a source: that of its first kernel. For the log alone: a source is any bytes, and this
 * parses no language. */
#ifndef SYCL_ENGINE_BUILD_NAME_H
#define SYCL_ENGINE_BUILD_NAME_H

#include "backend.h"

enum { BUILD_NAME_BYTES = 48 };

/* Letters, digits and underscores, cut off where they do not fit; "" where no kernel is found, as
 * in binaries. */
void build_name(enum backend_source_kind kind, const char *source, size_t source_bytes,
		char out[BUILD_NAME_BYTES]);

#endif

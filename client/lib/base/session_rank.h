/* The class and the weight that a connection requests. */
#ifndef SYCL_CLIENT_SESSION_RANK_H
#define SYCL_CLIENT_SESSION_RANK_H

#include "syclclient.h"

#define SESSION_WEIGHT_DEFAULT 100u
#define SESSION_WEIGHT_MAX     1000u

/* Return the caller's values, else those of SYCLD_CLASS and SYCLD_WEIGHT, else 0. */
sycl_result session_class_wanted(uint32_t given, uint32_t *class_out);
sycl_result session_weight_wanted(uint32_t given, uint32_t *weight_out);

#endif

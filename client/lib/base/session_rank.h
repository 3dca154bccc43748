/* The class and the weight that a connection asks for. */
#ifndef SYCL_CLIENT_SESSION_RANK_H
#define SYCL_CLIENT_SESSION_RANK_H

#include "syclclient.h"

#define SESSION_WEIGHT_DEFAULT 100u
#define SESSION_WEIGHT_MAX     1000u

/* What the caller gave, else what SYCLD_CLASS and SYCLD_WEIGHT say; 0: neither says anything. */
sycl_result session_class_wanted(uint32_t given, uint32_t *class_out);
sycl_result session_weight_wanted(uint32_t given, uint32_t *weight_out);

#endif

/* Turns an answer into JSON. The caller frees each result; NULL: there was no memory for it. */
#ifndef SYCL_ASK_JSON_H
#define SYCL_ASK_JSON_H

#include "admin.pb-c.h"

#include <jansson.h>

/* For json_dumpf and its like: as many digits as a double has for certain. More would print
 * 1.7000040000000001. */
#define JSON_DIGITS JSON_REAL_PRECISION(15)

json_t *json_of_status(const Sycl__V1__AdminReply *reply);
json_t *json_of_devices(const Sycl__V1__AdminReply *reply);
json_t *json_of_sessions(const Sycl__V1__AdminReply *reply);
json_t *json_of_order(const Sycl__V1__AdminReply *reply);
json_t *json_of_limits(const Sycl__V1__AdminReply *reply);
json_t *json_of_jobs(const Sycl__V1__AdminReply *reply);
json_t *json_of_job_order(const Sycl__V1__AdminReply *reply);
json_t *json_of_service(const Sycl__V1__AdminReply *reply);
/* Rows have the keys by which the request groups. */
json_t *json_of_accounts(const Sycl__V1__AdminReply *reply);

#endif

/* Shows an answer as text or as JSON. Each function returns false only without memory. */
#ifndef SYCLCTL_SHOW_H
#define SYCLCTL_SHOW_H

#include "admin.pb-c.h"
#include "names.h"

#include <stdbool.h>

bool show_status(const Sycl__V1__AdminReply *reply);
bool show_devices(const Sycl__V1__AdminReply *reply);
bool show_sessions(const Sycl__V1__AdminReply *reply);
bool show_accounts(const Sycl__V1__AdminReply *reply);
/* The table alone, of the limits in the reply. */
bool show_limits(const Sycl__V1__AdminReply *reply);
/* The table of all limits, and to other users than operators, when theirs are added to it. */
bool show_all_limits(const Sycl__V1__AdminReply *reply);
bool show_jobs(const Sycl__V1__AdminReply *reply);
bool show_job_order(const Sycl__V1__AdminReply *reply);
bool show_version(const Sycl__V1__AdminReply *reply);

/* The kind of thing that `show` shows. */
extern const char *cli_shown_kind;

/* one.c: shows one thing of that kind, the only one that the answer has. Returns false also if it
 * does not exist, and has then printed that. */
bool show_one(const Sycl__V1__AdminReply *reply);

/* As show_one, but an answer without the thing is written, too. */
bool json_one(const Sycl__V1__AdminReply *reply);

bool json_status(const Sycl__V1__AdminReply *reply);
/* Limits come from a request of their own. Null: the service has not answered that. */
bool json_status_and_limits(const Sycl__V1__AdminReply *reply);
bool json_devices(const Sycl__V1__AdminReply *reply);
bool json_sessions(const Sycl__V1__AdminReply *reply);
bool json_accounts(const Sycl__V1__AdminReply *reply);
bool json_jobs(const Sycl__V1__AdminReply *reply);
bool json_job_order(const Sycl__V1__AdminReply *reply);
bool json_order(const Sycl__V1__AdminReply *reply);
bool json_limits(const Sycl__V1__AdminReply *reply);
bool json_version(const Sycl__V1__AdminReply *reply);

#endif

/* Orders of managers of jobs, from the words of a command line to a request. */
#ifndef SYCLCTL_JOB_H
#define SYCLCTL_JOB_H

#include "admin.pb-c.h"
#include "order/order.h"

#include <stdbool.h>

/* In the order of the protocol's values. */
#define JOB_ACTS    "begin end suspend resume"
#define JOB_CLASSES "latency normal best-effort"

/* As the user wrote them; NULL: the option is missing. */
struct job_words {
	const char *cgroup, *share, *memory, *class, *devices, *count;
};

/* The request of the verb `job`. */
extern Sycl__V1__JobCommand cli_job;

/* Fills cli_job, which points into the words. False: *wrong_out names the error. */
bool job_read_words(const struct order_words *words, const struct job_words *job,
		    const char **wrong_out);

#endif

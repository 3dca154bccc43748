/* A job as a message: for replies, and for the next service. */
#ifndef SYCLD_SUPERVISOR_JOB_ROW_H
#define SYCLD_SUPERVISOR_JOB_ROW_H

#include "admin.pb-c.h"
#include "service/job.h"

struct supervisor;

/* The message, with the memory of its text. */
struct job_row {
	Sycl__V1__JobFacts facts;
	char devices[JOB_DEVICES_BYTES];
};

/* Fills the row, which refers to the job. */
void job_row_fill(struct job_row *row, const struct supervisor *supervisor, const struct job *job);

#endif

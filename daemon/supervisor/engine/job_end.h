/* The end of a job: its sessions and its engines end. */
#ifndef SYCLD_SUPERVISOR_JOB_END_H
#define SYCLD_SUPERVISOR_JOB_END_H

struct job;
struct supervisor;

/* Ends the job's sessions and frees the job. `why` is for the log and the clients. Returns the
 * number of sessions. Loop thread; does not wait. */
unsigned job_end(struct supervisor *supervisor, struct job *job, const char *why);

#endif

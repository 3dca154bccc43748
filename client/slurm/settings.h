/* The plug-in's arguments in plugstack.conf. */
#ifndef SYCLD_SPANK_SETTINGS_H
#define SYCLD_SPANK_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

enum { SETTING_BYTES = 256, DEADLINE_MS = 5000 };

struct settings {
	char syclctl[SETTING_BYTES];     /* the program that sends orders to the service */
	char runtime_dir[SETTING_BYTES]; /* of the service; "": as syclctl finds it */
	char state_dir[SETTING_BYTES];   /* what the prolog leaves for steps; only root may write */
	/* Below which group the plug-in makes one for each job; "slurm": the job's own group of
	 * Slurm's plug-in cgroup/v2. */
	char cgroup[SETTING_BYTES];
	char devices[SETTING_BYTES]; /* candidates, as `syclctl job --devices`; "": as the user */
	unsigned most;        /* percent of a device that a job may get at most; 0: its share */
	unsigned deadline_ms; /* for each order */
};

/* Reads "name=value" words. "%n" in a value is the node's name. False: `wrong_out` has the cause.
 */
bool settings_read(int count, char **words, struct settings *settings_out, char *wrong_out,
		   size_t bytes);

/* The name of this node, from slurmd's environment; "": unknown. */
const char *settings_node(void);

#endif

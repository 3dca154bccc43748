/* What a job wants, as the prolog, or else the first step, finds it out and leaves it for the
 * others. */
#ifndef SYCLD_SPANK_FACTS_H
#define SYCLD_SPANK_FACTS_H

#include "settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FACT_BYTES = 32, CAUSE_BYTES = 512 };

struct facts {
	unsigned hundredths;     /* of a device, by its GRES; 100 for each whole one */
	char memory[FACT_BYTES]; /* as written, such as 10G; "": none */
	char class[FACT_BYTES];  /* "": none */
	/* Why the job cannot run here; "": it can. The step reports it to the user. */
	char cause[CAUSE_BYTES];
};

/* Reads the hundredths from Slurm's words, such as "gres:gpu:1,gres:sycl:h100:25"; 0: none. */
unsigned facts_hundredths(const char *tres_per_node);

/* True: the text is a number of bytes, also with K, M, G or T; or a class. */
bool facts_is_memory(const char *text);
bool facts_is_class(const char *text);

/* True if the job wants anything of the service. */
bool facts_are_any(const struct facts *facts);

/* Files of `state_dir`. 0 or a negative errno; -ENOENT: the job has none. Never block. */
int facts_save(const struct settings *settings, uint32_t job, const struct facts *facts);
int facts_load(const struct settings *settings, uint32_t job, struct facts *facts_out);
void facts_remove(const struct settings *settings, uint32_t job);

#endif

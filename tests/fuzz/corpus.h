/* The generator of the seeds. make_corpus.c writes them; corpus_messages.c, corpus_rings.c,
 * corpus_intervals.c, corpus_fair_queue.c and corpus_resubmit.c define them. */
#ifndef SYCL_FUZZ_CORPUS_H
#define SYCL_FUZZ_CORPUS_H

#include <stddef.h>
#include <stdint.h>

/* Writes one seed of a target; ends the program on failure. */
void seed(const char *target, const char *name, const void *bytes, size_t count);

void make_message_seeds(void);
void make_ring_seeds(void);
void make_interval_seeds(void);
void make_fair_queue_seeds(void);
void make_resubmit_seeds(void);

/* Packs one command group with a launch into at most 256 bytes. Returns its size. */
size_t pack_example_group(uint8_t *bytes);

#endif

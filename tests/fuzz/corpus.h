/* The generator of the seeds: make_corpus.c writes, corpus_messages.c, corpus_rings.c,
 * corpus_intervals.c, corpus_fair_queue.c and corpus_resubmit.c say what. */
#ifndef SYCL_FUZZ_CORPUS_H
#define SYCL_FUZZ_CORPUS_H

#include <stddef.h>
#include <stdint.h>

/* Write one seed of a target; ends the program on failure. */
void seed(const char *target, const char *name, const void *bytes, size_t count);

void make_message_seeds(void);
void make_ring_seeds(void);
void make_interval_seeds(void);
void make_fair_queue_seeds(void);
void make_resubmit_seeds(void);

/* One command group with a launch, packed; at most 256 bytes. Its size. */
size_t pack_example_group(uint8_t *bytes);

#endif

/* Maps pairs of numbers to numbers, in a table that grows. */
#ifndef SYCLCTL_TRACE_TABLE_H
#define SYCLCTL_TRACE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct trace_table;

/* NULL: no memory. */
struct trace_table *trace_table_new(void);
struct trace_table *trace_table_free(struct trace_table *table);
bool trace_table_has(const struct trace_table *table, uint64_t first, uint64_t second);
/* Returns the pair's number; a new pair gets `next`. -ENOMEM. */
int trace_table_number(struct trace_table *table, uint64_t first, uint64_t second, uint32_t next,
		       uint32_t *number_out);

#endif

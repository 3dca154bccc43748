/* Writes metrics for Prometheus: the text format 0.0.4, or OpenMetrics 1.0.0. */
#ifndef SYCLD_EXPORTER_METRICS_H
#define SYCLD_EXPORTER_METRICS_H

#include "sample.h"
#include "tally.h"

#include <stdbool.h>
#include <stdio.h>

#define METRICS_TYPE_TEXT "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_TYPE_OPEN "application/openmetrics-text; version=1.0.0; charset=utf-8"

struct metrics_facts {
	bool is_up, sees_all;
	double query_seconds, age_seconds;  /* for the latest requests */
	const Sycl__V1__AdminReply *status; /* NULL unless is_up, as the next member */
	const struct tally *tally;
};

/* 0, or -ENOMEM. */
int metrics_write(const struct metrics_facts *facts, bool open_metrics, FILE *to);

/* Writes a label's value, which other users may choose: UTF-8, without control characters, 128
 * bytes at most, escaped. */
void metrics_write_label(const char *value, FILE *to);

#endif

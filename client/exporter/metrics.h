/* What Prometheus reads: the text format 0.0.4, or OpenMetrics 1.0.0. */
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
	double query_seconds, age_seconds;  /* of the latest questions */
	const Sycl__V1__AdminReply *status; /* NULL unless is_up, as the next */
	const struct tally *tally;
};

/* 0, or -ENOMEM. */
int metrics_write(const struct metrics_facts *facts, bool open_metrics, FILE *to);

/* A label's value: UTF-8, without control characters, 128 bytes at most, escaped. For names that
 * others choose. */
void metrics_write_label(const char *value, FILE *to);

#endif

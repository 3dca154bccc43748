/* Entries with fields for the journal, in its native form (systemd.journal-fields(7)). */
#ifndef SYCLD_SUPERVISOR_JOURNAL_H
#define SYCLD_SUPERVISOR_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

struct log_fields {
	int kind; /* enum event_kind; determines MESSAGE_ID and the entry in sycld.catalog */
	bool has_uid;
	unsigned long uid;  /* SYCLD_UID */
	uint64_t session;   /* SYCLD_SESSION; 0: none */
	const char *kernel; /* SYCLD_KERNEL; "": none */
};

/* Returns a socket for journal_send, or a negative errno. */
int journal_open(const char *path);

/*
 * Opens the socket if it is -1, or if its reader has ended: a journal that was started again has
 * another socket of the same name. False: the journal does not accept the entry now. Never blocks.
 */
bool journal_send(const char *path, int *socket, int priority, const char *topic, const char *text,
		  const struct log_fields *fields);

#endif

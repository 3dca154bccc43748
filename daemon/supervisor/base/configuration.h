/*
 * sycld.conf: sections [service], [isolation], [limits], [shares], [cuda]. It is read at the start
 * and again at SIGHUP. Its values apply to engines started afterwards; its limits and shares apply
 * to running engines too.
 */
#ifndef SYCLD_SUPERVISOR_CONFIGURATION_H
#define SYCLD_SUPERVISOR_CONFIGURATION_H

#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* limit_list.h */
enum { CONFIGURATION_LIMITS = 16 };
/* The engines' own defaults: an option is passed only if it differs. */
enum { CONFIGURATION_SLICE_US = 500 };
/* Options of the CUDA backend. */
enum { CONFIGURATION_CUDA_OPTIONS = 14 };

struct configuration_limit {
	bool given;
	bool ordered; /* an operator has changed the limit since the file was read */
	uint64_t value;
};

struct configuration_text {
	bool given;
	char value[256];
};

enum { CONFIGURATION_SHARES = 64, CONFIGURATION_NAME_BYTES = 64 };

/* A share of a device's time, percent. */
struct configuration_share {
	bool given;
	unsigned least, most; /* least <= most, 1 <= most <= 100 */
};

enum configuration_share_whose { SHARE_OF_UID, SHARE_OF_USER, SHARE_OF_GROUP };

struct configuration_share_entry {
	enum configuration_share_whose whose;
	uint32_t uid;                        /* SHARE_OF_UID */
	char name[CONFIGURATION_NAME_BYTES]; /* name of the user or the group */
	struct configuration_share share;
};

/* The division of devices' time among users. */
struct configuration_shares {
	bool exclusive; /* devices are given to one user at a time */
	bool mode_seen;
	struct configuration_share everybody; /* users without a line of their own */
	unsigned count;
	struct configuration_share_entry entries[CONFIGURATION_SHARES];
};

struct configuration {
	uint64_t engine_idle_ns;  /* idle time after which an engine without sessions ends */
	uint64_t engine_start_ns; /* longest time until an engine is ready */
	/* Longest time in which an engine must open a session that was handed to it. */
	uint64_t handshake_ns;
	uint64_t drain_ns;  /* longest time for which sessions may continue after SIGTERM */
	bool leave_engines; /* at SIGTERM the service does not end its engines */
	bool spill;         /* data that does not fit on a full device moves to the host */
	uint64_t slice_us;  /* length of the parts of a divided command group; 0: none is divided */
	bool standby;       /* keeps an engine ready for the next tenant that needs one */
	bool engine_per_session; /* isolation = session */
	bool refuse_unknown;     /* refuses uids that are not in the user database */
	/* Limit, by control groups, on processes and threads of all engines of a user; 0: the
	 * default of engine/groups.h. */
	uint64_t user_processes;
	uint64_t user_memory_bytes;   /* the same; 0: no limit */
	uint64_t user_cpu_weight;     /* the same; 0: as for all users */
	unsigned engines;             /* most engines at the same time */
	unsigned sessions_per_tenant; /* most sessions of a tenant at the same time */
	/* Ordered since the file was read: sessions_per_tenant, and shares.everybody. */
	bool sessions_ordered, shares_ordered;
	char admin_group[64];
	char observer_group[64];
	struct configuration_limit limits[CONFIGURATION_LIMITS];
	/* In the form that the backend expects: numbers without units. */
	struct configuration_text cuda[CONFIGURATION_CUDA_OPTIONS];
	struct configuration_shares shares;
};

extern const char *const configuration_limit_names[CONFIGURATION_LIMITS];
extern const uint64_t configuration_limit_most[CONFIGURATION_LIMITS];

/* configuration_cuda.c; in the order of `cuda` above. */
extern const char *const configuration_cuda_names[CONFIGURATION_CUDA_OPTIONS];
/* False: *wants_out describes the values that the option accepts. The option is then not set. */
bool configuration_cuda_set(struct configuration *configuration, unsigned index, const char *value,
			    const char **wants_out);
/* configuration_shares.c: reads one line of [shares]. NULL: accepted. Otherwise the error: in the
 * name, or a description of valid values. */
const char *configuration_shares_set(struct configuration_shares *shares, const char *name,
				     const char *value, bool *wrong_name_out);
/* Reads a whole number, with a suffix K, M, G or T (powers of 1024) if `with_unit`. False: it is no
 * number, or above `most`. */
bool configuration_number(const char *text, bool with_unit, uint64_t most, uint64_t *number_out);

void configuration_defaults(struct configuration *configuration_out);

/*
 * Reads `path`. -ENOENT: there is no such file. -EINVAL: `message_out` is "file:line: error".
 * Another negative errno: it cannot be read, and `message_out` has the reason. The output is
 * untouched on failure.
 */
int configuration_read(const char *path, struct configuration *configuration_out, char *message_out,
		       size_t message_bytes);

/* Reads the given file. `given` NULL: the mode's default file, which may be missing. 0 or a
 * negative errno with a message. */
int configuration_load(const char *given, bool user, struct configuration *configuration_out,
		       char *message_out, size_t message_bytes);

#endif

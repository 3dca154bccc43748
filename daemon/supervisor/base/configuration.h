/*
 * sycld.conf, and the files in sycld.conf.d beside it: sections [service], [isolation], [limits],
 * [shares], [cuda], and [user NAME], [uid NUMBER], [group NAME]. It is read at the start and again
 * at SIGHUP. Its values apply to engines started afterwards; its limits and shares apply to running
 * engines too.
 */
#ifndef SYCLD_SUPERVISOR_CONFIGURATION_H
#define SYCLD_SUPERVISOR_CONFIGURATION_H

#include "base/device_set.h"
#include "mps_folder.h"

#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* limit_list.h */
enum { CONFIGURATION_LIMITS = 16 };
/* The engines' own defaults: an option is passed only if it differs. */
enum { CONFIGURATION_SLICE_US = 500 };
/* Options of the CUDA backend. */
enum { CONFIGURATION_CUDA_OPTIONS = 22 };

/* The line of one of `files` that gave a value. Line 0: no line, the value is a default. */
struct configuration_origin {
	uint16_t file, line;
};

struct configuration_limit {
	bool given;
	uint64_t value;
	struct configuration_origin origin;
};

/* The devices that a user's sessions may have. */
struct configuration_devices {
	bool given; /* false: all devices */
	struct device_set set;
	struct configuration_origin origin;
};

struct configuration_text {
	bool given;
	char value[256];
};

enum { CONFIGURATION_SHARES = 64, CONFIGURATION_NAME_BYTES = 64 };
/* Most sections of users and groups: a look-up's answer has one bit for each. */
enum { CONFIGURATION_PEOPLE = 64 };
enum { CONFIGURATION_FILES = 32, CONFIGURATION_FILE_BYTES = 64 };

/* A share of a device's time, percent. */
struct configuration_share {
	bool given;
	unsigned least, most; /* least <= most, 1 <= most <= 100 */
	struct configuration_origin origin;
};

enum configuration_share_whose { SHARE_OF_UID, SHARE_OF_USER, SHARE_OF_GROUP };

struct configuration_owner {
	enum configuration_share_whose whose;
	uint32_t uid;                        /* SHARE_OF_UID */
	char name[CONFIGURATION_NAME_BYTES]; /* name of the user or the group */
};

struct configuration_share_entry {
	struct configuration_owner owner;
	struct configuration_share share;
};

/* The values in a section of a user or a group. */
struct configuration_settings {
	struct configuration_limit limits[CONFIGURATION_LIMITS];
	struct configuration_limit sessions; /* sessions_per_tenant */
	struct configuration_devices devices;
	struct configuration_limit mps; /* value 1: engines use the MPS server; 0: they do not */
	uint32_t seen;                  /* one bit for each key that the current file has given */
};

struct configuration_owners {
	unsigned count;
	struct configuration_owner list[CONFIGURATION_PEOPLE];
};

/* Sections [user NAME], [uid NUMBER] and [group NAME], in their order. */
struct configuration_people {
	struct configuration_owners owners;
	struct configuration_settings settings[CONFIGURATION_PEOPLE];
};

/* The division of devices' time among users. */
struct configuration_shares {
	bool exclusive;                       /* devices are given to one user at a time */
	bool mode_seen;                       /* the current file has given the mode */
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
	bool filter_is_basic;    /* engines may start processes, whatever their devices are */
	bool filter_is_full;     /* PoCL is used so that it needs no processes */
	bool refuse_unknown;     /* refuses uids that are not in the user database */
	bool refuse_outside; /* refuses processes that are in no job, except those of operators */
	/* Limit, by control groups, on processes and threads of all engines of a user; 0: the
	 * default of engine/groups.h. */
	uint64_t user_processes;
	uint64_t user_memory_bytes; /* the same; 0: no limit */
	uint64_t user_cpu_weight;   /* the same; 0: as for all users */
	/* Where the daemon of MPS is, for users with `mps = yes`; "": only the service's
	 * environment says so, for all users. */
	char mps_folder[MPS_FOLDER_BYTES];
	unsigned engines;             /* most engines at the same time */
	unsigned sessions_per_tenant; /* most sessions of a tenant at the same time */
	struct configuration_origin sessions_origin;
	char admin_group[64];
	char observer_group[64];
	char job_group[64]; /* may manage jobs, and order nothing else */
	struct configuration_limit limits[CONFIGURATION_LIMITS];
	/* In the form that the backend expects: numbers without units. */
	struct configuration_text cuda[CONFIGURATION_CUDA_OPTIONS];
	struct configuration_shares shares;
	struct configuration_devices devices; /* for users without their own list */
	struct configuration_people people;
	/* Names of the files that were read, without folders; the first one is the main file. */
	unsigned file_count;
	char files[CONFIGURATION_FILES][CONFIGURATION_FILE_BYTES];
};

extern const char *const configuration_limit_names[CONFIGURATION_LIMITS];
extern const uint64_t configuration_limit_most[CONFIGURATION_LIMITS];

/* configuration_cuda.c; in the order of `cuda` above. */
extern const char *const configuration_cuda_names[CONFIGURATION_CUDA_OPTIONS];
/* False: *wants_out describes the values that the option accepts. The option is then not set. */
bool configuration_cuda_set(struct configuration *configuration, unsigned index, const char *value,
			    const char **wants_out);
/* configuration_shares.c: reads one line of [shares]. NULL: accepted. Otherwise the error: in the
 * name, or a description of valid values. A later file's line replaces an earlier file's. */
const char *configuration_shares_set(struct configuration_shares *shares, const char *name,
				     const char *value, struct configuration_origin origin,
				     bool *wrong_name_out);
/* Reads the name of a section or a key: "user", "uid" or "group", then the character `sign`, then
 * the owner. False: it names no owner. */
bool configuration_owner_parse(const char *name, char sign, struct configuration_owner *owner_out);
bool configuration_owners_are_equal(const struct configuration_owner *a,
				    const struct configuration_owner *b);

/* configuration_people.c: returns the section's entry, which is added if it is missing. NULL: the
 * section is not for a user or a group, or there are too many. */
struct configuration_settings *configuration_people_section(struct configuration *configuration,
							    const char *section);
/* NULL: accepted. Otherwise a description of valid values. */
const char *configuration_devices_set(struct configuration_devices *devices, const char *value,
				      struct configuration_origin origin);
/* Writes "cuda:0,opencl:*", and returns text_out. */
const char *configuration_devices_text(const struct configuration_devices *devices, char *text_out,
				       size_t text_bytes);
/* Writes "sycld.conf:12", and returns text_out. */
const char *configuration_origin_text(const struct configuration *configuration,
				      struct configuration_origin origin, char *text_out,
				      size_t text_bytes);

/* Reads a whole number, with a suffix K, M, G or T (powers of 1024) if `with_unit`. False: it is no
 * number, or above `most`. */
bool configuration_number(const char *text, bool with_unit, uint64_t most, uint64_t *number_out);

void configuration_defaults(struct configuration *configuration_out);

/* Receives one error or warning: "FILE:LINE: description" without a newline. */
typedef void configuration_found(void *context, bool is_error, const char *text);

/*
 * Adds the values of the file `path` to `configuration`, and reports every error. 0; -ENOENT: there
 * is no such file; -EINVAL: it has errors; another negative errno: it cannot be read. After an
 * error some values of the file may be set.
 */
int configuration_read_file(const char *path, struct configuration *configuration,
			    configuration_found *found, void *context);

/* Reads one file only. On failure the output is untouched, and `message_out` has the first
 * error. */
int configuration_read(const char *path, struct configuration *configuration_out, char *message_out,
		       size_t message_bytes);

/*
 * configuration_files.c: reads the given file. `given` NULL: the mode's default file, which may be
 * missing. Then reads the files named *.conf in the folder FILE.d, in the order of their names.
 * Reports every error and warning. A warning is about values that are valid in each file, but
 * contradict each other or the machine. 0, or a negative errno and an untouched output.
 */
int configuration_check(const char *given, bool user, struct configuration *configuration_out,
			configuration_found *found, void *context);

#endif

/*
 * Built binaries on disk, in files named by the hash of all that a build depends on. A file is
 * written under another name and renamed, and carries a checksum: a damaged one is removed and
 * counts as absent. Several engines of one user may share a folder.
 */
#ifndef SYCL_ENGINE_BUILD_CACHE_H
#define SYCL_ENGINE_BUILD_CACHE_H

#include "build/service.h"
#include "cleanup.h"

/* If the cache holds more, the least recently used files are removed until nine tenths are left. */
#define BUILD_CACHE_BYTES_MAX (1ull << 30)

struct build_cache;

struct build_key {
	uint8_t bytes[16];
};

struct build_cache_entry {
	char *binary, *log; /* malloc'ed; the log ended by 0 */
	size_t binary_bytes, log_bytes;
};

/* The key of a build: backend, device, action, kind, dimensions, options, source, the portable
 * prelude, and the format of the kept file. */
int build_key_make(const struct build_request *request, struct build_key *key_out);
/*
 * True if the result may be kept. It must not be if the compiler may read a file that is no part of
 * the key: by an #include, or by an option that names a file or a folder. Headers of CUDA's toolkit
 * count as part of the compiler.
 */
bool build_may_keep(const struct build_request *request);

/* Keeps files below `directory`, which is made (0700) if it is missing. `bytes_max` 0:
 * BUILD_CACHE_BYTES_MAX. -EPERM: another user can write there, and could add binaries. */
int build_cache_open(const char *directory, uint64_t bytes_max, struct build_cache **cache_out);
struct build_cache *build_cache_free(struct build_cache *cache);

/* -ENOENT: there is no entry, or it was damaged and is now removed. The entry's parts are the
 * caller's. */
int build_cache_load(struct build_cache *cache, const struct build_key *key,
		     struct build_cache_entry *entry_out);
/* 0 or a negative errno; the cache is a convenience, so a failure is no failure of the build. */
int build_cache_store(struct build_cache *cache, const struct build_key *key,
		      const struct build_cache_entry *entry);

void build_cache_entry_fini(struct build_cache_entry *entry);

#endif

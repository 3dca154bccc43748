#include "build/cache.h"

#include "build/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

/* Part of every key. Raise this number when the meaning of kept files changes. */
#define BUILD_CACHE_FORMAT 3u
#define NAME_BYTES         40u

static const char magic[8] = {'s', 'y', 'c', 'l', 'b', 'i', 'n', '1'};

struct header {
	char magic[8];
	uint64_t log_bytes, binary_bytes;
	uint8_t key[16];
	uint8_t checksum[16]; /* checksum of log and binary */
};

struct build_cache {
	int directory;
	uint64_t bytes_max;
	uint64_t bytes; /* held when last counted, and what was stored since */
	bool counted;
	unsigned stores;
};

/* Hashes each part with its length, so that no two lists of parts hash the same bytes. */
static void hash_part(XXH3_state_t *state, const void *bytes, size_t count)
{
	const uint64_t length = count;
	(void)XXH3_128bits_update(state, &length, sizeof(length));
	if (count > 0)
		(void)XXH3_128bits_update(state, bytes, count);
}

static void hash_digest(const XXH3_state_t *state, uint8_t *bytes_out)
{
	XXH128_canonical_t canonical;
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
	memcpy(bytes_out, canonical.digest, sizeof(canonical.digest));
}

int build_key_make(const struct build_request *request, struct build_key *key_out)
{
	const uint32_t numbers[] = {
		BUILD_CACHE_FORMAT,
		(uint32_t)request->backend->kind,
		request->backend->binary_format,
		(uint32_t)request->action,
		(uint32_t)request->kind,
		request->dimensions,
	};
	/* An object may be a translated source. */
	const enum backend_source_kind source =
		request->action == BUILD_ACTION_LINK ? BACKEND_SOURCE_OPENCL_C : request->kind;
	const char *own = backend_own_text(request->backend->kind, source);
	const char *options = request->options ? request->options : "";
	XXH3_state_t *state = XXH3_createState();
	if (!state)
		return -ENOMEM;

	(void)XXH3_128bits_reset(state);
	hash_part(state, numbers, sizeof(numbers));
	hash_part(state, request->backend->name, strlen(request->backend->name));
	hash_part(state, request->device_key,
		  backend_key_bytes(request->backend->kind, source, request->device_key));
	hash_part(state, options, strlen(options));
	hash_part(state, own, strlen(own));
	hash_part(state, request->source, request->source_bytes);
	hash_digest(state, key_out->bytes);
	(void)XXH3_freeState(state);
	return 0;
}

static int hash_entry(const struct build_cache_entry *entry, uint8_t *bytes_out)
{
	XXH3_state_t *state = XXH3_createState();
	if (!state)
		return -ENOMEM;
	(void)XXH3_128bits_reset(state);
	hash_part(state, entry->log, entry->log_bytes);
	hash_part(state, entry->binary, entry->binary_bytes);
	hash_digest(state, bytes_out);
	(void)XXH3_freeState(state);
	return 0;
}

static void file_name(const struct build_key *key, char *name)
{
	for (size_t i = 0; i < sizeof(key->bytes); i++)
		(void)snprintf(name + 2 * i, 3, "%02x", key->bytes[i]);
	memcpy(name + 2 * sizeof(key->bytes), ".bin", sizeof(".bin"));
}

/* The folder `path` may be missing, its parent may not. */
static int open_directory(const char *path)
{
	struct stat status;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (status.st_uid != geteuid() || (status.st_mode & 022) != 0)
		return -EPERM;
	return take_fd(&fd);
}

int build_cache_open(const char *directory, uint64_t bytes_max, struct build_cache **cache_out)
{
	CLEANUP(free_pointer) char *path = NULL;

	CLEANUP(close_fd) int parent = open_directory(directory);
	if (parent < 0)
		return parent;
	if (asprintf(&path, "%s/builds", directory) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	CLEANUP(close_fd) int fd = open_directory(path);
	if (fd < 0)
		return fd;
	struct build_cache *cache = calloc(1, sizeof(*cache));
	if (!cache)
		return -ENOMEM;
	cache->directory = take_fd(&fd);
	cache->bytes_max = bytes_max ? bytes_max : BUILD_CACHE_BYTES_MAX;
	*cache_out = cache;
	return 0;
}

struct build_cache *build_cache_free(struct build_cache *cache)
{
	if (cache)
		close_fd(&cache->directory);
	free(cache);
	return NULL;
}

void build_cache_entry_fini(struct build_cache_entry *entry)
{
	free(entry->binary);
	free(entry->log);
	*entry = (struct build_cache_entry){0};
}

static int copy_text(const char *from, size_t count, char **to)
{
	char *copy = malloc(count + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, from, count);
	copy[count] = '\0';
	*to = copy;
	return 0;
}

/* -EBADMSG: damaged. */
static int parse_entry(const char *bytes, size_t count, const struct build_key *key,
		       struct build_cache_entry *entry_out)
{
	struct header header;
	struct build_cache_entry entry = {0};
	uint8_t sum[16];

	if (count < sizeof(header))
		return -EBADMSG;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.magic, magic, sizeof(magic)) != 0 ||
	    memcmp(header.key, key->bytes, sizeof(header.key)) != 0)
		return -EBADMSG;
	if (header.log_bytes > count || header.binary_bytes > count ||
	    header.log_bytes + header.binary_bytes + sizeof(header) != count)
		return -EBADMSG;
	entry.log_bytes = header.log_bytes;
	entry.binary_bytes = header.binary_bytes;
	int error = copy_text(bytes + sizeof(header), entry.log_bytes, &entry.log);
	if (error == 0)
		error = copy_text(bytes + sizeof(header) + entry.log_bytes, entry.binary_bytes,
				  &entry.binary);
	if (error == 0)
		error = hash_entry(&entry, sum);
	if (error == 0 && memcmp(sum, header.checksum, sizeof(sum)) != 0)
		error = -EBADMSG;
	if (error < 0) {
		build_cache_entry_fini(&entry);
		return error;
	}
	*entry_out = entry;
	return 0;
}

int build_cache_load(struct build_cache *cache, const struct build_key *key,
		     struct build_cache_entry *entry_out)
{
	CLEANUP(free_pointer) char *bytes = NULL;
	size_t count = 0;
	char name[NAME_BYTES];

	file_name(key, name);
	/* Opened without blocking: if the name is no regular file, the open must not hang. */
	CLEANUP(close_fd)
	int fd = openat(cache->directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -ENOENT;
	int error = build_file_read(
		fd, (size_t)BUILD_BINARY_BYTES_MAX + BACKEND_LOG_BYTES_MAX + sizeof(struct header),
		&bytes, &count);
	if (error == 0)
		error = parse_entry(bytes, count, key, entry_out);
	if (error == -ENOMEM)
		return error;
	if (error < 0) {
		(void)unlinkat(cache->directory, name, 0);
		return -ENOENT;
	}
	(void)futimens(fd, NULL); /* used now: goes last when room is made */
	return 0;
}

struct kept_file {
	char name[NAME_BYTES];
	struct timespec used;
	uint64_t bytes;
};

struct kept_files {
	struct kept_file *files;
	size_t count, capacity;
	uint64_t bytes;
};

static int kept_files_compare_by_use(const void *a, const void *b)
{
	const struct kept_file *first = a, *second = b;

	if (first->used.tv_sec != second->used.tv_sec)
		return first->used.tv_sec < second->used.tv_sec ? -1 : 1;
	return (first->used.tv_nsec > second->used.tv_nsec) -
	       (first->used.tv_nsec < second->used.tv_nsec);
}

static int kept_files_add(struct kept_files *list, int directory, const char *name)
{
	struct stat status;

	if (strlen(name) >= NAME_BYTES ||
	    fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
		return 0; /* the name is no file of this cache, or was removed meanwhile */
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 64;
		struct kept_file *files = reallocarray(list->files, capacity, sizeof(*files));
		if (!files)
			return -ENOMEM;
		list->files = files;
		list->capacity = capacity;
	}
	struct kept_file *file = &list->files[list->count++];
	memcpy(file->name, name, strlen(name) + 1);
	file->used = status.st_mtim;
	file->bytes = (uint64_t)status.st_size;
	list->bytes += file->bytes;
	return 0;
}

static int list_files(const struct build_cache *cache, struct kept_files *list)
{
	CLEANUP(close_fd)
	int fd = openat(cache->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	DIR *stream = fdopendir(fd);
	if (!stream)
		return -errno;
	(void)take_fd(&fd);
	int error = 0;
	for (struct dirent *entry; error == 0 && (entry = readdir(stream));)
		error = kept_files_add(list, cache->directory, entry->d_name);
	(void)closedir(stream);
	return error;
}

/* Counts the kept bytes. If they are too many, removes the least recently used files. */
static void cache_make_room(struct build_cache *cache)
{
	struct kept_files list = {0};

	if (list_files(cache, &list) < 0) {
		free(list.files);
		return;
	}
	if (list.bytes > cache->bytes_max) {
		qsort(list.files, list.count, sizeof(*list.files), kept_files_compare_by_use);
		for (size_t i = 0; i < list.count && list.bytes > cache->bytes_max / 10 * 9; i++) {
			(void)unlinkat(cache->directory, list.files[i].name, 0);
			list.bytes -= list.files[i].bytes;
		}
	}
	cache->bytes = list.bytes;
	cache->counted = true;
	free(list.files);
}

static int write_file(int fd, const struct build_key *key, const struct build_cache_entry *entry)
{
	struct header header = {.log_bytes = entry->log_bytes, .binary_bytes = entry->binary_bytes};

	memcpy(header.magic, magic, sizeof(magic));
	memcpy(header.key, key->bytes, sizeof(header.key));
	int error = hash_entry(entry, header.checksum);
	if (error == 0)
		error = build_file_write(fd, &header, sizeof(header));
	if (error == 0)
		error = build_file_write(fd, entry->log, entry->log_bytes);
	if (error == 0)
		error = build_file_write(fd, entry->binary, entry->binary_bytes);
	return error;
}

int build_cache_store(struct build_cache *cache, const struct build_key *key,
		      const struct build_cache_entry *entry)
{
	char name[NAME_BYTES], temporary[NAME_BYTES];

	file_name(key, name);
	(void)snprintf(temporary, sizeof(temporary), "new-%ld-%u", (long)getpid(), cache->stores++);
	CLEANUP(close_fd)
	int fd = openat(cache->directory, temporary,
			O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	int error = write_file(fd, key, entry);
	if (error == 0 && renameat(cache->directory, temporary, cache->directory, name) < 0)
		error = -errno;
	if (error < 0) {
		(void)unlinkat(cache->directory, temporary, 0);
		return error;
	}
	cache->bytes += sizeof(struct header) + entry->log_bytes + entry->binary_bytes;
	if (!cache->counted || cache->bytes > cache->bytes_max)
		cache_make_room(cache);
	return 0;
}

/* The cache on disk. The name of an entry depends on everything that matters, an entry is checked
 * when it is read, and the size of the cache is limited. */
#include "build/cache.h"

#include "build/support.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(build_cache, .timeout = 60);

static const struct build_request sample = {
	.backend = &backend_fake_ops,
	.device_key = "device",
	.kind = BACKEND_SOURCE_OPENCL_C,
	.source = "source",
	.source_bytes = 6,
	.options = "-O2",
};

static struct build_key cache_key_of(struct build_request request)
{
	struct build_key key;
	cr_assert_eq(build_key_make(&request, &key), 0);
	return key;
}

Test(build_cache, a_key_depends_on_every_part)
{
	struct build_request requests[8];
	struct build_key keys[8];

	for (int i = 0; i < 8; i++)
		requests[i] = sample;
	requests[1].backend = &backend_opencl_ops;
	requests[2].device_key = "devicf";
	requests[3].kind = BACKEND_SOURCE_PORTABLE;
	requests[4].source_bytes = 5;
	requests[5].options = "-O3";
	requests[6].options = "";
	requests[7].dimensions = 2;
	for (int i = 0; i < 8; i++)
		keys[i] = cache_key_of(requests[i]);
	for (int i = 0; i < 8; i++) {
		for (int j = 0; j < i; j++)
			cr_assert_neq(memcmp(&keys[i], &keys[j], sizeof(keys[i])), 0, "%d and %d",
				      i, j);
		struct build_key again = cache_key_of(requests[i]);
		cr_assert_eq(memcmp(&keys[i], &again, sizeof(again)), 0);
	}
	/* If bytes move from one part to the next, the name differs. */
	struct build_request moved = sample;
	moved.device_key = "device-O2";
	moved.options = "";
	struct build_key key = cache_key_of(moved);
	cr_assert_neq(memcmp(&key, &keys[0], sizeof(key)), 0);
}

struct folder {
	char path[64];
	struct build_cache *cache;
};

static void folder_open(struct folder *folder, uint64_t bytes_max)
{
	(void)snprintf(folder->path, sizeof(folder->path), "/tmp/sycl-cache-XXXXXX");
	cr_assert_not_null(mkdtemp(folder->path));
	cr_assert_eq(build_cache_open(folder->path, bytes_max, &folder->cache), 0);
}

static size_t folder_files(const struct folder *folder, char *last, size_t capacity)
{
	char path[128];
	size_t count = 0;

	(void)snprintf(path, sizeof(path), "%s/builds", folder->path);
	DIR *stream = opendir(path);
	cr_assert_not_null(stream);
	for (struct dirent *entry; (entry = readdir(stream));) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		if (last)
			(void)snprintf(last, capacity, "%s/%s", path, entry->d_name);
	}
	(void)closedir(stream);
	return count;
}

static void folder_close(struct folder *folder)
{
	char path[512];

	while (folder_files(folder, path, sizeof(path)) > 0)
		cr_assert_eq(unlink(path), 0);
	(void)snprintf(path, sizeof(path), "%s/builds", folder->path);
	(void)rmdir(path);
	(void)rmdir(folder->path);
	folder->cache = build_cache_free(folder->cache);
}

static struct build_key numbered(unsigned number)
{
	struct build_key key = {{0}};
	memcpy(key.bytes, &number, sizeof(number));
	return key;
}

static void cache_store_entry(struct folder *folder, unsigned number, size_t bytes)
{
	char *binary = malloc(bytes), log[] = "log";
	cr_assert_not_null(binary);
	memset(binary, (int)number, bytes);
	const struct build_key key = numbered(number);
	const struct build_cache_entry entry = {
		.binary = binary, .binary_bytes = bytes, .log = log, .log_bytes = 3};
	cr_assert_eq(build_cache_store(folder->cache, &key, &entry), 0);
	free(binary);
}

/* The entry that was stored last gets a time long ago. On some file systems, files that are made in
 * one tick of the kernel's clock have the same time. */
static void made_long_ago(const struct folder *folder, unsigned number)
{
	char path[512], newest[512] = "";
	struct timespec latest = {0};
	(void)snprintf(path, sizeof(path), "%s/builds", folder->path);
	DIR *stream = opendir(path);
	cr_assert_not_null(stream);
	for (struct dirent *entry; (entry = readdir(stream));) {
		struct stat status;
		if (entry->d_name[0] == '.' ||
		    fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (status.st_mtim.tv_sec > latest.tv_sec) {
			latest = status.st_mtim;
			(void)snprintf(newest, sizeof(newest), "%s", entry->d_name);
		}
	}
	const struct timespec times[2] = {{.tv_sec = 1000 + number}, {.tv_sec = 1000 + number}};
	cr_assert_eq(utimensat(dirfd(stream), newest, times, 0), 0);
	(void)closedir(stream);
}

static bool cache_has(struct folder *folder, unsigned number)
{
	const struct build_key key = numbered(number);
	struct build_cache_entry entry = {0};
	int error = build_cache_load(folder->cache, &key, &entry);
	cr_assert(error == 0 || error == -ENOENT);
	build_cache_entry_fini(&entry);
	return error == 0;
}

Test(build_cache, what_was_stored_is_found)
{
	struct folder folder;
	struct build_cache_entry entry = {0};
	struct stat status;
	char path[128];

	folder_open(&folder, 0);
	cache_store_entry(&folder, 7, 1000);
	const struct build_key key = numbered(7);
	cr_assert_eq(build_cache_load(folder.cache, &key, &entry), 0);
	cr_assert_eq(entry.binary_bytes, 1000);
	cr_assert_eq(entry.binary[999], 7);
	cr_assert_str_eq(entry.log, "log");
	build_cache_entry_fini(&entry);
	cr_assert(!cache_has(&folder, 8));
	(void)snprintf(path, sizeof(path), "%s/builds", folder.path);
	cr_assert_eq(stat(path, &status), 0);
	cr_assert_eq(status.st_mode & 0777, 0700);
	folder_close(&folder);
}

/* Every byte is changed, and the file is cut at every length. The result is never a wrong binary,
 * and the file is removed. */
Test(build_cache, damaged_files_count_as_absent_and_go)
{
	struct folder folder;
	char path[512], bytes[4096];

	folder_open(&folder, 0);
	cache_store_entry(&folder, 1, 50);
	cr_assert_eq(folder_files(&folder, path, sizeof(path)), 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, bytes, sizeof(bytes));
	(void)close(fd);
	cr_assert_gt(size, 50);
	for (ssize_t i = 0; i < 2 * size; i++) {
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		ssize_t length = i < size ? size : i - size;
		if (i < size)
			bytes[i] ^= 0x40;
		cr_assert_eq(write(fd, bytes, (size_t)length), length);
		(void)close(fd);
		if (i < size)
			bytes[i] ^= 0x40;
		cr_assert(!cache_has(&folder, 1), "damage %zd", i);
		cr_assert_eq(folder_files(&folder, NULL, 0), 0);
	}
	cache_store_entry(&folder, 1, 50);
	cr_assert(cache_has(&folder, 1));
	folder_close(&folder);
}

Test(build_cache, the_least_used_go_when_it_is_full)
{
	struct folder folder;

	folder_open(&folder, 100000);
	for (unsigned i = 0; i < 9; i++) {
		cache_store_entry(&folder, i, 10000);
		made_long_ago(&folder, i);
	}
	cr_assert_eq(folder_files(&folder, NULL, 0), 9);
	cr_assert(cache_has(&folder, 0)); /* used now */
	for (unsigned i = 9; i < 12; i++)
		cache_store_entry(&folder, i, 10000);
	cr_assert_leq(folder_files(&folder, NULL, 0), 9);
	cr_assert(cache_has(&folder, 0));
	cr_assert(cache_has(&folder, 11));
	cr_assert(!cache_has(&folder, 1));
	folder_close(&folder);
}

Test(build_cache, a_folder_that_others_can_write_is_refused)
{
	char path[] = "/tmp/sycl-cache-XXXXXX", link[64];
	struct build_cache *cache = NULL;

	cr_assert_not_null(mkdtemp(path));
	cr_assert_eq(chmod(path, 0777), 0);
	cr_assert_eq(build_cache_open(path, 0, &cache), -EPERM);
	cr_assert_eq(chmod(path, 0700), 0);
	(void)snprintf(link, sizeof(link), "%s-link", path);
	cr_assert_eq(symlink(path, link), 0);
	cr_assert_lt(build_cache_open(link, 0, &cache), 0);
	cr_assert_null(cache);
	(void)unlink(link);
	(void)rmdir(path);
}

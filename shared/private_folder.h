/*
 * Folders that one process has for itself while it needs them. When the next one is made in the
 * same place, it removes those whose process was killed: their locks are free.
 */
#ifndef SYCL_SHARED_PRIVATE_FOLDER_H
#define SYCL_SHARED_PRIVATE_FOLDER_H

#include <stddef.h>

struct private_folder {
	char *path; /* absolute if the parent is; NULL: none */
	int lock;   /* held as long as any process has this descriptor open */
};

#define PRIVATE_FOLDER_NONE ((struct private_folder){NULL, -1})

/*
 * Make a folder in `parent` that only this user may enter, named PREFIX-MACHINE-XXXXXX. Other
 * folders with such names are removed if only this user may enter them and their lock is free. It
 * cannot be found out whether another machine, or this one before its last start, holds a lock.
 * Those folders are removed when they are a month old. In a parent that others can write, unless it
 * is sticky as /tmp, it would not stay private. `parent` NULL: where temporary files go. The caller
 * removes it with private_folder_remove(). It blocks as long as the file system takes, and waits
 * for no other process. Any thread. 0 or negative errno; the output is untouched on failure.
 */
int private_folder_make(const char *parent, const char *prefix, struct private_folder *folder_out);

/* Remove it with all that is in it, and free it. Nothing for PRIVATE_FOLDER_NONE. What cannot be
 * removed goes another time. */
void private_folder_remove(struct private_folder *folder);

#endif

/*
 * Folders that one process has for itself while it needs them. When the next one is made in the
 * same place, it removes those whose process was killed: their locks are free.
 */
#ifndef SYCL_SHARED_PRIVATE_FOLDER_H
#define SYCL_SHARED_PRIVATE_FOLDER_H

#include <stddef.h>

struct private_folder {
	char *path; /* absolute if the parent is; NULL: none */
	int lock;   /* held as long as anybody has this descriptor open */
};

#define PRIVATE_FOLDER_NONE ((struct private_folder){NULL, -1})

/*
 * Make a folder in `parent` that only this user may enter, named PREFIX-MACHINE-XXXXXX; others
 * there with such a name that only this user may enter and whose lock is free are removed. Whether
 * a lock of another machine, or of this one before its last start, is held cannot be found out:
 * those folders are removed when they are a month old. In a parent that others can write, unless it
 * is sticky as /tmp, it would not stay private. `parent` NULL: where temporary files go. To be
 * removed with
 * private_folder_remove(). Works on files, which may take as long as these do, and waits for no
 * other process. Any thread. 0 or negative errno; the output is untouched on failure.
 */
int private_folder_make(const char *parent, const char *prefix, struct private_folder *folder_out);

/* Remove it with all that is in it, and free it. Nothing for PRIVATE_FOLDER_NONE. What cannot be
 * removed goes another time. */
void private_folder_remove(struct private_folder *folder);

#endif

/* Folders of which each belongs to one process while the process needs it. When the next folder is
 * made in the same place, folders whose process was killed are removed: their locks are free. */
#ifndef SYCL_SHARED_PRIVATE_FOLDER_H
#define SYCL_SHARED_PRIVATE_FOLDER_H

#include <stddef.h>

struct private_folder {
	char *path; /* absolute if the parent is; NULL: none */
	int lock;   /* held as long as any process has this descriptor open */
};

#define PRIVATE_FOLDER_NONE ((struct private_folder){NULL, -1})

/*
 * Makes a folder in `parent` that only this user may enter, named PREFIX-MACHINE-XXXXXX. Other
 * folders with such names are removed if only this user may enter them and their lock is free.
 * Whether another machine, or this one before its last start, holds a lock cannot be determined.
 * Those folders are removed when they are a month old. In a parent that others can write, unless it
 * is sticky as /tmp, the folder would not stay private. `parent` NULL: where temporary files go.
 * The caller removes the folder with private_folder_remove(). The call blocks as long as the file
 * system takes, and waits for no other process. Any thread. 0 or negative errno; the output is
 * untouched on failure.
 */
int private_folder_make(const char *parent, const char *prefix, struct private_folder *folder_out);

/* Removes the folder with its contents, and frees it. Does nothing for PRIVATE_FOLDER_NONE. A later
 * private_folder_make may remove the files that cannot be removed now. */
void private_folder_remove(struct private_folder *folder);

#endif

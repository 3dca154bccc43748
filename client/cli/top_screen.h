/* The screen of 'syclctl top', by ncurses. One at a time. */
#ifndef SYCLCTL_TOP_SCREEN_H
#define SYCLCTL_TOP_SCREEN_H

#include "admin.pb-c.h"
#include "top.h"

#include <stdbool.h>

/* What a key has asked for. */
enum top_key { TOP_KEY_NONE, TOP_KEY_QUIT, TOP_KEY_DRAW, TOP_KEY_PAUSE };

/* Takes the terminal. False: there is none that can be used. */
bool top_screen_open(void);
/* Gives the terminal back as it was. */
void top_screen_close(void);

/* Draws an answer, arranged. `note`: a line in place of the health; NULL: none. */
void top_screen_draw(const Sycl__V1__AdminReply *reply, const struct top_view *view,
		     const char *note, bool is_paused);

/* Waits for a key, `timeout_ms` at most, and changes the view by it. */
enum top_key top_screen_key(struct top_view *view, int timeout_ms);

#endif

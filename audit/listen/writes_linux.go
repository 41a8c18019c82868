package listen

import (
	"golang.org/x/sys/unix"

	"sbx/audit"
)

// writes continues calls that may create or change files.
type writes struct {
	*answers
	rules      *Rules
	beforeMake func()          // Config.Makes
	opened     *audit.Openings // Config.Opened
}

// proceedMaking is proceed for a call that may create a name: it calls Config.Makes before.
func (w *writes) proceedMaking() {
	if w.beforeMake != nil {
		w.beforeMake()
	}
	w.proceed()
}

// noteOpened records that a call was continued which may write the file d.
func (w *writes) noteOpened(d *entry, action string) {
	switch {
	case w.opened == nil || w.reported || d.exists && d.kind != unix.S_IFREG:
	case d.ok:
		if _, kept := w.rules.Host(text(d.path)); kept {
			w.opened.Add(text(d.path), action)
		}
	case d.odd || d.unread:
		w.opened.Omit()
	}
}

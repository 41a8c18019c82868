// Package cgroup makes the control groups that hold limits.memory, limits.cpus
// and limits.pids, puts a command into them, reads what it used, and removes
// them. It knows both versions and hosts that have some controllers on one and
// some on the other (cgroups(7)).
//
// Find tells where a group can be made, and changes nothing. Make makes what a
// Plan says; Place moves the command in while it waits for the word to start;
// Use reads; Remove takes the groups away again, and with them those that a
// supervisor which was killed has left: a group's name tells whose it is.
//
// Only the command and its descendants are ever in a group, never pid 1 of the
// sandbox: that shares the supervisor's memory, and the kernel's out-of-memory
// killer ends every process that shares the victim's. The command itself still
// shares it until its exec; the killer passes over a process in the middle of a
// vfork (mm/oom_kill.c, oom_badness), and where it is no vfork it does not
// share (launch.Process.alone).
//
// Of version 2, sbx keeps to what the host has handed down: it makes a group in
// the nearest group above its own that may be written and hands the controllers
// down, tells it to do so only where it was delegated, is the top, or holds
// nobody but sbx, and never leaves a group that has limits of its own.
//
// A bound that nobody asked for (Beneath) stays in the caller's own group. Where that has
// other processes, as a session's scope has, the kernel lets it hand down controllers of
// threads alone, of which pids is one, and to threaded groups alone. The group of the
// caller stays the domain of all: who lists or ends its processes means those, too.
package cgroup

// Package cgroup creates the control groups that enforce limits.memory, limits.cpus and
// limits.pids, moves a command into them, reads what it used, and removes them. It supports
// both versions, and hosts with some controllers on one version and some on the other
// (cgroups(7)).
//
// Find reports where a group can be created, and changes nothing. Make creates the groups of
// a Plan. Place moves the command in while it waits to be started. Use reads them. Remove
// removes them, together with groups left by supervisors that were killed: a group's name
// identifies its supervisor.
//
// Only the command and its descendants are ever in a group, never pid 1 of the sandbox: it
// shares the supervisor's memory, and the kernel's out-of-memory killer kills every process
// that shares the victim's memory. The command itself shares that memory until its exec. The
// killer skips a process in the middle of a vfork (mm/oom_kill.c, oom_badness); a command
// that is not started by a vfork does not share the memory (Process.cloneCommand of package
// launch).
//
// With version 2, sbx uses only what the host has delegated. It creates its group in the
// nearest group at or above its own that is writable and enables the controllers for its
// children. It enables controllers itself only in a group that was delegated, is the root
// group, or contains no process but sbx. It never moves out of a group that has limits.
//
// A limit that nobody asked for (FindInOwn) stays in the caller's own group. If that group
// contains other processes, as a session's scope does, the kernel enables only threaded
// controllers, of which pids is one, and only for threaded groups. The caller's group remains
// the
// domain of them all: a program that lists or kills its processes also includes the command.
package cgroup

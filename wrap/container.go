package wrap

// Engine is an engine of containers in which sbx may be started.
type Engine struct {
	Name string
	Mark string // a file that the engine puts into each of its containers
	// Opens are the flags that give a container what namespaces need.
	Opens string
}

// Engines are those that sbx knows by their marks. No flag here is --privileged, nor
// CAP_SYS_ADMIN: with them the container holds nothing that sbx could add to.
func Engines() []Engine { return engines[:] }

var engines = [...]Engine{
	{"docker", "/.dockerenv", "--security-opt seccomp=FILE --security-opt systempaths=unconfined"},
	{"podman", "/run/.containerenv", "--security-opt unmask=/proc/*"},
}

// OpenMore is what would give this host namespaces, as the start of a hint: what is told
// of a host that is no container, or the flags of the container's engine.
func (h *Host) OpenMore(told string) string {
	if h.Container.Name == "" {
		return told
	}
	return "start the container with " + h.Container.Opens + ", as a user other than root"
}

// CopiesHelp is what would let the supervisor copy sockets.
func (h *Host) CopiesHelp() string {
	if h.Container.Name == "" {
		return "allow pidfd_getfd"
	}
	return "start the container with --cap-add SYS_PTRACE"
}

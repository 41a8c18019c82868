package wrap

// Engine is a container engine in whose containers sbx may run.
type Engine struct {
	Name string
	Mark string // a file that the engine puts into each of its containers
	// Opens are the flags that let a container make namespaces.
	Opens string
}

// Engines returns the engines that sbx recognises. No flag here is --privileged or adds
// CAP_SYS_ADMIN: such a container would enforce nothing that sbx could add to.
func Engines() []Engine { return engines[:] }

var engines = [...]Engine{
	{"docker", "/.dockerenv", "--security-opt seccomp=FILE --security-opt systempaths=unconfined"},
	{"podman", "/run/.containerenv", "--security-opt unmask=/proc/*"},
}

// OpenMore returns the start of a hint how this host could allow namespaces: told on a host that is
// no container, else the flags of the container's engine.
func (h *Host) OpenMore(told string) string {
	if h.Container.Name == "" {
		return told
	}
	return "start the container with " + h.Container.Opens + ", as a user other than root"
}

// CopiesHelp returns a hint how the host could let the supervisor copy sockets.
func (h *Host) CopiesHelp() string {
	if h.Container.Name == "" {
		return "allow pidfd_getfd"
	}
	return "start the container with --cap-add SYS_PTRACE"
}

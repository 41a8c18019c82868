package host

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/wrap"
	"sbx/wrap/defaults"
)

// services finds the sockets through which a command could change the host although
// its writes are confined. It is for sandboxes without private directories and default
// secrets, which would cover these sockets.
func (p *prober) services() {
	for _, row := range defaults.Services() {
		for _, path := range p.userPaths(row.Path) {
			p.addService(path, row.Why)
			if rest, ok := strings.CutPrefix(path, "/run/"); ok { // for hosts where /var/run is not a symlink to /run
				p.addService("/var/run/"+rest, row.Why)
			}
		}
	}
	for _, row := range defaults.SocketVars() {
		switch value, _ := p.env(row.Path); row.Path {
		case "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST":
			p.addService(p.socketOfVar(row.Path, value), row.Why)
		}
	}
}

// addService adds a socket that the spec does not name.
func (p *prober) addService(path, why string) {
	f, ok := p.foundAt(path)
	if !ok || f.Kind != wrap.Socket || p.isOpened(f.Path, f.Real) {
		return
	}
	if !slices.ContainsFunc(p.h.Services, func(s wrap.Found) bool { return s.Real == f.Real }) {
		f.Why = why
		p.h.Services = append(p.h.Services, f)
	}
}

// userPaths replaces UID in a path with the caller's user id or, if the caller is
// root, with the name of each entry in that directory.
func (p *prober) userPaths(path string) (paths []string) {
	dir, name, found := strings.Cut(path, "UID")
	if !found {
		return []string{path}
	}
	if p.h.UID != 0 {
		return []string{dir + itoa(p.h.UID) + name}
	}
	fd, _, err := openDir(unix.AT_FDCWD, strings.TrimSuffix(dir, "/"))
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	_ = p.dirs.Each(fd, func(user []byte, _ byte) bool {
		paths = append(paths, dir+string(user)+name)
		return len(paths) < maxHomes
	})
	return paths
}

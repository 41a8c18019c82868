package oci

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/oci/front"
	"sbx/internal/sys"
	"sbx/spec"
)

// Call is one invocation of sbx-oci.
type Call struct {
	Line
	Inner   string // the runtime proper
	Environ []string
	Version string

	inherited []int  // descriptors above 2 that the caller passed on
	bundled   string // the directory of state, if the runtime reported it; see kept
	home      string // of the caller, once it is known
}

// shelf returns the directory of state of the call's container.
func (c *Call) shelf() *shelf {
	return &shelf{dir: cmp.Or(c.bundled, filepath.Join(c.runDir(), c.key()))}
}

// key returns a name for the container that is unique across engines and runtimes: they may use
// the same id, but each has its own state directory (--root).
func (c *Call) key() string {
	const ofRunc = "/run/runc" // the default of runc, as /run/crun is of crun
	root := filepath.Clean(cmp.Or(c.Root(), "/run/"+filepath.Base(c.Inner)))
	if root == ofRunc {
		return c.ID()
	}
	return c.ID() + front.OfRoot + hex.EncodeToString(binary.BigEndian.AppendUint64(nil, front.Sum(root)))
}

func (c *Call) runDir() string {
	switch dir := sys.Variable(c.Environ, "XDG_RUNTIME_DIR"); {
	case c.Own.State != "":
		return c.Own.State + front.OfState
	case ofNode():
		return front.OfNode
	case strings.HasPrefix(dir, "/"):
		return dir + "/sbx-oci"
	}
	dir, _, _ := c.state()
	return dir + "/made"
}

// ofNode reports whether the caller is root in the initial user namespace, and not root in a
// user's own one as under rootless podman.
func ofNode() bool {
	b, _ := os.ReadFile("/proc/self/uid_map")
	f := strings.Fields(string(b))
	return unix.Geteuid() == 0 && len(f) == 3 && f[0] == "0" && f[1] == "0"
}

// state returns the directory of records, and the variables and home that it derives from.
func (c *Call) state() (dir string, environ []string, home string) {
	environ = c.Environ
	switch {
	case c.Own.State != "":
		environ = []string{"XDG_STATE_HOME=" + c.Own.State}
	case ofNode(): // one directory for the whole node, whatever the engine's variables are
		environ = []string{"XDG_STATE_HOME=/var/lib"}
	}
	home = spec.HomeDir(environ, func() string {
		if c.home == "" {
			c.home = sys.PasswdHome(unix.Geteuid())
		}
		return c.home
	}, spec.HostPaths{})
	return audit.StateDir(environ, home), environ, home
}

// linkPath returns the path of the symlink from the container's id to its record.
func (c *Call) linkPath() string {
	dir, _, _ := c.state()
	return dir + "/containers/" + c.key()
}

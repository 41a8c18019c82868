package defaults

// Services lists the sockets of services that act on the host for any program that connects to
// them: through each of them a command could write anywhere, whatever the mounts are. They are
// hidden if writing is confined and the rest of /run stays in view. UID stands for a user's number.
//
// Decided against: /run/systemd/resolve, /run/nscd and /run/systemd/userdb (they answer questions),
// /run/systemd/journal and /dev/log (they take lines of a log).
func Services() []Row { return services[:] }

var services = [...]Row{
	{"/run/buildkit/buildkitd.sock", "builds as root, outside"},
	{"/run/containerd/containerd.sock", "containers of root's, with any directory of the host"},
	{"/run/crio/crio.sock", "the same"},
	{"/run/dbus/system_bus_socket", "the way to systemd, polkit and every service of the system"},
	{"/run/docker.sock", "containers of root's, with any directory of the host"},
	{"/run/docker/containerd/containerd.sock", "the same"},
	{"/run/incus/unix.socket", "the same"},
	{"/run/k3s/containerd/containerd.sock", "the same"},
	{"/run/libvirt/libvirt-sock", "virtual machines with any disk of the host"},
	{"/run/libvirt/virtqemud-sock", "the same"},
	{"/run/podman/podman.sock", "containers of root's, with any directory of the host"},
	{"/run/snapd.socket", "installs programs as root"},
	{"/run/systemd/private", "starts programs as root"},
	{"/run/user/UID/bus", "the session bus starts programs outside"},
	{"/run/user/UID/docker.sock", "containers of the user's, outside"},
	{"/run/user/UID/podman/podman.sock", "the same"},
	{"/run/user/UID/systemd/private", "starts programs of the user's, outside"},
	{"/var/lib/incus/unix.socket", "containers of root's, with any directory of the host"},
	{"/var/lib/lxd/unix.socket", "the same"},
	{"/var/snap/lxd/common/lxd/unix.socket", "the same"},
}

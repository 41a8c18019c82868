package run

import (
	"strconv"
	"strings"

	"sbx/internal/reach"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap"
)

// NetworkRule returns the line of the spec that denies the network.
func NetworkRule(r *spec.Resolved) string {
	if r.Network == spec.NetworkAllow {
		return "network.allow"
	}
	if n := &r.Spec.Network.Value; r.AccessMode != spec.AccessUnset && !n.Mode.Set && !n.Allow.Set {
		return "access_mode: " + r.AccessMode.String()
	}
	return "network.mode: " + r.Network.String()
}

// reachAct returns the act of connecting to target by TCP.
func reachAct(target string) wrap.Act { return wrap.Act{Kind: wrap.ToReach, Path: target} }

// splitTarget splits a target into host and port.
func splitTarget(target string) (host string, port int) {
	i := strings.LastIndexByte(target, ':')
	if i < 0 {
		return target, 0
	}
	port, _ = strconv.Atoi(target[i+1:])
	return strings.Trim(target[:i], "[]"), port
}

// ListenItem names the nth item of network.listen in messages.
func ListenItem(n int) string { return "network.listen[" + strconv.Itoa(n) + "]" }

// hostNames returns a function that gives the names of an address in the host's table
// (hosts(5)): a program that sees the table and finds a name there never asks the
// resolver. The table is read at the first call.
func hostNames() func(reach.IP) []string {
	var names map[reach.IP][]string
	return func(ip reach.IP) []string {
		if names == nil {
			names = readHosts(sys.ReadFile("/etc/hosts", 16<<20))
		}
		return names[ip]
	}
}

func readHosts(text string) map[reach.IP][]string {
	names := map[reach.IP][]string{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		if ip, ok := reach.ParseIP(words[0]); ok {
			for _, name := range words[1:] {
				names[ip] = append(names[ip], strings.ToLower(strings.TrimSuffix(name, ".")))
			}
		}
	}
	return names
}

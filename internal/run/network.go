package run

import (
	"strconv"
	"strings"

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

// reaching is the act of connecting to target by TCP.
func reaching(target string) wrap.Act { return wrap.Act{Kind: wrap.ToReach, Path: target} }

// apart splits a target into host and port.
func apart(target string) (host string, port int) {
	i := strings.LastIndexByte(target, ':')
	if i < 0 {
		return target, 0
	}
	port, _ = strconv.Atoi(target[i+1:])
	return strings.Trim(target[:i], "[]"), port
}

// ListenItem names the nth item of network.listen in messages.
func ListenItem(n int) string { return "network.listen[" + strconv.Itoa(n) + "]" }

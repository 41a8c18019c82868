package run

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/reach"
	"sbx/spec"
)

// NetworkRule is the line of the spec by which the network is shut.
func NetworkRule(r *spec.Resolved) string {
	if r.Network == spec.NetworkAllow {
		return "network.allow"
	}
	if n := &r.Spec.Network.Value; r.AccessMode != spec.AccessUnset && !n.Mode.Set && !n.Allow.Set {
		return "access_mode: " + r.AccessMode.String()
	}
	return "network.mode: " + r.Network.String()
}

// allowLine is network.allow with one more.
func (x *events) allowLine(target string) string {
	if x.Resolved.Spec.Network.Value.Mode.Set && x.Resolved.Network == spec.NetworkNone { // beside which there is no list
		return "network.mode: host"
	}
	list := slices.Clone(x.Resolved.Spec.Network.Value.Allow.Value)
	if x.Resolved.AgentNetwork { // what an agent has by itself, a list would take away
		for _, r := range x.Resolved.Reach {
			list = append(list, r.Text)
		}
	}
	if _, err := reach.Parse(target); err != nil {
		return ""
	}
	return spec.Longer("network.allow", list, target)
}

// apart is a target's host and port.
func apart(target string) (host string, port int) {
	i := strings.LastIndexByte(target, ':')
	if i < 0 {
		return target, 0
	}
	port, _ = strconv.Atoi(target[i+1:])
	return strings.Trim(target[:i], "[]"), port
}

// ListenItem is the nth item of network.listen, as problems and lines name it.
func ListenItem(n int) string { return "network.listen[" + strconv.Itoa(n) + "]" }

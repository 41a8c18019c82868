package agent

import (
	"slices"
	"strings"
)

// switches returns the settings among codex's arguments; the last one of a key counts.
func switches(args []string) map[string]string {
	all := map[string]string{}
	for i := 0; i < len(args); i++ {
		o, _, value, given := codex.option(args[i])
		if o == nil || o.means != isConfig && o.means != isFeature {
			continue
		}
		if !given && i+1 < len(args) {
			i++
			value = args[i]
		}
		if o.means == isFeature {
			all["features."+value] = o.is
			continue
		}
		key, set, _ := strings.Cut(value, "=")
		all[strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(set), `"'`)
	}
	return all
}

// switchedServers returns the servers that settings of codex's command line add or change, other
// than by enabling or disabling them.
func switchedServers(switches map[string]string) []string {
	var all []string
	for _, key := range keys(switches) {
		parts := strings.Split(key, ".")
		if len(parts) > 3 && parts[0] == "profiles" {
			parts = parts[2:]
		}
		if parts[0] != "mcp_servers" || parts[len(parts)-1] == "enabled" {
			continue
		}
		if len(parts) > 1 {
			all = append(all, parts[1])
			continue
		}
		inline, err := tomlKeys("v=" + switches[key])
		if err != nil {
			all = append(all, switches[key]) // the servers are unknown
		}
		for _, k := range inline {
			if len(k) > 1 {
				all = append(all, k[1])
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// keys returns the keys of m, sorted.
func keys(m map[string]string) []string {
	all := make([]string, 0, len(m))
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

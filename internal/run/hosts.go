package run

import (
	"strings"

	"sbx/internal/reach"
	"sbx/internal/sys"
)

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

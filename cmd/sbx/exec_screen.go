package main

import (
	"slices"
	"strconv"
	"strings"

	"sbx/spec"
	"sbx/wrap"
)

// onScreen is how many items of a list -v prints; `sbx check` prints all.
const onScreen = 8

// screen is what -v prints before the command starts: the lists of `sbx check` in one line
// each, without reasons, and the place of the record.
func (x *execution) screen() string {
	r := x.Resolved
	var lines []string
	add := func(title string, items []string) {
		if more := len(items) - onScreen; more > 0 {
			items = append(items[:onScreen:onScreen], "and "+strconv.Itoa(more)+" more, which sbx check lists")
		}
		if len(items) > 0 {
			lines = append(lines, title+": "+strings.Join(items, ", "))
		}
	}
	if x.prepared.Line() == "" { // otherwise another tool mounts the files
		for _, title := range [...]string{mayBeWritten, private, hidden} {
			add(title, x.briefPaths(title))
		}
		if len(x.prepared.Plan.Seen().Places()) == 0 {
			files := "what the caller may read and write"
			if x.prepared.Plan.Rung == wrap.RungParent {
				files = "at most what the outer sandbox lets the caller read and write"
			}
			add("files", []string{files})
		}
	}
	switch r.Network {
	case spec.NetworkNone:
		add("network", []string{"none"})
	case spec.NetworkHost:
		add("network", []string{"the host's"})
	default:
		hosts := []string{}
		for i := range r.Reach {
			hosts = append(hosts, spec.Shown(r.Reach[i].Text))
		}
		if len(hosts) == 0 {
			hosts = []string{"nothing can be reached"}
		}
		add("network", hosts)
	}
	ports := []string{}
	for _, l := range r.Listen {
		ports = append(ports, strconv.Itoa(l.Inside)+" at "+l.HostPort()+" of the host")
	}
	add("ports", ports)
	add("variables that the command does not get", names(r.Dropped))
	add("record", []string{spec.Name(x.prepared.RecordPath())})
	return strings.Join(lines, "\n")
}

// briefPaths returns the paths of one part without the devices that every sandbox has: first those
// that the spec names, then those in the home directory.
func (x *execution) briefPaths(title string) []string {
	view, home := x.prepared.Plan.Seen(), x.home()
	rank := func(at string) int {
		switch {
		case strings.HasPrefix(view.At(at).Because.Field, "filesystem."):
			return 0
		case strings.HasPrefix(at, home+"/"):
			return 1
		}
		return 2
	}
	all := slices.DeleteFunc(x.places(title), func(at string) bool {
		return strings.HasPrefix(at, "/dev/") && rank(at) > 0
	})
	slices.SortStableFunc(all, func(a, b string) int { return rank(a) - rank(b) })
	return names(all)
}

// names shortens and joins a list for a person.
func names(all []string) []string {
	shown := make([]string, len(all))
	for i, name := range all {
		shown[i] = spec.Name(name)
	}
	return shown
}

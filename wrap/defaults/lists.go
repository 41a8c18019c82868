package defaults

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Lists returns the tables as package spec uses them to narrow documents. They know a secret by its
// usual place, in any home. Only host.Survey, which examines the host, knows secrets that a
// variable or a link moves elsewhere.
func Lists() spec.Lists {
	return spec.Lists{
		Secret: func(path, home string) bool {
			return IsSecret(path, home, 0)
		},
		Holds: func(dir, home string) bool {
			return mayHoldSecret(dir, home)
		},
		Private: []string{"/dev/shm", "/run", "/tmp", "/var/tmp"},
		Protected: func(rel string) bool {
			_, is := IsProtectedName(rel)
			return is || LeadsToProtected(rel) && !MayBeMade(rel)
		},
		System: func(path string) bool {
			for i := range system {
				if Under(path[1:], system[i].Path[1:]) {
					return true
				}
			}
			return false
		},
	}
}

// IsSecret reports whether path is, or lies in, a default secret. The agent's own secrets are not
// counted.
func IsSecret(path, home string, agent spec.Agent) bool {
	return anySecret(path, homesFor(path, home), agent, Under)
}

// mayHoldSecret reports whether dir may be a default secret, or a directory above one.
func mayHoldSecret(dir, home string) bool {
	homes := homesFor(dir, home)
	for _, h := range homes {
		if leads(dir[1:], h) {
			return true
		}
	}
	return anySecret(dir, homes, 0, leads)
}

// leads reports whether dir may be a path that pattern means, or a directory above one.
func leads(dir, pattern string) bool {
	for dir != "" {
		name, rest, _ := strings.Cut(dir, "/")
		want, after, deeper := strings.Cut(pattern, "/")
		if !Matches(name, want) || !deeper && rest != "" {
			return false
		}
		dir, pattern = rest, after
	}
	return true
}

// homesFor returns the homes in whose secrets path may lie: the caller's, root's, and the one in
// /home that contains path. They are relative to the root directory.
func homesFor(path, home string) []string {
	homes := make([]string, 0, 3)
	add := func(home string) {
		if home = strings.TrimRight(home, "/"); !slices.Contains(homes, home) {
			homes = append(homes, home)
		}
	}
	if strings.HasPrefix(home, "/") {
		add(home[1:])
	}
	if rest, ok := strings.CutPrefix(path, "/home/"); ok {
		name, _, _ := strings.Cut(rest, "/")
		add("home/" + name)
	}
	add("root")
	return homes
}

// anySecret reports whether is holds for path and any secret but the agent's own. It compares paths
// relative to the root directory with the system's secrets, and paths relative to each home that
// contains path with the secrets of a home. Every start asks this about each writable directory, so
// it joins no paths.
func anySecret(path string, homes []string, agent spec.Agent, is func(path, pattern string) bool) bool {
	path = path[1:]
	inside := make([]string, 0, len(homes))
	for _, h := range homes {
		if h == "" {
			inside = append(inside, path)
		} else if rest, ok := past(path, h); ok {
			inside = append(inside, rest)
		}
	}
	for i := range secrets {
		if agent != 0 && secrets[i].Agent == agent {
			continue
		}
		rest, inHome := strings.CutPrefix(secrets[i].Path, "~/")
		if !inHome {
			if is(path, rest[1:]) {
				return true
			}
			continue
		}
		for _, path := range inside {
			if is(path, rest) {
				return true
			}
		}
	}
	return false
}

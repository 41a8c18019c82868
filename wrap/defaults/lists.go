package defaults

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Lists is what narrowing asks of the tables here. They know a secret by its
// usual place, in any home: where a variable or a link moves one is for the
// look at the host to say (host.Survey).
func Lists() spec.Lists {
	return spec.Lists{
		Secret: func(path, home string) bool {
			return IsSecret(path, home, 0)
		},
		Holds: func(folder, home string) bool {
			return mayHoldSecret(folder, home)
		},
		Private: []string{"/dev/shm", "/run", "/tmp", "/var/tmp"},
		Protected: func(rel string) bool {
			_, is := IsProtectedName(rel)
			return is || LeadsToProtected(rel) && !MayBeMade(rel)
		},
		System: func(path string) bool {
			for i := range system {
				if Beneath(path[1:], system[i].Path[1:]) {
					return true
				}
			}
			return false
		},
	}
}

// isSecret reports whether path is, or lies in, a default secret. Those of the
// agent itself are none to it.
func IsSecret(path, home string, agent spec.Agent) bool {
	return anySecret(path, homesFor(path, home), agent, Beneath)
}

// mayHoldSecret reports whether a default secret may be directory or lie under it.
func mayHoldSecret(folder, home string) bool {
	homes := homesFor(folder, home)
	for _, h := range homes {
		if leads(folder[1:], h) {
			return true
		}
	}
	return anySecret(folder, homes, 0, leads)
}

// leads reports whether what a pattern means may lie under directory, or be it.
func leads(folder, pattern string) bool {
	for folder != "" {
		name, rest, _ := strings.Cut(folder, "/")
		want, after, deeper := strings.Cut(pattern, "/")
		if !Matches(name, want) || !deeper && rest != "" {
			return false
		}
		folder, pattern = rest, after
	}
	return true
}

// homesFor are the homes whose secrets path may be: the caller's, root's, and the
// one in /home that path lies in. They are relative to the root.
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

// anySecret asks is of path and the place of each secret but the agent's own: of the
// system's from the root on, of a home's for each of homes that path lies in, from
// there on. Every start asks it of each directory that may be written, so it joins no paths.
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

package wrap

import (
	"strings"

	"sbx/spec"
)

// Lists is what narrowing asks of the tables here. They know a secret by its
// usual place, in any home: where a variable or a link moves one is for the
// look at the host to say (launch.Survey).
func Lists() spec.Lists {
	return spec.Lists{
		Secret: func(path, home string) bool {
			return isSecret(path, home, 0)
		},
		Holds: func(folder, home string) bool {
			return anySecret(home, folder, 0, func(at string) bool { return leads(folder[1:], at[1:]) })
		},
		Private: []string{"/dev/shm", "/run", "/tmp", "/var/tmp"},
		Protected: func(rel string) bool {
			if _, is := IsProtectedName(rel); is {
				return true
			}
			_, leads := LeadsToProtected(rel)
			return leads && !MayBeMade(rel)
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

// isSecret tells whether path is, or lies in, a default secret. Those of the
// agent itself are none to it.
func isSecret(path, home string, agent spec.Agent) bool {
	return anySecret(home, path, agent, func(at string) bool { return Beneath(path[1:], at[1:]) })
}

// leads tells whether what a pattern means may lie beneath folder, or be it.
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

// anySecret asks is of the places of all secrets but the agent's own: the
// system's, the caller's and those of the home that path lies in.
func anySecret(home, path string, agent spec.Agent, is func(at string) bool) bool {
	homes := []string{home}
	if rest, ok := strings.CutPrefix(path, "/home/"); ok {
		name, _, _ := strings.Cut(rest, "/")
		homes = append(homes, "/home/"+name)
	}
	homes = append(homes, "/root")
	for i := range secrets {
		if agent != 0 && secrets[i].Agent == agent {
			continue
		}
		rest, inHome := strings.CutPrefix(secrets[i].Path, "~/")
		if !inHome {
			if is(secrets[i].Path) {
				return true
			}
			continue
		}
		for _, h := range homes {
			if strings.HasPrefix(h, "/") && is(strings.TrimRight(h, "/")+"/"+rest) {
				return true
			}
		}
	}
	return false
}

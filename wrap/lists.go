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
			return anySecret(home, path, func(at string) bool { return Beneath(path[1:], at[1:]) })
		},
		Holds: func(folder, home string) bool {
			return anySecret(home, folder, func(at string) bool { return under(at, folder) })
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

// anySecret asks is of the places of all secrets: the system's, the caller's
// and those of the home that path lies in.
func anySecret(home, path string, is func(at string) bool) bool {
	homes := []string{home}
	if rest, ok := strings.CutPrefix(path, "/home/"); ok {
		name, _, _ := strings.Cut(rest, "/")
		homes = append(homes, "/home/"+name)
	}
	homes = append(homes, "/root")
	for i := range secrets {
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

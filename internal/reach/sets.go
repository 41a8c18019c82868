package reach

import (
	"slices"
	"strings"

	"sbx/internal/doc"
)

// set is a predefined list of hosts; its name begins with "@".
type set struct {
	name  string
	hosts []host
}

// host is an endpoint of a set, and what the tools need it for.
type host struct{ endpoint, why string }

// sets holds the hosts that the tools of a registry or a model's API require: no telemetry, no
// documentation. A host that serves anybody's uploads is listed only if the tools do not work
// without it, and its row says so.
var sets = []set{
	{"@anthropic", []host{
		{"api.anthropic.com:443", "the API"},
		{"platform.claude.com:443", "login, and its renewal"},
		{"claude.ai:443", "login with a subscription"},
		{"console.anthropic.com:443", "login of older versions"},
	}},
	{"@openai", []host{
		{"api.openai.com:443", "the API"},
		{"chatgpt.com:443", "the API with a subscription"},
		{"auth.openai.com:443", "login, and its renewal"},
	}},
	{"@google-ai", []host{
		{"generativelanguage.googleapis.com:443", "the API"},
		{"cloudcode-pa.googleapis.com:443", "the API with a Google account"},
		{"oauth2.googleapis.com:443", "login, and its renewal"},
		{"accounts.google.com:443", "login"},
		{"www.googleapis.com:443", "who has logged in"},
	}},
	{"@github", []host{
		{"github.com:443", "git over HTTPS, and downloads of releases"},
		{"github.com:22", "git over SSH"},
		{"ssh.github.com:443", "git over SSH where port 22 is closed"},
		{"api.github.com:443", "the API"},
		{"uploads.github.com:443", "uploads of releases"},
		{"codeload.github.com:443", "archives of repositories"},
		{"raw.githubusercontent.com:443", "files of repositories"},
		{"objects.githubusercontent.com:443", "files of releases"},
		{"release-assets.githubusercontent.com:443", "files of releases"},
		{"gist.github.com:443", "gists"},
		{"github-cloud.githubusercontent.com:443", "files of Git LFS"},
		{"media.githubusercontent.com:443", "files of Git LFS"},
	}},
	{"@npm", []host{
		{"registry.npmjs.org:443", "the registry"},
		{"registry.yarnpkg.com:443", "the registry as yarn 1 calls it"},
	}},
	{"@pypi", []host{
		{"pypi.org:443", "the index"},
		{"files.pythonhosted.org:443", "the packages"},
	}},
	{"@go", []host{
		{"proxy.golang.org:443", "the modules"},
		{"sum.golang.org:443", "their checksums"},
		{"storage.googleapis.com:443", "where the proxy sends for large modules; holds anybody's files"},
	}},
	{"@crates", []host{
		{"index.crates.io:443", "the index"},
		{"static.crates.io:443", "the crates"},
		{"crates.io:443", "the API: cargo search and publish"},
	}},
	{"@debian", []host{
		{"deb.debian.org:80", "the packages, signed"},
		{"deb.debian.org:443", "the packages"},
		{"security.debian.org:80", "security updates, signed"},
		{"security.debian.org:443", "security updates"},
	}},
}

// Sets lists the names of the sets, each with its "@".
func Sets() []string {
	names := make([]string, len(sets))
	for i := range sets {
		names[i] = sets[i].name
	}
	return names
}

// Expand returns the rules for an item of network.allow: one for an endpoint, or those of a
// set's hosts. cause is the item's field, for Rule.Cause.
func Expand(item, cause string) (Reach, *Error) {
	if !strings.HasPrefix(item, "@") {
		e, err := Parse(item)
		if err != nil {
			if slices.Contains(Sets(), "@"+item) {
				err.Meant = "@" + item
			}
			return nil, err
		}
		return Reach{{Endpoint: e, Text: item, Cause: cause}}, nil
	}
	for i := range sets {
		if sets[i].name == item {
			return sets[i].rules(cause + ": " + item), nil
		}
	}
	names := Sets()
	meant, _, _ := strings.Cut(item, ":")
	if !slices.Contains(names, meant) { // else the port is too much
		meant = doc.Nearest(meant, names)
	}
	return nil, &Error{Why: "unknown set of hosts " + doc.Quote(doc.Cut(item)), Meant: meant, Help: "the sets are " + strings.Join(names, ", ")}
}

func (s *set) rules(cause string) Reach {
	r := make(Reach, 0, len(s.hosts))
	for _, h := range s.hosts {
		e, err := Parse(h.endpoint)
		if err != nil {
			panic(h.endpoint + " in " + s.name + ": " + err.Why) // a test reads them all
		}
		r = append(r, Rule{Endpoint: e, Text: h.endpoint, Cause: cause, Why: h.why})
	}
	return r
}

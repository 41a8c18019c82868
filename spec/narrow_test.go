package spec

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// narrowed resolves documents that narrow each other. The first is called p.json, the next c.json.
func narrowed(t testing.TB, docs ...string) (Resolved, error) {
	t.Helper()
	names := []string{"p.json", "c.json", "d.json"}
	var all []*SandboxSpec
	for i, doc := range docs {
		s, err := Decode(names[i], []byte(doc))
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		s.Source.Dir = "/p"
		all = append(all, s)
	}
	chain, err := Chain(all, listed())
	if err != nil {
		return Resolved{}, err
	}
	return chain[len(chain)-1], nil
}

// listed returns inputs with lists of secrets, protected names and system files.
func listed() Inputs {
	in := inputs()
	in.Environ = []string{"PATH=/bin:/opt", "HOME=/home/u", "LANG=C", "AWS_SECRET_ACCESS_KEY=s"}
	in.Agent = &AgentNeeds{Agent: Gemini, Named: true, Pass: []string{"GEMINI_API_KEY"}}
	in.Lists = Lists{
		Secret: func(path, home string) bool { return under(path, home+"/.netrc") },
		Holds:  func(path, home string) bool { return under(home+"/.netrc", path) },
		Protected: func(rel string) bool {
			return rel == ".envrc" || rel == ".git" || strings.HasPrefix(rel, ".git/") || strings.HasSuffix(rel, "/.git")
		},
		System:  func(path string) bool { return under(path, "/opt") },
		Private: []string{"/tmp"},
	}
	return in
}

func TestNarrow(t *testing.T) {
	for _, test := range []struct{ parent, child, want string }{
		// An absent field inherits.
		{`{"access_mode":"read-only"}`, `{}`, "readonly confined private files doors net=none cwd=/p/w"},
		{`{}`, `{"access_mode":"workspace-write"}`, "confined private files doors net=none cwd=/p/w w=/p/w"},
		{`{"access_mode":"workspace-write","working_dir":"/p"}`, `{"working_dir":"w"}`, "confined private files doors net=none cwd=/p/w w=/p/w"},
		{`{"access_mode":"workspace-write"}`, `{"access_mode":"read-only"}`, "readonly confined private files doors net=none cwd=/p/w"},
		{`{"access_mode":"workspace-write"}`, `{"readonly":true}`, "readonly confined private files doors net=none cwd=/p/w"},
		{`{"access_mode":"danger-full-access"}`, `{"network":{"mode":"none"}}`, "doors net=none cwd=/p/w"},
		// An empty list denies.
		{`{"filesystem":{"read":["@system","/srv"]}}`, `{"filesystem":{"read":[]}}`, "readonly confined visible private files doors net=host cwd=/p/w"},
		{`{"filesystem":{"write":["/srv","/opt"]}}`, `{"filesystem":{"write":[]}}`, "readonly confined files doors net=host cwd=/p/w"},
		// Values that its access_mode implies count as if the child had written them.
		{`{"access_mode":"workspace-write","network":{"mode":"host"}}`, `{"access_mode":"workspace-write"}`, "confined private files doors net=none cwd=/p/w w=/p/w"},
		{`{"access_mode":"workspace-write","network":{"allow":["a.example:443"]}}`, `{"access_mode":"workspace-write"}`, "confined private files doors net=allow cwd=/p/w w=/p/w"},
		{`{"network":{"allow":["a.example:443"]}}`, `{"access_mode":"workspace-write","network":{"mode":"none"}}`, "confined private files doors net=none cwd=/p/w w=/p/w"},
		{`{"access_mode":"workspace-write","network":{"mode":"host"}}`, `{"readonly":false}`, "confined private files doors net=host cwd=/p/w w=/p/w"},
		{`{"access_mode":"workspace-write","filesystem":{"write":["/srv"]}}`, `{"access_mode":"workspace-write"}`, "confined private files doors net=none cwd=/p/w w=/p/w"},
		{`{"access_mode":"workspace-write","filesystem":{"write":["/srv"]}}`, `{"max_turns":1}`, "confined private files doors net=none cwd=/p/w w=/p/w,/srv"},
		{`{"filesystem":{"read":["@system","~/.netrc","/p"]}}`, `{"access_mode":"read-only"}`, "readonly confined visible system private files doors net=none cwd=/p/w r=/p,/p/w"},
		// A list of the child replaces the parent's, if the parent's covers it.
		{`{"filesystem":{"write":["/srv"]}}`, `{"filesystem":{"write":["/srv/data"]}}`, "readonly confined files doors net=host cwd=/p/w w=/srv/data"},
		{`{"filesystem":{"read":["@system"]}}`, `{"filesystem":{"read":["/opt"]}}`, "readonly confined visible private files doors net=host cwd=/p/w r=/opt"},
		{`{"access_mode":"workspace-write"}`, `{"filesystem":{"write":["src"]}}`, "readonly confined private files doors net=none cwd=/p/w w=/p/w/src"},
		{`{"access_mode":"workspace-write"}`, `{"filesystem":{"write":[]}}`, "readonly confined private files doors net=none cwd=/p/w"},
		{`{"access_mode":"workspace-write"}`, `{"access_mode":"workspace-write","filesystem":{"write":["src"]}}`, "confined private files doors net=none cwd=/p/w w=/p/w,/p/w/src"},
		{`{"access_mode":"workspace-write","working_dir":"/p"}`, `{"working_dir":"w","filesystem":{"write":["src"]}}`, "readonly confined private files doors net=none cwd=/p/w w=/p/w/src"},
		{`{"access_mode":"workspace-write","working_dir":"/p"}`, `{"working_dir":"w","filesystem":{"write":["."]}}`, "confined private files doors net=none cwd=/p/w w=/p/w,/p/w"},
		{`{"access_mode":"workspace-write","filesystem":{"write":["/srv"]}}`, `{"filesystem":{"write":["/srv/data"]}}`, "readonly confined private files doors net=none cwd=/p/w w=/srv/data"},
		// A protected name opens that name in the workspace, and does not close the workspace.
		{`{"access_mode":"workspace-write","filesystem":{"write":["**/.git"]}}`, `{"filesystem":{"write":[".git","src"]}}`, "confined private files doors net=none cwd=/p/w w=/p/w,/p/w/src,/p/w/.git?"},
		{`{"access_mode":"workspace-write"}`, `{"filesystem":{"write":["link"]}}`, "!link"},
		// The paths of both are hidden.
		{`{"filesystem":{"hide":["/srv/f"]}}`, `{"filesystem":{"hide":["/opt"]}}`, "files doors net=host cwd=/p/w h=/srv/f,/opt"},
		// Without the parent's mount, nothing shows at its target.
		{`{"filesystem":{"mounts":[{"source":"/srv/data","target":"/opt","mode":"rw"}]}}`, `{"filesystem":{"mounts":[]}}`, "files doors net=host cwd=/p/w h=/opt"},
		{`{"filesystem":{"mounts":[{"source":"/srv/data","target":"/opt","mode":"rw"}]}}`, `{"filesystem":{"mounts":[{"source":"/srv/data","target":"/opt","mode":"ro"}]}}`, "files doors net=host cwd=/p/w m=/srv/data:/opt:ro"},
		// An access_mode of the child makes mounts read-only, as it does with the paths of
		// filesystem.write.
		{`{"filesystem":{"mounts":[{"source":"/srv/data","target":"/opt","mode":"rw"},{"target":"/mnt","mode":"tmpfs"}]}}`, `{"access_mode":"read-only"}`, "readonly confined private files doors net=none cwd=/p/w m=/srv/data:/opt:ro m=:/mnt:tmpfs"},
		{`{"access_mode":"workspace-write","filesystem":{"mounts":[{"source":"/srv/data","target":"/opt","mode":"rw"}]}}`, `{"max_turns":1}`, "confined private files doors net=none cwd=/p/w w=/p/w m=/srv/data:/opt:rw"},
		// A worker's restrict is relative to its caller's.
		{`{"sandbox":{"root":"root"}}`, `{"restrict":"/src"}`, "confined visible system private files doors net=host cwd=/p/root/src r=/p/root/src w=/p/root/src"},
		{`{"sandbox":{"root":"root"},"restrict":"/src"}`, `{"restrict":"/lib","readonly":true}`, "readonly confined visible system private files doors net=host cwd=/p/root/src/lib r=/p/root/src/lib"},
		{`{"sandbox":{"root":"root"}}`, `{}`, "confined visible system private files doors net=host cwd=/p/root r=/p/root w=/p/root"},
		{`{"sandbox":{"root":"root"}}`, `{"readonly":true}`, "readonly confined visible system private files doors net=host cwd=/p/root r=/p/root"},
		{`{"sandbox":{"root":"root"}}`, `{"readonly":false}`, "confined visible system private files doors net=host cwd=/p/root r=/p/root w=/p/root"},
		{`{"sandbox":{"root":"root","readonly":true}}`, `{}`, "readonly confined visible system private files doors net=host cwd=/p/root r=/p/root"},
		{`{"sandbox":{"root":"root"}}`, `{"restrict":"/src","readonly":true}`, "readonly confined visible system private files doors net=host cwd=/p/root/src r=/p/root/src"},
		{`{"sandbox":{"root":"root"},"restrict":"/src","readonly":true}`, `{"readonly":false}`, "!readonly"},
		{`{"sandbox":{"root":"root"}}`, `{"restrict":"/lib"}`, "!restrict"},
	} {
		r, err := narrowed(t, test.parent, test.child)
		if rest, bad := strings.CutPrefix(test.want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), rest) {
				t.Errorf("%s under %s: got %v, %v", test.child, test.parent, summary(r), err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s under %s: %v", test.child, test.parent, err)
		} else if got := summary(r); got != test.want {
			t.Errorf("%s under %s\n got %s\nwant %s", test.child, test.parent, got, test.want)
		}
	}
}

// TestEscalations checks that each error names the field, both values and both places.
func TestEscalations(t *testing.T) {
	for _, test := range []struct{ parent, child, field, want string }{
		{`{"access_mode":"read-only"}`, `{"access_mode":"workspace-write"}`, "access_mode", `access_mode (c.json:1:16): cannot have workspace-write: the parent has read-only (p.json:1:16)`},
		{`{"access_mode":"workspace-write"}`, `{"network":{"mode":"host"}}`, "network.mode", `network.mode (c.json:1:20): cannot have network host: the parent has none (from access_mode workspace-write, p.json:1:16)`},
		{`{"access_mode":"workspace-write"}`, `{"network":{"allow":["a.example:443"]}}`, "network.allow", "none"},
		{`{"network":{"allow":["*.a.example:443"]}}`, `{"network":{"allow":["a.example:443"]}}`, "network.allow[0]", "*.a.example:443"},
		{`{"network":{"allow":["10.0.0.0/8:*"]}}`, `{"network":{"allow":["11.0.0.1:443"]}}`, "network.allow[0]", "10.0.0.0/8:*"},
		{`{"network":{"allow":[]}}`, `{"network":{"mode":"host"}}`, "network.mode", "allow"},
		{`{"network":{"mode":"none"}}`, `{"network":{"listen":[80]}}`, "network.listen[0]", "80"},
		{`{"network":{"mode":"none","listen":[8080]}}`, `{"network":{"mode":"none","listen":["8080:3000"]}}`, "network.listen[0]", "8080:3000"},
		{`{"network":{"mode":"none","listen":[8080]}}`, `{"network":{"mode":"none","listen":["0.0.0.0:8080:8080"]}}`, "network.listen[0]", "0.0.0.0:8080:8080"},
		{`{"network":{"allow":["@pypi","registry.npmjs.org:443"]}}`, `{"network":{"allow":["pypi.org:443","@npm"]}}`, "network.allow[1]",
			`network.allow[1] (c.json:1:37): cannot have registry.yarnpkg.com:443 (@npm): the parent has @pypi, registry.npmjs.org:443 (p.json:1:21)`},
		{`{"network":{"allow":["0.0.0.0/0:*"]}}`, `{"network":{"allow":["a.example:443"]}}`, "network.allow[0]", "0.0.0.0/0:*"},
		{`{"max_commands":5}`, `{"max_commands":6}`, "max_commands", "cannot have 6: the parent has 5 (p.json:1:17)"},
		{`{"max_turns":0}`, `{"max_turns":1}`, "max_turns", "cannot have 1: the parent has 0"},
		{`{"max_commands":5}`, `{"on_exceed":"record"}`, "on_exceed", "cannot have record: the parent has deny"},
		{`{"on_exceed":"kill"}`, `{"on_exceed":"deny"}`, "on_exceed", "cannot have deny: the parent has kill"},
		{`{"limits":{"memory":"1GiB"}}`, `{"limits":{"memory":"2GiB"}}`, "limits.memory", "cannot have 2GiB: the parent has 1GiB"},
		{`{"limits":{"timeout":"30m"}}`, `{"limits":{"timeout":"31m"}}`, "limits.timeout", "31m"},
		{`{"limits":{"cpus":1.5}}`, `{"limits":{"cpus":2}}`, "limits.cpus", "1.5"},
		{`{"limits":{"pids":5}}`, `{"limits":{"pids":6}}`, "limits.pids", "6"},
		{`{}`, `{"limits":{"pids":16385}}`, "limits.pids", "cannot have 16385: the parent has 16384, as each without one"},
		{`{"limits":{"open_files":50}}`, `{"limits":{"open_files":60}}`, "limits.open_files", "60"},
		{`{"limits":{"file_size":"1MiB"}}`, `{"limits":{"file_size":"2MiB"}}`, "limits.file_size", "2MiB"},
		{`{"tools_allowed":["Read"]}`, `{"tools_allowed":["Bash"]}`, "tools_allowed[0]", `cannot have Bash: the parent has Read (p.json:1:18)`},
		{`{"tools_allowed":[]}`, `{"tools_allowed":["Read"]}`, "tools_allowed[0]", "none"},
		{`{"tools_allowed":["Bash(git:*)"]}`, `{"tools_allowed":["Bash"]}`, "tools_allowed[0]", "Bash(git:*)"},
		{`{"tools_denied":["Bash"]}`, `{"tools_allowed":["Bash"]}`, "tools_allowed[0]", "Bash"},
		{`{"access_mode":"workspace-write","working_dir":"/p/w"}`, `{"working_dir":"/srv"}`, "working_dir", "/p/w"},
		{`{"access_mode":"workspace-write"}`, `{"working_dir":"/srv"}`, "working_dir", "/p/w"},
		{`{"access_mode":"workspace-write"}`, `{"working_dir":"/ways/link"}`, "working_dir", "/p/w"},
		{`{"filesystem":{"write":["/srv"]}}`, `{"access_mode":"workspace-write"}`, "access_mode", "/p/w"},
		{`{"filesystem":{"write":["/srv"]}}`, `{"filesystem":{"write":["/opt"]}}`, "filesystem.write[0]", `filesystem.write[0] (c.json:1:25): cannot have /opt writable`},
		{`{"filesystem":{"write":["/srv"]}}`, `{"filesystem":{"write":["/srv/../opt"]}}`, "filesystem.write[0]", "/opt"},
		{`{"filesystem":{"read":["/srv"]}}`, `{"filesystem":{"read":["/opt"]}}`, "filesystem.read[0]", "/opt"},
		{`{"filesystem":{"read":["/srv"]}}`, `{"filesystem":{"read":["@system"]}}`, "filesystem.read", "@system"},
		{`{"filesystem":{"read":["/srv"]}}`, `{"filesystem":{"read":["/ways/link","/p/w/src"]}}`, "filesystem.read[1]", "/p/w/src"},
		{`{"filesystem":{"hide":["/srv"]}}`, `{"filesystem":{"read":["/srv/data"]}}`, "filesystem.read[0]", "hidden by /srv (p.json:1:24)"},
		{`{"access_mode":"read-only"}`, `{"filesystem":{"read":["~/.netrc"]}}`, "filesystem.read[0]", "secret"},
		{`{"access_mode":"workspace-write"}`, `{"filesystem":{"write":[".git"]}}`, "filesystem.write[0]", "protected"},
		{`{"access_mode":"workspace-write"}`, `{"filesystem":{"write":["**/.git"]}}`, "filesystem.write[0]", "protected"},
		{`{"access_mode":"workspace-write","filesystem":{"write":["/p"]}}`, `{"filesystem":{"write":["/p/w/.envrc"]}}`, "filesystem.write[0]", ".envrc protected"},
		{`{"tools_allowed":["Read","Bash(git:*)"]}`, `{"tools_allowed":["Bash"]}`, "tools_allowed[0]", `cannot have Bash: the parent has Read, Bash(git:*) (p.json:1:18)`},
		{`{"tools_denied":["Bash"]}`, `{"tools_allowed":["Bash(git:*)"]}`, "tools_allowed[0]", `cannot have Bash(git:*): the parent has it denied (p.json:1:17)`},
		{`{"access_mode":"read-only"}`, `{"filesystem":{"read":["/tmp/x"]}}`, "filesystem.read[0]", "cannot have /tmp/x in view: the parent has /tmp private and empty (p.json:1:16)"},
		{`{"access_mode":"read-only"}`, `{"filesystem":{"mounts":[{"source":"/tmp","target":"/x","mode":"ro"}]}}`, "filesystem.mounts[0]", "/tmp private"},
		{`{"filesystem":{"read":["/"]}}`, `{"filesystem":{"mounts":[{"source":"/","target":"/x","mode":"ro"}]}}`, "filesystem.mounts[0]", "secrets in it hidden (p.json:1:23)"},
		{`{"access_mode":"workspace-write","working_dir":"/"}`, `{"working_dir":"/tmp/x"}`, "working_dir", "/tmp private"},
		{`{"filesystem":{"hide":["/srv/f"]}}`, `{"filesystem":{"mounts":[{"source":"/srv","target":"/x","mode":"ro"}]}}`, "filesystem.mounts[0]", "/srv/f in it hidden"},
		{`{"filesystem":{"write":["/opt"]}}`, `{"filesystem":{"mounts":[{"source":"/srv","target":"/x","mode":"rw"}]}}`, "filesystem.mounts[0]", "read-only"},
		{`{"filesystem":{"mounts":[{"source":"/srv","target":"/x","mode":"ro"}],"write":[]}}`, `{"filesystem":{"mounts":[{"source":"/srv","target":"/x","mode":"rw"}]}}`, "filesystem.mounts[0]", "read-only"},
		{`{"filesystem":{"mounts":[{"target":"/srv","mode":"tmpfs"}]}}`, `{"filesystem":{"mounts":[{"source":"/srv","target":"/x","mode":"ro"}]}}`, "filesystem.mounts[0]", "something else mounted"},
		// A read-only mount keeps its directory from being written, even if no other rule does.
		{`{"filesystem":{"mounts":[{"source":"/srv","target":"/srv","mode":"ro"}]}}`, `{"filesystem":{"mounts":[{"source":"/srv","target":"/srv","mode":"rw"}]}}`, "filesystem.mounts[0]", "filesystem.mounts[0] (c.json:1:26): cannot mount /srv at /srv rw: the parent has that target read-only (p.json:1:26)"},
		{`{"access_mode":"workspace-write","filesystem":{"mounts":[{"source":"src","target":"/p/w/src","mode":"ro"}]}}`, `{"filesystem":{"mounts":[{"source":"src","target":"/p/w/src","mode":"rw"}]}}`, "filesystem.mounts[0]", "that target read-only"},
		{`{"filesystem":{"mounts":[{"source":"/srv","target":"/srv","mode":"ro"}]}}`, `{"filesystem":{"mounts":[{"source":"/srv/data","target":"/x","mode":"rw"}]}}`, "filesystem.mounts[0]", "cannot mount /srv/data at /x rw: the parent has it read-only (p.json:1:26)"},
		{`{"filesystem":{"mounts":[{"source":"/srv","target":"/x","mode":"ro"}]}}`, `{"filesystem":{"mounts":[{"source":"/srv","target":"/x","mode":"rw"}]}}`, "filesystem.mounts[0]", "that target read-only"},
		{`{"filesystem":{"write":[],"mounts":[{"source":"/srv","target":"/x","mode":"rw"},{"source":"/opt","target":"/x/data","mode":"ro"}]}}`, `{"filesystem":{"mounts":[{"source":"/srv/data","target":"/y","mode":"rw"}]}}`, "filesystem.mounts[0]", "cannot mount /srv/data at /y rw: the parent has it read-only (p.json:1:24)"},
		// A path that another mount covers inside does not count as shown by the first mount.
		{`{"filesystem":{"read":["@system"],"mounts":[{"source":"/srv","target":"/x","mode":"ro"},{"target":"/x/data","mode":"tmpfs"}]}}`, `{"filesystem":{"mounts":[{"source":"/srv/data","target":"/y","mode":"ro"}]}}`, "filesystem.mounts[0]", "cannot mount /srv/data at /y: the parent has only what is named in view"},
		{`{"filesystem":{"read":["@system"],"mounts":[{"source":"/srv","target":"/x","mode":"ro"}],"hide":["/x/data"]}}`, `{"filesystem":{"mounts":[{"source":"/srv","target":"/y","mode":"ro"}]}}`, "filesystem.mounts[0]", "only what is named in view"},
		{`{"access_mode":"workspace-write","filesystem":{"mounts":[{"source":"/tmp","target":"/x","mode":"ro"},{"target":"/x/x","mode":"tmpfs"}]}}`, `{"filesystem":{"mounts":[{"source":"/tmp/x","target":"/y","mode":"ro"}]}}`, "filesystem.mounts[0]", "/tmp private"},
		// The target of a named link is named as well.
		{`{"filesystem":{"read":["/p/w/src"]}}`, `{"filesystem":{"read":["/ways/link"]}}`, "filesystem.read[0]", "cannot have /ways/link in view: the parent has only what is named in view (p.json:1:23); it is /srv/data"},
		{`{"readonly":true}`, `{"readonly":false}`, "readonly", "readonly (c.json:1:13): cannot have readonly: false: it is read-only by readonly: true (p.json:1:13)"},
		{`{"access_mode":"read-only"}`, `{"readonly":false}`, "readonly", "access_mode: read-only (p.json:1:16)"},
		{`{"sandbox":{"root":"root","readonly":true}}`, `{"readonly":false}`, "readonly", "sandbox.readonly: true (p.json:1:38)"},
		{`{"sandbox":{"root":"root"}}`, `{"sandbox":{"root":"root/src"}}`, "sandbox.root", "outermost"},
		{`{"sandbox":{"root":"root"}}`, `{"restrict":"/../x"}`, "restrict", "restrict (c.json:1:13): cannot have restrict /../x: it leaves the root /p/root (p.json:1:20)"},
		{`{"sandbox":{"root":"root"}}`, `{"restrict":"/leak"}`, "restrict", "restrict (c.json:1:13): cannot restrict the files to /leak: it leaves the root /p/root (p.json:1:20)"},
		{`{"sandbox":{"root":"root"},"restrict":"/src"}`, `{"restrict":"/../file"}`, "restrict", "leaves the subtree"},
		{`{"environment":{"pass":["PATH"]}}`, `{"environment":{"pass":["LANG"]}}`, "environment.pass", "LANG"},
		{`{"environment":{"pass":["PATH"]}}`, `{"environment":{"set":{"FOO":"x"}}}`, "environment.set", "FOO"},
		{`{"access_mode":"read-only"}`, `{"environment":{"pass":["*"]}}`, "environment.pass", "AWS_SECRET_ACCESS_KEY"},
		{`{"access_mode":"read-only"}`, `{"environment":{"set":{"AWS_SECRET_ACCESS_KEY":"x"}}}`, "environment.set", "AWS_SECRET_ACCESS_KEY"},
		{`{"commands":{"allow":["git"]}}`, `{"commands":{"allow":["git","make"]}}`, "commands.allow[1]", "does not allow it (p.json:1:22)"},
		{`{"commands":{"allow":["/srv/"]}}`, `{"commands":{"allow":["/srv/f","/opt"]}}`, "commands.allow[1]", "/opt"},
		{`{"commands":{"deny":["git"]}}`, `{"commands":{"allow":["git"]}}`, "commands.allow[0]", "denies it"},
		{`{"commands":{"allow":["f"]},"environment":{"set":{"PATH":"/srv"}}}`, `{"environment":{"set":{"PATH":"/p/w"}}}`, "environment.set", "environment.set (c.json:1:23): cannot have f mean nothing: the parent has it mean /srv/f (p.json:1:22)"},
		{`{"commands":{"deny":["f"]},"environment":{"set":{"PATH":"/srv"}}}`, `{"commands":{"deny":["f"]},"environment":{"set":{"PATH":"/p/w"}}}`, "environment.set", "/srv/f"},
		{`{"commands":{"allow":["f"]},"environment":{"set":{"PATH":"/opt:/srv"}}}`, `{"filesystem":{"mounts":[{"source":"/p/root","target":"/srv","mode":"ro"}]}}`, "filesystem.mounts", "cannot have f mean nothing"},
		{`{"commands":{"allow":["f"]},"environment":{"set":{"PATH":"/opt:/srv"}}}`, `{"environment":{"set":{"PATH":"/srv/data:/srv"}}}`, "environment.set", "mean /srv/data/f, /srv/f: the parent has it mean /srv/f"},
		{`{"commands":{"deny":["f"]},"environment":{"set":{"PATH":"/opt:/srv"}}}`, `{"environment":{"set":{"PATH":"/srv/data"}}}`, "environment.set", "mean /srv/data/f: the parent has it mean /srv/f"},
		{`{"commands":{"allow":["f"]},"environment":{"set":{"PATH":"/opt:/srv"}}}`, `{"filesystem":{"mounts":[{"source":"/srv/data","target":"/opt","mode":"ro"}]}}`, "filesystem.mounts", "the parent has it mean /srv/f"},
		{`{"access_mode":"read-only"}`, `{"best_effort":["*"]}`, "best_effort", "best_effort (c.json:1:16): cannot have * by best effort: the parent has it enforced (p.json:1:16)"},
		{`{"access_mode":"read-only"}`, `{"access_mode":"danger-full-access"}`, "network.mode", "network.mode (c.json:1:16): cannot have network host: the parent has none (from access_mode read-only, p.json:1:16)"},
		{`{"limits":{"memory":1},"best_effort":["limits.memory"]}`, `{"best_effort":["limits.memory","limits.cpus"]}`, "best_effort", "limits.cpus"},
		{`{"access_mode":"read-only"}`, `{"require_available":false}`, "require_available", "*"},
		{`{"access_mode":"workspace-write"}`, `{"agent":"gemini"}`, "agent", "cannot have what gemini needs of its own opened: the parent has no agent"},
		{`{"agent":"claude"}`, `{"agent":"codex"}`, "agent", "cannot have codex: the parent has claude"},
	} {
		_, err := narrowed(t, test.parent, test.child)
		if err == nil {
			t.Errorf("%s under %s: no error", test.child, test.parent)
			continue
		}
		var found bool
		for _, p := range problemsOf(err) {
			found = found || string(p.Field) == test.field && strings.Contains(p.Error(), test.want)
			if p.On == "" || p.Help == "" && !strings.Contains(p.Why, "leaves the root") {
				t.Errorf("%s under %s: no place or help: %#v", test.child, test.parent, p)
			}
		}
		if !found {
			t.Errorf("%s under %s:\n got %v\nwant %s with %s", test.child, test.parent, err, test.field, test.want)
		}
	}
}

func problemsOf(err error) Problems {
	switch e := err.(type) {
	case Problems:
		return e
	case *Problem:
		return Problems{e}
	}
	return nil
}

// TestNoEscalation has documents that only look like escalations.
func TestNoEscalation(t *testing.T) {
	for _, test := range []struct{ parent, child string }{
		{`{}`, `{"best_effort":["*"],"limits":{"memory":"1GiB"}}`},
		{`{}`, `{"limits":{"pids":16384}}`},
		{`{"limits":{"pids":20000}}`, `{"limits":{"pids":16385}}`},
		{`{"tools_denied":["Bash","Write"]}`, `{"tools_denied":["Bash"]}`},
		{`{"tools_allowed":["Bash"]}`, `{"tools_allowed":["Bash(git:*)"]}`},
		{`{"commands":{"deny":["git","make"]}}`, `{"commands":{"deny":[]}}`},
		{`{"commands":{"allow":["f"]},"environment":{"set":{"PATH":"/srv"}}}`, `{"environment":{"set":{"PATH":"/opt:/srv"}}}`},
		{`{"commands":{"allow":["f"]},"environment":{"set":{"PATH":"/opt:/srv"}}}`, `{"environment":{"set":{"PATH":"/opt:/srv:/p"}}}`},
		{`{"commands":{"deny":["file"]},"environment":{"set":{"PATH":"/opt"}}}`, `{"filesystem":{"mounts":[{"source":"/p/root","target":"/opt","mode":"ro"}]}}`},
		{`{"commands":{"allow":["/srv/f"]}}`, `{"commands":{"allow":["f"]},"environment":{"set":{"PATH":"/srv"}}}`},
		{`{"commands":{"allow":["/srv/"]}}`, `{"commands":{"allow":["/srv/f"]}}`},
		{`{"filesystem":{"hide":["/srv"]}}`, `{"filesystem":{"hide":[]}}`},
		{`{"network":{"allow":["@npm","@pypi","localhost:*"],"listen":["0.0.0.0:80:80"]}}`, `{"network":{"allow":["@pypi","registry.npmjs.org:443","127.0.0.1:80"],"listen":[80]}}`},
		{`{"network":{"allow":["*.npmjs.org:443","*.yarnpkg.com:*"]}}`, `{"network":{"allow":["@npm"]}}`},
		{`{"network":{"allow":["*.example.com:443","10.0.0.0/8:*"]}}`, `{"network":{"allow":["a.b.example.com:443","*.b.example.com:443","10.1.0.0/16:22"]}}`},
		{`{"environment":{"pass":["PATH"],"set":{"A":"1"}}}`, `{"environment":{"set":{"A":"2"}}}`},
		{`{"environment":{"pass":["*"]}}`, `{"environment":{"pass":["P*"]}}`},
		{`{"access_mode":"workspace-write","network":{"mode":"host"}}`, `{"network":{"mode":"host"}}`},
		{`{"access_mode":"workspace-write","filesystem":{"write":["**/.git"]}}`, `{"filesystem":{"write":[".git","src"]}}`},
		{`{"access_mode":"read-only","filesystem":{"read":["~/.netrc","/"]}}`, `{"filesystem":{"read":["~/.netrc"]}}`},
		{`{"best_effort":["limits"],"access_mode":"read-only"}`, `{"best_effort":["limits.memory"]}`},
		{`{"access_mode":"read-only"}`, `{"working_dir":"/srv"}`},
		{`{"readonly":true}`, `{"readonly":true}`},
		{`{"access_mode":"workspace-write","working_dir":"/tmp/x"}`, `{"filesystem":{"read":["/tmp/x"]}}`},
		{`{"access_mode":"read-only"}`, `{"filesystem":{"read":["/"]}}`},
		{`{"access_mode":"workspace-write","filesystem":{"write":["/p","/p/w/.envrc"]}}`, `{"filesystem":{"write":["/p/w/.envrc"]}}`},
		{`{"filesystem":{"write":["/srv"]}}`, `{"access_mode":"read-only"}`},
		{`{"filesystem":{"mounts":[{"source":"/srv","target":"/x","mode":"rw"}]}}`, `{"filesystem":{"mounts":[{"source":"/srv/data","target":"/y","mode":"rw"},{"target":"/z","mode":"tmpfs"}]}}`},
		{`{"filesystem":{"mounts":[{"source":"/srv","target":"/srv","mode":"ro"},{"source":"/srv","target":"/x","mode":"rw"}]}}`, `{"filesystem":{"mounts":[{"source":"/srv/data","target":"/y","mode":"rw"}]}}`},
		{`{"filesystem":{"mounts":[{"source":"/srv","target":"/x","mode":"ro"}]}}`, `{"filesystem":{"mounts":[{"source":"/srv","target":"/y","mode":"rw"}]}}`},
	} {
		if _, err := narrowed(t, test.parent, test.child); err != nil {
			t.Errorf("%s under %s: %v", test.child, test.parent, err)
		}
	}
}

// If a value that a workshop implies narrows a spec, the error names the workshop's place.
func TestNarrowedByAWorkshop(t *testing.T) {
	for _, c := range []struct{ parent, child, want string }{
		{`{"working_dir":"/p/w/src"}`, `{"sandbox":{"root":"/p/w"}}`, "working_dir c.json:1:20"},
		{`{"access_mode":"workspace-write","working_dir":"/p/w/src"}`, `{"sandbox":{"root":"/p/w"}}`, "working_dir c.json:1:20, sandbox.root c.json:1:20"},
		{`{"filesystem":{"read":["@system"]}}`, `{"sandbox":{"root":"/p/w"},"restrict":"/src"}`, "restrict c.json:1:39"},
	} {
		_, err := narrowed(t, c.parent, c.child)
		var got []string
		for _, p := range AsProblems(err) {
			if at := string(p.Field) + " " + p.On; len(got) == 0 || got[len(got)-1] != at {
				got = append(got, at)
			}
			if !strings.Contains(p.Why, "p.json:1:") {
				t.Errorf("%s: the parent's place is missing: %s", c.child, p.Why)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s under %s: %q", c.child, c.parent, got)
		}
	}
}

// Each field is compared, or has a reason why it need not be.
func TestEachFieldHasAnOrder(t *testing.T) {
	var rows []Field
	for i := range orders {
		rows = append(rows, orders[i].field)
	}
	for _, f := range Fields() {
		if n := len(rows); !slices.Contains(rows, f.Field) {
			t.Errorf("%s is not in the order", f.Field)
		} else if rows = slices.DeleteFunc(rows, func(row Field) bool { return row == f.Field }); len(rows) != n-1 {
			t.Errorf("%s is there %d times", f.Field, n-len(rows))
		}
	}
	if len(rows) > 0 {
		t.Errorf("no fields: %v", rows)
	}
}

// A private directory in the directory in which the command starts stays private, unless a document
// lists it as writable: no child opens the host's, or a read-only mount of it.
func TestPrivateInTheWorkingDirectory(t *testing.T) {
	in := listed()
	in.Lists.Private = []string{"/srv/data"}
	for _, c := range []struct {
		parent, child string
		refused       bool
	}{
		{`{"access_mode":"read-only","working_dir":"/srv"}`, `{"filesystem":{"read":["/srv/data"]}}`, true},
		{`{"access_mode":"workspace-write","working_dir":"/srv"}`, `{"filesystem":{"read":["/srv/data"]}}`, false},
		{`{"access_mode":"read-only","working_dir":"/srv/data"}`, `{"filesystem":{"read":["/srv/data"]}}`, false},
		{`{"filesystem":{"write":["/"],"read":["/"],"mounts":[{"source":"/srv/data","target":"/mnt","mode":"ro"}]}}`, `{"filesystem":{"mounts":[{"source":"/srv/data","target":"/opt","mode":"rw"}]}}`, true},
		{`{"filesystem":{"write":["/"],"read":["/"],"mounts":[{"source":"/srv/data","target":"/mnt","mode":"ro"}]}}`, `{"filesystem":{"mounts":[{"source":"/srv/data","target":"/opt","mode":"ro"}]}}`, false},
	} {
		parent, child := decodeAt(t, c.parent), decodeAt(t, c.child)
		if _, err := Chain([]*SandboxSpec{parent, child}, in); (err != nil) != c.refused {
			t.Errorf("%s under %s: %v", c.child, c.parent, err)
		}
	}
}

// TestJoinedListsMayBeLonger: the bound is that of each document, not of what several make.
func TestJoinedListsMayBeLonger(t *testing.T) {
	hiding := func(dir string) string {
		list := make([]string, 4000)
		for i := range list {
			list[i] = `"` + dir + strconv.Itoa(i) + `"`
		}
		return `{"filesystem":{"hide":[` + strings.Join(list, ",") + `]}}`
	}
	r, err := narrowed(t, hiding("/a/"), hiding("/b/"))
	if err != nil || len(r.Hide) != 8000 {
		t.Errorf("%d hidden: %v", len(r.Hide), err)
	}
}

// TestToolsCoverThemselves: what a parent's list has a child may have, as it is written.
func TestToolsCoverThemselves(t *testing.T) {
	for _, tool := range []string{"Read", "Bash(git:*)", "Bash(x y)", "mcp__x__*", "*", "WebFetch(domain:a.b)", "Edit(/src/**)", "Read(~/x)"} {
		list := `{"tools_allowed":["` + tool + `"]}`
		one := []string{tool}
		a, ok := ParseTool(tool)
		if coveredBy(one, tool) != (ok && a.Covers(a)) {
			t.Errorf("%s: %v", tool, coveredBy(one, tool))
		}
		if _, err := narrowed(t, list, list); err != nil {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

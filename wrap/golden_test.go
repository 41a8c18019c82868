package wrap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sbx/wrap/world"
)

const plans = "../testdata/plans"

// These are the paths that an agent needs, like those of codex and claude.
const (
	codexFacts = "own write /home/u/.codex\nown locked /home/u/.codex/config.toml\nown locked /home/u/.codex/rules/x\nown locked /home/u/.codex/hooks.json\n" +
		"file /home/u/.codex/config.toml\nfile /home/u/.codex/rules/x\nfile /home/u/.codex/log"
	claudeFacts = "own read /home/u/.claude\nown write /home/u/.claude/projects\nown read /home/u/.claude.json\nown write /home/u/.config/claude/state\n" +
		"file /home/u/.claude/settings.json\nfile /home/u/.claude/projects/p\nfile /home/u/.claude.json\ndir /home/u/.config/claude/state\nfile /home/u/.netrc"
)

// These are the homes of other users, as root finds them.
const manyHomes = "root\nother /home/o1\nother /home/o2\nother /home/o3\nother /home/o4\nother /home/o5\nother /home/o6\nother /var/lib/db"

// golden is a spec and the hosts for which it is planned. "+" after a host's name means the same
// spec with best_effort ["*"].
type golden struct {
	name  string
	spec  string
	facts string // additional lines about the machine
	on    string
}

const (
	everyHost = "all root abi0 abi1 abi3 abi6 newest no-overlay no-userns no-userns+ no-userns-root no-userns-abi0 " +
		"no-userns-abi1+ no-userns-abi3+ no-userns-abi6+ nothing nothing+"
	twoHosts = "all no-userns no-userns+"
)

var goldens = []golden{
	{"read-only", `{"access_mode": "read-only"}`, "", everyHost + " linux-5.10"},
	{"workspace-write", `{"access_mode": "workspace-write"}`, "", everyHost + " no-setattr linux-5.10 root-audit docker docker+ no-copies"},
	{"danger-full-access", `{"access_mode": "danger-full-access"}`, "", "all no-userns nothing"},
	{"empty", `{}`, "", "all nothing"},
	{"workspace-write-readonly", `{"access_mode": "workspace-write", "readonly": true}`, "", "all no-userns no-userns+"},
	{"readonly-alone", `{"readonly": true}`, "cwd /srv/data\nrecord /var/tmp/r.json", "all no-userns"},
	{"read-list", `{"filesystem": {"read": ["@system", "."]}}`, "", "all root no-userns abi0"},
	{"read-list-workspace-write", `{"access_mode": "workspace-write", "filesystem": {"read": ["@system"]}}`, "", twoHosts},
	{"read-list-home", `{"access_mode": "read-only", "filesystem": {"read": ["@system", "~"]}}`, "", "all no-overlay"},
	{"read-list-home-root", `{"filesystem": {"read": ["@system", "."]}}`, "home /", "all"},
	{"read-list-lacks-the-program", `{"filesystem": {"read": ["."]}}`, "", "all"},
	{"write-alone", `{"filesystem": {"write": ["out"]}}`, "without /tmp\nwithout /var/tmp\nwithout /run", twoHosts},
	{"write-file", `{"access_mode": "workspace-write", "filesystem": {"write": ["~/.bashrc", "~/lib"]}}`, "", "all"},
	{"write-protected", `{"access_mode": "workspace-write", "filesystem": {"write": [".git"]}}`, "", "all"},
	{"write-protected-anywhere", `{"access_mode": "workspace-write", "filesystem": {"write": ["**/.git"]}}`, "", "all"},
	{"workspace-in-tmp", `{"access_mode": "workspace-write"}`, "cwd /tmp/w\nfile /tmp/w/.git/config\nfile /tmp/w/a", "all"},
	{"mount-ro", `{"access_mode": "workspace-write", "filesystem": {"mounts": [{"label": "data", "source": "/srv/data", "target": "/opt/data", "mode": "ro"}]}}`, "dir /opt/data", twoHosts},
	{"mount-rw", `{"access_mode": "read-only", "filesystem": {"mounts": [{"label": "data", "source": "/srv/data", "target": "/opt/data", "mode": "rw"}]}}`, "dir /opt/data", "all"},
	{"mount-tmpfs", `{"access_mode": "read-only", "filesystem": {"mounts": [{"label": "cache", "target": "/opt/cache", "mode": "tmpfs"}]}}`, "dir /opt/cache", "all"},
	{"mount-top", `{"access_mode": "workspace-write", "filesystem": {"mounts": [{"label": "data", "source": "/srv/data", "target": "/data", "mode": "ro"}]}}`, "", "all"},
	{"mount-below", `{"access_mode": "workspace-write", "filesystem": {"mounts": [{"label": "data", "source": "/srv/data", "target": "/usr/share/data", "mode": "ro"}, {"label": "one", "source": "/srv/data/set.csv", "target": "/usr/share/one.csv", "mode": "ro"}]}}`, "", "all"},
	{"mount-in-the-workspace", `{"access_mode": "workspace-write", "filesystem": {"mounts": [{"label": "data", "source": "/srv/data", "target": "/home/u/w/data", "mode": "ro"}]}}`, "", "all"},
	{"mount-of-the-job-kind", `{"filesystem": {"read": ["@system"], "mounts": [{"label": "in", "source": "/srv/data", "target": "/in", "mode": "ro"}, {"label": "out", "source": "/home/u/w/out", "target": "/out", "mode": "rw"}]}}`, "", "all"},
	{"worktree", `{"access_mode": "workspace-write"}`, "cwd /home/u/t\nfile /home/u/t/.git\nfile /home/u/w/.git/worktrees/t/commondir\nfile /home/u/w/.git/worktrees/t/gitdir\ndir /home/u/w/.git/worktrees/o\nworktree /home/u/t /home/u/w/.git/worktrees/t /home/u/w/.git /home/u/w/.git/worktrees/o", "all root"},
	{"worktree-inside", `{"access_mode": "workspace-write"}`, "file /home/u/w/t/.git\nfile /home/u/w/.git/worktrees/t/commondir\nfile /home/u/w/.git/worktrees/t/gitdir\n" +
		"admin /home/u/w/.git/worktrees/t /home/u/w/t/.git\nadmin /home/u/w/.git/worktrees/o /srv/o/.git", "all no-listener no-userns+"},
	{"repository-around", `{"access_mode": "workspace-write", "filesystem": {"hide": ["/home/u/lib/util.go"]}}`, "cwd /home/u/lib/in/w\ndir /home/u/lib/in/w\naround /home/u/lib/in\naround /home/u/lib\naround /home/u", "all no-overlay root"},
	{"agent-repository-around", `{"access_mode": "workspace-write"}`, codexFacts + "\ncwd /home/u/w/out\naround /home/u/w", "all"},
	{"secret-opened", `{"access_mode": "workspace-write", "filesystem": {"write": ["~/.docker"]}}`, "", "all"},
	{"secret-opened-beneath", `{"access_mode": "workspace-write", "filesystem": {"write": ["~/.ssh/known_hosts"]}}`, "", "all"},
	{"secret-few-entries", `{"access_mode": "read-only"}`, "without /home/u\nfile /home/u/.netrc\nfile /home/u/.bashrc\nlink /home/u/profile .bashrc\ndir /home/u/w\nrecord /var/lib/r.json", "all"},
	{"homes-of-others", `{"access_mode": "workspace-write"}`, "root\nother /home/o1\nother /var/lib/db", "root no-userns-root"},
	{"homes-of-many", `{"access_mode": "workspace-write"}`, manyHomes, "root no-overlay"},
	{"homes-of-many-named", `{"access_mode": "workspace-write", "filesystem": {"read": ["@system", "/", "/home/o5/.netrc"]}}`, manyHomes, "root"},
	{"homes-of-many-worktree", `{"access_mode": "workspace-write"}`, manyHomes + "\ncwd /srv/t\nfile /srv/t/.git\nfile /home/o1/w/.git/worktrees/t/gitdir\n" +
		"worktree /srv/t /home/o1/w/.git/worktrees/t /home/o1/w/.git", "root"},
	{"secret-submount", `{"access_mode": "read-only"}`, "mounted /home/u/lib ext4\nmounted /home/u/lib/deep ext4", "all"},
	{"kernel-mounts", `{"access_mode": "workspace-write", "filesystem": {"mounts": [{"label": "d", "source": "/srv/data", "target": "/opt/d", "mode": "ro"}]}}`,
		"file /srv/data/jail/proc/sys\nmounted /srv/data/jail/proc proc\nfile /home/u/w/jail/stat\nmounted /home/u/w/jail sysfs", "all root"},
	{"removable", `{"access_mode": "read-only"}`, "file /media/stick/key\nremovable /media", "all"},
	{"hide", `{"access_mode": "read-only", "filesystem": {"hide": ["/srv/data", "~/lib/util.go", "~/absent"]}}`, "", twoHosts},
	{"hide-alone", `{"filesystem": {"hide": ["/srv/data"]}}`, "without /tmp\nwithout /var/tmp\nwithout /run", "all no-userns+"},
	{"hide-the-program", `{"filesystem": {"hide": ["/usr/bin/make"]}}`, "without /tmp\nwithout /var/tmp\nwithout /run", "all"},
	{"network-none", `{"network": {"mode": "none"}}`, "without /tmp\nwithout /var/tmp\nwithout /run\nsocket /srv/db.sock", "all no-userns no-userns+ nothing+"},
	{"network-host", `{"access_mode": "workspace-write", "network": {"mode": "host"}}`, "", "all no-userns+"},
	{"network-allow", `{"access_mode": "workspace-write", "network": {"mode": "allow", "allow": ["example.com:443"]}}`, "", "all"},
	{"network-listen", `{"access_mode": "workspace-write", "network": {"listen": [8080, "0.0.0.0:9000:80"]}}`, "", "all no-userns no-userns+"},
	{"network-listen-taken", `{"access_mode": "workspace-write", "network": {"mode": "allow", "listen": ["8080:53", "8081:2", 1]}}`, "", "all"},
	{"job", `{}`, "job /srv/data /home/u/w/out", "all"},
	{"job-input-alone", `{}`, "job /srv/data", "all"},
	{"workshop", `{"sandbox": {"root": "/home/u/w"}}`, "", "all no-userns+"},
	{"workshop-names", `{"sandbox": {"root": "/srv/shop"}, "filesystem": {"mounts": [{"source": "/srv/data", "target": "/src/lib/data", "mode": "ro"}, {"source": "/srv/lib", "target": "/src/lib", "mode": "ro"}]}}`,
		"dir /srv/lib/data\ndir /srv/shop/src/lib\nfile /srv/shop/page\nlink /srv/shop/in src", "all"},
	{"mounts-in-mounts", `{"filesystem": {"mounts": [{"source": "/srv/data", "target": "/a/none", "mode": "ro"}, {"source": "/srv/data", "target": "/a/file", "mode": "ro"}, {"target": "/t/new", "mode": "tmpfs"}, {"target": "/t", "mode": "tmpfs"}, {"source": "/srv/lib", "target": "/a", "mode": "rw"}]}}`,
		"file /srv/lib/file", "all"},
	{"workshop-taken", `{"sandbox": {"root": "/srv/shop"}, "filesystem": {"mounts": [{"source": "/srv/data", "target": "/docs", "mode": "ro"}]}}`,
		"dir /srv/shop/usr\nfile /srv/shop/etc\ndir /srv/shop/proc\nfile /srv/shop/tmp\ndir /srv/shop/srv/x\ndir /srv/shop/home\ndir /srv/shop/docs", "all"},
	{"workshop-restrict", `{"sandbox": {"root": "/home/u/w"}, "restrict": "/out"}`, "", "all"},
	{"workshop-readonly", `{"sandbox": {"root": "/home/u/w", "readonly": true}}`, "", "all"},
	{"record-in-the-workspace", `{"access_mode": "workspace-write"}`, "record /home/u/w/out/deep/r.json\ndir /home/u/w/out/deep", "all no-userns+"},
	{"environment", `{"environment": {"pass": ["PATH", "API_*"]}}`, "", "all"},
	{"dropped-variable", `{"access_mode": "read-only"}`, "drop SSH_AUTH_SOCK", "all"},
	{"not-yet", `{"access_mode": "read-only", "limits": {"memory": "1GiB"}, "max_turns": 5}`, "", "all all+"},
	{"budget", `{"access_mode": "read-only", "max_commands": 5}`, "", "all old no-listener no-listener+"},
	{"budget-recorded", `{"max_commands": 5, "on_exceed": "record"}`, "", "all"},
	{"limits", `{"access_mode": "read-only", "limits": {"memory": "64MiB", "cpus": 0.5, "pids": 16, "open_files": 64, "file_size": "1MiB", "timeout": "90s"}}`, "",
		"groups-v1 groups-v2 groups-leaf groups-hybrid no-groups no-groups+ no-groups-root no-groups-root+ no-groups-old"},
	{"limits-nested", `{"limits": {"memory": "64MiB", "cpus": 0.5, "pids": 16, "open_files": 64, "timeout": "90s"}}`, "", "nested-tight nested-loose nested-loose+"},
	{"limits-alone", `{"limits": {"memory": "64MiB", "pids": 16, "open_files": 64}}`, "", "groups-v2 groups-v1 no-groups"},
	{"limits-pids", `{"access_mode": "read-only", "limits": {"pids": 16}}`, "", "no-groups groups-v2 no-groups-root"},
	{"limits-hide-alone", `{"filesystem": {"hide": ["/srv/data"]}, "limits": {"memory": "64MiB"}}`, "dir /sys/fs/cgroup", "groups-v2 root-groups-v2"},
	{"limits-tmpfs", `{"filesystem": {"mounts": [{"label": "scratch", "target": "/opt", "mode": "tmpfs"}]}, "limits": {"memory": "64MiB"}}`, "dir /opt", "groups-v2"},
	{"allow", `{"access_mode": "workspace-write", "commands": {"allow": ["make", "sh", "./out/"]}}`, "", "all root abi0 abi0+ abi1 no-userns no-userns+ no-userns-abi0+ no-listener nothing+"},
	{"allow-alone", `{"commands": {"allow": ["make"]}}`, "", "all root abi0 abi1 no-userns root-linked root-linked+ old-kernel"},
	{"allow-in-the-workspace", `{"access_mode": "workspace-write", "commands": {"allow": ["make", "./tool", "./script"]}}`, "file /home/u/w/tool\nfile /home/u/w/script\nscript /home/u/w/script /usr/bin/sh", "all no-userns no-userns+"},
	{"allow-linked", `{"access_mode": "workspace-write", "commands": {"allow": ["make", "./tool"]}}`, "file /home/u/w/tool\nlinked /home/u/w/tool", "all all+"},
	{"allow-lacks-the-command", `{"access_mode": "read-only", "commands": {"allow": ["sh"]}}`, "", "all all+"},
	{"allow-lacks-the-interpreter", `{"access_mode": "read-only", "commands": {"allow": ["./run"]}}`, "file /home/u/w/run\nprogram /home/u/w/run /usr/bin/sh", "all"},
	{"allow-nothing", `{"commands": {"allow": []}}`, "", "all"},
	{"allow-what-is-not-there", `{"commands": {"allow": ["make", "mkae", "/usr/bin/nor-this"]}}`, "", "all"},
	{"allow-out-of-view", `{"filesystem": {"read": ["@system", "."]}, "commands": {"allow": ["make", "~/.cargo/bin/cargo"]}}`, "", "all"},
	{"allow-in-a-mount", `{"filesystem": {"read": ["@system"], "mounts": [{"label": "tools", "source": "/home/u/w/out", "target": "/tools", "mode": "rw"}]}, "commands": {"allow": ["make", "/tools/tool"]}}`, "file /home/u/w/out/tool", "all"},
	{"allow-and-deny", `{"access_mode": "workspace-write", "commands": {"allow": ["make", "sh", "./out/"], "deny": ["sh", "./out/log"]}}`, "", "all no-userns+"},
	{"deny", `{"access_mode": "workspace-write", "commands": {"deny": ["sh", "curl", "./main.go"]}}`, "", "all root abi0 no-userns no-userns+"},
	{"deny-alone", `{"commands": {"deny": ["sh"]}}`, "", "all no-userns"},
	{"deny-the-command", `{"commands": {"deny": ["make"]}}`, "", "all"},
	{"agent-codex", `{"access_mode": "workspace-write"}`, codexFacts, "all no-overlay no-layer old-kernel abi0 no-userns+ root"},
	{"agent-codex-read-only", `{"access_mode": "read-only"}`, codexFacts, "all"},
	{"agent-codex-read-list", `{"access_mode": "workspace-write", "filesystem": {"read": ["@system"]}}`, codexFacts, "all"},
	{"agent-codex-read-home", `{"access_mode": "read-only", "filesystem": {"read": ["@system", "~"]}}`, codexFacts, "all"},
	{"agent-codex-in-home", `{"access_mode": "workspace-write"}`, codexFacts + "\ncwd /home/u", "all"},
	{"agent-codex-in-home-read-only", `{"access_mode": "read-only"}`, codexFacts + "\ncwd /home/u", "all"},
	{"agent-codex-in-its-own", `{"access_mode": "workspace-write"}`, codexFacts + "\ncwd /home/u/.codex/trees/x\nfile /home/u/.codex/trees/x/.envrc", "all"},
	{"agent-codex-in-its-own-read-only", `{"access_mode": "read-only", "filesystem": {"write": ["out"]}}`, codexFacts + "\ncwd /home/u/.codex/trees/x\ndir /home/u/.codex/trees/x/out", "all"},
	{"agent-claude", `{"access_mode": "workspace-write"}`, claudeFacts, "all no-layer"},
	{"agent-claude-read-list", `{"access_mode": "read-only", "filesystem": {"read": ["@system"]}}`, claudeFacts, "all"},
	{"agent-claude-tmp", `{"access_mode": "workspace-write"}`, strings.ReplaceAll(claudeFacts, "/home/u", "/tmp/h") + "\nhome /tmp/h\ncwd /tmp/h/w\ndir /tmp/h/w", "all"},
	{"agent-claude-linked-home", `{"access_mode": "workspace-write", "filesystem": {"read": ["@system"]}}`, strings.ReplaceAll(claudeFacts, "/home/u", "/srv/h") + "\nwithout /home/u\nlink /home/u ../srv/h\ncwd /srv/w\ndir /srv/w", "all"},
	{"agent-home-root", `{"access_mode": "workspace-write"}`, "own write /.codex\nfile /.codex/log\nhome /", "all"},
	{"agent-home-hidden", `{"access_mode": "workspace-write", "filesystem": {"hide": ["~"]}}`, codexFacts + "\ncwd /srv/data", "all"},
	{"agent-programs", `{"access_mode": "workspace-write", "commands": {"allow": ["make", "~/.cargo/bin/cargo", "~/lib/"]}}`, codexFacts, "all"},
	{"agent-programs-home", `{"access_mode": "workspace-write", "commands": {"allow": ["make", "~/"]}}`, codexFacts, "all"},
	{"agent-secret", `{"access_mode": "workspace-write"}`, "own write /home/u/.ssh/codex\ndir /home/u/.ssh/codex\nown read /home/u/.docker", "all"},
	{"agent-holds-the-home", `{"access_mode": "read-only"}`, "own write /home\nown write /home/u/.codex\nfile /home/u/.codex/log", "all"},
	{"agent-astray", `{"access_mode": "workspace-write"}`, codexFacts + "\nfile /home/u/.codex/log\nlink /home/u/.codex/more ../.ssh\nown write /home/u/.codex/more", "all"},
	{"learn", `{"access_mode": "workspace-write"}`, "copied /home\ncopied /srv\ncopied /opt /opt/x is mounted there", "all root no-overlay no-layer no-userns+ no-listener"},
	{"learn-read-list", `{"access_mode": "read-only", "filesystem": {"read": ["@system", "~/lib"]}}`, "copied /home\ncopied /srv", "all"},
	{"learn-read-only", `{"access_mode": "read-only", "filesystem": {"hide": ["/srv/data"]}}`, "copied /home\ncopied /srv", "all"},
	{"learn-agent", `{"access_mode": "workspace-write"}`, codexFacts + "\ncopied /srv", "all no-layer"},
	{"script", `{"filesystem": {"read": ["@system", "."]}}`, "program /home/u/w/run /opt/python/bin/python3", "all"},
}

// TestGolden compares every Plan with a file as a whole. When a file was made, it was compared with
// docs/reference/spec.md; -update writes all files again, and then a person must read the
// difference.
func TestGolden(t *testing.T) {
	want := map[string]bool{"world.txt": true}
	for _, g := range goldens {
		for _, name := range strings.Fields(g.on) {
			file := g.name + "." + name + ".txtar"
			want[file] = true
			t.Run(g.name+"."+name, func(t *testing.T) { g.check(t, name, filepath.Join(plans, file)) })
		}
	}
	if len(want) < 50 {
		t.Fatalf("there are only %d cases", len(want))
	}
	files, err := os.ReadDir(plans)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] {
			t.Errorf("%s belongs to no case", f.Name())
		}
	}
}

func (g *golden) check(t *testing.T, name, file string) {
	host, effort := strings.CutSuffix(name, "+")
	lines, ok := world.Hosts[host]
	if !ok {
		t.Fatalf("there is no host %q", host)
	}
	doc := g.spec
	if effort {
		doc = strings.TrimSuffix(doc, "}") + `, "best_effort": ["*"]}`
		doc = strings.Replace(doc, "{, ", "{", 1)
	}
	w := world.Workstation(t, lines, g.facts)
	_, plan, err := w.Build(doc)
	got := "-- spec --\n" + doc + "\n-- host --\n" + section(lines) + section(g.facts)
	if err != nil {
		got += "-- problems --\n" + world.ProblemText(t, err)
	} else {
		got += "-- plan --\n" + string(plan.AppendJSON(nil)) + "\n"
	}
	world.Golden(t, file, got)
}

func section(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n"
}

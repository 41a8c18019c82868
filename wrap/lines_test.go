package wrap_test

import (
	"strings"
	"testing"

	"sbx/wrap"
	"sbx/wrap/world"
)

func linesFor(t *testing.T, doc string, facts ...string) (map[string]wrap.Enforcement, error) {
	t.Helper()
	_, plan, err := world.Workstation(t, facts...).Build(doc)
	if err != nil {
		return nil, err
	}
	m := map[string]wrap.Enforcement{}
	for _, e := range plan.Enforcement {
		m[string(e.Field)] = e
	}
	return m, nil
}

// readonly is a rule like any other: with neither namespaces nor Landlock it cannot be enforced.
func TestReadonlyWithNothing(t *testing.T) {
	for _, doc := range []string{`{"readonly": true}`, `{"sandbox": {"readonly": true}}`} {
		if m, err := linesFor(t, doc, world.Hosts["no-userns-abi0"]); err == nil {
			t.Errorf("%s: not refused: %+v", doc, m)
		}
	}
}

func TestWriteListNeedsTruncate(t *testing.T) { // before ABI 3 Landlock does not restrict truncate(2)
	for _, doc := range []string{`{"filesystem": {"write": ["out"]}}`, `{"readonly": true}`, `{"filesystem": {"read": ["@system", "."]}}`} {
		if m, err := linesFor(t, doc, world.Hosts["no-userns-abi1"]); err == nil {
			t.Errorf("%s: not refused: %+v", doc, m)
		}
	}
}

// Without scopes abstract sockets stay open on the host's network, and signals without a pid
// namespace.
func TestSideDoorsWithoutScopes(t *testing.T) {
	for _, row := range [][2]string{
		{`{"access_mode": "workspace-write", "network": {"mode": "host"}}`, "landlock 3"},
		{`{"access_mode": "workspace-write", "network": {"mode": "host"}}`, "landlock 0"},
		{`{"access_mode": "workspace-write", "best_effort": ["*"]}`, world.Hosts["no-userns-abi0"]},
	} {
		m, err := linesFor(t, row[0], row[1])
		if err != nil || m["side_doors"].Status == wrap.Enforced {
			t.Errorf("%s on %q: %v %+v", row[0], row[1], err, m["side_doors"])
		}
	}
}

func TestEnvironmentValuesAreNotShown(t *testing.T) {
	m, err := linesFor(t, `{"environment": {"set": {"A": "s3cret"}}}`)
	if err != nil || strings.Contains(m["environment.set"].Asked, "s3cret") {
		t.Errorf("%v %+v", err, m["environment.set"])
	}
}

func TestNotesReachTheirLines(t *testing.T) {
	m, err := linesFor(t, `{"working_dir": "/srv"}`)
	if err != nil || strings.Count(m["working_dir"].Reason, "only says") != 1 {
		t.Errorf("%v %+v", err, m["working_dir"])
	}
	m, err = linesFor(t, `{"access_mode": "workspace-write"}`)
	if err != nil || !strings.Contains(m["network"].Reason, "follows from access_mode") {
		t.Errorf("%v %+v", err, m["network"])
	}
	m, err = linesFor(t, `{"filesystem": {"write": ["out"]}, "readonly": true}`)
	if err != nil || !strings.Contains(m["filesystem.write"].Reason, "readonly is true") {
		t.Errorf("%v %+v", err, m["filesystem.write"])
	}
}

// Below ABI 6, kill(0) reaches the caller's process group.
func TestOwnGroup(t *testing.T) {
	_, plan, err := world.Workstation(t, "landlock 3").Build(`{"access_mode": "workspace-write"}`)
	if err != nil || !plan.OwnGroup {
		t.Errorf("%v, the command stays in the caller's process group", err)
	}
}

// /dev/shm is the only directory of /dev that does not belong to the kernel: a spec may name it and
// paths in it.
func TestOnlySharedMemoryOfDevIsWritten(t *testing.T) {
	for path, want := range map[string]bool{
		"/dev/shm": true, "/dev/shm/mine": true, "/dev": false, "/dev/shmx": false, "/dev/pts": false, "/proc/sys": false, "/sys/fs": false,
	} {
		_, err := linesFor(t, `{"filesystem": {"write": ["`+path+`"]}}`, "dir /dev/shm/mine", "dir /dev/shmx", "dir /dev/pts", "dir /sys/fs")
		if (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

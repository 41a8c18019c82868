package sbx_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"sbx"
	"sbx/spec"
)

func ExampleCommand() {
	s, err := spec.Decode("spec.json", []byte(`{"access_mode": "read-only", "network": {"mode": "none"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	cmd := sbx.Command(context.Background(), s, "sh", "-c", "echo from the inside; echo x >file || exit 3")
	out, err := cmd.Output()
	fmt.Printf("%s", out)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		fmt.Println(exit.ExitCode(), strings.Contains(string(exit.Stderr), "Read-only file system"))
	}
	// Output:
	// from the inside
	// 3 true
}

// A spec can be made in Go as well.
func ExampleCmd_Record() {
	s := &spec.SandboxSpec{
		AccessMode: spec.Some(spec.ReadOnly),
		Limits:     spec.Some(spec.Limits{OpenFiles: spec.Some(64)}),
	}
	cmd := sbx.Command(context.Background(), s, "sh", "-c", "exit 3")
	fmt.Println(cmd.Run())
	record, err := cmd.Record()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(record.State, *record.Exit.Code, record.AccessMode)
	for _, e := range record.Enforcement {
		if e.Field == "limits.open_files" {
			fmt.Println(e.Asked, e.Status, e.By)
		}
	}
	// Output:
	// exit status 3
	// exited 3 read-only
	// 64 enforced RLIMIT_NOFILE
}

func ExampleRefused() {
	s := &spec.SandboxSpec{AccessMode: spec.Some(spec.ReadOnly), WorkingDir: spec.Some("/no/such/folder")}
	err := sbx.Command(context.Background(), s, "true").Run()
	var refused *sbx.Refused
	if errors.As(err, &refused) {
		fmt.Println(refused.Field)
		fmt.Println(refused.Why)
	}
	// Output:
	// working_dir
	// cannot start in /no/such/folder: /no/such/folder does not exist
}

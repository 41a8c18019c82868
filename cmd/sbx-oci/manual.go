package main

import (
	"strings"

	"sbx/internal/doc"
	"sbx/internal/oci"
)

const (
	about = "Stands in the place of runc under containerd, Docker, podman and Kubernetes: it\n" +
		"edits a copy of the config.json of a container that is made, so that a\n" +
		"SandboxSpec holds in it, and hands every verb with its flags to runc or crun.\n" +
		"Its own flags come before the verb. A record of each container lies in\n" +
		"/var/lib/sbx/runs, and by the container's id in /var/lib/sbx/containers until\n" +
		"that is deleted.\n"
	specs = "Each narrows the one before: the files of the node's policy in the order of\n" +
		"their names, the class's, those of --sbx-spec, and the container's annotations\n" +
		"dev.sbx.spec-file and dev.sbx.spec. A bad or wider one, and the container is not\n" +
		"made. Without any it runs as under runc.\n"
	statuses = "The runtime's; 1 where a container is refused; 2 for a bad flag.\n"
	examples = "docker run --runtime sbx IMAGE    # daemon.json: {\"runtimes\": {\"sbx\": {\"path\": \"/usr/bin/sbx-oci\"}}}\n" +
		"podman --runtime /usr/bin/sbx-oci run --annotation 'dev.sbx.spec=access_mode: read-only' IMAGE\n" +
		"XDG_STATE_HOME=/var/lib sbx runs\n"
)

// manual returns the manual page sbx-oci(1) as roff.
func manual() string {
	var b strings.Builder
	b.WriteString(".TH SBX\\-OCI 1\n.SH NAME\nsbx\\-oci \\- an OCI runtime that holds a spec on containers\n" +
		".SH SYNOPSIS\n.B sbx\\-oci\n[own flags] [flags of the runtime]\n.I verb\n[flags]\n.br\n.B sbx\\-oci \\-\\-sbx\\-manual\n" +
		".SH DESCRIPTION\n" + doc.Roff(about) + ".SH SPECS\n" + doc.Roff(specs) + ".SH FLAGS\n")
	for _, f := range [][2]string{
		{"--sbx-policy DIR", "The node's policy, " + oci.PolicyDir + " by default: *.yaml and *.json; classes/NAME.yaml for who calls this program as sbx-oci-NAME; " +
			"spec-folders, the directories of which dev.sbx.spec-file may name a file, one a line."},
		{"--sbx-spec FILE", "A further spec."},
		{"--sbx-runtime PATH", "The runtime that makes containers, by default runc, else crun. Also: SBX_OCI_RUNTIME."},
		{"--sbx-state DIR", "Where records and what containers need are kept, in place of /var/lib and /run/sbx-oci."},
		{"--sbx-manual", "Print this page."},
	} {
		b.WriteString(".TP\n.B " + doc.Roff(f[0]) + "\n" + doc.Roff(f[1]) + "\n")
	}
	b.WriteString(".SH EXIT STATUS\n" + doc.Roff(statuses) + ".SH EXAMPLES\n.EX\n" + doc.Roff(examples) + ".EE\n.SH SEE ALSO\n.BR sbx\\-exec (1),\n.BR sbx\\-spec (5),\n.BR runc (8)\n")
	return b.String()
}

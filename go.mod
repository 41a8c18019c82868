module sbx

go 1.26.0

require (
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/landlock-lsm/go-landlock v0.11.0 // indirect
	github.com/moby/profiles/seccomp v0.2.3 // indirect
	github.com/opencontainers/runtime-spec v1.2.1 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	github.com/seccomp/libseccomp-golang v0.11.1 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.14.0 // indirect
	kernel.org/pub/linux/libs/security/libcap/psx v1.2.77 // indirect
)

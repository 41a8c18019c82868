//go:build tools

package tools

import (
	_ "github.com/opencontainers/runtime-tools/cmd/runtimetest"
	_ "github.com/opencontainers/runtime-tools/validation/util"
)

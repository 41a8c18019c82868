package wrap

import (
	"strconv"

	"sbx/internal/view"
)

func under(path, dir string) bool { return view.Within(path, dir) }

func parent(path string) string { return view.Parent(path) }

func itoa(n int) string { return strconv.Itoa(n) }

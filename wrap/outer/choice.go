package outer

import (
	"slices"
	"strings"

	"sbx/spec"
)

func toolOf(name string) *tool {
	if i := slices.IndexFunc(tools[:], func(t *tool) bool { return t.name == name }); i >= 0 {
		return tools[i]
	}
	return nil
}

// Choice tells why no wrapper of that name, with that image, can be made for any
// spec; nil where one can.
func Choice(name, image string) error {
	t := toolOf(name)
	switch {
	case t == nil:
		return spec.Problems{{On: name, Do: "wrap by it", Why: "it is not one of " + strings.Join(Wrappers(), ", ")}}
	case t.image && image == "":
		return spec.Problems{{Do: "run an image by " + name, Why: "none is named", Help: "give --image REF"}}
	case t.image && strings.HasPrefix(image, "-"):
		return spec.Problems{{On: image, Do: "run it as an image by " + name, Why: "the tool would take it for a flag", Help: "give --image REF"}}
	}
	return nil
}

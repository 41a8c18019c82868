package wrap

import (
	"strconv"
	"strings"
)

// maxListed is the greatest number of programs that the record lists.
const maxListed = 16

// namedPrograms reports which files are read-only because settings name them as programs, and
// whether the search for such files was complete.
func (b *guards) namedPrograms() {
	var list []string
	more := 0
	for i := range b.plan.Watch.Protected {
		switch p := &b.plan.Watch.Protected[i]; {
		case p.By == "":
		case len(list) == maxListed:
			more++
		default:
			list = append(list, strings.TrimPrefix(p.Path, b.r.WorkingDir.Real+"/")+" ("+p.By+")")
		}
	}
	if len(list) > 0 {
		why := "read-only too, since settings name them as programs: " + strings.Join(list, ", ")
		if more > 0 {
			why += " and " + strconv.Itoa(more) + " more"
		}
		b.fault(FieldProtected, Enforced, why)
	}
	if b.h.NamedCut != "" {
		b.fault(FieldProtected, Degraded, "not all programs that settings name were looked for: "+b.h.NamedCut)
	}
}

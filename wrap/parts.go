package wrap

import "sbx/internal/view"

// layers is what lies over one another.
type layers struct {
	*places
	items  []item
	held   int             // slots handed out
	there  map[string]bool // what was made in the new tree
	pinned map[string]bool // directories that cannot be renamed, for what is in them

	opensAt map[string]int // the slots of the private directories that take their place late
	host    ofHost

	// The record would lie directly in a directory that is put together anew, where it is
	// left out: the list of that directory's names is older than the record.
	recordOut bool
}

// homeLayer is an agent's home.
type homeLayer struct {
	*layers
	home   homeKind
	copies []item // of its files
}

// programs is which files may be executed.
type programs struct {
	*layers
	denied []string      // those that commands.deny names
	runs   []*Executable // what commands.allow names
}

// The others that make a part of the Plan.
type (
	limiter    struct{ *draft }     // limits
	counting   struct{ *draft }     // who counts programs, and answers calls
	agents     struct{ *draft }     // what the agent itself is to keep to
	network    struct{ *places }    // who connects, and to what
	virtual    struct{ *places }    // the paths of a workshop's tree, counted from its root
	rules      struct{ *places }    // Landlock's
	nesting    struct{ rules }      // a sandbox within another
	teller     struct{ *places }    // what an sbx inside is told
	guards     struct{ *layers }    // what is hidden by a mount of its own, and protected names
	covering   struct{ *homeLayer } // directories of which names are hidden
	fieldLines struct{ *homeLayer } // of the record
)

// homeKind is what an agent's home is to it.
type homeKind uint8

// ofHost is what of the host's own files is shown over the base.
type ofHost struct{ devices, memory, workspace, reads, broker, mounts, run []item }

// builder is the order in which the parts of a Plan are made.
type builder struct {
	*homeLayer
	virtual  virtual
	covering covering
	guards   guards
	programs programs
	rules    rules
	network  network
	lines    fieldLines
}

func newBuilder(d *draft) *builder {
	p := &places{draft: d, view: view.New(64)}
	l := &layers{places: p, items: make([]item, 0, 80), there: map[string]bool{}, pinned: map[string]bool{}, opensAt: map[string]int{}}
	home := &homeLayer{layers: l}
	return &builder{homeLayer: home, virtual: virtual{p}, covering: covering{home}, guards: guards{l}, programs: programs{layers: l},
		rules: rules{p}, network: network{p}, lines: fieldLines{home}}
}

const (
	homeAsIs    homeKind = iota // no layer
	homePrivate                 // a private directory, as the spec has it without an agent
	homeOverlay                 // a writable overlay: what is written lands in the sandbox's own layer
	homeRebuilt                 // a private directory into which what the host's has is bound
)

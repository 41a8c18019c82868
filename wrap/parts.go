package wrap

import "sbx/internal/view"

// layers has the items of the sandbox's tree, each laid over the ones before.
type layers struct {
	*places
	items  []item
	held   int             // slots in use
	renews map[string]int  // the indices of plan.Watch.Renew by the targets
	there  map[string]bool // what was made in the new tree
	pinned map[string]bool // directories that cannot be renamed, for what is in them

	opensAt map[string]int // slots of the private directories that are mounted late
	host    ofHost

	// recordOut is true if the record lies directly in a directory that is rebuilt from its names.
	// The names were listed before the record existed, so the rebuilt directory lacks it.
	recordOut bool
}

// homeLayer decides on the home of an agent.
type homeLayer struct {
	*layers
	home   homeKind
	copies []item // private copies of the agent's files
}

// programs decides which files may be executed.
type programs struct {
	*layers
	denied []string      // those that commands.deny names
	runs   []*Executable // what commands.allow names

	isDenied map[string]bool // denied
	runsAt   map[string]Kind // the kinds of runs, by the paths that they really have
}

// These are the other parts of a Plan, by subject.
type (
	limiter    struct{ *draft }     // limits
	counting   struct{ *draft }     // the counter of programs, and the listener
	agents     struct{ *draft }     // the fields that the agent itself enforces
	network    struct{ *places }    // sockets and connections
	virtual    struct{ *places }    // the paths of a workshop's tree, relative to its root
	rules      struct{ *places }    // the Landlock ruleset
	nesting    struct{ rules }      // a sandbox within another
	reporter   struct{ *places }    // the report to an sbx inside
	guards     struct{ *layers }    // paths hidden by a mount on them, and protected names
	covering   struct{ *homeLayer } // directories in which single names are hidden
	fieldLines struct{ *homeLayer } // the lines of Enforcement
)

// homeKind is how a sandbox shows an agent its home.
type homeKind uint8

// ofHost has the host's files to show over the base, by their purpose.
type ofHost struct{ devices, memory, workspace, reads, broker, mounts, run []item }

// builder makes the parts of a Plan with mounts, in their order.
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
	l := &layers{places: p, items: make([]item, 0, 80), there: map[string]bool{}, pinned: map[string]bool{}, renews: map[string]int{}, opensAt: map[string]int{}}
	home := &homeLayer{layers: l}
	return &builder{homeLayer: home, virtual: virtual{p}, covering: covering{home}, guards: guards{l}, programs: programs{layers: l, isDenied: map[string]bool{}, runsAt: map[string]Kind{}},
		rules: rules{p}, network: network{p}, lines: fieldLines{home}}
}

const (
	homeAsIs    homeKind = iota // no layer
	homePrivate                 // a private directory, as the spec would have without an agent
	homeOverlay                 // a writable overlay: writes go to the sandbox's own layer
	homeRebuilt                 // a private directory with binds of the entries of the host's home
)

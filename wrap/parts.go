package wrap

import (
	"sbx/internal/view"
	"sbx/spec"
)

// draft is a Plan while it is made: what it is made from, and what is known of it so
// far.
//
// What makes a part of the Plan embeds as much as it needs of draft, places, layers and
// homeLayer, of which each has the one before it, and no more: what a document asks, what
// is where, what is laid over it, an agent's home.
type draft struct {
	r        *spec.Resolved
	h        *Host
	req      Request
	plan     Plan
	problems spec.Problems
	faults   []fault // what makes a line other than enforced
	mute     string  // why the supervisor can answer no calls
	heldBy   heldBy  // by which mechanism a limit is held
	bounded  string  // what bounds the number of processes without limits.pids
}

// places answers what is to be seen at a path inside, by the layers so far, and what may
// become of it.
type places struct {
	*draft
	view     view.Tree
	prefix   string         // where the new root is put together; "" in place
	whole    bool           // the new root has all that the host's has
	binds    []spec.MountAt // the spec's mounts, and what a job or a workshop puts in place
	private  []string       // directories that are private, by their path inside
	writable []spec.Path    // what is bound in writable, a directory before what is in it
	opened   []string       // secret directories in which something is opened
	named    []string       // protected names that the spec writes by name, and so opens
	namings  [][2]string    // links of a workshop's tree: the virtual path and the own
	unplaced []string       // what of it has no virtual path, and why
}

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

package wrap

import (
	"sbx/internal/view"
	"sbx/spec"
)

// draft is a Plan while it is made: what it is made from, and what is known of it so
// far.
//
// What makes a part of the Plan embeds as much as it needs of draft, layers, places,
// mounter and homeLayer, of which each has the one before it, and no more: what a
// document asks, what is in view, what is where, what is mounted, an agent's home.
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

// layers is what the command sees, layer over layer.
type layers struct {
	*draft
	view view.Tree
}

// places answers what is to be seen at a path inside, as the Plan stands so far, and
// what may become of it.
type places struct {
	*layers
	prefix   string         // where the new root is put together; "" in place
	whole    bool           // the new root has all that the host's has
	binds    []spec.MountAt // the spec's mounts, and what a job or a workshop puts in place
	private  []string       // directories that are private, by their path inside
	writable []spec.Path    // what is bound in writable, a directory before what is in it
	opened   []string       // secret directories in which something is opened
	named    []string       // protected names that filesystem.write names, and so opens
	namings  [][2]string    // links of a workshop's tree: the virtual path and the own
	unplaced []string       // what of it has no virtual path, and why
}

// mounter writes the mounts that make what the command sees.
type mounter struct {
	*places
	held     int             // slots handed out
	slots    map[taken][]int // clones taken
	made     map[string]bool // what was made in the new tree
	pinned   map[string]bool // directories that cannot be renamed, for what is in them
	openedAt map[string]int  // the slots of the private directories that take their place late

	// The record would lie directly in a directory that is put together anew, where it is
	// left out: the list of that directory's names is older than the record.
	recordOut bool
}

// homeLayer is an agent's home.
type homeLayer struct {
	*mounter
	home   homeKind
	copies []homeCopy // of its files
}

// programs is which files may be executed.
type programs struct {
	*mounter
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
	hiding     struct{ *mounter }   // what is hidden by a mount of its own
	guards     struct{ *mounter }   // protected names
	covering   struct{ *homeLayer } // directories of which names are hidden
	fieldLines struct{ *homeLayer } // of the record
)

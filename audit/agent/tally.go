package agent

// Bounds on the data that is kept while reading. Together with one line of a stream
// (maxLine) and one of a rollout file (maxRollout) it stays below 8 MiB.
const (
	maxTools = 200
	maxCalls = 512 // calls whose result may still come, or came recently
)

// Wish is a tool call that the model requested.
type Wish struct {
	Name string // the agent's own name for the tool
	ID   string // the agent's id of the call, cut at 256 bytes
	// As are Claude's names for the tool, each of which must be allowed. A codex
	// file_change is Write, Edit or both.
	As []string
	// Targets are matched against the parentheses of patterns: a command, a path, a URL,
	// the kind of a sub-agent. Cut means that they are incomplete or unknown.
	Targets []string
	Cut     bool
}

// Hooks are called from within Write, in the order of the stream, each at the first sign
// of its event. Any may be nil.
type Hooks struct {
	Turn func(n int) // the n-th turn has begun; n counts from 1
	Tool func(Wish)
}

// verdict is the outcome of a call.
type verdict uint8

const (
	open verdict = iota // no result yet
	ran
	refused
)

// call is a wish whose result may still come.
type call struct {
	id    string
	tool  int // index into tally.tools, -1 if the tool is not in it
	name  string
	shell bool
	state verdict
}

// tally holds the counts of one stream or rollout file, in bounded space.
type tally struct {
	hooks Hooks

	session string
	version string
	turns   int
	shell   int
	tokens  Tokens
	metered bool // tokens is known
	end     End
	ended   bool
	subs    bool // a sub-agent was requested

	speaking bool // a turn is in progress, for agents whose turns have no id
	count    int  // the number of wishes
	reported int  // the number of wishes by the agent's own count

	tools   []Tool
	byName  map[string]int
	omitted int // calls of tools beyond maxTools
	evicted int // calls whose result could not be attributed any more

	calls  []call // a ring buffer
	next   int
	byID   map[string]int
	recent recent

	blocks []block // claude's, kept for the next line

	events  int // lines that were events of this agent
	damaged int // lines that begin like an object and are invalid
}

// asked counts a wish, unless one with the same id was counted already.
func (t *tally) asked(w Wish, shell bool) {
	if t.knows(w.ID) {
		return
	}
	w.Name = clipString(w.Name, maxName)
	t.count++
	at := t.tool(w.Name)
	if at >= 0 {
		t.tools[at].Asked++
	} else {
		t.omitted++
	}
	if shell {
		t.shell++
	}
	t.remember(call{id: w.ID, tool: at, name: w.Name, shell: shell})
	if t.hooks.Tool != nil {
		t.hooks.Tool(w)
	}
}

// tool returns a tool's index in t.tools and adds the tool if necessary; -1 if there is no
// room.
func (t *tally) tool(name string) int {
	if at, ok := t.byName[name]; ok {
		return at
	}
	if len(t.tools) == maxTools {
		return -1
	}
	if t.byName == nil {
		t.byName = map[string]int{}
	}
	t.byName[name] = len(t.tools)
	t.tools = append(t.tools, Tool{Name: name})
	return len(t.tools) - 1
}

// remember keeps a call, in place of the oldest once there are maxCalls.
func (t *tally) remember(c call) {
	if c.id == "" { // its result could not be attributed
		t.evicted++
		return
	}
	if t.byID == nil {
		t.byID = map[string]int{}
	}
	if len(t.calls) < maxCalls {
		t.byID[c.id] = len(t.calls)
		t.calls = append(t.calls, c)
		return
	}
	old := &t.calls[t.next]
	if old.state == open {
		t.evicted++
	}
	delete(t.byID, old.id)
	*old = c
	t.byID[c.id] = t.next
	t.next = (t.next + 1) % maxCalls
}

// answered counts a call's result. A later denial replaces an earlier result, since a
// stream may list denials at its end.
func (t *tally) answered(id string, v verdict) {
	at, ok := t.byID[id]
	if !ok {
		return
	}
	c := &t.calls[at]
	if c.state == refused || c.state == v {
		return
	}
	if c.tool >= 0 {
		tool := &t.tools[c.tool]
		if c.state == ran {
			tool.Ran--
		}
		if v == ran {
			tool.Ran++
		} else {
			tool.Refused++
		}
	}
	if v == refused && c.shell {
		t.shell--
	}
	c.state = v
}

// knows reports whether a call with this id is kept.
func (t *tally) knows(id string) bool {
	_, ok := t.byID[id]
	return ok
}

// calledBy returns the name of the tool of the call with this id, "" if it is not kept.
func (t *tally) calledBy(id *field) string {
	if at, ok := t.byID[id.text(maxID)]; ok {
		return t.calls[at].name
	}
	return ""
}

// turn counts a turn. An end that was reported before is void, since the agent continues.
func (t *tally) turn() {
	t.turns++
	t.ended = false
	if t.hooks.Turn != nil {
		t.hooks.Turn(t.turns)
	}
}

// over stores the reported end.
func (t *tally) over(completed bool, reason string) {
	t.ended, t.end = true, End{Completed: completed, Reason: reason}
}

// recent is a bounded set of ids that forgets the oldest ones. It keeps 64-bit hashes, so
// a collision is negligible.
type recent struct {
	last uint64 // the hash of the last id passed to add
	sets [256][8]uint64
	next [256]uint8
}

// add adds an id and reports whether it is new.
func (r *recent) add(id []byte) bool {
	h := hash(id)
	if h == r.last {
		return false
	}
	r.last = h
	set := &r.sets[h%256]
	for _, known := range set {
		if known == h {
			return false
		}
	}
	set[r.next[h%256]%8] = h
	r.next[h%256]++
	return true
}

// hash is FNV-1a, never 0.
func hash(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return max(h, 1)
}

package agent

// The bounds of what is kept while reading. Together with one line (maxLine)
// and a rollout's (maxRollout) they stay below 8 MiB.
const (
	maxTools = 200
	maxCalls = 512 // calls whose result may still come, or came lately
)

// Wish is a call that the model asked for. Whether it runs is told later.
type Wish struct {
	Name string // the agent's own name for the tool
	ID   string // as the agent has it, at most 256 bytes of it
	Sub  bool   // asked for by a sub-agent
	// As is what the call amounts to in Claude's words: each of them must be
	// allowed. A codex file_change is Write, Edit or both.
	As []string
	// Targets is what a pattern's parentheses are held against: a command, a
	// path, a URL, the kind of a sub-agent. Cut says that there is more of it, or
	// that it could not be seen.
	Targets []string
	Cut     bool
}

// Answer is what became of a wish.
type Answer struct {
	Name string
	ID   string
	Ran  bool // false: it was refused
}

// Hooks are called from within Write, in the order of the stream, each at the
// first sign of what it tells. Any may be nil.
type Hooks struct {
	Turn   func(n int) // the n-th turn has begun; n counts from 1
	Tool   func(Wish)
	Answer func(Answer)
}

// verdict is what a result says of its call.
type verdict uint8

const (
	open verdict = iota // no result yet
	ran
	refused
)

// call is a wish whose result may still come.
type call struct {
	id    string
	tool  int // index into tools, -1 where it was not kept
	name  string
	shell bool
	state verdict
}

// tally counts in bounded space.
type tally struct {
	hooks Hooks

	session string
	version string
	turns   int
	shell   int
	tokens  Tokens
	metered bool // tokens were told
	end     End
	ended   bool
	subs    bool // a sub-agent was asked for

	speaking bool // a turn goes on, where the end of one is told and not its id
	count    int  // wishes
	reported int  // wishes by the agent's own count

	tools   []Tool
	byName  map[string]int
	omitted int // calls of tools beyond maxTools
	evicted int // calls whose result would no longer be known

	calls  []call // a ring
	next   int
	byID   map[string]int
	recent recent

	blocks []block // claude's, kept for the next line

	events  int // lines that were events of this agent
	damaged int // lines that began as an object and could not be read
}

// asked counts a wish; one that is known by its id is not counted again.
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

// tool is the place of a tool's line, which is made where there is room.
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

// remember keeps a call in place of the oldest.
func (t *tally) remember(c call) {
	if c.id == "" { // no result can be told to be its own
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

// answered takes a call's result. Of several the refusal stays: a list of
// refusals may come at the end.
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
	if t.hooks.Answer != nil {
		t.hooks.Answer(Answer{Name: c.name, ID: c.id, Ran: v == ran})
	}
}

// knows tells whether the call was asked for lately.
func (t *tally) knows(id string) bool {
	_, ok := t.byID[id]
	return ok
}

// calledBy is the name of the tool that was called, "" where it is not known.
func (t *tally) calledBy(id *field) string {
	if at, ok := t.byID[id.text(maxID)]; ok {
		return t.calls[at].name
	}
	return ""
}

// turn counts a turn; the agent goes on, whatever end was told before.
func (t *tally) turn() {
	t.turns++
	t.ended = false
	if t.hooks.Turn != nil {
		t.hooks.Turn(t.turns)
	}
}

// over takes the stream's last word.
func (t *tally) over(completed bool, reason string) {
	t.ended, t.end = true, End{Completed: completed, Reason: reason}
}

// recent is a set of ids that forgets the oldest. It keeps hashes: an id that
// comes again would have to meet another one's in 2^64.
type recent struct {
	last uint64 // the id that was added or asked about last
	sets [256][8]uint64
	next [256]uint8
}

// add tells whether id is new.
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

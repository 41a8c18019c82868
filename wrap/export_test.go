package wrap

// Package wrap_test, whose machine is made up by package world, tests these names too.
const SocketsApart = socketsApart

var (
	ItemOf         = itemOf
	MemorySettings = memorySettings
	CPUSettings    = cpuSettings
	PIDsSettings   = pidsSettings
	SocketShare    = socketShare
)

func (p *Plan) IsMountPoint(path string) bool { return p.isMountPoint(path) }

func (p *Plan) Writes(path string) bool { return p.writes(path) }

func (c Counter) By() string { return c.by() }

// Forget drops the advice found so far.
func (a *Adviser) Forget() { a.tried, a.known = nil, nil }

package spec

import "strings"

// preset is a set of paths that a name with "@" in filesystem.read or write stands for.
type preset struct {
	name, why string
	gives     string // the power over the host that writing there gives
	socket    bool   // commands connect to it: only filesystem.write opens it
	loud      bool   // sbx prints gives before each start
	places    []presetPlace
}

// presetPlace is one path of a preset: path, unless a variable moves it. The first variable that is
// set counts.
type presetPlace struct {
	path string // "" for none without a variable
	vars []presetVar
}

// presetVar moves a path to the value of a variable followed by below.
type presetVar struct {
	name, below string
	// read converts the value to a path; nil if the value is the path.
	read func(value string, get func(string) string) string
}

const cacheHome = "XDG_CACHE_HOME"

// presets are the caches of toolchains and the sockets of common services. No cache directory contains
// credentials, or programs that the caller runs. A cache is found by its tool's variables; the
// tools' configuration files are not read.
var presets = []preset{
	{name: "@npm", why: "npm's cache of packages, and its logs", gives: "a later npm takes packages from the cache that no lock file has a checksum of", places: []presetPlace{
		{"~/.npm/_cacache", []presetVar{{"npm_config_cache", "/_cacache", nil}, {"NPM_CONFIG_CACHE", "/_cacache", nil}}},
		{"~/.npm/_logs", []presetVar{{"npm_config_cache", "/_logs", nil}, {"NPM_CONFIG_CACHE", "/_logs", nil}}},
	}},
	{name: "@pip", why: "pip's cache of downloads and built wheels", gives: "a later pip installs wheels from the cache", places: []presetPlace{
		{"~/.cache/pip", []presetVar{{"PIP_CACHE_DIR", "", nil}, {cacheHome, "/pip", nil}}},
	}},
	{name: "@go", why: "Go's caches of builds and modules", gives: "later builds link what is in the cache", places: []presetPlace{
		{"~/.cache/go-build", []presetVar{{"GOCACHE", "", nil}, {cacheHome, "/go-build", nil}}},
		{"~/go/pkg/mod", []presetVar{{"GOMODCACHE", "", nil}, {"GOPATH", "/pkg/mod", firstPath}}},
		{"~/go/pkg/sumdb", []presetVar{{"GOPATH", "/pkg/sumdb", firstPath}}},
	}},
	{name: "@cargo", why: "cargo's crates and their index", gives: "later builds compile the sources in the cache", places: []presetPlace{
		{"~/.cargo/registry", []presetVar{{"CARGO_HOME", "/registry", nil}}},
		{"~/.cargo/git", []presetVar{{"CARGO_HOME", "/git", nil}}},
	}},
	{name: "@maven", why: "Maven's local repository", gives: "later builds run the plugins and link the archives in it", places: []presetPlace{
		{"~/.m2/repository", nil},
	}},
	{name: "@ccache", why: "ccache's cache of compiled objects", gives: "later builds link the objects in the cache", places: []presetPlace{
		{"~/.cache/ccache", []presetVar{{"CCACHE_DIR", "", nil}, {cacheHome, "/ccache", nil}}},
	}},
	{name: "@ssh-agent", why: "the agent of SSH_AUTH_SOCK", gives: "the command logs in and signs with every key that the agent holds", socket: true, places: []presetPlace{
		{"", []presetVar{{"SSH_AUTH_SOCK", "", nil}}},
	}},
	{name: "@gpg-agent", why: "GnuPG's agent", gives: "the command signs and decrypts with the keys that the agent holds or asks a passphrase for", socket: true, places: []presetPlace{
		{"~/.gnupg/S.gpg-agent", []presetVar{{"GNUPGHOME", "/S.gpg-agent", nil}}},
		{"", []presetVar{{"XDG_RUNTIME_DIR", "/gnupg/S.gpg-agent", nil}}},
	}},
	{name: "@docker", why: "Docker's engine", gives: "whoever controls Docker can read and change every file that its engine can: where the engine runs as root, the command is root of this machine", socket: true, loud: true, places: []presetPlace{
		{"/var/run/docker.sock", []presetVar{{"DOCKER_HOST", "", unixAddress}}},
	}},
	{name: "@display", why: "the display: Wayland and X11", gives: "the command may see and drive the windows of other programs: under X11 all of them", socket: true, places: []presetPlace{
		{"", []presetVar{{"WAYLAND_DISPLAY", "", inRuntimeDir}}},
		{"", []presetVar{{"DISPLAY", "", displaySocket}}},
	}},
}

// firstPath returns the first of a list of paths.
func firstPath(value string, _ func(string) string) string {
	first, _, _ := strings.Cut(value, ":")
	return first
}

func unixAddress(value string, _ func(string) string) string {
	path, ok := strings.CutPrefix(value, "unix://")
	if !ok {
		return ""
	}
	return path
}

func inRuntimeDir(value string, get func(string) string) string {
	if strings.HasPrefix(value, "/") {
		return value
	}
	dir := get("XDG_RUNTIME_DIR")
	if !strings.HasPrefix(dir, "/") {
		return ""
	}
	return dir + "/" + value
}

// displaySocket returns the socket of a display such as ":0" or ":0.1".
func displaySocket(value string, _ func(string) string) string {
	number, ok := strings.CutPrefix(value, ":")
	number, _, _ = strings.Cut(number, ".")
	if !ok || number == "" || strings.Trim(number, "0123456789") != "" {
		return ""
	}
	return "/tmp/.X11-unix/X" + number
}

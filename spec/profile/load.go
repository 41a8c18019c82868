package profile

import (
	"strings"

	"sbx/spec"
	"sbx/spec/workshop"
)

// Env says where files of profiles and agents are looked for.
type Env struct {
	Home    string // absolute; "" if the caller has none
	Config  string // XDG_CONFIG_HOME; "" for ~/.config
	Project string // absolute; "" for none
	// Reader reads a file as Read does; found is false if there is none.
	Reader func(path string) (text []byte, found bool, err error)
	// In has the inputs with which specs are resolved to compare them with a project's.
	In spec.Inputs
}

// UserFile returns the path of the user's own document of profiles; "" without a home.
func (e Env) UserFile() string {
	switch {
	case strings.HasPrefix(e.Config, "/"):
		return e.Config + "/sbx/profiles.yaml"
	case e.Home != "":
		return e.Home + "/.config/sbx/profiles.yaml"
	}
	return ""
}

// ProjectFile returns the path of the project's document of profiles; "" without a project.
func (e Env) ProjectFile() string {
	if e.Project == "" {
		return ""
	}
	return e.Project + "/.sbx/profiles.yaml"
}

// Load returns the catalog: the built-in one, changed by the user's document, then by the
// project's.
func Load(e Env) (*Catalog, error) {
	c := Builtin()
	user, err := e.profiles(e.UserFile())
	if err == nil && user != nil {
		c, err = c.Extend(user)
	}
	if err != nil {
		return nil, err
	}
	project, err := e.profiles(e.ProjectFile())
	if err == nil && project != nil {
		c, err = c.Narrow(project, e.Project, e.In)
	}
	return c, err
}

func (e Env) profiles(path string) (*ProfilesFile, error) {
	if path == "" {
		return nil, nil
	}
	text, found, err := e.Reader(path)
	if err != nil || !found {
		return nil, err
	}
	return DecodeProfiles(path, text)
}

// Asked returns the request for name and point, with the agent's .md file: name itself if it is
// such a file, else the file of that name in .claude/agents of the project or of the home
// directory, where Claude looks for it, too.
func (e Env) Asked(name, point string) (Asked, error) {
	a := Asked{Name: name, Point: point}
	if name == "" {
		return a, nil
	}
	if strings.HasSuffix(name, ".md") || strings.Contains(name, "/") {
		if err := e.agentFile(&a, name); err != nil {
			return a, err
		}
		if a.File == nil {
			return a, &spec.Problem{On: name, Do: "read the agent's file", Why: spec.NoEntry.Error()}
		}
		if a.Name = a.File.Name; a.Name == "" {
			a.Name = strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ".md")
		}
		return a, nil
	}
	var places []string
	if e.Project != "" {
		places = append(places, e.Project)
	}
	if e.Home != "" {
		places = append(places, e.Home)
	}
	for _, p := range places {
		if err := e.agentFile(&a, p+"/.claude/agents/"+name+".md"); err != nil || a.File != nil {
			return a, err
		}
	}
	return a, nil
}

func (e Env) agentFile(a *Asked, path string) error {
	text, found, err := e.Reader(path)
	if err != nil || !found {
		return err
	}
	a.File, err = workshop.DecodeAgentFile(path, text)
	a.FileName = path
	return err
}

// ProjectDir returns the project that a command line names: its absolute path, and that path
// without links. "" means the current directory.
func ProjectDir(asked, cwd string, paths spec.Paths) (abs, real string, err error) {
	switch {
	case asked == "":
		abs = cwd
	case asked[0] == '/':
		abs = asked
	default:
		abs = cwd + "/" + asked
	}
	real, err = spec.Real(abs, paths)
	if err == nil {
		var info spec.Info
		if info, err = paths.Lstat(real); err == nil && !info.IsDir {
			err = spec.NotDirectory
		}
	}
	if err != nil {
		return "", "", &spec.Problem{On: "--project " + abs, Do: "find the project", Why: err.Error()}
	}
	if strings.Contains(abs+"/", "/../") { // after a link, ".." cannot be resolved from the text alone
		return real, real, nil
	}
	return tidy(abs), real, nil
}

// tidy returns an absolute path without "//", "/./" and a slash at its end.
func tidy(p string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(p, "/") {
		if part != "" && part != "." {
			b.WriteString("/" + part)
		}
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

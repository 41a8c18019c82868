package main

import (
	"slices"
	"strings"

	"sbx/spec"
)

// amended adds the flags that stand for fields to the last document, which can only narrow
// those before it. If that is a profile or an agent's file, the flags become a document of
// their own.
func (c *documentSet) amended(docs []*spec.SandboxSpec) ([]*spec.SandboxSpec, error) {
	all, flags, err := c.amendments()
	if err != nil || len(all) == 0 {
		return docs, err
	}
	last := len(docs) - 1
	if last < 0 || docs[last].Source.Kind == spec.AgentDefinition {
		docs = append(docs, &spec.SandboxSpec{Source: spec.Source{Name: strings.Join(flags, " ")}})
		last++
	}
	first := last
	if p := c.project; p != nil && !p.trusted && docs[last] == p.doc { // the default spec grants it, and the project's spec may narrow it
		first--
	}
	with := slices.Clone(docs)
	for i := first; i <= last; i++ {
		own := slices.DeleteFunc(slices.Clone(all), func(a spec.Amendment) bool { return i > first && !a.Concerns(docs[i]) })
		if with[i], err = spec.Amended(docs[i], own, c.job() != nil); err != nil {
			return docs, err
		}
	}
	return with, nil
}

// amendments returns the fields that the flags set, and the names of these flags.
func (c *documentSet) amendments() (all []spec.Amendment, flags []string, err error) {
	if !slices.ContainsFunc(c.given, func(g givenFlag) bool { return c.verb.flag(g.name).field != "" }) {
		return nil, nil, nil
	}
	cwd, err := currentDir()
	if err != nil {
		return nil, nil, err
	}
	var names []string // the names in --env
	for _, g := range c.given {
		f := c.verb.flag(g.name)
		if f.field == "" {
			continue
		}
		text := g.value
		if f.field == "environment.set" {
			name, _, valued := strings.Cut(text, "=")
			if slices.Contains(names, name) {
				return nil, nil, usageError("--env: " + spec.Word(name) + " is given twice")
			}
			if names = append(names, name); !valued && name != "" {
				value, there := lookUp(c.environ, name)
				if !there {
					c.warnings = append(c.warnings, spec.Warning{Field: f.field, On: "--env", Text: "the caller has no variable " + spec.Word(name)})
					continue
				}
				text = name + "=" + value
			}
		}
		a, bad := spec.ReadAmendment(f.field, dashed(g.name), text, cwd)
		if bad != nil {
			text := dashed(g.name) + ": " + bad.Reason()
			if bad.Help != "" {
				text += "\nhint: " + bad.Help
			}
			return nil, nil, usageError(text)
		}
		if all = append(all, a); !slices.Contains(flags, dashed(g.name)) {
			flags = append(flags, dashed(g.name))
		}
	}
	return all, flags, nil
}

// lookUp returns a variable of an environment, as getenv(3) finds it.
func lookUp(environ []string, name string) (value string, there bool) {
	i := slices.IndexFunc(environ, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	if i < 0 {
		return "", false
	}
	return environ[i][len(name)+1:], true
}

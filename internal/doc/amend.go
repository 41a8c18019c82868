package doc

import (
	"slices"
	"strconv"
	"strings"
)

// Amend returns the document now with a line of advice applied: "field: value", with the field
// as messages name it and its whole new value in YAML. The line was made for base, an earlier
// state of the document. Changes made since then stay: of a list the line adds and removes only
// the items in which its value differs from base's, and of two numbers the larger wins.
func Amend(base, now *Node, line string) (*Node, error) {
	field, text, ok := strings.Cut(line, ": ")
	if !ok {
		return nil, &Error{Name: line, Why: "a line is a field, a colon and its value"}
	}
	value, err := ParseYAML(field, []byte(text))
	if err != nil {
		return nil, err
	}
	return amend(base, now, strings.Split(strings.ReplaceAll(field, "[", ".["), "."), value), nil
}

// amend returns now with value at a path of keys and [indices].
func amend(base, now *Node, path []string, value *Node) *Node {
	if len(path) == 0 {
		return merged(base, now, value)
	}
	key := path[0]
	if index, ok := strings.CutPrefix(key, "["); ok {
		i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		if err != nil || now == nil || i >= len(now.Items) || base == nil || i >= len(base.Items) {
			return now
		}
		out := *now
		out.Items = slices.Clone(now.Items)
		out.Items[i] = amend(base.Items[i], now.Items[i], path[1:], value)
		return &out
	}
	return now.With(key, amend(base.Get(key), now.Get(key), path[1:], value))
}

// With returns a copy of the Object n with a member set, or removed if value is nil. If n is
// not an Object, the copy is a new one.
func (n *Node) With(key string, value *Node) *Node {
	out := &Node{Kind: Object}
	if n != nil && n.Kind == Object {
		*out = *n
		out.Members = slices.DeleteFunc(slices.Clone(n.Members), func(m Member) bool { return m.Key == key && value == nil })
	}
	if value == nil {
		return out
	}
	for i := range out.Members {
		if out.Members[i].Key == key {
			out.Members[i].Value = value
			return out
		}
	}
	out.Members = append(out.Members, Member{Key: key, Value: value})
	return out
}

// merged applies the change from base to value to now.
func merged(base, now, value *Node) *Node {
	switch {
	case base == nil:
		base = &Node{Kind: value.Kind}
	case base.Kind != value.Kind:
		return value
	}
	switch {
	case now == nil || now.Kind != value.Kind:
		return value
	case value.Kind == List:
		out := *now
		out.Items = slices.DeleteFunc(slices.Clone(now.Items), func(item *Node) bool { return base.has(item) && !value.has(item) })
		for _, item := range value.Items {
			if !base.has(item) && !out.has(item) {
				out.Items = append(out.Items, item)
			}
		}
		return &out
	case value.Kind == Object:
		out := now
		for _, m := range base.Members {
			if value.Get(m.Key) == nil {
				out = out.With(m.Key, nil)
			}
		}
		for _, m := range value.Members {
			out = out.With(m.Key, merged(base.Get(m.Key), now.Get(m.Key), m.Value))
		}
		return out
	case value.Kind == Number:
		if a, err := strconv.ParseFloat(now.Text, 64); err == nil {
			if b, err := strconv.ParseFloat(value.Text, 64); err == nil && a > b {
				return now
			}
		}
	}
	return value
}

// has reports whether a List has an item with the same canonical JSON.
func (n *Node) has(item *Node) bool {
	text := item.AppendCanonical(nil)
	return slices.ContainsFunc(Items(n), func(own *Node) bool { return slices.Equal(own.AppendCanonical(nil), text) })
}

// Change is one difference between two documents.
type Change struct {
	Field, Value string // Value is JSON; if the field is a list, one item of it
	Gone         bool   // only the first document has it
}

// String formats the change as a line of a diff.
func (c Change) String() string {
	sign := "+ "
	if c.Gone {
		sign = "- "
	}
	return sign + c.Field + ": " + c.Value
}

// Changes lists the differences between two documents in the order of their fields.
func Changes(from, to *Node) []Change { return changes(nil, "", from, to) }

func changes(all []Change, field string, from, to *Node) []Change {
	one := func(n *Node, gone bool) {
		if n != nil {
			all = append(all, Change{field, string(n.AppendSpaced(nil)), gone})
		}
	}
	kind := Kind(0)
	for _, n := range []*Node{from, to} {
		if n != nil && (kind == 0 || kind == n.Kind) {
			kind = n.Kind
		} else if n != nil {
			kind = Null // the two are of different kinds
		}
	}
	switch {
	case kind == Object:
		for _, m := range members(from) {
			all = changes(all, Join(field, m.Key), m.Value, to.Get(m.Key))
		}
		for _, m := range members(to) {
			if from.Get(m.Key) == nil {
				all = changes(all, Join(field, m.Key), nil, m.Value)
			}
		}
	case kind == List:
		for _, item := range Items(from) {
			if !to.has(item) {
				one(item, true)
			}
		}
		for _, item := range Items(to) {
			if !from.has(item) {
				one(item, false)
			}
		}
	case from == nil || to == nil || string(from.AppendCanonical(nil)) != string(to.AppendCanonical(nil)):
		one(from, true)
		one(to, false)
	}
	return all
}

func members(n *Node) []Member {
	if n == nil {
		return nil
	}
	return n.Members
}

// Items returns the items of a list; none if n is nil.
func Items(n *Node) []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

package doc

import (
	"slices"
	"strconv"
	"strings"
)

// Amend is a document with a line of advice in it: "field: value", the field as messages
// name it, the value as YAML has it and whole, as it would stand in base. What was changed
// between base and now stays: of lists what the line adds and takes away counts, of
// numbers the largest.
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

// amend is now with a value at a path of keys and [indices].
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

// With is an Object with a member set, or taken away by nil; any other node becomes one.
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

// merged is what becomes of now by a change of base into value.
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

// has tells whether a List has an item that says the same.
func (n *Node) has(item *Node) bool {
	text := item.AppendCanonical(nil)
	return slices.ContainsFunc(Items(n), func(own *Node) bool { return slices.Equal(own.AppendCanonical(nil), text) })
}

// Change is one thing that differs between two documents.
type Change struct {
	Field, Value string // the value as JSON, of one item where the field is a list
	Gone         bool   // it is in the first alone
}

// String is the change as a line of a difference.
func (c Change) String() string {
	sign := "+ "
	if c.Gone {
		sign = "- "
	}
	return sign + c.Field + ": " + c.Value
}

// Changes are what differs between two documents, in the order of the fields.
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
			kind = Null // they are of two kinds
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

// Items are the values of a list; none where there is no list.
func Items(n *Node) []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

package spec

import "slices"

// Allowing is the document with more items behind those of its network.allow, which
// Decode would take; from says where they stand. s stays as it is.
func (s *SandboxSpec) Allowing(items []string, from string) *SandboxSpec {
	more, root := *s, *s.node()
	network, allow := Node{Kind: Object}, Node{Kind: List, In: from}
	if has := root.Get("network"); has != nil {
		network = *has
	}
	if has := network.Get("allow"); has != nil {
		allow = *has
	}
	allow.Items = slices.Clone(allow.Items)
	for _, item := range items {
		allow.Items = append(allow.Items, &Node{Kind: String, Text: item, In: from})
	}
	network.Members = withMember(network.Members, "allow", &allow)
	root.Members = withMember(root.Members, "network", &network)
	more.Source.Root = &root
	more.Network.Set = true
	more.Network.Value.Allow = Some(append(slices.Clone(s.Network.Value.Allow.Value), items...))
	return &more
}

// withMember is an object's members with one set.
func withMember(members []Member, key string, value *Node) []Member {
	all := slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return m.Key == key })
	return append(all, Member{Key: key, Value: value})
}

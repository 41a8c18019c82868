package main

import "sbx/spec"

// agentNeeds is what the command's agent needs of its own, nil where it is no
// agent that is known.
func (c *call) agentNeeds() *spec.AgentNeeds { return nil }

package agent

import (
	"cmp"
	"strings"

	"sbx/internal/reach"
	"sbx/spec"
)

// Hosts returns the items of network.allow that an agent needs to reach its model: the hosts that
// its environment and its configuration name, or else those of its maker. It returns nil for an
// unknown agent.
func Hosts(a spec.Agent, at Place) (items []string) {
	ad := find(a)
	if ad.models == "" {
		return nil
	}
	for _, c := range ad.clouds {
		if on := at.Get(c.when); on != "" && on != "0" && on != "false" {
			items = append(items, c.in(at.Get)...)
		}
	}
	for _, name := range ad.bases {
		if item := endpoint(at.Get(name)); item != "" {
			items = append(items, item)
		}
	}
	if a == spec.Codex {
		items = append(items, at.codexProviders()...)
	}
	if len(items) == 0 {
		items = []string{ad.models}
	}
	return items
}

// in returns the cloud's hosts in the region that the environment names.
func (c *cloud) in(get func(name string) string) (hosts []string) {
	region := c.region
	for i := len(c.regions) - 1; i >= 0; i-- {
		if named := get(c.regions[i]); named != "" {
			region = named
		}
	}
	for _, h := range c.hosts {
		h = strings.ReplaceAll(h, "{}", region)
		if _, err := reach.Parse(h); err == nil {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// codexProviders returns the hosts of the model providers that codex's configuration and
// arguments choose, and codex's default set for a provider without a URL.
func (at *Place) codexProviders() (items []string) {
	values := at.codexProfile()
	for key, value := range at.Typed.Switches {
		_, inner, err := tomlScan(key + " = " + value)
		if err != nil || len(inner) == 0 { // a string without quotes
			inner = map[string]string{key: value}
		}
		for k, v := range inner {
			values[k] = strings.Trim(v, `"'`)
		}
	}
	if item := endpoint(values["openai_base_url"]); item != "" {
		items = append(items, item)
	}
	for _, key := range keys(values) {
		if key != "model_provider" && !strings.HasSuffix(key, ".model_provider") {
			continue
		}
		item := cmp.Or(endpoint(values["model_providers."+values[key]+".base_url"]), codex.models)
		items = append(items, item)
	}
	return items
}

// endpoint returns the item of network.allow for the host of a URL; "" if url is invalid.
func endpoint(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	port := ":443"
	switch strings.ToLower(scheme) {
	case "https", "wss":
	case "http", "ws":
		port = ":80"
	default:
		return ""
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if strings.LastIndexByte(rest, ':') > strings.LastIndexByte(rest, ']') {
		port = ""
	}
	item := rest + port
	if _, err := reach.Parse(item); err != nil || strings.Contains(item, "*") {
		return ""
	}
	return item
}

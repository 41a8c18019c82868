// Package caps has the capabilities by which the tools of a broker are bounded: how each
// is written, and which covers which. It is pure. What "no wider" means at a path and for
// a host is what package view and package reach say.
package caps

// Package caps has the capabilities that restrict the tools of a broker: how each is
// written, and which covers which. It is pure. Packages view and reach say which path and
// which host is no wider than another.
package caps

// Package enclosing lets an sbx that runs inside another sbx's sandbox query that outer one: the
// spec enforced around it (Parent, Free), a program budget that the outer supervisor counts
// for it (Budget), and narrower network rules (Narrowing). The outer sbx does not
// authenticate the caller: any process in its sandbox may make these requests.
package enclosing

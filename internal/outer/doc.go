// Package outer is what an sbx inside the sandbox of another one has from that: the
// document that holds around it (Parent, Free), and a budget that the outer supervisor
// keeps for it (Budget). Who asks is no sbx to the outer one but a process of its sandbox:
// all that is asked, any process there may ask.
package outer

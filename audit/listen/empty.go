package listen

// mayMake tells whether what stops a name does not stop an empty folder.
func (l *Listener) mayMake(d *landing) bool {
	if l.Empty == nil || d.unread || !d.ok {
		return false
	}
	host, ok := l.Host(text(d.path))
	return ok && l.Empty(host)
}

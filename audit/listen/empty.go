package listen

// mayMake tells whether what stops a name does not stop an empty folder.
func (r *Rules) mayMake(d *landing) bool {
	if r.Empty == nil || d.unread || !d.ok {
		return false
	}
	host, ok := r.Host(text(d.path))
	return ok && r.Empty(host)
}

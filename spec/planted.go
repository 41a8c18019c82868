package spec

// workedIn returns the directories in which commands work under r, or under a document that r narrows:
// an earlier command may have created links in them.
func (r *Resolved) workedIn() []string {
	all := append(r.Earlier[:len(r.Earlier):len(r.Earlier)], r.WorkingDir.Real)
	for i := range r.Write {
		all = append(all, r.Write[i].Real)
	}
	return all
}

// Planted reports whether an earlier command may have created a link on the way to p. Such a link
// opens no secret: otherwise a command could choose what a later one may read.
func (r *Resolved) Planted(p *Path) bool {
	if len(p.Links) == 0 {
		return false
	}
	for _, dir := range r.workedIn() {
		for i := range p.Links {
			if dir != "" && dir != p.Real && under(p.Links[i].Path, dir) {
				return true
			}
		}
	}
	return false
}

package spec

// workedIn are the directories that a command works in under r, or under a document
// that r narrows: links in them may be an earlier command's.
func (r *Resolved) workedIn() []string {
	all := append(r.Earlier[:len(r.Earlier):len(r.Earlier)], r.WorkingDir.Real)
	for i := range r.Write {
		all = append(all, r.Write[i].Real)
	}
	return all
}

// Planted tells whether p leads where it does by a link that an earlier command may
// have left. Such a link opens no secret: the command would choose what a later one
// may read.
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

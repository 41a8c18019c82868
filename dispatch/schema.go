package dispatch

import "strings"

// application is the application_id of an own ledger (PRAGMA application_id): "sbxd".
const application = 0x73627864

// ownVersion is the newest version of an own ledger (PRAGMA user_version). Own ledgers and
// Intercore's are numbered independently.
const ownVersion = 1

// Versions of Intercore's ledger.
const (
	foreignOldest = 2  // the first with dispatches
	foreignBefore = 17 // the last without the two columns
	foreignWith   = 18 // the first with them
)

// createTable returns the statement that creates the table of an own ledger.
func createTable() string {
	var lines []string
	for _, c := range keyColumns {
		lines = append(lines, c.name+" "+c.decl)
	}
	for _, c := range columns {
		lines = append(lines, c.name+" "+c.decl)
	}
	return "CREATE TABLE IF NOT EXISTS dispatches (\n\t" + strings.Join(lines, ",\n\t") + "\n)"
}

// rules are the triggers of an own ledger, which enforce its invariants for every writer:
// the name, the statement that it checks, the condition under which it aborts that, and
// the message.
var rules = []struct{ name, on, when, says string }{
	{"sandbox_spec_is_kept", "UPDATE OF sandbox_spec", "NEW.sandbox_spec IS NOT OLD.sandbox_spec",
		"sandbox_spec cannot be changed after creation"},
	{"sandbox_effective_is_set_once", "UPDATE OF sandbox_effective",
		"OLD.sandbox_effective IS NOT NULL AND NEW.sandbox_effective IS NOT OLD.sandbox_effective",
		"sandbox_effective is set already, and is set once"},
	{"sandbox_effective_is_set_at_the_end", "UPDATE OF sandbox_effective",
		"NEW.sandbox_effective IS NOT NULL AND NEW.status NOT IN " + endedList,
		"sandbox_effective is set at a terminal status"},
	{"sandbox_effective_does_not_begin", "INSERT", "NEW.sandbox_effective IS NOT NULL AND NEW.status NOT IN " + endedList,
		"sandbox_effective is set at a terminal status"},
	{"status_stays_ended", "UPDATE OF status", "OLD.status IN " + endedList + " AND NEW.status IS NOT OLD.status",
		"the dispatch has ended already"},
	{"id_is_kept", "UPDATE OF id", "NEW.id IS NOT OLD.id", "the id of a dispatch cannot be changed"},
	// INSERT OR REPLACE deletes the old row without firing another trigger.
	{"id_is_not_replaced", "INSERT", "EXISTS (SELECT 1 FROM dispatches WHERE id = NEW.id)", "there is a dispatch with this id"},
}

// ownSteps returns the statements that create an own ledger, or update one of any older
// version. They may be repeated.
func ownSteps() []string {
	steps := []string{
		createTable(),
		"CREATE INDEX IF NOT EXISTS idx_dispatches_status ON dispatches(status) WHERE status IN ('spawned', 'running')",
		"CREATE INDEX IF NOT EXISTS idx_dispatches_scope ON dispatches(scope_id) WHERE scope_id IS NOT NULL",
		"CREATE INDEX IF NOT EXISTS idx_dispatches_output ON dispatches(output_file) WHERE output_file IS NOT NULL",
	}
	for _, r := range rules {
		steps = append(steps, "CREATE TRIGGER IF NOT EXISTS "+r.name+" BEFORE "+r.on+" ON dispatches WHEN "+r.when+
			" BEGIN SELECT RAISE(ABORT, '"+r.says+"'); END")
	}
	return steps
}

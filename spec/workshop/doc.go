// Package workshop reads the files of a workshop as specs: its own file, those of its workers,
// which may be in an old style, and those of agents. These files belong to other programs, and
// often contain text that is not YAML; sbx reads only its own keys and reads them strictly.
package workshop

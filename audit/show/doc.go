// Package show lays out records for people and for other programs: as text for a terminal, as
// an HTML page, as SARIF and JUnit reports, as a list of runs, as what differs between two
// records, and as the lines that a running command adds.
//
// No text of a record reaches a terminal or a page as anything but text: control characters
// and marks that change the direction of text are escaped, whatever the command called
// itself and its files.
package show

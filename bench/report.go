package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// report prints the table and, if requested, the JSON.
func report(o options, results []result) error {
	if len(results) == 0 {
		return fmt.Errorf("no job has such a name")
	}
	if o.json != "" {
		b, err := json.MarshalIndent(results, "", "  ")
		if err != nil {
			return err
		}
		b = append(b, '\n')
		if o.json == "-" {
			if _, err := os.Stdout.Write(b); err != nil {
				return err
			}
		} else if err := os.WriteFile(o.json, b, 0o644); err != nil {
			return err
		}
	}
	if o.json != "-" {
		if err := table(os.Stdout, results); err != nil {
			return err
		}
	}
	missed := 0
	for _, r := range results {
		if r.Gate > 0 && r.Judged > r.Gate {
			missed++
		}
	}
	if o.gate && missed > 0 {
		return fmt.Errorf("%d gates missed", missed)
	}
	return nil
}

func table(w io.Writer, results []result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "job\trounds\tnone\tbase\tjudged\tof medians\tof minima\tgate\taim\t\tbeside")
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.title(), r.Rounds,
			r.cell("none"), r.cell(r.Base), r.cell(r.On),
			number(r.OfMedians), number(r.OfMinima), number(r.Gate), number(r.Aim), r.verdict(), r.beside())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nfigures are medians; a ratio is sbx to its base, of medians judged from %d rounds on, else of minima\n", enough)
	return err
}

func (r result) title() string {
	s := r.What
	if r.On != "sbx" {
		s += ", " + r.On
	}
	if r.Base != "" {
		s += " (to " + r.Base + ")"
	}
	return s
}

// cell returns the median of a contestant, if it took part.
func (r result) cell(name string) string {
	if s, ok := r.Of[name]; ok {
		return fmt.Sprintf("%.2f %s", s.Median, r.Unit)
	}
	return "-"
}

// beside returns the ratios to base of contestants that are not judged.
func (r result) beside() string {
	if r.OfMedians == 0 {
		return ""
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(r.Of)) {
		if name != r.On && name != r.Base && name != "none" {
			words = append(words, fmt.Sprintf("%s %.2f", name, r.Of[name].Median/r.Of[r.Base].Median))
		}
	}
	return strings.Join(words, ", ")
}

func number(f float64) string {
	if f == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", f)
}

func (r result) verdict() string {
	switch {
	case r.Gate == 0:
		return ""
	case r.Judged > r.Gate:
		return "MISSED"
	case r.Judged <= r.Aim:
		return "aim"
	}
	return "gate"
}

package e2e

import (
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write what the commands of the documents printed into the documents")

// TestDocs types the console blocks of every page on a terminal and compares the output. A page is
// one session of a shell, in ~/app of a home of its own:
//
//   - in a block of the language console a line `$ command` is typed, lines `> …` after it
//     belong to it, and the rest is its output;
//   - `…` in an output stands for any text of its line, alone on a line for any lines, and
//     the blanks between two columns for any two or more;
//   - a block of another language is a file, made when the page comes to it, if its first
//     line is a comment with a file's name, or if the line above it is the name and a colon;
//   - a comment <!-- setup … --> of the page is run by the shell and not shown;
//   - the test's directory before /home/u is removed; 8080, 3000 and 9000 stand for free ports.
//
// The lines of sbx and those of the command are compared separately if they are not in the page's
// order, since either may come first. With -update the actual output is written to the pages.
func TestDocs(t *testing.T) {
	pages := docPages(t)
	if len(pages) < 40 {
		t.Fatalf("%d pages: the documents were not found", len(pages))
	}
	typed := 0
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(moduleDir, page))
		must(t, err)
		d := readDoc(string(text))
		if n := d.typed(); n > 0 {
			typed += n
			t.Run(page, func(t *testing.T) { d.try(t, page) })
		}
	}
	if typed < 90 {
		t.Errorf("%d commands in the documents: they were not read", typed)
	}
}

// docPages returns the pages for users, and the picture of the README.
func docPages(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, pattern := range []string{"*.md", "*/README.md", "cmd/*/README.md", "docs/*/*.md", "docs/*.svg", "sdk/*/README.md", "spec/profile/README.md", "spec/workshops.md"} {
		found, err := filepath.Glob(filepath.Join(moduleDir, pattern))
		must(t, err)
		for _, path := range found {
			rel, err := filepath.Rel(moduleDir, path)
			must(t, err)
			if rel != "CHANGELOG.md" {
				pages = append(pages, rel)
			}
		}
	}
	return pages
}

// step is a step of the page's shell: a command with its output, a file or a preparation.
type step struct {
	script   string
	output   []string
	from, to int // the lines of the output on the page
	compared bool
}

type doc struct {
	lines []string
	steps []step
}

var (
	named  = regexp.MustCompile(`^(?:#|//|<!--) ?([\w.-]+(?:/[\w.-]+)*)(?: -->)?$`)
	above  = regexp.MustCompile("^`([\\w.-]+(?:/[\\w.-]+)*)`:$")
	svgRow = regexp.MustCompile(`<text class="(row|more)"[^>]*>(.*?)</text>`)
)

// readDoc splits a page, or a picture whose rows are one console block, into steps.
func readDoc(text string) *doc {
	d := &doc{lines: strings.Split(text, "\n")}
	if strings.HasPrefix(text, "<svg") {
		d.lines = append(d.lines, "```console")
		for _, m := range svgRow.FindAllStringSubmatch(text, -1) {
			row := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(m[2])
			if last := len(d.lines) - 1; m[1] == "more" {
				d.lines[last] += row
			} else {
				d.lines = append(d.lines, row)
			}
		}
		d.lines = append(d.lines, "```")
	}
	for i := 0; i < len(d.lines); i++ {
		line := d.lines[i]
		end := "```"
		if line == "<!-- setup" {
			end = "-->"
		} else if !strings.HasPrefix(line, end) {
			continue
		}
		from := i + 1
		for i++; i < len(d.lines) && d.lines[i] != end; i++ {
		}
		body := d.lines[from:i]
		switch {
		case end == "-->":
			d.steps = append(d.steps, step{script: strings.Join(body, "\n")})
		case line == "```console":
			d.console(from, body)
		case len(body) > 0:
			m := named.FindStringSubmatch(body[0])
			if m == nil && from > 2 && d.lines[from-2] == "" {
				m = above.FindStringSubmatch(d.lines[from-3])
			}
			if m != nil {
				d.steps = append(d.steps, step{script: "mkdir -p $(dirname " + m[1] + ")\ncat >" + m[1] + " <<'END OF FILE'\n" + strings.Join(body, "\n") + "\nEND OF FILE"})
			}
		}
	}
	return d
}

func (d *doc) console(from int, body []string) {
	for i, l := range body {
		last := len(d.steps) - 1
		switch {
		case strings.HasPrefix(l, "$ "):
			d.steps = append(d.steps, step{script: l[2:], from: from + i + 1, to: from + i + 1, compared: true})
		case i == 0:
			panic("a console block begins with no command: " + l)
		case strings.HasPrefix(l, "> ") && len(d.steps[last].output) == 0:
			d.steps[last].script += "\n" + l[2:]
			d.steps[last].from, d.steps[last].to = from+i+1, from+i+1
		default:
			d.steps[last].output = append(d.steps[last].output, l)
			d.steps[last].to = from + i + 1
		}
	}
	for i := range d.steps { // an empty line before the next command is not output
		s := &d.steps[i]
		for n := len(s.output); n > 0 && s.output[n-1] == ""; n = len(s.output) {
			s.output, s.to = s.output[:n-1], s.to-1
		}
	}
}

func (d *doc) typed() (n int) {
	for _, s := range d.steps {
		if s.compared {
			n++
		}
	}
	return n
}

// installed returns a directory with the programs, which sandboxes have in view wherever the
// sources lie.
var installed = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(elsewhere, "bin")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	for _, name := range []string{"sbx", "sbx-egress", "sbx-dispatch", "sbx-broker"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(sbxPath), name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o755); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// try runs the page and compares.
func (d *doc) try(t *testing.T, page string) {
	needSandbox(t)
	needPrograms(t, "bash", "git", "gcc", "make", "python3", "curl", "node")
	if elsewhere == "" {
		lacks(t, "all that this user may write is private inside")
	}
	bin, err := installed()
	must(t, err)
	b := newBoxElsewhere(t)
	home := b.base + "/home/u"
	b.ws = home + "/app"
	must(t, os.MkdirAll(b.ws, 0o755))
	b.write(home+"/.gitconfig", "[user]\n\tname = u\n\temail = u@localhost\n[init]\n\tdefaultBranch = main\n")
	b.env = []string{"PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:" + searchable(os.Getenv("PATH")), "HOME=" + home,
		"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TERM=dumb", "USER=u", "LOGNAME=u", "PAGER=cat", "GIT_CONFIG_NOSYSTEM=1", "SBX_SOURCES=" + moduleDir,
		"PYTHONPATH=" + moduleDir + "/sdk/python"}
	ports := freePorts(t, "8080", "3000", "9000")

	const mark = "\x01"
	script := "stty -echo cols 200\nset +m\n"
	for i, s := range d.steps {
		script += fmt.Sprintf("printf '%s%d%s'\n(exit $status)\n%s\nstatus=$?\n", mark, i, mark, ports.Replace(s.script))
	}
	script += "printf '" + mark + "end" + mark + "'\nkill $(jobs -p) 2>/dev/null\nwait\n"
	x := b.onTerminal("bash", "--norc", b.write("page.sh", script))
	x.wait()
	<-x.over

	var back []string
	for _, pair := range ports.pairs {
		back = append(back, pair[1], pair[0])
	}
	got := strings.NewReplacer(append(back, "\r", "", bin, "/usr/local/bin", b.base, "")...).Replace(x.all())
	parts := regexp.MustCompile(mark+`(\d+|end)`+mark).Split(got, -1)
	if len(parts) != len(d.steps)+2 {
		t.Fatalf("the shell did not come to its end:\n%s", got)
	}
	changed := false
	for i := len(d.steps) - 1; i >= 0; i-- {
		s, out := d.steps[i], strings.Split(strings.TrimRight(parts[i+1], "\n"), "\n")
		if len(out) == 1 && out[0] == "" {
			out = nil
		}
		switch {
		case !s.compared && len(out) == 0, s.compared && (matches(s.output, out) || matches(voices(s.output), voices(out))):
		case s.compared && *update && strings.HasSuffix(page, ".md"):
			d.lines = slices.Replace(d.lines, s.from, s.to, out...)
			changed = true
		default:
			t.Errorf("%s:%d: $ %s\n%s\nwant:\n%s", page, s.from, s.script, strings.Join(out, "\n"), strings.Join(s.output, "\n"))
		}
	}
	if changed {
		must(t, os.WriteFile(filepath.Join(moduleDir, page), []byte(strings.Join(d.lines, "\n")), 0o644))
	}
}

// voices puts the lines of sbx before the others. If one is in the middle of a line that the
// command wrote in pieces, it is taken out of that line.
func voices(lines []string) []string {
	var own, others []string
	piece := ""
	for _, l := range lines {
		if before, _, found := strings.Cut(l, "sbx: "); found {
			own, piece = append(own, l[len(before):]), piece+before
		} else {
			others, piece = append(others, piece+l), ""
		}
	}
	if piece != "" {
		others = append(others, piece)
	}
	return append(own, others...)
}

var blanks = regexp.MustCompile(`(\S)  +`)

func matches(want, got []string) bool {
	pattern := "^"
	for _, l := range want {
		if l == "…" {
			pattern += `(?:.*\n)*`
			continue
		}
		for i, part := range strings.Split(blanks.ReplaceAllString(l, "$1\x00"), "…") {
			if i > 0 {
				pattern += ".*"
			}
			pattern += strings.ReplaceAll(regexp.QuoteMeta(part), "\x00", " {2,}")
		}
		pattern += `\n`
	}
	text := ""
	for _, l := range got {
		text += l + "\n"
	}
	return regexp.MustCompile(pattern + "$").MatchString(text)
}

// replaced are words of the page that the test types differently.
type replaced struct {
	*strings.Replacer
	pairs [][2]string
}

// freePorts finds a port for each of the page's.
func freePorts(t *testing.T, ports ...string) replaced {
	t.Helper()
	var r replaced
	var words []string
	for _, p := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer l.Close()
		free := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
		words = append(words, p, free)
		r.pairs = append(r.pairs, [2]string{p, free})
	}
	r.Replacer = strings.NewReplacer(words...)
	return r
}

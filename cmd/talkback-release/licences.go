package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// noticesFile has the licences and notices of software of others in an archive.
const noticesFile = "THIRD-PARTY-LICENSES"

// accepted are the licences of software of others that a release may have. They ask for no more
// than their text, and MPL-2.0 for the place of the source.
var accepted = strings.Fields(`0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause BSL-1.0 blessing BlueOak-1.0.0 CC-BY-4.0 CC0-1.0 ISC MIT MIT-0 MPL-2.0
	Unicode-DFS-2016 Zlib`)

// readByPeople has the licences of texts that licensecheck does not know, such as lists of several
// licences. The keys are SHA-256, so that a text is read again when it changes.
var readByPeople = map[string]string{
	"00c31061d11a7d289e3f5ac49f58b0d5cffdd9d1d24a9ee4c9848354356386bc": "",         // aws-lambda-go LICENSE-SUMMARY
	"f597097efe3d97021f89170746bd3a0fb9a8b6fb26b82043ed68a4e0283bee6c": "",         // modernc.org/libc LICENSE-3RD-PARTY.md
	"5ae5bee3072a841376451b48d8cfcec7188e10543926d5870828d36c8a750dc5": "",         // modernc.org/memory LICENSE-LOGO
	"b4366b9c27a9364633e015011a231913ed19bf1228f335bf617e50a6f7b168a6": "",         // modernc.org/sqlite LICENSE-3RD-PARTY.md
	"8438c9c89b849131ead81d5435cb97fcf052df5b0b286dda8a2d4c29e6cb3fd0": "blessing", // modernc.org/sqlite LICENSE-SQLITE
}

// notices are the licences and notices of software of others in a program, or beside it.
type notices struct {
	text   []byte
	ids    map[string][]string // SPDX identifiers, by path of the module
	npm    []module            // packages in scripts that the program embeds
	engine module
}

// noticesOf returns the notices of a program. A module without a licence, or with one that is not
// accepted, is an error.
func (r *release) noticesOf(info *debug.BuildInfo) (notices, error) {
	c := collector{names: map[string][]string{}, notices: notices{ids: map[string][]string{}}}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return notices{}, err
	}
	found, err := r.foldersOf(info.Deps)
	if err != nil {
		return notices{}, err
	}
	for _, m := range append([]module{{Path: "std", Version: info.GoVersion, Dir: string(bytes.TrimSpace(root))}}, found...) {
		if err := c.addFolder(m); err != nil {
			return notices{}, err
		}
	}
	if err := c.addScripts(filepath.Join(r.root, "web")); err != nil {
		return notices{}, err
	}
	c.text = c.all(r.version)
	return c.notices, nil
}

// addEngine adds the notices of the local engine, which archives and packages have beside the
// program.
func (r *release) addEngine(to *notices) error {
	text, err := os.ReadFile(filepath.Join(r.root, "internal", "provision", "dynoxide-licences.txt"))
	if err != nil {
		return err
	}
	if to.engine, err = headOf(text); err != nil {
		return err
	}
	ids, err := licencesIn("the local engine", text)
	to.ids = maps.Clone(to.ids) // images have no engine
	to.ids["engine"] = ids
	to.text = slices.Concat(to.text, []byte("\n"+line), text)
	return err
}

// expression returns the licence of the program and those of all others, as an expression of SPDX.
func (n notices) expression() string {
	const own = "Apache-2.0"
	others := slices.Concat(slices.Collect(maps.Values(n.ids))...)
	slices.Sort(others)
	others = slices.DeleteFunc(slices.Compact(others), func(id string) bool { return id == own })
	return strings.Join(append([]string{own}, others...), " AND ")
}

// copyright returns the licence of the program and the notices, as packages for Debian have them in
// one file.
func (r *release) copyright(n notices) ([]byte, error) {
	own, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	return slices.Concat(own, []byte("\n"), n.text), err
}

// module is a module in Go's cache, as go mod download describes it.
type module struct{ Path, Version, Dir, Error string }

// foldersOf returns where Go has the modules of a program.
func (r *release) foldersOf(modules []*debug.Module) (found []module, err error) {
	if len(modules) == 0 {
		return nil, nil
	}
	command := exec.Command("go", "mod", "download", "-json")
	for _, m := range modules {
		m = cmp.Or(m.Replace, m)
		command.Args = append(command.Args, m.Path+"@"+m.Version)
	}
	command.Dir = r.root
	out, err := command.Output()
	for all := json.NewDecoder(bytes.NewReader(out)); ; {
		var m module
		if errors.Is(all.Decode(&m), io.EOF) {
			break
		}
		if m.Dir == "" {
			return nil, fmt.Errorf("go mod download %s: %s", m.Path, m.Error)
		}
		found = append(found, m)
	}
	if err == nil && len(found) != len(modules) {
		err = fmt.Errorf("go mod download found %d of %d modules", len(found), len(modules))
	}
	return found, err
}

var (
	licenceName = regexp.MustCompile(`(?i)^((un)?licen[cs]es?|copying|copyright)([-_. ]|$)`)
	noticeName  = regexp.MustCompile(`(?i)^(notices?|patents)([-_. ]|$)`)
)

// collector collects texts, each once.
type collector struct {
	notices
	texts []string
	names map[string][]string // whose a text is
}

// addFolder adds the licences and notices in the folder of a module, which may have code of others
// in its subfolders.
func (c *collector) addFolder(m module) error {
	err := filepath.WalkDir(m.Dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if file != m.Dir && (m.Path == "std" || base == "testdata" || base[0] == '.') { // std has tools in its subfolders
				return fs.SkipDir
			}
			return nil
		}
		isLicence := licenceName.MatchString(base)
		if path.Ext(base) == ".go" || !isLicence && !noticeName.MatchString(base) {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		inside, _ := filepath.Rel(m.Dir, file)
		inside = filepath.ToSlash(inside)
		c.add(fmt.Sprintf("%s@%s: %s", m.Path, m.Version, inside), text)
		if isLicence {
			ids, err := licencesIn(m.Path+" "+inside, text)
			c.ids[m.Path] = append(c.ids[m.Path], ids...)
			return err
		}
		return nil
	})
	if err == nil && len(c.ids[m.Path]) == 0 {
		err = fmt.Errorf("%s@%s has no licence in %s: a release must have its text", m.Path, m.Version, m.Dir)
	}
	slices.Sort(c.ids[m.Path])
	c.ids[m.Path] = slices.Compact(c.ids[m.Path])
	return err
}

// licencesIn returns the licences that a text is, if all are accepted.
func licencesIn(name string, text []byte) (ids []string, err error) {
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	if id, known := readByPeople[sum]; known {
		return slices.DeleteFunc([]string{id}, func(id string) bool { return id == "" }), nil
	}
	found := licensecheck.Scan(text)
	if found.Percent < 75 { // as pkg.go.dev has it
		return nil, fmt.Errorf("only %.0f %% of the licence %s is known: read it, and add its SHA-256 %s to readByPeople", found.Percent, name, sum)
	}
	for _, match := range found.Match {
		if !slices.Contains(accepted, match.ID) {
			return nil, fmt.Errorf("the licence %s is %s, which is not among those that a release may have: %s", name, match.ID, accepted)
		}
		ids = append(ids, match.ID)
	}
	return ids, nil
}

// addScripts adds the licences of npm packages in the scripts that the program embeds.
func (c *collector) addScripts(web string) error {
	explorer, err := unzipped(filepath.Join(web, "explorer", "dist", "licences.txt.gz"))
	if err != nil {
		return err
	}
	element, err := unzipped(filepath.Join(web, "component", "dist", "talkback.js.gz"))
	if err != nil {
		return err
	}
	element, _, found := bytes.Cut(bytes.TrimPrefix(element, []byte("/*! ")), []byte("*/")) // a comment at its beginning
	if !found {
		return errors.New("the script of the element has no licence at its beginning")
	}
	for _, script := range []struct {
		name string
		text []byte
	}{{"the playground", explorer}, {"the element <talkback-comments>", element}} {
		for packed := range bytes.SplitSeq(script.text, []byte("\n"+strings.Repeat("-", 80)+"\n\n")) {
			m, err := headOf(packed)
			if err != nil {
				return err
			}
			c.npm = append(c.npm, m)
		}
		if c.ids[script.name], err = licencesIn(script.name, script.text); err != nil {
			return err
		}
		c.add("npm packages in "+script.name, script.text)
	}
	return nil
}

// headOf returns the name and version at the beginning of a text.
func headOf(text []byte) (module, error) {
	var m module
	_, err := fmt.Sscan(string(text), &m.Path, &m.Version)
	m.Version = strings.TrimSuffix(m.Version, ",")
	return m, err
}

func unzipped(name string) ([]byte, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

func (c *collector) add(name string, content []byte) {
	text := strings.TrimSpace(strings.ReplaceAll(string(content), "\r\n", "\n"))
	if c.names[text] == nil {
		c.texts = append(c.texts, text)
	}
	c.names[text] = append(c.names[text], name)
}

const line = "================================================================================\n"

// all returns the texts below the names of those that have them.
func (c *collector) all(version string) []byte {
	var to bytes.Buffer
	fmt.Fprintf(&to, `Talkback %s has software of others in it. These are the licences and notices of that software, each text once, below the
names of those that have it. The source of a Go module is at https://pkg.go.dev/MODULE@VERSION and https://proxy.golang.org.
`, version)
	for _, text := range c.texts {
		fmt.Fprintf(&to, "\n%s%s\n\n%s\n", line, strings.Join(c.names[text], "\n"), text)
	}
	return to.Bytes()
}

package restore

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/talkback/talkback/internal/output"
)

// Names of files and folders in the format.
const (
	summaryName = "manifest-summary.json"
	filesName   = "manifest-files.json"
	startedName = "_started"
	exportsName = "AWSDynamoDB"
)

// Export is a table's export with consistent manifests.
type Export struct {
	// Table is the name of the exported table, and Time the moment of the export.
	Table string
	Time  time.Time
	// Items is how many items it holds.
	Items int64

	place place
	dir   string // of the manifests, within the place
	files []file
}

// file is a line of manifest-files.json.
type file struct {
	ItemCount int64  `json:"itemCount"`
	MD5       string `json:"md5Checksum"` // base64
	Key       string `json:"dataFileS3Key"`
}

// summary is the content of manifest-summary.json.
type summary struct {
	ExportArn    string    `json:"exportArn"`
	TableArn     string    `json:"tableArn"`
	ExportTime   time.Time `json:"exportTime"`
	ItemCount    *int64    `json:"itemCount"`
	OutputFormat string    `json:"outputFormat"`
	ExportType   string    `json:"exportType"` // missing in exports of before 2023
}

// IsExport reports whether a name means an export, not a file of reviews: an address in S3, or a
// folder.
func IsExport(name string) bool {
	if strings.HasPrefix(name, scheme) {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// Open finds the export at s3://BUCKET/PREFIX or in a folder, and reads its manifests. The prefix
// is the one given to the export, or the folder of its manifests.
func Open(ctx context.Context, name string) (*Export, error) {
	name = strings.TrimSuffix(name, "/"+summaryName)
	var at place = folder(filepath.Clean(name))
	var err error
	if strings.HasPrefix(name, scheme) {
		if at, err = openBucket(ctx, name); err != nil {
			return nil, err
		}
	}
	e := &Export{place: at}
	if e.dir, err = find(ctx, at); err != nil {
		return nil, err
	}
	if err := e.readManifests(ctx); err != nil {
		return nil, fmt.Errorf("the export in %s cannot be restored: %w", e.String(), err)
	}
	return e, nil
}

// String returns the address of the export.
func (e *Export) String() string { return join(e.place, e.dir) }

// exportID matches the name of an export.
var exportID = regexp.MustCompile(`^\d{8,}-[0-9a-f]+$`)

// find returns the folder of the only export at a place. It is an error if there are none or
// several.
func find(ctx context.Context, at place) (dir string, err error) {
	if there, err := exists(ctx, at, summaryName); there || err != nil {
		return "", err
	}
	var found, unfinished []string
	for _, parent := range []string{exportsName, ""} {
		names, err := at.folders(ctx, parent)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			if !exportID.MatchString(name) {
				continue
			}
			dir := path.Join(parent, name)
			there, err := exists(ctx, at, path.Join(dir, summaryName))
			switch {
			case err != nil:
				return "", err
			case there:
				found = append(found, dir)
			default:
				unfinished = append(unfinished, dir)
			}
		}
	}
	if started, err := exists(ctx, at, startedName); started && err == nil {
		unfinished = append(unfinished, "")
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("there are %d exports in %s: name one, such as %s", len(found), at, join(at, found[len(found)-1]))
	case len(unfinished) > 0:
		return "", fmt.Errorf("the export in %s has no %s: it has not ended yet, or failed; wait until aws dynamodb describe-export says COMPLETED", join(at, unfinished[0]), summaryName)
	}
	return "", fmt.Errorf("there is no export of DynamoDB in %s: give the folder that holds %s, such as %s/01234567890123-a1b2c3d4", at, summaryName, join(at, exportsName))
}

func exists(ctx context.Context, at place, name string) (bool, error) {
	opened, err := at.open(ctx, name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, opened.Close()
}

// manifestBytes bounds a manifest. One that lists a million files has 300 MB.
const manifestBytes = 512 << 20

func (e *Export) readAll(ctx context.Context, name string) ([]byte, error) {
	opened, err := e.place.open(ctx, path.Join(e.dir, name), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: copy the whole folder, or export again", name)
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(opened, manifestBytes))
	return text, errors.Join(err, opened.Close())
}

// readManifests reads both manifests, and checks that they belong to the same export.
func (e *Export) readManifests(ctx context.Context) error {
	text, err := e.readAll(ctx, summaryName)
	if err != nil {
		return err
	}
	var s summary
	if err := json.Unmarshal(text, &s); err != nil || s.TableArn == "" || s.ItemCount == nil {
		return fmt.Errorf("%s is damaged or cut off: copy it again, or export again", summaryName)
	}
	switch {
	case s.ExportType != "" && s.ExportType != "FULL_EXPORT":
		return fmt.Errorf("it is an incremental export (%s), which holds only changes: make a full export with --export-type FULL_EXPORT", s.ExportType)
	case s.OutputFormat != "DYNAMODB_JSON":
		return fmt.Errorf("its format is %s: export again with --export-format DYNAMODB_JSON", s.OutputFormat)
	}
	e.Table, e.Time, e.Items = path.Base(s.TableArn), s.ExportTime, *s.ItemCount
	if text, err = e.readAll(ctx, filesName); err != nil {
		return err
	}
	if e.files, err = filesOf(text, path.Base(s.ExportArn)); err != nil {
		return err
	}
	var items int64
	for _, f := range e.files {
		items += f.ItemCount
	}
	if items != e.Items {
		return fmt.Errorf("%s lists %s, but %s says %d: one of the two files is cut off or from another export; copy both again, or export again", filesName, output.Count(items, "item", "items"), summaryName, e.Items)
	}
	return nil
}

// filesOf parses manifest-files.json, whose lines name the data files of an export.
func filesOf(text []byte, id string) (files []file, err error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var f file
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil || f.Key == "" || f.MD5 == "" {
			return nil, fmt.Errorf("line %d of %s is damaged or cut off: copy it again, or export again", len(files)+1, filesName)
		}
		if !strings.HasSuffix(path.Dir(f.Key), "/"+id+"/data") {
			return nil, fmt.Errorf("%s is from another export than %s, which is from %s: copy both again from one folder", filesName, summaryName, id)
		}
		files = append(files, f)
	}
	return files, lines.Err()
}

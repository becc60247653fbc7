package restore

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/s3test"
)

const version = 2 // of the layout

// exported returns the items of a table: comments, a vote, what is counted, and the layout.
func exported(t *testing.T) (items []layout.Item) {
	t.Helper()
	comments := commenttest.Many(commenttest.Rand(t), "cup", 40)
	for _, c := range comments {
		items = append(items, layout.Encode(c))
	}
	settings := layout.Key("SETTINGS", "LAYOUT")
	settings[layout.AttrVersion] = layout.Number(version)
	id := comments[0].ID
	return append(items, layout.VoteItem(id, "0f", comment.CastVote{By: "u1", Vote: comment.Helpful, At: comments[0].CreatedAt()}),
		layout.ProductKey("cup", layout.StatisticsSK), layout.VoteSumsKey(id), settings)
}

// checked opens an export and reads it to the end.
func checked(ctx context.Context, name string) (*Export, error) {
	e, err := Open(ctx, name)
	if err != nil {
		return nil, err
	}
	_, err = e.Check(ctx, version, output.NewProgress(io.Discard, -1, "items"))
	return e, err
}

// What a folder or a bucket holds is read as it was written, wherever the manifests are named.
func TestEach(t *testing.T) {
	items := exported(t)
	folder := t.TempDir()
	dir := dynamotest.WriteExport(t, folder, "backup", "shop", items)
	names := []string{filepath.Join(folder, "backup"), filepath.Join(folder, "backup", "AWSDynamoDB"), dir, dir + "/", filepath.Join(dir, "manifest-summary.json")}
	t.Run("folder", func(t *testing.T) { readAs(t, items, names...) })
	t.Run("bucket", func(t *testing.T) {
		server := s3test.Start(t)
		server.Environment(t)
		dynamotest.WriteExport(t, server.Path(""), "a/b", "shop", items)
		readAs(t, items, "s3://pages/a/b", "s3://pages/a/b/", "s3://pages/a/b/AWSDynamoDB/"+dynamotest.ExportID)
		atEnd(t, filepath.Join(server.Path(""), "a", "b", "AWSDynamoDB", dynamotest.ExportID))
	})
}

// atEnd reads a file on after its last byte, as after a connection that broke there.
func atEnd(t *testing.T, dir string) {
	t.Helper()
	whole := must.Get(os.Stat(filepath.Join(dir, summaryName)))(t)
	at, err := openBucket(t.Context(), "s3://pages/a/b/AWSDynamoDB/"+dynamotest.ExportID)
	must.Do(t, err)
	rest, err := io.ReadAll(&steady{ctx: t.Context(), place: at, name: summaryName, offset: whole.Size()})
	if err != nil || len(rest) > 0 {
		t.Errorf("after the last byte: %q, %v", rest, err)
	}
}

func readAs(t *testing.T, want []layout.Item, names ...string) {
	t.Helper()
	for _, name := range names {
		e, err := checked(t.Context(), name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []layout.Item
		must.Do(t, e.Each(t.Context(), func(it layout.Item) error { got = append(got, it); return nil }))
		if !reflect.DeepEqual(want, got) || e.Table != "shop" || int(e.Items) != len(want) {
			t.Errorf("%s: table %s, %d items of %d, or others", name, e.Table, len(got), e.Items)
		}
	}
}

// measuring is an itemLoader that notes how much it was given.
type measuring struct{ calls, items, most int } // most bytes at once

func (m *measuring) Load(_ context.Context, items []layout.Item) (Counts, error) {
	bytes := 0
	for _, it := range items {
		bytes += layout.SizeOf(it, nil)
	}
	m.calls, m.items, m.most = m.calls+1, m.items+len(items), max(m.most, bytes)
	return Counts{Written: len(items)}, nil
}

// However large its items are, a restore holds few megabytes of them. It loads no fewer at once
// than that.
func TestRestoreOfLargeItems(t *testing.T) {
	const items, large = 40, 300_000
	var all []layout.Item
	for _, c := range commenttest.Many(commenttest.Rand(t), "cup", items) {
		it := layout.Encode(c)
		it["x"] = layout.Text(strings.Repeat("x", large))
		all = append(all, it)
	}
	folder, check, loader := dynamotest.WriteExport(t, t.TempDir(), "", "shop", all), &Check{}, &measuring{}
	e := must.Get(Open(t.Context(), folder))(t)
	done, err := e.Restore(t.Context(), check, loader, output.NewProgress(io.Discard, -1, "items"))
	if err != nil || done.Written != items || loader.items != items || loader.most > batchBytes+2*large || loader.calls != items*large/batchBytes+1 {
		t.Errorf("%+v, %v; %d items in %d calls, up to %d bytes at once", done, err, loader.items, loader.calls, loader.most)
	}
}

// spoil changes a file of an export.
func spoil(t *testing.T, file string, change func(string) string) {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	must.Do(t, os.WriteFile(file, []byte(change(string(text))), 0o600))
}

func replaced(old, new string) func(string) string {
	return func(text string) string { return strings.Replace(text, old, new, 1) }
}

// Whatever is wrong with an export is said in a sentence with its cure, before anything is written.
func TestDamaged(t *testing.T) {
	half := func(text string) string { return text[:len(text)/2] }
	for _, row := range []struct {
		why, file string
		change    func(string) string // nil deletes the file
		says      string
	}{
		{"a data file is missing", "data/file1.json.gz", nil, "data/file1.json.gz is missing from"},
		{"a data file is cut off", "data/file1.json.gz", half, "is damaged or cut off"},
		{"a data file is of another export", "data/file0.json.gz", func(string) string { return "" }, "does not have the checksum"},
		{"a file has fewer items than the manifests say", "", func(text string) string {
			return strings.NewReplacer(`"itemCount":44`, `"itemCount":45`, `"itemCount":22`, `"itemCount":23`).Replace(text)
		}, "lists 46 items, but manifest-summary.json says 45"},
		{"the summary is cut off", "manifest-summary.json", half, "manifest-summary.json is damaged or cut off: copy it again"},
		{"there is no summary", "manifest-summary.json", nil, "it has not ended yet, or failed"},
		{"there is no list of files", "manifest-files.json", nil, "manifest-files.json is missing: copy the whole folder"},
		{"the list is cut off", "manifest-files.json", half, "of manifest-files.json is damaged or cut off"},
		{"the list lacks a file", "manifest-files.json", func(text string) string { return text[strings.Index(text, "\n")+1:] }, "lists 22 items, but manifest-summary.json says 44"},
		{"the list is of another export", "manifest-files.json", replaced(dynamotest.ExportID, "09999999999999-a1b2c3d4"), "is from another export than"},
		{"it is in ION", "manifest-summary.json", replaced("DYNAMODB_JSON", "ION"), "its format is ION: export again with --export-format DYNAMODB_JSON"},
		{"it is incremental", "manifest-summary.json", replaced("FULL_EXPORT", "INCREMENTAL_EXPORT"), "make a full export"},
	} {
		folder := t.TempDir()
		dir := dynamotest.WriteExport(t, folder, "", "shop", exported(t))
		switch {
		case row.file == "":
			spoil(t, filepath.Join(dir, "manifest-summary.json"), row.change)
			spoil(t, filepath.Join(dir, "manifest-files.json"), func(text string) string { return row.change(row.change(text)) })
		case row.change == nil:
			must.Do(t, os.Remove(filepath.Join(dir, row.file)))
		default:
			spoil(t, filepath.Join(dir, row.file), row.change)
		}
		if _, err := checked(t.Context(), folder); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v\nwant %s", row.why, err, row.says)
		}
	}
}

// What is no table of this release is refused, and so is a place without one export.
func TestRefused(t *testing.T) {
	settings := layout.Key("SETTINGS", "LAYOUT")
	settings[layout.AttrVersion] = layout.Number(version + 1)
	unreadable := layout.Encode(commenttest.Many(commenttest.Rand(t), "cup", 1)[0])
	unreadable[layout.AttrRating] = layout.Text("five")
	for says, items := range map[string][]layout.Item{
		"had layout 3 when it was exported; this release knows layout 2": append(exported(t)[:3], settings),
		`"shop" is no table of Talkback`:                                 {{"id": layout.Text("1")}},
		`such as "Z"; use the release that wrote them`:                   append(exported(t), layout.Key("Z#secret", "x")),
		"no comment of table \"shop\" can be read by this release":       {unreadable},
	} {
		folder := t.TempDir()
		dynamotest.WriteExport(t, folder, "", "shop", items)
		if _, err := checked(t.Context(), folder); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v\nwant %s", err, says)
		}
	}
	empty, two := t.TempDir(), t.TempDir()
	dir := dynamotest.WriteExport(t, two, "", "shop", exported(t))
	must.Do(t, os.CopyFS(filepath.Join(two, "AWSDynamoDB", "01234567890124-a1b2c3d4"), os.DirFS(dir)))
	for name, says := range map[string]string{
		empty: "there is no export of DynamoDB in", two: "there are 2 exports in", "s3://": "give s3://BUCKET/PREFIX",
	} {
		if _, err := Open(t.Context(), name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v\nwant %s", name, err, says)
		}
	}
}

// S3's refusals are said in a sentence.
func TestRefusalsOfABucket(t *testing.T) {
	server := s3test.Start(t)
	server.Environment(t)
	open := func(name, says string) {
		t.Helper()
		if _, err := Open(t.Context(), name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v\nwant %s", name, err, says)
		}
	}
	open("s3://nowhere/a", "the bucket does not exist: check its name")
	open("s3://pages/a", "there is no export of DynamoDB in s3://pages/a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	open("s3://pages/a", "AWS does not accept the credentials")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	open("s3://pages/a", "no AWS credentials were found")
}

// A connection that breaks loses nothing and repeats nothing.
func TestSteady(t *testing.T) {
	const text = "all of the file"
	s := &steady{ctx: t.Context(), place: breaking(text), name: "f"}
	if got, err := io.ReadAll(s); err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
	s = &steady{ctx: t.Context(), place: breaking(""), name: "f"}
	if _, err := io.ReadAll(s); err == nil || !strings.Contains(err.Error(), "f in breaking cannot be read") {
		t.Error(err)
	}
}

// breaking is a place whose connections break after three bytes.
type breaking string

func (b breaking) String() string { return "breaking" }

func (b breaking) folders(context.Context, string) ([]string, error) { return nil, nil }

func (b breaking) open(_ context.Context, _ string, from int64) (io.ReadCloser, error) {
	rest := strings.NewReader(string(b)[from:])
	if b != "" && rest.Len() <= 3 {
		return io.NopCloser(rest), nil
	}
	return io.NopCloser(io.MultiReader(io.LimitReader(rest, 3), iotest.ErrReader(errors.New("broken")))), nil
}

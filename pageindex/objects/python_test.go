package objects

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/provisiontest"
	"github.com/talkback/talkback/pageindex"
)

// readPy prints the comments of a file of records, as any program can read them.
const readPy = `
import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
magic, crc, kind, prefix, size, records, products = struct.unpack_from('>8sIBBHII', data)
assert magic == b'TBPAGES1' and kind == ord('R') and zlib.crc32(data[12:records]) == crc
at = 24 + prefix
def take(form):
    global at
    values = struct.unpack_from('>' + form, data, at)
    at += struct.calcsize('>' + form)
    return values if len(values) > 1 else values[0]
for _ in range(products):
    product = take(f'{take("H")}s').decode()
    n, last, ncells = take('I16sH')
    codes = [(take('B'), take(f'{take("B")}s').decode()) for _ in range(ncells)]
    cells = [(code % 8, language, *(code & trait != 0 for trait in (8, 16, 32))) for code, language in codes]
    at += -(-n // 512) * (20 + 2 * ncells)
    for position, cell in struct.iter_unpack('>16sH', data[records:records + n * size]):
        print(product, position.hex(), *cells[cell])
    records += n * size
`

// The files have the format of docs/design/page-index-files.md: a Python program reads them by it.
func TestPythonReadsRecords(t *testing.T) {
	python := provisiontest.Program(t, "python3", "the files of a page index, read by another language")
	folder := t.TempDir()
	s := mustOpen(t, folder, quiet)
	var entries []pageindex.Entry
	var want []string
	for _, product := range []string{"a/b c", "tasse"} {
		for n := range 700 {
			e := entry(n, 1000)
			e.Product = product
			traits := comment.Traits(n % comment.TraitSets)
			e.Cell = &comment.Cell{Language: comment.Language([]string{"de", "zh-Hant"}[n%2]), Rating: 1 + n%comment.MaxRating, Traits: traits}
			entries = append(entries, e)
			line := fmt.Sprintf("%s %x %d %s", product, e.Position[:], e.Cell.Rating, e.Cell.Language)
			for _, trait := range []comment.Traits{comment.IsVerified, comment.HasMedia, comment.IsHelpful} {
				line += map[bool]string{true: " True", false: " False"}[traits&trait != 0]
			}
			want = append(want, line)
		}
	}
	must.Do(t, s.Apply(t.Context(), entries))
	s.core.settings.chunk = chunkItems // both products in one file
	must.Do(t, s.merger.merge(t.Context()))
	script := filepath.Join(t.TempDir(), "read.py")
	must.Do(t, os.WriteFile(script, []byte(readPy), 0o600))
	chunk := s.core.current().root.Chunks[0]
	out, err := exec.CommandContext(t.Context(), python, script, filepath.Join(folder, chunk.objectName(Records))).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(got) != len(want) {
		t.Fatalf("Python reads %d comments, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("line %d: %s, want %s", i, got[i], want[i])
		}
	}
}

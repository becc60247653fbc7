package wire

import (
	"math/big"
	"strconv"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/document"
)

// usualInput is for how many bytes of an input room is made at once.
const usualInput = 512

// Input returns the input of a read as JSON, in the bytes of the SDK's own serializer. It reports
// false for an input that holds what reads usually do not: binaries, or texts that need escapes or
// are not ASCII.
func Input(in smithy.Serializable) (json []byte, ok bool) {
	w := inputWriter{json: make([]byte, 0, usualInput)}
	in.Serialize(&w)
	return w.json, !w.unusual
}

// inputWriter is the [smithy.ShapeSerializer] of Input. The SDK tells it the members of an input.
type inputWriter struct {
	json    []byte
	open    []byte // what closes the lists and objects that are open
	room    [8]byte
	unusual bool
}

// Bytes implements [smithy.ShapeSerializer].
func (w *inputWriter) Bytes() []byte { return w.json }

// begin writes what comes before a value: a comma, and its name if it is a member of a structure.
func (w *inputWriter) begin(schema *smithy.Schema) {
	if len(w.json) == 0 || w.json[len(w.json)-1] == ':' {
		return
	}
	w.comma()
	if w.open[len(w.open)-1] == '}' {
		w.name(schema.MemberName())
	}
}

// comma writes a comma, unless what follows is the first in its list or object.
func (w *inputWriter) comma() {
	w.complete()
	if last := w.json[len(w.json)-1]; last != '{' && last != '[' {
		w.json = append(w.json, ',')
	}
}

// complete looks whether the last name has a value. The SDK writes none for nil.
func (w *inputWriter) complete() {
	if w.json[len(w.json)-1] == ':' {
		w.unusual = true
	}
}

func (w *inputWriter) name(name string) {
	w.text(name)
	w.json = append(w.json, ':')
}

// text writes a string.
func (w *inputWriter) text(text string) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			w.unusual = true
			break
		}
	}
	w.json = append(w.json, '"')
	w.json = append(w.json, text...)
	w.json = append(w.json, '"')
}

// enter begins a list or an object.
func (w *inputWriter) enter(schema *smithy.Schema, opened, closed byte) {
	w.begin(schema)
	if w.open == nil {
		w.open = w.room[:0]
	}
	w.json, w.open = append(w.json, opened), append(w.open, closed)
}

// leave ends what was begun last.
func (w *inputWriter) leave() {
	w.complete()
	last := len(w.open) - 1
	w.json, w.open = append(w.json, w.open[last]), w.open[:last]
}

// WriteString implements [smithy.ShapeSerializer].
func (w *inputWriter) WriteString(schema *smithy.Schema, v string) {
	w.begin(schema)
	w.text(v)
}

// WriteBool implements [smithy.ShapeSerializer].
func (w *inputWriter) WriteBool(schema *smithy.Schema, v bool) {
	w.begin(schema)
	w.json = strconv.AppendBool(w.json, v)
}

// WriteInt32 implements [smithy.ShapeSerializer].
func (w *inputWriter) WriteInt32(schema *smithy.Schema, v int32) {
	w.begin(schema)
	w.json = strconv.AppendInt(w.json, int64(v), 10)
}

// WriteKey implements [smithy.ShapeSerializer].
func (w *inputWriter) WriteKey(_ *smithy.Schema, key string) {
	w.comma()
	w.name(key)
}

// WriteStruct implements [smithy.ShapeSerializer].
func (w *inputWriter) WriteStruct(schema *smithy.Schema) { w.enter(schema, '{', '}') }

// WriteMap implements [smithy.ShapeSerializer].
func (w *inputWriter) WriteMap(schema *smithy.Schema) { w.enter(schema, '{', '}') }

// WriteList implements [smithy.ShapeSerializer].
func (w *inputWriter) WriteList(schema *smithy.Schema) { w.enter(schema, '[', ']') }

// WriteUnion implements [smithy.ShapeSerializer].
func (w *inputWriter) WriteUnion(schema, variant *smithy.Schema) {
	w.enter(schema, '{', '}')
	w.name(variant.MemberName())
}

// CloseStruct implements [smithy.ShapeSerializer].
func (w *inputWriter) CloseStruct() { w.leave() }

// CloseMap implements [smithy.ShapeSerializer].
func (w *inputWriter) CloseMap() { w.leave() }

// CloseList implements [smithy.ShapeSerializer].
func (w *inputWriter) CloseList() { w.leave() }

// CloseUnion implements [smithy.ShapeSerializer].
func (w *inputWriter) CloseUnion() { w.leave() }

// WriteInt8 implements [smithy.ShapeSerializer], as do those below.
func (w *inputWriter) WriteInt8(*smithy.Schema, int8) { w.unusual = true }

// WriteInt16 is unusual.
func (w *inputWriter) WriteInt16(*smithy.Schema, int16) { w.unusual = true }

// WriteInt64 is unusual.
func (w *inputWriter) WriteInt64(*smithy.Schema, int64) { w.unusual = true }

// WriteFloat32 is unusual.
func (w *inputWriter) WriteFloat32(*smithy.Schema, float32) { w.unusual = true }

// WriteFloat64 is unusual.
func (w *inputWriter) WriteFloat64(*smithy.Schema, float64) { w.unusual = true }

// WriteBigInt is unusual.
func (w *inputWriter) WriteBigInt(*smithy.Schema, *big.Int) { w.unusual = true }

// WriteBigFloat is unusual.
func (w *inputWriter) WriteBigFloat(*smithy.Schema, *big.Float) { w.unusual = true }

// WriteBlob is unusual.
func (w *inputWriter) WriteBlob(*smithy.Schema, []byte) { w.unusual = true }

// WriteTime is unusual.
func (w *inputWriter) WriteTime(*smithy.Schema, time.Time) { w.unusual = true }

// WriteDocument is unusual.
func (w *inputWriter) WriteDocument(*smithy.Schema, document.Value) { w.unusual = true }

// WriteNil is unusual.
func (w *inputWriter) WriteNil(*smithy.Schema) { w.unusual = true }

package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// storage keeps objects by name: those of a folder or of a bucket. A name is a path with slashes. All
// methods are safe for concurrent use. An object is written as a whole or not at all, and survives a
// crash of the machine once put has returned.
type storage interface {
	// get reads an object, unless its tag is the given one: errUnchanged. Without an object it is
	// errMissing.
	get(ctx context.Context, name, unless string) (object, error)
	// getRange reads some bytes of an object, fewer at its end.
	getRange(ctx context.Context, name string, offset, length int) ([]byte, error)
	// put writes an object if it is as it was: with a tag, or missing if the tag is empty. Else it
	// returns errTaken. The new tag differs from all earlier ones of the name.
	put(ctx context.Context, name string, data []byte, was string) (tag string, err error)
	// list returns the objects whose names begin with the name of a folder, sorted by name. With the error
	// errMore, they are the first.
	list(ctx context.Context, folder string) ([]listed, error)
	// remove deletes an object. One that is missing is no error.
	remove(ctx context.Context, name string) error
	// close ends the use of the storage by this process.
	close() error
}

// object is the content of an object. Its tag changes whenever it is written.
type object struct {
	data []byte
	tag  string
}

// listed is an object of a list.
type listed struct {
	name string
	age  time.Duration // by the clock of the storage
}

// Outcomes of a call that are no failures.
var (
	errMissing   = errors.New("there is no such object")
	errUnchanged = errors.New("the object is as it was")
	// errTaken is the refusal of a conditional put: the object is there, or is another than expected.
	errTaken = errors.New("the object has changed")
)

// failure returns the error of a read, unless it is an outcome that is no failure.
func failure(err error) error {
	if errors.Is(err, errMissing) || errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// Names of objects.
const (
	rootObject  = "root"
	leaseObject = "lease"
	logFolder   = "logs/"
	chunkFolder = "chunks/"
)

func logName(number uint64) string { return fmt.Sprintf("%s%020d", logFolder, number) }

func logNumber(name string) (uint64, bool) {
	digits, isLog := strings.CutPrefix(name, logFolder)
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, isLog && err == nil
}

// uniqueName returns a name that nothing else has.
func uniqueName() string { return rand.Text() }

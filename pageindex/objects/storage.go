package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// storage stores objects by name, in a folder or a bucket. A name is a path with slashes. All
// methods are safe for concurrent use. Writing an object is atomic, and survives a crash of the
// machine once put has returned.
type storage interface {
	// get reads an object. It returns errUnchanged if the object has the tag unless, and errMissing
	// if there is none.
	get(ctx context.Context, name, unless string) (object, error)
	// getRange reads a range of bytes of an object, fewer at its end.
	getRange(ctx context.Context, name string, offset, length int) ([]byte, error)
	// put writes an object on condition that its tag is was or, if was is empty, that it is
	// missing. Otherwise it returns errTaken. The new tag differs from all earlier ones of the
	// name.
	put(ctx context.Context, name string, data []byte, was string) (tag string, err error)
	// list returns the objects whose names begin with a folder's name, sorted by name. With the
	// error errMore, it returns the first ones.
	list(ctx context.Context, folder string) ([]listed, error)
	// remove deletes an object. Deleting a missing object is no error.
	remove(ctx context.Context, name string) error
	// close releases what this process holds of the storage.
	close() error
}

// mostBytes bounds what is read of an object, which may be another program's by now. What is cut
// off does not match its checksum. The root of a billion comments has some 15 MB.
const mostBytes = 128 << 20

// object is the content of an object. The tag changes with each write.
type object struct {
	data []byte
	tag  string
}

// listed is an object in a listing.
type listed struct {
	name string
	age  time.Duration // by the clock of the storage
}

// Errors that are expected outcomes, not failures.
var (
	errMissing   = errors.New("there is no such object")
	errUnchanged = errors.New("the object is as it was")
	// errTaken is the refusal of a conditional put: the object exists, or has another tag.
	errTaken = errors.New("the object has changed")
)

// failure returns err, or nil if it is errMissing or errUnchanged.
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
	number, err := strconv.ParseUint(strings.TrimPrefix(name, logFolder), 10, 64)
	return number, err == nil && name == logName(number)
}

// chunkFile matches the names of a chunk's files. Others in their folder are of another program.
var chunkFile = regexp.MustCompile("^" + chunkFolder + `[A-Z2-7]{26}\.(records|guards)$`)

// uniqueName returns a random, unique name.
func uniqueName() string { return rand.Text() }

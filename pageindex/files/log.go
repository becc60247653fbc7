package files

import (
	"errors"
	"os"

	"github.com/talkback/talkback/pageindex/pagefile"
)

// appender is the log that changes are appended to.
type appender struct {
	number uint64
	file   *os.File
	length int64 // of what was acknowledged
	broken bool  // what is behind that could not be cut off
}

// newAppender begins a log.
func newAppender(f folder, number uint64) (*appender, error) {
	file, err := os.OpenFile(f.path(logFolder, logName(number)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return nil, err
	}
	if err := syncFolder(f.path(logFolder)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &appender{number: number, file: file}, nil
}

// append appends items. Without an error they survive a crash.
func (a *appender) append(items []pagefile.Item) error {
	frame := pagefile.AppendFrame(nil, items)
	_, err := a.file.WriteAt(frame, a.length)
	if err == nil {
		err = a.file.Sync()
	}
	if err != nil {
		cut := a.file.Truncate(a.length)
		a.broken = cut != nil
		return errors.Join(err, cut)
	}
	a.length += int64(len(frame))
	return nil
}

// there reports whether the file is still in the folder.
func (a *appender) there(f folder) bool {
	mine, err := a.file.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(f.path(logFolder, logName(a.number)))
	return err == nil && os.SameFile(mine, found)
}

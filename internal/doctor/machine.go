package doctor

import (
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/talkback/talkback/internal/engine"
)

// expiresSoon is how long before its expiry a certificate should be renewed. Let's Encrypt
// recommends 30 days, so a later renewal was probably forgotten.
const expiresSoon = 14 * 24 * time.Hour

// Certificate checks that a certificate is valid now, and for a while longer.
func Certificate(leaf *x509.Certificate, now time.Time) Finding {
	const check = "certificate"
	day := leaf.NotAfter.Format(time.DateOnly)
	switch {
	case now.After(leaf.NotAfter):
		return New(check, Problem, "expired on %s", day).Cured("renew it and restart the server")
	case now.Before(leaf.NotBefore):
		return New(check, Problem, "is not valid before %s", leaf.NotBefore.Format(time.DateOnly)).Cured("set the clock of this machine, or wait")
	case leaf.NotAfter.Sub(now) < expiresSoon:
		return New(check, Warning, "expires on %s", day).Cured("renew it and restart the server")
	}
	return New(check, OK, "valid until %s", day)
}

// Bounds on the free space of the local engine's disk, in bytes.
const (
	spaceNeeded = 64 << 20
	spaceWanted = 1 << 30
)

// Folder checks the data folder of the local engine.
func Folder(folder string) Finding {
	const check = "data folder"
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return New(check, Warning, "%s does not exist", folder).Cured("talkback serve makes it; or name another by --data")
	case err != nil:
		return New(check, Problem, "%v", err)
	case !info.IsDir():
		return New(check, Problem, "%s is a file", folder).Cured("name a folder by --data")
	}
	free, err := engine.FreeSpace(folder)
	if err != nil {
		return New(check, Unknown, "the free space of %s: %v", folder, err)
	}
	return Space(folder, free)
}

// Space checks the free space of a folder's disk, in bytes.
func Space(folder string, free uint64) Finding {
	const check, more = "data folder", "free some space, or move the folder to a larger disk"
	switch {
	case free < spaceNeeded:
		return New(check, Problem, "the disk of %s has %d MB left", folder, free>>20).Cured(more)
	case free < spaceWanted:
		return New(check, Warning, "the disk of %s has %d MB left", folder, free>>20).Cured(more)
	}
	return New(check, OK, "%s, with %d GB of free space", folder, free>>30)
}

package command

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

// checkCertificate checks that a certificate is valid now, and for a while longer.
func checkCertificate(leaf *x509.Certificate, now time.Time) finding {
	const check = "certificate"
	day := leaf.NotAfter.Format(time.DateOnly)
	switch {
	case now.After(leaf.NotAfter):
		return newFinding(check, resultProblem, "expired on %s", day).cured("renew its files: a server that runs reads them again within a minute")
	case now.Before(leaf.NotBefore):
		return newFinding(check, resultProblem, "is not valid before %s", leaf.NotBefore.Format(time.DateOnly)).cured("set the clock of this machine, or wait")
	case leaf.NotAfter.Sub(now) < expiresSoon:
		return newFinding(check, resultWarning, "expires on %s", day).cured("renew its files: a server that runs reads them again within a minute")
	}
	return newFinding(check, resultOK, "valid until %s", day)
}

// Bounds on the free space of the local engine's disk, in bytes.
const (
	spaceNeeded = 64 << 20
	spaceWanted = 1 << 30
)

// checkFolder checks the data folder of the local engine.
func checkFolder(folder string) finding {
	const check = "data folder"
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newFinding(check, resultWarning, "%s does not exist", folder).cured("talkback serve makes it; or name another by --data")
	case err != nil:
		return newFinding(check, resultProblem, "%v", err)
	case !info.IsDir():
		return newFinding(check, resultProblem, "%s is a file", folder).cured("name a folder by --data")
	}
	free, err := engine.FreeSpace(folder)
	if err != nil {
		return newFinding(check, resultUnknown, "the free space of %s: %v", folder, err)
	}
	return checkSpace(folder, free)
}

// checkSpace checks the free space of a folder's disk, in bytes.
func checkSpace(folder string, free uint64) finding {
	const check, more = "data folder", "free some space, or move the folder to a larger disk"
	switch {
	case free < spaceNeeded:
		return newFinding(check, resultProblem, "the disk of %s has %d MB left", folder, free>>20).cured(more)
	case free < spaceWanted:
		return newFinding(check, resultWarning, "the disk of %s has %d MB left", folder, free>>20).cured(more)
	}
	return newFinding(check, resultOK, "%s, with %d GB of free space", folder, free>>30)
}

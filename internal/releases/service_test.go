package releases

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/provisiontest"
)

// systemd-analyze finds nothing to say about the unit: it ends with status 0 after an unknown key.
func TestUnit(t *testing.T) {
	tool := provisiontest.Program(t, "systemd-analyze", "the unit of systemd")
	root := must.Get(provisiontest.ModuleRoot())(t)
	unit := filepath.Join(root, "infra", "linux", "talkback.service")
	said, err := exec.Command(tool, "verify", "--man=no", unit).CombinedOutput()
	missing := "talkback.service: Command /usr/bin/talkback is not executable: No such file or directory\n"
	if text := string(said); text != "" && text != missing {
		t.Errorf("%v: %s", err, text)
	}
	if said, err := exec.Command(tool, "security", "--offline=true", "--threshold=20", unit).CombinedOutput(); err != nil {
		t.Errorf("%v: more is open to the service than an exposure of 2.0 allows:\n%s", err, said)
	}
}

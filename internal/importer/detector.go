package importer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/engine"
	"github.com/talkback/talkback/internal/task"
)

const languagesProgram = "talkback-languages"

// ErrNoDetector means that the program was not found, and names the cure.
var ErrNoDetector = errors.New("--detect-language needs the program " + languagesProgram + " beside talkback or on PATH: make languages builds it")

// Detector asks the program talkback-languages for the languages of texts. It is a separate process
// because its models are larger than all of Talkback. One goroutine uses it at a time.
type Detector struct {
	ctx  context.Context // of the import
	in   io.WriteCloser
	out  *bufio.Reader
	said strings.Builder
	wait func() error // waits for the end of the program, once: Close may be called while Language fails
}

// StartDetector starts the program, to choose among languages: tags separated by commas, or "all".
func StartDetector(ctx context.Context, among string) (*Detector, error) {
	path, err := engine.FindProgram(languagesProgram)
	if err != nil {
		return nil, ErrNoDetector
	}
	process := exec.CommandContext(ctx, path, among)
	d := &Detector{ctx: ctx, wait: sync.OnceValue(process.Wait)}
	process.Env = []string{} // secrets stay with us
	process.Stderr = &d.said
	if d.in, err = process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.out = bufio.NewReader(out)
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("--detect-language: %w", err)
	}
	if _, err := d.Language("hello"); err != nil {
		return nil, err // it does not support these languages
	}
	return d, nil
}

// maxText is how many bytes of a text are sent to the program. It examines fewer, and limits the
// length of lines: the text of a row that is rejected later may have megabytes.
const maxText = 4 << 10

// Language returns the language of a text, "und" if it is uncertain.
func (d *Detector) Language(text string) (comment.Language, error) {
	line, err := json.Marshal(strings.ToValidUTF8(text[:min(len(text), maxText)], ""))
	if err != nil {
		return "", err
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		return "", d.failed(err)
	}
	answer, err := d.out.ReadString('\n')
	if err != nil {
		return "", d.failed(err)
	}
	return comment.ParseLanguage(strings.TrimSpace(answer))
}

// lateSignal is how long a Ctrl-C that ended the program may take to end the import, too.
const lateSignal = time.Second

// failed returns why the program ended. If the import was interrupted, it is the context's error.
func (d *Detector) failed(err error) error {
	_ = d.in.Close()
	patience := time.Duration(0)
	if exit, ok := errors.AsType[*exec.ExitError](d.wait()); ok && !exit.Exited() {
		patience = lateSignal
	}
	if interrupted := task.Wait(d.ctx, patience); interrupted != nil {
		return interrupted
	}
	if said := strings.TrimSpace(d.said.String()); said != "" { // it says more than its status
		return fmt.Errorf("--detect-language: %s", strings.TrimPrefix(said, languagesProgram+": "))
	}
	return fmt.Errorf("%s ended: %w", languagesProgram, err)
}

// Close ends the program.
func (d *Detector) Close() error {
	return errors.Join(d.in.Close(), d.wait())
}

package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/talkback/talkback/internal/engine"
	"github.com/talkback/talkback/internal/provisiontest"
)

// Password is in all URLs, and checked by no server.
const Password = "not-for-logs"

const (
	// owner is the databases' user.
	owner = "talkback"

	// readyWithin bounds the start, stopWithin the end, before the server is killed.
	readyWithin, stopWithin = time.Minute, 10 * time.Second
)

// Server is a PostgreSQL server of this test process.
type Server struct {
	programs string // the folder of PostgreSQL's programs
	folder   string
	port     uint16
	durable  bool
	running  *engine.Child
}

// start makes a server's folder and starts it.
func start(durable bool) (*Server, error) {
	programs, err := find()
	if err != nil {
		return nil, err
	}
	s := &Server{programs: programs, durable: durable}
	if s.port, err = engine.FreePort(netip.AddrFrom4([4]byte{127, 0, 0, 1})); err != nil {
		return nil, err
	}
	if err := s.create(); err != nil {
		return nil, fmt.Errorf("create a PostgreSQL data folder: %w", err)
	}
	return s, s.Start()
}

// find returns the folder of the newest PostgreSQL: Debian has each version in one of its own.
func find() (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("the PostgreSQL suite: postgres is neither on PATH nor below /usr/lib/postgresql; %w", provisiontest.ErrNotInstalled)
	}
	return filepath.Dir(slices.Max(found)), nil
}

// create makes the data folder. PostgreSQL refuses to run as root, so that root runs it as the user
// that Debian's package makes for it.
func (s *Server) create() error {
	var err error
	if s.folder, err = os.MkdirTemp("", "talkback-postgres-"); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		postgres, err := user.Lookup("postgres")
		if err != nil {
			return err
		}
		uid, err := strconv.Atoi(postgres.Uid)
		if err != nil {
			return err
		}
		gid, err := strconv.Atoi(postgres.Gid)
		if err != nil {
			return err
		}
		if err := os.Chown(s.folder, uid, gid); err != nil {
			return err
		}
	}
	path, args := s.command("initdb", "-D", filepath.Join(s.folder, "data"), "-U", owner, "--auth=trust", "--no-sync",
		"--encoding=UTF8", "--locale=C", "--no-instructions")
	initdb := exec.Command(path, args...)
	initdb.Dir = s.folder
	if output, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}

// command says how a program of PostgreSQL is run. setpriv becomes the program, so that signals
// reach it.
func (s *Server) command(program string, args ...string) (string, []string) {
	path := filepath.Join(s.programs, program)
	if os.Geteuid() != 0 {
		return path, args
	}
	return "/usr/bin/setpriv", append([]string{"--reuid=postgres", "--regid=postgres", "--clear-groups", path}, args...)
}

// Start starts the server, which was stopped, and waits until it answers.
func (s *Server) Start() error {
	settings := []string{
		"-D", filepath.Join(s.folder, "data"), "-p", fmt.Sprint(s.port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "deadlock_timeout=100ms",
	}
	if !s.durable {
		settings = append(settings, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	}
	path, args := s.command("postgres", settings...)
	running, err := engine.StartChild(engine.Command{Path: path, Args: args, Log: filepath.Join(s.folder, "log")})
	if err != nil {
		return err
	}
	s.running = running
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	return running.Ready(ctx, func(ctx context.Context) bool {
		connection, err := pgx.Connect(ctx, s.url("postgres"))
		if err != nil {
			return false
		}
		return connection.Close(ctx) == nil
	})
}

// Stop ends the server and all its connections, as an administrator does in a hurry.
func (s *Server) Stop() error { return s.end(syscall.SIGINT) }

// Crash ends the server without giving it a chance to write anything: it calls that an immediate
// shutdown, and recovers at the next start. kill -9 would leave its children behind for a while.
func (s *Server) Crash() error { return s.end(syscall.SIGQUIT) }

func (s *Server) end(signal syscall.Signal) error {
	if err := syscall.Kill(s.running.PID(), signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	select {
	case <-s.running.Done():
		return nil
	case <-time.After(stopWithin):
		return s.running.Stop(0)
	}
}

// Remove removes the server's data.
func (s *Server) Remove() error { return os.RemoveAll(s.folder) }

// url is that of a database. The password is not asked for: errors must not show it all the same.
func (s *Server) url(database string) string {
	return fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s?sslmode=disable", owner, Password, s.port, database)
}

// Standby makes a standby of the server as it is now. It hears of nothing that comes later.
func (s *Server) Standby() error {
	path, args := s.command("pg_basebackup", "-D", s.standby(), "-R", "-c", "fast", "-h", "127.0.0.1", "-p", fmt.Sprint(s.port), "-U", owner)
	output, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}

func (s *Server) standby() string { return filepath.Join(s.folder, "standby") }

// FailOver has the standby take the place of the server.
func (s *Server) FailOver(ctx context.Context) error {
	data := filepath.Join(s.folder, "data")
	if err := errors.Join(s.Stop(), os.RemoveAll(data), os.Rename(s.standby(), data), s.Start()); err != nil {
		return err
	}
	connection, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	_, err = connection.Exec(ctx, "SELECT pg_promote()")
	return errors.Join(err, connection.Close(ctx))
}

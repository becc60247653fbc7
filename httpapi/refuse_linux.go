package httpapi

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// onlySYN drops the segments that ask for a new connection, which have SYN and not ACK among their
// flags. All others pass, so that connections that are being made come about.
// https://datatracker.ietf.org/doc/html/rfc9293#section-3.1
var onlySYN = []bpf.Instruction{
	bpf.LoadAbsolute{Off: 13, Size: 1}, // the flags of a TCP header
	bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0x12},
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0x02, SkipFalse: 1},
	bpf.RetConstant{Val: 0},
	bpf.RetConstant{Val: 0xffffffff},
}

// refuseNew has the kernel drop requests for new connections. waiting reports whether there are
// connections that nobody has accepted yet.
func refuseNew(listener net.Listener) (waiting func() bool, err error) {
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	if err := attach(raw, onlySYN); err != nil {
		return nil, err
	}
	return func() bool { return backlog(raw) > 0 }, nil
}

// attach has the kernel ask a program which segments to drop.
func attach(socket syscall.RawConn, program []bpf.Instruction) error {
	assembled, err := bpf.Assemble(program)
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(assembled))
	for i, in := range assembled {
		filter[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	var refused error
	err = socket.Control(func(fd uintptr) {
		refused = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
	})
	return errors.Join(err, refused)
}

// backlog returns how many connections of a listening socket wait to be accepted. The kernel tells
// it where other sockets have their unacknowledged segments (tcp_get_info in net/ipv4/tcp.c).
func backlog(socket syscall.RawConn) (waiting int) {
	_ = socket.Control(func(fd uintptr) { // it fails once the socket is closed
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			waiting = int(info.Unacked)
		}
	})
	return waiting
}

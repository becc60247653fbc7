package relational

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// postgresFaults maps error codes to faults, by the code or its first two characters, the class.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
var postgresFaults = map[string]fault{
	"08":    faultAway,    // connection exceptions
	"28":    faultAway,    // authorization failed
	"3D":    faultAway,    // no such database
	"53":    faultAway,    // too many connections, disk or memory full
	"57":    faultAway,    // shutting down, or starting
	"57014": faultSlow,    // statement_timeout
	"25P03": faultSlow,    // idle_in_transaction_session_timeout
	"40":    faultCrossed, // deadlocks, serialization failures
	"55P03": faultCrossed, // a lock that is not available
	"23505": faultCrossed, // a schema that another process creates at the same time
	"3F000": faultMissing, // no such schema
	"42P01": faultMissing, // no such table
	"42703": faultMissing, // no such column: another schema came meanwhile
	"XX000": faultCrossed, // a table that is dropped meanwhile: cache lookup failed, tuple concurrently updated
}

// explainPostgres classifies an error. It returns only the code: the server's message may contain
// values.
func explainPostgres(err error) (fault, string) {
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
		fault, known := postgresFaults[failed.Code]
		if !known && len(failed.Code) == 5 {
			fault = postgresFaults[failed.Code[:2]]
		}
		return fault, "SQLSTATE " + failed.Code
	}
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return faultSlow, ""
	case errors.As(err, &network):
		return faultAway, network.Error()
	case errors.As(err, new(*pgconn.ConnectError)), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, driver.ErrBadConn), pgconn.SafeToRetry(err): // a safe retry means that nothing was sent
		return faultAway, ""
	}
	return faultOther, ""
}

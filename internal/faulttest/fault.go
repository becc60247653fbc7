package faulttest

// Fault is how a call fails.
type Fault string

// The faults. Calls that are throttled, refused or canceled, or fail in the engine, do not reach
// it. If the answer is lost or damaged, the engine has executed the call. It executes a Late call
// when that arrives.
const (
	None               Fault = ""
	Throttled          Fault = "throttled"
	ThrottledOtherwise Fault = "throttled by another name"
	Refused            Fault = "no connection"
	ServerError        Fault = "failed in the engine"
	Unavailable        Fault = "engine unavailable"
	AnswerLost         Fault = "answer lost, the connection reset"
	AnswerTimeout      Fault = "answer lost, the time is up"
	AnswerEnd          Fault = "answer lost, the connection ended"
	AnswerError        Fault = "answer replaced by an error"
	AnswerCut          Fault = "answer cut off"
	AnswerShort        Fault = "half an answer that says it is whole"
	AnswerMixed        Fault = "answer of something else"
	AnswerGarbled      Fault = "answer without the checksum it claims"
	Late               Fault = "request arrives late"
	Twice              Fault = "performed twice" // as DynamoDB itself may when a part of it fails
	TransactConflict   Fault = "another transaction in the way"
	TransactThrottled  Fault = "a transaction throttled"
	WriteConflict      Fault = "a transaction in the way of a single write"
	CallerLeft         Fault = "the caller left before"
	CallerLeaves       Fault = "the caller leaves before the answer"
)

// Kinds are all faults but None and Leaving.
var Kinds = []Fault{
	Throttled, ThrottledOtherwise, Refused, ServerError, Unavailable, AnswerLost, AnswerTimeout, AnswerEnd, AnswerError, AnswerCut,
	AnswerShort, AnswerMixed, AnswerGarbled, Late, Twice, TransactConflict, TransactThrottled, WriteConflict,
}

// Leaving are faults of a Network that knows how its caller leaves: see Network.Leave.
var Leaving = []Fault{CallerLeft, CallerLeaves}

// OfTransactions reports whether a fault happens to transactions only. For other calls it is None.
func (f Fault) OfTransactions() bool { return f == TransactConflict || f == TransactThrottled }

// happensTo reports whether a fault can happen to a call. DynamoDB itself refuses single writes
// that conflict with a transaction.
func (f Fault) happensTo(call string) bool {
	switch {
	case f.OfTransactions():
		return call == "TransactWriteItems"
	case f == WriteConflict:
		return call == "PutItem" || call == "UpdateItem" || call == "DeleteItem"
	}
	return true
}

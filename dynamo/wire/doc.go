// Package wire decodes the answers of reads: JSON, as DynamoDB's API sends it. It knows the members
// and types that usual answers have. Of any other answer it returns [ErrUnusual], and the SDK's own
// decoder decides what that answer means, or whether it is damaged. It encodes the usual inputs of
// reads too.
package wire

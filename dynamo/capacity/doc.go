// Package capacity is what DynamoDB charges for reads, in read capacity units, and the bound on
// what one page or one count may cost.
//
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
package capacity

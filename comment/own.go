package comment

import "fmt"

// MaxLatest bounds the latest comments of CustomerComments.
const MaxLatest = 6

// CustomerComments is a summary of a customer's comments for moderators.
type CustomerComments struct {
	// Total is the number of comments in every state. MaxPageSize means that many or more.
	Total int
	// Latest are at most MaxLatest, newest first.
	Latest []Comment
}

// OwnQuery asks for a page of the comments of one customer over all products, newest first.
type OwnQuery struct {
	// Customer is the shop's own ID of the customer.
	Customer string
	// After is the position that the page follows, nil for the first page.
	After *Position
	// Size is the size of the page, 1 to MaxPageSize.
	Size int
	// Status selects the comments in this state; nil selects all.
	Status *Status
	// WithoutText leaves out the texts.
	WithoutText bool
}

// Check returns a BadInput error unless the size is in range.
func (q OwnQuery) Check() error {
	return refuse(q.Size < 1 || q.Size > MaxPageSize, "a page of a customer's comments has 1 to %d of them, not %d", MaxPageSize, q.Size)
}

// String identifies the query for a log.
func (q OwnQuery) String() string {
	return fmt.Sprintf("%d comments of one customer", q.Size)
}

// CustomerProduct is a customer and a product that the customer may have commented on.
type CustomerProduct struct {
	Customer, Product string
}

// OwnPage is a page of the comments of one customer.
type OwnPage struct {
	// Comments are newest first. They may be fewer than the query's Size although more follow.
	Comments []Comment
	// End is the position that the next page follows. It is nil if no comment was scanned.
	End *Position
	// HasNext says that older comments were not scanned.
	HasNext bool
}

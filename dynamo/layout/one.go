package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/talkback/talkback/comment"
)

// Items that make a customer's comment about a product the only one.
const (
	onePKPrefix = "ONE#" // a hash of the customer and the product follows
	oneSK       = "ONE"
)

// OneKey returns the primary key of the item that makes a customer's comment about a product the only
// one. The key is a hash, and tells neither.
func OneKey(of comment.CustomerProduct) Item {
	text, err := json.Marshal([]string{of.Customer, of.Product})
	if err != nil {
		panic("layout: " + err.Error()) // texts only
	}
	hash := sha256.Sum256(text)
	return Item{AttrPK: Text(onePKPrefix + hex.EncodeToString(hash[:])), AttrSK: Text(oneSK)}
}

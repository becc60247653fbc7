package wire

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-faster/jx"
)

// Query decodes the answer of a Query into an empty output. If each is not nil, it gets the items,
// and the output does not. With an error, each may have got some of them.
func Query(body []byte, out *dynamodb.QueryOutput, each func(*Record)) error {
	return decode(body, queryMember(out, each))
}

// queryMember returns what reads a member of the answer of a Query.
func queryMember(out *dynamodb.QueryOutput, each func(*Record)) func(d *jx.Decoder, name []byte) error {
	given := false
	return func(d *jx.Decoder, name []byte) (err error) {
		switch string(name) {
		case "Items":
			if given { // and cannot be taken back
				return ErrUnusual
			}
			given = each != nil
			out.Items, err = items(d, each)
		case "Count":
			out.Count, err = d.Int32()
		case "ScannedCount":
			out.ScannedCount, err = d.Int32()
		case "LastEvaluatedKey":
			out.LastEvaluatedKey, err = item(d, 0, usualKey)
		case "ConsumedCapacity":
			out.ConsumedCapacity = &types.ConsumedCapacity{}
			err = capacity(d, out.ConsumedCapacity)
		default:
			err = d.Skip()
		}
		return err
	}
}

// GetItem decodes the answer of a GetItem into an empty output.
func GetItem(body []byte, out *dynamodb.GetItemOutput) error {
	return decode(body, func(d *jx.Decoder, name []byte) (err error) {
		switch string(name) {
		case "Item":
			out.Item, err = item(d, 0, usualAttributes)
		case "ConsumedCapacity":
			out.ConsumedCapacity = &types.ConsumedCapacity{}
			err = capacity(d, out.ConsumedCapacity)
		default:
			err = d.Skip()
		}
		return err
	})
}

// BatchGetItem decodes the answer of a BatchGetItem into an empty output. If each is not nil, it
// gets the items of all tables, and the output does not. With an error, each may have got some.
func BatchGetItem(body []byte, out *dynamodb.BatchGetItemOutput, each func(*Record)) error {
	return decode(body, batchMember(out, each))
}

// batchMember returns what reads a member of the answer of a BatchGetItem.
func batchMember(out *dynamodb.BatchGetItemOutput, each func(*Record)) func(d *jx.Decoder, name []byte) error {
	return func(d *jx.Decoder, name []byte) (err error) {
		switch string(name) {
		case "Responses":
			if out.Responses != nil {
				return ErrUnusual
			}
			out.Responses, err = responses(d, each)
		case "UnprocessedKeys":
			out.UnprocessedKeys, err = unprocessed(d)
		case "ConsumedCapacity":
			out.ConsumedCapacity, err = capacities(d)
		default:
			err = d.Skip()
		}
		return err
	}
}

// responses reads the items of a batch, by table.
func responses(d *jx.Decoder, each func(*Record)) (map[string][]map[string]types.AttributeValue, error) {
	out := map[string][]map[string]types.AttributeValue{}
	return out, members(d, func(d *jx.Decoder, table []byte) (err error) {
		if _, twice := out[string(table)]; twice {
			return ErrUnusual
		}
		out[string(table)], err = items(d, each)
		return err
	})
}

// unprocessed reads which keys a batch left out. Usually that is none.
func unprocessed(d *jx.Decoder) (map[string]types.KeysAndAttributes, error) {
	return map[string]types.KeysAndAttributes{}, members(d, func(*jx.Decoder, []byte) error { return ErrUnusual })
}

// capacities reads what a batch consumed, an element for each table.
func capacities(d *jx.Decoder) ([]types.ConsumedCapacity, error) {
	out := []types.ConsumedCapacity{}
	return out, elements(d, func(d *jx.Decoder) error {
		out = append(out, types.ConsumedCapacity{})
		return capacity(d, &out[len(out)-1])
	})
}

// capacity reads what a call consumed in all. Usual calls do not ask for more detail.
func capacity(d *jx.Decoder, out *types.ConsumedCapacity) error {
	return members(d, func(d *jx.Decoder, name []byte) (err error) {
		switch string(name) {
		case "TableName":
			out.TableName = new(string)
			*out.TableName, err = d.Str()
		case "CapacityUnits":
			out.CapacityUnits, err = units(d)
		case "ReadCapacityUnits":
			out.ReadCapacityUnits, err = units(d)
		case "WriteCapacityUnits":
			out.WriteCapacityUnits, err = units(d)
		default:
			err = ErrUnusual
		}
		return err
	})
}

func units(d *jx.Decoder) (*float64, error) {
	n, err := d.Float64()
	return &n, err
}

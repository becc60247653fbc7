package bench

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/talkback/talkback/dynamo/layout"
)

// floorAnswer is as large as the answer with 20 comments.
const floorAnswer = 9 << 10

// serveFloor runs a program that makes one call for each request without parsing either: no JSON,
// no SDK, no signature. Its cost is that of net/http on both sides, and of the system. No program
// on net/http takes less for the newest 20.
func serveFloor() (string, error) {
	var number atomic.Int64
	answer := bytes.Repeat([]byte("x"), floorAnswer)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}
	return serveHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		if err == nil {
			err = floorCall(r, client, shopProduct(int(number.Add(1))))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"data":{"x":"%s"}}`, answer) // a client that went away needs no answer
	}))
}

// floorCall reads 21 comments of a product, and discards them.
func floorCall(r *http.Request, client *http.Client, product string) error {
	body := fmt.Sprintf(`{"ExpressionAttributeValues":{":p":{"S":"P#%s"}},"IndexName":"all","KeyConditionExpression":"A = :p","Limit":%d,`+
		`"ProjectionExpression":"%s","ReturnConsumedCapacity":"TOTAL","ScanIndexForward":false,"TableName":"%s"}`,
		product, pageSize+1, layout.ListProjection(true), os.Getenv(tableVariable))
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, os.Getenv(endpointVariable), bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set(targetHeader, "DynamoDB_20120810.Query")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	request.Header.Set("X-Amz-Date", "20260101T000000Z")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// Outcomes of a call that are no failures.
var (
	errMissing   = errors.New("there is no such object")
	errUnchanged = errors.New("the object is as it was")
	// errTaken is the refusal of a conditional put: the object is there, or is another than expected.
	errTaken = errors.New("the object has changed")
)

// chunkFolder is where chunks are, below the prefix.
const chunkFolder = "chunks/"

// newName returns a name that nothing else has.
func newName() string { return rand.Text() }

// bucket is the objects whose names begin with a prefix.
type bucket struct {
	client *s3.Client
	name   string
	prefix string // with a slash at its end, unless it is empty
}

// object is the content of an object and its entity tag.
type object struct {
	data []byte
	etag string
}

// get reads an object, unless its entity tag is the given one.
func (b *bucket) get(ctx context.Context, name, unless string) (object, error) {
	in := &s3.GetObjectInput{Bucket: &b.name, Key: aws.String(b.prefix + name)}
	if unless != "" {
		in.IfNoneMatch = &unless
	}
	return b.read(ctx, in)
}

func (b *bucket) read(ctx context.Context, in *s3.GetObjectInput) (object, error) {
	out, err := b.client.GetObject(ctx, in)
	if err != nil {
		return object{}, outcome(err)
	}
	defer func() { _ = out.Body.Close() }() // it was only read
	data, err := io.ReadAll(out.Body)
	if err == nil && out.ContentLength != nil && int64(len(data)) != *out.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	return object{data, aws.ToString(out.ETag)}, err
}

// put writes an object if it is as it was: with an entity tag, or missing without one. It returns
// the new tag.
func (b *bucket) put(ctx context.Context, name string, data []byte, was string) (etag string, err error) {
	in := &s3.PutObjectInput{Bucket: &b.name, Key: aws.String(b.prefix + name), Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data)))}
	if was == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = &was
	}
	out, err := b.client.PutObject(ctx, in)
	if err != nil {
		return "", outcome(err)
	}
	return aws.ToString(out.ETag), nil
}

// Read implements chunks.Reader.
func (b *bucket) Read(ctx context.Context, name string, offset, length int) ([]byte, error) {
	in := &s3.GetObjectInput{Bucket: &b.name, Key: aws.String(b.prefix + chunkFolder + name)}
	if length >= 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	}
	o, err := b.read(ctx, in)
	return o.data, err
}

// Write implements chunks.Writer. A name is used once, so an object that is there already is that of
// an earlier try.
func (b *bucket) Write(ctx context.Context, name string, data []byte) error {
	_, err := b.put(ctx, chunkFolder+name, data, "")
	if errors.Is(err, errTaken) {
		return nil
	}
	return err
}

// listed is an object of a list.
type listed struct {
	name string
	age  time.Duration // by the clock of the service
}

// mostListed is how many pages of 1,000 objects are listed at most.
const mostListed = 50

// list returns the objects whose names begin with a text, in their order.
func (b *bucket) list(ctx context.Context, start string) ([]listed, error) {
	var out []listed
	in := &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: aws.String(b.prefix + start)}
	for range mostListed {
		page, err := b.client.ListObjectsV2(ctx, in)
		if err != nil {
			return nil, outcome(err)
		}
		now, known := awsmiddleware.GetServerTime(page.ResultMetadata)
		for _, o := range page.Contents {
			one := listed{name: aws.ToString(o.Key)[len(b.prefix):]}
			if known && o.LastModified != nil {
				one.age = now.Sub(*o.LastModified)
			}
			out = append(out, one)
		}
		if !aws.ToBool(page.IsTruncated) {
			break
		}
		in.ContinuationToken = page.NextContinuationToken
	}
	return out, nil
}

// remove deletes objects. Those that are missing are no error.
func (b *bucket) remove(ctx context.Context, name string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: aws.String(b.prefix + name)})
	return err
}

// outcome recognizes answers that are no failures.
func outcome(err error) error {
	var missing *types.NoSuchKey
	var api smithy.APIError
	var response *awshttp.ResponseError
	if errors.As(err, &missing) {
		return errMissing
	}
	if errors.As(err, &api) {
		switch api.ErrorCode() {
		case "NoSuchKey":
			return errMissing
		case "PreconditionFailed", "ConditionalRequestConflict":
			return errTaken
		}
	}
	if errors.As(err, &response) {
		switch response.HTTPStatusCode() {
		case http.StatusNotModified:
			return errUnchanged
		case http.StatusPreconditionFailed, http.StatusConflict:
			return errTaken
		case http.StatusRequestedRangeNotSatisfiable:
			return errMissing
		}
	}
	return err
}

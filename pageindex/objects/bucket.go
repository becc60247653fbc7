package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"github.com/talkback/talkback/comment"
)

// bucket is the storage in a bucket of Amazon S3 or a compatible service: the objects whose names
// begin with a prefix. Its tags are ETags.
type bucket struct {
	client *s3.Client
	name   string
	prefix string // with a slash at its end, unless it is empty
}

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
	data, err := io.ReadAll(io.LimitReader(out.Body, mostBytes))
	if err == nil && out.ContentLength != nil && int64(len(data)) != min(*out.ContentLength, mostBytes) {
		err = io.ErrUnexpectedEOF
	}
	return object{data, aws.ToString(out.ETag)}, err
}

func (b *bucket) put(ctx context.Context, name string, data []byte, was string) (tag string, err error) {
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

func (b *bucket) getRange(ctx context.Context, name string, offset, length int) ([]byte, error) {
	o, err := b.read(ctx, &s3.GetObjectInput{
		Bucket: &b.name, Key: aws.String(b.prefix + name), Range: aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)),
	})
	return o.data, err
}

// mostListed is how many pages of 1,000 objects are listed at most, the first by name.
const mostListed = 50

// errMore means that a folder has more objects than are listed.
var errMore = fmt.Errorf("a folder of the index has more than %d objects", 1000*mostListed)

func (b *bucket) list(ctx context.Context, folder string) ([]listed, error) {
	var out []listed
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: aws.String(b.prefix + folder)})
	for range mostListed {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, outcome(err)
		}
		now, known := awsmiddleware.GetServerTime(page.ResultMetadata)
		for _, o := range page.Contents {
			one := listed{name: strings.TrimPrefix(aws.ToString(o.Key), b.prefix)}
			if known && o.LastModified != nil {
				one.age = now.Sub(*o.LastModified)
			}
			out = append(out, one)
		}
		if !pages.HasMorePages() {
			return out, nil
		}
	}
	return out, errMore
}

func (b *bucket) remove(ctx context.Context, name string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: aws.String(b.prefix + name)})
	return failure(outcome(err)) // some services say that it is missing
}

// openBucket returns the storage at s3://BUCKET/PREFIX.
func openBucket(ctx context.Context, target string) (*bucket, error) {
	name, prefix, err := parse(target)
	if err != nil {
		return nil, err
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}), config.WithHTTPClient(httpClient(answerWithin)))
	if err != nil {
		return nil, &comment.Error{Kind: comment.Unavailable, Cause: err, Message: "the AWS configuration for the page index cannot be used: see AWS_PROFILE and AWS_REGION"}
	}
	return &bucket{s3.NewFromConfig(cfg, clientOptions), name, prefix}, nil
}

// answerWithin bounds one attempt at a call, with the reading of the answer. An object has some
// megabytes.
const answerWithin = time.Minute

// httpClient returns the client that calls the service. Merging in the background has no other
// bound, so a call that is never answered would be its last one.
func httpClient(within time.Duration) *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTimeout(within).WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = idleConnections
	})
}

// idleConnections is how many connections are kept open for later calls.
const idleConnections = 64

// clientOptions sets options that the SDK does not read from the environment. A compatible service
// has no domain for each bucket, and may not know the SDK's checksums; our objects have their own.
func clientOptions(o *s3.Options) {
	if o.BaseEndpoint != nil {
		o.UsePathStyle = true
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	}
	if o.Region == "" {
		o.Region = "us-east-1"
	}
}

// refuseOthers refuses a prefix where another program has an object that would be replaced.
func (b *bucket) refuseOthers(ctx context.Context) error {
	_, lease := b.getRange(ctx, leaseObject, 0, 1) // a lease of ours comes after a root
	root, err := b.getRange(ctx, rootObject, 0, len(anyRoot))
	other := ""
	switch {
	case failure(err) != nil:
		return err
	case err == nil && string(root) != anyRoot:
		other = rootObject
	case err != nil && lease == nil:
		other = leaseObject
	default:
		return nil
	}
	return comment.Errorf(comment.BadInput, "s3://%s/%s has an object of another program, %q: name a prefix of its own for page numbers",
		b.name, strings.TrimSuffix(b.prefix, "/"), other)
}

// parse reads s3://BUCKET/PREFIX.
func parse(target string) (bucket, prefix string, err error) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return "", "", comment.Errorf(comment.BadInput, "the bucket of the page index cannot be read: give s3://BUCKET/PREFIX, and keys as AWS's own environment has them")
	}
	if prefix = strings.Trim(u.Path, "/"); prefix != "" {
		prefix += "/"
	}
	return u.Host, prefix, nil
}

// outcome translates errors that are expected answers, not failures.
func outcome(err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		switch api.ErrorCode() {
		case "NoSuchKey":
			return errMissing
		case "PreconditionFailed", "ConditionalRequestConflict":
			return errTaken
		}
	}
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok {
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

// close does nothing: a bucket has no lock.
func (b *bucket) close() error { return nil }

package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"github.com/talkback/talkback/internal/output"
)

// place is the location of an export's files. Names are relative to it, with slashes.
type place interface {
	// open opens a file at a byte offset. The error is an fs.ErrNotExist if there is no such file.
	open(ctx context.Context, name string, from int64) (io.ReadCloser, error)
	// folders returns the names of the folders in a folder.
	folders(ctx context.Context, folder string) ([]string, error)
	// String returns the address in the form that the user gave.
	String() string
}

// join returns the address of a folder at a place.
func join(at place, dir string) string { return strings.TrimSuffix(at.String()+"/"+dir, "/") }

// scheme begins an address in S3.
const scheme = "s3://"

// bucket is a prefix in a bucket of Amazon S3 or a compatible service.
type bucket struct {
	client       *s3.Client
	name, prefix string
}

// openBucket returns the place at s3://BUCKET/PREFIX.
func openBucket(ctx context.Context, address string) (place, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%s is not the address of an export: give s3://BUCKET/PREFIX", output.Printable(address))
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}))
	if err != nil {
		return nil, fmt.Errorf("the AWS configuration cannot be used (%w): see AWS_PROFILE and AWS_REGION", err)
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return nil, errors.New("no AWS credentials were found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role")
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = o.BaseEndpoint != nil                                    // such a service has no domain for each bucket
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired // the manifest has checksums
		o.Region = cmp.Or(o.Region, "us-east-1")
	})
	return &bucket{client, u.Host, strings.Trim(u.Path, "/")}, nil
}

// String implements place.
func (b *bucket) String() string {
	return output.Printable(strings.TrimSuffix(scheme+b.name+"/"+b.prefix, "/"))
}

func (b *bucket) open(ctx context.Context, name string, from int64) (io.ReadCloser, error) {
	in := &s3.GetObjectInput{Bucket: &b.name, Key: aws.String(path.Join(b.prefix, name))}
	if from > 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", from))
	}
	out, err := b.client.GetObject(ctx, in)
	if refused, ok := errors.AsType[smithy.APIError](err); from > 0 && ok && refused.ErrorCode() == "InvalidRange" {
		return io.NopCloser(strings.NewReader("")), nil // the connection broke after the last byte; checksums will verify that
	}
	if err != nil {
		return nil, b.reason(name, err)
	}
	return out.Body, nil
}

func (b *bucket) folders(ctx context.Context, dir string) (names []string, err error) {
	prefix := path.Join(b.prefix, dir)
	if prefix != "" {
		prefix += "/"
	}
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix, Delimiter: aws.String("/")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, b.reason("the list of "+prefix, err)
		}
		for _, common := range page.CommonPrefixes {
			names = append(names, path.Base(aws.ToString(common.Prefix)))
		}
	}
	return names, nil
}

// cures map error codes of S3 to what to do.
var cures = map[string]string{
	"NoSuchBucket":                       "the bucket does not exist: check its name",
	"AccessDenied":                       "access is denied: grant s3:GetObject on its objects and s3:ListBucket on the bucket, and kms:Decrypt if the export is encrypted by a key of yours",
	"PermanentRedirect":                  "the bucket is in another region: set AWS_REGION to it",
	"AuthorizationHeaderMalformed":       "the bucket is in another region: set AWS_REGION to it",
	"IllegalLocationConstraintException": "the bucket is in another region: set AWS_REGION to it",
	"ExpiredToken":                       "the credentials have expired: log in again, or give others",
	"InvalidAccessKeyId":                 "AWS does not accept the credentials: give others by AWS_PROFILE, or by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
	"SignatureDoesNotMatch":              "AWS does not accept the credentials: give others by AWS_PROFILE, or by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
}

// reason explains in a sentence why a file cannot be read.
func (b *bucket) reason(name string, err error) error {
	var refused smithy.APIError
	if !errors.As(err, &refused) {
		return fmt.Errorf("%s in %s cannot be read: %w", name, b, err)
	}
	switch code := refused.ErrorCode(); {
	case code == "NoSuchKey" || code == "NotFound":
		err = fs.ErrNotExist
	case cures[code] != "":
		err = errors.New(cures[code])
	default:
		err = fmt.Errorf("S3 answers %s", output.Printable(code))
	}
	return fmt.Errorf("%s in %s cannot be read: %w", name, b, err)
}

// folder is a folder of this machine.
type folder string

// String implements place.
func (f folder) String() string { return output.Printable(string(f)) }

func (f folder) open(_ context.Context, name string, from int64) (io.ReadCloser, error) {
	file, err := os.Open(filepath.Join(string(f), filepath.FromSlash(name)))
	if err != nil {
		return nil, f.reason(name, err)
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, errors.Join(f.reason(name, err), file.Close())
	}
	return file, nil
}

func (f folder) folders(_ context.Context, dir string) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(string(f), filepath.FromSlash(dir)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// reason returns the error of reading a file. It keeps fs.ErrNotExist, which callers check for.
func (f folder) reason(name string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("%s in %s cannot be read: %w", name, f, err)
}

package dynamotest

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ExportID is the name of every export.
const ExportID = "01234567890123-a1b2c3d4"

// Scan returns all items of a table.
func Scan(tb testing.TB, client dynamodb.ScanAPIClient, table string) (items []map[string]types.AttributeValue) {
	tb.Helper()
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table})
	for pages.HasMorePages() {
		page, err := pages.NextPage(tb.Context())
		if err != nil {
			tb.Fatal(err)
		}
		items = append(items, page.Items...)
	}
	return items
}

// WriteExport writes a full export of items to a folder, under a prefix, in three files. The last
// file is of an empty partition. It returns the folder of the manifests.
//
// DynamoDB writes exports to Amazon S3, which no local engine does. The format follows
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
func WriteExport(tb testing.TB, folder, prefix, table string, items []map[string]types.AttributeValue) string {
	tb.Helper()
	dir := filepath.Join(folder, prefix, "AWSDynamoDB", ExportID)
	half := len(items) / 2
	var manifest bytes.Buffer
	for i, part := range [][]map[string]types.AttributeValue{items[:half], items[half:], nil} {
		name := fmt.Sprintf("data/file%d.json.gz", i)
		var stored bytes.Buffer
		zip := gzip.NewWriter(&stored)
		for _, it := range part {
			_, _ = zip.Write(line(tb, map[string]any{"Item": JSON(it)})) // a buffer accepts all
		}
		if err := zip.Close(); err != nil {
			tb.Fatal(err)
		}
		put(tb, filepath.Join(dir, name), stored.Bytes())
		sum := md5.Sum(stored.Bytes())
		tag := md5.Sum(sum[:]) // as for an upload in one part
		manifest.Write(line(tb, map[string]any{
			"itemCount": len(part), "md5Checksum": base64.StdEncoding.EncodeToString(sum[:]), "etag": hex.EncodeToString(tag[:]) + "-1",
			"dataFileS3Key": filepath.ToSlash(filepath.Join(prefix, "AWSDynamoDB", ExportID, name)),
		}))
	}
	put(tb, filepath.Join(dir, "manifest-files.json"), manifest.Bytes())
	arn := "arn:aws:dynamodb:us-east-1:123456789012:table/" + table
	put(tb, filepath.Join(dir, "manifest-summary.json"), line(tb, map[string]any{
		"version": "2020-06-30", "exportArn": arn + "/export/" + ExportID, "startTime": "2026-11-04T07:28:34.028Z", "endTime": "2026-11-04T07:33:43.897Z",
		"tableArn": arn, "tableId": "12345a12-abcd-123a-ab12-1234abc12345", "exportTime": "2026-11-04T07:28:34.028Z",
		"s3Bucket": "backups", "s3Prefix": prefix, "s3SseAlgorithm": "AES256", "s3SseKmsKeyId": nil,
		"manifestFilesS3Key": filepath.ToSlash(filepath.Join(prefix, "AWSDynamoDB", ExportID, "manifest-files.json")),
		"billedSizeBytes":    0, "itemCount": len(items), "outputFormat": "DYNAMODB_JSON", "exportType": "FULL_EXPORT",
	}))
	put(tb, filepath.Join(dir, "_started"), nil)
	return dir
}

func line(tb testing.TB, value any) []byte {
	tb.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	return append(text, '\n')
}

func put(tb testing.TB, path string, content []byte) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
}

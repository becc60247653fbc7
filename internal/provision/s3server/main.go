// Program s3server is the S3 gateway of Versity over a folder of this machine, without what tests of
// a store do not need: accounts, events, metrics, pages. Its buckets are the folders in FOLDER, whose
// file system must have extended attributes. Everyone on this machine may use it, with these keys.
//
//	s3server ADDRESS FOLDER
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/metrics"
	"github.com/versity/versitygw/s3api"
	"github.com/versity/versitygw/s3api/middlewares"
)

const (
	accessKey = "talkback"
	secretKey = "talkback-tests"
)

func main() {
	if err := serve(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(address, folder string) error {
	root := middlewares.RootUserConfig{Access: accessKey, Secret: secretKey}
	var attributes meta.XattrMeta
	if err := attributes.Test(folder); err != nil {
		return err
	}
	files, err := posix.New(folder, attributes, posix.PosixOpts{})
	if err != nil {
		return err
	}
	unmeasured, err := metrics.NewManager(context.Background(), metrics.Config{})
	if err != nil {
		return err
	}
	account := auth.NewIAMServiceSingle(auth.Account{Access: root.Access, Secret: root.Secret, Role: auth.RoleAdmin})
	server, err := s3api.New(files, root, "us-east-1", account, nil, nil, nil, unmeasured, s3api.WithQuiet(), s3api.WithKeepAlive(), s3api.WithConcurrencyLimiter(1000, 1000))
	if err != nil {
		return err
	}
	return server.ServeMultiPort([]string{address})
}

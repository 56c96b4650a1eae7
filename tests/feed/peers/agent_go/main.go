// SPDX-License-Identifier: GPL-2.0-or-later

// A client on grpc-go that sends what it is told, as Istio's agent would: the
// stand-ins for istiod are proven with it.  One JSON object a line, commands
// on stdin and events on stdout.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"io/ioutil"
	"log"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v interface{}) ([]byte, error) { return *v.(*[]byte), nil }

func (raw) Unmarshal(octets []byte, v interface{}) error {
	*v.(*[]byte) = append([]byte(nil), octets...)
	return nil
}

func init() { encoding.RegisterCodec(raw{}) }

type event struct {
	Event  string `json:"event"`
	Octets []byte `json:"octets,omitempty"`
	Code   uint32 `json:"code"`
	Text   string `json:"text,omitempty"`
}

var out = json.NewEncoder(os.Stdout)
var lock sync.Mutex

func say(e event) {
	lock.Lock()
	defer lock.Unlock()
	out.Encode(e)
}

func security(roots, certificate, key, name string) grpc.DialOption {
	if roots == "" {
		return grpc.WithInsecure()
	}
	pem, err := ioutil.ReadFile(roots)
	if err != nil {
		log.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	config := &tls.Config{RootCAs: pool, ServerName: name, MinVersion: tls.VersionTLS12}
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			log.Fatal(err)
		}
		// Whatever authorities the server asks for, as the agent does.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &pair, nil
		}
	}
	return grpc.WithTransportCredentials(credentials.NewTLS(config))
}

func receive(stream grpc.ClientStream) {
	for {
		var octets []byte
		if err := stream.RecvMsg(&octets); err != nil {
			s, _ := status.FromError(err)
			say(event{Event: "status", Code: uint32(s.Code()), Text: s.Message()})
			return
		}
		say(event{Event: "message", Octets: octets})
	}
}

func main() {
	server := flag.String("server", "", "address and port")
	method := flag.String("method", "", "path")
	roots := flag.String("roots", "", "PEM; without it there is no TLS")
	certificate := flag.String("cert", "", "PEM")
	key := flag.String("key", "", "PEM")
	name := flag.String("name", "", "the server's, in its certificate")
	token := flag.String("token", "", "for authorization")
	pings := flag.Duration("pings", 30*time.Second, "between pings")
	flag.Parse()
	log.SetFlags(0)

	connection, err := grpc.Dial(*server, security(*roots, *certificate, *key, *name),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: *pings, Timeout: 10 * time.Second}),
		grpc.WithInitialWindowSize(1<<20), grpc.WithInitialConnWindowSize(1<<20),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<31-1)))
	if err != nil {
		log.Fatal(err)
	}
	ctx := metadata.AppendToOutgoingContext(context.Background(), "clusterid", "Kubernetes")
	if *token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+*token)
	}
	stream, err := connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true},
		*method)
	if err != nil {
		s, _ := status.FromError(err)
		say(event{Event: "status", Code: uint32(s.Code()), Text: s.Message()})
	} else {
		go receive(stream)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c struct{ Octets []byte }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			log.Fatal(err)
		}
		if stream != nil {
			stream.SendMsg(&c.Octets)
		}
		say(event{Event: "done"})
	}
}

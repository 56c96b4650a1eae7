// SPDX-License-Identifier: GPL-2.0-or-later

// A stand-in for istiod on grpc-go, istiod's own gRPC: client certificates are
// verified if they are given, connections have a largest age, pings that come
// too often end them.  It knows nothing of protobuf: octets in and out.
//
// One JSON object a line.  On stdin what it is to do, on stdout what it saw;
// peers/peer.py has both.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/ioutil"
	"log"
	"math"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// Messages are octets, in place of protobuf's codec.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v interface{}) ([]byte, error) { return *v.(*[]byte), nil }

func (raw) Unmarshal(octets []byte, v interface{}) error {
	*v.(*[]byte) = append([]byte(nil), octets...)
	return nil
}

func init() { encoding.RegisterCodec(raw{}) }

type command struct {
	Do     string
	Octets []byte // base64 in JSON
	File   string // in place of octets
	Code   uint32
	Text   string
}

type event struct {
	Event    string            `json:"event"`
	Stream   int               `json:"stream,omitempty"`
	Octets   []byte            `json:"octets,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Identity string            `json:"identity,omitempty"`
	Peer     string            `json:"peer,omitempty"`
	Text     string            `json:"text,omitempty"`
	Port     int               `json:"port,omitempty"`
}

type stream struct {
	queue chan command
	ended bool
}

type istiod struct {
	lock    sync.Mutex
	out     *json.Encoder
	count   int
	streams map[int]*stream
	answer  []byte // to the first request of a stream; nil: nothing
}

func (d *istiod) say(e event) {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.out.Encode(e)
}

func opened(ctx context.Context) event {
	e := event{Event: "open", Metadata: map[string]string{}}
	md, _ := metadata.FromIncomingContext(ctx)
	for key, values := range md {
		e.Metadata[key] = strings.Join(values, ",")
	}
	if p, ok := peer.FromContext(ctx); ok {
		e.Peer = p.Addr.String()
		if info, ok := p.AuthInfo.(credentials.TLSInfo); ok {
			for _, c := range info.State.PeerCertificates {
				for _, uri := range c.URIs {
					e.Identity = uri.String()
				}
				break
			}
		}
	}
	return e
}

func (d *istiod) serve(_ interface{}, ss grpc.ServerStream) error {
	s := &stream{queue: make(chan command, 65536)}
	d.lock.Lock()
	d.count++
	id := d.count
	d.streams[id] = s
	d.lock.Unlock()
	e := opened(ss.Context())
	e.Stream = id
	e.Text, _ = grpc.MethodFromServerStream(ss)
	d.say(e)
	defer func() {
		d.lock.Lock()
		delete(d.streams, id)
		d.lock.Unlock()
	}()
	failed := make(chan error, 1)
	go d.receive(ss, id, s, failed)
	for {
		select {
		case err := <-failed:
			d.say(event{Event: "close", Stream: id, Text: fmt.Sprint(err)})
			if err == io.EOF {
				return nil
			}
			return err
		case c := <-s.queue:
			if c.Do == "end" {
				return status.Error(codes.Code(c.Code), c.Text)
			}
			if err := ss.SendMsg(&c.Octets); err != nil {
				return err
			}
		}
	}
}

func (d *istiod) receive(ss grpc.ServerStream, id int, s *stream, failed chan error) {
	for first := true; ; first = false {
		var octets []byte
		if err := ss.RecvMsg(&octets); err != nil {
			failed <- err
			return
		}
		d.lock.Lock()
		answer := d.answer
		d.lock.Unlock()
		if first && answer != nil {
			s.queue <- command{Do: "send", Octets: answer}
		}
		d.say(event{Event: "request", Stream: id, Octets: octets})
	}
}

func (d *istiod) obey(c command) error {
	if c.File != "" {
		octets, err := ioutil.ReadFile(c.File)
		if err != nil {
			return err
		}
		c.Octets = octets
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	switch c.Do {
	case "answer":
		d.answer = c.Octets
	case "send", "end":
		for _, s := range d.streams {
			s.queue <- c
		}
	default:
		return fmt.Errorf("unknown command %q", c.Do)
	}
	return nil
}

func tlsOf(certificate, key, roots string, alpn bool) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	pem, err := ioutil.ReadFile(roots)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: no certificate", roots)
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{pair},
		ClientAuth:   tls.VerifyClientCertIfGiven,
		ClientCAs:    pool,
		MinVersion:   tls.VersionTLS12,
	}
	if alpn { // what newer grpc-go does by itself
		config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			for _, protocol := range hello.SupportedProtos {
				if protocol == "h2" {
					return nil, nil
				}
			}
			return nil, fmt.Errorf("the client does not offer h2: %v", hello.SupportedProtos)
		}
	}
	return config, nil
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address and port")
	certificate := flag.String("cert", "", "PEM; without it there is no TLS")
	key := flag.String("key", "", "PEM")
	roots := flag.String("roots", "", "PEM, of clients' certificates")
	age := flag.Duration("age", 0, "largest age of a connection")
	grace := flag.Duration("grace", 10*time.Second, "from its GOAWAY to its end")
	pings := flag.Duration("pings", 15*time.Second, "least time between a client's pings")
	flag.Parse()
	log.SetFlags(0)

	options := []grpc.ServerOption{
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: *pings}),
		grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.MaxConcurrentStreams(100000),
	}
	d := &istiod{out: json.NewEncoder(os.Stdout), streams: map[int]*stream{}}
	options = append(options, grpc.UnknownServiceHandler(d.serve))
	parameters := keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}
	if *age != 0 {
		parameters.MaxConnectionAge = *age
		parameters.MaxConnectionAgeGrace = *grace
	}
	options = append(options, grpc.KeepaliveParams(parameters))
	if *certificate != "" {
		config, err := tlsOf(*certificate, *key, *roots, true)
		if err != nil {
			log.Fatal(err)
		}
		options = append(options, grpc.Creds(credentials.NewTLS(config)))
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(options...)
	go server.Serve(listener)
	d.say(event{Event: "listening", Port: listener.Addr().(*net.TCPAddr).Port})

	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<28)
	for lines.Scan() {
		var c command
		err := json.Unmarshal(lines.Bytes(), &c)
		if err == nil {
			err = d.obey(c)
		}
		if err != nil {
			log.Fatal(err)
		}
		d.say(event{Event: "done"})
	}
}

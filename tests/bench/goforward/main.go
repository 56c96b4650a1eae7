// SPDX-License-Identifier: GPL-2.0-or-later

// goforward stands in for CoreDNS, which distributions do not package: a forwarder
// on the same library, with a goroutine for each question, sockets to the upstream
// that are kept and used again for ten seconds, the one that has rested the longest
// first, and a cache in shards.  It has neither plugins nor metrics nor logs, so it is
// rather faster than CoreDNS.
//
//	goforward LISTEN UPSTREAM CACHED     (ADDRESS:PORT both; CACHED: answers, 0: none)
package main

import (
	"hash/maphash"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	expire  = 10 * time.Second // of a socket without questions
	timeout = 2 * time.Second  // of a question
	shards  = 256
)

type resting struct {
	conn *dns.Conn
	used time.Time
}

// sockets to the upstream, each with one question at a time.
type sockets struct {
	upstream string
	mutex    sync.Mutex
	idle     []resting
}

func (s *sockets) take() (*dns.Conn, error) {
	s.mutex.Lock()
	for len(s.idle) > 0 {
		first := s.idle[0]
		s.idle = s.idle[1:]
		if time.Since(first.used) < expire {
			s.mutex.Unlock()
			return first.conn, nil
		}
		first.conn.Close()
	}
	s.mutex.Unlock()
	conn, err := net.DialTimeout("udp", s.upstream, timeout)
	if err != nil {
		return nil, err
	}
	return &dns.Conn{Conn: conn, UDPSize: dns.DefaultMsgSize}, nil
}

func (s *sockets) put(conn *dns.Conn) {
	s.mutex.Lock()
	s.idle = append(s.idle, resting{conn, time.Now()})
	s.mutex.Unlock()
}

// ask returns the reply to a question; the client's id is used.
func (s *sockets) ask(question *dns.Msg) (*dns.Msg, error) {
	conn, err := s.take()
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(timeout))
	if err := conn.WriteMsg(question); err != nil {
		conn.Close()
		return nil, err
	}
	for {
		reply, err := conn.ReadMsg()
		if err != nil {
			conn.Close()
			return nil, err
		}
		if reply.Id == question.Id {
			s.put(conn)
			return reply, nil
		}
	}
}

type key struct {
	name string
	kind uint16
}

type kept struct {
	reply *dns.Msg
	since time.Time
	ttl   uint32
}

type shard struct {
	mutex   sync.RWMutex
	answers map[key]kept
}

// cache keeps answers by name and type.
type cache struct {
	seed   maphash.Seed
	most   int // of a shard
	shards [shards]shard
}

func newCache(size int) *cache {
	c := &cache{seed: maphash.MakeSeed(), most: size/shards + 1}
	for n := range c.shards {
		c.shards[n].answers = make(map[key]kept)
	}
	return c
}

func keyOf(question *dns.Msg) key {
	return key{strings.ToLower(question.Question[0].Name), question.Question[0].Qtype}
}

func (c *cache) of(k key) *shard {
	var hash maphash.Hash
	hash.SetSeed(c.seed)
	hash.WriteString(k.name)
	return &c.shards[(hash.Sum64()+uint64(k.kind))%shards]
}

// get returns an answer for the client, or nil.
func (c *cache) get(question *dns.Msg) *dns.Msg {
	k := keyOf(question)
	s := c.of(k)
	s.mutex.RLock()
	found, ok := s.answers[k]
	s.mutex.RUnlock()
	if !ok {
		return nil
	}
	age := uint32(time.Since(found.since) / time.Second)
	if age >= found.ttl {
		return nil
	}
	answer := found.reply.Copy()
	answer.Id = question.Id
	answer.Question = question.Question
	for _, record := range answer.Answer {
		record.Header().Ttl -= age
	}
	return answer
}

func (c *cache) put(question, reply *dns.Msg) {
	if reply.Truncated || reply.Rcode != dns.RcodeSuccess || len(reply.Answer) == 0 {
		return
	}
	ttl := reply.Answer[0].Header().Ttl
	for _, record := range reply.Answer {
		if record.Header().Ttl < ttl {
			ttl = record.Header().Ttl
		}
	}
	k := keyOf(question)
	s := c.of(k)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.answers) >= c.most {
		for other := range s.answers { // any
			delete(s.answers, other)
			break
		}
	}
	s.answers[k] = kept{reply.Copy(), time.Now(), ttl}
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: goforward LISTEN UPSTREAM CACHED")
	}
	size, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	upstream := &sockets{upstream: os.Args[2]}
	answers := newCache(size)
	handle := func(w dns.ResponseWriter, question *dns.Msg) {
		if size > 0 {
			if answer := answers.get(question); answer != nil {
				w.WriteMsg(answer)
				return
			}
		}
		reply, err := upstream.ask(question)
		if err != nil {
			dns.HandleFailed(w, question)
			return
		}
		if size > 0 {
			answers.put(question, reply)
		}
		w.WriteMsg(reply)
	}
	server := &dns.Server{Addr: os.Args[1], Net: "udp", Handler: dns.HandlerFunc(handle)}
	log.Fatal(server.ListenAndServe())
}

// answers.c in Go, by cgo: goroutines and channels. The runtime makes a thread for each goroutine that waits in C.
package main

// #cgo LDFLAGS: -lrdmacm -libverbs
// #include <stdlib.h>
// #include <rdma/rdma_verbs.h>
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"unsafe"
)

const goroutines, size = 4, 64

func check(failed bool, what string, err error) {
	if failed {
		fmt.Fprintln(os.Stderr, what, err)
		os.Exit(1)
	}
}

// Its memory is C's: the device writes there.
type endPoint struct {
	id     *C.struct_rdma_cm_id
	bytes  unsafe.Pointer
	region *C.struct_ibv_mr
}

func newEndPoint(address *C.char, flags C.int) *C.struct_rdma_cm_id {
	var found *C.struct_rdma_addrinfo
	var id *C.struct_rdma_cm_id
	hints := C.struct_rdma_addrinfo{ai_flags: flags, ai_port_space: C.RDMA_PS_TCP}
	wanted := C.struct_ibv_qp_init_attr{sq_sig_all: 1}
	wanted.cap = C.struct_ibv_qp_cap{max_send_wr: 2, max_recv_wr: 2, max_send_sge: 1, max_recv_sge: 1}
	port := C.CString("7471")
	defer C.free(unsafe.Pointer(port))
	result, err := C.rdma_getaddrinfo(address, port, &hints, &found)
	check(result != 0, "rdma_getaddrinfo", err)
	defer C.rdma_freeaddrinfo(found)
	result, err = C.rdma_create_ep(&id, found, nil, &wanted)
	check(result != 0, "rdma_create_ep", err)
	return id
}

func readyToReceive(id *C.struct_rdma_cm_id) endPoint {
	bytes := C.calloc(2, size)
	region, err := C.rdma_reg_msgs(id, bytes, 2*size)
	check(region == nil, "rdma_reg_msgs", err)
	result, err := C.rdma_post_recv(id, nil, bytes, size, region)
	check(result != 0, "rdma_post_recv", err)
	return endPoint{id, bytes, region}
}

func (end endPoint) receive() int {
	var completion C.struct_ibv_wc
	count, err := C.rdma_get_recv_comp(end.id, &completion)
	check(count != 1 || completion.status != C.IBV_WC_SUCCESS, "rdma_get_recv_comp", err)
	number, err := strconv.Atoi(C.GoString((*C.char)(end.bytes)))
	check(err != nil, "the message", err)
	return number
}

func (end endPoint) send(number int) {
	var completion C.struct_ibv_wc
	to := unsafe.Pointer(uintptr(end.bytes) + size)
	copy((*[size]byte)(to)[:], strconv.Itoa(number))
	result, err := C.rdma_post_send(end.id, nil, to, size, end.region, 0)
	check(result != 0, "rdma_post_send", err)
	count, err := C.rdma_get_send_comp(end.id, &completion)
	check(count != 1 || completion.status != C.IBV_WC_SUCCESS, "rdma_get_send_comp", err)
}

func (end endPoint) close() {
	C.rdma_disconnect(end.id)
	C.rdma_dereg_mr(end.region)
	C.rdma_destroy_ep(end.id)
	C.free(end.bytes)
}

func serve() {
	listener := newEndPoint(nil, C.RAI_PASSIVE)
	result, err := C.rdma_listen(listener, goroutines)
	check(result != 0, "rdma_listen", err)
	done := make(chan bool)
	for i := 0; i < goroutines; i++ {
		var id *C.struct_rdma_cm_id
		result, err = C.rdma_get_request(listener, &id)
		check(result != 0, "rdma_get_request", err)
		go func() {
			end := readyToReceive(id)
			result, err := C.rdma_accept(id, nil)
			check(result != 0, "rdma_accept", err)
			end.send(10 * end.receive())
			end.close()
			done <- true
		}()
	}
	for i := 0; i < goroutines; i++ {
		<-done
	}
	C.rdma_destroy_ep(listener)
}

func ask(address string) {
	answers := make(chan int)
	name := C.CString(address)
	for i := 0; i < goroutines; i++ {
		go func() {
			end := readyToReceive(newEndPoint(name, 0))
			result, err := C.rdma_connect(end.id, nil)
			check(result != 0, "rdma_connect", err)
			end.send(7)
			answers <- end.receive()
			end.close()
		}()
	}
	sum := 0
	for i := 0; i < goroutines; i++ {
		sum += <-answers
		runtime.GC()
	}
	fmt.Println("the sum of the answers is", sum)
}

func main() {
	if len(os.Args) < 3 {
		serve()
	} else {
		ask(os.Args[2])
	}
}
